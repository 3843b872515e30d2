// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <stop_token>
#include <string>

#include "kgen/controller/manager.h"
#include "kgen/testing/cluster.h"

namespace guides {
namespace {

// begin options
kgen::ManagerOptions ElectedOptions(std::string in_namespace) {
  return {.name = "shop",
          .leader_election = {.name = "shop", .namespace_ = std::move(in_namespace)}};  // "": the pod's own
}
// end options

// begin standby
kgen::Result<void> AddWork(const kgen::Manager& manager) {
  // In every replica: it needs no leader.
  if (auto done = manager.Add("listener", [](const std::stop_token&) -> kgen::Result<void> { return {}; },
                              {.need_leader_election = false});
      !done) {
    return done;
  }
  // In the leader only.
  return manager.Add("report", [manager](const std::stop_token&) -> kgen::Result<void> {
    return manager.IsLeader() ? kgen::Result<void>() : kgen::Fail(kgen::Code::kInternal, "does not lead");
  });
}
// end standby

TEST(LeaderElectionGuide, TheSecondReplicaTakesOverAsSoonAsTheFirstEnds) {
  kgen::testing::Cluster cluster({.seed = 1, .observer = kgen::NullObserver()});
  const auto first = kgen::Must(kgen::Manager::New(cluster.Connection(), ElectedOptions("default")));
  const auto second = kgen::Must(kgen::Manager::New(cluster.Connection(), ElectedOptions("default")));
  kgen::Must(AddWork(first));
  std::stop_source stop_first, stop_second;
  const auto running_first = cluster.simulation().Spawn([&] { return first.Run(stop_first.get_token()); });
  cluster.Advance(std::chrono::seconds(3));
  const auto running_second = cluster.simulation().Spawn([&] { return second.Run(stop_second.get_token()); });
  cluster.Advance(std::chrono::seconds(20));
  EXPECT_TRUE(first.IsLeader());
  EXPECT_FALSE(second.IsLeader());

  stop_first.request_stop();
  cluster.Advance(std::chrono::seconds(5));
  EXPECT_TRUE(running_first.done() && running_first.result());
  EXPECT_TRUE(second.IsLeader());
  stop_second.request_stop();
  cluster.RunUntilIdle();
  EXPECT_TRUE(running_second.done() && running_second.result());
}

}  // namespace
}  // namespace guides
