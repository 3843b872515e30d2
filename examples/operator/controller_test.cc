// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the operator on the API server in memory, in virtual time, and with each seed in another order. That server
// runs no controllers: stateful_sets.h plays the StatefulSet controller, scheduler, kubelet and garbage collector.
#include "controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/events/v1/client.h>
#include <k8s/events/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <kgen/client/crd.h>
#include <kgen/controller/owners.h>
#include <kgen/core/conditions.h>
#include <kgen/testing/cluster.h>
#include <storage/clientset.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/store_v1.h"
#include "objects.h"
#include "stateful_sets.h"

using k8s::apps::v1::StatefulSet;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Pod;
using storage::kv::v1::Store;
using storage::kv::v1::StoreSpec;
using storage::kv::v1::VolumePolicy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

// Adds the kinds that the cluster does not have by itself.
void Prepare(kgen::testing::Cluster& cluster) {
  cluster.AddResource({.group = "events.k8s.io",
                       .version = "v1",
                       .plural = "events",
                       .singular = "event",
                       .kind = "Event",
                       .list_kind = "EventList"});
  cluster.AddResource({.group = "policy",
                       .version = "v1",
                       .plural = "poddisruptionbudgets",
                       .singular = "poddisruptionbudget",
                       .kind = "PodDisruptionBudget",
                       .list_kind = "PodDisruptionBudgetList",
                       .has_status = true});
  kgen::Must(kgen::crd::Install(cluster.Connection(), storage::Manifests()));
}

class StoreOperatorTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  StoreOperatorTest() {
    Prepare(cluster_);
    kgen::Must(AddStoreController(manager_));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
  }
  ~StoreOperatorTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }

  // Lets the operator and the players act in turn until both have nothing to do. After each turn of the operator it
  // looks how many members the StatefulSet shall have, and after each turn of the players how many are ready.
  void Settle() {
    least_ready_ = 1000;
    for (int turn = 0; turn < 200; ++turn) {
      cluster_.RunUntilIdle();
      if (const int replicas = Replicas(); replicas_.empty() || replicas_.back() != replicas) {
        replicas_.push_back(replicas);
      }
      const int writes = players_.Act();
      least_ready_ = std::min(least_ready_, Ready());
      if (writes == 0) return;
    }
    FAIL() << "the operator does not come to rest";
  }
  Store Create(const StoreSpec& spec) {
    kgen::Must(stores_.Create(Store{.metadata = {.name = "first"}, .spec = spec}));
    Settle();
    return kgen::Must(stores_.Get("first"));
  }
  Store Change(std::string_view spec) {
    kgen::Must(stores_.Patch("first", kgen::MergePatch(R"({"spec":)" + std::string(spec) + "}")));
    Settle();
    return kgen::Must(stores_.Get("first"));
  }
  template <typename T>
  T Get(std::string_view resource, std::string_view name) {
    return kgen::Must(kgen::Decode<T>(kgen::Must(cluster_.Get(resource, "default", name))));
  }
  std::vector<Pod> Pods() {
    std::vector<Pod> pods;
    for (const std::string& pod : cluster_.List("pods")) pods.push_back(kgen::Must(kgen::Decode<Pod>(pod)));
    return pods;
  }
  // Returns how many members the StatefulSet shall have; -1 if there is none.
  int Replicas() {
    const auto found = cluster_.Get("statefulsets", "default", "first");
    if (!found) return -1;
    const auto set = kgen::Must(kgen::Decode<StatefulSet>(*found));
    return *set.spec->replicas;
  }
  int Ready() {
    int ready = 0;
    for (const Pod& pod : Pods()) ready += kgen::IsConditionTrue(pod.status->conditions, "Ready") ? 1 : 0;
    return ready;
  }
  // The writes of the operator since the last call: "delete pods default/first-2".
  std::vector<std::string> WritesTo(std::string_view verb_and_resource) {
    std::vector<std::string> writes;
    for (const kgen::testing::Action& write : cluster_.Writes()) {
      if (write.str().starts_with(verb_and_resource)) writes.push_back(write.name);
    }
    cluster_.ClearWrites();
    return writes;
  }
  // The reasons of all events, in alphabetical order.
  std::vector<std::string> Events() {
    std::vector<std::string> reasons;
    const auto events = kgen::Must(k8s::events::v1::Client(cluster_.Connection()).Events("default").List());
    for (const auto& event : events) reasons.push_back(event.reason.str());
    std::ranges::sort(reasons);
    return reasons;
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), StoreManagerOptions()));
  const storage::kv::v1::StoresClient stores_ = storage::Clientset(cluster_.Connection()).KvV1().Stores("default");
  StatefulSets players_{cluster_.Connection(), "default"};
  int least_ready_ = 0;
  std::vector<int> replicas_;
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

struct Replica {
  Replica(kgen::testing::Cluster& cluster, const std::string& identity)
      : manager(kgen::Must(kgen::Manager::New(cluster.Connection(), OptionsOf(identity)))) {
    kgen::Must(AddStoreController(manager));
    running = cluster.simulation().Spawn([this] { return manager.Run(stop.get_token()); });
  }
  static kgen::ManagerOptions OptionsOf(const std::string& identity) {
    kgen::ManagerOptions options = StoreManagerOptions();
    options.leader_election = {.name = options.name, .namespace_ = "default", .identity = identity};
    return options;
  }

  const kgen::Manager manager;
  std::stop_source stop;
  kgen::testing::TaskResult<kgen::Result<void>> running;
};

class StoreOperatorElectionTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  StoreOperatorElectionTest() { Prepare(cluster_); }
  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
};

TEST_P(StoreOperatorTest, MakesTheObjectsOfAStoreAndReportsItsState) {
  const Store store = Create({.settings = {{"cache", "10Mi"}}});
  EXPECT_EQ(store.spec->replicas, 3) << "the default of the API";
  const auto set = Get<StatefulSet>("statefulsets", "first");
  EXPECT_TRUE(kgen::IsControlledBy(set, store));
  EXPECT_EQ(set.spec->serviceName, "first-members");
  EXPECT_EQ(Get<ConfigMap>("configmaps", "first-config").data["store.conf"], "cache = 10Mi\n");
  for (const char* service : {"first", "first-members"}) {
    EXPECT_TRUE(kgen::IsControlledBy(Get<k8s::core::v1::Service>("services", service), store));
  }
  EXPECT_TRUE(kgen::IsControlledBy(Get<k8s::policy::v1::PodDisruptionBudget>("poddisruptionbudgets", "first"), store));

  EXPECT_EQ(store.status->observedGeneration, store.metadata.generation);
  EXPECT_EQ(store.status->readyReplicas, 3);
  EXPECT_EQ(store.status->updatedReplicas, 3);
  EXPECT_TRUE(kgen::IsConditionTrue(store.status->conditions, "Available"));
  EXPECT_EQ(kgen::FindCondition(store.status->conditions, "Progressing")->status, "False");
  EXPECT_EQ(kgen::FindCondition(store.status->conditions, "Progressing")->observedGeneration,
            store.metadata.generation);
  EXPECT_THAT(Events(), ElementsAre("Created"));
}

TEST_P(StoreOperatorTest, RestartsTheMembersOneAtATimeWhenTheSettingsChange) {
  Create({});
  cluster_.ClearWrites();
  const Store store = Change(R"({"settings":{"cache":"20Mi"}})");
  EXPECT_THAT(WritesTo("delete pods"), ElementsAre("first-2", "first-1", "first-0"));
  EXPECT_EQ(least_ready_, 2) << "so a majority was ready all the time";
  EXPECT_EQ(store.status->updatedReplicas, 3);
  EXPECT_EQ(store.status->observedGeneration, store.metadata.generation);
  EXPECT_THAT(Events(), ElementsAre("Created", "RestartingMember", "RestartingMember", "RestartingMember"));
  for (const Pod& pod : Pods()) EXPECT_EQ(pod.metadata.annotations[kHashAnnotation], HashOf(store));
}

TEST_P(StoreOperatorTest, StopsAtTheFirstMemberThatABadImageBreaksAndGoesOnWithAGoodOne) {
  Create({});
  players_.Break("store:bad");
  cluster_.ClearWrites();
  Store store = Change(R"({"image":"store:bad"})");
  EXPECT_THAT(WritesTo("delete pods"), ElementsAre("first-2"));
  EXPECT_TRUE(kgen::IsConditionTrue(store.status->conditions, "Available"));
  EXPECT_TRUE(kgen::IsConditionTrue(store.status->conditions, "Progressing"));

  store = Change(R"({"image":"store:good"})");
  EXPECT_THAT(WritesTo("delete pods"), ElementsAre("first-2", "first-1", "first-0"));
  EXPECT_EQ(store.status->readyReplicas, 3);
  EXPECT_EQ(store.status->updatedReplicas, 3);
}

TEST_P(StoreOperatorTest, RemovesOneMemberAfterTheOther) {
  Create({.replicas = 5});
  replicas_.clear();
  const Store store = Change(R"({"replicas":1})");
  EXPECT_THAT(replicas_, ElementsAre(4, 3, 2, 1)) << "each when the member before has gone";
  EXPECT_EQ(Pods()[0].metadata.name, "first-0");
  EXPECT_EQ(store.status->replicas, 1);
}

TEST_P(StoreOperatorTest, RemovesAndRestartsMembersInOneChange) {
  Create({.replicas = 5});
  cluster_.ClearWrites();
  const Store store = Change(R"({"replicas":3,"settings":{"cache":"20Mi"}})");
  EXPECT_THAT(WritesTo("delete pods default/first-"), ::testing::IsSupersetOf({"first-2", "first-1", "first-0"}));
  EXPECT_EQ(least_ready_, 2) << "of three, so a majority was ready all the time";
  EXPECT_EQ(store.status->replicas, 3);
  EXPECT_EQ(store.status->readyReplicas, 3);
  EXPECT_EQ(store.status->updatedReplicas, 3);
}

TEST_P(StoreOperatorTest, RemovesNoMemberWhileAnotherIsMissing) {
  Create({.replicas = 3});
  Pod sick = Pods()[0];
  sick.status->conditions[0].status = "False";
  players_.Break(sick.spec->containers[0].image.str());
  kgen::Must(cluster_.Update(sick));
  cluster_.RunUntilIdle();
  Change(R"({"replicas":1})");
  EXPECT_EQ(Replicas(), 3);
}

TEST_P(StoreOperatorTest, DeletesTheVolumesWithTheStoreIfItSaysSo) {
  for (const VolumePolicy policy : {VolumePolicy::kDelete, VolumePolicy::kRetain}) {
    Create({.volumePolicy = policy});
    EXPECT_EQ(cluster_.List("persistentvolumeclaims").size(), 3U);
    kgen::Must(stores_.Delete("first"));
    Settle();
    EXPECT_THAT(cluster_.List("stores"), IsEmpty());
    EXPECT_THAT(cluster_.List("statefulsets"), IsEmpty());
    EXPECT_THAT(Pods(), IsEmpty());
    EXPECT_EQ(cluster_.List("persistentvolumeclaims").size(), policy == VolumePolicy::kDelete ? 0U : 3U);
  }
}

TEST_P(StoreOperatorTest, LeavesAStatefulSetOfSomebodyElseAlone) {
  kgen::Must(cluster_.Add(StatefulSet{.metadata = {.name = "first", .namespace_ = "default"},
                                      .spec = k8s::apps::v1::StatefulSetSpec{.replicas = 0}}));
  kgen::Must(stores_.Create(Store{.metadata = {.name = "first"}, .spec = StoreSpec{}}));
  cluster_.Advance(std::chrono::seconds(10));
  const auto set = Get<StatefulSet>("statefulsets", "first");
  EXPECT_EQ(set.spec->replicas, 0);
  EXPECT_THAT(Events(), ::testing::Contains("NameTaken"));
}

TEST_P(StoreOperatorTest, ReachesTheSameStateWhateverFailsOnTheWay) {
  cluster_.Inject({.verb = "list", .resource = "stores", .times = 2, .status = 500});
  cluster_.Inject({.verb = "patch", .resource = "statefulsets", .times = 2, .status = 503});
  cluster_.Inject({.verb = "patch", .resource = "services", .times = 2, .status = 500});
  cluster_.Inject({.verb = "patch", .resource = "stores", .times = 2, .status = 409, .reason = "Conflict"});
  cluster_.Inject({.verb = "update", .resource = "stores", .times = 3, .status = 409, .reason = "Conflict"});
  kgen::Must(cluster_.Add(Store{.metadata = {.name = "first", .namespace_ = "default"}, .spec = StoreSpec{}}));
  cluster_.CutWatches();
  Settle();
  const Store store = kgen::Must(stores_.Get("first"));
  EXPECT_EQ(store.status->updatedReplicas, 3);
}

// Two replicas of the operator on a cluster, as the Deployment runs them.
TEST_P(StoreOperatorElectionTest, AnotherReplicaGoesOnWhenTheLeaderVanishes) {
  Replica first(cluster_, "first");
  cluster_.RunUntilIdle();
  Replica second(cluster_, "second");
  kgen::Must(cluster_.Add(Store{.metadata = {.name = "one", .namespace_ = "default"}, .spec = StoreSpec{}}));
  cluster_.RunUntilIdle();
  EXPECT_TRUE(first.manager.IsLeader());
  EXPECT_FALSE(second.manager.IsLeader());
  EXPECT_TRUE(cluster_.Get("statefulsets", "default", "one"));

  first.stop.request_stop();
  cluster_.Advance(std::chrono::seconds(30));
  EXPECT_TRUE(first.running.done());
  EXPECT_TRUE(second.manager.IsLeader());
  kgen::Must(cluster_.Add(Store{.metadata = {.name = "two", .namespace_ = "default"}, .spec = StoreSpec{}}));
  cluster_.RunUntilIdle();
  EXPECT_TRUE(cluster_.Get("statefulsets", "default", "two"));
  second.stop.request_stop();
  cluster_.Advance(std::chrono::seconds(30));
  EXPECT_TRUE(second.running.done() && second.running.result());
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreOperatorElectionTest, ::testing::Range<std::uint64_t>(1, 6));
INSTANTIATE_TEST_SUITE_P(Seeds, StoreOperatorTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
