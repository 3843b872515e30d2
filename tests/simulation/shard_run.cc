// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/shard_run.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/request/connection_state.h"
#include "kgen/testing/cluster.h"
#include "tests/simulation/shard_replica.h"
#include "tests/simulation/shard_world.h"

namespace kgen::simulation {
namespace {

using namespace std::chrono_literals;
using testing::Cluster;
using testing::ClusterOptions;
using testing::Fault;

class ShardLog final : public Observer {
 public:
  explicit ShardLog(std::function<void(std::string)> write) : write_(std::move(write)) {}
  void OnLogged(const Logged& logged) override { write_(std::string(logged.key) + ": " + std::string(logged.message)); }

 private:
  const std::function<void(std::string)> write_;
};

class ShardRun {
 public:
  ShardRun(std::uint64_t seed, const testing::Trace& replay)
      : cluster_(Options(seed, replay)), plain_(cluster_.Connection()) {
    world_.simulation = &cluster_.simulation();
    world_.server = MakeShared<ShardServer>(world_, client::ConnectionState::Of(plain_)->transport);
    world_.log = [this](std::string line) { Log(std::move(line)); };
    world_.observer = MakeShared<ShardLog>(world_.log);
    world_.fail = [this](std::string_view law, std::string what) {
      if (failure_.empty()) failure_ = std::string(law) + ": " + std::move(what);
    };
    world_.others_that_may_write = [this](std::uint64_t hash, const std::string& member) {
      std::vector<std::string> others;
      for (const auto& each : replicas_) {
        if (each->term() != member && each->member() && each->member()->guard(hash)->MaySend()) {
          others.push_back(each->term());
        }
      }
      return others;
    };
    world_.options = RandomOptions();
  }
  // The cluster ends open requests when its simulation, from which a network draws its delays, is gone.
  ~ShardRun() {
    for (const auto& each : replicas_) each->network().loses_answers = true;
  }

  RunResult Go() {
    for (std::size_t i = 0; i < kCells; ++i) {
      Cell& cell = world_.cells[i];
      cell.name = "cell-" + std::to_string(i);
      cell.hash = (UINT64_MAX / kCells) * i + Choose(1'000'000);
      Must(cluster_.Add(testing::MinimalObject("v1", "ConfigMap", "default", cell.name)));
    }
    for (std::uint32_t n = 2 + Choose(3); n > 0; --n) AddReplica();
    if (Choose(2) == 0) Advance(world_.options.lease_duration + 5s);  // the first map waits so long
    for (std::uint32_t steps = 4 + Choose(12); steps > 0 && failure_.empty(); --steps) {
      Step();
      Pass();
    }
    Calm();
    if (failure_.empty()) CheckProgress();
    if (failure_.empty() && Choose(2) == 0) CheckLeaving();
    if (failure_.empty() && Choose(3) == 0) CheckKill();
    Stop();
    return {failure_, cluster_.simulation().trace(), std::move(log_)};
  }

 private:
  static ClusterOptions Options(std::uint64_t seed, const testing::Trace& replay) {
    ClusterOptions options;
    options.seed = seed;
    options.replay = replay;
    options.observer = NullObserver();
    return options;
  }

  // The ratio of lease duration and renew deadline is at least the ratio of the clock rates.
  ShardOptions RandomOptions() {
    const std::pair<Nanos, std::pair<Nanos, Nanos>> durations[] = {
        {15s, {10s, 2s}}, {15s, {12s, 2s}}, {5s, {4s, 1s}}, {10s, {7s, 2s}}};
    const auto& chosen = durations[Choose(4)];
    return {.name = "shop",
            .namespace_ = "default",
            .lease_duration = chosen.first,
            .renew_deadline = chosen.second.first,
            .retry_period = chosen.second.second,
            .drain_limit = 3s};
  }

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  void Log(std::string line) {
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(cluster_.simulation().clock()->Now().time_since_epoch());
    log_ += std::to_string(now.count()) + " ms: " + std::move(line) + "\n";
  }

  void AddReplica() {
    test_support::MachineOptions options;
    const double rates[] = {1, 1.25, 1.1};
    options.rate = rates[Choose(3)];
    options.booted = 1h * Choose(100);
    options.suspended_before = 1h * Choose(100);
    options.skew = 1s * (static_cast<int>(Choose(121)) - 60);
    replicas_.push_back(std::make_unique<Replica>(world_, "m" + std::to_string(replicas_.size()), options));
    replicas_.back()->network().slowest = 1ms * (Choose(2) * 20);
    replicas_.back()->Start();
  }

  Replica& Any() { return *replicas_[Choose(static_cast<std::uint32_t>(replicas_.size()))]; }
  // Faults of the assigner show most.
  Replica& Some() {
    if (Choose(3) == 0) {
      for (const auto& each : replicas_) {
        if (each->assigns()) return *each;
      }
    }
    return Any();
  }

  void Step() {
    Replica& replica = Some();
    Network& network = replica.network();
    switch (Choose(14)) {
      case 0:
      case 1:
        Log("suspend " + replica.name());
        replica.machine().Suspend();
        break;
      case 2:
      case 3:
        for (const auto& each : replicas_) each->machine().Resume();
        Log("resume all");
        break;
      case 4:
        Log(replica.name() + " loses requests");
        network.loses_requests = true;
        break;
      case 5:
        Log(replica.name() + " loses answers");
        network.loses_answers = true;
        break;
      case 6:
        Log(replica.name() + " is refused");
        network.refuses = true;
        break;
      case 7:
        network.slowest = 1ms * Choose(8000);
        Log(replica.name() + " has a delay of up to " + std::to_string(network.slowest / 1ms) + " ms");
        break;
      case 8:
      case 9:
        Log("stop " + replica.name());
        replica.Stop();
        break;
      case 10:
        InjectFault();
        break;
      case 11:
        DeleteLease(replica);
        break;
      case 12:
        if (replicas_.size() < 6) AddReplica();
        break;
      default:
        Log(replica.name() + " is connected again");
        network.refuses = network.loses_requests = network.loses_answers = false;
        network.slowest = 20ms;
        break;
    }
  }

  void DeleteLease(const Replica& replica) {
    const std::string name = Choose(3) == 0 ? world_.options.name : world_.options.name + "-" + replica.term();
    Log("delete the Lease " + name + " by hand");
    (void)cluster_.Delete("leases", "default", name);
  }

  void InjectFault() {
    Fault fault;
    fault.resource = "leases";
    fault.times = 1 + static_cast<int>(Choose(6));
    const int statuses[] = {500, 429, 409, 503};
    switch (Choose(4)) {
      case 0:
        fault.stall = true;
        break;
      case 1:
        fault.delay = 1s * Choose(9);
        break;
      case 2:
        fault.cut_after_bytes = Choose(200);
        break;
      default:
        fault.status = statuses[Choose(4)];
        fault.reason = fault.status == 409 ? "Conflict" : "InternalError";
        break;
    }
    Log("fault of the server, " + std::to_string(fault.times) + " times");
    cluster_.Inject(std::move(fault));
  }

  void Pass() {
    const Nanos durations[] = {100ms, 1s, 3s, 7s, 11s, 20s};
    Advance(durations[Choose(6)]);
    // A process that has ended is started again.
    for (const auto& each : replicas_) {
      if (!each->running() && Choose(2) == 0) each->Start();
    }
  }
  void Advance(Nanos duration) {
    const auto run = cluster_.simulation().Advance(duration);
    if (!run) world_.fail("simulation", run.error().ToString());
  }

  void Calm() {
    Log("calm");
    world_.calm = true;
    cluster_.ClearFaults();
    for (const auto& each : replicas_) {
      Network& network = each->network();
      network.refuses = network.loses_requests = network.loses_answers = false;
      network.slowest = 20ms;
      each->machine().Resume();
    }
  }

  bool Owned(const Cell& cell) const {
    return std::ranges::any_of(replicas_, [&](const auto& each) {
      return each->running() && !each->machine().suspended() && each->member()->Owns(cell.hash);
    });
  }
  std::string Unowned() const {
    std::string names;
    for (const Cell& cell : world_.cells) {
      if (!Owned(cell)) names += " " + cell.name;
    }
    return names;
  }

  // After the last fault: an old request arrives (8 s), requests that it has delayed end (10 s), the Lease with the map
  // that it has written expires, a new map waits for a Lease's duration, and so does a member that does not answer;
  // then ranges are drained.
  void CheckProgress() {
    const ShardOptions& options = world_.options;
    const Nanos bound =
        18s + 3 * options.lease_duration + options.drain_limit + options.renew_deadline + 6 * options.retry_period;
    int good = 0;  // seconds in a row
    for (Nanos passed{}; passed < bound && good < 5 && failure_.empty(); passed += 1s) {
      for (const auto& each : replicas_) each->Start();
      Advance(1s);
      good = Unowned().empty() ? good + 1 : 0;
    }
    if (const std::string names = Unowned(); !names.empty()) world_.fail("S3", "nobody owns" + names);
    // A map that was deleted does not keep owners from going on, but it must be made again before anything is quiet.
    for (Nanos passed{}; passed < bound && failure_.empty() && !Quiet(); passed += 1s) {
      for (const auto& each : replicas_) each->Start();
      Advance(1s);
    }
    if (failure_.empty() && !Quiet()) world_.fail("S3", "the members do not follow the map");
  }

  // Whether all members follow the newest map and have nothing to do. A member that was told to stop before the calm
  // cannot take over from another one.
  bool Quiet() const {
    const Result<std::string> lease = cluster_.Get("leases", "default", world_.options.name);
    if (!lease || lease->find(controller::kMapAnnotation) == std::string::npos) return false;
    return std::ranges::all_of(replicas_, [&](const auto& each) {
      const ShardStatus status = each->member()->status();
      return each->running() && !each->stopping() && status.epoch == world_.epoch && status.waiting.empty() &&
             status.draining.empty() && status.members.size() == replicas_.size();
    });
  }

  // Lets `time` pass, and demands that no cell is without an owner for longer than `bound`.
  void CheckGap(Nanos time, Nanos bound, std::string_view after) {
    std::map<std::string, Nanos> gaps;
    for (Nanos passed{}; passed < time && failure_.empty(); passed += 100ms) {
      Advance(100ms);
      for (const Cell& cell : world_.cells) {
        Nanos& gap = gaps[cell.name];
        gap = Owned(cell) ? Nanos() : gap + 100ms;
        if (gap > bound) {
          world_.fail("S3", "nobody owns " + cell.name + " for " + std::to_string(gap / 1ms) + " ms after " +
                                std::string(after));
        }
      }
    }
  }

  std::vector<Replica*> Running() const {
    std::vector<Replica*> running;
    for (const auto& each : replicas_) {
      if (each->running() && !each->machine().suspended()) running.push_back(each.get());
    }
    return running;
  }

  void CheckLeaving() {
    const std::vector<Replica*> running = Running();
    if (running.size() < 2) return;
    Replica& leaving = *running[Choose(static_cast<std::uint32_t>(running.size()))];
    Log("quiet; stop " + leaving.name());
    leaving.Stop();
    CheckGap(world_.options.retry_period * 8, world_.options.retry_period * 3 / 2, "a replica began to leave");
    if (leaving.running()) {
      world_.fail("S5", leaving.term() + " does not leave");
    } else if (!*leaving.ended()) {
      world_.fail("S5", leaving.term() + " leaves with an error: " + leaving.ended()->error().ToString());
    }
  }

  void CheckKill() {
    const std::vector<Replica*> running = Running();
    if (running.size() < 2) return;
    Replica& killed = *running[Choose(static_cast<std::uint32_t>(running.size()))];
    Log("quiet; kill " + killed.name() + (killed.assigns() ? ", the assigner" : ""));
    killed.machine().Suspend();
    const Nanos bound = world_.options.lease_duration + world_.options.retry_period * 5 / 2;
    CheckGap(bound + world_.options.retry_period, bound, "a kill");
  }

  void Stop() {
    Log("stop all");
    for (const auto& each : replicas_) {
      each->machine().Resume();
      each->Stop();
    }
    Advance(90s);
    for (const auto& each : replicas_) {
      if (each->running()) world_.fail("S5", each->name() + " does not end: " + cluster_.simulation().WhoWaits());
    }
    if (!failure_.empty()) return;
    replicas_.clear();
    const std::string left = LeftUnderWay(cluster_.simulation());
    if (!left.empty()) world_.fail("S5", left);
  }

  std::string failure_, log_;
  ShardWorld world_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  Cluster cluster_;         // after what its blocked tasks use, which end with it
  const Connection plain_;  // keeps the transport open
};

}  // namespace

RunResult RunShards(std::uint64_t seed, const testing::Trace& replay) { return Perform<ShardRun>("S5", seed, replay); }

}  // namespace kgen::simulation
