// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Managers that divide their work, in virtual time, against the in-memory cluster. tests/simulation has them under
// random faults.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kgen/controller/leader_election.h"
#include "kgen/core/try.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t kTeams = 8;

class ShardedManagerTest : public ManagerTest {
 protected:
  using Namespace = k8s::core::v1::Namespace;

  // With an even seed the server filters.
  ShardedManagerTest() : ManagerTest(testing::ClusterOptions{.sharded_lists = GetParam() % 2 == 0}) {}

  // A replica with one controller of ConfigMaps.
  struct Replica {
    std::optional<Manager> manager{};
    std::stop_source stop{};
    std::optional<Ran> ran{};
    std::vector<std::string> calls{};  // namespaces
    std::vector<std::string> reasons{};
    std::map<std::string, std::uint64_t> fences{};
    std::vector<std::string> reads{};
  };

  // One namespace with one ConfigMap in each part of the hashes.
  void AddTeams() {
    int tried = 0;
    for (std::size_t i = 0; i < kTeams; ++i) {
      std::string name;
      do {
        name = "team-" + std::to_string(++tried * 7919);
      } while (ShardHash(name) / (UINT64_MAX / kTeams + 1) != i);
      teams_.push_back(name);
      Must(cluster_.Add(ConfigMap{.metadata = {.name = "map", .namespace_ = name}}));
    }
  }
  static ManagerOptions OptionsOf(std::string identity) {
    return {.name = "teams",
            .shards = {.name = "teams", .namespace_ = "default", .identity = std::move(identity), .drain_limit = 5s}};
  }
  Replica& Add(const std::string& identity) {
    Replica& replica = *replicas_.emplace_back(std::make_unique<Replica>());
    replica.manager = New(OptionsOf(identity));
    return replica;
  }
  void Control(Replica& replica) {
    Must(replica.manager->Control<ConfigMap>("teams").Reconcile([&replica](Request& request) -> Result<void> {
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      replica.calls.push_back(request.key().namespace_.str());
      replica.reasons.push_back(Text(request));
      replica.fences[request.key().namespace_.str()] = request.fence();
      return {};
    }));
  }
  void Run(Replica& replica) {
    replica.ran = cluster_.simulation().Spawn(
        [manager = *replica.manager, stop = replica.stop.get_token()] { return manager.Run(stop); });
  }
  Replica& Start(const std::string& identity) {
    Replica& replica = Add(identity);
    Control(replica);
    Run(replica);
    return replica;
  }
  void EndAll() {
    for (const auto& each : replicas_) each->stop.request_stop();
    cluster_.Advance(60s);
    for (const auto& each : replicas_) {
      if (!each->ran) continue;
      ASSERT_TRUE(each->ran->done()) << cluster_.simulation().WhoWaits();
      EXPECT_TRUE(each->ran->result()) << each->ran->result();
    }
  }
  static std::set<std::string> Set(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }
  // A namespace that a replica works on, or does not.
  std::string TeamOf(const Replica& replica, bool owned) const {
    const ShardRanges working = replica.manager->shards()->working;
    for (const std::string& team : teams_) {
      if (working.Contains(ShardHash(team)) == owned) return team;
    }
    return "";
  }

  std::vector<std::string> teams_{};
  std::vector<std::unique_ptr<Replica>> replicas_{};
};

TEST_P(ShardedManagerTest, EachObjectIsReconciledByOneReplica) {
  AddTeams();
  Replica& a = Start("a");
  Replica& b = Start("b");
  cluster_.Advance(60s);
  EXPECT_LE(a.calls.size() + b.calls.size(), kTeams * 3 / 2);  // one may have been alone at first
  std::set<std::string> called = Set(a.calls);
  called.merge(Set(b.calls));
  EXPECT_THAT(called, SizeIs(kTeams));
  a.calls.clear();
  b.calls.clear();
  for (const std::string& team : teams_) {
    Must(cluster_.Update(ConfigMap{.metadata = {.name = "map", .namespace_ = team}, .data = {{"value", "new"}}}));
  }
  cluster_.Advance(5s);
  EXPECT_EQ(a.calls.size() + b.calls.size(), kTeams);
  EXPECT_EQ(a.manager->shards()->server_filters, GetParam() % 2 == 0);
  const ShardRanges mine = a.manager->shards()->working;
  for (const std::string& team : a.calls) EXPECT_TRUE(mine.Contains(ShardHash(team)));
  for (const std::string& team : b.calls) EXPECT_FALSE(mine.Contains(ShardHash(team)));
  EndAll();
}

TEST_P(ShardedManagerTest, TheFirstMapDividesNamespacesWhoseHashesAreClose) {
  for (std::size_t i = 0; i < kTeams; ++i) {
    teams_.push_back("team-0" + std::to_string(i));
    ASSERT_EQ(ShardHash(teams_[i]) >> 60, ShardHash(teams_[0]) >> 60);
    for (const char* name : {"map", "other"}) {
      Must(cluster_.Add(ConfigMap{.metadata = {.name = name, .namespace_ = teams_[i]}}));
    }
  }
  // They come at once, so the first map has both, and nothing is handed over.
  Replica& a = Start("a");
  Replica& b = Start("b");
  cluster_.Advance(120s);
  EXPECT_EQ(a.calls.size(), kTeams);
  EXPECT_EQ(b.calls.size(), kTeams);
  EXPECT_EQ(a.manager->shards()->epoch, 1u);
  EndAll();
}

TEST_P(ShardedManagerTest, NothingMovesTwiceWhenAReplicaJoinsOrLeaves) {
  for (int i = 0; i < 24; ++i) {
    teams_.push_back("team-" + std::to_string(10 + i));
    for (int n = 0; n <= i % 3; ++n) {
      Must(cluster_.Add(ConfigMap{.metadata = {.name = "map-" + std::to_string(n), .namespace_ = teams_.back()}}));
    }
  }
  Replica& a = Start("a");
  Replica& b = Start("b");
  cluster_.Advance(60s);
  EXPECT_EQ(a.manager->shards()->epoch, 1u);
  Start("c");
  cluster_.Advance(120s);
  EXPECT_EQ(a.manager->shards()->epoch, 2u) << "after a join";
  b.stop.request_stop();
  cluster_.Advance(120s);
  EXPECT_LE(a.manager->shards()->epoch, 4u) << "one map without its ranges, and one without itself";
  EndAll();
}

TEST_P(ShardedManagerTest, WhoeverRemainsGetsEveryObjectOfAReplicaThatLeaves) {
  AddTeams();
  Replica& a = Start("a");
  Replica& b = Start("b");
  cluster_.Advance(60s);
  std::map<std::string, std::uint64_t> before = a.fences;
  const ShardRanges working = a.manager->shards()->working;
  std::erase_if(before, [&](const auto& each) { return !working.Contains(ShardHash(each.first)); });
  ASSERT_FALSE(before.empty());
  b.calls.clear();
  b.reasons.clear();
  a.stop.request_stop();
  cluster_.Advance(6s);
  ASSERT_TRUE(a.ran->done()) << cluster_.simulation().WhoWaits();
  EXPECT_TRUE(a.ran->result()) << a.ran->result();
  EXPECT_EQ(b.calls.size(), before.size());
  EXPECT_THAT(b.reasons, Each(HasSubstr(" initial")));
  for (const auto& [team, fence] : before) EXPECT_GT(b.fences[team], fence) << team;
  EXPECT_EQ(b.manager->shards()->working, ShardRanges::All());
  EndAll();
}

TEST_P(ShardedManagerTest, ACallThatRunsIsWaitedFor) {
  AddTeams();
  Replica& a = Add("a");
  bool running = false, ended = false, overlapped = false;
  Must(a.manager->Control<ConfigMap>("teams").Reconcile([&](Request& request) -> Result<void> {
    if (!std::exchange(running, true)) {
      (void)Pause(23s, request.stop());  // the first call begins after 15 s or so
      KGEN_TRY(const auto map,
               request.client().Patch(ConfigMap{.metadata = {.name = "map", .namespace_ = request.key().namespace_}},
                                      MergePatch(R"({"data":{"by":"a"}})")));
      ended = true;
    }
    return {};
  }));
  Run(a);
  cluster_.Advance(25s);
  ASSERT_TRUE(running);
  Replica& b = Add("b");
  Must(b.manager->Control<ConfigMap>("teams").Reconcile([&](Request& request) -> Result<void> {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    b.calls.push_back(request.key().namespace_.str());
    overlapped = overlapped || !ended;
    if (!map->data["by"].empty()) b.reads.push_back(map->data["by"].str());
    return {};
  }));
  Run(b);
  a.stop.request_stop();
  cluster_.Advance(60s);
  EXPECT_TRUE(a.ran->done());
  EXPECT_THAT(Set(b.calls), SizeIs(kTeams));
  EndAll();
}

TEST_P(ShardedManagerTest, AReadOfAnotherShardFails) {
  AddTeams();
  Replica& a = Start("a");
  Start("b");
  cluster_.Advance(60s);
  const CachedClient client = a.manager->client();
  const ObjectKey mine(TeamOf(a, true), "map"), other(TeamOf(a, false), "map");
  const auto read = cluster_.simulation().Spawn([&]() -> Result<void> {
    EXPECT_TRUE(Must(client.Get<ConfigMap>(mine)));
    const auto refused = client.Get<ConfigMap>(other);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().ToString(), AllOf(HasSubstr(other.namespace_.str()), HasSubstr("default/teams-a")));
    EXPECT_TRUE(Must(client.Live().Get<ConfigMap>(other)));
    const auto all = client.List<ConfigMap>();
    EXPECT_FALSE(all);
    EXPECT_EQ(all.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(all.error().ToString(), HasSubstr("held_only"));
    EXPECT_THAT(Must(client.List<ConfigMap>({.namespace_ = mine.namespace_.str()})), SizeIs(1));
    EXPECT_EQ(client.List<ConfigMap>({.namespace_ = other.namespace_.str()}).error().code(), Code::kUnavailable);
    const std::size_t held = Must(client.List<ConfigMap>({.held_only = true})).size();
    EXPECT_GT(held, 0u);
    EXPECT_LT(held, kTeams);
    return {};
  });
  Settle();
  EXPECT_TRUE(read.done());
  EndAll();
}

TEST_P(ShardedManagerTest, AKindThatIsHeldEverywhereIsReadWhole) {
  AddTeams();
  ManagerOptions options = OptionsOf("a");
  options.shards_everywhere = {&ConfigMap::kTable};
  Replica& a = *replicas_.emplace_back(std::make_unique<Replica>());
  a.manager = New(options);
  Control(a);
  Run(a);
  options.shards.identity = "b";
  Replica& b = *replicas_.emplace_back(std::make_unique<Replica>());
  b.manager = New(options);
  Control(b);
  Run(b);
  cluster_.Advance(60s);
  std::set<std::string> called = Set(a.calls);
  called.merge(Set(b.calls));
  EXPECT_THAT(called, SizeIs(kTeams));
  EXPECT_FALSE(a.manager->shards()->working.empty());
  EXPECT_FALSE(b.manager->shards()->working.empty());
  const CachedClient client = a.manager->client();
  const auto read = cluster_.simulation().Spawn([&]() -> std::size_t { return Must(client.List<ConfigMap>()).size(); });
  Settle();
  EXPECT_EQ(read.result(), kTeams);
  EndAll();
}

TEST_P(ShardedManagerTest, AWatchThatMapsToAnotherNamespaceEndsRun) {
  AddTeams();
  Replica& a = Add("a");
  Must(a.manager->Control<Deployment>("shops")
           .Watches<ConfigMap>([](const ConfigMap&, Requests& requests) { requests.Add("default", "shop"); })
           .Reconcile([](Request&) -> Result<void> { return {}; }));
  Run(a);
  cluster_.Advance(60s);
  ASSERT_TRUE(a.ran->done()) << cluster_.simulation().WhoWaits();
  ASSERT_FALSE(a.ran->result());
  EXPECT_EQ(a.ran->result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(a.ran->result().error().ToString(),
              AllOf(HasSubstr("configmaps"), HasSubstr("default/shop"), HasSubstr("shards_everywhere")));
}

TEST_P(ShardedManagerTest, AClusterScopedOwnerOfDividedObjectsIsRefused) {
  const Manager manager = New(OptionsOf("a"));
  const auto refused =
      manager.Control<Namespace>("teams").Owns<ConfigMap>().Reconcile([](Request&) -> Result<void> { return {}; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.error().ToString(), AllOf(HasSubstr("Namespace"), HasSubstr("ConfigMap")));
  ManagerOptions options = OptionsOf("a");
  options.shards_everywhere = {&ConfigMap::kTable};
  EXPECT_TRUE(New(options).Control<Namespace>("teams").Owns<ConfigMap>().Reconcile(
      [](Request&) -> Result<void> { return {}; }));
}

TEST_P(ShardedManagerTest, OneReplicaReconcilesClusterScopedObjects) {
  AddTeams();
  std::set<std::string> called;
  std::size_t calls = 0;
  for (const char* identity : {"a", "b"}) {
    Replica& replica = Add(identity);
    Must(replica.manager->Control<Namespace>("teams").Reconcile([&](Request& request) -> Result<void> {
      KGEN_TRY(const auto team, request.Get<Namespace>());
      EXPECT_TRUE(team);
      called.insert(request.key().name.str());
      ++calls;
      return {};
    }));
    Run(replica);
  }
  cluster_.Advance(60s);
  EXPECT_THAT(called, SizeIs(cluster_.List("namespaces").size()));
  EXPECT_LE(calls, called.size() * 2);  // all may have gone to another replica at once
  EndAll();
}

TEST_P(ShardedManagerTest, OptionsThatDoNotFitAreRefused) {
  const auto why = [&](ManagerOptions options) {
    const auto made = Manager::New(cluster_.Connection(), std::move(options));
    return made ? std::string() : made.error().ToString();
  };
  EXPECT_THAT(why({.shards = {.namespace_ = "default"}}), HasSubstr("no name"));
  EXPECT_THAT(why({.shards_everywhere = {&ConfigMap::kTable}}), HasSubstr("no name"));
  EXPECT_THAT(why({.shards = {.name = "a", .namespace_ = "default", .by = ShardBy::kUid}}),
              AllOf(HasSubstr("kNamespace"), HasSubstr("ShardMember")));
  EXPECT_THAT(why({.leader_election = {.name = "a", .namespace_ = "default"},
                   .shards = {.name = "a", .namespace_ = "default"}}),
              HasSubstr("the same name"));
  EXPECT_THAT(why({.shards = {.name = "a", .namespace_ = "default"},
                   .caches = {.defaults = {.warm_start = WarmStart{.folder = "saved"}}}}),
              HasSubstr("warm_start"));
}

TEST_P(ShardedManagerTest, ItsRulesHaveTheLeasesOfTheGroup) {
  const Manager manager = New(OptionsOf("a"));
  EXPECT_THAT(manager.Rules(),
              Contains(AccessRule{
                  "default", "coordination.k8s.io", "leases", "", {"get", "list", "create", "update", "delete"}}));
  EXPECT_TRUE(manager.shards());
  EXPECT_FALSE(New({.name = "plain"}).shards());
}

// From many to one: the Lease of the shards is the one of the election.
TEST_P(ShardedManagerTest, AnElectionForItsLeaseWaitsUntilAllMembersHaveLeft) {
  AddTeams();
  Replica& a = Start("a");
  Replica& b = Start("b");
  cluster_.Advance(60s);
  const Manager leader =
      New({.name = "leader", .leader_election = {.name = "teams", .namespace_ = "default", .identity = "leader"}});
  std::stop_source stop;
  const auto ran = cluster_.simulation().Spawn([&] { return leader.Run(stop.get_token()); });
  a.stop.request_stop();
  cluster_.Advance(30s);
  ASSERT_TRUE(a.ran->done());
  EXPECT_FALSE(leader.IsLeader());
  b.stop.request_stop();
  cluster_.Advance(30s);
  ASSERT_TRUE(b.ran->done());
  EXPECT_TRUE(leader.IsLeader());
  stop.request_stop();
  cluster_.Advance(30s);
  EXPECT_TRUE(ran.done());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShardedManagerTest, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace kgen
