// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 09: shards. Two replicas of one controller divide the namespaces between them. When one leaves, the other gets its
// part. A process would make one manager, from a Config, and pass kgen::StopOnSignals() to Run().
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/controller/manager.h>
#include <kgen/core/try.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

using k8s::core::v1::ConfigMap;
using std::chrono_literals::operator""s;

namespace {

// Writes into each ConfigMap which replica has greeted it.
struct Replica {
  Replica(kgen::testing::Cluster& cluster, const std::string& name)
      : manager(kgen::Must(kgen::Manager::New(
            cluster.Connection(), {.name = "greeter", .shards = {.name = "greeter", .namespace_ = "kube-system"}}))) {
    kgen::Must(manager.Control<ConfigMap>("greeter").Reconcile([name](kgen::Request& request) -> kgen::Result<void> {
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      if (!map || map->data["by"] == name) return {};
      ConfigMap changed = *map;
      changed.data["by"] = name;
      changed.data["fence"] = std::to_string(request.fence());  // for a system that is not the API server
      return kgen::Discard(request.client().Update(changed));
    }));
    running = cluster.simulation().Spawn([this] { return manager.Run(stop.get_token()); });
  }

  kgen::Manager manager;
  std::stop_source stop{};
  std::optional<kgen::testing::TaskResult<kgen::Result<void>>> running{};
};

std::size_t GreetedBy(const kgen::testing::Cluster& cluster, std::string_view name) {
  std::size_t count = 0;
  for (const std::string& json : cluster.List("configmaps")) {
    if (kgen::Must(kgen::Decode<ConfigMap>(json)).data["by"] == name) ++count;
  }
  return count;
}

TEST(ShardsExample, ReplicasDivideTheNamespaces) {
  kgen::testing::Cluster cluster({.seed = 1, .observer = kgen::NullObserver()});
  for (int i = 0; i < 40; ++i) {
    kgen::Must(cluster.Add(ConfigMap{.metadata = {.name = "hello", .namespace_ = "team-" + std::to_string(i)}}));
  }
  Replica red(cluster, "red");
  Replica blue(cluster, "blue");
  cluster.Advance(120s);  // the first map takes a lease duration; then the parts are balanced by what is in them
  EXPECT_GE(GreetedBy(cluster, "red"), 10u);
  EXPECT_GE(GreetedBy(cluster, "blue"), 10u);

  red.stop.request_stop();
  cluster.Advance(5s);
  EXPECT_TRUE(red.running->done() && red.running->result());
  EXPECT_EQ(GreetedBy(cluster, "blue"), 40u);

  blue.stop.request_stop();
  cluster.Advance(5s);
  EXPECT_TRUE(blue.running->done() && blue.running->result());
}

}  // namespace
