// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ClustersState: which clusters there are, and when each starts, stops and starts again.
//
//   Add(), Remove(), KubeconfigSecrets --> ClustersState --> ClusterRun --> ManagerState, of each cluster
//
// A cluster has at most one run. Advance() compares it with what is wanted: it starts a run, requests its stop, or
// forgets the cluster; every change calls it, and so does the end of a run, and a timer after a failure.
#ifndef KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTERS_STATE_H_
#define KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTERS_STATE_H_

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controller/clusters/cluster_roster.h"
#include "controller/clusters/cluster_run.h"
#include "controller/clusters/secret_follower.h"
#include "core/execution/jitter.h"
#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/controller/clusters.h"

namespace kgen::controller {

// Thread safety: all members from any thread. No function of the user, of a run or of an entry's timer's task is called
// with the lock.
class ClustersState final : public ClusterSink {
 public:
  static Result<Shared<ClustersState>> Make(const Manager& home, ClustersOptions options);
  ClustersState(const ManagerState& home, ClustersOptions options);

  Result<void> Each(Clusters::Function function);
  Result<void> Add(std::string_view name, const rest::Config& config);
  Result<void> Update(std::string_view name, const rest::Config& config);
  Result<void> Remove(std::string_view name);
  Result<Manager> Get(std::string_view name);
  std::vector<ClusterStatus> Status() { return roster_->Status(Now()); }

  // For Secrets. A source keeps its clusters; a name that another source has is refused with a warning.
  void Set(const std::string& name, const std::string& source, Result<rest::Config> config) override;
  void Unset(const std::string& name, const std::string& source) override;

  // Runs the clusters until `stop` is requested. Blocks.
  Result<void> Run(const std::stop_token& stop);

 private:
  using Entry = ClusterEntry;
  struct OnTimer {
    Shared<ClustersState> clusters;
    Shared<Entry> entry;
    void operator()() const { clusters->OnTime(entry); }
  };
  // Those that need the roster's lock.
  Result<Shared<Entry>> OwnEntry(std::string_view name);
  static void Want(Entry& entry, const rest::Config& config);
  std::string Failed(Entry& entry, const Error& error);
  void Arm(const Shared<Entry>& entry, TimePoint when);

  void Advance(const Shared<Entry>& entry);
  void Begin(const Shared<Entry>& entry, const Shared<ClusterRun>& run);
  void OnEnd(const Shared<Entry>& entry, const Shared<ClusterRun>& run, const Result<void>& result);
  void OnTime(const Shared<Entry>& entry);
  Result<void> WaitForAll();
  void Abandon();
  void Report(const Entry& entry, LogLevel level, const std::string& message);
  TimePoint Now() const { return setup_->executor->clock()->Now(); }

  const ClustersOptions options_;
  const Shared<const ClusterSetup> setup_;
  const Connection home_;
  const Shared<Strand> strand_;
  const Shared<ClusterRoster> roster_ = MakeShared<ClusterRoster>();

  // The members below are guarded by the roster's mutex.
  ClusterRun::Functions functions_;
  bool running_ = false;
  bool ending_ = false;
  Shared<Waiter> waiter_;  // of WaitForAll()
  Jitter jitter_;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTERS_STATE_H_
