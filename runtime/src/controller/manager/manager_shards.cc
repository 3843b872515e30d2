// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A manager that works on shards: what it refuses, its member, and joining and leaving the others.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controller/debug/section.h"
#include "controller/manager/manager_state.h"
#include "core/thrown.h"
#include "kgen/controller/access_rules.h"
#include "kgen/core/type_table.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

constexpr int kShardThreads = 4;  // the member, two of its calls, and one that catches up

// Which part of all hashes the ranges are.
double ShareOf(const ShardRanges& ranges) {
  double all = 0;
  for (const ShardRange& each : ranges.ranges()) all += static_cast<double>(each.last - each.first) + 1;
  return all / 18446744073709551616.0;  // 2^64
}

DebugSection ShardsSection(const ShardMember& member, const ShardedWork& work) {
  const ShardStatus status = member.status();
  const auto row = [](std::string name, const ShardRanges& ranges, DebugMood mood) {
    const int percent = static_cast<int>(ShareOf(ranges) * 100 + 0.5);
    return std::vector<DebugCell>{Cell(std::move(name)), Cell(std::to_string(percent) + " %", mood),
                                  Cell(ranges.ToString())};
  };
  DebugTable ranges{.title = "Ranges", .columns = {"State", "Of all hashes", "Hashes"}};
  ranges.rows.push_back(row("works on", status.working, DebugMood::kPlain));
  const ShardRanges starting = work.starting();
  if (!starting.empty()) ranges.rows.push_back(row("waits for its caches", starting, DebugMood::kBad));
  if (!status.waiting.empty()) ranges.rows.push_back(row("assigned, not started", status.waiting, DebugMood::kBad));
  if (!status.draining.empty()) ranges.rows.push_back(row("gives up", status.draining, DebugMood::kBad));
  const std::string filters = !status.server_filters ? "it is not known yet whether the server filters"
                              : *status.server_filters
                                  ? "the server sends the objects of these ranges alone"
                                  : "the server sends all objects, and those of others are skipped";
  ranges.note =
      "This is " + status.lease + ", " + (status.assigner ? "which makes the map" : "a member") + "; " + filters;
  DebugTable members{.title = "Members", .columns = {"Lease", "Waited for"}};
  for (const std::string& each : status.members) {
    const auto wait = std::ranges::find(status.waits, each, &ShardStatus::Wait::member);
    members.rows.push_back(
        {Cell(each), wait == status.waits.end() ? Cell("") : TimeCell(wait->since, DebugMood::kBad)});
  }
  members.note = "The map has the epoch " + std::to_string(status.epoch);
  if (status.last_error) members.note += "; the last failure: " + status.last_error->ToString();
  return {.tables = {std::move(ranges), std::move(members)}};
}

bool KeepsSaved(const CachesOptions& caches) {
  return caches.defaults.warm_start.has_value() ||
         std::ranges::any_of(caches.of, [](const auto& each) { return each.second.warm_start.has_value(); });
}

}  // namespace

Result<void> ManagerState::CheckShards(const ManagerOptions& options) {
  const ShardOptions& shards = options.shards;
  const auto refused = [](std::string_view why) { return Fail(Code::kInvalidArgument, "shards: " + std::string(why)); };
  if (shards.name.empty()) {
    if (shards.namespace_.empty() && shards.identity.empty() && options.shards_everywhere.empty()) return {};
    return refused("they have no name; without one, every replica would work on everything");
  }
  if (shards.by != ShardBy::kNamespace) {
    return refused(
        "a manager divides objects by their namespaces only, because its calls read and write by name, and a name may "
        "pass from one UID to another; set `by` to ShardBy::kNamespace, or use ShardMember, which divides by UID");
  }
  if (shards.name == options.leader_election.name) {
    return refused("the leader election has the same name, " + shards.name + ", and so the same Lease; choose another");
  }
  if (KeepsSaved(options.caches)) {
    return refused(
        "InformerOptions::warm_start saves whole caches, and the caches of a shard have a part that changes; "
        "use one of the two");
  }
  if (MayChange(options.caches)) {
    return refused(
        "the namespaces of the caches may change (changing_namespaces or namespaces_by_label), and shards divide "
        "namespaces themselves; use one of the two");
  }
  for (const TypeTable* const table : options.shards_everywhere) {
    if (table == nullptr || table->kind == nullptr) return refused("a type of shards_everywhere is no kind");
  }
  return {};
}

Result<void> ManagerState::OpenShards() {
  if (options_.shards.name.empty()) return {};
  if (Result<void> enough = TakeThreads(kShardThreads); !enough) return enough;
  sharded_ = MakeShared<ShardedWork>(caches_, executor_);
  ShardOptions options = options_.shards;
  if (!options.weights) options.weights = [work = sharded_] { return work->Weights(); };
  Result<ShardMember> member = ShardMember::New(connection_, std::move(options), sharded_);
  if (!member) return Fail(member.error());
  member_.emplace(*std::move(member));
  sharded_->SetGate(member_->gate(), options_.shards);
  caches_.state()->Divide({.everywhere = options_.shards_everywhere, .member = member_->lease()});
  AddShardMetrics();
  return endpoint_.AddDebugSectionOf("shards",
                                     [member = *member_, work = sharded_] { return ShardsSection(member, *work); });
}

// The replica that owns the key of an owner must hold what it owns.
Result<void> ManagerState::CheckDivided(const std::vector<ControllerRunner::Watch>& watches) const {
  const KindInfo* const kind = ControllerRunner::KindOf(watches);
  if (!sharded_ || kind == nullptr || kind->scope != Scope::kCluster) return {};
  for (const ControllerRunner::Watch& watch : watches) {
    const KindInfo& owned = watch.cache.kind();
    if (watch.spec.role != detail::WatchSpec::Role::kOwns || !sharded_->Divides(owned)) continue;
    return Fail(Code::kInvalidArgument,
                std::string(kind->kind) + " is cluster-scoped, so that one replica reconciles all of them, and owns " +
                    std::string(owned.kind) + ", whose objects are divided between all replicas; add " +
                    std::string(owned.kind) + " to ManagerOptions::shards_everywhere");
  }
  return {};
}

void ManagerState::StartShards() {
  if (!member_) return;
  {
    const MutexLock lock(mutex_);
    if (phase_ != Phase::kRunning) return;
    in_shards_ = true;
  }
  executor_->Blocking("shards of manager " + name_, [self = Shared<ManagerState>(this)] {
    Result<void> ended;
    try {
      ended = self->member_->Run(self->leave_.get_token());
    } catch (...) {
      ended = Fail(detail::ErrorOfThrown("the member of the shards"));
    }
    self->sharded_->Join();
    self->OnShardsEnded(std::move(ended));
  });
}

// If it fails, others may own its ranges. It only succeeds because it was told to leave.
void ManagerState::OnShardsEnded(Result<void> ended) {
  Shared<Waiter> waiter;
  {
    const MutexLock lock(mutex_);
    in_shards_ = false;
    if (!ended && !first_error_) first_error_ = ended.error();
    waiter = waiter_;
  }
  if (!ended) end_.request_stop();
  if (waiter) waiter->Notify();
}

// The controllers still run, because their calls are waited for.
Result<void> ManagerState::LeaveShards(TimePoint deadline) {
  if (!member_) return {};
  leave_.request_stop();
  const Shared<Waiter> waiter = executor_->MakeWaiter("shards of manager " + name_ + " to end");
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!in_shards_) return {};
      waiter_ = waiter;
    }
    const Result<void> waited = waiter->Wait({}, deadline);
    if (waited) continue;
    if (waited.error().code() != Code::kTimeout) return waited;
    return Fail(Code::kTimeout, "did not hand over its shards within " +
                                    net::DurationText(options_.graceful_shutdown_timeout) + ", works on " +
                                    member_->status().working.ToString() + " and drains " +
                                    member_->status().draining.ToString());
  }
}

void ManagerState::AddShardRules(std::vector<AccessRule>& rules) const {
  if (!member_) return;
  const std::string lease = member_->lease();
  rules.push_back({lease.substr(0, lease.find('/')),
                   "coordination.k8s.io",
                   "leases",
                   "",
                   {"get", "list", "create", "update", "delete"}});
}

void ManagerState::AddShardMetrics() {
  metrics_.AddCollector([member = *member_, name = options_.shards.name] {
    const ShardStatus status = member.status();
    const std::vector<MetricLabel> labels = {{"name", name}};
    const auto gauge = [&](std::string family, std::string help, double value) {
      return MetricFamily{
          .name = std::move(family), .help = std::move(help), .samples = {{.labels = labels, .value = value}}};
    };
    return std::vector<MetricFamily>{
        gauge("kgen_shards_members", "Members in the map that this process follows",
              static_cast<double>(status.members.size())),
        gauge("kgen_shards_assigner", "1 if this process makes the map, else 0", status.assigner ? 1 : 0),
        gauge("kgen_shards_epoch", "The epoch of the map that this process follows", static_cast<double>(status.epoch)),
        gauge("kgen_shards_working_ratio", "The part of all hashes that this process works on",
              ShareOf(status.working)),
        gauge("kgen_shards_draining_ratio", "The part of all hashes that this process is giving up",
              ShareOf(status.draining)),
        gauge("kgen_shards_waiting_ratio", "The part of all hashes that was assigned to this process and not started",
              ShareOf(status.waiting)),
        gauge("kgen_shards_failing", "1 while requests for the Leases of the shards fail, else 0",
              status.last_error ? 1 : 0)};
  });
}

}  // namespace kgen::controller
