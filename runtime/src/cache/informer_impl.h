// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The implementation of an informer: what runs on its strand, and what other threads may access.
#ifndef KGEN_SRC_CACHE_INFORMER_IMPL_H_
#define KGEN_SRC_CACHE_INFORMER_IMPL_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cache/delivery/processor.h"
#include "cache/garbage.h"
#include "cache/jobs.h"
#include "cache/reflector/informer_options.h"
#include "cache/reflector/list_watch.h"
#include "cache/reflector/reflector.h"
#include "cache/reflector/strand_timer.h"
#include "cache/store/key_set.h"
#include "cache/store/store.h"
#include "core/memory/mutex.h"
#include "kgen/cache/informer_core.h"
#include "kgen/client/connection.h"
#include "kgen/core/waiter.h"

namespace kgen::cache {

// Lifetime: held by the InformerCore, by its posted tasks and, while it runs, by the relay of the stop token.
// ~InformerCore posts the stop, so the last reference is dropped only after everything has ended on the strand.
class InformerCore::Impl final : public SharedObject {
 public:
  Impl(const Connection& connection, Shared<ListWatch> source, const TypeTable& table, InformerOptions options);
  ~Impl() override;

  // Any thread.
  void Start(std::stop_token stop);
  void Stop() noexcept;  // destructors and stop callbacks call it
  // Destructors lead here, so the first of concurrent calls allocates nothing.
  Result<void> Join(const std::stop_token& stop);
  Shared<Listener> AddListener(AnyHandler handler, HandlerOptions options);
  Result<void> SetTransform(TransformFunction transform);
  Result<void> WaitUntil(std::string_view version, std::stop_token stop, Nanos limit);
  Result<AnySnapshot> WaitFor(std::string_view what, const std::function<bool(const AnySnapshot&)>& met,
                              std::stop_token stop, TimePoint deadline);
  bool HasSynced() const noexcept { return synced_.load(std::memory_order_acquire); }
  bool IsStopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
  InformerStatus status() const;
  Shared<Watch> OnStatusChange(std::function<void()> callback);
  const Shared<Store>& store() const noexcept { return store_; }
  const TypeTable& table() const noexcept { return table_; }
  const Shared<Executor>& executor() const noexcept { return executor_; }

 private:
  class StatusWatch;
  class StoreWait;
  class StopRelay;
  class StopTask;
  class Freer;
  struct FireRelay {
    Shared<StopRelay> relay;
    void operator()() const;
  };
  struct PendingListener {
    Shared<Listener> listener;
    TimePoint registered;
  };

  Result<void> JoinWith(Waiter& waiter, const std::stop_token& stop);

  // On the strand.
  void StartOnStrand();
  void StopOnStrand() noexcept;
  void TryToStop();
  void AddOnStrand(PendingListener pending);
  void AddRunning(const PendingListener& pending);
  void Publish();
  Nanos RequestedResync(const Listener& listener) const;
  Nanos EffectiveResync(Nanos requested) const;

  // On the strand, in informer_work.cc: work that grows with the number of objects, done in one bounded step per task.
  void ScheduleDrain(Nanos delay);
  void ScheduleWork();
  void Work();
  bool Advance(std::size_t& units);
  void ApplyBatch(std::size_t& units);
  void Applied(bool list);
  bool Discard(std::size_t& units);
  JobContext Context() { return {*store_, processor_, refused_, garbage_}; }

  const Connection connection_;
  const Shared<ListWatch> source_;
  const TypeTable& table_;
  const InformerOptions options_;
  const std::string name_;
  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const Shared<Strand> strand_;
  const Shared<ReservedPost> work_post_;
  const Shared<ReservedPost> stop_post_;
  const Shared<Freer> freer_;
  Shared<Store> store_;  // null only in the destructor
  const Shared<StartMark> started_ = MakeShared<StartMark>();
  std::atomic<bool> synced_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> stopped_{false};
  const Shared<Waiter> joiner_;     // notified when stopped_ is set
  std::atomic<bool> joins_{false};  // a call of Join() uses joiner_
  Shared<StopRelay> relay_;
  std::optional<std::stop_callback<FireRelay>> on_stop_;  // created once, by the thread that sets started_

  // Used on the strand only.
  DeltaFifo fifo_;
  Processor processor_;
  Shared<Reflector> reflector_;
  StrandTimer drain_timer_;
  std::vector<PendingListener> pending_;  // added before the start
  KeySet refused_;
  Nanos check_period_{};  // of checks for due resyncs; handlers added after the start do not shorten it
  Garbage garbage_;
  struct PendingJob {
    std::unique_ptr<Job> job;
    bool list = false;
  };
  std::deque<PendingJob> jobs_;  // the first one is running; the elements of fifo_ wait for all of them
  bool drain_due_ = false;       // the elements of fifo_ may be applied now
  bool work_scheduled_ = false;
  bool running_ = false;
  bool stop_done_ = false;

  // Used on all threads. No user code and no other component is called while mutex_ is held.
  mutable Mutex mutex_;
  TransformFunction transform_ KGEN_GUARDED_BY(mutex_) = options_.transform;
  InformerStatus status_ KGEN_GUARDED_BY(mutex_);
  std::vector<Shared<Listener>> listeners_ KGEN_GUARDED_BY(mutex_);  // for Join
  std::vector<Shared<Listener>> spare_ KGEN_GUARDED_BY(mutex_);      // empty, with room for a copy of listeners_
  std::vector<StatusWatch*> watches_ KGEN_GUARDED_BY(mutex_);        // each removes itself
  // Of WaitFor(), which removes them. Notified with every transaction, since few wait, and not for long.
  std::vector<Shared<Waiter>> store_waiters_ KGEN_GUARDED_BY(mutex_);
};

// Called by the stop token. It refers to the informer only while the informer runs, so token and informer may be
// destroyed in any order.
class InformerCore::Impl::StopRelay final : public SharedObject {
 public:
  void Set(Shared<Impl> impl) {
    const MutexLock lock(mutex_);
    impl_ = std::move(impl);
  }
  Shared<Impl> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(impl_, {});
  }

 private:
  Mutex mutex_;
  Shared<Impl> impl_ KGEN_GUARDED_BY(mutex_);
};

class InformerCore::Impl::StatusWatch final : public Watch {
 public:
  StatusWatch(Shared<Impl> impl, std::function<void()> callback)
      : callback_(std::move(callback)), impl_(std::move(impl)) {
    const MutexLock lock(impl_->mutex_);
    impl_->watches_.push_back(this);
  }
  ~StatusWatch() override {
    const MutexLock lock(impl_->mutex_);
    std::erase(impl_->watches_, this);
  }
  void Call() const { callback_(); }

 private:
  const std::function<void()> callback_;
  const Shared<Impl> impl_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_INFORMER_IMPL_H_
