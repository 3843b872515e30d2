// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ManagerState: what the handles of a Manager share, and its life from Run() to the end.
#ifndef KGEN_SRC_CONTROLLER_MANAGER_MANAGER_STATE_H_
#define KGEN_SRC_CONTROLLER_MANAGER_MANAGER_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controller/caches/caches_sync.h"
#include "controller/debug/history.h"
#include "controller/manager/controller_runner.h"
#include "controller/manager/debug_sections.h"
#include "controller/manager/sharded_work.h"
#include "controller/webhook/certificate_keeper.h"
#include "controller/webhook/webhook_routes.h"
#include "controller/webhook/webhook_server.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/controller/manager.h"
#include "kgen/core/function.h"
#include "kgen/core/waiter.h"

namespace kgen::controller {

// What a manager that is one of several clusters (kgen/controller/clusters.h) has from them.
struct ClusterMembership {
  std::string cluster{};      // "": an ordinary manager
  Shared<SendGuard> guard{};  // of all writes of its clients; or null
};

// Thread safety: all members from any thread.
// Lifetime: shared by handles, builders and everything that runs.
class ManagerState final : public SharedObject {
 public:
  using Run1 = std::function<Result<void>(std::stop_token)>;
  using Done = UniqueFunction<void(Result<void>)>;
  // As Run1, but may return before it has ended, and calls `done` then.
  using RunAsync = std::function<void(std::stop_token, Done done)>;
  // What starts together, in this order.
  enum class Group : std::uint8_t { kBeforeCaches, kAnyReplica, kLeader };

  static Result<Shared<ManagerState>> Make(const Connection& connection, ManagerOptions options,
                                           ClusterMembership membership = {});
  ManagerState(const Connection& connection, ManagerOptions options, ClusterMembership membership,
               std::optional<LeaderElector> elector, Endpoint endpoint);
  ~ManagerState() override;

  Result<Shared<ControllerRunner>> AddController(detail::ControllerSpec spec);
  // `doing`, which may be null, says what it is doing just now, for the message that it does not end.
  Result<void> Add(std::string name, Run1 run, Group group, std::function<std::string()> doing = {});
  Result<void> Run(const std::stop_token& stop);
  // Run() without a thread while nothing happens. Call it on a thread that may block; `done` is called on such a
  // thread. Begins with what Run() would do at once.
  void Start(const std::stop_token& stop, Done done);
  // For the end of an executor, which runs nothing more: lets go of everything, and `done` is not called.
  void Abandon();
  // Drops the functions of a manager that was not started, which may hold it.
  void Discard();

  const std::string& cluster() const noexcept { return membership_.cluster; }
  const ManagerOptions& options() const noexcept { return options_; }
  const Shared<Observer>& observer() const noexcept { return observer_; }
  // Returns the guard of leader election, or null.
  Shared<SendGuard> lease_guard() const { return elector_ ? elector_->guard() : Shared<SendGuard>(); }
  std::vector<ShownController> controllers() const { return shown_->Read(); }
  bool synced() const noexcept { return synced_.load(); }  // whether the caches have synced, during Run()
  // Before Run(). Adds a section of /debug, and what the declarations of others need of Rules().
  Result<void> AddDebugSection(std::string_view name, std::function<DebugSection()> section) {
    return endpoint_.AddDebugSectionOf(name, std::move(section));
  }
  void AddRule(AccessRule rule);
  std::string Running() const;  // what has not ended: "controller orders (default/a for 3s)"
  const CachedClient& client() const noexcept { return guarded_; }
  const Caches& caches() const noexcept { return caches_; }
  const Connection& connection() const noexcept { return connection_; }
  const Metrics& metrics() const noexcept { return metrics_; }
  Endpoint& endpoint() noexcept { return endpoint_; }
  const Shared<WebhookRoutes>& webhooks() const noexcept { return webhooks_; }
  const std::string& webhook_address() const noexcept;
  EventRecorder EventsOf(std::string_view controller);
  std::vector<AccessRule> Rules() const;
  const std::optional<ShardMember>& member() const noexcept { return member_; }
  bool IsLeader() const noexcept { return leading_.load() && (!elector_ || elector_->IsLeader()); }

 private:
  // Something that runs between start and end of the manager.
  struct Runnable {
    std::string name;
    RunAsync run;
    std::function<std::string()> doing;
    Group group = Group::kLeader;
    bool started = false;
    bool running = false;
  };
  enum class Phase { kNew, kRunning, kStopping, kEnded };
  struct Recorder {
    std::string controller;
    EventRecorder recorder;
  };

  Result<std::vector<ControllerRunner::Watch>> Resolve(std::vector<detail::WatchSpec> specs,
                                                       const std::optional<AnyPredicate>& passes);
  std::vector<AccessRule> RulesOf(const std::vector<ControllerRunner::Watch>& watches) const;
  std::vector<std::string> NamespacesOf(const KindInfo& kind) const;
  Result<void> Check(const detail::ControllerSpec& spec) const;
  ControllerDefaults SettingsOf(const detail::ControllerSpec& spec, const KindInfo* kind) const;
  Result<void> TakeName(const std::string& name);
  Result<void> TakeThreads(int threads);

  Result<void> OpenWebhooks();
  Result<void> StartWebhooks();
  void AwaitDrain();
  Result<void> AddPages();
  Result<void> AddDebugSections();

  // Shards, in manager_shards.cc. The functions do nothing without them.
  static Result<void> CheckShards(const ManagerOptions& options);
  Result<void> OpenShards();
  Result<void> CheckDivided(const std::vector<ControllerRunner::Watch>& watches) const;
  void StartShards();
  void OnShardsEnded(Result<void> ended);
  Result<void> LeaveShards(TimePoint deadline);
  void AddShardRules(std::vector<AccessRule>& rules) const;
  void AddShardMetrics();

  Result<void> AddAsync(std::string name, RunAsync run, Group group, std::function<std::string()> doing);

  // The steps of Run(), in order. Begin() may block; Advance() does not, and returns nothing while it waits, in which
  // case `waker` is notified, or look_again_ passes, when to call it again.
  enum class Step : std::uint8_t { kSyncing, kAcquiring, kLeading };
  class Started;
  Result<void> Enter();
  Result<void> Begin();
  std::optional<Result<void>> Advance(const Shared<Waiter>& waker);
  Result<void> Work();
  void StartGroup(Group group);
  void Launch(std::size_t index) KGEN_REQUIRES(mutex_);
  void OnEnd(std::size_t index, Result<void> result);
  Result<void> Finish(Result<void> outcome);
  void AbandonControllers();
  void StopRecorders();
  Result<void> WaitForRunning(TimePoint deadline);

  const ClusterMembership membership_;
  const Connection connection_;
  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const ManagerOptions options_;
  const std::string name_;
  const std::optional<LeaderElector> elector_;
  Endpoint endpoint_;
  Metrics metrics_;
  const Caches caches_;
  const Shared<History> history_;
  const Shared<ShownControllers> shown_ = MakeShared<ShownControllers>();
  const CachedClient plain_;    // of what needs no leader
  const CachedClient guarded_;  // with leader election it writes only while this process leads
  const Shared<WebhookRoutes> webhooks_ = MakeShared<WebhookRoutes>();
  Shared<CertificateKeeper> keeper_;         // of the webhook server, or null
  Shared<WebhookServer> webhook_server_;     // set by Make(); null while webhooks are off
  TimePoint drained_at_ = TimePoint::min();  // of the server, in Finish()
  std::atomic<bool> synced_{false};
  Shared<ShardedWork> sharded_;          // null without shards; set by Make()
  std::optional<ShardMember> member_{};  // of `sharded_`
  std::stop_source leave_;               // of the member
  std::atomic<bool> leading_{false};
  std::atomic<bool> lost_{false};  // the lease
  std::stop_source end_;           // of Advance(): a stop was requested, or something has failed
  std::stop_source work_;          // of everything that runs

  // Used by Advance().
  Step step_ = Step::kSyncing;
  std::optional<CachesSync> syncing_{};
  TimePoint look_again_ = Waiter::kNoDeadline;

  mutable Mutex mutex_;
  Shared<Started> start_ KGEN_GUARDED_BY(mutex_);  // from Start() to its end
  Phase phase_ KGEN_GUARDED_BY(mutex_) = Phase::kNew;
  bool started_[3] KGEN_GUARDED_BY(mutex_) = {};  // the groups
  std::vector<Runnable> runnables_ KGEN_GUARDED_BY(mutex_);
  std::vector<std::string> names_ KGEN_GUARDED_BY(mutex_);  // of controllers
  int threads_ KGEN_GUARDED_BY(mutex_) = 0;                 // that controllers may hold at a time
  std::vector<Shared<ControllerRunner>> controllers_ KGEN_GUARDED_BY(mutex_);
  std::vector<AccessRule> rules_ KGEN_GUARDED_BY(mutex_);  // of controllers
  std::vector<Recorder> recorders_ KGEN_GUARDED_BY(mutex_);
  std::optional<Error> first_error_ KGEN_GUARDED_BY(mutex_);
  std::size_t running_ KGEN_GUARDED_BY(mutex_) = 0;
  bool in_shards_ KGEN_GUARDED_BY(mutex_) = false;  // the member runs
  Shared<Waiter> waiter_ KGEN_GUARDED_BY(mutex_);   // of WaitForRunning() and LeaveShards()
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_MANAGER_STATE_H_
