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

#include "controller/debug/history.h"
#include "controller/manager/controller_runner.h"
#include "controller/manager/debug_sections.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/controller/manager.h"
#include "kgen/core/waiter.h"

namespace kgen::controller {

// Thread safety: all members from any thread.
// Lifetime: shared by handles, builders and everything that runs.
class ManagerState final : public SharedObject {
 public:
  using Run1 = std::function<Result<void>(std::stop_token)>;
  // What starts together, in this order.
  enum class Group : std::uint8_t { kBeforeCaches, kAnyReplica, kLeader };

  static Result<Shared<ManagerState>> Make(const Connection& connection, ManagerOptions options);
  ManagerState(const Connection& connection, ManagerOptions options, std::optional<LeaderElector> elector,
               Endpoint endpoint);

  Result<Shared<ControllerRunner>> AddController(detail::ControllerSpec spec);
  // `doing`, which may be null, says what it is doing just now, for the message that it does not end.
  Result<void> Add(std::string name, Run1 run, Group group, std::function<std::string()> doing = {});
  Result<void> Run(const std::stop_token& stop);

  const CachedClient& client() const noexcept { return guarded_; }
  const Caches& caches() const noexcept { return caches_; }
  const Connection& connection() const noexcept { return connection_; }
  const Metrics& metrics() const noexcept { return metrics_; }
  Endpoint& endpoint() noexcept { return endpoint_; }
  EventRecorder EventsOf(std::string_view controller);
  std::vector<AccessRule> Rules() const;
  bool IsLeader() const noexcept { return leading_.load() && (!elector_ || elector_->IsLeader()); }

 private:
  // Something that runs between start and end of the manager.
  struct Runnable {
    std::string name;
    Run1 run;
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

  Result<void> AddPages();
  Result<void> AddDebugSections();

  // The steps of Run(), in order.
  Result<void> Work();
  void StartGroup(Group group);
  void Launch(std::size_t index) KGEN_REQUIRES(mutex_);
  void OnEnd(std::size_t index, Result<void> result);
  Result<void> Finish(Result<void> outcome);
  void StopRecorders();
  Result<void> WaitForRunning();
  std::string Running() const;

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
  std::atomic<bool> leading_{false};
  std::atomic<bool> lost_{false};  // the lease
  std::stop_source end_;           // of Work(): a stop was requested, or something has failed
  std::stop_source work_;          // of everything that runs

  mutable Mutex mutex_;
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
  Shared<Waiter> waiter_ KGEN_GUARDED_BY(mutex_);  // of WaitForRunning()
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_MANAGER_STATE_H_
