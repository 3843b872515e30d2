// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A replica of the managers' simulation: a machine, its network, and a process on it that runs one manager after the
// other. See manager_run.h.
#ifndef KGEN_TESTS_SIMULATION_MANAGER_REPLICA_H_
#define KGEN_TESTS_SIMULATION_MANAGER_REPLICA_H_

#include <k8s/core/v1/types.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kgen/client/connection.h"
#include "kgen/controller/manager.h"
#include "kgen/core/try.h"
#include "tests/simulation/manager_world.h"
#include "tests/simulation/stream_network.h"
#include "tests/support/machine.h"

namespace kgen::simulation {

class ManagerReplica {
 public:
  using ConfigMap = k8s::core::v1::ConfigMap;

  ManagerReplica(ManagerWorld& world, std::string name, const test_support::MachineOptions& options)
      : world_(world), name_(std::move(name)), machine_(*world.simulation, options) {
    network_->choose = [this](std::uint32_t n) { return world_.simulation->Choose(n); };
    network_->on_sent = [this](const HttpRequest& request) { world_.OnSent(request); };
    connection_.emplace(Connection::Over({.transport = MakeShared<StreamTransport>(
                                              network_, machine_.executor(), world.simulation->clock(), world.server),
                                          .executor = machine_.executor(),
                                          .observer = world.observer}));
  }
  // Requests may end later than this.
  ~ManagerReplica() {
    network_->choose = [](std::uint32_t) { return 0u; };
    network_->on_sent = [](const HttpRequest&) {};
  }
  ManagerReplica(const ManagerReplica&) = delete;
  ManagerReplica& operator=(const ManagerReplica&) = delete;

  test_support::Machine& machine() { return machine_; }
  StreamNetwork& network() { return *network_; }
  const std::string& name() const { return name_; }
  const std::string& term() const { return term_; }  // the identity of its member
  bool running() const { return running_; }
  const std::optional<Result<void>>& ended() const { return ended_; }
  std::optional<ShardStatus> shards() const { return manager_ ? manager_->shards() : std::nullopt; }
  bool assigns() const {
    const std::optional<ShardStatus> status = shards();
    return running_ && status && status->assigner;
  }

  void Start() {
    if (running_) return;
    running_ = true;
    stop_ = {};
    ended_.reset();
    term_ = name_ + "-" + std::to_string(++terms_);
    world_.log("start " + term_);
    ShardOptions shards = world_.options;
    shards.identity = term_;
    manager_.emplace(Must(Manager::New(*connection_, {.name = "counter", .shards = shards})));
    Must(manager_->Control<ConfigMap>("counter").MaxConcurrentReconciles(2).Reconcile(
        [this, term = term_](Request& request) { return Reconcile(request, term); }));
    machine_.executor()->Blocking("replica " + term_, [this, manager = *manager_, stop = stop_.get_token()] {
      const Result<void> ended = manager.Run(stop);
      world_.log(term_ + " ends: " + (ended ? std::string("left") : ended.error().ToString()));
      ended_ = ended;
      running_ = false;
    });
  }
  void Stop() { stop_.request_stop(); }

 private:
  static std::uint64_t NumberOf(const ConfigMap& map, std::string_view member) {
    return std::strtoull(std::string(map.data[member].view()).c_str(), nullptr, 10);
  }

  Result<void> Reconcile(Request& request, const std::string& term) {
    Work* const work = world_.Of(request.key().namespace_);
    if (work == nullptr || request.key().name != work->name) return {};
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    if (!map) {
      world_.fail("M3", term + " reads nothing for " + work->name);
      return {};
    }
    const std::uint64_t count = NumberOf(*map, "count");
    world_.OnCall(*work, term, request.fence(), count);
    ReadAnother(request, term);
    if (map->data["done"] == map->data["spec"]) return {};
    Pause(request.stop());
    const std::string body = nlohmann::json{{"data",
                                             {{"done", map->data["spec"].str()},
                                              {"count", std::to_string(count + 1)},
                                              {"by", term},
                                              {"fence", std::to_string(request.fence())}}}}
                                 .dump();
    KGEN_TRY(const auto written, request.client().Patch(*map, MergePatch(body)));
    std::uint64_t& told = work->told[term];
    told = std::max(told, count + 1);
    Pause(request.stop());
    return {};
  }

  void ReadAnother(const Request& request, const std::string& term) {
    if (world_.calm || world_.simulation->Choose(4) != 0) return;
    const Work& other = world_.works[world_.simulation->Choose(static_cast<std::uint32_t>(world_.works.size()))];
    const Result<Ref<const ConfigMap>> read = request.client().Get<ConfigMap>({other.name, other.name});
    if (read && !*read) world_.fail("M3", term + " reads nothing for " + other.name);
  }

  void Pause(const std::stop_token& stop) {
    if (world_.calm || world_.simulation->Choose(3) != 0) return;
    const Shared<Waiter> waiter = machine_.executor()->MakeWaiter("pause of " + term_);
    const Nanos pause = std::chrono::milliseconds(10) * world_.simulation->Choose(400);
    (void)waiter->Wait(stop, machine_.clock()->Now() + pause);
  }

  ManagerWorld& world_;
  const std::string name_;
  test_support::Machine machine_;
  const Shared<StreamNetwork> network_ = MakeShared<StreamNetwork>();
  std::optional<Connection> connection_{};
  std::optional<Manager> manager_{};
  std::stop_source stop_{};
  std::string term_{};
  int terms_ = 0;
  bool running_ = false;
  std::optional<Result<void>> ended_{};
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_MANAGER_REPLICA_H_
