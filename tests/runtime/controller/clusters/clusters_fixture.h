// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A home cluster and others, in memory and in one virtual time.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_CLUSTERS_CLUSTERS_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_CLUSTERS_CLUSTERS_FIXTURE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/controller/clusters.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {

class ClustersTest : public ManagerTest {
 protected:
  ~ClustersTest() override { stop_.request_stop(); }

  testing::Cluster& Server(std::string_view name) {
    std::unique_ptr<testing::Cluster>& server = servers_[std::string(name)];
    if (!server) {
      server = std::make_unique<testing::Cluster>(
          testing::ClusterOptions{.simulation = &cluster_.simulation(), .observer = NullObserver()});
    }
    return *server;
  }
  static rest::Config ConfigOf(std::string_view name, std::string_view token = "first") {
    rest::Config config;
    config.host = "https://" + std::string(name) + ".example:6443";
    config.bearer_token = token;
    return config;
  }
  ClustersOptions Options() {
    ClustersOptions options;
    options.manager.graceful_shutdown_timeout = std::chrono::seconds(10);
    options.connect = [this](const rest::Config& config) -> Result<Connection> {
      const std::string name = config.host.substr(8, config.host.find('.') - 8);
      configs_.push_back(config);
      const auto found = servers_.find(name);
      if (found == servers_.end()) return Fail(Code::kUnavailable, "no route to " + config.host);
      return found->second->Connection(config.observer);
    };
    return options;
  }
  Clusters Make(const Manager& home, ClustersOptions options) { return Must(Clusters::New(home, std::move(options))); }

  using ManagerTest::AddMap;
  static void AddMap(testing::Cluster& server, std::string_view name) {
    Must(server.Add(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}, .data = {{"kind", "source"}}}));
  }
  // A controller that writes an annotation to each ConfigMap of its own cluster.
  static Result<void> Mark(const Manager& cluster) {
    auto added = cluster.Control<ConfigMap>("maps").Reconcile([](Request& request) -> Result<void> {
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      if (!map || map->metadata.annotations.contains("cluster")) return {};
      ConfigMap copy = *map;
      copy.metadata.annotations["cluster"] = String(request.cluster());
      KGEN_TRY(const auto updated, request.client().Update(copy));
      return {};
    });
    if (!added) return Fail(added.error());
    return {};
  }
  static std::string MarkOf(testing::Cluster& server, std::string_view name) {
    const ConfigMap map = Must(Decode<ConfigMap>(Must(server.Get("configmaps", "default", name))));
    const auto found = map.metadata.annotations.find("cluster");
    return found != map.metadata.annotations.end() ? std::string(found->second.view()) : "";
  }
  static ClusterStatus StatusOf(const Clusters& clusters, std::string_view name) {
    for (ClusterStatus& each : clusters.status()) {
      if (each.name == name) return each;
    }
    return {.name = "none"};
  }
  static std::string StateOf(const Clusters& clusters, std::string_view name) {
    const ClusterStatus status = StatusOf(clusters, name);
    return status.name == "none" ? "none" : std::string(ToString(status.state));
  }
  // Lets the stop end everything, and checks that it did.
  void End(const Ran& ran) {
    stop_.request_stop();
    cluster_.Advance(std::chrono::minutes(1));
    ASSERT_TRUE(ran.done()) << cluster_.simulation().WhoWaits();
    EXPECT_TRUE(ran.result()) << ran.result();
  }

  std::vector<rest::Config> configs_;  // of connections that were made
  std::map<std::string, std::unique_ptr<testing::Cluster>, std::less<>> servers_;
};

}  // namespace kgen

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_CLUSTERS_CLUSTERS_FIXTURE_H_
