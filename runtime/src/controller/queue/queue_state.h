// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The logic of a work queue, on top of the data structures of queue_items.h.
//
// An item is in one of three pending states (no, delayed or ready), and is independently being processed or not. An
// item that becomes ready while it is being processed is in no list until Done(). Only Promote() makes a delayed item
// ready when its time has come. It runs on the queue's strand, and each run promotes a bounded number of items.
//
// Workers are tasks, not threads. When an item becomes ready and fewer workers than requested are running, the queue
// passes one more to Executor::Blocking. A worker runs while items are ready, and ends in the same critical section in
// which it finds none, so that no ready item is left without a worker. After a number of items, it goes to the end of
// the executor's queue, so that queues with more workers than there are threads take turns.
#ifndef KGEN_SRC_CONTROLLER_QUEUE_QUEUE_STATE_H_
#define KGEN_SRC_CONTROLLER_QUEUE_QUEUE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/queue/queue_items.h"
#include "core/memory/mutex.h"
#include "kgen/controller/work_queue.h"
#include "kgen/core/function.h"

namespace kgen::controller {

// Whether the item comes back after a success without another event.
inline bool ComesBack(const Requeue& requeue) noexcept { return requeue.after && *requeue.after != kNever; }
// Errors: kInvalidArgument  its delay is negative
Result<void> CheckRequeue(const Requeue& requeue);

// Thread safety: all members from any thread. The limiter, the reconcile function, the observer and the executor are
// called without the lock, and so is a key's hash. The queue's timer is set and cancelled, and waiters are notified,
// under the lock, and a key's ==, copy and destructor are called under it.
// Errors: functions that change the state of an item are noexcept (queue_items.h says why). Add() gets the memory that
// they may need before it calls them, and the timer and its post were reserved when the queue was made. If there is no
// memory for the task of a worker, the timer tries again.
// Lifetime: shared by handles, timers, workers and blocked calls.
class QueueState final : public detail::AnyWorkQueue {
 public:
  QueueState(const detail::KeyType& type, WorkQueueOptions options);

  void Add(const void* key, const AddOptions& options) override;
  bool TryGet(const detail::ItemReceiver& receiver) override;
  Result<void> Get(const std::stop_token& stop, const detail::ItemReceiver& receiver) override;
  void Done(const void* key) override;
  void Forget(const void* key) override;
  int NumRequeues(const void* key) override;
  std::size_t size() override;
  WorkQueueMetrics metrics() override;
  Result<void> Process(int workers, const std::stop_token& stop, detail::Reconciler reconcile, bool drain) override;
  Result<void> Start(int workers, const std::stop_token& stop, detail::Reconciler reconcile,
                     UniqueFunction<void()> done) override;
  void Abandon() override;
  void ShutDown() override;
  Result<void> ShutDownWithDrain(const std::stop_token& stop) override;
  bool ShuttingDown() override;

 private:
  class Worker;
  // Posts AdvanceStarted(). It does not keep the queue alive: it belongs to `work_`, and is destroyed with the queue.
  struct OnStop {
    QueueState* queue;
    void operator()() const noexcept;
  };
  // The state of one call of Process() or Start().
  struct Processing : SharedObject {
    Processing(detail::Reconciler function, std::stop_token token, bool drains)
        : reconcile(std::move(function)), stop(std::move(token)), drain(drains) {}
    mutable detail::Reconciler reconcile;
    const std::stop_token stop;
    const bool drain;
    UniqueFunction<void()> done{};  // of Start(), otherwise null
    std::optional<std::stop_callback<OnStop>> on_stop{};
  };
  // The work to do after the lock is released.
  struct Wakes {
    std::size_t workers = 0;
    const Processing* processing = nullptr;  // for the workers to start
    Shared<Processing> ended{};              // here only to be destroyed without the lock
  };
  struct When {
    std::optional<TimePoint> due{};  // nullopt: immediately
    std::int32_t priority = kNormalPriority;
    bool periodic = false;
  };

  std::uint32_t HashOf(const void* key) const noexcept { return ItemMap::HashOf(type_, key); }
  QueueItem* FindOrInsert(std::uint32_t hash, const void* key) KGEN_REQUIRES(mutex_);
  void Queue(QueueItem* item, const When& when, TimePoint now, Wakes& wakes) noexcept KGEN_REQUIRES(mutex_);
  void Delay(QueueItem* item, TimePoint due, bool periodic) noexcept KGEN_REQUIRES(mutex_);
  void MakeReady(QueueItem* item, TimePoint now, Wakes& wakes) noexcept KGEN_REQUIRES(mutex_);
  void WakeOne(Wakes& wakes) noexcept KGEN_REQUIRES(mutex_) {
    if (!getters_.empty() || running_ < workers_) WakeGetterOrWorker(wakes);
  }
  void WakeGetterOrWorker(Wakes& wakes) noexcept KGEN_REQUIRES(mutex_);
  // Returns null if no item is ready. A worker passes no receiver. Changes nothing if the receiver's copy of the key
  // throws.
  QueueItem* Take(TimePoint now, const detail::ItemReceiver* receiver) KGEN_REQUIRES(mutex_);
  void PassOn(const Shared<Waiter>& waiter) noexcept;
  void Finish(QueueItem* item, TimePoint now, Wakes& wakes) noexcept KGEN_REQUIRES(mutex_);
  void EraseIfUnused(QueueItem* item) noexcept KGEN_REQUIRES(mutex_);
  void Arm() noexcept KGEN_REQUIRES(mutex_);
  void Disarm() noexcept KGEN_REQUIRES(mutex_);
  void Promote() noexcept;
  void ReportNegativeDelay(const void* key, Nanos delay) const noexcept;
  Nanos Limit(std::uint32_t failures, const AddOptions& options, TimePoint now) const noexcept;
  void Act(const Wakes& wakes) noexcept {
    if (wakes.workers > 0) StartTasks(wakes);
  }
  void StartTasks(const Wakes& wakes) noexcept;
  void StartTask(Worker worker) noexcept;
  // Requests workers for the ready items.
  void WakeWorkers(Wakes& wakes) noexcept KGEN_REQUIRES(mutex_);

  std::string TextOf(QueueItem* item) const;

  Result<void> StartWorkers(int workers, Shared<Processing> processing);
  void PostAdvance() noexcept;
  void AdvanceStarted();
  Result<void> RunUntilFinished(const Shared<Waiter>& waiter, const std::stop_token& stop, bool drain);
  // Returns null if the worker has ended.
  QueueItem* NextForWorker(const Processing& processing, TimePoint now, std::int32_t& priority) noexcept;
  void EndWorker() noexcept;
  void CountEnd(Wakes& wakes) noexcept KGEN_REQUIRES(mutex_);
  // Returns the time at which the worker takes its next item. After a success that is the end of this one: nothing of
  // the user's runs in between, and a clock takes longer to read than an item to finish.
  TimePoint Reconcile(const Processing& processing, QueueItem* item, std::int32_t priority) noexcept;
  TimePoint OnSuccess(QueueItem* item, std::int32_t priority, const Requeue& requeue) noexcept;
  void ReportRecovery(QueueItem* item) noexcept;
  void BackOff(QueueItem* item, std::int32_t priority, const Error* error) noexcept;
  void GiveUp(QueueItem* item, const Error& error) noexcept;

  void BeginDrain();
  Result<void> WaitUntilFinished(const std::stop_token& stop);
  bool Finished() const noexcept KGEN_REQUIRES(mutex_);
  void WakeAll() noexcept KGEN_REQUIRES(mutex_);
  TimePoint Now() const noexcept { return clock_->Now(); }
  // Returns the time if the metrics have durations.
  TimePoint NowIfMeasured() const noexcept { return measured_ ? clock_->Now() : QueueItem::kUnmeasured; }

  const detail::KeyType& type_;
  const std::string name_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const Shared<Strand> strand_;
  const Shared<RateLimiter> limiter_;
  const Shared<RateLimiter> fallback_ = *ExponentialRateLimiter();  // while the limiter throws
  const Shared<Observer> observer_;
  const bool priorities_;
  const bool measured_;

  Mutex mutex_;
  ItemMap items_ KGEN_GUARDED_BY(mutex_);
  ReadyItems ready_ KGEN_GUARDED_BY(mutex_);
  DelayedItems delayed_ KGEN_GUARDED_BY(mutex_);
  ItemList processing_ KGEN_GUARDED_BY(mutex_);
  std::uint64_t order_ KGEN_GUARDED_BY(mutex_) = 0;
  std::uint64_t taken_ KGEN_GUARDED_BY(mutex_) = 0;
  const Shared<ReservedTimer> timer_ = clock_->ReserveTimer();  // used under mutex_
  const Shared<ReservedPost> promote_ = executor_->ReservePost(strand_);
  const Shared<ReservedPost> advance_ = executor_->ReservePost(strand_);
  bool armed_ KGEN_GUARDED_BY(mutex_) = false;
  TimePoint armed_for_ KGEN_GUARDED_BY(mutex_){};
  TimerKind armed_as_ KGEN_GUARDED_BY(mutex_) = TimerKind::kProgress;
  TimePoint start_again_ KGEN_GUARDED_BY(mutex_) = TimePoint::max();  // when to request workers that could not start
  std::vector<Shared<Waiter>> getters_ KGEN_GUARDED_BY(mutex_);       // blocked in Get(), oldest first
  std::vector<Shared<Waiter>> watchers_ KGEN_GUARDED_BY(mutex_);      // woken when the shutdown begins and when it ends
  Shared<Processing> work_ KGEN_GUARDED_BY(mutex_);                   // null unless Process(), Start() or a worker runs
  std::size_t workers_ KGEN_GUARDED_BY(mutex_) = 0;                   // the maximum number of workers
  std::size_t running_ KGEN_GUARDED_BY(mutex_) = 0;
  bool abandoned_ KGEN_GUARDED_BY(mutex_) = false;  // nobody waits for the workers to end any more
  bool shutting_down_ KGEN_GUARDED_BY(mutex_) = false;
  bool draining_ KGEN_GUARDED_BY(mutex_) = false;  // only while shutting down
  WorkQueueMetrics counts_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_QUEUE_QUEUE_STATE_H_
