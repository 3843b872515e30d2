// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/cache/reflector_fixture.h"

namespace kgen::cache {
namespace {

class ReflectorStreamTest : public ReflectorTest {};

// ---------------------------------------------------------------------------------------------------- streaming lists

// Contract: informer WL-01, WL-02.
TEST_P(ReflectorStreamTest, AsksForAStreamingListWithoutAVersionAtFirst) {
  StartStreaming();
  EXPECT_TRUE(Last().watch);
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_TRUE(Last().options.allow_watch_bookmarks);
  EXPECT_EQ(Last().options.resource_version_match, "NotOlderThan");
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_GE(Last().options.timeout_seconds.value_or(0), 300);
}

// Contract: informer LW-03.
TEST_P(ReflectorStreamTest, ListsWhereTheSourceDoesNotStream) {
  options_.streaming_list = true;
  source_->streaming = false;
  Start();
  EXPECT_FALSE(Last().watch);
}

// Contract: informer RW-12, WL-03, WL-04, WL-05, WL-12.
TEST_P(ReflectorStreamTest, PublishesAStreamedSnapshotOnlyAtItsMarker) {
  StartStreaming();
  Send(AddedJson("a", "3") + AddedJson("b", "9") + AddedJson("c", "4"));
  Send(ModifiedJson("a", "10") + DeletedJson("c", "11") + BookmarkJson("12") + BookmarkJson("13", "false"));
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_EQ(Version(), "");
  EXPECT_EQ(queued_, 0);
  Send(BookmarkJson("14", "true") + ModifiedJson("b", "15"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@10 b@9 at 14", "updated b@15"));
  EXPECT_EQ(Version(), "15");
  EXPECT_EQ(source_->size(), 1u);  // the same stream goes on
  EXPECT_TRUE(Last().open());
  EXPECT_THAT(seen_->relisted, ElementsAre("streamed 2 at 14"));
}

// Contract: informer WL-05.
TEST_P(ReflectorStreamTest, WatchesFromTheMarkerWhenTheStreamEndsAfterIt) {
  StartStreaming();
  Send(AddedJson("a", "3") + BookmarkJson("14", "true"));
  EndWatch();
  EXPECT_TRUE(Last().watch);
  EXPECT_FALSE(Last().options.send_initial_events);
  EXPECT_EQ(Last().options.resource_version, "14");
}

TEST_P(ReflectorStreamTest, KeepsAnObjectThatWasCreatedAgainAfterItsDeletion) {
  StartStreaming();
  Send(AddedJson("a", "3") + DeletedJson("a", "4") + AddedJson("a", "5") + DeletedJson("b", "6") +
       BookmarkJson("7", "true"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@5 at 7"));
}

// Contract: informer WL-06.
TEST_P(ReflectorStreamTest, ListsInsteadWhenStreamingIsRefused) {
  StartStreaming();
  Send(AddedJson("a", "3"));
  EndWatch(Fail(StatusError(Code::kInvalid, 422, "Invalid", "sendInitialEvents is forbidden")));
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "0");
  Answer(ListBody("5", {ObjectJson("z", "1")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced z@1 at 5"));  // nothing of what was streamed
  EndWatch(Fail(ExpiredError()));
  WaitOut();
  EXPECT_TRUE(Last().options.send_initial_events);  // each round tries again
  EXPECT_EQ(Last().options.resource_version, "5");
}

// Contract: informer WL-07.
TEST_P(ReflectorStreamTest, RetriesStreamingLaterWhenRefusedOrTooManyRequests) {
  source_->streaming = options_.streaming_list = true;
  Start();
  Refuse(RefusedError());
  EXPECT_EQ(source_->size(), 1u);
  WaitOut();
  EXPECT_TRUE(Last().options.send_initial_events);
  Open();
  Send(AddedJson("a", "3") + EventJson("ERROR", StatusJson(429, "TooManyRequests")));
  EXPECT_EQ(source_->size(), 2u);
  WaitOut();
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
}

// Contract: informer WL-10.
TEST_P(ReflectorStreamTest, StopsWhileItWaitsForAnotherStream) {
  source_->streaming = options_.streaming_list = true;
  Start();
  Refuse(RefusedError());
  OnStrand([&] { reflector_->Stop(); });
  EXPECT_EQ(simulation_.census().timers, 0u);
}

// Contract: informer WL-08.
TEST_P(ReflectorStreamTest, StreamsWithoutAVersionAtOnceWhenItsVersionIsUnusable) {
  StartStreaming();
  Send(BookmarkJson("14", "true") + EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "14");
  Refuse(ExpiredError());
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(source_->size(), 3u);
  Refuse(ExpiredError());  // a server that responds like this even then is not asked forever
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "");
}

// Contract: informer WL-09.
TEST_P(ReflectorStreamTest, StartsAStreamAgainThatEndsBeforeItsMarkerAndListsTheSecondTime) {
  StartStreaming();
  Send(AddedJson("a", "3"));
  EndWatch();
  EXPECT_EQ(source_->size(), 2u);
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_EQ(Last().options.resource_version, "");
  Open();
  Send(AddedJson("b", "4"));
  EndWatch(Fail(LostError()));
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(seen_->failed.size(), 2u);
}

// Contract: informer RW-04, WL-06.
TEST_P(ReflectorStreamTest, ListsAfterAVeryShortStream) {
  StartStreaming();
  EndWatch();
  EXPECT_FALSE(Last().watch);
}

// Contract: informer WL-09.
TEST_P(ReflectorStreamTest, ListsWhenTheMarkerDoesNotArriveAndReportsIt) {
  StartStreaming();
  Send(AddedJson("a", "3"));
  Advance(30s);
  Send(AddedJson("b", "4"));
  Advance(59s);
  Send(ModifiedJson("b", "5"));  // is no initial event: does not help
  EXPECT_EQ(source_->size(), 1u);
  Advance(1s);
  ASSERT_EQ(source_->size(), 2u);
  EXPECT_TRUE(source_->at(0).cancelled());
  EXPECT_FALSE(Last().watch);
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("without the bookmark that ends the initial events for 90 s")));
}

TEST_P(ReflectorStreamTest, WaitsForTheMarkerNoLongerThanFiveTimesTheDeadline) {
  StartStreaming();
  for (int i = 0; i < 9; ++i) {
    Send(AddedJson("a", std::to_string(i)));
    Advance(30s);
  }
  EXPECT_EQ(source_->size(), 1u);
  Send(AddedJson("a", "99"));
  Advance(30s);
  EXPECT_EQ(source_->size(), 2u);
}

// ---------------------------------------------------------------------------------------------------- refused objects

std::string Broken(std::string_view name, std::string_view version) {
  return R"({"kind":"Sample","apiVersion":"test.kgen.dev/v1","metadata":{"name":")" + std::string(name) +
         R"(","namespace":"ns","resourceVersion":")" + std::string(version) + R"("},"spec":{"nodeName":"\ud8"}})";
}
std::string Nameless(std::string_view version) {
  return R"({"kind":"Sample","metadata":{"name":{},"namespace":"ns","resourceVersion":")" + std::string(version) +
         R"("}})";
}

TEST_P(ReflectorStreamTest, KeepsTheKeyOfARefusedItemInTheList) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1"), Broken("bad", "2"), ObjectJson("b", "3")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 bad? b@3 at 5"));
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("ns/bad")));
  EXPECT_EQ(Version(), "5");
}

TEST_P(ReflectorStreamTest, CallsAListIncompleteWhenANameCannotBeRead) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1"), Nameless("2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced in part a@1 at 5"));
  EXPECT_EQ(seen_->refused.size(), 1u);
}

TEST_P(ReflectorStreamTest, QueuesARefusalForAnEventThatCannotBeDecodedAndRecordsItsVersion) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("MODIFIED", Broken("a", "7")));
  EXPECT_THAT(Queue(), ElementsAre("refused a@7"));
  EXPECT_EQ(Version(), "7");
  EXPECT_TRUE(Last().open());
}

TEST_P(ReflectorStreamTest, DeletesAnObjectWhoseDeletionCannotBeDecoded) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("DELETED", Broken("a", "7")));
  EXPECT_THAT(Queue(), ElementsAre("lost a@7"));
}

TEST_P(ReflectorStreamTest, QueuesARefusalWithoutAKeyForAnEventWhoseNameCannotBeRead) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("MODIFIED", Nameless("7")) + ModifiedJson("a", "8"));
  EXPECT_THAT(Queue(), ElementsAre("refused @7", "updated a@8"));
  EXPECT_EQ(seen_->refused.size(), 1u);
}

TEST_P(ReflectorStreamTest, ListsAgainAfterADeletionWhoseNameCannotBeRead) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("DELETED", Nameless("7")));
  EXPECT_FALSE(Last().open());
  WaitOut();
  EXPECT_FALSE(Last().watch);
}

// Contract: informer RW-06; controller 102.
TEST_P(ReflectorStreamTest, NeverDeletesForAnEventOfAnotherKind) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson(
      "DELETED",
      R"({"kind":"Other","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"7"}})"));
  EXPECT_THAT(Queue(), ElementsAre("refused a@7"));
}

TEST_P(ReflectorStreamTest, MarksAStreamedObjectWhoseNewerStateIsRefused) {
  StartStreaming();
  Send(AddedJson("a", "3") + EventJson("MODIFIED", Broken("a", "4")) + EventJson("ADDED", Broken("b", "5")) +
       BookmarkJson("7", "true"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@3(stale) b? at 7"));
}

TEST_P(ReflectorStreamTest, ReportsAFieldOfTheWrongTypeAndKeepsTheObject) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1", R"("spec":{"replicas":"many"})")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 at 5"));
  EXPECT_THAT(seen_->fields, ElementsAre("ns/a spec.replicas"));
  EXPECT_THAT(seen_->refused, IsEmpty());
}

// --------------------------------------------------------------------------------------------------------- transforms

// Contract: informer TR-01, TR-04, WL-11.
TEST_P(ReflectorStreamTest, TransformsEveryReceivedObjectOnce) {
  int calls = 0;
  options_.transform = [&](AnyRef object) -> Result<AnyRef> {
    ++calls;
    Sample changed = *object.As<Sample>();
    changed.spec->nodeName = "n" + std::to_string(calls);
    return AnyRef(MakeRef(std::move(changed)));
  };
  StartStreaming();
  Send(AddedJson("a", "3") + AddedJson("b", "4") + BookmarkJson("7", "true") + DeletedJson("a", "8"));
  EXPECT_EQ(calls, 3);
  std::vector<Delta> drained = fifo_.Drain(10);
  EXPECT_EQ(drained.at(0).list[1].object.As<Sample>().get()->spec->nodeName, "n2");
  drained = fifo_.Drain(10);
  EXPECT_EQ(drained.at(0).object.As<Sample>().get()->spec->nodeName, "n3");
}

// Contract: informer RW-08, SI-11, TR-07.
TEST_P(ReflectorStreamTest, KeepsNameVersionAndUidWhateverATransformDoes) {
  options_.transform = [](AnyRef) -> Result<AnyRef> { return AnyRef(MakeRef(Sample{.metadata = {.name = "other"}})); };
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 at 5", "updated a@7"));
  EXPECT_EQ(Version(), "7");
}

// Contract: informer TR-05, TR-06.
TEST_P(ReflectorStreamTest, RefusesAnObjectWhoseTransformFailsOrThrows) {
  int calls = 0;
  options_.transform = [&](AnyRef object) -> Result<AnyRef> {
    if (++calls == 1) throw std::runtime_error("thrown");
    if (calls == 2) return Fail(Code::kInvalidArgument, "returned");
    if (calls == 3) return AnyRef();
    return object;
  };
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3"), ObjectJson("d", "4")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a? b? c? d@4 at 5"));
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("thrown"), HasSubstr("returned"), HasSubstr("same type")));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReflectorStreamTest, ::testing::Range<std::uint64_t>(0, 24));

}  // namespace
}  // namespace kgen::cache
