// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the home manager serves of its clusters. Never blocks.
#ifndef KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_PAGES_H_
#define KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_PAGES_H_

#include <vector>

#include "controller/clusters/cluster_roster.h"
#include "controller/debug/section.h"
#include "kgen/controller/metrics.h"

namespace kgen::controller {

// The metrics of every cluster, with the label `cluster`, and how many there are in each state. Throws what a collector
// of the user threw.
std::vector<MetricFamily> ClusterFamilies(ClusterRoster& roster, TimePoint now);
DebugSection ClustersSection(ClusterRoster& roster, TimePoint now);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CLUSTERS_CLUSTER_PAGES_H_
