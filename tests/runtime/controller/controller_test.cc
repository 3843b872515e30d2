// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Controllers: what becomes a request, and what a result leads to.
#include "kgen/controller/controller.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "kgen/controller/owners.h"
#include "kgen/controller/terminal_error.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ControllerTest : public ManagerTest {};
INSTANTIATE_TEST_SUITE_P(Seeds, ControllerTest, ::testing::Range<std::uint64_t>(0, 20));

// Contract: controller 47, 85, 103.
TEST_P(ControllerTest, ReconcilesEveryObjectThatIsThereAtTheStart) {
  AddMap("a");
  AddMap("b");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    calls_.push_back(Text(request));
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("default/a initial", "default/b initial"));
  Stop(ran);
}

// Contract: controller 61, 70, 104, 268.
TEST_P(ControllerTest, ReconcilesAnObjectThatWasAddedChangedOrDeletedAndSaysWhy) {
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    calls_.push_back(Text(request) + ' ' + (map ? map->data["value"].str() : "gone"));
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  AddMap("a", "1");
  Settle();
  UpdateMap("a", "2");
  Settle();
  Must(cluster_.Delete("configmaps", "default", "a"));
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a changed 1", "default/a changed 2", "default/a deleted gone"));
  Stop(ran);
}

TEST_P(ControllerTest, CountsTheEventsThatBecomeOneRequestAndKeepsTenReasons) {
  std::vector<std::size_t> reasons, merged;
  const Manager manager = New();
  Must(manager.Control("sums")
           .Watches<ConfigMap>([](const ConfigMap&, Requests& requests) { requests.Add("default", "sum"); })
           .Reconcile([&](Request& request) -> Result<Requeue> {
             reasons.push_back(request.reasons().size());
             merged.push_back(request.merged());
             return Requeue::Done();
           }));
  for (int i = 0; i < 25; ++i) AddMap("map-" + std::to_string(i));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(reasons, ElementsAre(10u));
  EXPECT_THAT(merged, ElementsAre(25u));
  Stop(ran);
}

// Contract: controller 86, 105.
TEST_P(ControllerTest, ReconcilesTheOwnersOfAnOwnedObjectBeforeAndAfterAChange) {
  AddDeployment("old");
  AddDeployment("new");
  const Manager manager = New();
  Must(
      manager.Control<Deployment>("deployments").Owns<ReplicaSet>().Reconcile([&](Request& request) -> Result<Requeue> {
        calls_.push_back(Text(request));
        return Requeue::Done();
      }));
  const Ran ran = Spawn(manager);
  Settle();
  calls_.clear();
  const auto owner = [&](std::string_view name) {
    return ControllerRef(Must(Decode<Deployment>(Must(cluster_.Get("deployments", "default", name)))));
  };
  auto set = static_cast<ReplicaSet>(testing::MinimalObject("apps/v1", "ReplicaSet", "default", "set"));
  set.metadata.ownerReferences = {owner("old")};
  Must(cluster_.Add(set));
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/old owned(ReplicaSet default/set)"));
  calls_.clear();
  set.metadata.ownerReferences = {owner("new")};
  Must(cluster_.Update(set));
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("default/old owned(ReplicaSet default/set)",
                                           "default/new owned(ReplicaSet default/set)"));
  Stop(ran);
}

// Contract: controller 87, 107.
TEST_P(ControllerTest, MapsTheOldAndTheNewObjectOfAWatch) {
  const Manager manager = New();
  Must(manager.Control("targets")
           .Watches<ConfigMap>([](const ConfigMap& map, Requests& requests) {
             requests.Add("default", map.data["value"]);
             requests.Add("default", map.data["value"]);
           })
           .Reconcile([&](Request& request) -> Result<Requeue> {
             calls_.push_back(Text(request));
             return Requeue::Done();
           }));
  const Ran ran = Spawn(manager);
  Settle();
  AddMap("a", "x");
  Settle();
  UpdateMap("a", "y");
  Settle();
  EXPECT_THAT(calls_.front(), "default/x watched(ConfigMap default/a)");
  calls_.erase(calls_.begin());
  EXPECT_THAT(calls_,
              UnorderedElementsAre("default/x watched(ConfigMap default/a)", "default/y watched(ConfigMap default/a)"));
  Stop(ran);
}

// Contract: controller 89, 115.
TEST_P(ControllerTest, LetsAPredicateDropEventsOfItsWatchOnly) {
  AddDeployment("web");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps")
           .When(Predicate<ConfigMap>([](const ConfigMap& map) { return map.data["value"] == "yes"; }))
           .Watches<Deployment>(
               [](const Deployment& d, Requests& requests) { requests.Add(d.metadata.namespace_, d.metadata.name); })
           .Reconcile([&](Request& request) -> Result<Requeue> {
             calls_.push_back(request.key().name.str());
             return Requeue::Done();
           }));
  AddMap("a", "yes");
  AddMap("b", "no");
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("a", "web"));
  EXPECT_THAT(Must(manager.client().List<ConfigMap>()), SizeIs(2));  // the cache has it nevertheless
  Stop(ran);
}

// Contract: controller 89.
TEST_P(ControllerTest, AsksTheFilterOfAllWatchesAndThePredicateOfEach) {
  const auto add = [&]<typename T>(T object, std::string_view tier) {
    if (!tier.empty()) object.metadata.labels["tier"] = tier;
    Must(cluster_.Add(object));
  };
  for (const char* name : {"a", "b"}) add(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}}, "web");
  add(ConfigMap{.metadata = {.name = "c", .namespace_ = "default"}}, "");
  add(static_cast<Deployment>(testing::MinimalObject("apps/v1", "Deployment", "default", "d")), "web");
  add(static_cast<Deployment>(testing::MinimalObject("apps/v1", "Deployment", "default", "e")), "");
  auto owned = static_cast<ReplicaSet>(testing::MinimalObject("apps/v1", "ReplicaSet", "default", "set"));
  owned.metadata.ownerReferences = {
      {.name = "owner", .apiVersion = "v1", .controller = true, .kind = "ConfigMap", .uid = "u"}};
  Must(cluster_.Add(owned));
  const Manager manager = New();
  const Controller controller =
      Must(manager.Control<ConfigMap>("maps")
               .When(Predicate<ConfigMap>([](const ConfigMap& map) { return map.metadata.name != "b"; }))
               .WithEventFilter(Must(MatchesLabels("tier=web")))
               .Owns<ReplicaSet>()
               .Watches<Deployment>([](const Deployment& d, Requests& requests) {
                 requests.Add(d.metadata.namespace_, d.metadata.name);
               })
               .Reconcile([&](Request& request) -> Result<Requeue> {
                 calls_.push_back(request.key().name.str());
                 return Requeue::Done();
               }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("a", "d"));
  calls_.clear();
  controller.Enqueue({"default", "c"});
  owned.metadata.labels["tier"] = "web";
  Must(cluster_.Update(owned));
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("c", "owner"));
  Stop(ran);
}

// Contract: controller 89.
TEST_P(ControllerTest, AsksEveryFilterOfAllWatchesForUpdatesOfEachKind) {
  const auto deployment = [](std::string_view note, int replicas) {
    auto object = static_cast<Deployment>(testing::MinimalObject("apps/v1", "Deployment", "default", "web"));
    object.metadata.annotations["note"] = note;
    object.spec->replicas = replicas;
    return object;
  };
  AddMap("map");
  Must(cluster_.Add(deployment("1", 1)));
  const Manager manager = New();
  Must(
      manager.Control<ConfigMap>("maps")
          .WithEventFilter(GenerationChanged() || AnnotationsChanged())
          .WithEventFilter(MatchesMetadata([](const meta::v1::ObjectMeta& m) { return m.annotations["note"] != "no"; }))
          .Watches<Deployment>([](const Deployment&, Requests& requests) { requests.Add("default", "deployment"); })
          .Reconcile([&](Request& request) -> Result<Requeue> {
            calls_.push_back(request.key().name.str());
            return Requeue::Done();
          }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("map", "deployment"));
  calls_.clear();
  UpdateMap("map", "2");  // has no generation
  Settle();
  EXPECT_THAT(calls_, IsEmpty());
  Must(cluster_.Update(deployment("1", 2)));
  Settle();
  EXPECT_THAT(calls_, ElementsAre("deployment"));
  Must(cluster_.Update(deployment("no", 3)));
  Settle();
  EXPECT_THAT(calls_, SizeIs(1));
  Must(cluster_.Update(deployment("2", 3)));
  Settle();
  EXPECT_THAT(calls_, SizeIs(2));
  Stop(ran);
}

TEST_P(ControllerTest, LosesNoEventToAFilterThatThrowsUnlessThePredicateOfTheWatchDropsIt) {
  AddMap("a");
  AddMap("b");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps")
           .When(Predicate<ConfigMap>([](const ConfigMap& map) { return map.metadata.name == "a"; }))
           .WithEventFilter(
               MatchesMetadata([](const meta::v1::ObjectMeta&) -> bool { throw std::runtime_error("broken"); }))
           .Reconcile([&](Request& request) -> Result<Requeue> {
             calls_.push_back(request.key().name.str());
             return Requeue::Done();
           }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("a"));
  EXPECT_THAT(told_->handlers, ElementsAre(HasSubstr("broken"), HasSubstr("broken")));
  Stop(ran);
}

TEST_P(ControllerTest, LosesNoEventToAPredicateThatThrows) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps")
           .When(Predicate<ConfigMap>([](const ConfigMap&) -> bool { throw std::runtime_error("broken"); }))
           .Reconcile([&](Request& request) -> Result<Requeue> {
             calls_.push_back(request.key().name.str());
             return Requeue::Done();
           }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("a"));
  EXPECT_THAT(told_->handlers, Contains(HasSubstr("broken")));
  Stop(ran);
}

// Contract: controller 63.
TEST_P(ControllerTest, RetriesAFailedCallWithGrowingDelaysUntilItSucceeds) {
  AddMap("a");
  std::vector<TimePoint> times;
  std::vector<int> failures;
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    times.push_back(Now());
    failures.push_back(request.failures());
    calls_.push_back(Text(request));
    if (times.size() < 4) return Error(Code::kServer, "not now");
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(failures, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a retried", "default/a retried", "default/a retried"));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_EQ(times[1] - times[0], 5ms);
  EXPECT_EQ(times[2] - times[1], 10ms);
  EXPECT_EQ(times[3] - times[2], 20ms);
  EXPECT_THAT(told_->reconciles, SizeIs(3));
  EXPECT_THAT(told_->reconciles, Each("maps default/a: not now"));
  Stop(ran);
}

// Contract: controller 64.
TEST_P(ControllerTest, DoesNotRetryATerminalErrorUntilTheObjectChanges) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    calls_.push_back(Text(request));
    return TerminalError({Code::kInvalid, "never"});
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a initial"));
  EXPECT_THAT(told_->reconciles, ElementsAre("maps default/a: never (terminal)"));
  UpdateMap("a", "2");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a changed"));
  Stop(ran);
}

TEST_P(ControllerTest, ATerminalErrorAfterRetriesIsNoRecovery) {
  AddMap("a");
  AddMap("b");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    if (request.failures() < 2) return Error(Code::kServer, "not now");
    if (request.key().name == "a") return TerminalError({Code::kInvalid, "never"});
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(told_->reconciles, SizeIs(5));
  EXPECT_THAT(told_->reconciles, Contains("maps default/a: never (terminal)"));
  EXPECT_THAT(told_->recoveries, ElementsAre("maps default/b after 2"));
  Stop(ran);
}

TEST_P(ControllerTest, ACallThatAStopCancelsIsNoRecovery) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    if (request.failures() == 0) return Error(Code::kServer, "not now");
    calls_.push_back(Text(request));
    WaitForStop(request.stop());
    return Error(Code::kCancelled, "stopped");
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, SizeIs(1));
  Stop(ran);
  EXPECT_THAT(told_->reconciles, SizeIs(1));
  EXPECT_THAT(told_->recoveries, IsEmpty());
}

TEST_P(ControllerTest, RetriesAConflictWithoutAReport) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    calls_.push_back(Text(request));
    if (calls_.size() < 3) return Error(Code::kConflict, "changed meanwhile");
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, SizeIs(3));
  EXPECT_THAT(told_->reconciles, IsEmpty());
  Stop(ran);
}

// Contract: controller 65.
TEST_P(ControllerTest, RunsAgainAfterTheRequestedTime) {
  AddMap("a");
  std::vector<TimePoint> times;
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    times.push_back(Now());
    calls_.push_back(Text(request));
    return times.size() < 3 ? Requeue::After(30s) : Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  cluster_.Advance(61s);
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_EQ(times[1] - times[0], 30s);
  EXPECT_EQ(times[2] - times[1], 30s);
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a requeued", "default/a requeued"));
  Stop(ran);
}

// Contract: controller 67.
TEST_P(ControllerTest, BacksOffWithoutAnErrorIfTheFunctionAsksForIt) {
  AddMap("a");
  std::vector<TimePoint> times;
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    times.push_back(Now());
    calls_.push_back(Text(request));
    return times.size() < 3 ? Requeue::BackOff() : Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_EQ(times[1] - times[0], 5ms);
  EXPECT_EQ(times[2] - times[1], 10ms);
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a retried", "default/a retried"));
  EXPECT_THAT(told_->reconciles, IsEmpty());
  const std::string text = Must(manager.metrics().Text());
  EXPECT_THAT(text, HasSubstr("controller_runtime_reconcile_total{controller=\"maps\",result=\"requeue\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("controller_runtime_reconcile_errors_total{controller=\"maps\"} 0\n"));
  Stop(ran);
}

TEST_P(ControllerTest, TakesAnExceptionForAnErrorOfThatCallAlone) {
  AddMap("bad");
  AddMap("good");
  int bad = 0;
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    if (request.key().name == "bad" && ++bad < 3) throw std::runtime_error("oh");
    calls_.push_back(request.key().name.str());
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("good", "bad"));
  EXPECT_THAT(told_->reconciles, SizeIs(2));
  EXPECT_THAT(told_->reconciles, Each(HasSubstr("the reconcile function threw: oh")));
  Stop(ran);
}

// Contract: controller 55.
TEST_P(ControllerTest, EndsTheCallsOfAFunctionAtItsDeadline) {
  AddMap("a");
  cluster_.Inject({.verb = "get", .resource = "configmaps", .times = 1, .stall = true});
  const Manager manager = New();
  std::vector<Nanos> took;
  Must(manager.Control<ConfigMap>("maps").ReconciliationTimeout(3s).Reconcile([&](Request& request) -> Result<Requeue> {
    const TimePoint started = Now();
    const auto live = request.client().Live().Get<ConfigMap>(request.key());
    took.push_back(Now() - started);
    if (!live) return live.error();
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  ASSERT_THAT(took, SizeIs(2));
  EXPECT_EQ(took[0], 3s);
  EXPECT_THAT(told_->reconciles, ElementsAre(HasSubstr("the deadline of 3s passed")));
  EXPECT_THAT(Must(manager.metrics().Text()),
              HasSubstr("controller_runtime_reconcile_timeouts_total{controller=\"maps\"} 1\n"));
  Stop(ran);
}

// Contract: controller 55.
TEST_P(ControllerTest, CountsATimeoutOnlyIfTheDeadlineHasPassed) {
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").ReconciliationTimeout(3s).Reconcile([&](Request& request) -> Result<void> {
    calls_.push_back(request.key().str());
    if (request.failures() == 0) return Error(Code::kTimeout, "a time limit of the function itself");
    WaitForStop(request.stop());
    return Error(Code::kTimeout, "stopped");
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(2s);
  Stop(ran);
  EXPECT_THAT(calls_, SizeIs(2));
  EXPECT_THAT(Must(manager.metrics().Text()),
              HasSubstr("controller_runtime_reconcile_timeouts_total{controller=\"maps\"} 0\n"));
}

// Contract: controller 46.
TEST_P(ControllerTest, NeverRunsTwoCallsForOneKeyAtOnce) {
  for (int i = 0; i < 5; ++i) AddMap("map-" + std::to_string(i));
  std::map<ObjectKey, int> running;
  int most = 0, at_once = 0;
  const Manager manager = New();
  Must(
      manager.Control<ConfigMap>("maps").MaxConcurrentReconciles(4).Reconcile([&](Request& request) -> Result<Requeue> {
        EXPECT_EQ(++running[request.key()], 1);
        most = std::max(most, ++at_once);
        (void)Pause(10ms, request.stop());
        --at_once;
        --running[request.key()];
        return Requeue::Done();
      }));
  const Ran ran = Spawn(manager);
  Settle();
  for (int i = 0; i < 10; ++i) {
    UpdateMap("map-" + std::to_string(i % 5), std::to_string(i));
    cluster_.Advance(3ms);
  }
  Settle();
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 4);
  Stop(ran);
}

// Contract: controller 47.
TEST_P(ControllerTest, CallsNothingBeforeEveryCacheHasSynced) {
  AddDeployment("web");
  AddMap("a");
  cluster_.Inject({.verb = "list", .resource = "deployments", .times = 2, .status = 503});
  cluster_.Inject({.verb = "watch", .resource = "deployments", .times = 2, .status = 503});
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Owns<Deployment>().Reconcile([&](Request& request) -> Result<Requeue> {
    calls_.push_back(std::to_string(Must(request.client().List<Deployment>()).size()));
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("1"));
  Stop(ran);
}

// Contract: controller 90.
TEST_P(ControllerTest, ReconcilesAKindWithoutGeneratedCodeAndWatchesMetadataAlone) {
  AddDeployment("web");
  AddMap("a");
  const Manager manager = New();
  Must(manager.Control(GroupVersionKind{"apps", "v1", "Deployment"}, "any")
           .WatchesMetadata<ConfigMap>([](const PartialObjectMetadata& map, Requests& requests) {
             requests.Add(map.metadata.namespace_, map.metadata.name);
           })
           .Reconcile([&](Request& request) -> Result<Requeue> {
             calls_.push_back(Text(request));
             return Requeue::Done();
           }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, UnorderedElementsAre("default/web initial", "default/a initial"));
  Stop(ran);
}

// Contract: controller 98.
TEST_P(ControllerTest, ReconcilesKeysThatTheProgramEnqueuesBeforeAndAfterTheStart) {
  const Manager manager = New();
  const Controller controller =
      Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
        calls_.push_back(Text(request));
        return Requeue::Done();
      }));
  controller.Enqueue({"default", "early"});
  const Ran ran = Spawn(manager);
  Settle();
  controller.Enqueue({"default", "late"});
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/early requested", "default/late requested"));
  Stop(ran);
  controller.Enqueue({"default", "too late"});
}

// Contract: controller 56.
TEST_P(ControllerTest, LogsWithItsNameTheKeyTheIdAndFields) {
  AddMap("a");
  std::string id;
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
    id = request.id();
    request.Log("hello");
    request.Log(LogLevel::kWarning, "careful", {{"count", 3}, {"of", "five"}});
    request.Log(LogLevel::kDebug, "not wanted");
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(told_->logged, ElementsAre("maps default/a info " + id + ": hello",
                                         "maps default/a warning " + id + ": careful count=3 of=five"));
  Stop(ran);
}

// Contract: controller 56.
TEST_P(ControllerTest, GivesEachCallAnIdWhichTheReportOfItsFailureHas) {
  for (const char* name : {"a", "b", "c"}) AddMap(name);
  std::vector<std::string> ids, reports;
  const Manager manager = New();
  for (const char* name : {"maps", "others"}) {
    Must(manager.Control<ConfigMap>(name).Reconcile([&](Request& request) -> Result<void> {
      ids.emplace_back(request.id());
      EXPECT_THAT(ids.back(), ::testing::MatchesRegex("[0-9a-f]{16}"));
      if (request.failures() > 1) return {};
      reports.push_back("reconcile " + ids.back() + ": not now (ServerError)");
      const Error error(Code::kServer, "not now");
      return request.key().name == "a" ? TerminalError(error) : error;
    }));
  }
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(ids, SizeIs(14));
  EXPECT_THAT(std::set<std::string>(ids.begin(), ids.end()), SizeIs(14));
  EXPECT_EQ(told_->failures, reports);
  Stop(ran);
}

// Contract: controller 43, 44, 85, 88, 96, 99.
TEST_P(ControllerTest, RefusesWhatCannotRun) {
  const auto nothing = [](Request&) -> Result<void> { return {}; };
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile(nothing));
  const auto failure = [](const Result<Controller>& result) { return result ? "" : result.error().ToString(); };
  EXPECT_THAT(failure(manager.Control<ConfigMap>("maps").Reconcile(nothing)), HasSubstr("the name is taken"));
  EXPECT_THAT(failure(manager.Control<ConfigMap>("").Reconcile(nothing)), HasSubstr("needs a name"));
  EXPECT_THAT(failure(manager.Control("none").Reconcile(nothing)), HasSubstr("watches nothing"));
  EXPECT_THAT(failure(manager.Control<ConfigMap>("idle").MaxConcurrentReconciles(0).Reconcile(nothing)),
              HasSubstr("MaxConcurrentReconciles() is 0"));
  EXPECT_THAT(failure(manager.Control<ConfigMap>("empty").Reconcile(std::function<Result<void>(Request&)>())),
              HasSubstr("Reconcile() is empty"));
  const std::function<void(const Deployment&, Requests&)> no_map;
  EXPECT_THAT(failure(manager.Control<ConfigMap>("empty").Watches<Deployment>(no_map).Reconcile(nothing)),
              HasSubstr("Watches() for k8s.apps.v1.Deployment is empty"));
  const auto unknown = manager.Control(GroupVersionKind{"apps", "v1", "Nothing"}, "unknown").Reconcile(nothing);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), Code::kNotFound);
  // A name that was refused is free again.
  EXPECT_TRUE(manager.Control<ConfigMap>("unknown").Reconcile(nothing));
}

// Contract: controller 210.
TEST_P(ControllerTest, CountsTheRequestsOfAConnectionOnceForAllManagersOfARegistry) {
  const Metrics metrics;
  const Connection shared = cluster_.Connection();
  for (const Connection& connection : {shared, shared, cluster_.Connection()}) {
    const Manager manager = Must(Manager::New(connection, {.endpoint = {.address = "", .metrics = metrics}}));
    EXPECT_FALSE(Must(manager.client().Live().Get<ConfigMap>({"default", "missing"})));
  }
  EXPECT_THAT(Must(metrics.Text()),
              HasSubstr("rest_client_requests_total{code=\"404\",host=\"in-process\",method=\"GET\"} 3\n"));
}

// Contract: controller 208, 209.
TEST_P(ControllerTest, HasItsMetricsFromTheStart) {
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").MaxConcurrentReconciles(3).Reconcile(
      [](Request&) -> Result<void> { return {}; }));
  const std::string text = Must(manager.metrics().Text());
  for (const char* line :
       {"controller_runtime_reconcile_total{controller=\"maps\",result=\"success\"} 0\n",
        "controller_runtime_reconcile_total{controller=\"maps\",result=\"error\"} 0\n",
        "controller_runtime_reconcile_total{controller=\"maps\",result=\"requeue\"} 0\n",
        "controller_runtime_reconcile_total{controller=\"maps\",result=\"requeue_after\"} 0\n",
        "controller_runtime_reconcile_errors_total{controller=\"maps\"} 0\n",
        "controller_runtime_terminal_reconcile_errors_total{controller=\"maps\"} 0\n",
        "controller_runtime_reconcile_panics_total{controller=\"maps\"} 0\n",
        "controller_runtime_reconcile_timeouts_total{controller=\"maps\"} 0\n",
        "controller_runtime_max_concurrent_reconciles{controller=\"maps\"} 3\n",
        "controller_runtime_active_workers{controller=\"maps\"} 0\n",
        "controller_runtime_reconcile_time_seconds_count{controller=\"maps\"} 0\n", "workqueue_adds_total"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_P(ControllerTest, MeasuresHowLongEachOfItsItemsTakes) {
  for (const char* name : {"a", "b"}) AddMap(name);
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Reconcile(
      [&](Request& request) -> Result<void> { return Pause(2s, request.stop()); }));
  const Ran ran = Spawn(manager);
  Settle();
  const std::string text = Must(manager.metrics().Text());
  EXPECT_THAT(text, HasSubstr("workqueue_work_duration_seconds_sum{controller=\"maps\",name=\"maps\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("workqueue_queue_duration_seconds_count{controller=\"maps\",name=\"maps\"} 2\n"));
  Stop(ran);
}

}  // namespace
}  // namespace kgen
