// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ControllerBuilder::SkipOwnWrites: no second call for what a function has written itself, and no call that is missing.
#include <map>

#include "kgen/controller/controller.h"
#include "kgen/controller/owners.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SkipOwnWritesTest : public ManagerTest {
 protected:
  using ManagerTest::ManagerTest;
  // Sets an annotation, once for each value.
  static Result<void> Annotate(const Request& request) {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    if (!map || map->metadata.annotations["seen"] == map->data["value"]) return {};
    ConfigMap mine = *map;
    mine.metadata.annotations["seen"] = map->data["value"];
    return Discard(request.client().Update(mine));
  }
  Ran Control(const Manager& manager, bool skip, std::function<Result<Requeue>(Request&)> then = {}) {
    Must(manager.Control<ConfigMap>("maps").SkipOwnWrites(skip).Reconcile(
        [this, then](Request& request) -> Result<Requeue> {
          calls_.push_back(Text(request));
          if (auto done = Annotate(request); !done) return Fail(done.error());
          return then ? then(request) : Requeue::Done();
        }));
    return Spawn(manager);
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, SkipOwnWritesTest, ::testing::Range<std::uint64_t>(0, 10));

TEST_P(SkipOwnWritesTest, IsOffByDefault) {
  AddMap("a", "1");
  const Manager manager = New();
  const Ran ran = Control(manager, false);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a changed"));
  Stop(ran);
}

// Contract: controller 148.
TEST_P(SkipOwnWritesTest, MakesNoSecondCallForAnUpdateAndOneForEachChangeOfAnother) {
  AddMap("a", "1");
  const Manager manager = New();
  const Ran ran = Control(manager, true);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a initial"));
  EXPECT_THAT(Must(manager.metrics().Text()),
              HasSubstr("kgen_controller_own_writes_skipped_total{controller=\"maps\"} 1\n"));
  UpdateMap("a", "2");
  Settle();
  EXPECT_THAT(calls_, SizeIs(2));
  Must(cluster_.Delete("configmaps", "default", "a"));
  Settle();
  EXPECT_THAT(calls_, SizeIs(3));
  Stop(ran);
}

TEST_P(SkipOwnWritesTest, MakesNoCallForAnObjectThatTheFunctionHasCreatedForItsOwner) {
  AddMap("a", "1");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").Owns<Deployment>().SkipOwnWrites(true).Reconcile(
      [this](Request& request) -> Result<void> {
        calls_.push_back(Text(request));
        KGEN_TRY(const auto map, request.Get<ConfigMap>());
        Deployment wanted = testing::MinimalObject("apps/v1", "Deployment", "default", "web");
        wanted.metadata.ownerReferences.push_back(ControllerRef(*map));
        const auto created = request.client().Create(wanted);
        return created || created.error().code() == Code::kAlreadyExists ? Result<void>() : Fail(created.error());
      }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a initial"));
  Stop(ran);
}

TEST_P(SkipOwnWritesTest, CallsForAWriteThatDependsOnNoKnownState) {
  AddMap("a", "1");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").SkipOwnWrites(true).Reconcile([this](Request& request) -> Result<void> {
    calls_.push_back(Text(request));
    ConfigMap mine{.metadata = {.name = "a", .namespace_ = "default", .annotations = {{"seen", "1"}}}};
    return Discard(request.client().Patch(mine, MergePatch(R"({"metadata":{"annotations":{"seen":"1"}}})")));
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a changed"));
  Stop(ran);
}

TEST_P(SkipOwnWritesTest, KeepsTheTimeOfTheNextCall) {
  AddMap("a", "1");
  const Manager manager = New();
  std::vector<TimePoint> times;
  const Ran ran = Control(manager, true, [&](Request&) -> Result<Requeue> {
    times.push_back(Now());
    return times.size() < 3 ? Requeue::After(10s) : Requeue::Done();
  });
  cluster_.Advance(60s);
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_EQ(times[1] - times[0], 10s);
  EXPECT_EQ(times[2] - times[1], 10s);
  EXPECT_THAT(calls_, ElementsAre("default/a initial", "default/a requeued", "default/a requeued"));
  Stop(ran);
}

TEST_P(SkipOwnWritesTest, CallsAgainAfterAFailure) {
  AddMap("a", "1");
  const Manager manager = New();
  int calls = 0;
  const Ran ran = Control(manager, true, [&](Request&) -> Result<Requeue> {
    if (++calls == 1) return Fail(Code::kServer, "after the write");
    return Requeue::Done();
  });
  Settle();
  EXPECT_EQ(calls, 2);
  Stop(ran);
}

// A second writer, cut watches, relists and updates whose outcome the function does not know.
class SkipOwnWritesPropertyTest : public ManagerTest {
 protected:
  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }

  void Disturb() {
    const std::string name = "m" + std::to_string(Choose(3));
    switch (Choose(8)) {
      case 0:
        return cluster_.CutWatches();
      case 1:
        return cluster_.FailWatches(410, "Expired");
      case 2:
        return cluster_.Inject({.verb = "update", .status = 500});
      case 3:
        return cluster_.Inject({.verb = "update", .delay = std::chrono::milliseconds(Choose(3000))});
      case 4:
        return cluster_.Inject({.verb = "watch", .delay = std::chrono::milliseconds(Choose(3000))});
      default:
        UpdateMap(name, std::to_string(Choose(1000)));
    }
  }

  // The newest version of each object that the function has read or written.
  std::map<std::string, std::string> known_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, SkipOwnWritesPropertyTest, ::testing::Range<std::uint64_t>(0, 60));

// Contract: controller 148.
TEST_P(SkipOwnWritesPropertyTest, TheFunctionKnowsTheLastStateOfEveryObject) {
  for (int i = 0; i < 3; ++i) AddMap("m" + std::to_string(i), "0");
  const Manager manager = New();
  Must(manager.Control<ConfigMap>("maps").SkipOwnWrites(true).MaxConcurrentReconciles(2).Reconcile(
      [this](Request& request) -> Result<Requeue> {
        KGEN_TRY(const auto map, request.Get<ConfigMap>());
        known_[request.key().name.str()] = map->metadata.resourceVersion.str();
        for (ConfigMap mine = *map; Choose(2) == 0;) {
          mine.metadata.annotations["by"] = std::to_string(Choose(1000));
          Result<ConfigMap> updated = request.client().Update(mine);
          if (!updated) return Fail(updated.error());
          mine = *std::move(updated);
          known_[request.key().name.str()] = mine.metadata.resourceVersion.str();
          if (Choose(3) == 0) (void)Pause(std::chrono::milliseconds(Choose(500)), request.stop());
        }
        if (Choose(4) == 0) return Requeue::After(std::chrono::milliseconds(1 + Choose(2000)));
        return Requeue::Done();
      }));
  const Ran ran = Spawn(manager);
  for (int i = 0; i < 100; ++i) {
    cluster_.Advance(std::chrono::milliseconds(Choose(800)));
    Disturb();
  }
  cluster_.ClearFaults();
  cluster_.Advance(5min);
  for (int i = 0; i < 3; ++i) {
    const std::string name = "m" + std::to_string(i);
    const ConfigMap map = Must(Decode<ConfigMap>(Must(cluster_.Get("configmaps", "default", name))));
    EXPECT_EQ(known_[name], map.metadata.resourceVersion) << name;
  }
  stop_.request_stop();
  cluster_.Advance(60s);
  ASSERT_TRUE(ran.done());
  EXPECT_TRUE(ran.result()) << ran.result();
}

}  // namespace
}  // namespace kgen
