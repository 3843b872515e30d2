// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A manager of the election's simulation: a machine, its network, and a loop that acquires the Lease, runs workers and
// releases it. See election_run.h.
#ifndef KGEN_TESTS_SIMULATION_MANAGER_H_
#define KGEN_TESTS_SIMULATION_MANAGER_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/controller/leader_election.h"
#include "kgen/testing/simulation.h"
#include "tests/simulation/network.h"
#include "tests/support/machine.h"

namespace kgen::simulation {

// What all managers of a run share.
struct ElectionWorld {
  testing::Simulation* simulation = nullptr;
  LeaderElectionOptions options{};  // without the identity
  Shared<Transport> server{};
  bool calm = false;                                                   // no more faults: workers end at once
  std::function<void(std::string_view law, std::string what)> fail{};  // reports what must not happen
  std::function<void(std::string line)> log{};
  std::string writing{};            // the term of the last write
  std::vector<std::string> over{};  // the terms before that
};

class Manager {
 public:
  Manager(ElectionWorld& world, std::string name, const test_support::MachineOptions& options)
      : world_(world), name_(std::move(name)), machine_(*world.simulation, options) {
    network_->choose = [this](std::uint32_t n) { return world_.simulation->Choose(n); };
    network_->on_sent = [this](const HttpRequest& request) { OnSent(request); };
    network_->on_answered = [this](const HttpRequest& request, TimePoint sent, int status) {
      if (request.method != "GET" && IsLease(request) && status < 300 && Holds(request)) {
        until_ = std::max(until_, sent + world_.options.renew_deadline);
      }
    };
    connection_.emplace(Connection::Over({.transport = MakeShared<NetworkTransport>(
                                              network_, machine_.executor(), world.simulation->clock(), world.server),
                                          .executor = machine_.executor(),
                                          .observer = NullObserver()}));
  }

  // Requests may end later than this.
  ~Manager() {
    network_->choose = [](std::uint32_t) { return 0u; };
    network_->on_sent = [](const HttpRequest&) {};
    network_->on_answered = [](const HttpRequest&, TimePoint, int) {};
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  test_support::Machine& machine() { return machine_; }
  Network& network() { return *network_; }
  const std::string& name() const { return name_; }
  bool running() const { return running_; }
  bool leads() const { return elector_ && elector_->IsLeader(); }

  void Start() {
    if (running_) return;
    running_ = true;
    stop_ = {};
    term_ = name_ + "-" + std::to_string(++terms_);
    until_ = TimePoint::min();
    world_.log("start " + term_);
    machine_.executor()->Blocking("manager " + term_, [this] { Live(); });
  }
  void Stop() { stop_.request_stop(); }

 private:
  static bool IsLease(const HttpRequest& request) { return request.path.find("/leases") != std::string::npos; }
  bool Holds(const HttpRequest& request) const {
    return request.body.find("\"holderIdentity\":\"" + term_ + "\"") != std::string::npos;
  }

  void OnSent(const HttpRequest& request) {
    if (request.method == "GET") return;
    if (IsLease(request)) {
      if (request.body.find("\"holderIdentity\":\"\"") != std::string::npos && workers_ > 0) {
        world_.fail("E4", term_ + " releases the lease, and " + std::to_string(workers_) + " workers are running");
      }
      return;
    }
    const TimePoint now = machine_.clock()->NowWithSuspend();
    if (now >= until_) {
      world_.fail("E1", term_ + " writes " + std::to_string((now - until_) / std::chrono::milliseconds(1)) +
                            " ms after its renew deadline");
    }
    if (world_.writing == term_) return;
    if (std::find(world_.over.begin(), world_.over.end(), term_) != world_.over.end()) {
      world_.fail("E2", term_ + " writes, and " + world_.writing + " has begun to write");
    }
    if (!world_.writing.empty()) world_.over.push_back(world_.writing);
    world_.writing = term_;
    world_.log(term_ + " begins to write");
  }

  void Live() {
    LeaderElectionOptions options = world_.options;
    options.identity = term_;
    elector_.emplace(Must(LeaderElector::New(*connection_, options)));
    Result<void> how = elector_->Acquire(stop_.get_token());
    if (how) how = Lead();
    world_.log(term_ + " ends: " + (how ? std::string("stopped") : how.error().ToString()));
    elector_.reset();
    running_ = false;
  }

  Result<void> Lead() {
    world_.log(term_ + " leads");
    std::stop_source work;
    const Shared<Waiter> ended = machine_.executor()->MakeWaiter("workers of " + term_);
    const Connection guarded = connection_->With(elector_->guard());
    for (std::uint32_t n = 1 + world_.simulation->Choose(2); n > 0; --n) {
      ++workers_;
      machine_.executor()->Blocking("worker of " + term_, [this, guarded, ended, stop = work.get_token()] {
        Work(guarded, stop);
        if (--workers_ == 0) ended->Notify();
      });
    }
    const Result<void> lost = elector_->WaitUntilLost(stop_.get_token());
    work.request_stop();
    // Workers may take longer than a manager is willing to wait; then the Lease expires.
    const Nanos grace = world_.simulation->Choose(2) == 0 ? std::chrono::seconds(30) : std::chrono::seconds(3);
    const bool in_time = static_cast<bool>(ended->Wait({}, machine_.clock()->Now() + grace));
    if (lost && in_time) (void)elector_->Release();
    if (!in_time) elector_.reset();
    if (!in_time) (void)ended->Wait();
    return lost;
  }

  void Work(const Connection& guarded, const std::stop_token& stop) {
    // A worker may write for a while after it should have ended.
    int more = world_.simulation->Choose(3) == 0 ? static_cast<int>(world_.simulation->Choose(8)) : 0;
    while (!stop.stop_requested() || more-- > 0) {
      (void)guarded.Call({.method = "PUT",
                          .path = "/api/v1/namespaces/default/configmaps/work",
                          .content_type = "application/json",
                          .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"work"},"data":{"by":")" +
                                  term_ + "\"}}",
                          .timeout = std::chrono::seconds(3)});
      if (world_.calm && stop.stop_requested()) return;
      Pause();
    }
  }

  void Pause() {
    using namespace std::chrono_literals;
    const Nanos left = until_ - machine_.clock()->NowWithSuspend();
    const Nanos pace = left > 1s || left < -2s ? 1s : 1ms * (20 + world_.simulation->Choose(100));
    const Shared<Waiter> waiter = machine_.executor()->MakeWaiter("pause of " + term_);
    const Timer timer = machine_.clock()->After(pace, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    (void)waiter->Wait();
  }

  ElectionWorld& world_;
  const std::string name_;
  test_support::Machine machine_;
  const Shared<Network> network_ = MakeShared<Network>();
  std::optional<Connection> connection_{};
  std::optional<LeaderElector> elector_{};
  std::stop_source stop_{};
  std::string term_{};
  int terms_ = 0, workers_ = 0;
  bool running_ = false;
  TimePoint until_{};  // the renew deadline, as far as the network shows
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_MANAGER_H_
