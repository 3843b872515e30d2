// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Controllers of managers whose namespaces change.
#include <algorithm>

#include "kgen/controller/access_rules.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ControllerNamespacesTest : public ManagerTest {
 protected:
  void Add(std::string_view in, std::string_view name) {
    Must(cluster_.Add(ConfigMap{.metadata = {.name = name, .namespace_ = in}}));
  }
  void Label(const std::string& name, bool is_new) {
    const std::string json =
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + R"(","labels":{"tenant":"yes"}}})";
    Must(is_new ? cluster_.Add(json) : cluster_.Update(json));
  }
  // A controller that notes its calls, and reads its object.
  void Control(const Manager& manager) {
    Must(manager.Control<ConfigMap>("maps").Reconcile([this](const Request& request) -> Result<Requeue> {
      calls_.push_back(Text(request));
      const auto map = request.client().Get<ConfigMap>(request.key());
      if (!map) return Fail(map.error());
      return Requeue::Done();
    }));
  }
};

TEST_P(ControllerNamespacesTest, ANamespaceThatGetsTheLabelIsReconciledAsAtTheStart) {
  Label("a", true);
  Add("a", "x");
  Add("b", "y");
  const Manager manager = New({.caches = {.namespaces_by_label = "tenant=yes"}});
  Control(manager);
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("a/x initial"));
  calls_.clear();
  Label("b", false);
  Settle();
  EXPECT_THAT(calls_, ElementsAre("b/y initial"));
  Add("b", "z");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("b/y initial", "b/z changed"));
  Stop(ran);
}

TEST_P(ControllerNamespacesTest, NothingIsCalledForANamespaceThatHasLeft) {
  Add("a", "x");
  Add("b", "y");
  const Manager manager =
      New({.caches = {.scopes = {{.namespace_ = "a"}, {.namespace_ = "b"}}, .changing_namespaces = true}});
  bool again = true;
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](const Request& request) -> Result<Requeue> {
    calls_.push_back(Text(request));
    if (again && request.key().namespace_ == "a") {
      (void)Pause(1s);
      if (const auto map = request.client().Get<ConfigMap>(request.key()); !map) return Fail(map.error());
      return Requeue::After(1s);
    }
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  cluster_.Advance(3500ms);
  EXPECT_THAT(calls_, Contains("a/x requeued"));
  Must(manager.caches().RemoveNamespace("a"));
  cluster_.Advance(1min);
  calls_.clear();
  Must(cluster_.Update(ConfigMap{.metadata = {.name = "x", .namespace_ = "a"}, .data = {{"value", "1"}}}));
  cluster_.Advance(10min);
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(told_->failures, IsEmpty());
  again = false;
  Must(manager.caches().AddNamespace("a"));
  cluster_.Advance(1min);
  EXPECT_THAT(calls_, ElementsAre("a/x initial"));
  Stop(ran);
}

TEST_P(ControllerNamespacesTest, ANamespaceThatIsForbiddenDoesNotStopTheManager) {
  for (const char* in : {"a", "b"}) {
    Label(in, true);
    Add(in, "x");
  }
  for (const char* verb : {"list", "watch"}) {
    cluster_.Inject(
        {.verb = verb, .resource = "configmaps", .namespace_ = "a", .times = testing::kAlways, .status = 403});
  }
  const Manager manager = New({.caches = {.namespaces_by_label = "tenant=yes"}});
  Control(manager);
  const Ran ran = Spawn(manager);
  cluster_.Advance(1min);
  ASSERT_FALSE(ran.done());
  EXPECT_THAT(calls_, ElementsAre("b/x initial"));
  cluster_.ClearFaults();
  cluster_.Advance(10min);
  EXPECT_THAT(calls_, ElementsAre("b/x initial", "a/x initial"));
  Stop(ran);
}

TEST_P(ControllerNamespacesTest, RulesAreForTheWholeClusterBecauseAnyNamespaceMayCome) {
  const Manager manager = New({.caches = {.scopes = {{.namespace_ = "a"}}, .namespaces_by_label = "tenant=yes"}});
  Control(manager);
  const std::vector<AccessRule> rules = manager.Rules();
  EXPECT_THAT(rules, Contains(AccessRule{.resource = "configmaps", .verbs = {"get", "list", "watch"}}));
  EXPECT_THAT(rules, Contains(AccessRule{.resource = "namespaces", .verbs = {"list", "watch"}}));
  EXPECT_TRUE(std::ranges::all_of(rules, [](const AccessRule& rule) { return rule.namespace_.empty(); }));
  EXPECT_EQ(
      Manager::New(cluster_.Connection(), {.caches = {.scopes = {{}}, .changing_namespaces = true}}).error().code(),
      Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ControllerNamespacesTest, ::testing::Range<std::uint64_t>(0, 10));

}  // namespace
}  // namespace kgen
