// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Items: adding, handing out, finishing, delays. queue_workers.cc has the workers and the shutdown.
#include "controller/queue_core.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/throttled_observer.h"

namespace kgen::controller {
namespace {

using Pending = QueueItem::Pending;

constexpr std::uint64_t kFairShare = 16;      // one item in so many is the longest waiting one
constexpr std::size_t kPromotedAtOnce = 512;  // items that become ready in one task

// Of the queue's own, so that a queue without an observer warns as a connection does.
Shared<Observer> OrWarnings(Shared<Observer> observer, const Shared<Executor>& executor) {
  return observer ? std::move(observer) : MakeShared<ThrottledObserver>(Shared<Observer>(), executor);
}

}  // namespace

QueueCore::QueueCore(const detail::KeyType& type, WorkQueueOptions options)
    : type_(type),
      name_(std::move(options.name)),
      executor_(options.executor ? std::move(options.executor) : DefaultExecutor()),
      clock_(executor_->clock()),
      strand_(executor_->MakeStrand("work queue " + name_)),
      limiter_(options.rate_limiter ? std::move(options.rate_limiter) : ExponentialRateLimiter()),
      observer_(OrWarnings(std::move(options.observer), executor_)),
      priorities_(options.priorities),
      items_(type) {}

Nanos QueueCore::Limit(std::uint32_t failures, const AddOptions& options, TimePoint now) const noexcept {
  constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
  const Nanos delay = limiter_->When(static_cast<int>(std::min(failures, kMost)), now);
  return options.after > Nanos::zero() ? std::min(delay, options.after) : delay;
}

void QueueCore::Add(const void* key, const AddOptions& options) {
  const TimePoint now = Now();
  Nanos delay = options.after;
  if (options.rate_limited) {
    std::uint32_t failures = 0;
    {
      const MutexLock lock(mutex_);
      if (shutting_down_) return;
      failures = items_.FindOrInsert(key)->failures++;
    }
    delay = Limit(failures, options, now);
  }
  When when{.priority = options.priority};
  if (delay > Nanos::zero()) when.due = Later(now, delay);
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    if (shutting_down_) return;
    Queue(items_.FindOrInsert(key), when, now, wakes);
  }
  Act(wakes);
}

// Of what is pending already and the new addition, the higher priority and the earlier time.
void QueueCore::Queue(QueueItem* item, const When& when, TimePoint now, Wakes& wakes) {
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
  if (!when.due) {
    if (delayed) delayed_.Remove(item);
    MakeReady(item, now, wakes);
  } else if (!delayed) {
    Delay(item, *when.due, when.periodic);
  } else {
    const TimePoint due = std::min(item->time, *when.due);
    const bool periodic = item->periodic && when.periodic;
    if (due == item->time && periodic == item->periodic) return;
    delayed_.Remove(item);
    Delay(item, due, periodic);
  }
  if (delayed || when.due) Arm();
}

void QueueCore::Delay(QueueItem* item, TimePoint due, bool periodic) {
  item->time = due;
  item->order = ++order_;
  item->periodic = periodic;
  delayed_.Push(item);
  item->pending = Pending::kDelayed;
}

void QueueCore::MakeReady(QueueItem* item, TimePoint now, Wakes& wakes) {
  item->time = now;
  item->order = ++order_;
  item->pending = Pending::kReady;
  ++counts_.adds;
  if (item->processing) return;
  ready_.Push(item);
  WakeOne(wakes);
}

void QueueCore::WakeOne(Wakes& wakes) {
  if (!getters_.empty()) {
    wakes.waiters.push_back(std::move(getters_.front()));
    getters_.erase(getters_.begin());
  } else if (running_ < workers_) {
    ++running_;
    ++wakes.workers;
  }
}

QueueItem* QueueCore::Take(TimePoint now) {
  if (ready_.size() == 0) return nullptr;
  QueueItem* const item = ++taken_ % kFairShare == 0 ? ready_.PopLongestWaiting() : ready_.PopHighest();
  counts_.queue_duration.Observe(now - item->time);
  item->pending = Pending::kNo;
  item->processing = true;
  item->started = now;
  processing_.PushBack(item);
  return item;
}

QueueCore::Taken QueueCore::TryGet() {
  const TimePoint now = Now();
  const MutexLock lock(mutex_);
  QueueItem* const item = Take(now);
  return item != nullptr ? Taken{item->key(), item->priority} : Taken{};
}

Result<QueueCore::Taken> QueueCore::Get(const std::stop_token& stop) {
  Shared<Waiter> waiter;
  for (;;) {
    const TimePoint now = Now();
    {
      const MutexLock lock(mutex_);
      if (QueueItem* const item = Take(now)) return Taken{item->key(), item->priority};
      if (shutting_down_) return Fail(Code::kStopped, "get from work queue " + name_ + ": it was shut down");
      if (!waiter) waiter = executor_->MakeWaiter("get from work queue " + name_);
      getters_.push_back(waiter);
    }
    const Result<void> waited = waiter->Wait(stop);
    if (waited) continue;
    Wakes wakes;
    {
      const MutexLock lock(mutex_);
      // Woken for an item and stopped at the same time: somebody else has to take it.
      if (std::erase(getters_, waiter) == 0 && ready_.size() > 0) WakeOne(wakes);
    }
    Act(wakes);
    return Fail(waited.error());
  }
}

void QueueCore::Done(const void* key) {
  const TimePoint now = Now();
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    QueueItem* const item = items_.Find(key);
    if (item == nullptr || !item->processing) return;
    Finish(item, now, wakes);
  }
  Act(wakes);
}

void QueueCore::Finish(QueueItem* item, TimePoint now, Wakes& wakes) {
  counts_.work_duration.Observe(now - item->started);
  processing_.Remove(item);
  item->processing = false;
  if (item->pending == Pending::kReady) {
    item->order = ++order_;
    ready_.Push(item);
    WakeOne(wakes);
  } else {
    EraseIfUnused(item);
  }
  if (Finished()) WakeAll(wakes);
}

void QueueCore::EraseIfUnused(QueueItem* item) {
  if (item->Idle() && item->failures == 0) items_.Erase(item);
}

void QueueCore::Forget(const void* key) {
  const MutexLock lock(mutex_);
  QueueItem* const item = items_.Find(key);
  if (item == nullptr) return;
  item->failures = 0;
  EraseIfUnused(item);
}

int QueueCore::NumRequeues(const void* key) {
  const MutexLock lock(mutex_);
  const QueueItem* const item = items_.Find(key);
  return item != nullptr ? static_cast<int>(item->failures) : 0;
}

std::size_t QueueCore::size() {
  const MutexLock lock(mutex_);
  return ready_.size();
}

// ----------------------------------------------------------------------------------------------------------- time

void QueueCore::Arm() {
  if (delayed_.empty()) {
    timer_.Cancel();
    return;
  }
  const TimePoint due = delayed_.first()->time;
  const TimerKind kind = delayed_.has_progress() ? TimerKind::kProgress : TimerKind::kHousekeeping;
  // A timer that fires too early arms the next one.
  if (timer_ && armed_for_ <= due && armed_as_ == kind) return;
  armed_for_ = due;
  armed_as_ = kind;
  timer_ = clock_->At(due, kind, [self = Shared<QueueCore>(this)] {
    self->executor_->Post(self->strand_, [self] { self->Promote(); });
  });
}

void QueueCore::Promote() {
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
    if (!more) {
      timer_.Cancel();
      Arm();
    }
  }
  Act(wakes);
  if (more) executor_->Post(strand_, [self = Shared<QueueCore>(this)] { self->Promote(); });
}

WorkQueueMetrics QueueCore::metrics() {
  const TimePoint now = Now();
  const MutexLock lock(mutex_);
  WorkQueueMetrics metrics = counts_;
  metrics.name = name_;
  for (const ReadyItems::Band& band : ready_.bands()) metrics.depth.emplace_back(band.priority, band.items.size());
  for (const QueueItem* item = processing_.head(); item != nullptr; item = item->next) {
    const Nanos running = now - item->started;
    metrics.unfinished_work += running;
    metrics.longest_running = std::max(metrics.longest_running, running);
  }
  return metrics;
}

}  // namespace kgen::controller
