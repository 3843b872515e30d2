// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which responses the reflector accepts as a list, how it recovers from each kind of failure, and its status meanwhile.
#include "tests/runtime/cache/reflector_fixture.h"

namespace kgen::cache {
namespace {

using State = InformerState;

class ReflectorRetryTest : public ReflectorTest {
 protected:
  FakeStream& Watch() { return source_->last_watch(); }
  void OpenWatch() {
    Watch().Open();
    Run();
  }
  void EndLastWatch(Result<void> end = {}) {
    Watch().End(std::move(end));
    Run();
  }
  // Loses the connection and opens the resumed watch. The check, if there is one, is the last request then.
  void LoseConnection() {
    EndLastWatch(Fail(LostError()));
    OpenWatch();
  }
  static Error Forbidden() { return StatusError(Code::kForbidden, 403, "Forbidden"); }
};

// --------------------------------------------------------------------------------------------- answers that are no
// list

TEST_P(ReflectorRetryTest, FailsAListWhoseResponseIsNotAList) {
  ListAndOpenWatch();
  Queue();
  const std::string head = R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","metadata":{"resourceVersion":"9"})";
  for (const std::string& answer :
       {head + R"(,"items":"x"})", head + R"(,"items":7})", head + R"(,"items":{}})", head + R"(,"items":[)",
        std::string(R"({"message":"please log in"})"), std::string("{}"), std::string("<html>please log in</html>"),
        std::string(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v2","metadata":{"resourceVersion":"9"}})"),
        std::string(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","metadata":{},"items":[]})"),
        std::string(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","items":[]})"),
        std::string(R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]})")}) {
    if (Last().watch) Send(EventJson("ERROR", StatusJson(410, "Expired")));
    seen_->failed_lists.clear();
    Answer(answer);
    EXPECT_EQ(seen_->failed_lists.size(), 1u) << answer;
    EXPECT_THAT(Queue(), IsEmpty()) << answer;
    EXPECT_TRUE(Status().last_error);
    EXPECT_FALSE(seen_->failed.empty());
    EXPECT_EQ(Version(), "5");
    WaitOut();
    ASSERT_FALSE(Last().watch);
    ASSERT_TRUE(Last().open());
  }
}

// A Go server writes `null` for a list that was never filled.
TEST_P(ReflectorRetryTest, TreatsAListWithNullItemsAsEmpty) {
  for (const char* items : {R"(,"items":null)", R"(,"items":[])"}) {
    if (!reflector_) Start();
    Answer(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","metadata":{"resourceVersion":"5"})" +
           std::string(items) + "}");
    EXPECT_THAT(Queue(), ElementsAre("replaced at 5")) << items;
    Open();
    Advance(10s);
    Send(EventJson("ERROR", StatusJson(410, "Expired")));
  }
}

// client-go takes it for an empty list, so its informers delete everything.
TEST_P(ReflectorRetryTest, DoesNotDeleteEverythingAfterAListWithoutItems) {
  Start();
  Answer(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","metadata":{"resourceVersion":"5"}})");
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_THAT(seen_->failed_lists, ElementsAre(HasSubstr("without the member items")));
  WaitOut();
  Answer(ListBody("6", {}));
  EXPECT_THAT(Queue(), ElementsAre("replaced at 6"));
}

TEST_P(ReflectorRetryTest, FailsAListWhoseContinueTokensRepeat) {
  Start();
  for (int i = 0; i < 12 && seen_->failed_lists.empty(); ++i)
    Answer(ListBody("5", {ObjectJson("a", "1")}, i % 2 == 0 ? "x" : "y"));
  EXPECT_THAT(seen_->failed_lists, ElementsAre(HasSubstr("the same continue token twice")));
  EXPECT_LT(source_->size(), 8u);
  EXPECT_THAT(Queue(), IsEmpty());
}

TEST_P(ReflectorRetryTest, ListsWhenTheMarkerHasNoVersion) {
  StartStreaming();
  Send(AddedJson("a", "3") + EventJson("BOOKMARK", R"({"kind":"Sample","apiVersion":"test.kgen.dev/v1","metadata":)"
                                                   R"({"annotations":{"k8s.io/initial-events-end":"true"}}})"));
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_FALSE(Last().watch);
  EXPECT_THAT(seen_->failed,
              ElementsAre(HasSubstr("the bookmark that ends the initial events has no resourceVersion")));
}

// ---------------------------------------------------------------------------------------------------------- no
// connection

// Contract: informer ER-03.
TEST_P(ReflectorRetryTest, WaitsForTheConnectionAndSendsTheSameWatchWhenItIsBack) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  EndLastWatch(Fail(LostError()));
  for (int i = 0; i < 8; ++i) {
    EndLastWatch(Fail(RefusedError()));
    EXPECT_EQ(Status().state, State::kDisconnected);
    EXPECT_TRUE(Status().last_error);
    EXPECT_THAT(Status().last_error->ToString(), HasSubstr("connection refused"));
    EXPECT_EQ(Status().failures, i + 1);
    Advance(2s);  // the longest delay of the first minute
    EXPECT_EQ(Status().state, State::kOpening);
  }
  EXPECT_EQ(Watch().options.resource_version, "7");
  OpenWatch();
  EXPECT_EQ(Status().state, State::kWatching);
  EXPECT_EQ(Status().lists, 1u);
  EXPECT_FALSE(Status().last_error);
}

TEST_P(ReflectorRetryTest, StreamsTheListAgainWhenTheConnectionIsBack) {
  source_->streaming = options_.streaming_list = true;
  Start();
  Refuse(RefusedError());
  EXPECT_EQ(Status().state, State::kDisconnected);
  Advance(200ms);
  EXPECT_TRUE(Last().options.send_initial_events);
  Open();
  Send(BookmarkJson("14", "true"));
  EXPECT_EQ(Status().state, State::kWatching);
}

TEST_P(ReflectorRetryTest, ReportsThatAWatchIsBeingOpenedUntilItIsOpen) {
  Start();
  EXPECT_EQ(Status().state, State::kListing);
  Answer(ListBody("5", {}));
  EXPECT_EQ(Status().state, State::kOpening);
  Advance(10s);
  EXPECT_EQ(Status().state, State::kOpening);
  Open();
  EXPECT_EQ(Status().state, State::kWatching);
}

TEST_P(ReflectorRetryTest, EndsAWatchThatIsNotAnsweredWithinAMinute) {
  Start();
  Answer(ListBody("5", {}));
  Advance(59s);
  EXPECT_TRUE(Last().open());
  Advance(1s);
  EXPECT_FALSE(source_->at(1).open());
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("not answered within 60 s")));
}

TEST_P(ReflectorRetryTest, ReportsWhenItWasLastCurrent) {
  Start();
  EXPECT_FALSE(Status().current_as_of.has_value());
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  EXPECT_FALSE(Status().current_as_of.has_value());  // that list may come from an old cache
  Advance(3s);
  Open();
  const auto now = [&] { return simulation_.clock()->Now(); };
  EXPECT_EQ(Status().current_as_of, now());
  Advance(5s);
  Send(ModifiedJson("a", "7"));
  EXPECT_EQ(Status().current_as_of, now());
  Advance(5s);
  Send(BookmarkJson("8"));
  const TimePoint last = now();
  Advance(5s);
  EndLastWatch(Fail(LostError()));
  EndLastWatch(Fail(RefusedError()));
  Advance(1s);
  EXPECT_EQ(Status().current_as_of, last);
}

// ------------------------------------------------------------------------------------------------------ the server
// refuses

// Contract: informer ER-04.
TEST_P(ReflectorRetryTest, RetriesTheSameWatchWithinTwoSecondsOnAStartingServer) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  Advance(2min);
  EndLastWatch(Fail(LostError()));
  for (int i = 0; i < 8; ++i) {
    EndLastWatch(Fail(i % 2 == 0 ? Forbidden() : StatusError(Code::kServer, 500, "InternalError")));
    EXPECT_EQ(Status().state, State::kBackingOff);
    EXPECT_THAT(seen_->delays.back(), AllOf(Ge(Nanos(500ms)), Lt(Nanos(2s))));
    Advance(2s);
    EXPECT_EQ(Watch().options.resource_version, "7");
    EXPECT_TRUE(Watch().open());
  }
  EXPECT_EQ(Status().lists, 1u);
}

TEST_P(ReflectorRetryTest, DoublesItsDelayForAResourceThatFailsUntilAWatchHasProvedItself) {
  ListAndOpenWatch();
  Advance(31s);
  EndLastWatch();
  Watch().End(Fail(StatusError(Code::kNotFound, 404, "NotFound")));
  Run();
  for (const Nanos step : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    EXPECT_THAT(seen_->delays.back(), AllOf(Ge(step / 2), Lt(step)));
    Advance(step);
    Refuse(StatusError(Code::kNotFound, 404, "NotFound"));
  }
  WaitOut();
  Answer(ListBody("8", {}));
  Open();
  Send(BookmarkJson("9"));
  EndLastWatch();
  Refuse(StatusError(Code::kNotFound, 404, "NotFound"));
  EXPECT_LT(seen_->delays.back(), 1s);
}

TEST_P(ReflectorRetryTest, ChecksTheHistoryAlsoAfterAWait) {
  ListAndOpenWatch();
  Send(EventJson("ERROR", StatusJson(429, "TooManyRequests")));
  EXPECT_EQ(Status().state, State::kBackingOff);
  Advance(1s);
  OpenWatch();
  EXPECT_FALSE(Last().watch);
  Answer(ListBody("4", {}));
  EXPECT_THAT(seen_->failed.back(), HasSubstr("its data was replaced"));
}

// -------------------------------------------------------------------------------------------------------------------
// 410

// Contract: informer ER-06.
TEST_P(ReflectorRetryTest, ListsAtOnceAfterA410AndWithADelayAfterAnother) {
  ListAndOpenWatch();
  Advance(10s);
  Send(EventJson("ERROR", StatusJson(410, "Expired")));
  EXPECT_EQ(Status().state, State::kListing);
  EXPECT_TRUE(Status().last_error);
  EXPECT_EQ(Status().failures, 1);
  Answer(ListBody("7", {}));
  EndLastWatch(Fail(ExpiredError()));
  EXPECT_EQ(Status().state, State::kBackingOff);
  EXPECT_EQ(Status().failures, 2);
  Advance(1s);
  Answer(ListBody("8", {}));
  EndLastWatch(Fail(ExpiredError()));
  EXPECT_THAT(seen_->delays.back(), AllOf(Ge(Nanos(1s)), Lt(Nanos(2s))));
  Advance(2s);
  Answer(ListBody("9", {}));
  Open();
  Send(BookmarkJson("10") + EventJson("ERROR", StatusJson(410, "Expired")));
  EXPECT_EQ(Status().state, State::kListing);  // that was progress
}

// ------------------------------------------------------------------------------------------------- watches that end
// early

TEST_P(ReflectorRetryTest, SlowsDownWhenEveryWatchEndsAfterOneEvent) {
  ListAndOpenWatch();
  const std::uint64_t before = Status().watches;
  const TimePoint start = simulation_.clock()->Now();
  for (int version = 6; simulation_.clock()->Now() - start < 10min;) {
    if (!Watch().open()) {
      Advance(100ms);
      continue;
    }
    OpenWatch();
    Watch().Send(ModifiedJson("a", std::to_string(version++)));
    EndLastWatch();
  }
  EXPECT_LT(Status().watches - before, 50u);  // five at once, then half a minute between two
  EXPECT_THAT(seen_->failed.back(), HasSubstr("keeps ending early, the last one after 1 events"));
  EXPECT_GT(Status().failures, 0);
  EXPECT_EQ(Status().lists, 1u);
  Advance(30s);
  OpenWatch();
  Advance(5s);
  EndLastWatch();
  EXPECT_TRUE(Watch().open());  // and at once again after a calm while
}

// Contract: informer RW-04.
TEST_P(ReflectorRetryTest, ListsOccasionallyWhenEveryWatchEndsAtOnceWithoutAnEvent) {
  ListAndOpenWatch();
  for (int i = 0; i < 5; ++i) {
    EndLastWatch();
    Advance(50ms);  // its turn
    EXPECT_TRUE(Watch().open()) << i;
    OpenWatch();
  }
  EXPECT_THAT(seen_->failed, IsEmpty());
  EndLastWatch();
  EXPECT_EQ(Status().state, State::kBackingOff);
  EXPECT_EQ(seen_->failed.size(), 1u);
  Advance(1s);
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "5");
}

// ------------------------------------------------------------------------------------------------------- a restored
// etcd

TEST_P(ReflectorRetryTest, ListsAgainWhenTheServerIsBehindTheCacheAfterALostConnection) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "70"));
  Queue();
  LoseConnection();
  ASSERT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(Last().options.limit.value_or(0), 1);
  EXPECT_EQ(Status().lists, 1u);
  Answer(ListBody("60", {ObjectJson("a", "1")}));
  EXPECT_FALSE(Watch().open());
  ASSERT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "");  // of the server's new history
  EXPECT_EQ(Status().state, State::kListing);
  EXPECT_THAT(Status().last_error->message(), AllOf(HasSubstr("version 60"), HasSubstr("version 70")));
  EXPECT_THAT(seen_->failed.back(), HasSubstr("its data was replaced"));
  Answer(ListBody("61", {ObjectJson("b", "40")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced b@40 at 61"));
  EXPECT_EQ(Version(), "61");
  Advance(100ms);  // its turn
  EXPECT_EQ(Watch().options.resource_version, "61");
  OpenWatch();
  EXPECT_FALSE(Status().last_error);
}

TEST_P(ReflectorRetryTest, StreamsTheNewHistoryWithoutAVersion) {
  StartStreaming();
  Send(AddedJson("a", "3") + BookmarkJson("70", "true"));
  Queue();
  EndLastWatch(Fail(RefusedError()));  // in front of the resumed watch
  OpenWatch();
  Answer(ListBody("60", {}));
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_EQ(Last().options.resource_version, "");
  Open();
  Send(BookmarkJson("60", "true"));
  EXPECT_THAT(Queue(), ElementsAre("replaced at 60"));
}

TEST_P(ReflectorRetryTest, LeavesTheWatchAloneWhenTheHistoryIsIntact) {
  ListAndOpenWatch();
  for (const char* version : {"5", "900", "later", ""}) {
    LoseConnection();
    const std::size_t requests = source_->size();
    Send(std::string());
    Watch().Send(ModifiedJson("a", "7"));  // progress between question and answer is none of its business
    Run();
    if (*version != 0) Answer(ListBody(version == std::string("5") ? "7" : version, {}));
    if (*version == 0) Answer(R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","items":[]})");
    EXPECT_TRUE(Watch().open());
    EXPECT_EQ(source_->size(), requests);
    Advance(10s);
  }
  EXPECT_EQ(Status().lists, 1u);
}

TEST_P(ReflectorRetryTest, ComparesWithTheVersionThatItHadWhenItAsked) {
  ListAndOpenWatch();
  LoseConnection();
  FakeStream& check = Last();
  Watch().Send(ModifiedJson("a", "900"));
  Run();
  check.Answer(ListBody("8", {}));  // sent when the cache was at 5
  Run();
  EXPECT_TRUE(Watch().open());
  EXPECT_EQ(Status().lists, 1u);
}

TEST_P(ReflectorRetryTest, RepeatsAFailedCheckForAWhileAndNeverDisturbsTheWatch) {
  ListAndOpenWatch();
  LoseConnection();
  std::size_t checks = 0;
  for (int i = 0; i < 20; ++i) {
    if (!Last().watch && Last().open()) {
      ++checks;
      Refuse(StatusError(Code::kServer, 500, "InternalError"));
    }
    Advance(10s);
  }
  EXPECT_EQ(checks, 5u);
  EXPECT_TRUE(Watch().open());
  EXPECT_EQ(Status().state, State::kWatching);
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("failed to check whether the data of the server was replaced")));
}

TEST_P(ReflectorRetryTest, ListsWithoutAVersionWhenTheServerIsBehindTheResumedWatch) {
  ListAndOpenWatch();
  Advance(10s);
  EndLastWatch();
  Refuse(StatusError(Code::kTimeout, 504, "Timeout", "Too large resource version: 5, current: 3").WithRetryAfter(1));
  EXPECT_EQ(Status().state, State::kListing);
  EXPECT_EQ(Last().options.resource_version, "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReflectorRetryTest, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace kgen::cache
