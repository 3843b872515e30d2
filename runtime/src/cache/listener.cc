// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/listener.h"

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "cache/deliberate_bugs.h"
#include "core/notify_observer.h"

namespace kgen::cache {
namespace {

constexpr Nanos kSlowCall = std::chrono::milliseconds(100);

thread_local Listener* running_here = nullptr;  // the listener whose handler this thread is running

}  // namespace

// One NotifySynced(). Listed in on_synced_ until it is called or its last handle is dropped.
class Listener::OnSynced final : public SyncedWatch {
 public:
  OnSynced(Shared<Listener> listener, Task callback) : listener_(std::move(listener)), callback_(std::move(callback)) {}
  ~OnSynced() override {
    const MutexLock lock(listener_->mutex_);
    std::erase(listener_->on_synced_, this);
  }
  void Call() { callback_(); }

 private:
  const Shared<Listener> listener_;
  Task callback_;
};

Listener::Listener(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
                   Shared<Observer> observer, Shared<const StartMark> started)
    : options_(std::move(options)),
      informer_(std::move(informer)),
      name_(options_.name.empty() ? informer_ : options_.name),
      executor_(std::move(executor)),
      observer_(std::move(observer)),
      strand_(executor_->MakeStrand("handler of " + name_)),
      notices_(executor_->MakeStrand("sync of the handler of " + name_)),
      started_(std::move(started)),
      handler_(std::move(handler)) {}

void Listener::Deliver(std::vector<AnyEvent> events) {
  std::size_t high = 0;
  {
    const MutexLock lock(mutex_);
    if (closed_ || events.empty()) return;
    for (AnyEvent& event : events) {
      initial_pending_ += queue_->Push(std::move(event));
    }
    high = NewlyHighBacklog();
    if (!queue_->empty() && !std::exchange(scheduled_, true)) Schedule();
  }
  SettleSync();  // an initial event may have been cancelled
  if (high > 0) NotifyObserver(observer_, [&](Observer& o) { o.OnBacklogHigh({informer_, high}); });
}

void Listener::InitialQueued() {
  {
    const MutexLock lock(mutex_);
    initial_queued_ = true;
  }
  SettleSync();
}

void Listener::Remove() {
  AnyHandler dropped;
  std::unique_ptr<EventQueue> discarded;
  {
    const MutexLock lock(mutex_);
    if (Injected(Bug::kReplayAfterRemoval) && initial_pending_ > 0) return;
    closed_ = removed_ = true;
    discarded = TakeQueue();
    if (!running_) dropped = std::exchange(handler_, nullptr);
  }
  FireSyncedCallbacks();
  (void)Join({});
}

void Listener::StopDelivery() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    // Drain() discards the waiting events. Doing it here, on the informer's strand, might take too long.
    if (!queue_->empty() && !std::exchange(scheduled_, true)) Schedule();
  }
  FireSyncedCallbacks();
}

// Waits until no call is running. Not on the thread of that call, and not where the call itself waits, directly or
// through others, for the handler that this thread runs: two handlers that remove each other would wait forever.
Result<void> Listener::Join(std::stop_token stop) {
  Listener* const caller = running_here;
  if (caller == this) return {};
  Shared<Waiter> waiter;
  {
    const MutexLock graph(graph_mutex_);
    for (Listener* other = this; other != nullptr; other = other->waits_for_) {
      if (other == caller) return {};
    }
    const MutexLock lock(mutex_);
    if (!running_) return {};
    waiter = executor_->MakeWaiter("the running call of the handler of " + name_);
    waiters_.push_back(waiter);
    if (caller != nullptr) caller->waits_for_ = this;
  }
  Result<void> waited = waiter->Wait(std::move(stop));
  if (caller != nullptr) {
    const MutexLock graph(graph_mutex_);
    caller->waits_for_ = nullptr;
  }
  return waited;
}

void Listener::Reject() {
  AnyHandler dropped;
  {
    const MutexLock lock(mutex_);
    closed_ = removed_ = rejected_ = true;
    dropped = std::exchange(handler_, nullptr);
  }
  FireSyncedCallbacks();
}

Result<void> Listener::status() const {
  const MutexLock lock(mutex_);
  if (rejected_) return Fail(Code::kStopped, "handler of " + name_ + ": the informer has been stopped");
  return {};
}

Shared<Listener::SyncedWatch> Listener::NotifySynced(Task callback) {
  auto watch = MakeShared<OnSynced>(Shared<Listener>(this), std::move(callback));
  {
    const MutexLock lock(mutex_);
    if (!synced_ && !closed_) {
      on_synced_.push_back(watch.get());
      return watch;
    }
  }
  PostCall(watch);
  return watch;
}

bool Listener::HasSynced() const noexcept {
  const MutexLock lock(mutex_);
  return synced_;
}

std::size_t Listener::Backlog() const noexcept {
  const MutexLock lock(mutex_);
  return closed_ ? 0 : queue_->size();
}

bool Listener::removed() const noexcept {
  const MutexLock lock(mutex_);
  return removed_;
}

bool Listener::closed() const noexcept {
  const MutexLock lock(mutex_);
  return closed_;
}

bool Listener::gone() const noexcept {
  const MutexLock lock(mutex_);
  return removed_ && !running_;
}

// Does not use strand_: there it would wait for the running call, and that call may itself be waiting for this
// notification.
void Listener::PostCall(Shared<OnSynced> watch) {
  executor_->Post(notices_, [watch = std::move(watch)] { watch->Call(); });
}

// The task keeps the listener alive.
void Listener::Schedule() {
  executor_->BlockingOn(strand_, [self = Shared<Listener>(this)] { self->Drain(); });
}

// Calls the handler for the waiting events, one at a time. Handlers are called nowhere else.
void Listener::Drain() {
  running_here = this;
  for (;;) {
    std::optional<AnyEvent> event;
    {
      const MutexLock lock(mutex_);
      if (!closed_) event = queue_->Pop();
      if (!event) {
        scheduled_ = false;
        break;
      }
      if (queue_->size() <= options_.backlog_warning / 2) backlog_reported_ = false;
      running_ = true;
    }
    Call(*event);
    if (!FinishCall(event->initial)) break;
  }
  running_here = nullptr;
  std::unique_ptr<EventQueue> discarded;
  const MutexLock lock(mutex_);
  if (closed_) discarded = TakeQueue();
}

// Returns the waiting events, so that the caller can destroy them without holding mutex_.
std::unique_ptr<EventQueue> Listener::TakeQueue() {
  return std::exchange(queue_, std::make_unique<EventQueue>(options_.backlog_limit));
}

void Listener::Call(const AnyEvent& event) {
  const TimePoint start = executor_->clock()->Now();
  try {
    handler_(event);
  } catch (const std::exception& e) {
    NotifyObserver(observer_, [&](Observer& o) { o.OnHandlerFailed({informer_, &event.key, e.what()}); });
  } catch (...) {
    NotifyObserver(observer_, [&](Observer& o) {
      o.OnHandlerFailed({informer_, &event.key, "an exception that is not a std::exception"});
    });
  }
  const Nanos took = executor_->clock()->Now() - start;
  if (took > kSlowCall)
    NotifyObserver(observer_, [&](Observer& o) { o.OnHandlerSlow({informer_, &event.key, took, Backlog()}); });
}

// Returns false if the handler was removed or the informer stopped in the meantime. The functions of a removed handler
// are destroyed here, after their last call and before any waiter is notified.
bool Listener::FinishCall(bool initial) {
  std::vector<Shared<Waiter>> waiters;
  bool open = true;
  for (AnyHandler dropped;; dropped = nullptr) {
    const MutexLock lock(mutex_);
    if (removed_ && handler_) {
      dropped = std::exchange(handler_, nullptr);
      continue;
    }
    running_ = false;
    if (initial) --initial_pending_;
    waiters.swap(waiters_);
    if (closed_) {
      open = false;
      scheduled_ = false;
    }
    break;
  }
  for (const Shared<Waiter>& waiter : waiters) waiter->Notify();
  SettleSync();
  return open;
}

void Listener::SettleSync() {
  {
    const MutexLock lock(mutex_);
    if (synced_ || closed_ || !initial_queued_ || initial_pending_ > 0) return;
    synced_ = true;
  }
  FireSyncedCallbacks();
}

void Listener::FireSyncedCallbacks() {
  std::vector<Shared<OnSynced>> to_notify;
  {
    const MutexLock lock(mutex_);
    for (OnSynced* watch : std::exchange(on_synced_, {})) {
      if (Shared<OnSynced> held = Shared<OnSynced>::TryAdd(watch)) to_notify.push_back(std::move(held));
    }
  }
  for (Shared<OnSynced>& watch : to_notify) PostCall(std::move(watch));
}

// Returns the backlog if it has just reached the warning level, otherwise 0. It is reported again only after it has
// fallen to half of that level.
std::size_t Listener::NewlyHighBacklog() {
  if (options_.backlog_warning == 0) return 0;
  if (queue_->size() < options_.backlog_warning || std::exchange(backlog_reported_, true)) return 0;
  return queue_->size();
}

}  // namespace kgen::cache
