// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ClusterRoster: the clusters of a process, apart from what adds and runs them.
#ifndef KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_ROSTER_H_
#define KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_ROSTER_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/clusters/cluster_run.h"
#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/controller/clusters.h"

namespace kgen::controller {

inline constexpr Nanos kStable = std::chrono::minutes(10);  // after which earlier failures do not count

// One cluster. Its members are guarded by the roster's mutex.
struct ClusterEntry : SharedObject {
  using State = ClusterStatus::State;
  ClusterEntry(std::string cluster, const Shared<Executor>& executor, const Shared<Strand>& strand)
      : name(std::move(cluster)), timer(executor, strand) {}

  const std::string name;
  std::string source{};                  // "": Add()
  std::optional<rest::Config> wanted{};  // nothing: it is to end
  std::optional<Error> refused{};        // why the newest config of its Secret cannot be used
  Shared<ClusterRun> run{};
  bool changed = false;   // `wanted` is another config than the run's
  bool stopping = false;  // the stop of the run was requested
  TimePoint since{};      // of the state
  TimePoint started{};    // when the run was
  int failures = 0;       // in a row
  std::optional<Error> error{};
  TimePoint next{};  // before which it does not start
  kgen::detail::PostTimer timer;
};

// The clusters, for metrics and /debug too, which must not keep the home manager alive.
struct ClusterRoster : SharedObject {
  std::vector<ClusterStatus> Status(TimePoint now);
  std::vector<Shared<ClusterEntry>> All();
  std::string NotEnded();  // "eu-1 (controller orders (default/a for 3s)), eu-2"

  Mutex mutex;
  std::map<std::string, Shared<ClusterEntry>, std::less<>> entries;
};

// Needs the roster's lock.
ClusterStatus::State StateOf(const ClusterEntry& entry) noexcept;

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_ROSTER_H_
