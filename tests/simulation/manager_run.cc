// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/manager_run.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/request/connection_state.h"
#include "kgen/testing/cluster.h"
#include "tests/simulation/manager_replica.h"
#include "tests/simulation/manager_world.h"

namespace kgen::simulation {
namespace {

using namespace std::chrono_literals;
using testing::Cluster;
using testing::ClusterOptions;

constexpr std::uint32_t kNodes = 2;
constexpr const char* kFinalizer = "test.kgen.dev/counter";

class ManagerLog final : public Observer {
 public:
  explicit ManagerLog(std::function<void(std::string)> write) : write_(std::move(write)) {}
  void OnLogged(const Logged& logged) override {
    write_(std::string(logged.source) + " " + std::string(logged.key) + ": " + std::string(logged.message));
  }
  void OnReconcileFailed(const ReconcileFailed& e) override {
    write_(std::string(e.queue) + " " + std::string(e.key) + ": " + e.error->ToString());
  }

 private:
  const std::function<void(std::string)> write_;
};

class ManagerRun {
 public:
  ManagerRun(std::uint64_t seed, const testing::Trace& replay)
      : cluster_(Options(seed, replay)), plain_(cluster_.Connection()) {
    world_.has = {.owns = seed / 2 % 2 == 1, .deletes = seed / 4 % 2 == 1, .more = seed / 8 % 2 == 1};
    world_.simulation = &cluster_.simulation();
    world_.server = MakeShared<ManagerServer>(world_, client::ConnectionState::Of(plain_)->transport);
    world_.log = [this](std::string line) { Log(std::move(line)); };
    world_.observer = MakeShared<ManagerLog>(world_.log);
    world_.fail = [this](std::string_view law, std::string what) {
      if (failure_.empty()) failure_ = std::string(law) + ": " + std::move(what);
    };
    world_.version_of = [this](const Track& track) -> std::optional<std::uint64_t> {
      const auto object = Find(track);
      if (!object) return {};
      return std::strtoull((*object)["metadata"]["resourceVersion"].get<std::string>().c_str(), nullptr, 10);
    };
    world_.newest = [this] { return cluster_.resource_version(); };
    const std::pair<Nanos, std::pair<Nanos, Nanos>> durations[] = {
        {15s, {10s, 2s}}, {15s, {12s, 2s}}, {5s, {4s, 1s}}, {10s, {7s, 2s}}};
    const auto& chosen = durations[Choose(4)];
    world_.options = {.name = "counter",
                      .namespace_ = "default",
                      .lease_duration = chosen.first,
                      .renew_deadline = chosen.second.first,
                      .retry_period = chosen.second.second,
                      .drain_limit = 3s};
  }
  // The cluster ends open requests when its simulation, from which a network draws its delays, is gone.
  ~ManagerRun() {
    for (const auto& each : replicas_) each->network().loses_answers = true;
  }

  RunResult Go() {
    AddObjects();
    for (std::uint32_t n = 2 + Choose(3); n > 0; --n) AddReplica();
    Advance(world_.options.lease_duration + 5s);  // the first map waits so long
    for (std::uint32_t steps = 4 + Choose(16); steps > 0 && failure_.empty(); --steps) {
      Step();
      Change();
      Pass();
    }
    Calm();
    if (failure_.empty()) CheckProgress();
    if (failure_.empty() && Choose(2) == 0) CheckLeaving();
    Stop();
    return {failure_, cluster_.simulation().trace(), std::move(log_)};
  }

 private:
  static ClusterOptions Options(std::uint64_t seed, const testing::Trace& replay) {
    ClusterOptions options;
    options.seed = seed;
    options.replay = replay;
    options.observer = NullObserver();
    options.sharded_lists = seed % 2 == 1;
    options.streaming_lists = seed % 3 != 0;
    return options;
  }

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  void Log(std::string line) {
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(cluster_.simulation().clock()->Now().time_since_epoch());
    log_ += std::to_string(now.count()) + " ms: " + std::move(line) + "\n";
  }

  // One namespace in each part of the hashes.
  void AddObjects() {
    int tried = 0;
    for (std::size_t i = 0; i < kTeams; ++i) {
      const ShardRange part{(UINT64_MAX / kTeams) * i, (UINT64_MAX / kTeams) * (i + 1) - 1};
      std::string name;
      do {
        name = "team-" + std::to_string(++tried * 7919);
      } while (ShardHash(name) < part.first || ShardHash(name) > part.last);
      Work work{.main = {.resource = "configmaps", .namespace_ = name, .name = name}};
      if (world_.has.owns) {
        work.owned = {.resource = "secrets", .namespace_ = name, .name = name, .absent_since = 0};
      }
      world_.works.push_back(std::move(work));
    }
    for (std::uint32_t i = 0; world_.has.more && i < kNodes; ++i) {
      world_.works.push_back({.main = {.resource = "nodes", .name = "node-" + std::to_string(i)}});
    }
    for (const Work& work : world_.works) Create(work);
    if (world_.has.more) Must(cluster_.Add(Settings().dump()));
  }
  void Create(const Work& work) {
    const Track& track = work.main;
    nlohmann::json metadata{{"name", track.name},
                            {"annotations", {{"spec", std::to_string(changes_)}, {"done", ""}, {"count", "0"}}}};
    if (!track.namespace_.empty()) metadata["namespace"] = track.namespace_;
    if (world_.has.deletes && Choose(2) == 0) metadata["finalizers"] = {kFinalizer};
    const char* const kind = track.resource == "nodes" ? "Node" : "ConfigMap";
    Must(cluster_.Add(nlohmann::json{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", metadata}}.dump()));
  }
  nlohmann::json Settings() const {
    return {{"apiVersion", "v1"},
            {"kind", "ServiceAccount"},
            {"metadata",
             {{"name", "settings"}, {"namespace", "default"}, {"annotations", {{"spec", std::to_string(settings_)}}}}}};
  }

  void AddReplica() {
    test_support::MachineOptions options;
    const double rates[] = {1, 1.25, 1.1};
    options.rate = rates[Choose(3)];
    options.booted = 1h * Choose(100);
    options.suspended_before = 1h * Choose(100);
    replicas_.push_back(std::make_unique<ManagerReplica>(world_, "m" + std::to_string(replicas_.size()), options));
    replicas_.back()->network().slowest = 1ms * (Choose(2) * 20);
    replicas_.back()->Start();
  }

  ManagerReplica& Some() {
    if (Choose(4) == 0) {
      for (const auto& each : replicas_) {
        if (each->assigns()) return *each;
      }
    }
    return *replicas_[Choose(static_cast<std::uint32_t>(replicas_.size()))];
  }

  std::optional<nlohmann::json> Find(const Track& track) const {
    const Result<std::string> object = cluster_.Get(track.resource, track.namespace_, track.name);
    if (!object) return {};
    return nlohmann::json::parse(*object);
  }
  // The user changes some objects.
  void Change() {
    for (Work& work : world_.works) {
      if (Choose(2) == 0) continue;
      if (world_.has.deletes && Choose(4) == 0) {
        DeleteOrCreate(work);
      } else if (auto object = Find(work.main)) {
        (*object)["metadata"]["annotations"]["spec"] = std::to_string(++changes_);
        Must(cluster_.Update(object->dump()));
      }
    }
    if (world_.has.owns) ChangeOwned();
    if (!world_.has.more || Choose(3) != 0) return;
    ++settings_;
    Must(cluster_.Update(Settings().dump()));
  }
  void Delete(Track& track) {
    Must(cluster_.Delete(track.resource, track.namespace_, track.name));
    if (!Find(track)) track.absent_since = cluster_.resource_version();
  }
  void DeleteOrCreate(Work& work) {
    if (std::exchange(work.wanted, !work.wanted)) {
      Log("delete " + work.main.text());
      return Delete(work.main);
    }
    if (Find(work.main)) {
      work.wanted = false;  // its finalizer still keeps it
    } else {
      Log("create " + work.main.text());
      Create(work);
    }
  }
  // The user deletes or spoils what the objects own.
  void ChangeOwned() {
    for (std::uint32_t i = 0; i < kTeams; ++i) {
      Work& work = world_.works[i];
      auto object = Find(work.owned);
      if (!object || Choose(4) != 0) continue;
      if (Choose(2) == 0) {
        Log("delete " + work.owned.text());
        Delete(work.owned);
      } else {
        (*object)["metadata"]["annotations"]["spec"] = "spoiled";
        Must(cluster_.Update(object->dump()));
      }
    }
    CollectGarbage();
  }
  // The cluster has no garbage collector.
  void CollectGarbage() {
    for (std::uint32_t i = 0; world_.has.owns && i < kTeams; ++i) {
      Work& work = world_.works[i];
      const auto owned = Find(work.owned), owner = Find(work.main);
      if (!owned || (owner && IsOwnedBy(*owned, *owner)) || (!world_.calm && Choose(2) == 0)) continue;
      Log("collect " + work.owned.text());
      Delete(work.owned);
    }
  }
  static bool IsOwnedBy(const nlohmann::json& owned, const nlohmann::json& owner) {
    return owned["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"];
  }

  void Step() {
    ManagerReplica& replica = Some();
    StreamNetwork& network = replica.network();
    switch (Choose(13)) {
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
        network.Break();
        break;
      case 7:
        network.slowest = 1ms * Choose(6000);
        Log(replica.name() + " has a delay of up to " + std::to_string(network.slowest / 1ms) + " ms");
        break;
      case 8:
      case 9:
        Log("stop " + replica.name());
        replica.Stop();
        break;
      case 10:
        if (replicas_.size() < 5) AddReplica();
        break;
      case 11:
        Log("the connections of " + replica.name() + " break");
        network.Break();
        break;
      default:
        Log(replica.name() + " is connected again");
        network.refuses = network.loses_requests = network.loses_answers = false;
        network.slowest = 20ms;
        break;
    }
  }

  void Pass() {
    const Nanos durations[] = {100ms, 1s, 3s, 7s, 11s, 20s};
    const Nanos duration = durations[Choose(6)];
    Advance(duration / 2);
    if (Choose(2) == 0) Change();
    Advance(duration / 2);
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
    for (const auto& each : replicas_) {
      StreamNetwork& network = each->network();
      network.refuses = network.loses_requests = network.loses_answers = false;
      network.slowest = 20ms;
      network.Break();
      each->machine().Resume();
    }
  }

  // What is not as its controller should have made it.
  std::string Behind() {
    CollectGarbage();
    std::string names;
    for (const Work& work : world_.works) {
      if (!IsDone(work)) names += " " + work.main.text();
    }
    return names;
  }
  bool IsDone(const Work& work) const {
    const auto object = Find(work.main);
    const auto owned = world_.has.owns && !work.owned.resource.empty() ? Find(work.owned) : std::nullopt;
    if (!work.wanted || !object) return !work.wanted && !object && !owned;
    const nlohmann::json& state = (*object)["metadata"]["annotations"];
    if (state["spec"] != state["done"]) return false;
    if (world_.has.more && state.value("settings", "") != std::to_string(settings_)) return false;
    if (work.owned.resource.empty()) return true;
    return owned && (*owned)["metadata"]["annotations"]["spec"] == state["spec"] && IsOwnedBy(*owned, *object);
  }
  bool Quiet() const {
    return std::ranges::all_of(replicas_, [&](const auto& each) {
      const std::optional<ShardStatus> status = each->shards();
      return each->running() && !each->stopping() && status && status->waiting.empty() && status->draining.empty() &&
             status->members.size() == replicas_.size();
    });
  }

  // As the simulation of members alone, plus a failed call's delay.
  void CheckProgress() {
    const ShardOptions& options = world_.options;
    const Nanos bound =
        60s + 3 * options.lease_duration + options.drain_limit + options.renew_deadline + 6 * options.retry_period;
    int good = 0;  // seconds in a row
    for (Nanos passed{}; passed < bound && good < 5 && failure_.empty(); passed += 1s) {
      for (const auto& each : replicas_) each->Start();
      Advance(1s);
      good = Quiet() && Behind().empty() ? good + 1 : 0;
    }
    if (failure_.empty() && !Quiet()) world_.fail("M4", "the members do not follow the map");
    if (const std::string names = Behind(); failure_.empty() && !names.empty()) {
      world_.fail("M4", "not reconciled:" + names);
    }
    if (!failure_.empty()) return;
    Change();
    Advance(3s);
    if (const std::string names = Behind(); !names.empty()) world_.fail("M4", "not reconciled within 3 s:" + names);
  }

  void CheckLeaving() {
    if (replicas_.size() < 2) return;
    ManagerReplica& leaving = *replicas_[Choose(static_cast<std::uint32_t>(replicas_.size()))];
    Log("quiet; stop " + leaving.name());
    leaving.Stop();
    for (int i = 0; i < 40 && failure_.empty(); ++i) {
      if (i % 3 == 0) Change();
      Advance(world_.options.retry_period / 4);
    }
    if (!failure_.empty()) return;
    if (leaving.running()) {
      world_.fail("M5", leaving.term() + " does not leave");
    } else if (!*leaving.ended()) {
      world_.fail("M5", leaving.term() + " leaves with an error: " + leaving.ended()->error().ToString());
    }
    Advance(3s);
    if (const std::string names = Behind(); !names.empty()) {
      world_.fail("M4", "not reconciled after a replica has left:" + names);
    }
  }

  void Stop() {
    Log("stop all");
    for (const auto& each : replicas_) {
      each->machine().Resume();
      each->Stop();
    }
    Advance(90s);
    for (const auto& each : replicas_) {
      if (each->running()) world_.fail("M5", each->name() + " does not end: " + cluster_.simulation().WhoWaits());
    }
    if (!failure_.empty()) return;
    replicas_.clear();
    Advance(1s);  // informers that have just been destroyed
    const std::string left = LeftUnderWay(cluster_.simulation());
    if (!left.empty()) world_.fail("M5", left);
  }

  std::string failure_, log_;
  ManagerWorld world_;
  int changes_ = 0, settings_ = 0;
  std::vector<std::unique_ptr<ManagerReplica>> replicas_;
  Cluster cluster_;         // after what its blocked tasks use, which end with it
  const Connection plain_;  // keeps the transport open
};

}  // namespace

RunResult RunManagers(std::uint64_t seed, const testing::Trace& replay) {
  return Perform<ManagerRun>("M5", seed, replay);
}

}  // namespace kgen::simulation
