// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informer: one informer, without the type of its objects, so that informers of eighty types share one copy of the
// code. Programs use SharedInformer<T> (kgen/cache/shared_informer.h), which adds the type in a few inline lines.
#ifndef KGEN_SRC_CACHE_INFORMER_H_
#define KGEN_SRC_CACHE_INFORMER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/delivery/processor.h"
#include "cache/garbage.h"
#include "cache/reflector/informer_settings.h"
#include "cache/reflector/list_watch.h"
#include "cache/reflector/reflector.h"
#include "cache/reflector/strand_timer.h"
#include "cache/stepped_jobs.h"
#include "cache/store/key_set.h"
#include "cache/store/store.h"
#include "core/memory/mutex.h"
#include "kgen/cache/events.h"
#include "kgen/cache/informer_status.h"
#include "kgen/cache/registration.h"
#include "kgen/cache/snapshot.h"
#include "kgen/client/connection.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/field_path.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"
#include "kgen/core/waiter.h"

namespace kgen::cache {

// An informer follows one resource: its reflector fills the queue, and the controller loop applies the queue to the
// store and tells the handlers.
//
// Thread safety: all members from any thread; none blocks unless it says so.
// Lifetime: shared by factory, handles, registrations, its posted tasks and, while it runs, the relay of its stop
// token. So whoever makes an informer stops it. A stopped informer answers from its last state.
//
// Invariants (tests/runtime/cache/informer_test.cc, informer_seams_test.cc):
//   I1  The store contains a change before any handler receives it.
//   I2  A handler added while running receives every object then in the store once, as initial, and every later change
//       once.
//   I3  HasSynced() is true only if a complete state of the server has been applied; it stays true. A saved state
//       counts from the bookmark that shows that it is current.
//   I4  After Stop() has taken effect nothing more is applied; queued deltas are discarded.
//   I5  No user function runs on the strand except transform and index functions; an exception of one is a refused
//       object or a missing index value, reported, never fatal.
class Informer final : public SharedObject {
 public:
  Informer(const Connection& connection, Shared<ListWatch> source, const TypeTable& table, InformerSettings settings);
  ~Informer() override;

  // Starts once; a second call, or one after Stop(), does nothing. `stop` only posts.
  void Start(std::stop_token stop);
  // Ends the reflector and the delivery of events. Does not wait. Destructors and stop callbacks call it.
  void Stop() noexcept;
  // Blocks until the informer has stopped and no handler runs; from a handler of it, without waiting for that one.
  // Destructors lead here, so the first of concurrent calls allocates nothing.
  // Errors: kCancelled (stop), kInvalidArgument on a thread that runs posted work.
  Result<void> Join(const std::stop_token& stop);

  // Ends the following of the resource for good, and tells each handler that every object has left: after all other
  // events, a Left for each object that the store has, and then one without a key, which is the last event of the
  // handler. A handler that is added later gets that one alone. The store keeps its last state. Stop() ends the rest,
  // and discards what has not been delivered yet. Posts to the strand; does not block.
  void Retire();
  // Whether Retire() has taken effect: the store will not change any more, and waits for its changes fail.
  bool IsRetired() const noexcept { return retired_.load(std::memory_order_acquire); }

  // The following are described at SharedInformer.
  Registration AddEventHandler(AnyHandler handler, HandlerOptions options);
  Result<void> AddIndex(std::string_view name, const IndexFunction& function);
  Result<void> AddIndex(std::string_view name, const FieldPath& path);
  Result<void> SetTransform(TransformFunction transform);
  Result<void> WaitUntil(std::string_view version, std::stop_token stop, Nanos limit);
  // What the informer holds from now on, if it has InformerSettings::shard_by: the objects whose hash is in `ranges`.
  // The others leave the cache, and handlers receive Left for each. For ranges that it did not hold before it lists,
  // while the cache goes on to show what it has. An informer without shard_by holds everything, and goes on doing so.
  // Before the start, the last call counts. Returns a number that grows with each call of this or of ListAnew(); 0 in a
  // child of fork().
  std::uint64_t Hold(ShardRanges ranges);
  // Lists without a version, so that the cache has the newest state of the server, however old its watch is. Returns a
  // number as Hold() does.
  std::uint64_t ListAnew();
  // The number of the last call of Hold() or ListAnew() whose state the store has: nothing outside of the ranges any
  // more, and of what is inside a state that is not older than any that the informer knew when it was called.
  std::uint64_t held() const noexcept { return held_.load(std::memory_order_acquire); }
  // Blocks until held() is at least `number`.
  // Errors: kTimeout, kCancelled, kStopped, kInvalidArgument (a thread that must not block).
  Result<void> WaitUntilHeld(std::uint64_t number, const std::stop_token& stop, TimePoint deadline);
  bool HasSynced() const noexcept { return synced_.load(std::memory_order_acquire); }
  bool IsStopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
  // For readers. It walks some objects and asks each handler.
  InformerStatus status() const;
  // What status() has without that: for whoever waits, and looks at every change.
  InformerStatus Progress() const;

  // Blocks until `met` returns true for a state of the store, and returns that state. `met` is called on the calling
  // thread, at once and again after each transaction; states between two calls are not seen. `what` is for traces.
  // Errors: kTimeout, kCancelled, kStopped, kInvalidArgument (a thread that must not block).
  Result<AnySnapshot> WaitFor(std::string_view what, const std::function<bool(const AnySnapshot&)>& met,
                              std::stop_token stop, TimePoint deadline);
  const Shared<Store>& store() const noexcept { return store_; }
  const Shared<Executor>& executor() const noexcept { return executor_; }

  // Runs `callback` as posted work whenever synced, held, stopped, failures or the last error change, until the
  // returned handle is dropped. A running call may finish after that.
  class Watch : public SharedObject {};
  [[nodiscard]] Shared<Watch> OnStatusChange(std::function<void()> callback);

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

  // Starts the reflector, as work on the strand.
  void StartOnStrand();
  void StopOnStrand() noexcept;
  void TryToStop();
  void End();
  void RetireOnStrand();
  static void TellLast(Listener& listener);
  void AddOnStrand(PendingListener pending);
  void AddRunning(const PendingListener& pending);
  void Publish();
  void CountFailure(Code code);
  std::uint64_t Ask(std::optional<ShardRanges> ranges);
  void TakeAsked();
  Nanos ResyncOf(const Listener& listener) const;
  static Error Stopped() { return {Code::kStopped, "the informer has been stopped"}; }

  // On the strand, in informer_work.cc: work that grows with the number of objects, done in one bounded step per task.
  void ScheduleWork();
  void Work();
  bool Advance(std::size_t& units);
  void ApplyBatch(std::size_t& units);
  struct PendingJob {
    std::unique_ptr<SteppedJob> job;
    bool list = false;
    bool saved = false;          // a list that was restored
    bool other_history = false;  // a list, of a server whose history was replaced
    std::string cluster{};       // of a list
    std::uint64_t held = 0;      // as in Delta
    bool left = false;           // objects have left
  };
  void StartJob(Delta delta);
  void JobDone(PendingJob done);
  void Reach(std::uint64_t held) noexcept;
  void Applied(bool sweep);
  bool Discard(std::size_t& units);
  JobContext Context() { return {*store_, processor_, refused_, garbage_, stale_}; }

  // On the strand, in informer_strand.cc.
  void ArmSave();
  void Save();

  const Connection connection_;
  const Shared<ListWatch> source_;
  const TypeTable& table_;
  const InformerSettings settings_;
  const std::string name_;
  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const Shared<Strand> strand_;
  const Shared<ReservedPost> work_post_;
  const Shared<ReservedPost> stop_post_;
  const Shared<Freer> freer_;
  const Shared<SavedCache> saved_;  // null without a warm start
  Shared<Store> store_;             // null only in the destructor
  const Shared<StartMark> started_ = MakeShared<StartMark>();
  std::atomic<bool> synced_{false};
  std::atomic<std::uint64_t> held_{0};  // set on the strand
  std::atomic<bool> stopping_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> retired_{false};  // set on the strand
  std::atomic<bool> ended_{false};    // stopped, and no saved cache is being read or written
  const Shared<Waiter> joiner_;       // notified when ended_ is set
  std::atomic<bool> joins_{false};    // a call of Join() uses joiner_
  Shared<StopRelay> relay_;
  std::optional<std::stop_callback<FireRelay>> on_stop_;  // created once, by the thread that sets started_

  // Used on the strand only.
  DeltaFifo fifo_;
  Processor processor_;
  Shared<Reflector> reflector_;
  StrandTimer stop_timer_;  // tries again to stop, after there was no memory for it
  StrandTimer save_timer_;
  std::vector<PendingListener> pending_;  // added before the start
  KeySet refused_;
  Nanos check_period_ = kNever;  // of checks for due resyncs: the shortest period of a handler
  Garbage garbage_;
  std::deque<PendingJob> jobs_;  // the first one is running; the elements of fifo_ wait for all of them
  bool work_scheduled_ = false;
  bool running_ = false;
  bool stop_done_ = false;
  bool stale_ = false;     // the store has a saved state that is not known to be current
  bool unsaved_ = false;   // the store has changed since it was saved
  bool save_due_ = false;  // it is to be saved as soon as that is possible, before the period ends
  std::string cluster_;    // the UID of the cluster of what the store has; "" if unknown

  // What Hold() and ListAnew() were called with, and the reflector has not been told yet.
  struct Asked {
    std::uint64_t number;
    std::optional<ShardRanges> ranges;  // absent: ListAnew()
  };

  // Used on all threads. No user code and no other component is called while mutex_ is held.
  mutable Mutex mutex_;
  std::uint64_t last_asked_ KGEN_GUARDED_BY(mutex_) = 0;
  std::vector<Asked> asked_ KGEN_GUARDED_BY(mutex_);
  TransformFunction transform_ KGEN_GUARDED_BY(mutex_) = settings_.transform;
  InformerStatus status_ KGEN_GUARDED_BY(mutex_);
  // By code. Apart from status_, which every transaction replaces.
  CountsByCode failure_counts_ KGEN_GUARDED_BY(mutex_) = {};
  std::vector<Shared<Listener>> listeners_ KGEN_GUARDED_BY(mutex_);  // for Join
  std::vector<Shared<Listener>> spare_ KGEN_GUARDED_BY(mutex_);      // empty, with room for a copy of listeners_
  std::vector<StatusWatch*> watches_ KGEN_GUARDED_BY(mutex_);        // each removes itself
  std::uint64_t published_held_ KGEN_GUARDED_BY(mutex_) = 0;         // what watches_ know of held_
  // The waiters of WaitFor(), which removes them. Every transaction notifies them: they are few and do not wait long.
  std::vector<Shared<Waiter>> store_waiters_ KGEN_GUARDED_BY(mutex_);
};

// Called by the stop token. It refers to the informer only while the informer runs, so token and informer may be
// destroyed in any order.
class Informer::StopRelay final : public SharedObject {
 public:
  void Set(Shared<Informer> informer) {
    const MutexLock lock(mutex_);
    informer_ = std::move(informer);
  }
  Shared<Informer> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(informer_, {});
  }

 private:
  Mutex mutex_;
  Shared<Informer> informer_ KGEN_GUARDED_BY(mutex_);
};

class Informer::StatusWatch final : public Watch {
 public:
  StatusWatch(Shared<Informer> informer, std::function<void()> callback)
      : callback_(std::move(callback)), informer_(std::move(informer)) {
    const MutexLock lock(informer_->mutex_);
    informer_->watches_.push_back(this);
  }
  ~StatusWatch() override {
    const MutexLock lock(informer_->mutex_);
    std::erase(informer_->watches_, this);
  }
  void Call() const { callback_(); }

 private:
  const std::function<void()> callback_;
  const Shared<Informer> informer_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_INFORMER_H_
