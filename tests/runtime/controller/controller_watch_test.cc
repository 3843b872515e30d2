// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a controller watches: which caches it opens, what happens while a kind is missing, and where keys come from that
// no watch tells.
#include <map>

#include "kgen/controller/controller.h"
#include "kgen/controller/owners.h"
#include "kgen/controller/rate_limiter.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ControllerWatchTest : public ManagerTest {
 protected:
  // The controller of maps, without anything but its name.
  Controller ControlMaps(const Manager& manager, std::string_view name = "maps") {
    return Must(manager.Control<ConfigMap>(name).Reconcile([this](Request& request) -> Result<void> {
      calls_.push_back(Text(request));
      return {};
    }));
  }
  // Adds a replica set of that config map.
  void AddOwned(std::string_view name, std::string_view owner) {
    auto set = static_cast<ReplicaSet>(testing::MinimalObject("apps/v1", "ReplicaSet", "default", name));
    set.metadata.ownerReferences = {
        {.name = owner, .apiVersion = "v1", .controller = true, .kind = "ConfigMap", .uid = "u"}};
    Must(cluster_.Add(set));
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ControllerWatchTest, ::testing::Range<std::uint64_t>(0, 20));

TEST_P(ControllerWatchTest, AFunctionOfAWatchKnowsTheEventAndSaysWhenAndHowUrgently) {
  const Manager manager = New();
  std::vector<TimePoint> times;
  Must(manager.Control("maps")
           .Watches<ConfigMap>(
               {.on_update =
                    [](const Updated<ConfigMap>& e, Requests& requests) {
                      if (e.before->data["value"] == e.now->data["value"]) return;
                      requests.Add("default", "later", {.after = 5s});
                      requests.Add("default", "low", {.priority = -5});
                      requests.Add("default", "high", {.priority = 5});
                      requests.Add("default", "low", {.priority = 1});
                    },
                .on_delete = [](const Deleted<ConfigMap>& e, Requests& requests) { requests.Add(e.key); }})
           .Watches(GroupVersionKind{"apps", "v1", "ReplicaSet"},
                    {.on_add = [](const Added<Unstructured>& e, Requests& requests) { requests.Add(e.key); }})
           .Reconcile([&](Request& request) -> Result<void> {
             calls_.push_back(request.key().name.str());
             times.push_back(Now());
             return Pause(1s);
           }));
  const Ran ran = Spawn(manager);
  AddMap("a", "1");
  Settle();
  EXPECT_THAT(calls_, IsEmpty());
  const TimePoint start = Now();
  UpdateMap("a", "2");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("high", "low", "later"));
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_EQ(times[2] - start, 5s);
  calls_.clear();
  Must(cluster_.Delete("configmaps", "default", "a"));
  Settle();
  AddOwned("set", "a");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("a", "set"));
  Stop(ran);
}

TEST_P(ControllerWatchTest, EnqueuesAfterADelayAndByPriority) {
  const Manager manager = New();
  std::vector<TimePoint> times;
  const Controller controller = Must(manager.Control("keys")
                                         .Watches<ConfigMap>([](const ConfigMap&, Requests&) {})
                                         .Reconcile([&](Request& request) -> Result<void> {
                                           calls_.push_back(request.key().name.str());
                                           times.push_back(Now());
                                           return {};
                                         }));
  controller.Enqueue({"", "late"}, {.after = 10s});
  controller.Enqueue({"", "b"});
  controller.Enqueue({"", "a"}, {.priority = 10});
  const TimePoint start = Now();
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("a", "b", "late"));
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_EQ(times[2] - start, 10s);
  Stop(ran);
}

TEST_P(ControllerWatchTest, OwnsObjectsOfAKindWithoutGeneratedCode) {
  AddMap("a");
  AddMap("b");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps")
           .Owns(GroupVersionKind{"apps", "v1", "ReplicaSet"},
                 Predicate<Unstructured>([](const Unstructured& set) { return set.metadata.name != "hidden"; }))
           .Reconcile([this](Request& request) -> Result<void> {
             calls_.push_back(Text(request));
             return {};
           }));
  const Ran ran = Spawn(manager);
  Settle();
  calls_.clear();
  AddOwned("web", "a");
  AddOwned("hidden", "b");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a owned(ReplicaSet default/web)"));
  Stop(ran);
}

// Contract: controller 90, 265.
TEST_P(ControllerWatchTest, OwnsObjectsByTheirMetadataWithOneCacheUntilTheWholeObjectIsRead) {
  AddMap("a");
  AddOwned("set", "a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").OwnsMetadata<ReplicaSet>().Reconcile([&](Request& request) -> Result<void> {
    calls_.push_back(request.key().name.str());
    for (const auto& set : Must(request.client().ListMetadata<ReplicaSet>())) {
      calls_.push_back(set->metadata.name.str() + (set->unknown_fields.empty() ? "" : " has more than metadata"));
    }
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("a", "set"));
  EXPECT_EQ(cluster_.census().watches, 2u);
  EXPECT_TRUE(Must(manager.client().Get<ReplicaSet>({"default", "set"})));
  Settle();
  EXPECT_EQ(cluster_.census().watches, 3u);
  std::vector<std::string> names;
  for (const auto& status : manager.caches().status()) names.push_back(status.name);
  EXPECT_THAT(names, UnorderedElementsAre("configmaps", "replicasets.apps/v1", "replicasets.apps/v1 (metadata)"));
  Stop(ran);
}

// Contract: controller 91, 93, 269, 274.
TEST_P(ControllerWatchTest, TwoControllersOfAKindShareItsCacheAndCountTheirFailuresAlone) {
  AddMap("shared-object");
  const Manager manager = New();
  const Shared<RateLimiter> limiter = Must(ExponentialRateLimiter(1s));
  std::map<std::string, std::vector<TimePoint>> times;
  for (const char* name : {"first", "second"}) {
    Must(manager.Control<ConfigMap>(name).RateLimiter(limiter).Reconcile([&](Request& request) -> Result<void> {
      std::vector<TimePoint>& own = times[std::string(request.controller())];
      own.push_back(Now());
      if (own.size() < 4) return Error(Code::kServer, "not now");
      return {};
    }));
  }
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_EQ(cluster_.census().watches, 1u);
  ASSERT_THAT(times, SizeIs(2));
  for (const auto& [name, own] : times) {
    SCOPED_TRACE(name);
    ASSERT_THAT(own, SizeIs(4));
    EXPECT_EQ(own[1] - own[0], 1s);
    EXPECT_EQ(own[2] - own[1], 2s);
    EXPECT_EQ(own[3] - own[2], 4s);
  }
  EXPECT_THAT(Must(manager.metrics().Text()),
              AllOf(HasSubstr("controller_runtime_reconcile_errors_total{controller=\"first\"} 3\n"),
                    HasSubstr("controller_runtime_reconcile_errors_total{controller=\"second\"} 3\n"),
                    Not(HasSubstr("shared-object"))));
  Stop(ran);
}

// Contract: controller 97.
TEST_P(ControllerWatchTest, CallsTheFunctionOnceEveryInitialObjectIsInTheQueue) {
  for (const char* name : {"a", "b", "c"}) AddMap(name);
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps")
           .When(Predicate<ConfigMap>([this](const ConfigMap&) {
             (void)Pause(10ms);
             calls_.emplace_back("event");
             return true;
           }))
           .Reconcile([this](Request&) -> Result<void> {
             calls_.emplace_back("call");
             return {};
           }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("event", "event", "event", "call", "call", "call"));
  Stop(ran);
}

// Contract: controller 96.
TEST_P(ControllerWatchTest, StartsWhenItsKindIsInstalledSoonAfterTheManager) {
  AddMap("a");
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 404, .reason = "NotFound"});
  const Manager manager = New();
  ControlMaps(manager);
  const Ran ran = Spawn(manager);
  cluster_.Advance(10s);
  EXPECT_FALSE(ran.done());
  EXPECT_THAT(calls_, IsEmpty());
  cluster_.ClearFaults();
  cluster_.Advance(30s);
  EXPECT_THAT(calls_, ElementsAre("default/a initial"));
  Stop(ran);
}

// Contract: controller 96.
TEST_P(ControllerWatchTest, FailsTheManagerWithTheNameOfAKindThatStaysMissing) {
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 404, .reason = "NotFound"});
  const Manager manager = New();
  ControlMaps(manager);
  const Ran ran = Spawn(manager);
  cluster_.Advance(60s);
  ASSERT_TRUE(ran.done());
  ASSERT_FALSE(ran.result());
  EXPECT_EQ(ran.result().error().code(), Code::kNotFound);
  EXPECT_THAT(ran.result().error().ToString(), HasSubstr("configmaps"));
}

// Contract: controller 95, 100.
TEST_P(ControllerWatchTest, ReconcilesWhatHandlersAndFunctionsOfTheProgramEnqueue) {
  AddDeployment("web");
  const Manager manager = New();
  const Controller controller = ControlMaps(manager);
  const auto deployments = Must(manager.caches().Of<Deployment>());
  const CacheRegistration registration =
      deployments.AddEventHandler({.on_add = [controller](const Added<Deployment>& e) { controller.Enqueue(e.key); }});
  Must(manager.Add("feed", [controller](const std::stop_token&) -> Result<void> {
    controller.Enqueue({"default", "fed"});
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("default/web requested", "default/fed requested"));
  Stop(ran);
}

// Contract: controller 101.
TEST_P(ControllerWatchTest, ReconcilesForADeletionThatOnlyANewListShows) {
  AddMap("a");
  AddOwned("set", "owner");  // which is no object itself, so that the new list adds no request for it
  std::vector<bool> unknown;
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps")
           .When(Predicate<ConfigMap>({.on_delete =
                                           [&](const Deleted<ConfigMap>& e) {
                                             unknown.push_back(e.final_state_unknown);
                                             return true;
                                           }}))
           .Owns<ReplicaSet>()
           .Reconcile([&](Request& request) -> Result<void> {
             calls_.push_back(Text(request));
             return {};
           }));
  const Ran ran = Spawn(manager);
  Settle();
  calls_.clear();
  cluster_.Inject({.verb = "watch", .times = testing::kAlways, .status = 503, .retry_after_seconds = 1});
  cluster_.CutWatches();
  cluster_.Advance(Nanos(0));
  Must(cluster_.Delete("configmaps", "default", "a"));
  Must(cluster_.Delete("replicasets", "default", "set"));
  cluster_.Compact();
  cluster_.ClearFaults();
  cluster_.Advance(60s);
  EXPECT_THAT(calls_, UnorderedElementsAre("default/a deleted", "default/owner owned(ReplicaSet default/set)"));
  EXPECT_THAT(unknown, ElementsAre(true));
  Stop(ran);
}

}  // namespace
}  // namespace kgen
