// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Watcher: the raw watch of a typed client.
#include "kgen/client/watcher.h"

#include <optional>
#include <sstream>

#include "kgen/client/async_client.h"
#include "kgen/core/memory.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;

std::string EventJson(std::string_view type, std::string_view name, std::string_view version = "1") {
  return R"({"type":")" + std::string(type) +
         R"(","object":{"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":")" + std::string(name) +
         R"(","resourceVersion":")" + std::string(version) + "\"}}}\n";
}

class WatcherTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets() { return {connection(), "default"}; }
  // A watch whose answer has begun, and is the test's to continue.
  Watcher<Widget> Open() {
    transport_->Hold();
    const Timer timer = executor_->clock()->After(1s, TimerKind::kProgress, [&] { transport_->last().Head(200); });
    Result<Watcher<Widget>> watcher = Widgets().Watch({.resource_version = "5"});
    return Must(std::move(watcher));
  }
};

TEST_F(WatcherTest, GivesTheEventsInOrder) {
  Watcher<Widget> watcher = Open();
  EXPECT_EQ(transport_->request(0).path,
            "/apis/test.kgen.dev/v1/namespaces/default/widgets?resourceVersion=5&watch=true");
  transport_->last().Bytes(EventJson("ADDED", "a") + EventJson("MODIFIED", "b"));
  transport_->last().Bytes(EventJson("DELETED", "c") + EventJson("BOOKMARK", "", "9"));
  std::ostringstream seen;
  for (int i = 0; i < 4; ++i) {
    const auto event = Must(watcher.Next());
    seen << event.type << ' ' << event.object->metadata.name << ' ';
  }
  EXPECT_EQ(seen.str(), "ADDED a MODIFIED b DELETED c BOOKMARK  ");
}

// It keeps no objects, so it has nothing to share text with: whatever it remembered would only grow.
TEST_F(WatcherTest, FreesEventsThatTheCallerHasReleased) {
  Watcher<Widget> watcher = Open();
  const std::int64_t before = LiveBlocks();
  for (int i = 0; i < 50; ++i) {
    const std::string label =
        R"(","labels":{"of":"a-text-of-its-own-that-is-long-)" + std::to_string(i) + R"("},"x":")";
    transport_->last().Bytes(EventJson("MODIFIED", "a" + label));
    static_cast<void>(Must(watcher.Next()));
  }
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(WatcherTest, OpenFailsWithTheServersError) {
  transport_->Reply(
      {.status = 403,
       .body = R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"not you","code":403})"});
  const Result<Watcher<Widget>> watcher = Widgets().Watch();
  ASSERT_FALSE(watcher.has_value());
  EXPECT_EQ(watcher.error().code(), Code::kForbidden);
  EXPECT_THAT(watcher.error().ToString(), StartsWith("watch widgets.test.kgen.dev/v1 (Widget) in default: not you"));
}

TEST_F(WatcherTest, ReportsThatTheServerHasEndedTheStream) {
  Watcher<Widget> watcher = Open();
  transport_->last().Bytes(EventJson("ADDED", "a"));
  transport_->last().End();
  EXPECT_TRUE(watcher.Next().has_value()) << "what came before the end comes first";
  EXPECT_EQ(watcher.Next().error().code(), Code::kStopped);
  EXPECT_EQ(watcher.Next().error().code(), Code::kStopped);
}

TEST_F(WatcherTest, DistinguishesALostConnectionFromAnEnd) {
  Watcher<Widget> watcher = Open();
  transport_->last().Bytes(EventJson("ADDED", "a").substr(0, 20));
  transport_->last().End();
  EXPECT_EQ(watcher.Next().error().code(), Code::kUnavailable);
}

// Contract: client REST-34.
TEST_F(WatcherTest, GivesAnErrorEventAsAnError) {
  Watcher<Widget> watcher = Open();
  transport_->last().Bytes(
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"old","code":410}})");
  const auto event = watcher.Next();
  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(event.error().code(), Code::kExpired);
  EXPECT_THAT(event.error().ToString(), StartsWith("watch widgets.test.kgen.dev/v1 (Widget) in default: old"));
}

// Contract: design D6.
TEST_F(WatcherTest, ContinuesAfterAnEventThatCannotBeRead) {
  Watcher<Widget> watcher = Open();
  transport_->last().Bytes(R"({"type":"ADDED","object":{"kind":"Widget","metadata":{"name":7}}})");
  transport_->last().Bytes(R"({"type":"STRANGE","object":{}})");
  transport_->last().Bytes(EventJson("ADDED", "good"));
  EXPECT_EQ(watcher.Next().error().code(), Code::kDecode);
  EXPECT_EQ(watcher.Next().error().code(), Code::kDecode);
  EXPECT_EQ(Must(watcher.Next()).object.get()->metadata.name, "good");
}

TEST_F(WatcherTest, EndsWithTheFaultOfTheStreamAndCancelsIt) {
  Watcher<Widget> watcher = Open();
  transport_->last().Bytes(EventJson("ADDED", "a") + "garbage");
  EXPECT_TRUE(watcher.Next().has_value());
  EXPECT_EQ(watcher.Next().error().code(), Code::kDecode);
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
  EXPECT_EQ(watcher.Next().error().code(), Code::kUnavailable) << "who calls again after a kDecode comes to an end";
  EXPECT_EQ(watcher.Next().error().code(), Code::kUnavailable);
}

// Contract: design D16.
TEST_F(WatcherTest, HoldsBackTheServerUntilEventsAreTaken) {
  Watcher<Widget> watcher = Open();
  const std::string two = EventJson("ADDED", "a") + EventJson("ADDED", "b");
  transport_->last().Bytes(two);
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 0u);
  ASSERT_TRUE(watcher.Next().has_value());
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 0u) << "the second of the piece is still here";
  ASSERT_TRUE(watcher.Next().has_value());
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), two.size());
}

TEST_F(WatcherTest, ReadsTheRestOfALargeEvent) {
  Watcher<Widget> watcher = Open();
  transport_->last().Bytes(EventJson("ADDED", "a").substr(0, 30));
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 30u);
  transport_->last().Bytes(EventJson("ADDED", "a").substr(30));
  EXPECT_TRUE(watcher.Next().has_value());
}

TEST_F(WatcherTest, NextEndsWithCancelledWhenItIsStopped) {
  Watcher<Widget> watcher = Open();
  std::stop_source stop;
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(watcher.Next(stop.get_token()).error().code(), Code::kCancelled);
  transport_->last().Bytes(EventJson("ADDED", "a"));
  EXPECT_TRUE(watcher.Next().has_value()) << "only the waiting was stopped";
}

TEST_F(WatcherTest, OpeningEndsWithTheStopOfTheConnection) {
  std::stop_source stop;
  const ResourceClient<Widget, WidgetList> widgets(connection().With(stop.get_token()), "default");
  transport_->Hold();
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(widgets.Watch().error().code(), Code::kCancelled);
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
}

TEST_F(WatcherTest, NextEndsWithTheStopOfTheConnection) {
  std::stop_source stop;
  const ResourceClient<Widget, WidgetList> widgets(connection().With(stop.get_token()), "default");
  transport_->Hold();
  const Timer head = executor_->clock()->After(1s, TimerKind::kProgress, [&] { transport_->last().Head(200); });
  Watcher<Widget> watcher = Must(widgets.Watch());
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(watcher.Next().error().code(), Code::kCancelled);
}

TEST_F(WatcherTest, EndsTheWatchWithItself) {
  {
    Watcher<Widget> watcher = Open();
    Watcher<Widget> moved = std::move(watcher);
    executor_->Run();
    EXPECT_FALSE(transport_->last().cancelled());
  }
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
  EXPECT_TRUE(transport_->closed()) << "nothing holds the connection any more";
}

// Contract: design D9.
TEST_F(WatcherTest, IsRefusedOnAThreadThatRunsPostedTasks) {
  std::optional<Code> code;
  executor_->Post(executor_->MakeStrand("test"), [&] { code = Widgets().Watch().error().code(); });
  executor_->Run();
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(WatcherTest, OpensWithoutBlocking) {
  transport_->Hold();
  std::optional<Result<Watcher<Widget>>> watcher;
  Widgets().Async().Watch([&](Result<Watcher<Widget>> opened) { watcher = std::move(opened); },
                          {.resource_version = "5"});
  executor_->Run();
  EXPECT_FALSE(watcher.has_value());
  transport_->last().Head(200);
  executor_->Run();
  ASSERT_TRUE(watcher.has_value());
  transport_->last().Bytes(EventJson("ADDED", "a"));
  const auto event = Must((*watcher)->Next());
  EXPECT_EQ(event.object->metadata.name, "a");
  watcher.reset();
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
  EXPECT_TRUE(transport_->closed()) << "nothing holds the connection any more";
}

TEST_F(WatcherTest, OpeningWithoutBlockingFailsOnce) {
  transport_->Reply({.status = 403, .body = "no"});
  std::vector<Code> codes;
  const auto note = [&](Result<Watcher<Widget>> opened) { codes.push_back(opened.error().code()); };
  Widgets().Async().Watch(note);
  ResourceClient<Widget, WidgetList>(connection(), "a/b").Async().Watch(note);
  EXPECT_TRUE(codes.empty()) << "both are reported by posted work";
  executor_->Run();
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(Code::kForbidden, Code::kInvalidArgument));
  EXPECT_TRUE(transport_->closed()) << "nothing holds the connection any more";
}

}  // namespace
}  // namespace kgen::testing
