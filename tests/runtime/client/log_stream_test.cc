// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LogStream: the log of a container, line by line.
#include "kgen/client/log_stream.h"

#include <optional>
#include <string>
#include <vector>

#include "kgen/client/resource_client.h"
#include "kgen/client/subresources.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;
using WidgetsClient =
    ResourceClient<Widget, WidgetList, Verbs::kStandard, Subresource<"log", std::string, Verbs::kGet>>;

class LogStreamTest : public ClientTest {
 protected:
  WidgetsClient Widgets() { return {connection(), "default"}; }
  void Head() { transport_->last().Head(200, {{"content-type", "text/plain"}}); }
  // A stream whose answer has begun, and is the test's to continue.
  LogStream Open(const LogOptions& options = {.follow = true}) {
    transport_->Hold();
    const Timer timer = executor_->clock()->After(1s, TimerKind::kProgress, [&] { Head(); });
    return Must(StreamLogs(Widgets(), "a", options));
  }
};

TEST_F(LogStreamTest, GivesTheLinesWhateverPiecesTheyComeIn) {
  LogStream log = Open();
  EXPECT_EQ(transport_->request(0).path, "/apis/test.kgen.dev/v1/namespaces/default/widgets/a/log?follow=true");
  EXPECT_TRUE(transport_->request(0).long_lived) << "it must not take the place of a short request";
  for (const char* piece : {"on", "e\n\ntw", "o\r\n", "three\nfo"}) transport_->last().Bytes(piece);
  std::vector<std::string> lines;
  for (int i = 0; i < 4; ++i) lines.push_back(Must(log.Next()));
  EXPECT_THAT(lines, ElementsAre("one", "", "two\r", "three"));
}

TEST_F(LogStreamTest, EndsWithTheRestOfTheText) {
  LogStream log = Open();
  transport_->last().Bytes("one\nrest");
  transport_->last().End();
  EXPECT_EQ(Must(log.Next()), "one");
  EXPECT_EQ(Must(log.Next()), "rest");
  const Result<std::string> end = log.Next();
  EXPECT_EQ(end.error().code(), Code::kStopped);
  EXPECT_THAT(end.error().ToString(),
              HasSubstr("get widgets.test.kgen.dev/v1/log (Widget) default/a: the server has ended the log"));
  EXPECT_EQ(log.Next().error().code(), Code::kStopped);
}

TEST_F(LogStreamTest, GivesTheRestOfTheTextBeforeALostConnection) {
  LogStream log = Open();
  transport_->last().Bytes("rest");
  transport_->last().End(HttpEnd(Fail(kReset), true));
  EXPECT_EQ(Must(log.Next()), "rest");
  EXPECT_EQ(log.Next().error().code(), Code::kUnavailable);
}

TEST_F(LogStreamTest, IsEmptyWhenTheServerHasNoLog) {
  transport_->Reply({.status = 204});
  LogStream log = Must(StreamLogs(Widgets(), "a"));
  EXPECT_EQ(log.Next().error().code(), Code::kStopped);
}

TEST_F(LogStreamTest, RefusesALineThatIsLongerThanTheBound) {
  LogStream log = Open();
  const std::string longest(LogStream::kMaxLineBytes, 'x');
  transport_->last().Bytes(longest + "\n" + longest);
  transport_->last().Bytes("y");
  EXPECT_EQ(Must(log.Next()).size(), LogStream::kMaxLineBytes);
  const Result<std::string> fault = log.Next();
  EXPECT_EQ(fault.error().code(), Code::kDecode);
  EXPECT_THAT(fault.error().ToString(), HasSubstr("a line is longer than 1048576 bytes; read this log with Logs()"));
  EXPECT_EQ(log.Next().error().code(), Code::kUnavailable);
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
}

TEST_F(LogStreamTest, RefusesAnAnswerThatIsNoText) {
  transport_->Hold();
  const Timer timer = executor_->clock()->After(1s, TimerKind::kProgress,
                                                [&] { transport_->last().Head(200, {{"content-type", "text/html"}}); });
  LogStream log = Must(StreamLogs(Widgets(), "a"));
  transport_->last().Bytes("<html>\n");
  EXPECT_EQ(log.Next().error().code(), Code::kDecode);
}

TEST_F(LogStreamTest, OpeningFailsWithTheServersError) {
  transport_->Reply({.status = 400,
                     .body = R"({"kind":"Status","status":"Failure","reason":"BadRequest",)"
                             R"("message":"container b is not valid","code":400})"});
  const Result<LogStream> log = StreamLogs(Widgets(), "a", {.container = "b"});
  ASSERT_FALSE(log.has_value());
  EXPECT_THAT(log.error().ToString(),
              StartsWith("get widgets.test.kgen.dev/v1/log (Widget) default/a: container b is not valid"));
}

TEST_F(LogStreamTest, BoundsTheOpeningByTheTimeoutAndNotTheStream) {
  transport_->Hold();
  EXPECT_EQ(StreamLogs(Widgets(), "a", {.timeout = 2s}).error().code(), Code::kTimeout);
  LogStream log = Open({.follow = true, .timeout = 2s});
  executor_->Advance(1h);
  transport_->last().Bytes("late\n");
  EXPECT_EQ(Must(log.Next()), "late");
}

// Contract: design D16.
TEST_F(LogStreamTest, HoldsBackTheServerUntilLinesAreTaken) {
  LogStream log = Open();
  transport_->last().Bytes("a\nb\nc");
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 0u);
  ASSERT_TRUE(log.Next());
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 0u) << "the second of the piece is still here";
  ASSERT_TRUE(log.Next());
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 5u);
  transport_->last().Bytes("d");
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 6u) << "the rest of the line has to come";
}

TEST_F(LogStreamTest, NextEndsWithCancelledWhenItIsStopped) {
  LogStream log = Open();
  std::stop_source stop;
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(log.Next(stop.get_token()).error().code(), Code::kCancelled);
  transport_->last().Bytes("a\n");
  EXPECT_EQ(Must(log.Next()), "a") << "only the waiting was stopped";
}

TEST_F(LogStreamTest, ReadsWithoutBlocking) {
  transport_->Hold();
  std::optional<LogStream> log;
  std::vector<std::string> lines;
  std::vector<Code> ends;
  std::function<void(Result<std::string>)> read = [&](Result<std::string> line) {
    if (!line) return ends.push_back(line.error().code());
    lines.push_back(*std::move(line));
    log->NextAsync(read);
  };
  StreamLogs(Widgets().Async(), "a", [&](Result<LogStream> opened) {
    log = Must(std::move(opened));
    log->NextAsync(read);
  });
  executor_->Run();
  EXPECT_FALSE(log.has_value());
  Head();
  executor_->Run();
  ASSERT_TRUE(log.has_value());
  transport_->last().Bytes("a\nb\nc");
  executor_->Run();
  EXPECT_THAT(lines, ElementsAre("a", "b"));
  EXPECT_EQ(transport_->last().consumed(), 5u);
  transport_->last().End();
  executor_->Run();
  EXPECT_THAT(lines, ElementsAre("a", "b", "c"));
  EXPECT_THAT(ends, ElementsAre(Code::kStopped));
}

TEST_F(LogStreamTest, HoldsBackTheServerWhileNobodyReads) {
  LogStream log = Open();
  transport_->last().Bytes("a\nb\n");
  std::optional<Result<std::string>> line;
  log.NextAsync([&](Result<std::string> next) { line = std::move(next); });
  EXPECT_FALSE(line.has_value()) << "reported by posted work";
  executor_->Run();
  EXPECT_EQ(Must(*line), "a");
  EXPECT_EQ(transport_->last().consumed(), 0u);
}

TEST_F(LogStreamTest, AllowsOneReaderAtATime) {
  LogStream log = Open();
  std::vector<std::string> said;
  const auto note = [&](Result<std::string> next) { said.push_back(next ? *next : next.error().ToString()); };
  log.NextAsync(note);
  log.NextAsync(note);
  executor_->Run();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("another call waits for the next item"));
  transport_->last().Bytes("a\n");
  executor_->Run();
  EXPECT_EQ(said.back(), "a");
}

TEST_F(LogStreamTest, EndsTheStreamAndItsReaderWithItself) {
  std::vector<Code> ends;
  {
    LogStream log = Open();
    log.NextAsync([&](Result<std::string> line) { ends.push_back(line.error().code()); });
    executor_->Run();
    EXPECT_FALSE(transport_->last().cancelled());
  }
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
  EXPECT_THAT(ends, ElementsAre(Code::kCancelled));
  EXPECT_TRUE(transport_->closed()) << "nothing holds the connection any more";
}

TEST_F(LogStreamTest, ReportsAnExceptionOfTheReaderToTheObserver) {
  LogStream log = Open();
  log.NextAsync([](Result<std::string>) { throw std::runtime_error("mine"); });
  transport_->last().Bytes("a\nb\n");
  executor_->Run();
  EXPECT_THAT(observer_->failures, ElementsAre("mine"));
  EXPECT_EQ(Must(log.Next()), "b");
}

}  // namespace
}  // namespace kgen::testing
