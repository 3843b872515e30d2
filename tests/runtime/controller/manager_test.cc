// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The manager: the order of start and end, what ends it, and leader election.
#include "kgen/controller/manager.h"

#include <algorithm>
#include <stdexcept>

#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ManagerRunTest : public ManagerTest {
 protected:
  // Returns at the end of the token.
  std::function<Result<void>(std::stop_token)> Until(std::string name, Nanos longer = {}) {
    return [this, name, longer](const std::stop_token& stop) -> Result<void> {
      calls_.push_back(name + " starts");
      WaitForStop(stop);
      if (longer > Nanos::zero()) (void)Pause(longer);
      calls_.push_back(name + " ends");
      return {};
    };
  }
  static std::string ErrorOf(const Ran& ran) {
    if (!ran.done()) return "still running";
    return ran.result() ? "success" : ran.result().error().ToString();
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerRunTest, ::testing::Range<std::uint64_t>(0, 20));

// Contract: controller 5, 21.
TEST_P(ManagerRunTest, RunsUntilItIsStoppedAndLeavesNothingBehind) {
  AddMap("a");
  {
    const Manager manager = New();
    Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
      calls_.push_back(request.key().str());
      return {};
    }));
    Must(manager.Add("job", Until("job")));
    const Ran ran = Spawn(manager);
    Settle();
    EXPECT_FALSE(ran.done());
    EXPECT_TRUE(manager.IsLeader());
    Stop(ran);
    EXPECT_THAT(calls_, UnorderedElementsAre("job starts", "default/a", "job ends"));
  }
  cluster_.Advance(1s);
  const auto census = cluster_.simulation().census();
  EXPECT_EQ(census.blocking, 0u);
  EXPECT_EQ(census.tasks, 0u);
  EXPECT_EQ(cluster_.census().watches, 0u);
}

// Contract: controller 8.
TEST_P(ManagerRunTest, StartsNothingBeforeTheCachesHaveSynced) {
  AddMap("a");
  cluster_.Inject({.resource = "configmaps", .times = 4, .status = 503});
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  Must(manager.Add("job", [&](const std::stop_token&) -> Result<void> {
    for (const auto& status : manager.caches().status()) calls_.push_back(status.synced ? "synced" : "early");
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("synced"));
  Stop(ran);
}

// Contract: controller 48.
TEST_P(ManagerRunTest, FailsWhenACacheDoesNotSyncInTime) {
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 500});
  const Manager manager = New({.caches = {.sync_timeout = 10s}});
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(11s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("configmaps"));
  EXPECT_EQ(ran.result().error().code(), Code::kTimeout);
}

// Contract: controller 49.
TEST_P(ManagerRunTest, TakesAStopDuringTheSyncForSuccess) {
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .stall = true});
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(1s);
  Stop(ran);
}

// Contract: controller 14, 15.
TEST_P(ManagerRunTest, EndsWithTheErrorOfTheFirstFunctionThatFails) {
  const Manager manager = New();
  Must(manager.Add("good", Until("good")));
  Must(manager.Add("bad", [&](const std::stop_token&) -> Result<void> {
    (void)Pause(1s);
    return Error(Code::kServer, "broken");
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(ErrorOf(ran), HasSubstr("broken"));
  EXPECT_THAT(calls_, ElementsAre("good starts", "good ends"));
}

// Contract: controller 5.
TEST_P(ManagerRunTest, EndsWithAnErrorWhenAFunctionThrowsButNotWhenItReturns) {
  const Manager manager = New();
  Must(manager.Add("short", [](const std::stop_token&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_FALSE(ran.done());
  Must(manager.Add("thrower", [](const std::stop_token&) -> Result<void> { throw std::runtime_error("oh"); }));
  Settle();
  EXPECT_THAT(ErrorOf(ran), HasSubstr("thrower: it threw: oh"));
}

// Contract: controller 18, 19, 50.
TEST_P(ManagerRunTest, StartsWhatIsAddedLaterAtOnceAndRefusesItAfterTheEnd) {
  const Manager manager = New();
  const Ran ran = Spawn(manager);
  Settle();
  AddMap("a");
  Must(manager.Control<ConfigMap>("late").Reconcile([&](Request& request) -> Result<void> {
    calls_.push_back(request.key().str());
    return {};
  }));
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a"));
  Stop(ran);
  const auto added = manager.Add("too late", Until("too late"));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), Code::kStopped);
  const Ran again = Spawn(manager);
  Settle();
  EXPECT_THAT(ErrorOf(again), HasSubstr("it can run only once"));
}

// Contract: controller 13, 16.
TEST_P(ManagerRunTest, WaitsForRunningFunctionsUpToTheLimit) {
  const Manager manager = New({.graceful_shutdown_timeout = 5s});
  Must(manager.Add("slow", Until("slow", 20s)));
  const Ran ran = Spawn(manager);
  Settle();
  stop_.request_stop();
  cluster_.Advance(4s);
  EXPECT_FALSE(ran.done());
  cluster_.Advance(2s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("did not end within 5s of being stopped: slow"));
  cluster_.Advance(20s);
  EXPECT_THAT(calls_, ElementsAre("slow starts", "slow ends"));
}

TEST_P(ManagerRunTest, WaitsForARunningReconcileAndCancelsItsCalls) {
  AddMap("a");
  cluster_.Inject({.verb = "get", .resource = "configmaps", .times = testing::kAlways, .stall = true});
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    const auto live = request.client().Live().Get<ConfigMap>(request.key());
    calls_.emplace_back(ToString(live.error().code()));
    return live.error();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  Stop(ran);
  EXPECT_THAT(calls_, ElementsAre("Cancelled"));
  EXPECT_THAT(told_->reconciles, IsEmpty());
}

class ManagerLeaseTest : public ManagerRunTest {
 protected:
  ManagerOptions Elect(std::string identity) {
    return {.leader_election = {.name = "shop", .namespace_ = "default", .identity = std::move(identity)}};
  }
  // A controller that copies the value of each map to an annotation, and remembers in whose name.
  void Control(const Manager& manager, const std::string& name) {
    Must(manager.Control<ConfigMap>("maps").Reconcile([this, name](Request& request) -> Result<Requeue> {
      calls_.push_back(name + ' ' + request.key().name.str());
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      if (!map) return Requeue::Done();
      ConfigMap mine = *map;
      if (mine.metadata.annotations["by"] == name) return Requeue::Done();
      mine.metadata.annotations["by"] = name;
      if (auto done = request.client().Update(mine); !done) return done.error();
      return Requeue::Done();
    }));
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerLeaseTest, ::testing::Range<std::uint64_t>(0, 20));

// Contract: controller 10, 11, 29.
TEST_P(ManagerLeaseTest, LetsOnlyTheLeaderReconcileAndHandsOverWhenItStops) {
  AddMap("a");
  const Manager first = New(Elect("first"));
  const Manager second = New(Elect("second"));
  Control(first, "first");
  Control(second, "second");
  const Ran ran = Spawn(first);
  cluster_.Advance(1s);
  std::stop_source other;
  const Ran ran_second = cluster_.simulation().Spawn([second, stop = other.get_token()] { return second.Run(stop); });
  cluster_.Advance(60s);
  EXPECT_TRUE(first.IsLeader());
  EXPECT_FALSE(second.IsLeader());
  EXPECT_THAT(calls_, Each(HasSubstr("first")));

  stop_.request_stop();
  cluster_.Advance(6s);  // less than the duration of the lease
  ASSERT_TRUE(ran.done());
  EXPECT_TRUE(ran.result()) << ran.result();
  EXPECT_TRUE(second.IsLeader());
  EXPECT_THAT(calls_, Contains("second a"));
  other.request_stop();
  cluster_.Advance(10s);
  EXPECT_EQ(ErrorOf(ran_second), "success");
}

// Contract: controller 17.
TEST_P(ManagerLeaseTest, EndsWithAnErrorWhenTheLeaseIsLostAndWritesNothingAfterwards) {
  AddMap("a");
  const Manager manager = New(Elect("first"));
  Control(manager, "first");
  Result<ConfigMap> late = Fail(Code::kInternal, "not tried");
  Must(manager.Add("writer", [&](const std::stop_token& stop) -> Result<void> {
    WaitForStop(stop);
    ConfigMap map{.metadata = {.name = "late", .namespace_ = "default"}};
    late = manager.client().Create(map);
    return {};
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  ASSERT_TRUE(manager.IsLeader());
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 500});
  cluster_.Advance(15s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("shop"));
  EXPECT_FALSE(manager.IsLeader());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kCancelled) << late.error();
  EXPECT_FALSE(cluster_.Get("configmaps", "default", "late"));
}

// Contract: controller 53, 141.
TEST_P(ManagerLeaseTest, RunsInEveryReplicaWhatNeedsNoLeader) {
  AddMap("a");
  Must(cluster_.Add(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"shop","namespace":"default"},
      "spec":{"holderIdentity":"somebody","leaseDurationSeconds":3600,"renewTime":"2020-01-01T00:00:00.000000Z"}})"));
  const Manager manager = New(Elect("first"));
  Control(manager, "first");
  Must(manager.Control<ConfigMap>("readers").NeedLeaderElection(false).Reconcile([&](Request& request) -> Result<void> {
    calls_.push_back("reader " + request.key().name.str());
    return {};
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(30s);
  EXPECT_THAT(calls_, ElementsAre("reader a"));
  stop_.request_stop();
  cluster_.Advance(10s);
  EXPECT_EQ(ErrorOf(ran), "success");
}

// Contract: controller 11.
TEST_P(ManagerLeaseTest, KeepsTheLeaseUntilItsWorkHasEndedAndLetsItExpireIfItDoesNot) {
  ManagerOptions options = Elect("first");
  options.graceful_shutdown_timeout = 40s;
  const Manager manager = New(options);
  Must(manager.Add("slow", Until("slow", 30s)));
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  stop_.request_stop();
  cluster_.Advance(29s);
  const auto holder = [&] { return Must(cluster_.Get("leases", "default", "shop")); };
  EXPECT_THAT(holder(), HasSubstr("\"holderIdentity\":\"first\""));
  EXPECT_TRUE(manager.IsLeader());  // it renews while the work ends
  cluster_.Advance(5s);
  EXPECT_EQ(ErrorOf(ran), "success");
  EXPECT_THAT(holder(), Not(HasSubstr("\"holderIdentity\":\"first\"")));
}

// Contract: controller 211.
TEST_P(ManagerLeaseTest, ShowsInItsMetricsWhetherItLeads) {
  const Manager first = New(Elect("first"));
  const auto shows = [&](const char* line) { return HasSubstr(std::string(line) + '\n'); };
  EXPECT_THAT(Must(first.metrics().Text()), shows("leader_election_master_status{name=\"shop\"} 0"));
  const Ran ran = Spawn(first);
  cluster_.Advance(5s);
  EXPECT_THAT(Must(first.metrics().Text()), shows("leader_election_master_status{name=\"shop\"} 1"));
  EXPECT_THAT(Must(first.metrics().Text()), shows("leader_election_slowpath_total{name=\"shop\"} 0"));
  stop_.request_stop();
  cluster_.Advance(10s);
  ASSERT_TRUE(ran.done());
  EXPECT_THAT(Must(first.metrics().Text()), shows("leader_election_master_status{name=\"shop\"} 0"));
}

TEST_P(ManagerLeaseTest, ShowsWhyItCannotLead) {
  const Manager manager = New(Elect("first"));
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  const Ran ran = Spawn(manager);
  cluster_.Advance(30s);
  const std::string failing = "kgen_leader_election_failing{name=\"shop\",reason=";
  EXPECT_THAT(Must(manager.metrics().Text()), HasSubstr(failing + "\"Forbidden\"} 1\n"));
  cluster_.ClearFaults();
  cluster_.Advance(10s);
  EXPECT_TRUE(manager.IsLeader());
  EXPECT_THAT(Must(manager.metrics().Text()), Not(HasSubstr(failing)));
  stop_.request_stop();
  cluster_.Advance(10s);
  EXPECT_TRUE(ran.done());
}

TEST_P(ManagerLeaseTest, LetsTheLeaseExpireIfItsWorkDoesNotEnd) {
  ManagerOptions options = Elect("first");
  options.graceful_shutdown_timeout = 5s;
  const Manager manager = New(options);
  Must(manager.Add("hung", Until("hung", 60s)));
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  stop_.request_stop();
  cluster_.Advance(6s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("hung"));
  EXPECT_FALSE(manager.IsLeader());
  const std::string lease = Must(cluster_.Get("leases", "default", "shop"));
  EXPECT_THAT(lease, HasSubstr("\"holderIdentity\":\"first\""));
  cluster_.Advance(60s);
  EXPECT_EQ(Must(cluster_.Get("leases", "default", "shop")), lease);  // it was not renewed
}

}  // namespace
}  // namespace kgen
