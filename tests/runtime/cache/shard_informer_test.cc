// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An informer of a shard: what it holds may change at any time. The server of these tests sends everything, as servers
// without the gate ShardedListAndWatch do.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runtime/cache/shard_fixture.h"

namespace kgen::cache {
namespace {

using namespace kgen::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Received = std::vector<std::string>;

TEST_P(ShardInformerTest, HoldsNothingAndAsksForNothingAtFirst) {
  Start();
  EXPECT_EQ(source_->size(), 0u);
  EXPECT_EQ(State(), "holding nothing");
  EXPECT_FALSE(Core()->HasSynced());
  EXPECT_EQ(Core()->held(), 0u);
}

TEST_P(ShardInformerTest, ListsAndWatchesWithTheSelectorOfItsRanges) {
  Start();
  const std::uint64_t number = Hold({"a", "c"});
  ASSERT_EQ(source_->size(), 1u);
  EXPECT_FALSE(source_->last().watch);
  EXPECT_EQ(LastOptions().resource_version, "0");
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"a", "c"}));
  EXPECT_LT(Core()->held(), number);
  Answer(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_TRUE(source_->last().watch);
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"a", "c"}));
  EXPECT_EQ(Store(), "a@1 c@3");
}

TEST_P(ShardInformerTest, SendsTheSelectorWithEveryPage) {
  options_.page_size = 1;
  Core()->Hold(Of({"a"}));
  Start();
  Answer(ListBody("5", {ObjectJson("b", "1")}, "next"));
  EXPECT_EQ(LastOptions().continue_, "next");
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"a"}));
  Answer(ListBody("5", {ObjectJson("a", "2")}));
  EXPECT_EQ(Store(), "a@2");
}

TEST_P(ShardInformerTest, LeavesOutEventsOfOtherObjects) {
  Received received;
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  const auto handler = Listen(received);
  Run();
  received.clear();
  Send(AddedJson("b", "6") + ModifiedJson("b", "7") + ModifiedJson("a", "8") + DeletedJson("b", "9"));
  EXPECT_EQ(Store(), "a@8");
  EXPECT_THAT(received, ElementsAre("updated a@1>8 watch"));
  EXPECT_EQ(Core()->status().events, 1u);
}

TEST_P(ShardInformerTest, LeavesOutWhatItCouldNotDecode) {
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  Send(EventJson("ADDED", ObjectJson("b", "6", deep)) + EventJson("MODIFIED", ObjectJson("a", "7", deep)));
  EXPECT_EQ(Core()->status().refused, 1u);
  EXPECT_EQ(seen_->refusals, 1u);
}

TEST_P(ShardInformerTest, ResumesTheWatchBehindTheEventsThatItLeftOut) {
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  Send(AddedJson("b", "6") + DeletedJson("b", "9"));
  source_->last().End();
  Run();
  EXPECT_TRUE(source_->last().watch);
  EXPECT_EQ(LastOptions().resource_version, "9");
}

TEST_P(ShardInformerTest, IsAsCurrentAsTheEventsThatItLeftOut) {
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  Advance(20s);
  Send(AddedJson("b", "6"));
  source_->last().End();
  Run();
  EXPECT_EQ(Core()->status().current_as_of, simulation_.clock()->Now());
}

// A server without the gate sends them for longer than an informer waits for an object.
TEST_P(ShardInformerTest, WaitsForTheMarkerOfAStreamAsLongAsOtherObjectsCome) {
  source_->streaming = options_.streaming_list = true;
  Core()->Hold(Of({"a"}));
  Start();
  Open();
  for (int i = 0; i < 4; ++i) {
    Advance(40s);
    Send(AddedJson("b" + std::to_string(i), std::to_string(i + 1)));
  }
  ASSERT_EQ(source_->size(), 1u);
  Send(AddedJson("a", "5") + BookmarkJson("5", "true"));
  EXPECT_EQ(Store(), "a@5");
}

TEST_P(ShardInformerTest, ListsAgainForMoreRangesWhileTheCacheShowsWhatItHas) {
  Received received;
  SyncShard({"a"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  const auto handler = Listen(received);
  Run();
  received.clear();
  FakeStream& watch = source_->last();
  const std::uint64_t number = Hold({"a", "b"});
  EXPECT_TRUE(watch.cancelled());
  EXPECT_FALSE(source_->last().watch);
  EXPECT_EQ(LastOptions().resource_version, "5");
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"a", "b"}));
  EXPECT_EQ(Store(), "a@1");
  EXPECT_LT(Core()->held(), number);
  Answer(ListBody("8", {ObjectJson("a", "1"), ObjectJson("b", "7")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "a@1 b@7");
  EXPECT_THAT(received, ElementsAre("added b@7 relist")) << "handlers know that a@1 is there";
}

TEST_P(ShardInformerTest, LetsObjectsGoAtOnceAndKeepsItsWatch) {
  Received received;
  SyncShard({"a", "b", "c"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")});
  const auto handler = Listen(received);
  Run();
  received.clear();
  const std::size_t requests = source_->size();
  const std::uint64_t number = Hold({"b"});
  EXPECT_EQ(source_->size(), requests);
  EXPECT_TRUE(source_->last().open());
  EXPECT_EQ(Store(), "b@2");
  EXPECT_EQ(StoreVersion(), "5");
  EXPECT_EQ(Core()->held(), number);
  EXPECT_THAT(received, ElementsAre("left a@1", "left c@3"));
  received.clear();
  Send(ModifiedJson("a", "6") + DeletedJson("c", "7") + ModifiedJson("b", "8"));
  EXPECT_THAT(received, ElementsAre("updated b@2>8 watch"));
  source_->last().End();
  Run();
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"b"}));
}

TEST_P(ShardInformerTest, ListsAnewIfObjectsGoDuringAList) {
  Received received;
  const auto handler = Listen(received);
  Core()->Hold(Of({"a", "b"}));
  Start();
  source_->last().Open();
  source_->last().Send(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","items":[)" + ObjectJson("a", "1") +
                       ",");
  Run();
  FakeStream& list = source_->last();
  const std::uint64_t number = Hold({"b"});
  EXPECT_TRUE(list.cancelled());
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"b"}));
  EXPECT_LT(Core()->held(), number);
  Answer(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "b@2");
  EXPECT_THAT(received, ElementsAre("added b@2 initial"));
}

TEST_P(ShardInformerTest, ListsAnewIfObjectsGoDuringAStreamingList) {
  source_->streaming = options_.streaming_list = true;
  Core()->Hold(Of({"a", "b"}));
  Start();
  Open();
  Send(AddedJson("a", "1") + AddedJson("b", "2"));
  FakeStream& stream = source_->last();
  const std::uint64_t number = Hold({"b"});
  EXPECT_TRUE(stream.cancelled());
  Open();
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"b"}));
  Send(AddedJson("a", "1") + AddedJson("b", "2") + BookmarkJson("5", "true"));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "b@2");
}

TEST_P(ShardInformerTest, LetsObjectsGoBeforeItListsForOthers) {
  Received received;
  SyncShard({"a"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  const auto handler = Listen(received);
  Run();
  received.clear();
  const std::uint64_t number = Hold({"b"});
  EXPECT_EQ(Store(), "");
  EXPECT_THAT(received, ElementsAre("left a@1"));
  EXPECT_LT(Core()->held(), number);
  Answer(ListBody("6", {ObjectJson("a", "1"), ObjectJson("b", "2")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "b@2");
  EXPECT_THAT(received, ElementsAre("left a@1", "added b@2 relist"));
}

TEST_P(ShardInformerTest, ClosesItsWatchWhenItHoldsNothing) {
  Received received;
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  const auto handler = Listen(received);
  Run();
  received.clear();
  const std::uint64_t number = Hold({});
  EXPECT_EQ(source_->open(), 0u);
  EXPECT_EQ(State(), "holding nothing");
  EXPECT_EQ(Store(), "");
  EXPECT_EQ(Core()->held(), number);
  EXPECT_THAT(received, ElementsAre("left a@1"));
  EXPECT_FALSE(Core()->status().current_as_of);
  Advance(1h);
  EXPECT_EQ(source_->open(), 0u);
  const std::uint64_t again = Hold({"b"});
  EXPECT_EQ(LastOptions().resource_version, "5");
  Answer(ListBody("9", {ObjectJson("a", "1"), ObjectJson("b", "8")}));
  EXPECT_EQ(Core()->held(), again);
  EXPECT_THAT(received, ElementsAre("left a@1", "added b@8 relist"));
}

TEST_P(ShardInformerTest, AppliesWhatWasReceivedBeforeObjectsWentFirst) {
  ApplyAfter(1s);
  Received received;
  Core()->Hold(Of({"a", "b"}));
  Start();
  Answer(ListBody("5", {}));
  Advance(2s);
  const auto handler = Listen(received);
  Advance(2s);
  Open();
  Send(AddedJson("a", "6") + AddedJson("b", "7"));
  const std::uint64_t number = Hold({"b"});
  Send(ModifiedJson("a", "8") + ModifiedJson("b", "9"));
  EXPECT_EQ(Store(), "");
  EXPECT_LT(Core()->held(), number);
  Advance(2s);
  EXPECT_EQ(Store(), "b@9");
  EXPECT_EQ(Core()->held(), number);
  EXPECT_THAT(received, ElementsAre("added a@6 watch", "added b@7 watch", "left a@6", "updated b@7>9 watch"));
}

TEST_P(ShardInformerTest, AppliesAListThatWasReceivedBeforeObjectsWentFirst) {
  ApplyAfter(1s);
  Received received;
  Core()->Hold(Of({"a", "b"}));
  Start();
  const auto handler = Listen(received);
  Answer(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2")}));
  const std::uint64_t number = Hold({"b"});
  Advance(2s);
  EXPECT_EQ(Store(), "b@2");
  EXPECT_EQ(Core()->held(), number);
  EXPECT_THAT(received, ElementsAre("added a@1 initial", "added b@2 initial", "left a@1"));
}

TEST_P(ShardInformerTest, DoesNotTakeWhatARelistLeavesOutForDeleted) {
  Received received;
  SyncShard({"a", "b"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")});
  const auto handler = Listen(received);
  Hold({"b"});
  received.clear();
  Relist("9", {ObjectJson("a", "6"), ObjectJson("b", "7"), ObjectJson("c", "8")});
  EXPECT_EQ(Store(), "b@7");
  EXPECT_THAT(received, ElementsAre("updated b@2>7 relist"));
  received.clear();
  Advance(10s);
  Relist("12", {ObjectJson("a", "6")});
  EXPECT_THAT(received, ElementsAre("deleted b@7 relist unknown"));
}

TEST_P(ShardInformerTest, TellsAHandlerThatIsAddedMeanwhileOfWhatLeavesOnlyIfItWasToldOfIt) {
  Received before, after;
  SyncShard({"a", "b"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Core()->Hold(Of({"b"}));
  const auto first = Listen(before);
  Run();
  const auto second = Listen(after);
  Run();
  std::sort(before.begin(), before.begin() + 2);
  EXPECT_THAT(before, ElementsAre("added a@1 initial", "added b@2 initial", "left a@1"));
  EXPECT_THAT(after, ElementsAre("added b@2 initial"));
}

TEST_P(ShardInformerTest, TellsOfAnObjectThatComesBackAgain) {
  Received received;
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  const auto handler = Listen(received);
  Hold({});
  Hold({"a"});
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  EXPECT_THAT(received, ElementsAre("added a@1 initial", "left a@1", "added a@1 relist"));
}

TEST_P(ShardInformerTest, KeepsTheDelayOfAFailureAndThenListsWhatItHolds) {
  Core()->Hold(Of({"a"}));
  Start();
  Refuse(StatusError(Code::kForbidden, 403, "Forbidden"));
  EXPECT_EQ(State(), "waiting to try again");
  Hold({"a", "b"});
  EXPECT_EQ(source_->size(), 1u);
  EXPECT_EQ(State(), "waiting to try again");
  WaitOut();
  EXPECT_EQ(LastOptions().shard_selector, SelectorOf({"a", "b"}));
}

TEST_P(ShardInformerTest, ListsInPlaceOfAWatchThatWasDelayed) {
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  Send(EventJson("ERROR", StatusJson(429, "TooManyRequests")));
  EXPECT_EQ(State(), "waiting to try again");
  const std::size_t requests = source_->size();
  const std::uint64_t number = Hold({"a", "b"});
  EXPECT_EQ(source_->size(), requests);
  WaitOut();
  ASSERT_EQ(source_->size(), requests + 1);
  EXPECT_FALSE(source_->last().watch);
  Answer(ListBody("8", {ObjectJson("a", "1"), ObjectJson("b", "7")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "a@1 b@7");
}

TEST_P(ShardInformerTest, ResumesAWatchThatWasDelayedIfItHoldsLess) {
  SyncShard({"a", "b"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Send(EventJson("ERROR", StatusJson(429, "TooManyRequests")));
  const std::uint64_t number = Hold({"a"});
  EXPECT_EQ(Core()->held(), number);
  WaitOut();
  EXPECT_TRUE(source_->last_watch().open());
  EXPECT_EQ(source_->last_watch().options.shard_selector, SelectorOf({"a"}));
  EXPECT_EQ(source_->last_watch().options.resource_version, "5");
}

TEST_P(ShardInformerTest, AsksForNothingMoreIfItHoldsNothingAfterAFailure) {
  Core()->Hold(Of({"a"}));
  Start();
  Refuse(StatusError(Code::kForbidden, 403, "Forbidden"));
  const std::uint64_t number = Hold({});
  EXPECT_EQ(State(), "holding nothing");
  EXPECT_EQ(Core()->held(), number);
  EXPECT_FALSE(Core()->status().last_error);
  EXPECT_EQ(Core()->status().failures, 0);
  Advance(10min);
  EXPECT_EQ(source_->size(), 1u);
}

TEST_P(ShardInformerTest, ReachesAnEqualHoldAtOnceAndOneOfARunningListWithIt) {
  Core()->Hold(Of({"a"}));
  Start();
  const std::uint64_t during = Hold({"a"});
  EXPECT_EQ(source_->size(), 1u);
  EXPECT_LT(Core()->held(), during);
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  Open();
  EXPECT_EQ(Core()->held(), during);
  const std::uint64_t after = Hold({"a"});
  EXPECT_EQ(Core()->held(), after);
  EXPECT_TRUE(source_->last().open());
}

TEST_P(ShardInformerTest, WaitsForTheListOfMoreRangesAlsoIfItThenHoldsLess) {
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  Hold({"a", "b", "c"});
  const std::uint64_t number = Hold({"a", "b"});
  EXPECT_LT(Core()->held(), number);
  EXPECT_EQ(source_->open(), 1u);
  Answer(ListBody("9", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "a@1 b@2");
}

TEST_P(ShardInformerTest, ListsTheNewestStateAnew) {
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  const std::uint64_t number = Core()->ListAnew();
  Run();
  EXPECT_EQ(source_->open(), 1u);
  EXPECT_FALSE(source_->last().watch);
  EXPECT_EQ(LastOptions().resource_version, "");
  EXPECT_LT(Core()->held(), number);
  const std::uint64_t later = Core()->ListAnew();  // the list may have been answered before this call
  Run();
  EXPECT_EQ(source_->size(), 4u);
  Answer(ListBody("9", {ObjectJson("a", "8")}));
  EXPECT_EQ(Core()->held(), later);
  EXPECT_EQ(Store(), "a@8");
}

TEST_P(ShardInformerTest, ListsNothingAnewIfItHoldsNothing) {
  Start();
  const std::uint64_t number = Core()->ListAnew();
  Run();
  EXPECT_EQ(source_->size(), 0u);
  EXPECT_EQ(Core()->held(), number);
}

TEST_P(ShardInformerTest, ListsAnewAlsoWithoutAShard) {
  options_.shard_by.reset();
  Sync("5", {ObjectJson("a", "1")});
  const std::uint64_t number = Core()->ListAnew();
  const std::uint64_t ignored = Core()->Hold(Of({"b"}));
  Run();
  EXPECT_EQ(LastOptions().resource_version, "");
  EXPECT_EQ(LastOptions().shard_selector, "");
  Answer(ListBody("9", {ObjectJson("a", "8")}));
  EXPECT_GT(ignored, number);
  EXPECT_EQ(Core()->held(), ignored);
  EXPECT_EQ(Store(), "a@8");
}

TEST_P(ShardInformerTest, ForgetsObjectsThatCouldNotBeDecodedWhenTheyGo) {
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  SyncShard({"a", "b"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Send(EventJson("MODIFIED", ObjectJson("a", "6", deep)) + EventJson("MODIFIED", ObjectJson("b", "7", deep)));
  EXPECT_EQ(Core()->status().refused, 2u);
  Hold({"b"});
  EXPECT_EQ(Core()->status().refused, 1u);
  EXPECT_EQ(Store(), "b@2(stale)");
  Hold({});
  EXPECT_EQ(Core()->status().refused, 0u);
}

// The last good state may be of another incarnation than the one that was refused.
TEST_P(ShardInformerTest, AsksWhetherAnObjectWhoseStateWasRefusedHasGone) {
  Received received;
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  SyncShard({"a", "b", "c"}, "5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Relist("9", {ObjectJson("a", "8", deep, "uid-c"), ObjectJson("b", "2")});
  EXPECT_EQ(Store(), "a@1(stale) b@2");
  const auto handler = Listen(received);
  Hold({"a", "b"});
  EXPECT_FALSE(source_->last().watch);
  received.clear();
  Answer(ListBody("12", {ObjectJson("a", "8", deep, "uid-c"), ObjectJson("b", "2")}));
  EXPECT_EQ(Store(), "b@2");
  EXPECT_EQ(Core()->status().refused, 0u);
  EXPECT_EQ(received.front(), "deleted a@1 relist unknown");
}

// Only its key is known, and ranges of UIDs say nothing of that.
TEST_P(ShardInformerTest, AsksWhetherAnObjectThatCouldNeverBeDecodedHasGone) {
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  const std::vector<std::string> items = {ObjectJson("a", "1", deep), ObjectJson("b", "2")};
  SyncShard({"a", "b"}, "5", items);
  EXPECT_EQ(Core()->status().refused, 1u);
  Hold({"b"});
  EXPECT_EQ(Store(), "b@2");
  EXPECT_FALSE(source_->last().watch);
  Answer(ListBody("9", items));
  EXPECT_EQ(Core()->status().refused, 0u);
  EXPECT_TRUE(source_->last().watch);
}

TEST_P(ShardInformerTest, TakesAnObjectByItsIncarnation) {
  Received received;
  SyncShard({"a"}, "5", {ObjectJson("a", "1")});
  const auto handler = Listen(received);
  Run();
  received.clear();
  Send(DeletedJson("a", "6") + EventJson("ADDED", ObjectJson("a", "7", "", "another")));
  EXPECT_EQ(Store(), "");
  EXPECT_THAT(received, ElementsAre("deleted a@6 watch"));
}

TEST_P(ShardInformerTest, WaitsUntilItHoldsItsShard) {
  Start();
  const std::uint64_t number = Core()->Hold(Of({"a"}));
  const auto wait = [&](Nanos limit) {
    return simulation_.Spawn(
        [this, number, limit] { return Core()->WaitUntilHeld(number, {}, simulation_.clock()->Now() + limit); });
  };
  auto patient = wait(1h), hasty = wait(1s);
  Advance(2s);
  ASSERT_TRUE(hasty.done());
  EXPECT_EQ(hasty.result().error().code(), Code::kTimeout);
  EXPECT_THAT(hasty.result().error().message(), HasSubstr("the informer is listing"));
  EXPECT_FALSE(patient.done());
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  ASSERT_TRUE(patient.done());
  EXPECT_TRUE(patient.result());

  const std::uint64_t never = Core()->Hold(Of({"a", "b"}));
  auto stopped = simulation_.Spawn([this, never] { return Core()->WaitUntilHeld(never, {}, TimePoint::max()); });
  Run();
  EXPECT_FALSE(stopped.done());
  Core()->Stop();
  Run();
  ASSERT_TRUE(stopped.done());
  EXPECT_EQ(stopped.result().error().code(), Code::kStopped);
  EXPECT_GT(Core()->Hold({}), never);
  Run();
  EXPECT_EQ(Store(), "a@1");
}

TEST_P(ShardInformerTest, TellsWhoeverFollowsItsStatusThatItHoldsItsShard) {
  Start();
  int told = 0;
  const auto watch = Core()->OnStatusChange([&] { ++told; });
  Hold({});
  EXPECT_EQ(told, 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShardInformerTest, ::testing::Range<std::uint64_t>(0, 4));

// --- By namespace

class NamespaceShardTest : public ShardInformerTest {
 protected:
  NamespaceShardTest() { options_.shard_by = ShardBy::kNamespace; }
  static std::string In(std::string_view namespace_, std::string_view name, std::string_view version,
                        std::string_view rest = "") {
    std::string json = ObjectJson(name, version, rest);
    json.replace(json.find("\"ns\""), 4, "\"" + std::string(namespace_) + "\"");
    return json;
  }
};

TEST_P(NamespaceShardTest, HoldsTheObjectsOfNamespaces) {
  Received received;
  Core()->Hold(RangesOf({"x", "z"}));
  Sync("5", {In("x", "a", "1"), In("x", "b", "2"), In("y", "c", "3"), In("z", "d", "4")});
  EXPECT_EQ(LastOptions().shard_selector, Must(RangesOf({"x", "z"}).Selector(ShardBy::kNamespace)));
  EXPECT_EQ(Store(), "a@1 b@2 d@4");
  const auto handler = Listen(received);
  Core()->Hold(RangesOf({"z"}));
  Run();
  EXPECT_EQ(Store(), "d@4");
  Send(EventJson("MODIFIED", In("x", "a", "6")) + EventJson("MODIFIED", In("z", "d", "7")));
  EXPECT_EQ(Store(), "d@7");
  EXPECT_THAT(received.back(), "updated d@4>7 watch");
}

TEST_P(NamespaceShardTest, ForgetsWhatCouldNeverBeDecodedWithItsNamespace) {
  const std::string deep = R"("spec":{"extra":)" + std::string(300, '[') + std::string(300, ']') + "}";
  Core()->Hold(RangesOf({"x", "y"}));
  Sync("5", {In("x", "a", "1", deep), In("y", "b", "2", deep), In("z", "c", "3", deep)});
  EXPECT_EQ(Core()->status().refused, 2u);
  Core()->Hold(RangesOf({"y"}));
  Run();
  EXPECT_EQ(Core()->status().refused, 1u);
  EXPECT_TRUE(source_->last().watch);
}

// An object without a namespace might be one of the shard.
TEST_P(NamespaceShardTest, DeletesNothingByAListWithAnObjectWhoseNamespaceCannotBeRead) {
  Core()->Hold(RangesOf({"x"}));
  Sync("5", {In("x", "a", "1")});
  Relist("9", {R"({"metadata":{"namespace":7,"name":[]}})"});
  EXPECT_EQ(Store(), "a@1(stale)");
}

INSTANTIATE_TEST_SUITE_P(Seeds, NamespaceShardTest, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace kgen::cache
