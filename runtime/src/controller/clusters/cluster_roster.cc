// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/clusters/cluster_roster.h"

#include <algorithm>

namespace kgen {

std::string_view ToString(ClusterStatus::State state) noexcept {
  switch (state) {
    case ClusterStatus::State::kStarting:
      return "starting";
    case ClusterStatus::State::kRunning:
      return "running";
    case ClusterStatus::State::kPausing:
      return "pausing";
    case ClusterStatus::State::kStopping:
      return "stopping";
    case ClusterStatus::State::kRefused:
      return "refused";
  }
  return "unknown";
}

namespace controller {

ClusterStatus::State StateOf(const ClusterEntry& entry) noexcept {
  using State = ClusterStatus::State;
  if (entry.run) {
    if (entry.stopping) return State::kStopping;
    return entry.run->synced() ? State::kRunning : State::kStarting;
  }
  if (!entry.wanted && entry.refused) return State::kRefused;
  return entry.failures > 0 ? State::kPausing : State::kStarting;
}

std::vector<ClusterStatus> ClusterRoster::Status(TimePoint now) {
  std::vector<ClusterStatus> all;
  const MutexLock lock(mutex);
  for (const auto& [name, entry] : entries) {
    const bool stable = entry->run && now - entry->started >= kStable;
    ClusterStatus status{.name = name, .state = StateOf(*entry), .source = entry->source, .since = now - entry->since};
    if (!stable) {
      status.failures = entry->failures;
      status.error = entry->error;
    }
    if (entry->refused) status.error = entry->refused;
    if (status.state == ClusterStatus::State::kPausing) status.pause = std::max(Nanos(0), Nanos(entry->next - now));
    if (entry->run) {
      const Shared<ManagerState> manager = entry->run->manager();
      status.leads = manager && manager->IsLeader();
    }
    all.push_back(std::move(status));
  }
  return all;
}

std::vector<Shared<ClusterEntry>> ClusterRoster::All() {
  std::vector<Shared<ClusterEntry>> all;
  const MutexLock lock(mutex);
  for (const auto& [name, entry] : entries) all.push_back(entry);
  return all;
}

std::string ClusterRoster::NotEnded() {
  std::string text;
  for (const Shared<ClusterEntry>& entry : All()) {
    Shared<ClusterRun> run;
    {
      const MutexLock lock(mutex);
      run = entry->run;
    }
    if (!run) continue;
    text.append(text.empty() ? "" : ", ").append(entry->name);
    const Shared<ManagerState> manager = run->manager();
    if (const std::string running = manager ? manager->Running() : ""; !running.empty()) {
      text.append(" (").append(running).append(")");
    }
  }
  return text;
}

}  // namespace controller
}  // namespace kgen
