// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A controller under faults: whatever happens meanwhile, every object is reconciled after its last change, and no call
// sees a state older than what it has written itself.
#include <map>

#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ControllerPropertyTest : public ManagerTest {
 protected:
  static testing::ClusterOptions Options() { return {.latency = 2ms}; }
  ControllerPropertyTest() : ManagerTest(Options()) {}

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  std::string AnyName() { return "map-" + std::to_string(Choose(4)); }

  // Copies data.value to the annotation "seen", and counts its own writes in the annotation "writes".
  void Control(const Manager& manager) {
    Must(manager.Control<ConfigMap>("maps").MaxConcurrentReconciles(3).Reconcile(
        [this](Request& request) -> Result<Requeue> {
          KGEN_TRY(const auto map, request.Get<ConfigMap>());
          if (!map) {
            written_.erase(request.key());
            return Requeue::Done();
          }
          // Another object of the same name counts anew.
          auto& [uid, writes] = written_[request.key()];
          if (uid != map->metadata.uid.str()) writes = 0;
          uid = map->metadata.uid.str();
          const int seen = std::atoi(map->metadata.annotations["writes"].str().c_str());
          EXPECT_GE(seen, writes) << request.key() << ": the cache is older than a write of this process";
          if (map->metadata.annotations["seen"] == map->data["value"]) return Requeue::Done();
          ConfigMap mine = *map;
          mine.metadata.annotations["seen"] = map->data["value"];
          mine.metadata.annotations["writes"] = std::to_string(seen + 1);
          const auto done = request.client().Update(mine);
          if (!done) return done.error().code() == Code::kNotFound ? Result<Requeue>(Requeue::Done()) : done.error();
          writes = seen + 1;
          return Requeue::Done();
        }));
  }
  void Change() {
    const std::string name = AnyName();
    const auto stored = cluster_.Get("configmaps", "default", name);
    switch (Choose(stored ? 4 : 1)) {
      case 0:
      case 1:
        if (stored) {
          auto map = Must(Decode<ConfigMap>(*stored));
          map.data["value"] = std::to_string(++values_);
          (void)cluster_.Update(map);
        } else {
          AddMap(name, std::to_string(++values_));
        }
        break;
      case 2:
        (void)cluster_.Delete("configmaps", "default", name);
        break;
      case 3:  // another object of the same name
        (void)cluster_.Delete("configmaps", "default", name);
        AddMap(name, std::to_string(++values_));
        break;
    }
  }
  void Disturb() {
    switch (Choose(6)) {
      case 0:
        return cluster_.CutWatches();
      case 1:
        return cluster_.Inject({.verb = "update", .times = 2, .status = 500});
      case 2:
        return cluster_.Inject({.times = 3, .refuse = true});
      case 3:
        return cluster_.Compact();
      case 4:
        return cluster_.Restart();
      case 5:
        return cluster_.Inject({.verb = "update", .times = 1, .cut_after_bytes = 10});
    }
  }

  std::map<ObjectKey, std::pair<std::string, int>> written_;
  int values_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Seeds, ControllerPropertyTest, ::testing::Range<std::uint64_t>(0, 200));

TEST_P(ControllerPropertyTest, ReconcilesEveryObjectAfterItsLastChange) {
  const Manager manager = New();
  Control(manager);
  const Ran ran = Spawn(manager);
  for (int i = 0; i < 40; ++i) {
    Change();
    if (Choose(4) == 0) Disturb();
    cluster_.Advance(Nanos(1ms) * Choose(200));
  }
  cluster_.ClearFaults();
  cluster_.Advance(10min);
  for (const std::string& stored : cluster_.List("configmaps")) {
    const auto map = Must(Decode<ConfigMap>(stored));
    EXPECT_EQ(map.metadata.annotations["seen"], map.data["value"]) << stored;
  }
  Stop(ran);
}

}  // namespace
}  // namespace kgen
