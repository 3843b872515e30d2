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
#include <type_traits>
#include <utility>

#include "kgen/client/connection.h"
#include "kgen/controller/finalizers.h"
#include "kgen/controller/manager.h"
#include "kgen/controller/owners.h"
#include "kgen/core/try.h"
#include "tests/simulation/manager_world.h"
#include "tests/simulation/stream_network.h"
#include "tests/support/machine.h"

namespace kgen::simulation {

class ManagerReplica {
 public:
  using ConfigMap = k8s::core::v1::ConfigMap;
  using Node = k8s::core::v1::Node;
  using Secret = k8s::core::v1::Secret;
  using Settings = k8s::core::v1::ServiceAccount;

  ManagerReplica(ManagerWorld& world, std::string name, const test_support::MachineOptions& options)
      : world_(world), name_(std::move(name)), machine_(*world.simulation, options) {
    network_->choose = [this](std::uint32_t n) { return world_.simulation->Choose(n); };
    network_->on_sent = [this](const HttpRequest& request) { world_.OnSent(request, network_->name); };
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
  bool stopping() const { return stop_.stop_requested(); }
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
    network_->name = term_;
    ManagerOptions options{.name = "counter", .shards = shards};
    if (world_.has.more) options.shards_everywhere = {&Settings::kTable};
    manager_.emplace(Must(Manager::New(*connection_, options)));
    Control<ConfigMap>("counter");
    if (world_.has.more) Control<Node>("nodes");
    machine_.executor()->Blocking("replica " + term_, [this, manager = *manager_, stop = stop_.get_token()] {
      const Result<void> ended = manager.Run(stop);
      world_.log(term_ + " ends: " + (ended ? std::string("left") : ended.error().ToString()));
      ended_ = ended;
      running_ = false;
    });
  }
  void Stop() { stop_.request_stop(); }

 private:
  // One call of a controller.
  struct Call {
    Request& request;
    const std::string& term;
    Work& work;
  };

  template <typename T>
  void Control(const char* name) {
    ControllerBuilder<T> builder = manager_->Control<T>(name);
    if constexpr (std::is_same_v<T, ConfigMap>) {
      if (world_.has.owns) (void)std::move(builder).template Owns<Secret>();
    }
    if (world_.has.more) {
      (void)std::move(builder).template Watches<Settings>([this](const Settings&, Requests& requests) {
        for (const Work& each : world_.works) {
          if (each.main.resource == T::kTable.kind->resource) requests.Add(each.main.namespace_, each.main.name);
        }
      });
    }
    Must(std::move(builder).MaxConcurrentReconciles(2).Reconcile(
        [this, term = term_](Request& request) { return Reconcile<T>(request, term); }));
  }

  template <typename T>
  static std::uint64_t VersionOf(const Ref<const T>& object) {
    return object ? std::strtoull(object->metadata.resourceVersion.str().c_str(), nullptr, 10) : 0;
  }

  template <typename T>
  Result<void> Reconcile(Request& request, const std::string& term) {
    Work* const work = world_.Of(T::kTable.kind->resource, request.key());
    if (work == nullptr) return {};
    const Call call{request, term, *work};
    world_.OnCall(*work, term, request.fence());
    KGEN_TRY(const auto object, Read<T>(call, work->main));
    ReadAnother(request, term);
    if (!object) return {};
    if (IsBeingDeleted(*object)) return CleanUp(call, *object);
    KGEN_TRY(const std::string settings, ReadSettings(call));
    const auto& state = object->metadata.annotations;
    if (state["done"] != state["spec"] || state["settings"] != settings) {
      Pause(request.stop());
      const std::string count = std::to_string(std::strtoull(state["count"].str().c_str(), nullptr, 10) + 1);
      nlohmann::json metadata{
          {"annotations", {{"done", state["spec"].str()}, {"settings", settings}, {"count", count}}}};
      if (Result<void> written = Patch(call, work->main, *object, std::move(metadata)); !written) return written;
      Pause(request.stop());
    }
    if constexpr (std::is_same_v<T, ConfigMap>) {
      if (world_.has.owns) return KeepOwned(call, *object);
    }
    return {};
  }

  template <typename T>
  Result<Ref<const T>> Read(const Call& call, Track& track) {
    KGEN_TRY(auto object, call.request.client().template Get<T>({track.namespace_, track.name}));
    world_.OnRead(call.work, track, call.term, call.request.fence(), VersionOf(object));
    return object;
  }
  Result<std::string> ReadSettings(const Call& call) {
    if (!world_.has.more) return std::string();
    KGEN_TRY(const auto settings, call.request.client().Get<Settings>({"default", "settings"}));
    world_.OnSettings(call.work, call.term, call.request.fence(), VersionOf(settings));
    return settings ? settings->metadata.annotations["spec"].str() : std::string();
  }

  // Every write says who makes it.
  void Sign(const Call& call, nlohmann::json& metadata) const {
    metadata["annotations"]["by"] = call.term;
    metadata["annotations"]["fence"] = std::to_string(call.request.fence());
  }
  template <typename T>
  Result<void> Patch(const Call& call, Track& track, const T& object, nlohmann::json metadata) {
    Sign(call, metadata);
    const std::string body = nlohmann::json{{"metadata", std::move(metadata)}}.dump();
    KGEN_TRY(const T written, call.request.client().Patch(object, MergePatch(body)));
    const bool gone = IsBeingDeleted(written) && written.metadata.finalizers.empty();
    ManagerWorld::OnTold(track, call.term, gone ? 0 : VersionOf(MakeRef<const T>(written)));
    return {};
  }

  // Creates the owned object, or repairs it.
  Result<void> KeepOwned(const Call& call, const ConfigMap& owner) {
    Track& track = call.work.owned;
    KGEN_TRY(const auto known, Read<Secret>(call, track));
    const String spec = owner.metadata.annotations["spec"];
    if (known && known->metadata.annotations["spec"] == spec && IsControlledBy(*known, owner)) return {};
    Pause(call.request.stop());
    Secret secret{.metadata = {.name = String(track.name), .namespace_ = String(track.namespace_)}};
    secret.metadata.annotations["spec"] = spec;
    if (Result<void> set = SetControllerReference(secret, owner); !set) return set;
    nlohmann::json body = nlohmann::json::parse(Encode(secret));
    if (known) {
      nlohmann::json metadata{{"annotations", body["metadata"]["annotations"]},
                              {"ownerReferences", body["metadata"]["ownerReferences"]}};
      return Patch(call, track, *known, std::move(metadata));
    }
    Sign(call, body["metadata"]);
    KGEN_TRY(const Secret made, call.request.client().Create(Must(Decode<Secret>(body.dump()))));
    ManagerWorld::OnTold(track, call.term, VersionOf(MakeRef<const Secret>(made)));
    return {};
  }

  // Deletes what the object owns, and lets it go.
  template <typename T>
  Result<void> CleanUp(const Call& call, const T& object) {
    if (object.metadata.finalizers.empty()) return {};
    if (std::is_same_v<T, ConfigMap> && world_.has.owns) {
      KGEN_TRY(const auto owned, Read<Secret>(call, call.work.owned));
      Pause(call.request.stop());
      if (owned) {
        Result<void> deleted = call.request.client().Delete(*owned);
        if (!deleted && deleted.error().code() != Code::kNotFound) return deleted;
        if (deleted) ManagerWorld::OnTold(call.work.owned, call.term, 0);
      }
    }
    Pause(call.request.stop());
    return Patch(call, call.work.main, object,
                 {{"finalizers", nullptr}, {"resourceVersion", object.metadata.resourceVersion.str()}});
  }

  void ReadAnother(const Request& request, const std::string& term) {
    if (world_.calm || world_.simulation->Choose(4) != 0) return;
    const Track& other = world_.works[world_.simulation->Choose(kTeams)].main;
    const Result<Ref<const ConfigMap>> read = request.client().Get<ConfigMap>({other.namespace_, other.name});
    if (read && !*read && !other.absent_since) world_.fail("M3", term + " reads nothing for " + other.text());
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
