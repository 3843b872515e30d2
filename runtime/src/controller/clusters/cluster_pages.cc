// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/clusters/cluster_pages.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "kgen/controller/queue_metrics.h"

namespace kgen::controller {
namespace {

using State = ClusterStatus::State;

constexpr std::size_t kShown = 500;  // clusters on /debug, those that fail first
constexpr State kStates[] = {State::kStarting, State::kRunning, State::kPausing, State::kStopping, State::kRefused};

std::vector<std::pair<std::string, Shared<ClusterRun>>> RunsOf(ClusterRoster& roster) {
  std::vector<std::pair<std::string, Shared<ClusterRun>>> runs;
  const MutexLock lock(roster.mutex);
  for (const auto& [name, entry] : roster.entries) {
    if (entry->run) runs.emplace_back(name, entry->run);
  }
  return runs;
}

bool IsBad(const ClusterStatus& status) { return status.state == State::kPausing || status.state == State::kRefused; }

std::uint64_t Ready(const WorkQueueMetrics& queue) {
  std::uint64_t sum = 0;
  for (const auto& [priority, depth] : queue.depth) sum += depth;
  return sum;
}

}  // namespace

std::vector<MetricFamily> ClusterFamilies(ClusterRoster& roster, TimePoint now) {
  MetricFamily clusters{.name = "kgen_clusters", .help = "How many clusters are in each state"};
  MetricFamily up{.name = "kgen_cluster_up", .help = "1 while the caches of the cluster are in use, else 0"};
  std::array<double, std::size(kStates)> counts{};
  for (const ClusterStatus& each : roster.Status(now)) {
    ++counts[static_cast<std::size_t>(each.state)];
    up.samples.push_back({.labels = {{"cluster", each.name}}, .value = each.state == State::kRunning ? 1.0 : 0.0});
  }
  for (const State state : kStates) {
    clusters.samples.push_back(
        {.labels = {{"state", std::string(ToString(state))}}, .value = counts[static_cast<std::size_t>(state)]});
  }
  std::vector<MetricFamily> all = {std::move(clusters), std::move(up)};
  for (const auto& [name, run] : RunsOf(roster)) {
    Result<std::vector<MetricFamily>> families = run->metrics().Read();
    if (!families) throw Exception(families.error().With("metrics of cluster " + name));
    for (MetricFamily& family : *families) {
      for (MetricSample& sample : family.samples) sample.labels.push_back({"cluster", name});
      if (!family.samples.empty()) all.push_back(std::move(family));
    }
  }
  return all;
}

DebugSection ClustersSection(ClusterRoster& roster, TimePoint now) {
  std::vector<ClusterStatus> all = roster.Status(now);
  std::ranges::sort(all, {}, [](const ClusterStatus& status) { return std::pair(!IsBad(status), status.name); });
  DebugTable clusters{.title = "Clusters",
                      .columns = {"cluster", "state", "since", "leads", "failures", "source", "error"}};
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i) {
    const ClusterStatus& each = all[i];
    const DebugMood mood = IsBad(each)                     ? DebugMood::kBad
                           : each.state == State::kRunning ? DebugMood::kGood
                                                           : DebugMood::kPlain;
    clusters.rows.push_back({Cell(each.name), Cell(std::string(ToString(each.state)), mood), TimeCell(each.since),
                             Cell(each.leads ? "yes" : "no"), CountCell(static_cast<std::uint64_t>(each.failures)),
                             Cell(each.source), Cell(each.error ? each.error->ToString() : std::string())});
  }
  if (all.size() > kShown) clusters.note = std::to_string(all.size() - kShown) + " more clusters are not shown";
  DebugTable controllers{.title = "Controllers of clusters",
                         .columns = {"cluster", "controller", "ready", "running", "longest"}};
  std::size_t hidden = 0;
  for (const auto& [name, run] : RunsOf(roster)) {
    const Shared<ManagerState> manager = run->manager();
    if (!manager) continue;
    for (const ShownController& each : manager->controllers()) {
      const WorkQueueMetrics queue = each.queue.metrics();
      const std::uint64_t ready = Ready(queue);
      if (ready == 0 && queue.longest_running == Nanos(0) && ++hidden > 0) continue;
      controllers.rows.push_back({Cell(name), Cell(each.name), CountCell(ready), TimeCell(queue.unfinished_work),
                                  TimeCell(queue.longest_running)});
    }
  }
  if (hidden > 0) controllers.note = std::to_string(hidden) + " idle controllers are not shown";
  DebugSection section;
  section.tables.push_back(std::move(clusters));
  section.tables.push_back(std::move(controllers));
  return section;
}

}  // namespace kgen::controller
