// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The settings of controllers: their own, their kind's and their manager's.
#include <algorithm>
#include <string>
#include <vector>

#include "kgen/controller/rate_limiter.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ControllerSettingsTest : public ManagerTest {
 protected:
  static Result<void> Nothing(Request&) { return {}; }
  static std::string Workers(const Manager& manager, const std::string& controller) {
    const std::string text = Must(manager.metrics().Text());
    const std::string line = "controller_runtime_max_concurrent_reconciles{controller=\"" + controller + "\"} ";
    const std::size_t at = text.find(line);
    return at == std::string::npos ? "none" : text.substr(at + line.size(), 1);
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ControllerSettingsTest, ::testing::Range<std::uint64_t>(0, 5));

// Contract: controller 45, 58.
TEST_P(ControllerSettingsTest, TakesItsOwnWorkersElseThoseOfItsKindElseThoseOfTheManagerElseOne) {
  const Manager manager =
      New({.controllers = {.max_concurrent_reconciles = 3,
                           .group_kind_concurrency = {{"Deployment.apps", 4}, {"ConfigMap", 2}, {"Deployment", 9}}}});
  Must(manager.Control<Deployment>("own").MaxConcurrentReconciles(5).Reconcile(Nothing));
  Must(manager.Control<Deployment>("kind").Reconcile(Nothing));
  Must(manager.Control(GroupVersionKind{"apps", "v1", "Deployment"}, "dynamic").Reconcile(Nothing));
  Must(manager.Control<ConfigMap>("core").Reconcile(Nothing));
  Must(manager.Control<ReplicaSet>("other").Reconcile(Nothing));
  Must(manager.Control("without").Watches<ConfigMap>([](const ConfigMap&, Requests&) {}).Reconcile(Nothing));
  EXPECT_EQ(Workers(manager, "own"), "5");
  EXPECT_EQ(Workers(manager, "kind"), "4");
  EXPECT_EQ(Workers(manager, "dynamic"), "4");
  EXPECT_EQ(Workers(manager, "core"), "2");
  EXPECT_EQ(Workers(manager, "other"), "3");
  EXPECT_EQ(Workers(manager, "without"), "3");
  const Manager plain = New();
  Must(plain.Control<ConfigMap>("maps").Reconcile(Nothing));
  EXPECT_EQ(Workers(plain, "maps"), "1");
}

// Contract: controller 45.
TEST_P(ControllerSettingsTest, MakesAsManyCallsAtOnceAsTheManagerSays) {
  for (int i = 0; i < 8; ++i) AddMap("map-" + std::to_string(i));
  int running = 0, most = 0;
  const Manager manager = New({.controllers = {.max_concurrent_reconciles = 3}});
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
    most = std::max(most, ++running);
    (void)Pause(1s, request.stop());
    --running;
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_EQ(most, 3);
  Stop(ran);
}

// Contract: controller 58.
TEST_P(ControllerSettingsTest, TakesTheDeadlineAndTheRateLimiterOfTheManagerUnlessItHasItsOwn) {
  AddMap("a");
  const Manager manager =
      New({.controllers = {.rate_limiter = Must(ExponentialRateLimiter(1s)), .reconciliation_timeout = 7s}});
  struct Call {
    TimePoint at, deadline;
  };
  std::vector<Call> defaults, own;
  const auto fail_once = [this](std::vector<Call>& calls) {
    return [this, &calls](Request& request) -> Result<void> {
      calls.push_back({Now(), request.deadline()});
      if (request.failures() > 0) return {};
      return Error(Code::kServer, "not now");
    };
  };
  Must(manager.Control<ConfigMap>("defaults").Reconcile(fail_once(defaults)));
  Must(manager.Control<ConfigMap>("own")
           .ReconciliationTimeout(kNoLimit)
           .RateLimiter(Must(ExponentialRateLimiter(100ms)))
           .Reconcile(fail_once(own)));
  const Ran ran = Spawn(manager);
  Settle();
  ASSERT_EQ(defaults.size(), 2u);
  EXPECT_EQ(defaults[1].at - defaults[0].at, 1s);
  EXPECT_EQ(defaults[0].deadline - defaults[0].at, 7s);
  ASSERT_EQ(own.size(), 2u);
  EXPECT_EQ(own[1].at - own[0].at, 100ms);
  EXPECT_EQ(own[0].deadline, Waiter::kNoDeadline);
  Stop(ran);
}

// Contract: controller 58.
TEST_P(ControllerSettingsTest, TakesThePrioritiesOfTheManagerUnlessItHasItsOwn) {
  AddMap("a");
  AddMap("b");
  const Manager manager = New({.controllers = {.use_priority_queue = false}});
  std::vector<std::string> defaults, own;
  // The first call enqueues a key while another one of the first list waits.
  std::vector<Controller> controllers;
  const auto enqueue = [&controllers](std::size_t index, std::vector<std::string>& calls) {
    return [&controllers, index, &calls](Request& request) -> Result<void> {
      calls.emplace_back(request.key().name.str());
      if (calls.size() == 1) controllers[index].Enqueue({"default", "new"});
      return {};
    };
  };
  controllers.push_back(Must(manager.Control<ConfigMap>("defaults").Reconcile(enqueue(0, defaults))));
  controllers.push_back(Must(manager.Control<ConfigMap>("own").UsePriorityQueue(true).Reconcile(enqueue(1, own))));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(defaults, ElementsAre(_, _, "new"));
  EXPECT_THAT(own, ElementsAre(_, "new", _));
  Stop(ran);
}

// Contract: controller 53, 58.
TEST_P(ControllerSettingsTest, NeedsTheLeaderUnlessItOrItsManagerSaysOtherwise) {
  AddMap("a");
  Must(cluster_.Add(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"shop","namespace":"default"},
      "spec":{"holderIdentity":"somebody","leaseDurationSeconds":3600,"renewTime":"2020-01-01T00:00:00.000000Z"}})"));
  const auto candidate = [this](ControllerDefaults defaults) {
    return New({.leader_election = {.name = "shop", .namespace_ = "default", .identity = "me"},
                .controllers = std::move(defaults)});
  };
  const auto call = [this](std::string name) {
    return [this, name](Request&) -> Result<void> {
      calls_.push_back(name);
      return {};
    };
  };
  const Manager first = candidate({});
  Must(first.Control<ConfigMap>("first default").Reconcile(call("first default")));
  Must(first.Control<ConfigMap>("first own").NeedLeaderElection(false).Reconcile(call("first own")));
  const Manager second = candidate({.need_leader_election = false});
  Must(second.Control<ConfigMap>("second default").Reconcile(call("second default")));
  Must(second.Control<ConfigMap>("second own").NeedLeaderElection(true).Reconcile(call("second own")));
  const Ran ran_first = Spawn(first), ran_second = Spawn(second);
  cluster_.Advance(30s);
  EXPECT_THAT(calls_, UnorderedElementsAre("first own", "second default"));
  stop_.request_stop();
  cluster_.Advance(10s);
  EXPECT_TRUE(ran_first.done() && ran_second.done());
}

TEST_P(ControllerSettingsTest, RefusesOptionsOutOfTheirRangeAndNamesThem) {
  const auto refusal = [this](ManagerOptions options) {
    const auto made = Manager::New(cluster_.Connection(), std::move(options));
    EXPECT_TRUE(made || made.error().code() == Code::kInvalidArgument);
    return made ? "none" : made.error().ToString();
  };
  for (const int calls : {0, -1}) {
    EXPECT_THAT(refusal({.controllers = {.max_concurrent_reconciles = calls}}),
                HasSubstr("max_concurrent_reconciles is " + std::to_string(calls)));
    EXPECT_THAT(refusal({.controllers = {.group_kind_concurrency = {{"Deployment.apps", calls}}}}),
                HasSubstr("group_kind_concurrency of 'Deployment.apps' is " + std::to_string(calls)));
  }
  EXPECT_THAT(refusal({.controllers = {.reconciliation_timeout = 0s}}), HasSubstr("reconciliation_timeout is 0s"));
  EXPECT_THAT(refusal({.controllers = {.reconciliation_timeout = -1s}}), HasSubstr("reconciliation_timeout is -1s"));
  EXPECT_THAT(refusal({.graceful_shutdown_timeout = -1s}), HasSubstr("graceful_shutdown_timeout is -1s"));
  for (const Nanos sensible : {Nanos(0s), kNoLimit})
    EXPECT_EQ(refusal({.graceful_shutdown_timeout = sensible}), "none");
  EXPECT_THAT(refusal({.caches = {.sync_timeout = 0s}}), HasSubstr("CachesOptions::sync_timeout is 0s"));
  EXPECT_THAT(refusal({.caches = {.max_remembered_writes = 0}}),
              HasSubstr("CachesOptions::max_remembered_writes is 0"));

  const Manager manager = New();
  const auto built = [&](Nanos timeout) {
    const auto made = manager.Control<ConfigMap>("maps").ReconciliationTimeout(timeout).Reconcile(Nothing);
    return made ? "none" : made.error().ToString();
  };
  EXPECT_THAT(built(0s), HasSubstr("ReconciliationTimeout() is 0s"));
  EXPECT_THAT(built(-1s), HasSubstr("ReconciliationTimeout() is -1s"));
  EXPECT_EQ(built(kNoLimit), "none");
}

}  // namespace
}  // namespace kgen
