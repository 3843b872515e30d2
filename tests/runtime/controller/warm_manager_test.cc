// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A manager whose caches start from files that an earlier process has saved. It does not know what that process has
// written, so it calls nothing before they are current.
#include "tests/runtime/controller/manager_fixture.h"
#include "tests/support/private_folder.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class WarmManagerTest : public ManagerTest {
 protected:
  Manager NewWarm() { return New({.caches = {.defaults = {.warm_start = WarmStart{.folder = folder_.path()}}}}); }
  void Control(const Manager& manager) {
    Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
      const Result<Ref<const ConfigMap>> map = request.client().Get<ConfigMap>(request.key());
      calls_.push_back(Text(request) + (map && *map ? " is there" : " is gone"));
      return {};
    }));
  }
  test_support::PrivateFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, WarmManagerTest, ::testing::Range<std::uint64_t>(0, 8));

TEST_P(WarmManagerTest, CallsNothingBeforeItsCachesAreCurrent) {
  AddMap("a");
  AddMap("b");
  {
    const Manager first = NewWarm();
    Control(first);
    const Ran ran = Spawn(first);
    Settle();
    cluster_.Advance(11s);
    Stop(ran);
  }
  EXPECT_THAT(calls_, UnorderedElementsAre("default/a initial is there", "default/b initial is there"));
  calls_.clear();
  Must(cluster_.Delete("configmaps", "default", "a"));
  AddMap("c");
  stop_ = std::stop_source();
  const Manager second = NewWarm();
  Control(second);
  const Ran ran = Spawn(second);
  cluster_.Advance(20s);
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(Must(second.metrics().Text()),
              HasSubstr("kgen_informer_stale{informer=\"configmaps\",kind=\"ConfigMap\",manager=\"kgen\"} 1\n"));
  cluster_.Advance(2min);
  EXPECT_THAT(calls_, UnorderedElementsAre("default/b initial is there", "default/c initial is there"));
  EXPECT_THAT(Must(second.metrics().Text()),
              HasSubstr("kgen_informer_stale{informer=\"configmaps\",kind=\"ConfigMap\",manager=\"kgen\"} 0\n"));
  Stop(ran);
}

}  // namespace
}  // namespace kgen
