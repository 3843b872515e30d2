// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/election_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/request/connection_state.h"
#include "kgen/testing/cluster.h"
#include "tests/simulation/manager.h"

namespace kgen::simulation {
namespace {

using namespace std::chrono_literals;
using testing::Cluster;
using testing::ClusterOptions;
using testing::Fault;

class ElectionRun {
 public:
  ElectionRun(std::uint64_t seed, const testing::Trace& replay)
      : cluster_(Options(seed, replay)), plain_(cluster_.Connection()) {
    world_.simulation = &cluster_.simulation();
    world_.server = client::ConnectionState::Of(plain_)->transport;
    world_.options = ElectionOptions();
    world_.fail = [this](std::string_view law, std::string what) {
      if (failure_.empty()) failure_ = std::string(law) + ": " + std::move(what);
    };
    world_.log = [this](std::string line) { Log(std::move(line)); };
  }
  // The cluster ends open requests when its simulation, from which a network draws its delays, is gone.
  ~ElectionRun() {
    for (const auto& each : managers_) each->network().loses_answers = true;
  }

  RunResult Go() {
    Must(cluster_.Add(testing::MinimalObject("v1", "ConfigMap", "default", "work")));
    for (std::uint32_t n = 2 + Choose(3); n > 0; --n) AddManager();
    for (std::uint32_t steps = 5 + Choose(20); steps > 0 && failure_.empty(); --steps) {
      Step();
      Pass();
    }
    Calm();
    if (failure_.empty() && Choose(4) != 0) CheckProgress();
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
  LeaderElectionOptions ElectionOptions() {
    const std::pair<Nanos, std::pair<Nanos, Nanos>> durations[] = {
        {15s, {10s, 2s}}, {15s, {12s, 2s}}, {5s, {4s, 1s}}, {10s, {7s, 5s}}};
    const auto& chosen = durations[Choose(4)];
    return {.name = "shop",
            .namespace_ = "default",
            .lease_duration = chosen.first,
            .renew_deadline = chosen.second.first,
            .retry_period = chosen.second.second};
  }

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  void Log(std::string line) {
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(cluster_.simulation().clock()->Now().time_since_epoch());
    log_ += std::to_string(now.count()) + " ms: " + std::move(line) + "\n";
  }

  void AddManager() {
    test_support::MachineOptions options;
    const double rates[] = {1, 1.25, 1.1};
    options.rate = rates[Choose(3)];
    options.booted = 1h * Choose(100);
    options.suspended_before = 1h * Choose(100);
    options.skew = 1s * (static_cast<int>(Choose(121)) - 60);
    const std::string name = "m" + std::to_string(managers_.size());
    Log(name + ": rate " + std::to_string(options.rate) + ", wall clock off by " + std::to_string(options.skew / 1s) +
        " s");
    managers_.push_back(std::make_unique<Manager>(world_, name, options));
    managers_.back()->network().slowest = 1ms * (Choose(2) * 20);
    managers_.back()->Start();
  }

  Manager& Any() { return *managers_[Choose(static_cast<std::uint32_t>(managers_.size()))]; }
  // Faults of the leader show most.
  Manager& Some() {
    if (Choose(3) != 0) {
      for (const auto& each : managers_) {
        if (each->leads()) return *each;
      }
    }
    return Any();
  }

  void Step() {
    Manager& manager = Some();
    Network& network = manager.network();
    switch (Choose(12)) {
      case 0:
      case 1:
        Log("suspend " + manager.name());
        manager.machine().Suspend();
        break;
      case 2:
      case 3:
        for (const auto& each : managers_) each->machine().Resume();
        Log("resume all");
        break;
      case 4:
        Log(manager.name() + " loses requests");
        network.loses_requests = true;
        break;
      case 5:
        Log(manager.name() + " loses answers");
        network.loses_answers = true;
        break;
      case 6:
        Log(manager.name() + " is refused");
        network.refuses = true;
        break;
      case 7:
      case 8:
        network.slowest = 1ms * Choose(8000);
        Log(manager.name() + " has a delay of up to " + std::to_string(network.slowest / 1ms) + " ms");
        break;
      case 9:
        Log("stop " + manager.name());
        manager.Stop();
        break;
      case 10:
        InjectFault();
        break;
      default:
        Log(manager.name() + " is connected again");
        network.refuses = network.loses_requests = network.loses_answers = false;
        network.slowest = 20ms;
        break;
    }
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
    for (const auto& each : managers_) {
      if (!each->running() && Choose(2) == 0) each->Start();
    }
  }
  void Advance(Nanos duration) {
    Log("pass " + std::to_string(duration / 1ms) + " ms");
    const auto run = cluster_.simulation().Advance(duration);
    if (!run) world_.fail("simulation", run.error().ToString());
  }

  void Calm() {
    Log("calm");
    world_.calm = true;
    cluster_.ClearFaults();
    for (const auto& each : managers_) {
      Network& network = each->network();
      network.refuses = network.loses_requests = network.loses_answers = false;
      network.slowest = 20ms;
      each->machine().Resume();
    }
  }

  // After the last fault: an old request arrives (8 s), requests that it has delayed end (7 s), the Lease that it has
  // written expires, and so does one that a manager holds without knowing; and a candidate looks at it (2.2 retry
  // periods). The clocks are 1.25 times faster, not slower, than the simulation's.
  void CheckProgress() {
    const auto leads = [](const auto& each) { return each->leads(); };
    const Nanos bound = 8s + 7s + 2 * world_.options.lease_duration + 3 * world_.options.retry_period;
    for (Nanos passed{}; passed < bound; passed += 1s) {
      for (const auto& each : managers_) each->Start();
      Advance(1s);
    }
    if (std::none_of(managers_.begin(), managers_.end(), leads)) world_.fail("E3", "nobody leads");
  }

  void Stop() {
    Log("stop all");
    for (const auto& each : managers_) each->Stop();
    Advance(60s);
    for (const auto& each : managers_) {
      if (each->running()) world_.fail("E5", each->name() + " does not end: " + cluster_.simulation().WhoWaits());
    }
    if (!failure_.empty()) return;
    managers_.clear();
    const std::string left = LeftUnderWay(cluster_.simulation());
    if (!left.empty()) world_.fail("E5", left);
  }

  std::string failure_, log_;
  ElectionWorld world_;
  std::vector<std::unique_ptr<Manager>> managers_;
  Cluster cluster_;         // after what its blocked tasks use, which end with it
  const Connection plain_;  // keeps the transport open
};

}  // namespace

RunResult RunElection(std::uint64_t seed, const testing::Trace& replay) {
  return Perform<ElectionRun>("E5", seed, replay);
}

}  // namespace kgen::simulation
