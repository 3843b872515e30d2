// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Adds, hands out, finishes and delays items. queue_workers.cc has the workers and the shutdown.
#include "controller/queue/queue_state.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "core/observers/throttled_observer.h"
#include "core/out_of_memory.h"
#include "core/thrown.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

using Pending = QueueItem::Pending;

constexpr std::uint64_t kFairShare = 16;      // every kFairShare-th item is the longest waiting one
constexpr std::size_t kPromotedAtOnce = 512;  // the maximum number of items that one task makes ready

// Without an observer, the queue makes its own, which logs warnings, like a connection's observer.
Shared<Observer> OrWarnings(Shared<Observer> observer, const Shared<Executor>& executor) {
  return observer ? std::move(observer) : MakeShared<ThrottledObserver>(Shared<Observer>(), executor);
}

}  // namespace

QueueState::QueueState(const detail::KeyType& type, WorkQueueOptions options)
    : type_(type),
      name_(std::move(options.name)),
      executor_(options.executor ? std::move(options.executor) : DefaultExecutor()),
      clock_(executor_->clock()),
      strand_(executor_->MakeStrand("work queue " + name_)),
      limiter_(options.rate_limiter ? std::move(options.rate_limiter)
               : options.priorities ? *ExponentialRateLimiter()
                                    : DefaultControllerRateLimiter()),
      observer_(OrWarnings(std::move(options.observer), executor_)),
      priorities_(options.priorities),
      measured_(options.measure_durations),
      items_(type) {
  detail::OutOfMemory();  // makes the error, for when there is no memory
}

Nanos QueueState::Limit(std::uint32_t failures, const AddOptions& options, TimePoint now) const noexcept {
  constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
  const int count = static_cast<int>(std::min(failures, kMost));
  Nanos delay{};
  try {
    delay = limiter_->When(count, now);
  } catch (...) {
    delay = fallback_->When(count, now);
    NotifyObserver(observer_, [&](Observer& o) {
      const std::string handler = "rate limiter of work queue " + name_;
      const std::string what = detail::ErrorOfThrown("it").ToString();
      o.OnHandlerFailed({.informer = handler, .what = what});
    });
  }
  return options.after ? std::min(delay, *options.after) : delay;
}

void QueueState::ReportNegativeDelay(const void* key, Nanos delay) const noexcept {
  NotifyObserver(observer_, [&](Observer& o) {
    const std::string text = type_.text(key);
    const std::string message = "the option `after` of an addition is " + net::DurationText(delay) +
                                ", but a delay is not negative; it counts as zero";
    o.OnLogged({.source = name_, .key = text, .message = message, .level = LogLevel::kWarning});
  });
}

void QueueState::Add(const void* key, const AddOptions& options) {
  if (detail::ForkedChild()) return;
  const std::uint32_t hash = HashOf(key);
  Nanos delay = options.after.value_or(Nanos::zero());
  if (delay < Nanos::zero()) ReportNegativeDelay(key, delay);
  const TimePoint now = options.rate_limited || delay > Nanos::zero() ? Now() : NowIfMeasured();
  if (options.rate_limited) {
    std::uint32_t failures = 0;
    {
      const MutexLock lock(mutex_);
      if (shutting_down_) return;
      failures = FindOrInsert(hash, key)->failures++;
    }
    delay = Limit(failures, options, now);
  }
  When when{.priority = options.priority};
  if (delay > Nanos::zero()) when.due = Later(now, delay);
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    if (shutting_down_) return;
    Queue(FindOrInsert(hash, key), when, now, wakes);
  }
  Act(wakes);
}

// Throws before any change: the structures first get room for the item wherever it may go.
QueueItem* QueueState::FindOrInsert(std::uint32_t hash, const void* key) {
  ready_.Reserve();
  if (QueueItem* const item = items_.Find(hash, key)) return item;
  delayed_.Reserve(items_.size() + 1);
  return items_.Insert(hash, key);
}

// Combines the pending addition with the new one: takes the higher priority and the earlier time.
void QueueState::Queue(QueueItem* item, const When& when, TimePoint now, Wakes& wakes) noexcept {
  const std::int32_t asked = priorities_ ? when.priority : kNormalPriority;
  const std::int32_t priority = item->pending == Pending::kNo ? asked : std::max(asked, item->priority);
  if (when.due) ++counts_.retries;
  if (item->pending == Pending::kReady) {
    if (priority == item->priority) return;
    if (!item->processing) ready_.Remove(item);
    item->priority = priority;
    if (item->processing) return;
    item->order = ++order_;
    ready_.Push(item);
    return;
  }
  item->priority = priority;
  const bool delayed = item->pending == Pending::kDelayed;
  const bool idle = when.periodic || when.due == TimePoint::max();  // nothing waits for this delay to end
  if (!when.due) {
    if (delayed) delayed_.Remove(item);
    MakeReady(item, now, wakes);
  } else if (!delayed) {
    Delay(item, *when.due, idle);
  } else {
    const TimePoint due = std::min(item->time, *when.due);
    const bool periodic = item->periodic && idle;
    if (due == item->time && periodic == item->periodic) return;
    delayed_.Remove(item);
    Delay(item, due, periodic);
  }
  if (delayed || when.due) Arm();
}

void QueueState::Delay(QueueItem* item, TimePoint due, bool periodic) noexcept {
  item->time = due;
  item->order = ++order_;
  item->periodic = periodic;
  delayed_.Push(item);
  item->pending = Pending::kDelayed;
}

void QueueState::MakeReady(QueueItem* item, TimePoint now, Wakes& wakes) noexcept {
  item->time = now;
  item->order = ++order_;
  item->pending = Pending::kReady;
  ++counts_.adds;
  if (item->processing) return;
  ready_.Push(item);
  WakeOne(wakes);
}

void QueueState::WakeGetterOrWorker(Wakes& wakes) noexcept {
  if (!getters_.empty()) {
    getters_.front()->Notify();
    getters_.erase(getters_.begin());
  } else {
    ++running_;
    ++wakes.workers;
    wakes.processing = work_.get();
  }
}

QueueItem* QueueState::Take(TimePoint now, const detail::ItemReceiver* receiver) {
  if (ready_.size() == 0) return nullptr;
  QueueItem* const item = (taken_ + 1) % kFairShare == 0 ? ready_.longest_waiting() : ready_.highest();
  if (receiver != nullptr) receiver->take(receiver->to, item->key(), item->priority);  // throws before any change
  ++taken_;
  ready_.Remove(item);
  if (now != QueueItem::kUnmeasured && item->time != QueueItem::kUnmeasured) {
    counts_.queue_duration.Observe(now - item->time);
  }
  item->pending = Pending::kNo;
  item->processing = true;
  item->by_worker = receiver == nullptr;
  item->started = now;
  processing_.PushBack(item);
  return item;
}

bool QueueState::TryGet(const detail::ItemReceiver& receiver) {
  if (detail::ForkedChild()) return false;
  const TimePoint now = NowIfMeasured();
  const MutexLock lock(mutex_);
  return Take(now, &receiver) != nullptr;
}

Result<void> QueueState::Get(const std::stop_token& stop, const detail::ItemReceiver& receiver) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const Shared<QueueState> self(this);  // the last handle may be destroyed meanwhile
  const std::string doing = "get from work queue " + name_;
  Shared<Waiter> waiter;
  try {
    for (;;) {
      if (stop.stop_requested()) {  // before what is ready, so that a loop ends while others keep adding
        if (waiter) PassOn(waiter);
        return Fail(Code::kCancelled, doing + ": a stop was requested");
      }
      const TimePoint now = NowIfMeasured();
      {
        const MutexLock lock(mutex_);
        if (Take(now, &receiver) != nullptr) return {};
        if (shutting_down_) return Fail(Code::kStopped, doing + ": it was shut down");
        if (waiter) getters_.push_back(waiter);
      }
      if (!waiter) {
        waiter = executor_->MakeWaiter(doing);
        continue;
      }
      const Result<void> waited = waiter->Wait(stop);
      if (waited) continue;
      PassOn(waiter);
      return Fail(waited.error());
    }
  } catch (...) {  // the copy of the key threw
    PassOn(waiter);
    throw;
  }
}

// Called when Get() returns without an item. If the waiter was woken for an item, another waiter must take it.
void QueueState::PassOn(const Shared<Waiter>& waiter) noexcept {
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    if (std::erase(getters_, waiter) == 0 && ready_.size() > 0) WakeOne(wakes);
  }
  Act(wakes);
}

void QueueState::Done(const void* key) {
  if (detail::ForkedChild()) return;
  const std::uint32_t hash = HashOf(key);
  const TimePoint now = NowIfMeasured();
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    QueueItem* const item = items_.Find(hash, key);
    // A worker uses its item during the call and finishes it itself.
    if (item == nullptr || !item->processing || item->by_worker) return;
    Finish(item, now, wakes);
  }
  Act(wakes);
}

void QueueState::Finish(QueueItem* item, TimePoint now, Wakes& wakes) noexcept {
  if (now != QueueItem::kUnmeasured && item->started != QueueItem::kUnmeasured) {
    counts_.work_duration.Observe(now - item->started);
  }
  processing_.Remove(item);
  item->processing = false;
  if (item->pending == Pending::kReady) {
    item->order = ++order_;
    ready_.Push(item);
    WakeOne(wakes);
  } else {
    EraseIfUnused(item);
  }
  if (Finished()) WakeAll();
}

void QueueState::EraseIfUnused(QueueItem* item) noexcept {
  if (item->Idle() && item->failures == 0) items_.Erase(item);
}

void QueueState::Forget(const void* key) {
  if (detail::ForkedChild()) return;
  const std::uint32_t hash = HashOf(key);
  const MutexLock lock(mutex_);
  QueueItem* const item = items_.Find(hash, key);
  if (item == nullptr) return;
  item->failures = 0;
  EraseIfUnused(item);
}

int QueueState::NumRequeues(const void* key) {
  const std::uint32_t hash = HashOf(key);
  const MutexLock lock(mutex_);
  const QueueItem* const item = items_.Find(hash, key);
  return item != nullptr ? static_cast<int>(item->failures) : 0;
}

std::size_t QueueState::size() {
  const MutexLock lock(mutex_);
  return ready_.size();
}

// ----------------------------------------------------------------------------------------------------------- time

void QueueState::Arm() noexcept {
  const bool starts = start_again_ != TimePoint::max();
  const TimePoint due = delayed_.empty() ? start_again_ : std::min(delayed_.first()->time, start_again_);
  if (due == TimePoint::max()) return Disarm();
  const TimerKind kind = delayed_.has_progress() || starts ? TimerKind::kProgress : TimerKind::kHousekeeping;
  // A timer that fires too early arms the next one.
  if (armed_ && armed_for_ <= due && armed_as_ == kind) return;
  timer_->Set(due, kind,
              [self = Shared<QueueState>(this)] { self->promote_->Post([self = self] { self->Promote(); }); });
  armed_ = true;
  armed_for_ = due;
  armed_as_ = kind;
}

void QueueState::Disarm() noexcept {
  timer_->Cancel();
  armed_ = false;
}

void QueueState::Promote() noexcept {
  const TimePoint now = Now();
  Wakes wakes;
  bool more = false;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; !delayed_.empty() && delayed_.first()->time <= now; ++i) {
      more = i == kPromotedAtOnce;
      if (more) break;
      QueueItem* const item = delayed_.first();
      delayed_.Remove(item);
      MakeReady(item, now, wakes);
    }
    if (start_again_ <= now) WakeWorkers(wakes);
    if (!more) {
      Disarm();
      Arm();
    }
  }
  Act(wakes);
  if (more) promote_->Post([self = Shared<QueueState>(this)] { self->Promote(); });
}

WorkQueueMetrics QueueState::metrics() {
  if (detail::ForkedChild()) return {};
  const TimePoint now = Now();
  const MutexLock lock(mutex_);
  WorkQueueMetrics metrics = counts_;
  metrics.name = name_;
  for (const ReadyItems::Band& band : ready_.bands()) {
    if (!band.items.empty()) metrics.depth.emplace_back(band.priority, band.items.size());
  }
  // Always include normal priority. Otherwise an idle queue would have no series, and alerts would take it for a queue
  // that is not running.
  const auto normal =
      std::ranges::lower_bound(metrics.depth, kNormalPriority, std::greater(), &std::pair<int, std::size_t>::first);
  if (normal == metrics.depth.end() || normal->first != kNormalPriority) {
    metrics.depth.insert(normal, {kNormalPriority, 0});
  }
  for (const QueueItem* item = processing_.head(); item != nullptr; item = item->next) {
    if (item->started == QueueItem::kUnmeasured) continue;
    // Processing may have started after `now` was read.
    const Nanos running = std::max(now - item->started, Nanos::zero());
    metrics.unfinished_work += running;
    metrics.longest_running = std::max(metrics.longest_running, running);
  }
  return metrics;
}

}  // namespace kgen::controller
