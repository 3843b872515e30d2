// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a manager shares, what it starts before it leads, and controllers of which a manager does less or nothing.
#include <memory>
#include <string>
#include <vector>

#include "kgen/controller/caches.h"
#include "kgen/controller/work_queue.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ManagerPartsTest : public ManagerTest {
 protected:
  ManagerOptions Elect() { return {.leader_election = {.name = "shop", .namespace_ = "default", .identity = "me"}}; }
  // Somebody holds the lease and does not renew it.
  void HoldLease() {
    Must(cluster_.Add(
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"shop","namespace":"default"},
      "spec":{"holderIdentity":"somebody","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})"));
  }
  std::function<Result<void>(std::stop_token)> Until(std::string name) {
    return [this, name](const std::stop_token& stop) -> Result<void> {
      calls_.push_back(name);
      WaitForStop(stop);
      return {};
    };
  }
  void End(const Ran& ran) {
    stop_.request_stop();
    cluster_.Advance(10s);
    ASSERT_TRUE(ran.done());
    EXPECT_TRUE(ran.result()) << ran.result();
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, ManagerPartsTest, ::testing::Range<std::uint64_t>(0, 20));

TEST_P(ManagerPartsTest, StartsWhatTheCachesNeedBeforeThem) {
  const Manager manager = New(Elect());
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 503});
  Must(manager.Add("tunnel",
                   [&](const std::stop_token& stop) -> Result<void> {
                     calls_.push_back("tunnel");
                     cluster_.ClearFaults();  // now the caches can sync
                     WaitForStop(stop);
                     return {};
                   },
                   {.before_caches = true}));
  const Ran ran = Spawn(manager);
  cluster_.Advance(10s);
  EXPECT_THAT(calls_, ElementsAre("tunnel"));
  EXPECT_TRUE(manager.IsLeader());
  stop_.request_stop();
  cluster_.Advance(10s);
  ASSERT_TRUE(ran.done());
  EXPECT_TRUE(ran.result()) << ran.result();
}

// Contract: controller 1.
TEST_P(ManagerPartsTest, GivesTheProgramWhatItsControllersUse) {
  AddMap("a");
  const Connection connection = cluster_.Connection();
  const Metrics metrics;
  const Manager manager = Must(Manager::New(connection, {.endpoint = {.address = "", .metrics = metrics}}));
  EXPECT_EQ(manager.connection(), connection);
  Ref<const ConfigMap> seen;
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
    KGEN_TRY(seen, request.Get<ConfigMap>());
    return {};
  }));
  const Ran ran = Spawn(manager);
  Settle();
  ASSERT_TRUE(seen);
  const auto read = cluster_.simulation().Spawn([&] { return manager.client().Get<ConfigMap>({"default", "a"}); });
  Settle();
  EXPECT_EQ(Must(read.result()).get(), seen.get());  // one object of one cache
  EXPECT_THAT(manager.caches().status(), SizeIs(1));
  for (const Metrics& each : {manager.metrics(), metrics}) {
    EXPECT_THAT(Must(each.Text()),
                HasSubstr("controller_runtime_reconcile_total{controller=\"maps\",result=\"success\"} 1\n"));
  }
  Stop(ran);
}

// Contract: controller 6, 7, 10.
TEST_P(ManagerPartsTest, StartsWhatNeedsNoLeaderAtOnceAndTheRestWhenItLeads) {
  HoldLease();
  const Manager manager = New(Elect());
  Must(manager.Add("leader", Until("leader")));
  Must(manager.Add("every", Until("every"), {.need_leader_election = false}));
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  EXPECT_THAT(calls_, ElementsAre("every"));
  cluster_.Advance(60s);
  EXPECT_TRUE(manager.IsLeader());
  EXPECT_THAT(calls_, ElementsAre("every", "leader"));
  End(ran);
}

// Contract: controller 54.
TEST_P(ManagerPartsTest, HasItsCachesBeforeItLeadsAndListsNothingThen) {
  HoldLease();
  AddMap("a", "old");
  const Manager manager = New(Elect());
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    calls_.push_back(map->data["value"].str());
    return {};
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(5s);
  EXPECT_FALSE(manager.IsLeader());
  ASSERT_THAT(manager.caches().status(), SizeIs(1));
  EXPECT_TRUE(manager.caches().status()[0].synced);
  UpdateMap("a", "new");
  cluster_.Inject({.verb = "list", .resource = "configmaps", .times = testing::kAlways, .status = 500});
  cluster_.Inject({.verb = "watch", .resource = "configmaps", .times = testing::kAlways, .status = 500});
  EXPECT_THAT(calls_, IsEmpty());
  cluster_.Advance(60s);
  EXPECT_TRUE(manager.IsLeader());
  EXPECT_THAT(calls_, ElementsAre("new"));
  End(ran);
}

// Contract: controller 20.
TEST_P(ManagerPartsTest, RunsTheCachesOfAnotherConnectionForItsControllers) {
  const Manager manager = New({.caches = {.scopes = {{.namespace_ = "default"}}}});
  const Caches other(cluster_.Connection(), {.scopes = {{.namespace_ = "other"}}});
  const auto maps = Must(other.Of<ConfigMap>());
  const Controller controller =
      Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
        KGEN_TRY(const auto map,
                 request.key().namespace_ == "other" ? maps.Get(request.key()) : request.Get<ConfigMap>());
        calls_.push_back(request.key().str() + ' ' + map->data["value"].str());
        return {};
      }));
  const CacheRegistration registration =
      maps.AddEventHandler({.on_add = [controller](const Added<ConfigMap>& e) { controller.Enqueue(e.key); }});
  Must(manager.Add("other caches",
                   [&](const std::stop_token& stop) -> Result<void> {
                     other.Start(stop);
                     WaitForStop(stop);
                     return {};
                   },
                   {.need_leader_election = false}));
  Must(cluster_.Add(ConfigMap{.metadata = {.name = "b", .namespace_ = "other"}, .data = {{"value", "2"}}}));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("other/b 2"));
  AddMap("a", "1");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("other/b 2", "default/a 1"));
  Stop(ran);
}

// Contract: controller 59.
TEST_P(ManagerPartsTest, HoldsNoThreadForAControllerThatNeverRuns) {
  const auto held = std::make_shared<int>();
  {
    const Manager manager = New();
    Must(manager.Control<ConfigMap>("maps").MaxConcurrentReconciles(4).Reconcile(
        [held](Request&) -> Result<void> { return {}; }));
    Settle();
    EXPECT_EQ(cluster_.simulation().census().blocking, 0u);
    EXPECT_EQ(cluster_.simulation().census().tasks, 0u);
    EXPECT_EQ(cluster_.census().watches, 0u);
    EXPECT_EQ(held.use_count(), 2);
  }
  Settle();
  EXPECT_EQ(held.use_count(), 1);
}

// Contract: controller 60.
TEST_P(ManagerPartsTest, ReconcilesWithoutAManagerFromCachesAndAQueue) {
  AddMap("a");
  const Caches caches(cluster_.Connection(), {});
  const auto maps = Must(caches.Of<ConfigMap>());
  const RateLimitingQueue queue({.name = "maps", .executor = cluster_.simulation().executor()});
  const CacheRegistration registration = maps.AddEventHandler(Enqueue<ConfigMap>(queue));
  const auto ran = cluster_.simulation().Spawn([&, stop = stop_.get_token()]() -> Result<void> {
    caches.Start(stop);
    if (Result<void> synced = caches.WaitForSync(stop); !synced) return synced;
    return queue.Process(2, stop, [&](const ObjectKey& key) -> Result<void> {
      calls_.push_back(key.str() + (Must(maps.Get(key)) ? "" : " is gone"));
      return {};
    });
  });
  Settle();
  Must(cluster_.Delete("configmaps", "default", "a"));
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a", "default/a is gone"));
  Stop(ran);
}

}  // namespace
}  // namespace kgen
