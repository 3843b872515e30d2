// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/secrets.h"
#include "tests/runtime/cache/reflector_fixture.h"

namespace kgen::cache {
namespace {

// ------------------------------------------------------------------------------------------------------------- lists

// Contract: informer LW-04, RF-01, RF-03, RL-01, RL-10; controller 137.
TEST_P(ReflectorTest, ListsAtVersion0ThenWatchesFromTheVersionOfTheList) {
  Start();
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "0");
  EXPECT_EQ(Last().options.limit.value_or(0), 500);
  Answer(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 b@2 at 5"));
  EXPECT_EQ(Version(), "5");
  EXPECT_TRUE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "5");
  EXPECT_TRUE(Last().options.allow_watch_bookmarks);
  EXPECT_FALSE(Last().options.send_initial_events);
  EXPECT_THAT(seen_->relisted, ElementsAre("listed 2 at 5"));
}

// Contract: informer RW-01, RW-02.
TEST_P(ReflectorTest, DrawsTheTimeoutOfEachWatchBetweenFiveAndTenMinutes) {
  ListAndOpenWatch();
  std::set<std::int64_t> drawn;
  for (int i = 0; i < 20; ++i) {
    drawn.insert(Last().options.timeout_seconds.value_or(0));
    Advance(1s);
    Send(BookmarkJson(std::to_string(6 + i)));
    EndWatch();
    Open();
  }
  EXPECT_GT(drawn.size(), 10u);
  EXPECT_GE(*drawn.begin(), 300);
  EXPECT_LE(*drawn.rbegin(), 600);
}

// Contract: informer LW-06, LW-07.
TEST_P(ReflectorTest, FollowsContinueTokensWithoutAVersionAndTakesTheVersionOfTheFirstPage) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}, "next"));
  EXPECT_EQ(Last().options.continue_, "next");
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(Last().options.limit.value_or(0), 500);
  EXPECT_THAT(Queue(), IsEmpty());
  Answer(ListBody("6", {ObjectJson("b", "2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 b@2 at 5"));
}

// Contract: informer LW-08.
TEST_P(ReflectorTest, ListsInFullWhenAContinueTokenHasExpired) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}, "next"));
  Refuse(ExpiredError());
  EXPECT_EQ(Last().options.continue_, "");
  EXPECT_EQ(Last().options.resource_version, "0");
  EXPECT_FALSE(Last().options.limit.has_value());
  Answer(ListBody("7", {ObjectJson("a", "1"), ObjectJson("b", "2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 b@2 at 7"));
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
}

// Contract: informer RL-02, RL-03, RL-04, RL-05, RL-08.
TEST_P(ReflectorTest, TriesAnExpiredFirstPageOnceMoreWithoutAVersion) {
  ListAndOpenWatch();
  EndWatch(Fail(StatusError(Code::kServer, 500, "InternalError")));  // before anything came
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "5");
  EXPECT_FALSE(Last().options.limit.has_value());  // lets the server answer from its cache
  Refuse(ExpiredError());
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_FALSE(Last().options.limit.has_value());  // the page size of the first attempt
  Refuse(ExpiredError());                          // only once in a round
  EXPECT_THAT(seen_->failed_lists, ElementsAre(HasSubstr("failed to list samples")));
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "");  // still unusable
  Answer(ListBody("9", {}));
  EXPECT_EQ(Version(), "9");
}

// Contract: informer ER-02, RL-04.
TEST_P(ReflectorTest, TreatsAVersionAheadOfTheServerAsUnusable) {
  Start();
  Refuse(StatusError(Code::kTimeout, 504, "Timeout", "Too large resource version: 5, current: 3"));
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(source_->size(), 2u);
}

// Contract: informer LW-05, RL-06.
TEST_P(ReflectorTest, UsesTheRequestedPageSize) {
  options_.page_size = 7;
  Start();
  EXPECT_EQ(Last().options.limit.value_or(0), 7);
}

// Contract: informer RL-07.
TEST_P(ReflectorTest, KeepsPagingAfterAServerPagedAListAtVersion0) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}, "next"));
  Answer(ListBody("5", {}));
  EndWatch(Fail(ExpiredError()));
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "5");
  EXPECT_EQ(Last().options.limit.value_or(0), 500);
}

// Contract: informer RF-01, RF-03, RL-11, WE-02, WE-03; controller 138.
TEST_P(ReflectorTest, ReportsAFailedListWaitsAndListsAgain) {
  Start();
  Refuse(StatusError(Code::kForbidden, 403, "Forbidden", "samples is forbidden"));
  EXPECT_THAT(seen_->failed_lists,
              ElementsAre(AllOf(HasSubstr("1 failed to list samples"), HasSubstr("samples is forbidden"))));
  EXPECT_EQ(Status().state, InformerState::kBackingOff);
  EXPECT_EQ(Status().failures, 1);
  EXPECT_EQ(Status().refusals, 1);
  ASSERT_EQ(seen_->delays.size(), 1u);
  EXPECT_THAT(seen_->delays[0], AllOf(Ge(Nanos(500ms)), Lt(Nanos(2s))));
  EXPECT_EQ(source_->size(), 1u);
  Advance(seen_->delays[0] - 1ns);
  EXPECT_EQ(source_->size(), 1u);
  Advance(1ns);
  EXPECT_EQ(source_->size(), 2u);
  Answer(ListBody("5", {}));
  EXPECT_EQ(Status().failures, 1);
  Open();
  EXPECT_EQ(Status().failures, 0);
  EXPECT_FALSE(Status().last_error);
}

TEST_P(ReflectorTest, ReportsThreeRefusalsAndKeepsTrying) {
  Start();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(seen_->gave_up);
    Refuse(StatusError(Code::kNotFound, 404, "NotFound"));
    WaitOut();
  }
  EXPECT_TRUE(seen_->gave_up);
  EXPECT_EQ(Status().refusals, 3);
  Refuse(LostError());
  EXPECT_EQ(Status().refusals, 0);
  EXPECT_EQ(Status().failures, 4);
}

TEST_P(ReflectorTest, WaitsAtLeastAsLongAsTheServerAsks) {
  Start();
  Refuse(TooManyRequestsError().WithRetryAfter(40));
  EXPECT_THAT(seen_->delays.at(0), AllOf(Ge(Nanos(40s)), Lt(Nanos(80s))));
  Advance(80s);
  Refuse(StatusError(Code::kUnavailable, 503, "ServiceUnavailable").WithRetryAfter(3600));
  EXPECT_EQ(seen_->delays.at(1), 5min);
}

TEST_P(ReflectorTest, FailsAListThatIsCutOffAndQueuesNothing) {
  Start();
  Last().Open();
  Last().Send(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2")}).substr(0, 200));
  Refuse(LostError());
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_EQ(seen_->failed_lists.size(), 1u);
  EXPECT_EQ(Version(), "");
}

TEST_P(ReflectorTest, FailsAListThatEndsTooEarly) {
  Start();
  Answer(R"({"kind":"SampleList","items":[)");
  EXPECT_EQ(seen_->failed_lists.size(), 1u);
}

TEST_P(ReflectorTest, FailsAListThatSendsNothingForAMinute) {
  Start();
  Last().Open();
  Last().Send(R"({"kind":"SampleList",)");
  Advance(59s);
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
  Last().Send(R"("items":[)");
  Advance(59s);
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
  Advance(1s);
  EXPECT_THAT(seen_->failed_lists, ElementsAre(HasSubstr("no data for 60 s")));
  EXPECT_TRUE(source_->at(0).cancelled());
}

TEST_P(ReflectorTest, RefusesATableAndAStatusInsteadOfAList) {
  Start();
  Answer(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"3"},"rows":[]})");
  EXPECT_THAT(seen_->failed_lists, ElementsAre(HasSubstr("expected SampleList of test.kgen.dev/v1, found Table")));
  WaitOut();
  Answer(StatusJson(403, "Forbidden", "not for you"));
  EXPECT_THAT(seen_->failed_lists.back(), HasSubstr("not for you"));
  EXPECT_THAT(Queue(), IsEmpty());
}

// Contract: informer RL-09.
TEST_P(ReflectorTest, DiscardsTheLateAnswerOfAListWhenStopped) {
  Start();
  Last().Open();
  Last().Send(ListBody("5", {ObjectJson("a", "1")}));
  OnStrand([&] { reflector_->Stop(); });
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_TRUE(Last().cancelled());
  EXPECT_EQ(Status().state, InformerState::kStopped);
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
}

// ----------------------------------------------------------------------------------------------------------- watches

// Contract: informer RW-05, RW-09.
TEST_P(ReflectorTest, QueuesEventsInOrderAndRecordsTheirVersions) {
  ListAndOpenWatch();
  Queue();
  Send(AddedJson("b", "6") + ModifiedJson("a", "7") + DeletedJson("b", "8") + BookmarkJson("9"));
  EXPECT_THAT(Queue(), ElementsAre("added b@6", "updated a@7", "deleted b@8", "bookmark 9"));
  EXPECT_EQ(Version(), "9");
  EXPECT_EQ(Status().events, 3u);
}

// Contract: informer RW-03.
TEST_P(ReflectorTest, OpensAWatchAgainAtOnceWhenTheServerEndedIt) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  EndWatch();
  EXPECT_EQ(source_->size(), 3u);
  EXPECT_TRUE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "7");
  EXPECT_THAT(seen_->failed, IsEmpty());
}

// Contract: informer RW-03.
TEST_P(ReflectorTest, OpensAWatchAgainAtOnceAfterASecondWithoutEvents) {
  ListAndOpenWatch();
  Advance(1s);
  EndWatch();
  EXPECT_EQ(source_->size(), 3u);
}

// Contract: informer RW-03.
TEST_P(ReflectorTest, TreatsALostConnectionAsAnEndedWatch) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7") + ModifiedJson("a", "8").substr(0, 50));
  EndWatch(Fail(LostError()));
  EXPECT_EQ(source_->last_watch().options.resource_version, "7");
  EXPECT_TRUE(source_->last_watch().open());
  EXPECT_TRUE(Status().last_error);  // until it is open again
  EXPECT_EQ(Status().failures, 0);
}

// Contract: informer BM-01.
TEST_P(ReflectorTest, CountsABookmarkAsAnEvent) {
  ListAndOpenWatch();
  Send(BookmarkJson("6"));
  EndWatch();
  EXPECT_EQ(source_->size(), 3u);
  EXPECT_EQ(Last().options.resource_version, "6");
}

TEST_P(ReflectorTest, SkipsAnUnknownEventTypeButRecordsItsVersion) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("RENAMED", ObjectJson("a", "7")));
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_EQ(Version(), "7");
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("unknown type \"RENAMED\"")));
}

// Contract: informer RW-10.
TEST_P(ReflectorTest, DoesNotRecordVersionsOfSyntheticEvents) {
  Start();
  Answer(ListBody("0", {}));
  Open();
  Queue();
  Send(AddedJson("b", "60") + AddedJson("a", "7"));
  EXPECT_EQ(Version(), "0");
  EXPECT_THAT(Queue(), ElementsAre("added b@", "added a@"));
  Send(ModifiedJson("a", "61"));
  EXPECT_EQ(Version(), "61");
  Send(AddedJson("c", "62"));
  EXPECT_EQ(Version(), "62");
}

// Contract: controller 271.
TEST_P(ReflectorTest, EndsAWatchThatOutlivesItsTimeout) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  const auto timeout = std::chrono::seconds(Last().options.timeout_seconds.value_or(0));
  Advance(timeout + 29s);
  EXPECT_EQ(source_->size(), 2u);
  Advance(1s);
  ASSERT_EQ(source_->size(), 3u);
  EXPECT_TRUE(source_->at(1).cancelled());
  EXPECT_EQ(Last().options.resource_version, "7");
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("outlived its timeout")));
}

// Contract: informer ER-03, WE-03.
TEST_P(ReflectorTest, TriesTheSameWatchAgainWhenRefusedOrTooManyRequests) {
  Start();
  Answer(ListBody("5", {}));
  Refuse(RefusedError());
  EXPECT_EQ(source_->size(), 2u);
  EXPECT_EQ(Status().state, InformerState::kDisconnected);
  EXPECT_THAT(Status().last_error->message(), HasSubstr("connection refused"));
  Advance(200ms);
  EXPECT_EQ(source_->last_watch().options.resource_version, "5");
  source_->last_watch().End(Fail(TooManyRequestsError().WithRetryAfter(1)));
  Run();
  const std::size_t requests = source_->size();
  Advance(2s);
  EXPECT_EQ(source_->size(), requests + 1);
  EXPECT_TRUE(Last().watch);
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
  EXPECT_EQ(Status().lists, 1u);
  EXPECT_EQ(Status().failures, 2);
}

// Contract: informer ER-04.
TEST_P(ReflectorTest, ListsAgainWhenAWatchCannotBeOpenedOtherwise) {
  for (const auto& [code, http, reason] :
       {std::tuple(Code::kForbidden, 403, "Forbidden"), std::tuple(Code::kNotFound, 404, "NotFound"),
        std::tuple(Code::kServer, 500, "InternalError")}) {
    seen_->failed.clear();
    if (!reflector_) {
      Start();
    } else {
      WaitOut();
    }
    EXPECT_FALSE(Last().watch);
    Answer(ListBody("5", {}));
    Advance(31s);  // no server that has just started
    Refuse(StatusError(code, http, reason));
    EXPECT_EQ(seen_->failed.size(), 1u) << reason;
  }
  WaitOut();
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "5");
}

// Contract: informer ER-05.
TEST_P(ReflectorTest, WatchesAgainAfterTooManyRequestsInsideTheStream) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7") + EventJson("ERROR", StatusJson(429, "TooManyRequests")));
  EXPECT_EQ(source_->size(), 2u);
  EXPECT_FALSE(source_->at(1).open());
  WaitOut();
  EXPECT_TRUE(source_->last_watch().open());
  EXPECT_EQ(source_->last_watch().options.resource_version, "7");
  EXPECT_EQ(Status().lists, 1u);
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
}

// Contract: informer ER-06.
TEST_P(ReflectorTest, ListsAtTheLastVersionAfterAnExpiredStream) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7") + EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "7");  // not marked unusable by a watch
  EXPECT_THAT(seen_->failed_lists, IsEmpty());
}

// Contract: informer ER-07, ER-09.
TEST_P(ReflectorTest, EndsTheRoundAfterAnInternalErrorInsideTheStream) {
  ListAndOpenWatch();
  Send(EventJson("ERROR", StatusJson(500, "InternalError")));
  EXPECT_EQ(source_->size(), 2u);
  WaitOut();
  EXPECT_FALSE(Last().watch);
}

TEST_P(ReflectorTest, ShowsNoTokenThatComesBackInTheStream) {
  const detail::Secret token("token-of-the-connection");
  ListAndOpenWatch();
  Send(EventJson("ADDED", R"({"kind":"token-of-the-connection","metadata":{"name":"b"}})"));
  Send(EventJson("ERROR", StatusJson(500, "InternalError", "got token-of-the-connection")));
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("(hidden)")));
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("got (hidden)")));
  EXPECT_THAT(Status().last_error->ToString(), HasSubstr("got (hidden)"));
}

// Contract: informer ER-09.
TEST_P(ReflectorTest, EndsTheRoundAfterAnyOtherErrorInsideTheStream) {
  for (const std::string& text : {EventJson("ERROR", StatusJson(500, "StoreReadError")), EventJson("ERROR", "{}"),
                                  std::string("no json at all"), std::string(R"({"type":"ADDED"})")}) {
    if (!reflector_) {
      ListAndOpenWatch();
    } else {
      WaitOut();
      EXPECT_FALSE(Last().watch);
      Answer(ListBody("5", {}));
      Open();
    }
    Send(text);
    EXPECT_FALSE(Last().open()) << text;
  }
  EXPECT_EQ(seen_->failed.size(), 4u);
}

// Contract: informer RF-02, RF-05, RW-11.
TEST_P(ReflectorTest, StopsInEveryPhaseAndLeavesNothingOpen) {
  const int phase = static_cast<int>(GetParam() % 6);
  source_->streaming = options_.streaming_list = phase >= 4;
  options_.resync = 1h;
  Start();
  if (phase == 1) Refuse(RefusedError());                   // waiting
  if (phase == 2 || phase == 3) Answer(ListBody("5", {}));  // opening a watch
  if (phase == 3) Open();                                   // watching
  if (phase == 5) Send(AddedJson("a", "1"));                // half a streaming list
  OnStrand([&] { reflector_->Stop(); });
  const std::size_t requests = source_->size();
  const int queued = queued_;
  Advance(1h);
  EXPECT_EQ(source_->size(), requests);
  EXPECT_EQ(source_->open(), 0u);
  EXPECT_EQ(queued_, queued);
  OnStrand([&] { reflector_->Stop(); });  // harmless
}

// ----------------------------------------------------------------------------------------------------------- resyncs

// Contract: informer RS-08, RW-13.
TEST_P(ReflectorTest, ResyncsWhileItWatches) {
  options_.resync = 10s;
  ListAndOpenWatch();
  Queue();
  Advance(9s);
  EXPECT_THAT(Queue(), IsEmpty());
  Advance(1s);
  EXPECT_THAT(Queue(), ElementsAre("sync"));
  Advance(10s);
  EXPECT_THAT(Queue(), ElementsAre("sync"));
  resync_due_ = false;
  Advance(10s);
  EXPECT_THAT(Queue(), IsEmpty());
}

// Contract: informer RW-13, RW-14.
TEST_P(ReflectorTest, NeitherResyncsWhileItListsNorWhileItWaits) {
  options_.resync = 10s;
  Start();
  Last().Open();
  Advance(15s);
  Answer(ListBody("5", {}));
  Queue();
  Send(EventJson("ERROR", StatusJson(410, "Expired")));  // a round's end takes the timer along
  WaitOut();
  EXPECT_THAT(Queue(), IsEmpty());
  Answer(ListBody("5", {}));
  Queue();
  Advance(9s);
  EXPECT_THAT(Queue(), IsEmpty());
  Advance(1s);
  EXPECT_THAT(Queue(), ElementsAre("sync"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReflectorTest, ::testing::Range<std::uint64_t>(0, 24));

}  // namespace
}  // namespace kgen::cache
