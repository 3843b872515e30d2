// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/processor.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cache/deliberate_bugs.h"
#include "cache/event_queue.h"
#include "core/tell.h"

namespace kgen::cache {
namespace {

constexpr Nanos kSlowCall = std::chrono::milliseconds(100);

}  // namespace

class Listener::Impl : public SharedObject {
 public:
  Impl(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
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

  void Deliver(std::vector<AnyEvent> events) {
    std::size_t high = 0;
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || events.empty()) return;
      for (AnyEvent& event : events) {
        initial_pending_ += queue_->Push(std::move(event));
      }
      high = NewlyHighBacklog();
      if (!queue_->empty() && !std::exchange(scheduled_, true)) Schedule();
    }
    SettleSync();  // an initial event may have been cancelled
    if (high > 0) Tell(observer_, [&](Observer& o) { o.OnBacklogHigh({informer_, high}); });
  }

  void InitialQueued() {
    {
      const std::lock_guard lock(mutex_);
      initial_queued_ = true;
    }
    SettleSync();
  }

  void Remove() {
    AnyHandler dropped;
    std::unique_ptr<EventQueue> discarded;
    {
      const std::lock_guard lock(mutex_);
      if (Injected(Bug::kReplayAfterRemoval) && initial_pending_ > 0) return;
      closed_ = removed_ = true;
      discarded = TakeQueue();
      if (!running_) dropped = std::exchange(handler_, nullptr);
    }
    FireSyncedCallbacks();
    (void)WaitForRunningCall({});
  }

  void StopDelivery() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      // Drain() discards what waits: here, on the informer's strand, that might take too long.
      if (!queue_->empty() && !std::exchange(scheduled_, true)) Schedule();
    }
    FireSyncedCallbacks();
  }

  // Waits until no call is running. Not on the thread of that call, and not where the call itself waits, directly or
  // through others, for the handler that this thread runs: two handlers that remove each other would wait for ever.
  Result<void> WaitForRunningCall(std::stop_token stop) {
    Impl* const caller = running_here;
    if (caller == this) return {};
    Shared<Waiter> waiter;
    {
      const std::lock_guard graph(graph_mutex);
      for (Impl* other = this; other != nullptr; other = other->waits_for_) {
        if (other == caller) return {};
      }
      const std::lock_guard lock(mutex_);
      if (!running_) return {};
      waiter = executor_->MakeWaiter("the running call of the handler of " + name_);
      waiters_.push_back(waiter);
      if (caller != nullptr) caller->waits_for_ = this;
    }
    Result<void> waited = waiter->Wait(std::move(stop));
    if (caller != nullptr) {
      const std::lock_guard graph(graph_mutex);
      caller->waits_for_ = nullptr;
    }
    return waited;
  }

  void Reject() {
    AnyHandler dropped;
    {
      const std::lock_guard lock(mutex_);
      closed_ = removed_ = rejected_ = true;
      dropped = std::exchange(handler_, nullptr);
    }
    FireSyncedCallbacks();
  }

  Result<void> status() const {
    const std::lock_guard lock(mutex_);
    if (rejected_) return Fail(Code::kStopped, "handler of " + name_ + ": the informer has been stopped");
    return {};
  }

  Shared<SyncedWatch> NotifySynced(Task callback) {
    auto watch = MakeShared<OnSynced>(Shared<Impl>(this), std::move(callback));
    {
      const std::lock_guard lock(mutex_);
      if (!synced_ && !closed_) {
        on_synced_.push_back(watch.get());
        return watch;
      }
    }
    PostCall(watch);
    return watch;
  }

  bool HasSynced() const noexcept {
    const std::lock_guard lock(mutex_);
    return synced_;
  }
  std::size_t Backlog() const noexcept {
    const std::lock_guard lock(mutex_);
    return closed_ ? 0 : queue_->size();
  }
  bool started() const noexcept { return !started_ || started_->set.load(); }
  bool removed() const noexcept {
    const std::lock_guard lock(mutex_);
    return removed_;
  }
  bool closed() const noexcept {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  bool gone() const noexcept {
    const std::lock_guard lock(mutex_);
    return removed_ && !running_;
  }
  const HandlerOptions& options() const noexcept { return options_; }
  const std::string& name() const noexcept { return name_; }

 private:
  // In on_synced_ from NotifySynced() until it was called or its last handle went.
  class OnSynced final : public SyncedWatch {
   public:
    OnSynced(Shared<Impl> listener, Task callback) : listener_(std::move(listener)), callback_(std::move(callback)) {}
    ~OnSynced() override {
      const std::lock_guard lock(listener_->mutex_);
      std::erase(listener_->on_synced_, this);
    }
    void Call() { callback_(); }

   private:
    const Shared<Impl> listener_;
    Task callback_;
  };
  // Not on strand_, where it would come after the call that is running, and that may wait for whoever is to be told.
  void PostCall(Shared<OnSynced> watch) {
    executor_->Post(notices_, [watch = std::move(watch)] { watch->Call(); });
  }

  // Under mutex_. The task keeps this alive, whatever becomes of the Listener.
  void Schedule() {
    executor_->BlockingOn(strand_, [self = Shared<Impl>(this)] { self->Drain(); });
  }

  // Calls the handler for what waits, one event at a time. The only place where user code of a handler runs.
  void Drain() {
    running_here = this;
    for (;;) {
      std::optional<AnyEvent> event;
      {
        const std::lock_guard lock(mutex_);
        if (!closed_) event = queue_->Pop();
        if (!event) {
          scheduled_ = false;
          break;
        }
        if (queue_->size() <= options_.backlog_warning / 2) backlog_told_ = false;
        running_ = true;
      }
      Call(*event);
      if (!FinishCall(event->initial)) break;
    }
    running_here = nullptr;
    std::unique_ptr<EventQueue> discarded;
    const std::lock_guard lock(mutex_);
    if (closed_) discarded = TakeQueue();
  }

  // Under mutex_. What waits, to be destroyed without it.
  std::unique_ptr<EventQueue> TakeQueue() {
    return std::exchange(queue_, std::make_unique<EventQueue>(options_.backlog_limit));
  }

  void Call(const AnyEvent& event) {
    const TimePoint start = executor_->clock()->Now();
    try {
      handler_(event);
    } catch (const std::exception& e) {
      Tell(observer_, [&](Observer& o) { o.OnHandlerFailed({informer_, &event.key, e.what()}); });
    } catch (...) {
      Tell(observer_,
           [&](Observer& o) { o.OnHandlerFailed({informer_, &event.key, "an exception of an unknown type"}); });
    }
    const Nanos took = executor_->clock()->Now() - start;
    if (took > kSlowCall)
      Tell(observer_, [&](Observer& o) { o.OnHandlerSlow({informer_, &event.key, took, Backlog()}); });
  }

  // False if the handler was removed meanwhile: then its functions are destroyed here, after their last call and before
  // anybody hears of its end.
  bool FinishCall(bool initial) {
    std::vector<Shared<Waiter>> waiters;
    bool open = true;
    for (AnyHandler dropped;; dropped = nullptr) {
      const std::lock_guard lock(mutex_);
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

  void SettleSync() {
    {
      const std::lock_guard lock(mutex_);
      if (synced_ || closed_ || !initial_queued_ || initial_pending_ > 0) return;
      synced_ = true;
    }
    FireSyncedCallbacks();
  }

  void FireSyncedCallbacks() {
    std::vector<Shared<OnSynced>> told;
    {
      const std::lock_guard lock(mutex_);
      for (OnSynced* watch : std::exchange(on_synced_, {})) {
        if (Shared<OnSynced> held = Shared<OnSynced>::TryAdd(watch)) told.push_back(std::move(held));
      }
    }
    for (Shared<OnSynced>& watch : told) PostCall(std::move(watch));
  }

  // Under mutex_. The backlog, when it has just passed the mark; told again only after it has been down to half of it.
  std::size_t NewlyHighBacklog() {
    if (options_.backlog_warning == 0) return 0;
    if (queue_->size() < options_.backlog_warning || std::exchange(backlog_told_, true)) return 0;
    return queue_->size();
  }

  static thread_local Impl* running_here;  // whose handler this thread is in
  static std::mutex graph_mutex;           // taken before any mutex_; guards every waits_for_

  const HandlerOptions options_;
  const std::string informer_;
  const std::string name_;
  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const Shared<Strand> strand_, notices_;
  const Shared<const StartMark> started_;
  Impl* waits_for_ = nullptr;  // while this handler's call removes another one

  mutable std::mutex mutex_;  // guards what follows; never held while a function of the user runs or a thread waits
  AnyHandler handler_;        // called without the lock: only Drain() calls, and only it destroys while running_
  std::unique_ptr<EventQueue> queue_ = std::make_unique<EventQueue>(options_.backlog_limit);
  std::vector<Shared<Waiter>> waiters_;
  std::vector<OnSynced*> on_synced_;  // each takes itself out
  int initial_pending_ = 0;
  bool scheduled_ = false, running_ = false, closed_ = false, removed_ = false, rejected_ = false;
  bool initial_queued_ = false, synced_ = false, backlog_told_ = false;
};

thread_local Listener::Impl* Listener::Impl::running_here = nullptr;
std::mutex Listener::Impl::graph_mutex;

Listener::Listener(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
                   Shared<Observer> observer, Shared<const StartMark> started)
    : impl_(MakeShared<Impl>(std::move(handler), std::move(options), std::move(informer), std::move(executor),
                             std::move(observer), std::move(started))) {}
Listener::~Listener() = default;

void Listener::Deliver(std::vector<AnyEvent> events) { impl_->Deliver(std::move(events)); }
void Listener::InitialQueued() { impl_->InitialQueued(); }
void Listener::Remove() { impl_->Remove(); }
void Listener::StopDelivery() { impl_->StopDelivery(); }
Result<void> Listener::Join(std::stop_token stop) { return impl_->WaitForRunningCall(std::move(stop)); }
void Listener::Reject() { impl_->Reject(); }
Result<void> Listener::status() const { return impl_->status(); }
const std::string& Listener::name() const noexcept { return impl_->name(); }
bool Listener::HasSynced() const noexcept { return impl_->HasSynced(); }
Shared<Listener::SyncedWatch> Listener::NotifySynced(Task callback) { return impl_->NotifySynced(std::move(callback)); }
std::size_t Listener::Backlog() const noexcept { return impl_->Backlog(); }
const HandlerOptions& Listener::options() const noexcept { return impl_->options(); }
bool Listener::started() const noexcept { return impl_->started(); }
bool Listener::removed() const noexcept { return impl_->removed(); }
bool Listener::closed() const noexcept { return impl_->closed(); }
bool Listener::gone() const noexcept { return impl_->gone(); }

// --------------------------------------------------------------------------------------------------- Processor

namespace {

// An update that changed nothing: a resync, or an object that a list or a watch brought as it was. EventBatch decides
// which ones these are. An equal resource version is not enough here: after the server's history was replaced, it may
// stand for another state.
bool IsSync(const AnyEvent& event) noexcept { return event.reason == Reason::kResync; }

}  // namespace

Processor::Recipients Processor::ForChanges() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.listener->removed(); });
  Recipients recipients;
  recipients.reserve(entries_.size());
  for (const Entry& entry : entries_) recipients.push_back({entry.listener, entry.syncing});
  return recipients;
}

Processor::Recipients Processor::TakeDue() {
  Recipients recipients;
  for (Entry& entry : entries_) {
    if (std::exchange(entry.resync_due, false)) recipients.push_back({entry.listener, true});
  }
  return recipients;
}

void Processor::Deliver(const Recipients& recipients, std::vector<AnyEvent> events) {
  if (events.empty()) return;
  for (const Recipient& recipient : recipients) {
    const bool last = &recipient == &recipients.back();
    std::vector<AnyEvent> mine = last ? std::move(events) : events;
    if (!recipient.unchanged) std::erase_if(mine, IsSync);
    recipient.listener->Deliver(std::move(mine));
  }
}

void Processor::Add(Shared<Listener> listener, Nanos effective_resync, TimePoint now) {
  if (initial_queued_) listener->InitialQueued();
  entries_.push_back({std::move(listener), effective_resync, Later(now, effective_resync)});
}

void Processor::InitialQueued() {
  initial_queued_ = true;
  for (const Entry& entry : entries_) entry.listener->InitialQueued();
}

void Processor::StopAll() {
  for (const Entry& entry : entries_) entry.listener->StopDelivery();
}

bool Processor::ShouldResync(TimePoint now) {
  bool any = false;
  for (Entry& entry : entries_) {
    entry.syncing = entry.resync > Nanos(0) && now >= entry.due;
    if (entry.syncing) {
      entry.due = Later(now, entry.resync);
      entry.resync_due = true;
    }
    any = any || entry.syncing;
  }
  return any;
}

}  // namespace kgen::cache
