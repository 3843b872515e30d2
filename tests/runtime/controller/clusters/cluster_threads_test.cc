// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Clusters on real threads: how many they hold, and what they do while all of them come and go at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/execution/thread_pool.h"
#include "kgen/client/config.h"
#include "kgen/controller/clusters.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using k8s::core::v1::ConfigMap;

template <typename Done>
bool Eventually(Done done) {
  for (const TimePoint end = SystemClock()->Now() + std::chrono::seconds(60); SystemClock()->Now() < end;) {
    if (done()) return true;
    std::this_thread::yield();
  }
  return false;
}

class ClusterThreadsTest : public ::testing::Test {
 protected:
  ClustersOptions Options() {
    ClustersOptions options;
    options.connect = [this](const rest::Config& config) -> Result<Connection> {
      return server_.Connection(config.observer);
    };
    return options;
  }
  static rest::Config ConfigOf(int i) { return {.host = "https://c" + std::to_string(i)}; }
  static std::string NameOf(int i) { return "c" + std::to_string(i); }
  std::size_t Running(const Clusters& clusters) const {
    const std::vector<ClusterStatus> all = clusters.status();
    return static_cast<std::size_t>(std::ranges::count(all, ClusterStatus::State::kRunning, &ClusterStatus::state));
  }

  testing::Cluster server_{{.simulated = false, .observer = NullObserver()}};  // all of them
};

TEST_F(ClusterThreadsTest, HoldNoThreadWhileTheyHaveNothingToDo) {
  constexpr int kClusters = 150;
  Must(server_.Add(ConfigMap{.metadata = {.name = "only", .namespace_ = "default"}}));
  const Manager home = Must(Manager::New(server_.Connection()));
  const Clusters clusters = Must(Clusters::New(home, Options()));
  std::atomic<int> calls = 0;
  Must(clusters.Each([&](const Manager& cluster) -> Result<void> {
    for (const char* const name : {"first", "second"}) {
      auto added =
          cluster.Control<ConfigMap>(name).Reconcile([&](Request&) -> Result<void> { return ++calls, Result<void>(); });
      if (!added) return Fail(added.error());
    }
    return {};
  }));
  for (int i = 0; i < kClusters; ++i) Must(clusters.Add(NameOf(i), ConfigOf(i)));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = home.Run(stop.get_token()); });
  EXPECT_TRUE(Eventually([&] { return Running(clusters) == kClusters && calls >= 2 * kClusters; }));
  // Two controllers and the manager of each would hold 450 threads.
  // Those that the start has taken end after ten seconds.
  EXPECT_TRUE(Eventually([] { return detail::CensusOf(*DefaultExecutor()).blocking < 60; }))
      << detail::CensusOf(*DefaultExecutor()).blocking;
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

TEST_F(ClusterThreadsTest, ComeAndGoOnSeveralThreadsAtOnce) {
  Must(server_.Add(ConfigMap{.metadata = {.name = "only", .namespace_ = "default"}}));
  const Manager home = Must(Manager::New(server_.Connection()));
  const Clusters clusters = Must(Clusters::New(home, Options()));
  const auto held = std::make_shared<int>();
  Must(clusters.Each([held](const Manager& cluster) -> Result<void> {
    auto added = cluster.Control<ConfigMap>("maps").Reconcile([held, cluster](Request&) -> Result<void> { return {}; });
    return added ? Result<void>() : Fail(added.error());
  }));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = home.Run(stop.get_token()); });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 60; ++i) {
          const int n = t * 10 + i % 10;
          if (Result<void> added = clusters.Add(NameOf(n), ConfigOf(n)); !added) Must(clusters.Remove(NameOf(n)));
          if (i % 7 == 0) (void)clusters.status();
          if (i % 5 == 0) (void)home.metrics().Text();
        }
      });
    }
  }
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
  EXPECT_TRUE(Eventually([&] { return held.use_count() == 1; })) << held.use_count();
}

}  // namespace
}  // namespace kgen
