// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/delivery/listener.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "cache/store/deliberate_bugs.h"
#include "client/request/errors.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"
#include "kgen/core/value.h"

namespace kgen::cache {
namespace {

constexpr Nanos kSlowCall = std::chrono::milliseconds(100);
constexpr std::size_t kDefaultWarning = 1024;
constexpr std::size_t kDefaultBytes = std::size_t{64} << 20;

bool ChangesNothing(const AnyEvent& event) noexcept {
  return event.type == AnyEvent::Type::kUpdated && event.reason != Reason::kResync && event.before && event.now &&
         detail::EqualButVersion(event.before.object(), event.now.object(), event.now.table());
}

// For a number that one thread at a time changes, and others read: cheaper than an atomic addition.
template <typename T>
void Increase(std::atomic<T>& number, T by) noexcept {
  number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

thread_local Listener* running_here = nullptr;  // the listener whose handler this thread is running

}  // namespace

// One NotifySynced(). Listed in on_synced_ until it is called or its last handle is dropped.
class Listener::OnSynced final : public SyncedWatch {
 public:
  OnSynced(Shared<Listener> listener, Task callback, bool saved)
      : listener_(std::move(listener)), callback_(std::move(callback)), saved_(saved) {}
  ~OnSynced() override {
    const MutexLock lock(listener_->mutex_);
    std::erase(listener_->on_synced_, this);
  }
  // Does not use the listener's strand: there the call would wait for the running call of the handler, and that may
  // itself be waiting for this notification. Needs no memory, because destructors lead here.
  void Post() noexcept {
    post_->Post([self = Shared<OnSynced>(this)] { self->callback_(); });
  }
  bool saved() const noexcept { return saved_; }

 private:
  const Shared<Listener> listener_;
  const Shared<ReservedPost> post_ = listener_->executor_->ReservePost(listener_->notices_);
  Task callback_;
  const bool saved_;
};

Listener::Listener(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
                   Shared<Observer> observer, Shared<const StartMark> started)
    : options_(std::move(options)),
      warning_level_(options_.backlog_warning.value_or(kDefaultWarning)),
      informer_(std::move(informer)),
      name_(options_.name.empty() ? informer_ : options_.name),
      executor_(std::move(executor)),
      observer_(std::move(observer)),
      strand_(executor_->MakeStrand("handler of " + name_)),
      notices_(executor_->MakeStrand("sync of the handler of " + name_)),
      started_(std::move(started)),
      handler_(std::move(handler)) {}

std::optional<std::size_t> Listener::BytesLimit(const HandlerOptions& options) noexcept {
  const std::size_t limit = options.backlog_bytes.value_or(kDefaultBytes);
  return options.short_calls || limit == kUnlimited ? std::nullopt : std::optional(limit);
}

void Listener::Deliver(std::vector<AnyEvent> events) {
  if (options_.skip_unchanged) std::erase_if(events, ChangesNothing);
  if (events.empty()) return;
  std::optional<Observer::BacklogHigh> high;
  bool drain = false;
  const TimePoint now = executor_->clock()->Now();
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    const std::size_t merged = queue_->merged();
    for (AnyEvent& event : events) queue_->Push(std::move(event), now);
    if (options_.short_calls) {
      drain = !std::exchange(scheduled_, true);
    } else {
      high = NewlyHighBacklog(queue_->merged() > merged);
      if (!queue_->empty()) Schedule();
    }
  }
  if (drain) Drain();
  SettleSync();  // an event that it waits for may have been cancelled
  if (high) NotifyObserver(observer_, [&](Observer& o) { o.OnBacklogHigh(*high); });
}

void Listener::SavedQueued() {
  {
    const MutexLock lock(mutex_);
    if (!closed_) saved_end_ = queue_->end();
  }
  SettleSync();
}

void Listener::InitialQueued() {
  {
    const MutexLock lock(mutex_);
    if (!closed_) initial_end_ = queue_->end();
  }
  SettleSync();
}

void Listener::Remove() {
  AnyHandler dropped;
  std::unique_ptr<EventQueue> discarded;
  {
    const MutexLock lock(mutex_);
    if (Injected(Bug::kReplayAfterRemoval) && !synced_ && queue_ && !queue_->empty()) return;
    closed_ = removed_ = true;
    discarded = std::move(queue_);
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
    if (queue_ && !queue_->empty()) Schedule();
  }
  FireSyncedCallbacks();
}

// Waits until no call is running. Not on the thread of that call, and not where the call itself waits, directly or
// through others, for the handler that this thread runs: two handlers that remove each other would wait forever.
Result<void> Listener::Join(std::stop_token stop) {
  Listener* const caller = running_here;
  if (caller == this) return {};
  Shared<Waiter> waiter;
  Result<void> waited;
  try {
    {
      const MutexLock graph(graph_mutex_);
      for (Listener* other = this; other != nullptr; other = other->waits_for_) {
        if (other == caller) return {};
      }
      const MutexLock lock(mutex_);
      waiter = BeginJoin();
      if (!waiter) return {};
      if (caller != nullptr) caller->waits_for_ = this;
    }
    do {
      waited = waiter->Wait(stop);  // an earlier call may have left a notification
    } while (waited && running());
  } catch (const std::bad_alloc&) {
    waited = Fail(detail::OutOfMemory());
  }
  if (waiter && caller != nullptr) {
    const MutexLock graph(graph_mutex_);
    caller->waits_for_ = nullptr;
  }
  if (waiter) EndJoin(*waiter);
  return waited;
}

Shared<Waiter> Listener::BeginJoin() {
  if (!running_) return {};
  if (!std::exchange(joins_, true)) return joiner_;
  return waiters_.emplace_back(executor_->MakeWaiter("the running call of the handler of " + name_));
}

void Listener::EndJoin(const Waiter& waiter) noexcept {
  const MutexLock lock(mutex_);
  if (&waiter == joiner_.get()) joins_ = false;
}

bool Listener::running() const noexcept {
  const MutexLock lock(mutex_);
  return running_;
}

void Listener::Reject(Error why) {
  AnyHandler dropped;
  {
    const MutexLock lock(mutex_);
    closed_ = removed_ = true;
    rejected_ = std::move(why);
    dropped = std::exchange(handler_, nullptr);
  }
  FireSyncedCallbacks();
}

Result<void> Listener::status() const {
  const MutexLock lock(mutex_);
  if (rejected_) return Fail(rejected_->With("handler of " + name_));
  return {};
}

Shared<Listener::SyncedWatch> Listener::NotifySynced(Task callback, bool saved) {
  auto watch = MakeShared<OnSynced>(Shared<Listener>(this), std::move(callback), saved);
  {
    const MutexLock lock(mutex_);
    if (!synced_ && !closed_ && !(saved && saved_handled_)) {
      on_synced_.push_back(watch.get());
      return watch;
    }
  }
  watch->Post();
  return watch;
}

bool Listener::HasSynced() const noexcept {
  const MutexLock lock(mutex_);
  return synced_;
}

bool Listener::HasHandledSaved() const noexcept {
  const MutexLock lock(mutex_);
  return saved_handled_ || synced_;
}

std::size_t Listener::Backlog() const noexcept {
  const MutexLock lock(mutex_);
  return closed_ ? 0 : queue_->size();
}

HandlerStatus Listener::Describe() const {
  HandlerStatus status{.name = name_,
                       .calls = counts_.ended.load(std::memory_order_relaxed),
                       .slow_calls = counts_.slow.load(std::memory_order_relaxed),
                       .time = Nanos(counts_.time.load(std::memory_order_relaxed))};
  const TimePoint since = counts_.running_since.load(std::memory_order_relaxed);
  const TimePoint now = executor_->clock()->Now();
  if (since != kNotRunning) status.running = std::max(Nanos(0), Nanos(now - since));
  const MutexLock lock(mutex_);
  if (closed_) return status;
  status.backlog = queue_->size();
  status.backlog_bytes = queue_->bytes();
  if (const auto oldest = queue_->oldest()) status.backlog_age = std::max(Nanos(0), Nanos(now - *oldest));
  return status;
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

// The task keeps the listener alive.
void Listener::Schedule() {
  if (scheduled_) return;
  executor_->BlockingOn(strand_, [self = Shared<Listener>(this)] { self->Drain(); });
  scheduled_ = true;  // not if that threw
}

// Calls the handler for the waiting events, one at a time. Handlers are called nowhere else.
void Listener::Drain() {
  running_here = this;
  for (;;) {
    std::optional<AnyEvent> event;
    {
      const MutexLock lock(mutex_);
      if (!closed_) {
        running_place_ = queue_->begin();
        event = queue_->Pop();
      }
      if (!event) {
        scheduled_ = false;
        break;
      }
      if (queue_->size() <= warning_level_ / 2) backlog_reported_ = false;
      if (queue_->well_below_limit()) merging_reported_ = false;
      running_ = true;
    }
    Call(*event);
    if (detail::ForkedChild()) return;  // forked by the handler
    if (!FinishCall()) break;
  }
  running_here = nullptr;
  std::unique_ptr<EventQueue> discarded;
  const MutexLock lock(mutex_);
  if (closed_) discarded = std::move(queue_);
}

void Listener::Call(const AnyEvent& event) {
  const TimePoint start = executor_->clock()->Now();
  counts_.running_since.store(start, std::memory_order_relaxed);
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
  counts_.running_since.store(kNotRunning, std::memory_order_relaxed);
  Increase(counts_.ended, std::uint64_t{1});
  Increase(counts_.time, took.count());
  if (took <= kSlowCall) return;
  Increase(counts_.slow, std::uint64_t{1});
  NotifyObserver(observer_, [&](Observer& o) { o.OnHandlerSlow({informer_, &event.key, took, Backlog()}); });
}

// Returns false if the handler was removed or the informer stopped in the meantime. The functions of a removed handler
// are destroyed here, after their last call and before any waiter is notified.
bool Listener::FinishCall() {
  std::vector<Shared<Waiter>> waiters;
  bool open = true, joins = false;
  for (AnyHandler dropped;; dropped = nullptr) {
    const MutexLock lock(mutex_);
    if (removed_ && handler_) {
      dropped = std::exchange(handler_, nullptr);
      continue;
    }
    running_ = false;
    waiters.swap(waiters_);
    joins = joins_;
    if (closed_) {
      open = false;
      scheduled_ = false;
    }
    break;
  }
  for (const Shared<Waiter>& waiter : waiters) waiter->Notify();
  if (joins) joiner_->Notify();
  SettleSync();
  return open;
}

bool Listener::HandledUntil(const std::optional<std::uint64_t>& end) const {
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.Move): the queue is moved from only when the listener is closed.
  return end && (running_ ? running_place_ : queue_->begin()) >= *end;
}

void Listener::SettleSync() {
  bool all = false;
  {
    const MutexLock lock(mutex_);
    if (synced_ || closed_) return;
    synced_ = HandledUntil(initial_end_);
    const bool saved = !saved_handled_ && HandledUntil(saved_end_);
    saved_handled_ = saved_handled_ || saved;
    if (!synced_ && !saved) return;
    all = synced_;
  }
  FireSyncedCallbacks(all);
}

void Listener::FireSyncedCallbacks(bool all) noexcept {
  for (;;) {
    Shared<OnSynced> watch;
    {
      const MutexLock lock(mutex_);
      const auto due = std::ranges::find_if(on_synced_, [all](const OnSynced* each) { return all || each->saved(); });
      if (due == on_synced_.end()) return;
      watch = Shared<OnSynced>::TryAdd(*due);
      on_synced_.erase(due);
    }
    if (watch) watch->Post();
  }
}

// Returns the backlog if it has just reached the warning level, or if the first event has been merged. Each is reported
// again only after the backlog has fallen to half of that level.
std::optional<Observer::BacklogHigh> Listener::NewlyHighBacklog(bool merges) {
  const bool high = queue_->size() >= warning_level_ && !std::exchange(backlog_reported_, true);
  const bool merging = merges && !std::exchange(merging_reported_, true);
  if (!high && !merging) return std::nullopt;
  return Observer::BacklogHigh{
      .informer = informer_, .backlog = queue_->size(), .handler = name_, .bytes = queue_->bytes(), .merging = merging};
}

}  // namespace kgen::cache
