// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ClusterRun: one cluster from its start to its end. When it starts again, that is another ClusterRun.
#ifndef KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_RUN_H_
#define KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/manager/manager_state.h"
#include "core/memory/mutex.h"
#include "core/observers/throttled_observer.h"
#include "kgen/client/config.h"
#include "kgen/controller/clusters.h"
#include "kgen/core/function.h"

namespace kgen::controller {

// Asked for all writes of a cluster's clients: refuses once the cluster has ended, and what `next`, which may be null,
// refuses.
class ClusterGuard final : public SendGuard {
 public:
  ClusterGuard(const std::string& cluster, Shared<SendGuard> next);
  Result<void> MaySend() noexcept override;
  void Close() noexcept { closed_.store(true, std::memory_order_release); }

 private:
  const Shared<SendGuard> next_;
  const Error refusal_;
  std::atomic<bool> closed_{false};
};

// What all clusters of a process have in common.
struct ClusterSetup : SharedObject {
  ManagerOptions manager{};
  std::function<Result<Connection>(const rest::Config&)> connect{};
  Nanos timeout{};
  Shared<Executor> executor{};
  Shared<ThrottledObserver> observer{};  // of the home manager
  Shared<SendGuard> home_guard{};        // or null
};

// Thread safety: all members from any thread, but Begin().
// Lifetime: shared by the clusters, and by what runs.
class ClusterRun final : public SharedObject {
 public:
  using Functions = std::vector<std::shared_ptr<const Clusters::Function>>;
  using Done = UniqueFunction<void(Result<void>)>;

  ClusterRun(std::string name, rest::Config config, const Shared<const ClusterSetup>& setup);
  ~ClusterRun() override;

  // Makes the manager, calls the functions with it and starts it. Call it once, on a thread that may block. `done` is
  // called once, on such a thread, when everything has ended.
  using Wrap = Function<Manager(Shared<ManagerState>)>;
  void Begin(const Functions& functions, const Wrap& wrap, Done done);
  void Stop() noexcept { stop_.request_stop(); }
  // For the end of an executor, which runs nothing more.
  void Abandon();
  // From now on its writes fail.
  void Close() noexcept { guard_->Close(); }
  // Returns false if this takes another run.
  bool ReplaceCredentials(const rest::Config& config);

  Shared<ManagerState> manager() const;  // null before it was made, and after its end
  const Metrics& metrics() const noexcept { return metrics_; }
  bool synced() const;
  const Shared<Observer>& observer() const noexcept { return observers_.observer; }

 private:
  rest::Config Complete(rest::Config config) const;
  Result<Shared<ManagerState>> Make(const Functions& functions, const Wrap& wrap);
  void End(Result<void> result);

  const std::string name_;
  const Shared<const ClusterSetup> setup_;
  const ThrottledObserver::OfCluster observers_;
  const Metrics metrics_;
  const Shared<ClusterGuard> guard_;
  std::stop_source stop_;
  Done done_;
  mutable Mutex mutex_;
  rest::Config config_ KGEN_GUARDED_BY(mutex_);
  std::optional<Connection> connection_ KGEN_GUARDED_BY(mutex_);
  Shared<ManagerState> manager_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_RUN_H_
