// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Two hundred clusters in virtual time, which come, go, fail, hang and are mended at random; and a thousand that come
// and go.
#include <set>

#include "kgen/core/memory.h"
#include "tests/runtime/controller/clusters/clusters_fixture.h"
#include "tests/runtime/controller/clusters/live_allocations.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;

class ClustersPropertyTest : public ClustersTest {
 protected:
  static constexpr std::uint32_t kClusters = 200;

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  static std::string NameOf(std::uint32_t i) { return "c" + std::to_string(i); }

  // Every call is for an object of the cluster that it names: each ConfigMap has the name of its own.
  Result<void> Check(const Manager& cluster) {
    auto added = cluster.Control<ConfigMap>("maps").Reconcile([this](Request& request) -> Result<void> {
      const std::string name(request.cluster());
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      if (!map) return {};
      if (map->metadata.labels["home"] != std::string_view(name))
        wrong_.push_back(name + " got " + request.key().str());
      if (map->metadata.annotations.contains("cluster")) return {};
      ConfigMap copy = *map;
      copy.metadata.annotations["cluster"] = String(name);
      KGEN_TRY(const auto updated, request.client().Update(copy));
      return {};
    });
    return added ? Result<void>() : Fail(added.error());
  }
  void AddOwn(const std::string& name) {
    ConfigMap map{.metadata = {.name = "m" + std::to_string(++maps_[name]), .namespace_ = "default"}};
    map.metadata.labels["home"] = String(name);
    Must(Server(name).Add(map));
  }
  void Disturb(const std::string& name) {
    switch (Choose(5)) {
      case 0:
        return Server(name).Inject({.times = testing::kAlways, .refuse = true});
      case 1:
        return Server(name).Inject({.times = testing::kAlways, .status = 401});
      case 2:
        return Server(name).Inject({.times = testing::kAlways, .stall = true});
      case 3:
        return Server(name).Inject({.times = testing::kAlways, .status = 503});
      default:
        return Server(name).CutWatches();
    }
  }
  void Act(const Clusters& clusters) {
    const std::string name = NameOf(Choose(kClusters));
    switch (Choose(6)) {
      case 0:
        if (present_.insert(name).second) Must(clusters.Add(name, ConfigOf(name)));
        return;
      case 1:
        if (present_.erase(name) > 0) Must(clusters.Remove(name));
        return;
      case 2:
        disturbed_.insert(name);
        return Disturb(name);
      case 3:
        disturbed_.erase(name);
        Server(name).ClearFaults();
        return Server(name).Restart();  // ends the requests that hang
      case 4:
        if (present_.contains(name)) Must(clusters.Update(name, ConfigOf(name, "t" + std::to_string(Choose(9)))));
        return;
      default:
        return AddOwn(name);
    }
  }

  std::set<std::string> present_, disturbed_;
  std::map<std::string, int> maps_;
  std::vector<std::string> wrong_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, ClustersPropertyTest, ::testing::Range<std::uint64_t>(0, 20));

TEST_P(ClustersPropertyTest, ReconcileEveryObjectInItsOwnClusterWhateverHappensToOthers) {
  const Manager home = New();
  ClustersOptions options = Options();
  options.longest_pause = 30s;
  const Clusters clusters = Make(home, options);
  Must(clusters.Each([this](const Manager& cluster) { return Check(cluster); }));
  for (std::uint32_t i = 0; i < kClusters; ++i) {
    AddOwn(NameOf(i));
    if (Choose(2) == 0) {
      present_.insert(NameOf(i));
      Must(clusters.Add(NameOf(i), ConfigOf(NameOf(i))));
    }
  }
  const Ran ran = Spawn(home);
  for (int step = 0; step < 400; ++step) {
    Act(clusters);
    if (Choose(4) == 0) cluster_.Advance(Nanos(std::chrono::milliseconds(Choose(5000))));
  }
  // The reachable ones do not wait for the others.
  cluster_.Advance(3min);
  EXPECT_FALSE(ran.done());
  for (const std::string& name : present_) {
    if (disturbed_.contains(name)) continue;
    for (int i = 1; i <= maps_[name]; ++i) {
      ASSERT_EQ(MarkOf(Server(name), "m" + std::to_string(i)), name) << StateOf(clusters, name);
    }
  }
  EXPECT_THAT(wrong_, ::testing::IsEmpty());
  for (const ClusterStatus& each : clusters.status()) EXPECT_TRUE(present_.contains(each.name)) << each.name;
  End(ran);
  EXPECT_THAT(clusters.status(), ::testing::IsEmpty());
  EXPECT_EQ(cluster_.simulation().census().blocking, 0u) << cluster_.simulation().WhoWaits();
}

TEST_P(ClustersPropertyTest, LeaveNothingBehindAfterAThousandAdditionsAndRemovals) {
  AddOwn("c0");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each([this](const Manager& cluster) { return Check(cluster); }));
  const Ran ran = Spawn(home);
  Settle();
  const auto cycle = [&](int n) {
    for (int i = 0; i < n; ++i) {
      Must(clusters.Add("c0", ConfigOf("c0")));
      if (i % 3 != 0) Settle();  // or it goes before it has come
      Must(clusters.Remove("c0"));
      Settle();
      configs_.clear();
      told_->logged.clear();
    }
    cluster_.Advance(2min);  // what the simulated server and transport keep for a while
  };
  cycle(20);
  const std::int64_t live = testing::LiveAllocations(), blocks = LiveBlocks();
  const testing::Simulation::Census census = cluster_.simulation().census();
  cycle(GetParam() == 0 ? 1000 : 50);
  EXPECT_LE(testing::LiveAllocations() - live, 100);
  EXPECT_LE(LiveBlocks() - blocks, 20);
  EXPECT_EQ(cluster_.simulation().census().blocking, census.blocking) << cluster_.simulation().WhoWaits();
  EXPECT_EQ(cluster_.simulation().census().timers, census.timers);
  End(ran);
}

}  // namespace
}  // namespace kgen
