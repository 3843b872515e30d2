// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector against a source that the test plays: INF sections 1 to 8.
#include "kgen/cache/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kgen/testing/simulation.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/fake_list_watch.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using sample::Sample;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;

struct Seen : Observer {
  void OnListOrWatchFailed(const ListOrWatchFailed& e) override {
    failed.push_back(std::string(e.watch ? "watch " : "list ") + e.error->ToString());
    delays.push_back(e.retry_in);
    gave_up = gave_up || e.gave_up;
  }
  void OnObjectRefused(const ObjectRefused& e) override {
    refused.push_back(e.key->str() + ": " + e.error->ToString());
  }
  void OnFieldRefused(const FieldRefused& e) override { fields.push_back(e.key->str() + " " + std::string(e.path)); }
  void OnRelisted(const Relisted& e) override {
    relisted.push_back(std::string(e.streamed ? "streamed " : "listed ") + std::to_string(e.objects) + " at " +
                       std::string(e.resource_version));
  }
  std::vector<std::string> failed, refused, fields, relisted;
  std::vector<Nanos> delays;
  bool gave_up = false;
};

class ReflectorTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ReflectorTest() { options_.streaming_list = false; }
  ~ReflectorTest() override {
    OnStrand([&] { reflector_ = nullptr; });
    EXPECT_EQ(source_->open(), 0u) << "a stream that nobody reads [RF-05]";
    EXPECT_EQ(simulation_.census().timers, 0u);
  }

  void Start() {
    reflector_ = std::make_unique<Reflector>(
        source_, Sample::kTable, fifo_, simulation_.executor(), strand_, seen_, options_,
        Reflector::Hooks{
            .on_queued = [this] { ++queued_; },
            .should_resync = [this] { return resync_due_; },
            .on_failed = [this](const Error& e,
                                int failures) { told_.push_back(std::to_string(failures) + " " + e.ToString()); },
            .on_status = [this] { ++status_changes_; }});
    OnStrand([&] { reflector_->Start(); });
  }
  void OnStrand(Task task) {
    simulation_.executor()->Post(strand_, std::move(task));
    Run();
  }
  // Everything but time; a wait stays a wait.
  void Run() { Must(simulation_.Advance(0s)); }
  void Advance(Nanos duration) { Must(simulation_.Advance(duration)); }
  // Past any back-off delay.
  void WaitOut() { Advance(60s); }

  FakeStream& Last() { return source_->last(); }
  const ReflectorStatus& Status() const { return reflector_->status(); }
  std::string Version() const { return Status().resource_version; }

  void Answer(std::string_view body) {
    Last().Answer(body, 1 + simulation_.Choose(100));
    Run();
  }
  void Refuse(Error error) {
    Last().End(Fail(std::move(error)));
    Run();
  }
  void Open() {
    Last().Open();
    Run();
  }
  void Send(std::string_view text) {
    while (!text.empty()) {
      const std::size_t n = std::min<std::size_t>(text.size(), 1 + simulation_.Choose(200));
      Last().Send(std::string(text.substr(0, n)));
      text.remove_prefix(n);
    }
    Run();
  }
  void EndWatch(Result<void> end = {}) {
    Last().End(std::move(end));
    Run();
  }
  // Lists {a@1} at 5 and opens the watch.
  void ListAndOpenWatch() {
    Start();
    Answer(ListBody("5", {ObjectJson("a", "1")}));
    Open();
  }
  // A running streaming list.
  void StartStreaming() {
    source_->streaming = options_.streaming_list = true;
    Start();
    Open();
  }

  std::vector<std::string> Queue() {
    std::vector<std::string> words;
    while (!fifo_.empty()) {
      for (const Delta& d : fifo_.Drain(100)) words.push_back(Word(d));
    }
    return words;
  }
  static std::string Word(const Delta& d) {
    std::string text;
    switch (d.type) {
      case DeltaType::kAdded:
        text = "added ";
        break;
      case DeltaType::kUpdated:
        text = "updated ";
        break;
      case DeltaType::kDeleted:
        text = d.object ? "deleted " : "lost ";
        break;
      case DeltaType::kRefused:
        text = "refused ";
        break;
      case DeltaType::kReplaced:
        text = d.incomplete ? "replaced in part" : "replaced";
        break;
      case DeltaType::kSync:
        return "sync";
      case DeltaType::kBookmark:
        return "bookmark " + d.version;
    }
    if (d.type != DeltaType::kReplaced) return text + d.key.name.str() + "@" + d.version;
    for (const ListedObject& item : d.list) {
      text += " " + item.key.name.str();
      text += item.object ? "@" + item.object.metadata()->resourceVersion.str() : "?";
      if (item.stale) text += "(stale)";
    }
    return text + " at " + d.version;
  }

  Simulation simulation_{GetParam()};
  Shared<Strand> strand_ = simulation_.executor()->MakeStrand("test");
  Shared<FakeListWatch> source_ = MakeShared<FakeListWatch>(simulation_.executor());
  Shared<Seen> seen_ = MakeShared<Seen>();
  ReflectorOptions options_;
  DeltaFifo fifo_;
  int queued_ = 0;
  int status_changes_ = 0;
  bool resync_due_ = true;
  std::vector<std::string> told_;  // the failures that the hook heard of
  std::unique_ptr<Reflector> reflector_;
};

// ------------------------------------------------------------------------------------------------------------- lists

TEST_P(ReflectorTest, ListsAtVersion0ThenWatchesFromTheVersionOfTheList_LW_04_RF_01_RF_03_RL_01_RL_10) {
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

TEST_P(ReflectorTest, DrawsTheTimeoutOfEachWatchBetweenFiveAndTenMinutes_RW_01) {
  ListAndOpenWatch();
  std::set<std::int64_t> drawn;
  for (int i = 0; i < 20; ++i) {
    drawn.insert(Last().options.timeout_seconds.value_or(0));
    Send(BookmarkJson(std::to_string(6 + i)));
    EndWatch();
    Open();
  }
  EXPECT_GT(drawn.size(), 10u);
  EXPECT_GE(*drawn.begin(), 300);
  EXPECT_LE(*drawn.rbegin(), 600);
}

TEST_P(ReflectorTest, HonoursALeastTimeoutOnlyAboveFiveMinutes_RW_02) {
  options_.min_watch_timeout = 30min;
  ListAndOpenWatch();
  EXPECT_THAT(Last().options.timeout_seconds.value_or(0), AllOf(Ge(1800), ::testing::Le(3600)));
}

TEST_P(ReflectorTest, IgnoresASmallLeastTimeout_RW_02) {
  options_.min_watch_timeout = 1min;
  ListAndOpenWatch();
  EXPECT_GE(Last().options.timeout_seconds.value_or(0), 300);
}

TEST_P(ReflectorTest, FollowsContinueTokensWithoutAVersionAndTakesTheVersionOfTheFirstPage_LW_06_LW_07) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}, "next"));
  EXPECT_EQ(Last().options.continue_, "next");
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(Last().options.limit.value_or(0), 500);
  EXPECT_THAT(Queue(), IsEmpty());
  Answer(ListBody("6", {ObjectJson("b", "2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 b@2 at 5"));
}

TEST_P(ReflectorTest, ListsInFullWhenAContinueTokenHasExpired_LW_08) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}, "next"));
  Refuse(ExpiredError());
  EXPECT_EQ(Last().options.continue_, "");
  EXPECT_EQ(Last().options.resource_version, "0");
  EXPECT_FALSE(Last().options.limit.has_value());
  Answer(ListBody("7", {ObjectJson("a", "1"), ObjectJson("b", "2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 b@2 at 7"));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_P(ReflectorTest, TriesAnExpiredFirstPageOnceMoreWithoutAVersion_RL_02_RL_03_RL_04_RL_05_RL_08) {
  ListAndOpenWatch();
  EndWatch(Fail(StatusError(Code::kServer, 500, "InternalError")));  // before anything came
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "5");  // [RL-02]
  EXPECT_FALSE(Last().options.limit.has_value());   // lets the server answer from its cache [RL-06]
  Refuse(ExpiredError());
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_FALSE(Last().options.limit.has_value());  // the page size of the first attempt [RL-08]
  Refuse(ExpiredError());                          // only once in a round
  EXPECT_THAT(told_, ElementsAre(HasSubstr("failed to list samples")));
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "");  // still unusable [RL-03, RL-05]
  Answer(ListBody("9", {}));
  EXPECT_EQ(Version(), "9");
}

TEST_P(ReflectorTest, TakesAVersionThatIsAheadOfTheServerForUnusable_RL_04_ER_02) {
  Start();
  Refuse(StatusError(Code::kTimeout, 504, "Timeout", "Too large resource version: 5, current: 3"));
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(source_->size(), 2u);
}

TEST_P(ReflectorTest, UsesAPageSizeThatWasAskedFor_LW_05_RL_06) {
  options_.page_size = 7;
  Start();
  EXPECT_EQ(Last().options.limit.value_or(0), 7);
}

TEST_P(ReflectorTest, KeepsPagingAfterAServerPagedAListAtVersion0_RL_07) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}, "next"));
  Answer(ListBody("5", {}));
  EndWatch(Fail(ExpiredError()));
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "5");
  EXPECT_EQ(Last().options.limit.value_or(0), 500);
}

TEST_P(ReflectorTest, TellsOfAFailedListWaitsAndListsAgain_RF_01_RL_11_WE_02_WE_03) {
  Start();
  Refuse(StatusError(Code::kForbidden, 403, "Forbidden", "samples is forbidden"));
  EXPECT_THAT(told_, ElementsAre(AllOf(HasSubstr("1 failed to list samples"), HasSubstr("samples is forbidden"))));
  EXPECT_EQ(Status().state, ReflectorStatus::State::kBackingOff);
  EXPECT_EQ(Status().failures, 1);
  EXPECT_EQ(Status().refusals, 1);
  ASSERT_EQ(seen_->delays.size(), 1u);
  EXPECT_THAT(seen_->delays[0], AllOf(Ge(Nanos(800ms)), Lt(Nanos(1600ms))));  // [ER-10]
  EXPECT_EQ(source_->size(), 1u);
  Advance(seen_->delays[0] - 1ns);
  EXPECT_EQ(source_->size(), 1u);
  Advance(1ns);
  EXPECT_EQ(source_->size(), 2u);
  Answer(ListBody("5", {}));
  EXPECT_EQ(Status().failures, 1);
  Open();
  EXPECT_EQ(Status().failures, 0);
  EXPECT_FALSE(Status().has_error);
}

TEST_P(ReflectorTest, GivesUpNothingButSaysSoAfterThreeRefusals) {
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
  EXPECT_EQ(seen_->delays.at(0), 40s);
}

TEST_P(ReflectorTest, FailsAListThatBreaksOffAndQueuesNothing) {
  Start();
  Last().Open();
  Last().Send(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2")}).substr(0, 200));
  Refuse(LostError());
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_EQ(Version(), "");
}

TEST_P(ReflectorTest, FailsAListThatEndsTooEarly) {
  Start();
  Answer(R"({"kind":"SampleList","items":[)");
  EXPECT_EQ(told_.size(), 1u);
}

TEST_P(ReflectorTest, FailsAListThatSendsNothingForAMinute) {
  Start();
  Last().Open();
  Last().Send(R"({"kind":"SampleList",)");
  Advance(59s);
  EXPECT_THAT(told_, IsEmpty());
  Last().Send(R"("items":[)");
  Advance(59s);
  EXPECT_THAT(told_, IsEmpty());
  Advance(1s);
  EXPECT_THAT(told_, ElementsAre(HasSubstr("no byte for 60 s")));
  EXPECT_TRUE(source_->at(0).cancelled());
}

TEST_P(ReflectorTest, RefusesATableAndAStatusInsteadOfAList) {
  Start();
  Answer(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"3"},"rows":[]})");
  EXPECT_THAT(told_, ElementsAre(HasSubstr("expected SampleList, found Table")));
  WaitOut();
  Answer(StatusJson(403, "Forbidden", "not for you"));
  EXPECT_THAT(told_.back(), HasSubstr("not for you"));
  EXPECT_THAT(Queue(), IsEmpty());
}

TEST_P(ReflectorTest, DiscardsTheLateAnswerOfAListWhenStopped_RL_09) {
  Start();
  Last().Open();
  Last().Send(ListBody("5", {ObjectJson("a", "1")}));
  OnStrand([&] { reflector_->Stop(); });
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_TRUE(Last().cancelled());
  EXPECT_EQ(Status().state, ReflectorStatus::State::kStopped);
  EXPECT_THAT(told_, IsEmpty());
}

// ----------------------------------------------------------------------------------------------------------- watches

TEST_P(ReflectorTest, QueuesEventsInOrderAndRecordsTheirVersions_RW_05_RW_09) {
  ListAndOpenWatch();
  Queue();
  Send(AddedJson("b", "6") + ModifiedJson("a", "7") + DeletedJson("b", "8") + BookmarkJson("9"));
  EXPECT_THAT(Queue(), ElementsAre("added b@6", "updated a@7", "deleted b@8", "bookmark 9"));
  EXPECT_EQ(Version(), "9");
  EXPECT_EQ(Status().events, 3u);
}

TEST_P(ReflectorTest, OpensAWatchAgainAtOnceWhenTheServerEndedIt_RW_03) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  EndWatch();
  EXPECT_EQ(source_->size(), 3u);
  EXPECT_TRUE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "7");
  EXPECT_THAT(seen_->failed, IsEmpty());
}

TEST_P(ReflectorTest, OpensAWatchAgainAtOnceAfterASecondWithoutEvents_RW_03) {
  ListAndOpenWatch();
  Advance(1s);
  EndWatch();
  EXPECT_EQ(source_->size(), 3u);
}

TEST_P(ReflectorTest, TakesALostConnectionForAnEndedWatch_RW_03) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7") + ModifiedJson("a", "8").substr(0, 50));
  EndWatch(Fail(LostError()));
  EXPECT_EQ(Last().options.resource_version, "7");
  EXPECT_TRUE(Last().watch);
}

TEST_P(ReflectorTest, ListsAgainAfterAVeryShortWatch_RW_04_ER_13) {
  ListAndOpenWatch();
  Advance(999ms);
  EndWatch();
  EXPECT_EQ(source_->size(), 2u);
  EXPECT_THAT(told_, IsEmpty());  // no failure of the round
  EXPECT_EQ(seen_->failed.size(), 1u);
  WaitOut();
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "5");
}

TEST_P(ReflectorTest, CountsABookmarkAsAnEvent_BM_01) {
  ListAndOpenWatch();
  Send(BookmarkJson("6"));
  EndWatch();
  EXPECT_EQ(source_->size(), 3u);
  EXPECT_EQ(Last().options.resource_version, "6");
}

TEST_P(ReflectorTest, PassesOverAnUnknownEventTypeButRecordsItsVersion) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("RENAMED", ObjectJson("a", "7")));
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_EQ(Version(), "7");
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("unknown type \"RENAMED\"")));
}

TEST_P(ReflectorTest, DoesNotRecordVersionsOfSyntheticEvents_RW_10) {
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

TEST_P(ReflectorTest, TriesTheSameWatchAgainWhenRefusedOrTooManyRequests_ER_03_ER_12_WE_03) {
  Start();
  Answer(ListBody("5", {}));
  Refuse(RefusedError());
  EXPECT_EQ(source_->size(), 2u);
  WaitOut();
  EXPECT_TRUE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "5");
  Refuse(TooManyRequestsError());
  WaitOut();
  EXPECT_TRUE(Last().watch);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(Status().lists, 1u);
  EXPECT_EQ(Status().failures, 2);
  EXPECT_GE(seen_->delays.at(1), 1600ms);  // one state of the back-off [ER-12]
}

TEST_P(ReflectorTest, ListsAgainWhenAWatchCannotBeOpenedOtherwise_ER_04) {
  for (const auto& [code, http, reason] :
       {std::tuple(Code::kForbidden, 403, "Forbidden"), std::tuple(Code::kNotFound, 404, "NotFound"),
        std::tuple(Code::kExpired, 410, "Expired"), std::tuple(Code::kServer, 500, "InternalError")}) {
    told_.clear();
    if (!reflector_) {
      Start();
    } else {
      WaitOut();
    }
    EXPECT_FALSE(Last().watch);
    Answer(ListBody("5", {}));
    Refuse(StatusError(code, http, reason));
    EXPECT_EQ(told_.size(), 1u) << reason;
  }
  WaitOut();
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "5");
}

TEST_P(ReflectorTest, WatchesAgainAfterTooManyRequestsInsideTheStream_ER_05) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7") + EventJson("ERROR", StatusJson(429, "TooManyRequests")));
  EXPECT_EQ(source_->size(), 2u);
  EXPECT_FALSE(source_->at(1).open());
  WaitOut();
  EXPECT_TRUE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "7");
  EXPECT_THAT(told_, IsEmpty());
}

TEST_P(ReflectorTest, ListsAtTheLastVersionAfterAnExpiredStream_ER_06) {
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7") + EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "7");  // not marked unusable by a watch
  EXPECT_THAT(told_, IsEmpty());
}

TEST_P(ReflectorTest, EndsTheRoundAfterAnInternalErrorUnlessItMayRetry_ER_07_ER_09) {
  ListAndOpenWatch();
  Send(EventJson("ERROR", StatusJson(500, "InternalError")));
  EXPECT_EQ(source_->size(), 2u);
  WaitOut();
  EXPECT_FALSE(Last().watch);
}

TEST_P(ReflectorTest, RetriesInternalErrorsAtOnceWithinTheirBudget_ER_07_ER_08) {
  options_.internal_error_retry = 30s;
  ListAndOpenWatch();
  for (int i = 0; i < 31; ++i) {
    Send(EventJson("ERROR", StatusJson(500, "InternalError")));
    EXPECT_TRUE(Last().watch);
    EXPECT_TRUE(Last().open());
    Open();
    Advance(1s);
  }
  Send(EventJson("ERROR", StatusJson(500, "InternalError")));
  EXPECT_FALSE(Last().open());
}

TEST_P(ReflectorTest, EndsTheRoundAfterAnyOtherErrorInsideTheStream_ER_09) {
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
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_EQ(seen_->failed.size(), 4u);
}

TEST_P(ReflectorTest, StopsInEveryPhaseAndLeavesNothingOpen_RF_02_RF_05_RW_11) {
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

TEST_P(ReflectorTest, ResyncsWhileItWatches_RW_13_RS_08) {
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

TEST_P(ReflectorTest, NeitherResyncsWhileItListsNorWhileItWaits_RW_14) {
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

// ---------------------------------------------------------------------------------------------------- streaming lists

TEST_P(ReflectorTest, AsksForAStreamingListWithoutAVersionAtFirst_WL_01_WL_02) {
  StartStreaming();
  EXPECT_TRUE(Last().watch);
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_TRUE(Last().options.allow_watch_bookmarks);
  EXPECT_EQ(Last().options.resource_version_match, "NotOlderThan");
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_GE(Last().options.timeout_seconds.value_or(0), 300);
}

TEST_P(ReflectorTest, ListsWhereTheSourceDoesNotStream_LW_03) {
  options_.streaming_list = true;
  source_->streaming = false;
  Start();
  EXPECT_FALSE(Last().watch);
}

TEST_P(ReflectorTest, PublishesAStreamedSnapshotOnlyAtItsMarker_WL_03_WL_04_WL_05_WL_12_RW_12) {
  StartStreaming();
  Send(AddedJson("a", "3") + AddedJson("b", "9") + AddedJson("c", "4"));
  Send(ModifiedJson("a", "10") + DeletedJson("c", "11") + BookmarkJson("12") + BookmarkJson("13", "false"));
  EXPECT_THAT(Queue(), IsEmpty());
  EXPECT_EQ(Version(), "");
  EXPECT_EQ(queued_, 0);
  Send(BookmarkJson("14", "true") + ModifiedJson("b", "15"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@10 b@9 at 14", "updated b@15"));
  EXPECT_EQ(Version(), "15");
  EXPECT_EQ(source_->size(), 1u);  // the same stream goes on [RW-12]
  EXPECT_TRUE(Last().open());
  EXPECT_THAT(seen_->relisted, ElementsAre("streamed 2 at 14"));
}

TEST_P(ReflectorTest, WatchesFromTheMarkerWhenTheStreamEndsAfterIt_WL_05) {
  StartStreaming();
  Send(AddedJson("a", "3") + BookmarkJson("14", "true"));
  EndWatch();
  EXPECT_TRUE(Last().watch);
  EXPECT_FALSE(Last().options.send_initial_events);
  EXPECT_EQ(Last().options.resource_version, "14");
}

TEST_P(ReflectorTest, TakesAnObjectBackThatCameAgainAfterItsDeletion) {
  StartStreaming();
  Send(AddedJson("a", "3") + DeletedJson("a", "4") + AddedJson("a", "5") + DeletedJson("b", "6") +
       BookmarkJson("7", "true"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@5 at 7"));
}

TEST_P(ReflectorTest, ListsInsteadWhenStreamingIsRefused_WL_06) {
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

TEST_P(ReflectorTest, TriesStreamingAgainLaterWhenRefusedOrTooManyRequests_WL_07) {
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
  EXPECT_THAT(told_, IsEmpty());
}

TEST_P(ReflectorTest, StopsWhileItWaitsForAnotherStream_WL_10) {
  source_->streaming = options_.streaming_list = true;
  Start();
  Refuse(RefusedError());
  OnStrand([&] { reflector_->Stop(); });
  EXPECT_EQ(simulation_.census().timers, 0u);
}

TEST_P(ReflectorTest, StreamsWithoutAVersionAtOnceWhenItsVersionIsUnusable_WL_08) {
  StartStreaming();
  Send(BookmarkJson("14", "true") + EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  EXPECT_EQ(Last().options.resource_version, "14");
  Refuse(ExpiredError());
  EXPECT_TRUE(Last().options.send_initial_events);
  EXPECT_EQ(Last().options.resource_version, "");
  EXPECT_EQ(source_->size(), 3u);
  Refuse(ExpiredError());  // a server that says so even then is not asked for ever
  EXPECT_FALSE(Last().watch);
  EXPECT_EQ(Last().options.resource_version, "");
}

TEST_P(ReflectorTest, StartsAStreamAgainThatEndsBeforeItsMarkerAndListsTheSecondTime_WL_09) {
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

TEST_P(ReflectorTest, ListsAfterAVeryShortStream_WL_06_RW_04) {
  StartStreaming();
  EndWatch();
  EXPECT_FALSE(Last().watch);
}

TEST_P(ReflectorTest, ListsWhenTheMarkerDoesNotComeAndSaysSo_WL_09) {
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
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("without a marker of the end of the initial events for 90 s")));
}

TEST_P(ReflectorTest, WaitsForTheMarkerNoLongerThanFiveTimesTheDeadline) {
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

TEST_P(ReflectorTest, KeepsTheKeyOfARefusedItemInTheList) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1"), Broken("bad", "2"), ObjectJson("b", "3")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 bad? b@3 at 5"));
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("ns/bad")));
  EXPECT_EQ(Version(), "5");
}

TEST_P(ReflectorTest, CallsAListIncompleteWhenANameCannotBeRead) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1"), Nameless("2")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced in part a@1 at 5"));
  EXPECT_EQ(seen_->refused.size(), 1u);
}

TEST_P(ReflectorTest, QueuesARefusalForAnEventThatDoesNotDecodeAndRecordsItsVersion) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("MODIFIED", Broken("a", "7")));
  EXPECT_THAT(Queue(), ElementsAre("refused a@7"));
  EXPECT_EQ(Version(), "7");
  EXPECT_TRUE(Last().open());
}

TEST_P(ReflectorTest, DeletesAnObjectWhoseDeletionDoesNotDecode) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("DELETED", Broken("a", "7")));
  EXPECT_THAT(Queue(), ElementsAre("lost a@7"));
}

TEST_P(ReflectorTest, PassesOverAnEventWhoseNameCannotBeRead) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("MODIFIED", Nameless("7")) + ModifiedJson("a", "8"));
  EXPECT_THAT(Queue(), ElementsAre("updated a@8"));
  EXPECT_EQ(seen_->refused.size(), 1u);
}

TEST_P(ReflectorTest, ListsAgainAfterADeletionWhoseNameCannotBeRead) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson("DELETED", Nameless("7")));
  EXPECT_FALSE(Last().open());
  WaitOut();
  EXPECT_FALSE(Last().watch);
}

TEST_P(ReflectorTest, NeverDeletesForAnEventOfAnotherKind_RW_06) {
  ListAndOpenWatch();
  Queue();
  Send(EventJson(
      "DELETED",
      R"({"kind":"Other","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"7"}})"));
  EXPECT_THAT(Queue(), ElementsAre("refused a@7"));
}

TEST_P(ReflectorTest, MarksAStreamedObjectWhoseNewerStateIsRefused) {
  StartStreaming();
  Send(AddedJson("a", "3") + EventJson("MODIFIED", Broken("a", "4")) + EventJson("ADDED", Broken("b", "5")) +
       BookmarkJson("7", "true"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@3(stale) b? at 7"));
}

TEST_P(ReflectorTest, ReportsAFieldThatDoesNotFitAndKeepsTheObject) {
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1", R"("spec":{"replicas":"many"})")}));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 at 5"));
  EXPECT_THAT(seen_->fields, ElementsAre("ns/a spec.replicas"));
  EXPECT_THAT(seen_->refused, IsEmpty());
}

// --------------------------------------------------------------------------------------------------------- transforms

TEST_P(ReflectorTest, TransformsEveryReceivedObjectOnce_TR_01_TR_04_WL_11) {
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
  EXPECT_EQ(drained.at(0).list.at(1).object.As<Sample>()->spec->nodeName, "n2");
  drained = fifo_.Drain(10);
  EXPECT_EQ(drained.at(0).object.As<Sample>()->spec->nodeName, "n3");
}

TEST_P(ReflectorTest, KeepsNameVersionAndUidWhateverATransformDoes_RW_08_SI_11_TR_07) {
  options_.transform = [](AnyRef) -> Result<AnyRef> { return AnyRef(MakeRef(Sample{.metadata = {.name = "other"}})); };
  ListAndOpenWatch();
  Send(ModifiedJson("a", "7"));
  EXPECT_THAT(Queue(), ElementsAre("replaced a@1 at 5", "updated a@7"));
  EXPECT_EQ(Version(), "7");
}

TEST_P(ReflectorTest, RefusesAnObjectWhoseTransformFailsOrThrows_TR_05_TR_06) {
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

INSTANTIATE_TEST_SUITE_P(Seeds, ReflectorTest, ::testing::Range<std::uint64_t>(0, 24));

}  // namespace
}  // namespace kgen::cache
