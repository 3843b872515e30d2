// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The effect of a relist on stored objects and on deleted ones, and resyncs that only handlers ask for.
#include <gmock/gmock.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace kgen::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RelistTest : public InformerFixture {
 protected:
  Ref<const Sample> Get(std::string_view name) { return Core()->store()->Look("ns", name).As<Sample>(); }
  static std::string Replicas(std::string_view name, std::string_view version, int replicas) {
    return ObjectJson(name, version, R"("spec":{"replicas":)" + std::to_string(replicas) + "}");
  }
};

// Contract: controller 270.
TEST_P(RelistTest, KeepsTheStoredObjectWhereTheListHasTheSame) {
  Sync("5", {Replicas("a", "1", 1), Replicas("b", "2", 1), Replicas("c", "3", 1)});
  const Ref<const Sample> a = Get("a"), b = Get("b"), c = Get("c");
  Relist("9", {Replicas("a", "1", 1), Replicas("b", "7", 2)});
  EXPECT_EQ(Store(), "a@1 b@7");
  EXPECT_EQ(Get("a"), a);
  EXPECT_NE(Get("b"), b);
  EXPECT_EQ(Get("b").get()->spec->replicas, 2);
}

TEST_P(RelistTest, StoresNewContentEvenUnderTheSameVersion) {
  Sync("5", {Replicas("a", "1", 1)});
  Relist("9", {Replicas("a", "1", 2)});
  EXPECT_EQ(Get("a").get()->spec->replicas, 2);
}

TEST_P(RelistTest, KeepsTheStoredObjectsInAStreamingListToo) {
  source_->streaming = options_.streaming_list = true;
  Start();
  Open();
  Send(EventJson("ADDED", Replicas("a", "1", 1)) + EventJson("ADDED", Replicas("b", "2", 1)) +
       BookmarkJson("5", "true"));
  const Ref<const Sample> a = Get("a"), b = Get("b");
  ASSERT_TRUE(a && b);
  Send(EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  Open();
  Send(EventJson("ADDED", Replicas("a", "1", 1)) + EventJson("ADDED", Replicas("b", "2", 9)) +
       BookmarkJson("9", "true"));
  EXPECT_EQ(Get("a"), a);
  EXPECT_EQ(Get("b").get()->spec->replicas, 9);
}

// The initial events of a streaming list may be followed by changes before its marker.
TEST_P(RelistTest, MarksAnObjectAsStaleWhoseLaterStateInAStreamingListWasRefused) {
  source_->streaming = options_.streaming_list = true;
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  Start();
  Open();
  Send(EventJson("ADDED", Replicas("a", "1", 1)) + EventJson("ADDED", Replicas("b", "2", 1)) +
       BookmarkJson("5", "true"));
  Send(EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  Open();
  Send(EventJson("ADDED", Replicas("a", "1", 1)) + EventJson("ADDED", Replicas("b", "2", 1)) +
       EventJson("MODIFIED", ObjectJson("b", "7", deep)) + BookmarkJson("9", "true"));
  EXPECT_EQ(Store(), "a@1 b@2(stale)");
  EXPECT_EQ(Core()->status().refused, 1u);
}

// After a restored etcd, the good state may have the version of the one that is here, from the history that is lost.
TEST_P(RelistTest, TellsOfAGoodStateAfterARefusedOneAsAChangeUnderAnyVersion) {
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  std::vector<std::string> received;
  const Registration registration = Listen(received);
  Sync("5", {Replicas("a", "4", 1), Replicas("b", "3", 1)});
  received.clear();
  Send(EventJson("MODIFIED", ObjectJson("a", "6", deep)) + EventJson("MODIFIED", ObjectJson("b", "7", deep)));
  EXPECT_EQ(Store(), "a@4(stale) b@3(stale)");
  Send(EventJson("MODIFIED", Replicas("a", "4", 2)));
  EXPECT_THAT(received, ElementsAre("updated a@4>4 watch"));
  received.clear();
  Relist("9", {Replicas("a", "4", 2), Replicas("b", "3", 2)});
  EXPECT_THAT(received, ElementsAre("updated a@4>4 resync", "updated b@3>3 relist"));
  EXPECT_EQ(Get("b").get()->spec->replicas, 2);
}

// Contract: informer TR-01.
TEST_P(RelistTest, TransformsReceivedObjectsBeforeComparingThem) {
  int transformed = 0;
  Must(Informer().SetTransform([&](Sample& sample) {
    ++transformed;
    sample.metadata.labels = {};
  }));
  const std::string item = R"({"metadata":{"namespace":"ns","name":"a","resourceVersion":"1","labels":{"x":"y"}}})";
  Sync("5", {item});
  const Ref<const Sample> a = Get("a");
  Relist("9", {item});
  EXPECT_EQ(transformed, 2);
  EXPECT_EQ(Get("a"), a);
}

// Objects a00 to a19, with `changed` under a new version.
std::vector<std::string> Twenty(const std::set<int>& changed = {}) {
  std::vector<std::string> items;
  for (int i = 0; i < 20; ++i) {
    const std::string name = (i < 10 ? "a0" : "a") + std::to_string(i);
    items.push_back(ObjectJson(name, changed.contains(i) ? "7" : "1"));
  }
  return items;
}

class RelistByDifference : public RelistTest {
 protected:
  void SetUp() override {
    Must(Informer().AddIndex("asked", [this](const Sample& sample, IndexSink& sink) {
      asked_.push_back(sample.metadata.name);
      if (sample.metadata.name == throws_) throw std::runtime_error("cannot index it");
      sink.Add(sample.metadata.resourceVersion);
    }));
    registration_ = Listen(events_);
    Sync("5", Twenty());
    asked_.clear();
    events_.clear();
  }
  // The whole content is replaced: each object of the list is asked for its index values.
  bool WasReplaced() const { return asked_.size() >= 19; }
  std::size_t Indexed(std::string_view version) { return Core()->store()->Snapshot().ByIndex("asked", version).size(); }

  std::vector<std::string> asked_, events_;
  std::string throws_;
  Registration registration_;
};

TEST_P(RelistByDifference, AsksIndexFunctionsOnlyForWhatHasChanged) {
  std::vector<std::string> items = Twenty({3, 11});
  items.insert(items.begin() + 5, ObjectJson("a04b", "7"));
  Relist("9", items);
  EXPECT_THAT(std::set<std::string>(asked_.begin(), asked_.end()), ElementsAre("a03", "a04b", "a11"));
  EXPECT_EQ(Indexed("7"), 3u);
  EXPECT_EQ(Indexed("1"), 18u);
  EXPECT_EQ(StoreVersion(), "9");
  EXPECT_EQ(events_.size(), 21u);
  EXPECT_EQ(events_[3], "updated a03@1>7 relist");
  EXPECT_EQ(events_[5], "added a04b@7 relist");
}

TEST_P(RelistByDifference, ReplacesTheContentWhenAnObjectIsMissing) {
  std::vector<std::string> items = Twenty({3});
  items.erase(items.begin() + 7);
  Relist("9", items);
  EXPECT_TRUE(WasReplaced());
  EXPECT_EQ(Core()->store()->Look("ns", "a07"), AnyRef());
  EXPECT_EQ(Indexed("1"), 18u);
  EXPECT_EQ(events_.front(), "deleted a07@1 relist unknown");
}

TEST_P(RelistByDifference, ReplacesTheContentWhenAnObjectIsListedTwice) {
  std::vector<std::string> items = Twenty();
  items.insert(items.begin() + 4, ObjectJson("a03", "8"));
  items.erase(items.begin() + 9);  // as many as the store has
  Relist("9", items);
  EXPECT_TRUE(WasReplaced());
  EXPECT_EQ(Core()->store()->Look("ns", "a08"), AnyRef());
  EXPECT_EQ(Indexed("8"), 1u);
}

TEST_P(RelistByDifference, ReplacesTheContentWhenTheListHasAnotherOrder) {
  std::vector<std::string> items = Twenty({3});
  std::swap(items[3], items[4]);
  Relist("9", items);
  EXPECT_TRUE(WasReplaced());
  EXPECT_EQ(Indexed("7"), 1u);
  EXPECT_EQ(Indexed("1"), 19u);
}

TEST_P(RelistByDifference, ReplacesTheContentWhenAnObjectIsRefused) {
  std::vector<std::string> items = Twenty();
  items[3] = ObjectJson("a03", "7", R"("spec":{"nodeName":"\ud8"})");
  Relist("9", items);
  EXPECT_TRUE(WasReplaced());
  EXPECT_THAT(Store(), HasSubstr("a03@1(stale)"));
}

TEST_P(RelistByDifference, ReplacesTheContentWhenMuchHasChanged) {
  Relist("9", Twenty({0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(WasReplaced());
  EXPECT_EQ(Indexed("7"), 6u);
}

TEST_P(RelistByDifference, AsksAnIndexFunctionAgainThatThrew) {
  throws_ = "a05";
  Send(EventJson("MODIFIED", ObjectJson("a05", "6")));
  EXPECT_EQ(Indexed("6"), 0u);
  throws_ = {};
  std::vector<std::string> items = Twenty();
  items[5] = ObjectJson("a05", "6");
  Relist("9", items);
  EXPECT_EQ(Indexed("6"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RelistByDifference, ::testing::Range<std::uint64_t>(0, 4));

// Text is shared between objects, and the decoder remembers it. In a long watch of few objects that change often that
// is almost all text of the past.
TEST_P(RelistTest, ForgetsUnusedTextInProportionToTheCache) {
  Sync("5", {Replicas("a", "1", 1)});
  const std::int64_t before = LiveBlocks();
  std::int64_t most = 0;
  for (int i = 0; i < 60; ++i) {
    std::string text;
    for (int k = 0; k < 1000; ++k) {
      const std::string version = std::to_string(1'000 * (i + 1) + k);
      text += EventJson("MODIFIED",
                        ObjectJson("a", version, R"("spec":{"nodeName":"a-name-of-its-own-)" + version + "\"}"));
    }
    Send(text);
    most = std::max(most, LiveBlocks() - before);
  }
  EXPECT_LT(most, 25'000);
  EXPECT_GT(most, 1'000);  // or this measures nothing
}

// ------------------------------------------------------------------------------------------------------------ resyncs

// Contract: informer RS-01.
TEST_P(RelistTest, ResyncsForHandlersThatAskForItEvenIfTheDefaultIsNever) {
  std::vector<std::string> often, seldom, never;
  const Registration a = Listen(often, {.resync = 5s});
  const Registration b = Listen(seldom, {.resync = 20s});
  const Registration c = Listen(never);
  Sync("5", {ObjectJson("a", "1")});
  Advance(41s);
  EXPECT_EQ(often.size(), 1u + 8u);
  EXPECT_EQ(seldom.size(), 1u + 2u);
  EXPECT_EQ(never.size(), 1u);
  EXPECT_EQ(often.back(), "updated a@1>1 resync");
}

// Contract: informer RS-01.
TEST_P(RelistTest, ResyncsForALateHandlerEvenIfNoOtherAskedBefore) {
  std::vector<std::string> never, late;
  const Registration a = Listen(never);
  Sync("5", {ObjectJson("a", "1")});
  Advance(10s);
  const Registration b = Listen(late, {.resync = 5s});
  Advance(21s);
  EXPECT_EQ(late.size(), 1u + 4u);
  EXPECT_EQ(never.size(), 1u);
  Relist("9", {ObjectJson("a", "1")});  // the period survives the round
  late.clear();
  Advance(11s);
  EXPECT_EQ(late.size(), 2u);
}

// So many different specs that the memo of equal subtrees has given up on them.
std::vector<std::string> Specs(std::string_view version) {
  std::vector<std::string> items;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    items.push_back(ObjectJson("a" + n, version, R"("spec":{"nodeName":"the node with the number )" + n + R"("})"));
  }
  return items;
}

TEST_P(RelistTest, SharesUnchangedMembersOfUpdatesAndRelistsWithTheReplacedObject) {
  Sync("5", Specs("1"));
  const auto get = [&] { return Informer().Indexer().Snapshot().Get({"ns", "a20"}); };
  const Ref<const Sample> listed = get();
  Send(EventJson("MODIFIED", Specs("6")[20]));
  const Ref<const Sample> updated = get();
  EXPECT_EQ(updated->metadata.resourceVersion, "6");
  EXPECT_EQ(&*updated->spec, &*listed->spec);
  Relist("9", Specs("8"));
  const Ref<const Sample> relisted = get();
  EXPECT_EQ(relisted->metadata.resourceVersion, "8");
  EXPECT_EQ(&*relisted->spec, &*listed->spec);
}

TEST_P(RelistTest, SharesUnchangedMembersOfObjectsThatATransformChanges) {
  ASSERT_TRUE(Informer().SetTransform([](Sample& s) { s.metadata.annotations["seen"] = s.metadata.resourceVersion; }));
  Sync("5", Specs("1"));
  for (const std::string version : {"6", "7"}) {
    Send(EventJson("MODIFIED", Specs(version)[20]));
    const Ref<const Sample> updated = Informer().Indexer().Snapshot().Get({"ns", "a20"});
    EXPECT_EQ(updated->spec->nodeName, "the node with the number 20");
    EXPECT_EQ(updated->metadata.annotations["seen"], version);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RelistTest, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace kgen::cache
