// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A manager on the in-memory cluster, in virtual time.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_MANAGER_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_MANAGER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kgen/controller/manager.h"
#include "kgen/testing/cluster.h"

namespace kgen {

// Remembers what an observer is told of reconciles and leases.
struct Told final : Observer {
  void OnReconcileFailed(const ReconcileFailed& e) override {
    if (!e.cluster.empty()) clustered.push_back(std::string(e.cluster) + " " + std::string(e.queue) + " failed");
    failures.push_back(e.error->ToString());
    reconciles.push_back(std::string(e.queue) + " " + std::string(e.key) + ": " + e.error->message() +
                         (e.terminal ? " (terminal)" : ""));
  }
  void OnRelisted(const Relisted& e) override { ++lists[std::string(e.cluster)]; }
  void OnLogged(const Logged& e) override {
    if (!e.cluster.empty()) {
      clustered.push_back(std::string(e.cluster) + " " + std::string(e.source) + ": " + std::string(e.message));
    }
    logged.push_back(std::string(e.source) + " " + std::string(e.key) + " " + std::string(ToString(e.level)) + " " +
                     std::string(e.id) + ": " + std::string(e.message));
    for (const LogField& field : e.fields) {
      logged.back().append(" ").append(field.key).append("=").append(field.value.ToString());
    }
  }
  void OnHandlerFailed(const HandlerFailed& e) override {
    handlers.emplace_back(e.what);
    thrown.push_back(std::string(e.informer) + ": " + std::string(e.what));
  }
  void OnRecovered(const Recovered& e) override {
    recoveries.push_back(std::string(e.source) + " " + std::string(e.key) + " after " + std::to_string(e.failures));
  }
  std::vector<std::string> reconciles, failures, logged, handlers, thrown, recoveries;
  std::vector<std::string> clustered;  // what is about one of several clusters
  std::map<std::string, int> lists;    // by cluster
};

class ManagerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  using ConfigMap = k8s::core::v1::ConfigMap;
  using Deployment = k8s::apps::v1::Deployment;
  using ReplicaSet = k8s::apps::v1::ReplicaSet;
  using Ran = testing::TaskResult<Result<void>>;

  ManagerTest() : ManagerTest(testing::ClusterOptions{}) {}
  explicit ManagerTest(testing::ClusterOptions options)
      : told_(MakeShared<Told>()), cluster_([&] {
          options.seed = GetParam();
          options.observer = told_;
          return options;
        }()) {}
  ~ManagerTest() override { stop_.request_stop(); }

  Manager New(ManagerOptions options = {}) { return Must(Manager::New(cluster_.Connection(), std::move(options))); }
  Ran Spawn(const Manager& manager) {
    return cluster_.simulation().Spawn([manager, stop = stop_.get_token()] { return manager.Run(stop); });
  }
  // Runs until nothing happens any more.
  void Settle() { cluster_.RunUntilIdle(); }
  // Ends Run() and checks that it succeeded.
  void Stop(const Ran& ran) {
    stop_.request_stop();
    Settle();
    ASSERT_TRUE(ran.done()) << cluster_.simulation().WhoWaits();
    EXPECT_TRUE(ran.result()) << ran.result();
  }
  void AddMap(std::string_view name, std::string_view value = "") {
    Must(cluster_.Add(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}, .data = {{"value", value}}}));
  }
  void UpdateMap(std::string_view name, std::string_view value) {
    Must(cluster_.Update(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}, .data = {{"value", value}}}));
  }
  void AddDeployment(std::string_view name) {
    Must(cluster_.Add(testing::MinimalObject("apps/v1", "Deployment", "default", name)));
  }
  // Blocks the calling thread of the simulation.
  Result<void> Pause(Nanos duration, std::stop_token stop = {}) {
    const auto waiter = cluster_.simulation().executor()->MakeWaiter("pause");
    const Timer timer =
        cluster_.simulation().clock()->After(duration, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    return waiter->Wait(std::move(stop));
  }
  void WaitForStop(const std::stop_token& stop) {
    (void)cluster_.simulation().executor()->MakeWaiter("the stop")->Wait(stop);
  }
  TimePoint Now() { return cluster_.simulation().clock()->Now(); }

  Shared<Told> told_;
  std::vector<std::string> calls_;  // before the cluster, whose threads write to it
  testing::Cluster cluster_;
  std::stop_source stop_;
};

inline std::string Text(const Request& request) {
  std::string text = request.key().str();
  for (const RequestReason& each : request.reasons()) {
    text += ' ' + std::string(ToString(each.cause));
    if (each.object != request.key()) text += '(' + std::string(each.kind) + ' ' + each.object.str() + ')';
  }
  return text;
}

}  // namespace kgen

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_MANAGER_FIXTURE_H_
