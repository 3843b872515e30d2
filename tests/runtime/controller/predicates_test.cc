// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Predicates: which events pass.
#include "kgen/controller/predicates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <string>
#include <utility>
#include <vector>

namespace kgen {
namespace {

using k8s::core::v1::Pod;
using ::testing::HasSubstr;

using Type = AnyEvent::Type;

// Events of the pod default/web. An update has both objects, an addition the new one, a deletion the old one.
AnyEvent Event(Type type, Pod before, Pod now) {
  for (Pod* pod : {&before, &now}) {
    pod->metadata.namespace_ = "default";
    pod->metadata.name = "web";
  }
  AnyEvent event{.type = type, .reason = Reason::kWatch, .key = {"default", "web"}, .version = "7"};
  if (type != Type::kAdded) event.before = MakeRef(std::move(before));
  if (type != Type::kDeleted) event.now = MakeRef(std::move(now));
  return event;
}
AnyEvent AddedEvent(Pod now = {}) { return Event(Type::kAdded, {}, std::move(now)); }
AnyEvent UpdatedEvent(Pod before = {}, Pod now = {}) {
  return Event(Type::kUpdated, std::move(before), std::move(now));
}
AnyEvent DeletedEvent(Pod before = {}) { return Event(Type::kDeleted, std::move(before), {}); }
AnyEvent UnknownDeletion() {
  return {.type = Type::kDeleted, .reason = Reason::kRelist, .final_state_unknown = true, .key = {"default", "web"}};
}

Pod Generation(std::int64_t generation, std::string_view version = "1") {
  return {.metadata = {.generation = generation, .resourceVersion = version}};
}
Pod Labelled(Map<String> labels) { return {.metadata = {.labels = std::move(labels)}}; }
Pod OnNode(std::string_view node) { return {.spec = k8s::core::v1::PodSpec{.nodeName = node}}; }

// A predicate that passes, drops, or has no opinion on updates, and the same for the other events.
Predicate<Pod> OnUpdates(bool pass) {
  return {{.on_update = [pass](const Updated<Pod>&) { return pass; }}};
}
Predicate<Pod> Always(bool pass) {
  return {[pass](const Pod&) { return pass; }};
}

TEST(PredicateTest, PassesEverythingWithoutAFunction) {
  const Predicate<Pod> none;
  EXPECT_TRUE(none(AddedEvent()));
  EXPECT_TRUE(none(UpdatedEvent()));
  EXPECT_TRUE(none(UnknownDeletion()));
  EXPECT_TRUE((!none)(AddedEvent()));
}

// Contract: controller 112.
TEST(PredicateTest, AsksAFunctionAboutTheNewObjectAndAboutTheLastKnownOneOfADeletion) {
  const Predicate<Pod> on_a_node = [](const Pod& pod) { return !pod.spec->nodeName.empty(); };
  EXPECT_TRUE(on_a_node(AddedEvent(OnNode("n1"))));
  EXPECT_FALSE(on_a_node(AddedEvent(OnNode(""))));
  EXPECT_TRUE(on_a_node(UpdatedEvent(OnNode(""), OnNode("n1"))));
  EXPECT_FALSE(on_a_node(UpdatedEvent(OnNode("n1"), OnNode(""))));
  EXPECT_TRUE(on_a_node(DeletedEvent(OnNode("n1"))));
  EXPECT_FALSE(on_a_node(DeletedEvent(OnNode(""))));
}

TEST(PredicateTest, LosesNoDeletionOfAnObjectOfWhichNothingIsKnown) {
  EXPECT_TRUE(Always(false)(UnknownDeletion()));
  EXPECT_TRUE((!Always(true))(UnknownDeletion()));
  const AnyPredicate web = Must(MatchesLabels("app=web"));
  EXPECT_TRUE(web(UnknownDeletion()));
  EXPECT_TRUE((!web)(UnknownDeletion()));
}

// Contract: controller 110.
TEST(PredicateTest, AsksTheFunctionOfTheEvent) {
  std::vector<std::string> asked;
  const Predicate<Pod> all({
      .on_add =
          [&](const Added<Pod>& e) {
            asked.push_back("add " + e.key.str() + " " + std::string(e.version) + (e.now ? "" : " null"));
            return false;
          },
      .on_update =
          [&](const Updated<Pod>& e) {
            asked.push_back("update " + e.before->metadata.labels["a"] + e.now->metadata.labels["a"].str());
            return e.reason == Reason::kWatch;
          },
      .on_delete =
          [&](const Deleted<Pod>& e) {
            asked.push_back(std::string("delete ") + (e.before ? "known" : "unknown") +
                            (e.final_state_unknown ? "?" : ""));
            return false;
          },
  });
  EXPECT_FALSE(all(AddedEvent()));
  EXPECT_TRUE(all(UpdatedEvent(Labelled({{"a", "1"}}), Labelled({{"a", "2"}}))));
  EXPECT_FALSE(all(DeletedEvent()));
  EXPECT_FALSE(all(UnknownDeletion()));
  EXPECT_THAT(asked, ::testing::ElementsAre("add default/web 7", "update 12", "delete known", "delete unknown?"));
}

// Contract: controller 110.
TEST(PredicateTest, PassesEventsWithoutAFunctionAlsoWhenItIsNegated) {
  EXPECT_TRUE(OnUpdates(false)(AddedEvent()));
  EXPECT_TRUE(OnUpdates(false)(DeletedEvent()));
  EXPECT_FALSE(OnUpdates(false)(UpdatedEvent()));
  EXPECT_TRUE((!OnUpdates(true))(AddedEvent()));
  EXPECT_TRUE((!OnUpdates(true))(DeletedEvent()));
  EXPECT_FALSE((!OnUpdates(true))(UpdatedEvent()));
  EXPECT_TRUE((!OnUpdates(false))(UpdatedEvent()));
}

// Contract: controller 113.
TEST(PredicateTest, CombinesTheVerdictsOnEverySortOfEvent) {
  for (const AnyEvent& event : {AddedEvent(), UpdatedEvent(), DeletedEvent()}) {
    SCOPED_TRACE(static_cast<int>(event.type));
    for (const bool a : {false, true}) {
      EXPECT_EQ((!Always(a))(event), !a);
      for (const bool b : {false, true}) {
        EXPECT_EQ((Always(a) && Always(b))(event), a && b);
        EXPECT_EQ((Always(a) || Always(b))(event), a || b);
        EXPECT_EQ((!(Always(a) && Always(b)))(event), !(a && b));
        EXPECT_EQ((!(Always(a) || Always(b)))(event), !(a || b));
      }
    }
  }
  // The other predicate has no opinion on additions.
  EXPECT_FALSE((OnUpdates(true) && Always(false))(AddedEvent()));
  EXPECT_TRUE((OnUpdates(true) && Always(true))(AddedEvent()));
  EXPECT_TRUE((OnUpdates(true) || Always(false))(AddedEvent()));
  EXPECT_TRUE((!(OnUpdates(true) && Always(true)))(AddedEvent()));
  EXPECT_FALSE((!(OnUpdates(true) || Always(true)))(AddedEvent()));
}

TEST(PredicateTest, AsksNoMoreThanItNeeds) {
  int asked = 0;
  const Predicate<Pod> counts = [&asked](const Pod&) { return ++asked > 0; };
  EXPECT_FALSE((Always(false) && counts)(AddedEvent()));
  EXPECT_TRUE((Always(true) || counts)(AddedEvent()));
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE((Always(true) && counts)(AddedEvent()));
  EXPECT_EQ(asked, 1);
}

TEST(PredicateTest, CombinesWithPredicatesForAnyKind) {
  const Predicate<Pod> changed = GenerationChanged() || LabelsChanged();
  const Predicate<Pod> on_a_node_and_changed =
      Predicate<Pod>([](const Pod& pod) { return !pod.spec->nodeName.empty(); }) && changed;
  Pod before = OnNode("n1");
  Pod now = before;
  EXPECT_FALSE(on_a_node_and_changed(UpdatedEvent(before, now)));
  now.metadata.labels["a"] = "b";
  EXPECT_TRUE(on_a_node_and_changed(UpdatedEvent(before, now)));
  now.spec->nodeName = "";
  EXPECT_FALSE(on_a_node_and_changed(UpdatedEvent(before, now)));
  EXPECT_TRUE((LabelsChanged() && Always(true))(UpdatedEvent(before, now)));
}

// Contract: controller 111, 114.
TEST(PredicateTest, GenerationChangedHidesChangesOfTheStatusAndResyncs) {
  const AnyPredicate changed = GenerationChanged();
  EXPECT_TRUE(changed(UpdatedEvent(Generation(1), Generation(2))));
  EXPECT_FALSE(changed(UpdatedEvent(Generation(1, "5"), Generation(1, "6"))));
  EXPECT_FALSE(changed(UpdatedEvent(Generation(1), Generation(1))));
  EXPECT_FALSE(changed(UpdatedEvent(Labelled({{"a", "1"}}), Labelled({{"a", "2"}}))));  // without generations
  EXPECT_TRUE(changed(AddedEvent()));
  EXPECT_TRUE(changed(DeletedEvent()));
  EXPECT_TRUE(changed(UnknownDeletion()));
}

// Contract: controller 111, 116.
TEST(PredicateTest, ResourceVersionChangedHidesResyncs) {
  const AnyPredicate changed = ResourceVersionChanged();
  EXPECT_TRUE(changed(UpdatedEvent(Generation(1, "5"), Generation(1, "6"))));
  EXPECT_TRUE(changed(UpdatedEvent(Generation(1, "6"), Generation(1, "5"))));  // not an order
  EXPECT_FALSE(changed(UpdatedEvent(Generation(1, "5"), Generation(2, "5"))));
  EXPECT_TRUE(changed(AddedEvent()));
  EXPECT_TRUE(changed(DeletedEvent()));
}

// Contract: controller 111.
TEST(PredicateTest, LabelsChangedComparesLabels) {
  const AnyPredicate changed = LabelsChanged();
  EXPECT_TRUE(changed(UpdatedEvent(Labelled({{"a", "1"}}), Labelled({{"a", "2"}}))));
  EXPECT_TRUE(changed(UpdatedEvent(Labelled({{"a", "1"}}), {})));
  EXPECT_FALSE(changed(UpdatedEvent(Labelled({{"a", "1"}}), Labelled({{"a", "1"}}))));
  EXPECT_FALSE(changed(UpdatedEvent({.metadata = {.annotations = {{"a", "1"}}}}, {})));
  Pod empty;
  empty.metadata.labels.emplace();
  EXPECT_FALSE(changed(UpdatedEvent({}, empty)));
  EXPECT_TRUE(changed(AddedEvent()));
  EXPECT_TRUE(changed(DeletedEvent()));
}

// Contract: controller 111.
TEST(PredicateTest, AnnotationsChangedComparesAnnotations) {
  const AnyPredicate changed = AnnotationsChanged();
  EXPECT_TRUE(changed(UpdatedEvent({.metadata = {.annotations = {{"a", "1"}}}}, {})));
  EXPECT_FALSE(changed(UpdatedEvent(Labelled({{"a", "1"}}), {})));
  EXPECT_TRUE(changed(AddedEvent()));
  EXPECT_TRUE(changed(DeletedEvent()));
}

// Contract: controller 111.
TEST(PredicateTest, AnUpdateWithoutBothObjectsIsNoChange) {
  AnyEvent update = UpdatedEvent(Generation(1), Generation(2));
  update.before = {};
  EXPECT_FALSE(GenerationChanged()(update));
}

// Contract: controller 112.
TEST(PredicateTest, MatchesLabelsOfEverySortOfEvent) {
  const AnyPredicate web = Must(MatchesLabels("app=web"));
  const Pod matching = Labelled({{"app", "web"}});
  EXPECT_TRUE(web(AddedEvent(matching)));
  EXPECT_FALSE(web(AddedEvent()));
  EXPECT_TRUE(web(UpdatedEvent({}, matching)));
  EXPECT_FALSE(web(UpdatedEvent(matching, {})));
  EXPECT_TRUE(web(DeletedEvent(matching)));
  EXPECT_FALSE(web(DeletedEvent()));
  EXPECT_FALSE(MatchesLabels(Selector::Nothing())(AddedEvent(matching)));

  const auto malformed = MatchesLabels("app in web");
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(malformed.error().message(), HasSubstr("app in web"));
}

// Contract: controller 112.
TEST(PredicateTest, MatchesMetadataAsksAboutTheNewObjectAndAboutTheLastKnownOneOfADeletion) {
  const AnyPredicate web = MatchesMetadata([](const meta::v1::ObjectMeta& m) { return m.labels["app"] == "web"; });
  const Pod matching = Labelled({{"app", "web"}});
  EXPECT_TRUE(web(AddedEvent(matching)));
  EXPECT_FALSE(web(AddedEvent()));
  EXPECT_TRUE(web(UpdatedEvent({}, matching)));
  EXPECT_FALSE(web(UpdatedEvent(matching, {})));
  EXPECT_TRUE(web(DeletedEvent(matching)));
  EXPECT_FALSE(web(DeletedEvent()));
  EXPECT_TRUE(web(UnknownDeletion()));
  EXPECT_TRUE((!web)(UnknownDeletion()));
}

TEST(PredicateTest, InNamespacesGoesByTheKey) {
  const AnyPredicate in = InNamespaces({"kube-system", "default"});
  for (const AnyEvent& event : {AddedEvent(), UpdatedEvent(), DeletedEvent(), UnknownDeletion()}) {
    EXPECT_TRUE(in(event));
    EXPECT_FALSE((!in)(event));
    EXPECT_FALSE(InNamespaces({})(event));
    EXPECT_FALSE(InNamespaces({"def", ""})(event));
  }
  EXPECT_TRUE(InNamespaces({""})(
      AnyEvent{.type = Type::kAdded, .reason = Reason::kWatch, .key = ObjectKey::ClusterWide("n1")}));
}

}  // namespace
}  // namespace kgen
