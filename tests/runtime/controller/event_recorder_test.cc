// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventRecorder against the in-memory API server, in virtual time: what it writes, and when.
#include "kgen/controller/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/events/v1/client.h>
#include <k8s/events/v1/types.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kgen/core/unstructured.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::Namespace;
using k8s::core::v1::Pod;
using ::testing::AllOf;
using testing::Cluster;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct Drops : Observer {
  void OnEventDropped(const EventDropped& e) override {
    told.push_back(std::string(e.about) + " | " + std::string(e.why));
    count += e.count;
  }
  std::vector<std::string> told;
  std::size_t count = 0;
};

Pod PodNamed(std::string_view name) {
  return {.metadata = {.name = name, .namespace_ = "default", .resourceVersion = "7", .uid = "uid-of-it"}};
}

class EventRecorderTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  EventRecorderTest() {
    cluster_.AddResource({.group = "events.k8s.io",
                          .version = "v1",
                          .plural = "events",
                          .singular = "event",
                          .kind = "Event",
                          .list_kind = "EventList"});
  }

  std::vector<k8s::events::v1::Event> Events(std::string_view in_namespace = "default") {
    const auto list = Must(k8s::events::v1::Client(cluster_.Connection()).Events(in_namespace).List());
    std::vector<k8s::events::v1::Event> events(list.begin(), list.end());
    std::ranges::sort(events, {}, [](const auto& event) { return event.eventTime; });
    return events;
  }
  std::vector<std::string> Verbs() const {
    std::vector<std::string> verbs;
    for (const testing::Action& action : cluster_.Writes()) verbs.push_back(action.verb);
    return verbs;
  }
  // Every event has reached the server, or is counted as dropped.
  void ExpectSettled() {
    const EventCounts counts = recorder_.counts();
    EXPECT_EQ(counts.pending(), 0u) << counts.recorded << " recorded, " << counts.written << " written, "
                                    << counts.dropped() << " dropped";
  }
  void Started(std::string_view note = "on node n1") {
    recorder_.Event(pod_, {.reason = "Started", .action = "Start", .note = note});
  }

  const Pod pod_ = PodNamed("web-0");
  Shared<Drops> drops_ = MakeShared<Drops>();
  Cluster cluster_{{.seed = GetParam(), .observer = drops_}};
  EventRecorder recorder_{cluster_.Connection(), {.controller = "shop.example.com/orders", .instance = "orders-0"}};
};

// Contract: controller 206, 256.
TEST_P(EventRecorderTest, WritesAnEventWithAllItsFields) {
  const k8s::apps::v1::Deployment deployment{.metadata = {.name = "web", .namespace_ = "default", .uid = "d-1"}};
  recorder_.Event(
      pod_, deployment,
      {.type = EventType::kWarning, .reason = "OutOfStock", .action = "Pack", .note = "no \"kettles\" left"});
  cluster_.RunUntilIdle();
  auto events = Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].metadata.name, "web-0.18867251edfa0000");
  events[0].metadata = {};
  const std::string expected =
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","action":"Pack",)"
      R"("eventTime":"2026-01-01T00:00:00.000000Z","note":"no \"kettles\" left","reason":"OutOfStock",)"
      R"("regarding":{"apiVersion":"v1","kind":"Pod","name":"web-0","namespace":"default","resourceVersion":"7",)"
      R"("uid":"uid-of-it"},"related":{"apiVersion":"apps/v1","kind":"Deployment","name":"web",)"
      R"("namespace":"default","uid":"d-1"},"reportingController":"shop.example.com/orders",)"
      R"("reportingInstance":"orders-0","type":"Warning"})";
  EXPECT_EQ(CanonicalJson(Encode(events[0])), CanonicalJson(expected));
  EXPECT_THAT(Verbs(), ElementsAre("create"));
  ExpectSettled();
}

TEST_P(EventRecorderTest, WritesEventsOfClusterScopedObjectsIntoDefaultAndOfOthersIntoTheirNamespace) {
  Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "shop")));
  recorder_.Event(Namespace{.metadata = {.name = "shop"}}, {.reason = "Checked", .action = "Check"});
  Unstructured order{
      .metadata = {.name = "first", .namespace_ = "shop"}, .apiVersion = "shop.example.com/v1", .kind = "Order"};
  recorder_.Event(order, {.reason = "Shipped", .action = "Ship"});
  cluster_.RunUntilIdle();
  ASSERT_THAT(Events("default"), SizeIs(1));
  EXPECT_EQ(Events("default")[0].regarding->kind, "Namespace");
  EXPECT_FALSE(Events("default")[0].regarding->namespace_.has_value());
  ASSERT_THAT(Events("shop"), SizeIs(1));
  EXPECT_EQ(Events("shop")[0].regarding->apiVersion, "shop.example.com/v1");
  EXPECT_EQ(Events("shop")[0].regarding->kind, "Order");
}

TEST_P(EventRecorderTest, NamesEventsWithoutTheObjectIfItsNameIsNotOneForEvents) {
  const Unstructured role{
      .metadata = {.name = "system:Node"}, .apiVersion = "rbac.authorization.k8s.io/v1", .kind = "ClusterRole"};
  recorder_.Event(role, {.reason = "Bound", .action = "Bind"});
  recorder_.Event(role, {.reason = "Freed", .action = "Free"});
  recorder_.Event(PodNamed(std::string(250, 'a')), {.reason = "Started", .action = "Start"});
  cluster_.RunUntilIdle();
  ASSERT_THAT(Events(), SizeIs(3));
  for (const auto& event : Events()) EXPECT_THAT(event.metadata.name.str(), StartsWith("event.18867251edfa"));
}

// Contract: controller 207, 256.
TEST_P(EventRecorderTest, CountsRepetitionsInASeries) {
  const auto count = [&] { return Events()[0].series->count.value_or(0); };
  Started();
  cluster_.RunUntilIdle();
  EXPECT_FALSE(Events()[0].series);
  cluster_.Advance(1min);
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(Events()[0].series->lastObservedTime.str(), "2026-01-01T00:01:00.000000Z");
  cluster_.Advance(6min);  // not more than 6 minutes since the last one
  Started();
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(count(), 2);  // further ones are written later
  EXPECT_EQ(recorder_.counts().pending(), 2u);
  cluster_.Advance(8min);
  EXPECT_EQ(count(), 4);
  EXPECT_EQ(Events()[0].series->lastObservedTime.str(), "2026-01-01T00:07:00.000000Z");
  ExpectSettled();
  Started();  // the series has ended
  cluster_.RunUntilIdle();
  EXPECT_THAT(Events(), SizeIs(2));
  EXPECT_THAT(Verbs(), ElementsAre("create", "patch", "patch", "create"));
  EXPECT_EQ(recorder_.counts().merged, 3u);
  ExpectSettled();
}

TEST_P(EventRecorderTest, BeginsANewEventAfterSixMinutesEvenIfTheSeriesWasNotSweptYet) {
  Started();
  cluster_.Advance(30s);
  Started();
  Started();
  cluster_.Advance(6min + 1us);
  Started();
  cluster_.RunUntilIdle();
  ASSERT_THAT(Events(), SizeIs(2));
  EXPECT_EQ(Events()[0].series->count, 3);  // the last count is written before it is forgotten
  EXPECT_FALSE(Events()[1].series);
}

TEST_P(EventRecorderTest, WritesTheCountOfALongSeriesEveryThirtyMinutes) {
  for (int minute = 0; minute <= 66; minute += 3) {
    Started();
    cluster_.Advance(3min);
  }
  EXPECT_THAT(Verbs(), ElementsAre("create", "patch", "patch", "patch"));
  EXPECT_GE(Events()[0].series->count.value_or(0), 20);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_P(EventRecorderTest, TellsEventsApartByEverythingButTimeAndResourceVersion) {
  const EventDetails first{.reason = "Started", .action = "Start", .note = "one"};
  recorder_.Event(pod_, first);
  recorder_.Event(pod_, {.reason = "Started", .action = "Start", .note = "two"});
  recorder_.Event(pod_, {.reason = "Started", .action = "Boot", .note = "one"});
  recorder_.Event(pod_, {.reason = "Running", .action = "Start", .note = "one"});
  recorder_.Event(pod_, {.type = EventType::kWarning, .reason = "Started", .action = "Start", .note = "one"});
  recorder_.Event(pod_, pod_, first);
  recorder_.Event(PodNamed("web-1"), first);
  Pod recreated = pod_;
  recreated.metadata.uid = "another";
  recorder_.Event(recreated, first);
  EXPECT_EQ(recorder_.counts().merged, 0u);
  Pod changed = pod_;
  changed.metadata.resourceVersion = "8";
  recorder_.Event(changed, first);
  EXPECT_EQ(recorder_.counts().merged, 1u);
  cluster_.RunUntilIdle();
  EXPECT_THAT(Events(), SizeIs(8));
  ExpectSettled();
}

TEST_P(EventRecorderTest, SendsOneRequestForWhatOccursBeforeItIsSent) {
  for (int i = 0; i < 5; ++i) Started();
  cluster_.RunUntilIdle();
  EXPECT_THAT(Verbs(), ElementsAre("create"));
  ASSERT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Events()[0].series->count, 5);
  ExpectSettled();
}

TEST_P(EventRecorderTest, WritesASecondOccurrenceThatComesWhileTheFirstIsBeingWritten) {
  cluster_.Inject({.verb = "create", .resource = "events", .delay = 1s});
  Started();
  cluster_.Advance(500ms);
  Started();
  Started();
  cluster_.RunUntilIdle();
  EXPECT_THAT(Verbs(), ElementsAre("create", "patch"));
  EXPECT_EQ(Events()[0].series->count, 3);
  ExpectSettled();
}

// Contract: controller 207.
TEST_P(EventRecorderTest, DropsMoreThanTwentyFiveDifferentEventsAboutOneObject) {
  for (int i = 0; i < 30; ++i) Started("try " + std::to_string(i));
  for (int i = 0; i < 100; ++i) Started("try 3");  // a series, which is not limited
  recorder_.Event(PodNamed("web-1"), {.reason = "Started", .action = "Start"});
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().spam, 5u);
  EXPECT_EQ(recorder_.counts().written, 126u);
  EXPECT_THAT(Events(), SizeIs(26));
  ASSERT_THAT(drops_->told, SizeIs(5));
  EXPECT_THAT(drops_->told[0], StartsWith("Pod default/web-0: Started | spam filter: more than 25"));
  cluster_.Advance(5min - 1s);
  Started("early");
  EXPECT_EQ(recorder_.counts().spam, 6u);
  cluster_.Advance(1s);
  Started("one token is back");
  EXPECT_EQ(recorder_.counts().spam, 6u);
  Started("and only one");
  EXPECT_EQ(recorder_.counts().spam, 7u);
}

TEST_P(EventRecorderTest, DropsNewEventsWhileAThousandWait) {
  for (int i = 0; i < 1005; ++i) {
    recorder_.Event(PodNamed("web-" + std::to_string(i)), {.reason = "Started", .action = "Start"});
  }
  recorder_.Event(PodNamed("web-0"), {.reason = "Started", .action = "Start"});  // known, so it needs no place
  EXPECT_EQ(recorder_.counts().queue_full, 5u);
  EXPECT_THAT(drops_->told, SizeIs(5));
  EXPECT_THAT(drops_->told.at(0), StartsWith("Pod default/web-1000: Started | queue full: 1000"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().written, 1001u);
  EXPECT_THAT(Events(), SizeIs(1000));
  ExpectSettled();
}

TEST_P(EventRecorderTest, TriesAgainWhenTheServerCannotWriteIt) {
  cluster_.Inject({.verb = "create", .resource = "events", .times = 3, .status = 503});
  Started();
  cluster_.RunUntilIdle();
  const Nanos took = cluster_.simulation().clock()->Now().time_since_epoch();
  EXPECT_GE(took, 30s);
  EXPECT_LT(took, 38s);
  EXPECT_THAT(Events(), SizeIs(1));
  EXPECT_THAT(drops_->told, IsEmpty());
  ExpectSettled();
}

TEST_P(EventRecorderTest, GivesUpAfterTwelveTries) {
  cluster_.Inject({.verb = "create", .resource = "events", .times = 12, .status = 500, .message = "no leader"});
  Started();
  Started();
  cluster_.RunUntilIdle();
  const Nanos took = cluster_.simulation().clock()->Now().time_since_epoch();
  EXPECT_GE(took, 110s);
  EXPECT_LT(took, 138s);
  EXPECT_EQ(recorder_.counts().unavailable, 2u);
  EXPECT_EQ(drops_->count, 2u);
  EXPECT_THAT(drops_->told, ElementsAre(AllOf(StartsWith("Pod default/web-0: Started | not written after 12 tries: "),
                                              HasSubstr("no leader"))));
  Started();  // a new one, since the server does not know the first
  cluster_.RunUntilIdle();
  EXPECT_THAT(Verbs(), ElementsAre("create"));
  ExpectSettled();
}

TEST_P(EventRecorderTest, LetsOtherEventsPassOneThatIsTriedAgain) {
  cluster_.Inject({.verb = "create", .resource = "events", .status = 500});
  Started();
  recorder_.Event(PodNamed("web-1"), {.reason = "Started", .action = "Start"});
  cluster_.RunUntilIdle();
  const auto writes = cluster_.Writes();
  ASSERT_THAT(writes, SizeIs(2));
  EXPECT_THAT(writes[0].str() + writes[1].str(), AllOf(HasSubstr("web-1"), HasSubstr("web-0")));
  EXPECT_THAT(writes[0].str(), HasSubstr("web-1"));
}

TEST_P(EventRecorderTest, DropsWhatTheServerRefusesAndSaysWhatToDo) {
  cluster_.Inject({.verb = "create",
                   .resource = "events",
                   .status = 403,
                   .reason = "Forbidden",
                   .message = "events is forbidden: User \"x\" cannot create"});
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.simulation().clock()->Now().time_since_epoch(), 0s);
  EXPECT_EQ(recorder_.counts().refused, 1u);
  EXPECT_THAT(drops_->told,
              ElementsAre(AllOf(StartsWith("Pod default/web-0: Started | refused: "), HasSubstr("User \"x\" cannot"),
                                EndsWith("grant create and patch on events of the API group events.k8s.io"))));
  ExpectSettled();
}

TEST_P(EventRecorderTest, DropsAnEventThatCannotBeSent) {
  const Pod pod{.metadata = {.name = "web-0", .namespace_ = "a/b"}};
  recorder_.Event(pod, {.reason = "Started", .action = "Start"});
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().refused, 1u);
  EXPECT_THAT(drops_->told, ElementsAre(HasSubstr("the namespace \"a/b\" must not")));
  EXPECT_THAT(Events(), SizeIs(1));
  ExpectSettled();
}

TEST_P(EventRecorderTest, TriesARefusedSeriesAgainOnlyWithLaterOccurrences) {
  Started();
  cluster_.RunUntilIdle();
  cluster_.Inject({.verb = "patch", .resource = "events", .status = 403, .reason = "Forbidden"});
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().refused, 1u);
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().pending(), 1u);
  cluster_.Advance(8min);
  EXPECT_THAT(Verbs(), ElementsAre("create", "patch"));
  EXPECT_EQ(Events()[0].series->count, 3);
  EXPECT_EQ(recorder_.counts().written, 2u);
  ExpectSettled();
}

TEST_P(EventRecorderTest, OnlyCountsWhatANamespaceThatIsBeingDeletedRefuses) {
  Must(cluster_.Add(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"old","name":"c",)"
                    R"("finalizers":["example.com/wait"]}})"));
  Must(cluster_.Delete("namespaces", "", "old"));
  recorder_.Event(Pod{.metadata = {.name = "web-0", .namespace_ = "old"}}, {.reason = "Started", .action = "Start"});
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().refused, 1u);
  EXPECT_THAT(drops_->told, IsEmpty());
}

TEST_P(EventRecorderTest, CreatesAnEventOnceEvenIfTheAnswerIsLost) {
  cluster_.Inject({.verb = "create", .resource = "events", .cut_after_bytes = 0});
  Started();
  cluster_.RunUntilIdle();
  EXPECT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Verbs().size(), 2u);  // the second one finds that it exists
  ExpectSettled();
  EXPECT_EQ(recorder_.counts().written, 1u);
  Started();
  cluster_.RunUntilIdle();
  EXPECT_EQ(Events()[0].series->count, 2);
}

TEST_P(EventRecorderTest, ChoosesAnotherNameIfAnotherProcessHasTakenIt) {
  k8s::events::v1::Event other{.metadata = {.name = "web-0.18867251edfa0000", .namespace_ = "default"},
                               .reason = "Other"};
  Must(k8s::events::v1::Client(cluster_.Connection()).Events("default").Create(other));
  Started();
  cluster_.RunUntilIdle();
  EXPECT_THAT(Events(), SizeIs(2));
  ExpectSettled();
  EXPECT_EQ(recorder_.counts().written, 1u);
}

TEST_P(EventRecorderTest, CreatesAnEventAgainThatHasExpired) {
  Started();
  cluster_.RunUntilIdle();
  Must(k8s::events::v1::Client(cluster_.Connection()).Events("default").Delete(Events()[0].metadata.name));
  Started();
  cluster_.RunUntilIdle();
  ASSERT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Events()[0].series->count, 2);
  EXPECT_EQ(Events()[0].eventTime.str(), "2026-01-01T00:00:00.000000Z");
  ExpectSettled();
}

TEST_P(EventRecorderTest, WritesWhatOccurredDuringAnOutageOnceTheServerIsBack) {
  Started();
  cluster_.RunUntilIdle();
  cluster_.Inject({.times = testing::kAlways, .refuse = true});
  cluster_.Restart();
  for (int i = 0; i < 50; ++i) {
    Started();
    recorder_.Event(PodNamed("web-" + std::to_string(i)), {.reason = "Stopped", .action = "Stop"});
    cluster_.Advance(1s);
  }
  EXPECT_EQ(recorder_.counts().written, 1u);
  cluster_.ClearFaults();
  cluster_.Advance(15s);
  EXPECT_THAT(Events(), SizeIs(51));
  EXPECT_THAT(drops_->told, IsEmpty());
  ExpectSettled();
}

TEST_P(EventRecorderTest, DropsBadEventsWithTheReason) {
  const std::string_view started = "Started";
  recorder_.Event(pod_, {.reason = "", .action = "Start"});
  recorder_.Event(pod_, {.reason = started, .action = ""});
  recorder_.Event(pod_, {.reason = std::string(129, 'r'), .action = "Start"});
  recorder_.Event(pod_, {.reason = started, .action = std::string(129, 'a')});
  recorder_.Event(PodNamed(""), {.reason = started, .action = "Start"});
  recorder_.Event(Unstructured{.metadata = {.name = "first"}}, {.reason = started, .action = "Start"});
  recorder_.Event(pod_, PodNamed(""), {.reason = started, .action = "Start"});
  const EventRecorder nameless(cluster_.Connection(), {.controller = "my controller"});
  nameless.Event(pod_, {.reason = started, .action = "Start"});
  const EventRecorder long_instance(cluster_.Connection(), {.controller = "orders", .instance = std::string(129, 'i')});
  long_instance.Event(pod_, {.reason = started, .action = "Start"});
  cluster_.RunUntilIdle();
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
  EXPECT_EQ(recorder_.counts().invalid, 7u);
  EXPECT_EQ(nameless.counts().invalid, 1u);
  EXPECT_THAT(drops_->told,
              ElementsAre(HasSubstr("the reason is empty"), HasSubstr("the action is empty"),
                          HasSubstr("the reason has 129 bytes, the server accepts 128"),
                          HasSubstr("the action has 129 bytes"), HasSubstr("the object has no name"),
                          HasSubstr("the object has no kind"), HasSubstr("the related object has no name"),
                          HasSubstr("EventRecorderOptions::controller is \"my controller\""),
                          HasSubstr("EventRecorderOptions::instance has 129 bytes")));
}

TEST_P(EventRecorderTest, CutsALongNoteBetweenTwoCharacters) {
  const auto note_of = [&](std::string_view note) {
    const EventRecorder recorder(cluster_.Connection(), {.controller = "orders"});
    recorder.Event(pod_, {.reason = "Started", .action = "Start", .note = note});
    cluster_.Advance(1s);
    return Events().back().note.str();
  };
  EXPECT_EQ(note_of(std::string(1024, 'x')), std::string(1024, 'x'));
  EXPECT_EQ(note_of(std::string(1025, 'x')), std::string(1021, 'x') + "...");
  EXPECT_EQ(note_of(std::string(1020, 'x') + "\xE2\x82\xAC\xE2\x82\xAC"), std::string(1020, 'x') + "...");
  EXPECT_EQ(note_of("a\xFF"
                    "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(note_of(std::string(1024, '\xFF')).size(), 1023u);  // 340 characters of 3 bytes
  EXPECT_EQ(note_of(std::string(1 << 20, 'x')).size(), 1024u);
}

TEST_P(EventRecorderTest, NamesTheControllerAndTheHostUnlessAnInstanceIsGiven) {
  const EventRecorder recorder(cluster_.Connection(), {.controller = "orders"});
  recorder.Event(pod_, {.reason = "Started", .action = "Start"});
  cluster_.RunUntilIdle();
  const std::string instance = Events()[0].reportingInstance.str();
  EXPECT_THAT(instance, StartsWith("orders-"));
  EXPECT_GT(instance.size(), std::string("orders-").size());
}

TEST_P(EventRecorderTest, NeverBlocksItsCaller) {
  cluster_.Inject({.times = testing::kAlways, .stall = true});
  const auto executor = cluster_.simulation().executor();
  bool posted = false;
  executor->Post(executor->MakeStrand("handler"), [&] {
    ASSERT_TRUE(executor->InPostedTask());
    for (int i = 0; i < 2000; ++i) Started("try " + std::to_string(i));
    posted = true;
  });
  cluster_.Advance(1s);
  EXPECT_TRUE(posted);
  EXPECT_EQ(recorder_.counts().pending(), 25u);
}

// Contract: controller 206.
TEST_P(EventRecorderTest, DoesNothingBeforeTheFirstEvent) {
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);
  EXPECT_THAT(recorder_.Stop(-1s).error().ToString(), HasSubstr("`limit` is -1s"));
  EXPECT_TRUE(recorder_.Stop());
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
}

// Contract: controller 206.
TEST_P(EventRecorderTest, StopWritesWhatIsLeftAndDropsLaterEvents) {
  Started();
  cluster_.RunUntilIdle();
  Started();
  cluster_.RunUntilIdle();
  Started();
  Started("another");
  EXPECT_EQ(recorder_.counts().pending(), 2u);
  const auto stopped = recorder_.Stop();
  EXPECT_TRUE(stopped) << stopped;
  EXPECT_EQ(recorder_.counts().written, 4u);
  EXPECT_EQ(cluster_.simulation().clock()->Now().time_since_epoch(), 0s);
  ASSERT_THAT(Events(), SizeIs(2));
  Started();
  EXPECT_THAT(drops_->told, ElementsAre("Pod default/web-0: Started | the event recorder was stopped"));
  EXPECT_EQ(recorder_.counts().stopped, 1u);
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().written, 4u);
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);
  EXPECT_TRUE(recorder_.Stop());
  ExpectSettled();
}

// Contract: controller 206.
TEST_P(EventRecorderTest, StopTakesNoLongerThanItsLimit) {
  cluster_.Inject({.times = testing::kAlways, .stall = true});
  Started();
  Started("another");
  Started("another");
  cluster_.Advance(1s);
  const auto stopped = recorder_.Stop(5s);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), Code::kTimeout);
  EXPECT_THAT(stopped.error().message(), HasSubstr("3 events were not written in time"));
  EXPECT_EQ(cluster_.simulation().clock()->Now().time_since_epoch(), 6s);
  EXPECT_EQ(recorder_.counts().stopped, 3u);
  EXPECT_EQ(drops_->count, 3u);
  EXPECT_THAT(drops_->told, ElementsAre(HasSubstr("stopped before it was written")));
  cluster_.RunUntilIdle();  // the request that was under way ends
  ExpectSettled();
}

TEST_P(EventRecorderTest, StopDoesNotWaitForAPauseBetweenTries) {
  cluster_.Inject({.verb = "create", .resource = "events", .status = 503});
  Started();
  cluster_.Advance(1s);
  EXPECT_TRUE(recorder_.Stop());
  EXPECT_EQ(cluster_.simulation().clock()->Now().time_since_epoch(), 1s);
  EXPECT_THAT(Events(), SizeIs(1));
}

TEST_P(EventRecorderTest, StopOnAThreadThatMustNotBlockGoesOnInTheBackground) {
  Started();
  std::optional<Result<void>> stopped;
  const auto executor = cluster_.simulation().executor();
  executor->Post(executor->MakeStrand("handler"), [&] { stopped = recorder_.Stop(); });
  cluster_.RunUntilIdle();
  ASSERT_TRUE(stopped);
  ASSERT_FALSE(*stopped);
  EXPECT_EQ(stopped->error().code(), Code::kInvalidArgument);
  EXPECT_EQ(recorder_.counts().written, 1u);
}

TEST_P(EventRecorderTest, TheLastHandleLeavesTheRestToTheBackground) {
  std::optional<EventRecorder> recorder(recorder_);
  recorder_ = EventRecorder(cluster_.Connection(), {.controller = "orders"});
  recorder->Event(pod_, {.reason = "Started", .action = "Start"});
  recorder.reset();
  cluster_.RunUntilIdle();
  EXPECT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);

  recorder.emplace(cluster_.Connection(), EventRecorderOptions{.controller = "orders"});
  cluster_.Inject({.verb = "create", .resource = "events", .times = testing::kAlways, .status = 503});
  recorder->Event(pod_, {.reason = "Started", .action = "Start"});
  recorder.reset();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.simulation().clock()->Now().time_since_epoch(), 30s);
  EXPECT_EQ(drops_->count, 1u);
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EventRecorderTest, ::testing::Range<std::uint64_t>(1, 6));

using EventRecorderBoundsTest = EventRecorderTest;

TEST_P(EventRecorderBoundsTest, RemembersAtMost4096Series) {
  const auto started = [&](int i) {
    recorder_.Event(PodNamed("web-" + std::to_string(i)), {.reason = "Started", .action = "Start"});
  };
  for (int i = 0; i < 4097; ++i) {
    started(i);
    if (i % 500 == 499) cluster_.RunUntilIdle();
  }
  cluster_.RunUntilIdle();
  started(0);  // forgotten: the least recently used one
  EXPECT_EQ(recorder_.counts().merged, 0u);
  started(4096);
  EXPECT_EQ(recorder_.counts().merged, 1u);
  cluster_.RunUntilIdle();
  EXPECT_EQ(recorder_.counts().written, 4099u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EventRecorderBoundsTest, ::testing::Values<std::uint64_t>(1));

}  // namespace
}  // namespace kgen
