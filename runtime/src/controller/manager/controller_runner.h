// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ControllerRunner: one controller. Turns events of its watches into keys, and calls the reconcile function for them.
//
//   AnyCache --events--> OnEvent() --> ReasonLog, WorkQueue --> ReconcileOne() --> the user's function
#ifndef KGEN_SRC_CONTROLLER_MANAGER_CONTROLLER_RUNNER_H_
#define KGEN_SRC_CONTROLLER_MANAGER_CONTROLLER_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controller/manager/reasons.h"
#include "controller/manager/recent_calls.h"
#include "controller/manager/sharded_work.h"
#include "core/memory/mutex.h"
#include "core/observers/open_span.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/controller.h"
#include "kgen/controller/event_recorder.h"
#include "kgen/controller/metrics.h"
#include "kgen/controller/work_queue.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/core/log_record.h"
#include "kgen/core/observer.h"

namespace kgen::controller {

// What a Request refers to. Lives on the stack of the call.
struct RequestState {
  std::string_view id_text() const noexcept { return {id.data(), id.size()}; }
  void Log(LogLevel level, std::string_view message, std::span<const LogField> fields) const;

  const ObjectKey& key;
  std::string_view controller;
  RequestId id;
  Reasons reasons;
  int failures;
  CachedClient client;
  std::stop_token stop;
  TimePoint deadline;
  const EventRecorder& events;
  const Shared<Observer>& observer;
  std::string_view cluster{};
  std::uint64_t fence = 0;
};

// The metrics of one controller, under controller-runtime's names.
struct ControllerMetrics {
  static Result<ControllerMetrics> Make(Metrics& metrics, const std::string& controller, int workers);

  Metrics::Counter succeeded, failed, requeued, requeued_after;  // controller_runtime_reconcile_total
  Metrics::Counter errors, terminal_errors, panics, timeouts;
  Metrics::Counter function_panics, skipped;
  Metrics::Histogram time;
  Metrics::Gauge workers, active;
};

// Thread safety: all members from any thread.
// Lifetime: shared by the manager, handles, and registrations while it runs.
class ControllerRunner final : public ShardedController {
 public:
  // What a controller gets from its manager. With leader election, the client of a controller that needs the leader
  // writes only while this process leads.
  struct Environment {
    Shared<Executor> executor;
    Shared<Observer> observer;
    CachedClient client;
    EventRecorder events;
    ControllerMetrics metrics;
    Nanos sync_timeout{};
    ControllerDefaults settings{};  // of this controller
    std::string cluster{};          // Request::cluster()
    Shared<ShardedWork> shards{};   // null: the process works on everything
  };
  using Done = UniqueFunction<void(Result<void>)>;
  // A watch whose kind is known, with a user of its cache.
  struct Watch {
    detail::WatchSpec spec;
    AnyCache cache;
  };

  // The kind that a controller with these watches reconciles; null if it has none.
  static const KindInfo* KindOf(const std::vector<Watch>& watches) noexcept;

  ControllerRunner(detail::ControllerSpec spec, std::vector<Watch> watches, Environment environment);
  ~ControllerRunner() override;

  const std::string& name() const noexcept { return name_; }
  bool need_leader_election() const noexcept { return environment_.settings.need_leader_election; }
  void Enqueue(const ObjectKey& key, const RequestOptions& options);

  // Runs until `stop` is requested, without a thread while it has nothing to do. Call it once, on a thread that may
  // block; `done` is called once, on such a thread. The function that reconciles is destroyed before.
  // Errors: kTimeout  the initial events were not handled within the sync timeout
  //         kInvalidArgument  with shards: a function of Watches() has added a key in another namespace than the object
  //         and as AnyCache and WorkQueue
  void Start(const std::stop_token& stop, Done done);
  // For the end of an executor, which runs nothing more: lets go of everything, and `done` is not called.
  void Abandon();

  // The objects whose calls run: "default/a for 3s, default/b for 1s"; "" if there are none.
  std::string Doing() const;

  void Replay(const ShardRanges& ranges) override;
  void Forget(const ShardRanges& ranges) override;
  void CountObjects(std::unordered_map<std::uint64_t, double>& loads) const override;

  // For metrics and /debug, which must not keep the controller alive.
  const RateLimitingQueue& queue() const noexcept { return queue_; }
  const Shared<ReasonLog>& reasons() const noexcept { return reasons_; }
  const Shared<RecentCalls>& recent() const noexcept { return recent_; }

 private:
  using Function = std::function<Result<Requeue>(Request&)>;
  class Call;
  class Running;
  // `only`, which may be null: the keys to add.
  void OnEvent(const Watch& watch, const AnyEvent& event, const ShardRanges* only);
  template <typename F>
  bool Passes(const F& predicate, const Watch& watch, const AnyEvent& event);
  void ReportThrown(std::string_view who, const Watch& watch, const AnyEvent& event) noexcept;
  void AddKeys(const Watch& watch, const AnyEvent& event, const ShardRanges* only);
  void AddOwners(const Watch& watch, const AnyEvent& event, Cause cause, const ShardRanges* only);
  void AddMapped(const Watch& watch, const AnyEvent& event, Cause cause, const ShardRanges* only);
  void Add(const ObjectKey& key, Cause cause, const Watch& watch, const AnyEvent& event, const ShardRanges* only,
           const RequestOptions& asked = {});
  // Why it must end; nothing if it need not.
  std::optional<Error> Misplaced() const {
    const MutexLock lock(mutex_);
    return misplaced_;
  }
  bool IsElsewhere(const ObjectKey& key, const ShardRanges* only) const;
  void CheckMapped(const Watch& watch, const AnyEvent& event, const ObjectKey& key);
  Result<Requeue> ReconcileOne(const ObjectKey& key, const std::stop_token& stop, const Function& function);
  Result<Requeue> Reconcile(const ObjectKey& key, const std::stop_token& stop, const Function& function,
                            ShardedWork::Call* shard);
  Result<Requeue> CallFunction(const Function& function, RequestState& state);
  // What the last call for a key wrote, until it has come back.
  struct LastCall {
    std::vector<WriteLog::Entry> writes{};
    std::optional<TimePoint> due{};  // of the next call, if the last one asked for it
  };
  std::optional<Requeue> SkipOwnWrites(const ObjectKey& key, const Reasons& reasons);
  void NoteOwnWrites(const ObjectKey& key, std::vector<WriteLog::Entry> writes, const Result<Requeue>& result);
  RequestId NextId() noexcept;
  // Whether the namespace of a key was taken out of the caches.
  bool HasLeft(const ObjectKey& key) const noexcept;
  OpenSpan StartSpan(const ObjectKey& key, const RequestId& id) const;
  Result<Requeue> Conclude(const RequestState& state, Result<Requeue> result, bool timed_out, bool stopping);

  const std::string name_;
  Function reconcile_;  // until Start()
  const std::optional<AnyPredicate> passes_;
  const std::vector<Watch> watches_;
  const Environment environment_;
  mutable ControllerMetrics metrics_;
  const KindInfo* const reconciled_;  // null for a controller without a kind
  const RateLimitingQueue queue_;
  const Shared<ReasonLog> reasons_ = MakeShared<ReasonLog>();
  const Shared<RecentCalls> recent_ = MakeShared<RecentCalls>();
  std::atomic<std::uint64_t> ids_;  // grows with each call
  std::stop_source stop_{};         // of Work()
  mutable Mutex mutex_;
  Shared<Running> running_ KGEN_GUARDED_BY(mutex_);         // from Start() to its end
  std::vector<const Call*> calls_ KGEN_GUARDED_BY(mutex_);  // that run, oldest first
  std::optional<Error> misplaced_ KGEN_GUARDED_BY(mutex_);  // of CheckMapped()
  // The last call of each key, if it wrote something. Empty unless own writes are skipped.
  std::unordered_map<ObjectKey, LastCall> last_calls_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_CONTROLLER_RUNNER_H_
