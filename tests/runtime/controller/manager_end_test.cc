// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The end of a manager: in time, with every error, and without leaving anything behind.
#include <k8s/events/v1/client.h>
#include <k8s/events/v1/types.h>

#include <memory>

#include "kgen/controller/terminal_error.h"
#include "kgen/controller/wait.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ManagerEndTest : public ManagerTest {
 protected:
  using ManagerTest::ManagerTest;
  static std::string ErrorOf(const Ran& ran) {
    if (!ran.done()) return "still running";
    return ran.result() ? "success" : ran.result().error().ToString();
  }
  ManagerOptions Elect() { return {.leader_election = {.name = "shop", .namespace_ = "default", .identity = "first"}}; }
  void ServeEvents() {
    cluster_.AddResource({.group = "events.k8s.io",
                          .version = "v1",
                          .plural = "events",
                          .singular = "event",
                          .kind = "Event",
                          .list_kind = "EventList"});
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerEndTest, ::testing::Range<std::uint64_t>(0, 20));

TEST_P(ManagerEndTest, SaysHowTheLeaseWasLost) {
  const Manager manager = New(Elect());
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 500});
  cluster_.Advance(20s);
  ASSERT_TRUE(ran.done());
  EXPECT_EQ(ran.result().error().code(), Code::kTimeout) << ran.result();
}

TEST_P(ManagerEndTest, LeaksNothingIfAFunctionHoldsTheManager) {
  const auto reconcile = std::make_shared<int>();
  const auto follower = std::make_shared<int>();
  Must(cluster_.Add(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"shop","namespace":"default"},
      "spec":{"holderIdentity":"somebody","leaseDurationSeconds":3600,"renewTime":"2020-01-01T00:00:00.000000Z"}})"));
  {
    const Manager manager = New(Elect());
    Must(manager.Control<ConfigMap>("maps").NeedLeaderElection(false).Reconcile(
        [manager, reconcile](Request&) -> Result<void> { return {}; }));
    Must(manager.Add("leader only", [manager, follower](const std::stop_token&) -> Result<void> { return {}; }));
    const Ran ran = Spawn(manager);
    cluster_.Advance(5s);
    stop_.request_stop();
    cluster_.Advance(10s);
    ASSERT_EQ(ErrorOf(ran), "success");
  }
  cluster_.Advance(60s);
  EXPECT_EQ(reconcile.use_count(), 1);
  EXPECT_EQ(follower.use_count(), 1);
}

// The registry may be the program's.
TEST_P(ManagerEndTest, LeavesNoControllerInARegistryThatOutlivesIt) {
  Metrics metrics;
  const auto held = std::make_shared<int>();
  {
    const Manager manager = New({.endpoint = {.address = "", .metrics = metrics}});
    Must(manager.Control<ConfigMap>("maps").Reconcile([held](Request&) -> Result<void> { return {}; }));
    Stop(Spawn(manager));
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(ManagerEndTest, EndsAfterTheGracePeriodThoughAMapFunctionHangs) {
  const Manager manager = New({.graceful_shutdown_timeout = 5s});
  Must(manager.Control("mapped")
           .Watches<ConfigMap>([&](const ConfigMap&, Requests&) { WaitForStop({}); })
           .Reconcile([](Request&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  Settle();
  AddMap("a");
  Settle();
  stop_.request_stop();
  cluster_.Advance(60s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("mapped"));
}

TEST_P(ManagerEndTest, WritesTheLastEventsOfAllControllersWithinOneLimit) {
  ServeEvents();
  AddMap("a");
  const Manager manager = New(Elect());
  for (int i = 0; i < 10; ++i) {
    Must(manager.Control<ConfigMap>("maps" + std::to_string(i)).Reconcile([](Request& request) -> Result<void> {
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      if (map) request.events().Event(*map, {.reason = "Seen", .action = "See"});
      return {};
    }));
  }
  cluster_.Inject({.resource = "events", .times = testing::kAlways, .stall = true});
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  stop_.request_stop();
  cluster_.Advance(10s);
  EXPECT_NE(ErrorOf(ran), "still running");
  cluster_.Advance(60s);
  EXPECT_NE(ErrorOf(ran), "still running");
}

TEST_P(ManagerEndTest, WritesEventsAndTheLastSeriesAlsoWhenTheLeaseIsLost) {
  ServeEvents();
  AddMap("a");
  const Manager manager = New(Elect());
  Must(manager.Control<ConfigMap>("maps").Reconcile([this](Request& request) -> Result<void> {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    for (int i = 0; i < 5; ++i) request.events().Event(*map, {.reason = "Seen", .action = "See"});
    WaitForStop(request.stop());
    request.events().Event(*map, {.reason = "Stopped", .action = "Stop"});
    return {};
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 500});
  cluster_.Advance(20s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("no renewal succeeded"));
  std::vector<std::string> events;
  for (const auto& event : Must(k8s::events::v1::Client(cluster_.Connection()).Events("default").List())) {
    events.push_back(event.reason.str() + " " + std::to_string(event.series->count.value_or(1)));
  }
  EXPECT_THAT(events, UnorderedElementsAre("Seen 5", "Stopped 1"));
}

TEST_P(ManagerEndTest, NamesTheObjectsWhoseCallsDoNotEnd) {
  AddMap("a");
  AddMap("b");
  ManagerOptions options;
  options.graceful_shutdown_timeout = 5s;
  const Manager manager = New(std::move(options));
  Must(
      manager.Control<ConfigMap>("maps").MaxConcurrentReconciles(2).Reconcile([this](Request& request) -> Result<void> {
        if (request.key().name == "a") (void)Pause(100s);
        return {};
      }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(10s);
  stop_.request_stop();
  cluster_.Advance(6s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("did not end within 5s of being stopped: controller maps (default/a for 15s)"));
  cluster_.Advance(100s);
}

TEST_P(ManagerEndTest, NamesTheKindThatTheServerLacks) {
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 404, .reason = "NotFound"});
  const Ran ran = Spawn(manager);
  cluster_.Advance(60s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("cache of kind ConfigMap (v1)"));
}

TEST_P(ManagerEndTest, SaysWhichFunctionFailed) {
  const Manager manager = New();
  Must(manager.Add("cleaner", [](const std::stop_token&) -> Result<void> { return Error(Code::kServer, "broken"); }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(ErrorOf(ran), HasSubstr("cleaner"));
}

// Contract: controller 14, 16.
TEST_P(ManagerEndTest, LosesNoErrorOfASecondFunction) {
  const Manager manager = New();
  Must(manager.Add("one", [&](const std::stop_token&) -> Result<void> {
    (void)Pause(1s);
    return Error(Code::kServer, "broken");
  }));
  Must(manager.Add("two", [&](const std::stop_token& stop) -> Result<void> {
    WaitForStop(stop);
    return Error(Code::kServer, "the journal was not flushed");
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(ErrorOf(ran), HasSubstr("broken"));
  EXPECT_THAT(ErrorOf(ran), HasSubstr("journal"));
}

TEST_P(ManagerEndTest, KeepsATerminalErrorTerminalAfterTheDeadline) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").ReconciliationTimeout(1s).Reconcile([&](Request& request) -> Result<void> {
    calls_.push_back(request.key().str());
    (void)Pause(2s);
    return TerminalError({Code::kInvalid, "never right"});
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(60s);
  EXPECT_THAT(calls_, SizeIs(1));
  stop_.request_stop();
  cluster_.Advance(10s);
}

// The conflict of a server-side apply is not one that a newer cache resolves.
TEST_P(ManagerEndTest, ReportsAConflictThatDoesNotGoAway) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
    calls_.push_back(request.key().str());
    return Error(Code::kConflict, "Apply failed with 1 conflict: conflict with \"kubectl\": .data.value");
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(3600s);
  EXPECT_GE(calls_.size(), 10u);
  EXPECT_THAT(told_->reconciles, Not(IsEmpty()));
  stop_.request_stop();
  cluster_.Advance(10s);
}

TEST_P(ManagerEndTest, RefusesReadsOfCachesThatHaveBeenShutDown) {
  AddMap("a", "old");
  const Manager manager = New({.graceful_shutdown_timeout = 5s});
  std::string read;
  Must(manager.Add("slow", [&](const std::stop_token&) -> Result<void> {
    (void)Must(manager.client().Get<ConfigMap>({"default", "a"}));
    (void)Pause(60s);
    const auto map = manager.client().Get<ConfigMap>({"default", "a"});
    read = map ? (*map)->data["value"].str() : std::string(ToString(map.error().code()));
    return {};
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(1s);
  stop_.request_stop();
  cluster_.Advance(10s);
  ASSERT_THAT(ErrorOf(ran), HasSubstr("slow"));
  UpdateMap("a", "new");
  cluster_.Advance(60s);
  EXPECT_EQ(read, ToString(Code::kStopped));
}

TEST_P(ManagerEndTest, StartsNothingIfTheStopWasRequestedBefore) {
  const Manager manager = New();
  Must(manager.Add("job", [&](const std::stop_token&) -> Result<void> {
    calls_.emplace_back("ran");
    return {};
  }));
  stop_.request_stop();
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_EQ(ErrorOf(ran), "success");
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_P(ManagerEndTest, NamesWhatRunsOrSucceedsIfItEndsAtTheLimit) {
  const Manager manager = New({.graceful_shutdown_timeout = 5s});
  Must(manager.Add("slow", [&](const std::stop_token& stop) -> Result<void> {
    WaitForStop(stop);
    (void)Pause(5s);
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  stop_.request_stop();
  cluster_.Advance(6s);
  EXPECT_TRUE(ErrorOf(ran) == "success" || ErrorOf(ran).find("slow") != std::string::npos) << ErrorOf(ran);
}

TEST_P(ManagerEndTest, TakesNoGracePeriodForSuccess) {
  const Manager manager = New({.graceful_shutdown_timeout = 0s});
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  Settle();
  stop_.request_stop();
  Settle();
  EXPECT_EQ(ErrorOf(ran), "success");
}

// Two replicas would both write.
TEST_P(ManagerEndTest, RefusesAnElectionWithoutAName) {
  const auto made =
      Manager::New(cluster_.Connection(), {.leader_election = {.namespace_ = "default", .identity = "a"}});
  EXPECT_FALSE(made);
}

// Nothing was requeued yet when the event came.
TEST_P(ManagerEndTest, SaysThatAnEarlierEventIsTheOnlyReason) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    calls_.push_back(Text(request));
    return Requeue::After(1h);
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(1s);
  UpdateMap("a", "b");
  cluster_.Advance(1s);
  ASSERT_THAT(calls_, SizeIs(2));
  EXPECT_EQ(calls_[1], "default/a changed");
  stop_.request_stop();
  cluster_.Advance(10s);
}

TEST_P(ManagerEndTest, FreesTheFunctionsOfAControllerWithItsLastHandle) {
  const auto held = std::make_shared<int>();
  {
    const Manager manager = New();
    Must(manager.Control<ConfigMap>("maps").Reconcile([held](Request&) -> Result<void> { return {}; }));
    Stop(Spawn(manager));
    EXPECT_GE(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);  // no manager, no leak without a cycle
}

// What is left of a deadline may be nothing.
TEST_P(ManagerEndTest, DoesNotWaitForEverIfNoTimeIsLeft) {
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .stall = true});
  const Manager manager = New();
  Must(manager.Add("waiter", [&](const std::stop_token& stop) -> Result<void> {
    const auto cache = Must(manager.caches().Of<ConfigMap>());
    const auto waited = WaitFor(cache, {"default", "a"}, [](const auto& map) { return !!map; }, stop, 0s);
    calls_.emplace_back(waited ? "success" : ToString(waited.error().code()));
    return {};
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(600s);
  EXPECT_THAT(calls_, ::testing::ElementsAre(ToString(Code::kTimeout)));
  stop_.request_stop();
  cluster_.Advance(10s);
}

class ManagerSyncTest : public ManagerEndTest {
 protected:
  ManagerSyncTest() : ManagerEndTest({.latency = 1s}) {}
};
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerSyncTest, ::testing::Range<std::uint64_t>(0, 200));

TEST_P(ManagerSyncTest, FailsInTimeIfOneCacheSyncsAtTheLastMomentAndAnotherDoesNot) {
  cluster_.Inject({.resource = "deployments", .times = testing::kAlways, .stall = true});
  const Manager manager = New({.caches = {.sync_timeout = std::chrono::seconds(1 + GetParam() % 4)}});
  Must(manager.Control("mapped")
           .Watches<ConfigMap>([](const ConfigMap&, Requests&) {})
           .Watches<Deployment>([](const Deployment&, Requests&) {})
           .Reconcile([](Request&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(600s);
  EXPECT_THAT(ErrorOf(ran), HasSubstr("not synced")) << 1 + GetParam() % 4;
  stop_.request_stop();
  cluster_.Advance(10s);
}

}  // namespace
}  // namespace kgen
