// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A replica of the shards' simulation: a machine, its network, and a process on it that runs one member after the
// other. See shard_run.h.
#ifndef KGEN_TESTS_SIMULATION_SHARD_REPLICA_H_
#define KGEN_TESTS_SIMULATION_SHARD_REPLICA_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kgen/client/connection.h"
#include "kgen/controller/shards.h"
#include "tests/simulation/network.h"
#include "tests/simulation/shard_world.h"
#include "tests/support/machine.h"

namespace kgen::simulation {

// The work of one member: a worker for each cell that it owns.
class CellWork final : public ShardWork {
 public:
  CellWork(ShardWorld& world, const Shared<Executor>& executor, Connection connection, std::string member)
      : world_(world), executor_(executor), connection_(std::move(connection)), member_(std::move(member)) {}

  // Set before the member runs, and taken away after that.
  std::optional<ShardMember> member{};

  Result<void> Prepare(const ShardRanges&, const std::stop_token& stop) override {
    if (world_.calm) return {};
    const std::uint32_t choice = world_.simulation->Choose(8);
    if (choice == 0) return Fail(Code::kUserCode, "not prepared");
    if (choice > 2) return {};
    const Shared<Waiter> waiter = executor_->MakeWaiter("prepare " + member_);
    const Nanos pause = std::chrono::seconds(choice == 1 ? 1 : 6);
    (void)waiter->Wait(stop, executor_->clock()->Now() + pause);
    return {};
  }

  void Start(const ShardRanges& ranges, const ShardStart& from) override {
    for (Cell& cell : world_.cells) {
      if (!ranges.Contains(cell.hash)) continue;
      world_.OnStart(cell, member_, from);
      auto worker = std::make_shared<Worker>();
      worker->ended = executor_->MakeWaiter("the worker of " + member_);
      worker->unknown = from.list_anew;  // until it has read
      workers_[cell.name] = worker;
      executor_->Blocking("worker of " + member_, [self = Shared<CellWork>(this), &cell, worker] {
        self->Work(cell, *worker);
        worker->ended->Notify();
      });
    }
  }

  std::optional<ShardVersions> Drain(const ShardRanges& ranges) override {
    std::uint64_t version = 0;
    bool unknown = false;
    for (const Cell& cell : world_.cells) {
      const auto at = workers_.find(cell.name);
      if (!ranges.Contains(cell.hash) || at == workers_.end()) continue;
      const std::shared_ptr<Worker> worker = at->second;
      workers_.erase(at);
      worker->stop.request_stop();
      if (!worker->ended->Wait()) return {};
      version = std::max(version, worker->version);
      unknown |= worker->unknown;
    }
    if (unknown) return {};
    if (version == 0) return ShardVersions{};
    return ShardVersions{{"configmaps", std::to_string(version)}};
  }

 private:
  struct Worker {
    std::stop_source stop{};
    Shared<Waiter> ended{};
    std::uint64_t version = 0;  // the highest that it has seen
    bool unknown = false;       // a write may have been stored that it does not know of
    TimePoint late_until{};     // until when such a write may arrive
  };

  void Work(const Cell& cell, Worker& worker) {
    const Connection guarded = connection_.With(member->guard(cell.hash));
    const std::stop_token stop = worker.stop.get_token();
    // A worker may take long to notice that it should end.
    int more = !world_.calm && world_.simulation->Choose(8) == 0 ? static_cast<int>(world_.simulation->Choose(12)) : 0;
    while (!stop.stop_requested() || (more-- > 0 && !world_.calm)) {
      if (worker.unknown && world_.Now() > worker.late_until) Read(cell, worker);
      if (!worker.unknown || world_.simulation->Choose(2) == 0) Put(cell, worker, guarded);
      const Shared<Waiter> waiter = executor_->MakeWaiter("pause of " + member_);
      const Nanos left = member->time_left();
      const bool near = left < std::chrono::seconds(1) && left > Nanos();
      const Nanos pace = near ? Nanos(std::chrono::milliseconds(50)) : std::chrono::seconds(4);
      const std::stop_token until = more > 0 && !world_.calm ? std::stop_token() : stop;
      (void)waiter->Wait(until, executor_->clock()->Now() + pace);
    }
  }

  void Read(const Cell& cell, Worker& worker) {
    const Result<ApiResponse> read =
        connection_.Call({.path = "/api/v1/namespaces/default/configmaps/" + cell.name, .timeout = kWriteTimeout});
    if (!read) return;
    Remember(read->body, worker);
    worker.unknown = false;
  }

  void Put(const Cell& cell, Worker& worker, const Connection& guarded) {
    const Nanos timeout = std::min(kWriteTimeout, member->time_left());
    if (timeout <= Nanos()) return;
    const TimePoint sent = world_.Now();
    const Result<ApiResponse> written = guarded.Call({.method = "PUT",
                                                      .path = "/api/v1/namespaces/default/configmaps/" + cell.name,
                                                      .content_type = "application/json",
                                                      .body = ShardServer::Body(cell, member_, sent),
                                                      .timeout = timeout});
    if (written) {
      Remember(written->body, worker);
    } else if (written.error().code() != Code::kCancelled) {  // the guard's: it was not sent
      worker.unknown = true;
      worker.late_until = std::max(worker.late_until, sent + kWriteTimeout);
    }
  }

  static void Remember(const std::string& body, Worker& worker) {
    const auto object = nlohmann::json::parse(body, nullptr, false);
    if (!object.is_object()) return;
    const std::string version = object["metadata"].value("resourceVersion", "0");
    worker.version = std::max<std::uint64_t>(worker.version, std::strtoull(version.c_str(), nullptr, 10));
  }

  ShardWorld& world_;
  const Shared<Executor> executor_;
  const Connection connection_;
  const std::string member_;
  std::map<std::string, std::shared_ptr<Worker>> workers_{};
};

class Replica {
 public:
  Replica(ShardWorld& world, std::string name, const test_support::MachineOptions& options)
      : world_(world), name_(std::move(name)), machine_(*world.simulation, options) {
    network_->choose = [this](std::uint32_t n) { return world_.simulation->Choose(n); };
    network_->on_sent = [this](const HttpRequest& request) { world_.OnSent(request, term_); };
    network_->on_answered = [](const HttpRequest&, TimePoint, int) {};
    connection_.emplace(Connection::Over({.transport = MakeShared<NetworkTransport>(
                                              network_, machine_.executor(), world.simulation->clock(), world.server),
                                          .executor = machine_.executor(),
                                          .observer = world.observer}));
  }
  // Requests may end later than this.
  ~Replica() {
    network_->choose = [](std::uint32_t) { return 0u; };
    network_->on_sent = [](const HttpRequest&) {};
  }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  test_support::Machine& machine() { return machine_; }
  Network& network() { return *network_; }
  const std::string& name() const { return name_; }
  const std::string& term() const { return term_; }  // the identity of its member
  bool running() const { return running_; }
  bool stopping() const { return stop_.stop_requested(); }
  const std::optional<Result<void>>& ended() const { return ended_; }
  const std::optional<ShardMember>& member() const { return member_; }
  bool assigns() const { return running_ && member_ && member_->status().assigner; }

  void Start() {
    if (running_) return;
    running_ = true;
    stop_ = {};
    ended_.reset();
    term_ = name_ + "-" + std::to_string(++terms_);
    world_.log("start " + term_);
    ShardOptions options = world_.options;
    options.identity = term_;
    auto work = MakeShared<CellWork>(world_, machine_.executor(), *connection_, term_);
    member_.emplace(Must(ShardMember::New(*connection_, options, work)));
    work->member = member_;
    machine_.executor()->Blocking("replica " + term_, [this, work, member = *member_, stop = stop_.get_token()] {
      const Result<void> ended = member.Run(stop);
      world_.log(term_ + " ends: " + (ended ? std::string("left") : ended.error().ToString()));
      work->member.reset();
      ended_ = ended;
      running_ = false;
    });
  }
  void Stop() { stop_.request_stop(); }

 private:
  ShardWorld& world_;
  const std::string name_;
  test_support::Machine machine_;
  const Shared<Network> network_ = MakeShared<Network>();
  std::optional<Connection> connection_{};
  std::optional<ShardMember> member_{};
  std::stop_source stop_{};
  std::string term_{};
  int terms_ = 0;
  bool running_ = false;
  std::optional<Result<void>> ended_{};
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_SHARD_REPLICA_H_
