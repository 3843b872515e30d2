// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Connection::Stream: delivery on the strand, credit, errors, cancellation.
#include <optional>

#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class RecordingSink final : public StreamSink {
 public:
  void OnOpen() override { log += "open "; }
  void OnBytes(std::string_view bytes) override {
    log += std::string(bytes) + ' ';
    if (on_bytes) on_bytes();
  }
  void OnEnd(Result<void> result) override {
    ++ends;
    log += result ? "end" : "error";
    end = std::move(result);
  }
  std::string log;
  int ends = 0;
  std::optional<Result<void>> end;
  std::function<void()> on_bytes;
};

class StreamTest : public ClientTest {
 protected:
  static ApiRequest Watch() {
    return {.method = "GET", .path = "/api/v1/pods", .query = "watch=true", .what = "watch pods", .watch = true};
  }
  static ApiRequest List() { return {.method = "GET", .path = "/api/v1/pods", .what = "list pods"}; }
  Shared<StreamCall> Start(ApiRequest request, Settings settings = Defaults()) {
    return MakeConnection(std::move(settings)).Stream(std::move(request), strand_, sink_);
  }

  Shared<Strand> strand_ = executor_->MakeStrand("test");
  Shared<RecordingSink> sink_ = MakeShared<RecordingSink>();
};

TEST_F(StreamTest, ForwardsBytesInOrder) {
  transport_->Hold();
  const auto call = Start(Watch());
  executor_->Run();
  EXPECT_TRUE(transport_->last().request().long_lived);
  transport_->last().Head(200);
  transport_->last().Bytes("a");
  transport_->last().Bytes("b");
  EXPECT_EQ(sink_->log, "") << "only on the strand";
  executor_->Run();
  EXPECT_EQ(sink_->log, "open a b ");
  transport_->last().End();
  executor_->Run();
  EXPECT_EQ(sink_->log, "open a b end");
}

// Contract: design D16.
TEST_F(StreamTest, ReturnsCreditWhenTheSinkHasConsumedTheBytes) {
  transport_->Hold();
  std::size_t inside = 99;
  sink_->on_bytes = [&] { inside = transport_->last().consumed(); };
  const auto call = Start(Watch());
  executor_->Run();
  transport_->last().Head(200);
  transport_->last().Bytes("12345");
  EXPECT_EQ(transport_->last().consumed(), 0u);
  executor_->Run();
  EXPECT_EQ(inside, 0u);
  EXPECT_EQ(transport_->last().consumed(), 5u);
}

TEST_F(StreamTest, CollectsARefusalAndReportsItAtTheEnd) {
  transport_->Reply(
      {.status = 410,
       .body = R"({"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410})",
       .piece = 10});
  const auto call = Start(Watch());
  executor_->Run();
  EXPECT_EQ(sink_->log, "error");
  EXPECT_EQ(sink_->end->error().code(), Code::kExpired);
  EXPECT_THAT(sink_->end->error().ToString(), HasSubstr("watch pods: too old"));
}

// Contract: client REST-27.
TEST_F(StreamTest, AcceptsOnly200ForAWatchAndAny2xxOtherwise) {
  transport_->Reply({.status = 204});
  Start(Watch());
  executor_->Run();
  EXPECT_EQ(sink_->log, "error");
  sink_->log.clear();
  transport_->Reply({.status = 299});
  Start(List());
  executor_->Run();
  EXPECT_EQ(sink_->log, "open end");
}

TEST_F(StreamTest, RefusesAPageInsteadOfJsonWithItsFirstBytes) {
  transport_->Hold();
  ApiRequest request = Watch();
  request.json = true;
  const auto call = Start(request);
  executor_->Run();
  transport_->last().Head(200, {{"content-type", "text/html"}});
  transport_->last().Bytes("<html>Please log in");
  executor_->Run();
  EXPECT_EQ(sink_->log, "open error");
  EXPECT_THAT(sink_->end->error().ToString(), ::testing::StartsWith("watch pods: the server answered in text/html "));
  EXPECT_TRUE(transport_->last().cancelled());
}

// Contract: client REST-20.
TEST_F(StreamTest, IsNotRetried) {
  transport_->Reply(Busy(503, "1"));
  Start(List());
  executor_->Advance(100s);
  EXPECT_EQ(transport_->size(), 1u);
  EXPECT_EQ(sink_->end->error().code(), Code::kUnavailable);
  EXPECT_EQ(sink_->end->error().retry_after_seconds(), 1);
  transport_->Reply({.status = 0, .broken = kReset});
  Start(List());
  executor_->Advance(100s);
  EXPECT_EQ(transport_->size(), 2u);
  EXPECT_EQ(sink_->ends, 2);
}

TEST_F(StreamTest, ReportsAConnectionThatBreaksInTheMiddle) {
  transport_->Reply({.status = 200, .body = "half", .broken = kReset});
  Start(Watch());
  executor_->Run();
  EXPECT_EQ(sink_->log, "open half error");
  EXPECT_EQ(sink_->end->error().code(), Code::kUnavailable);
}

TEST_F(StreamTest, DeliversOnlyTheEndAfterCancel) {
  transport_->Hold();
  const auto call = Start(Watch());
  executor_->Run();
  transport_->last().Head(200);
  executor_->Run();
  transport_->last().Bytes("late");
  call->Cancel();
  call->Cancel();
  executor_->Run();
  EXPECT_EQ(sink_->log, "open error");
  EXPECT_EQ(sink_->end->error().code(), Code::kCancelled);
  EXPECT_EQ(sink_->ends, 1);
  EXPECT_TRUE(transport_->last().cancelled());
}

TEST_F(StreamTest, CanBeCancelledFromItsOwnSink) {
  transport_->Hold();
  Shared<StreamCall> call;
  sink_->on_bytes = [&] { call->Cancel(); };
  call = Start(Watch());
  executor_->Run();
  transport_->last().Head(200);
  transport_->last().Bytes("a");
  transport_->last().Bytes("b");
  executor_->Run();
  EXPECT_EQ(sink_->log, "open a error");
  EXPECT_EQ(sink_->ends, 1);
}

TEST_F(StreamTest, CanBeCancelledBeforeItIsSent) {
  const auto call = Start(Watch());
  call->Cancel();
  executor_->Run();
  EXPECT_EQ(sink_->end->error().code(), Code::kCancelled);
  EXPECT_EQ(transport_->size(), 0u);
}

// Contract: client REST-15.
TEST_F(StreamTest, AWatchHasNoTimeLimitAndPassesTheLimiter) {
  Settings settings = Defaults();
  settings.timeout = 1s;
  settings.qps = 0.001;
  settings.burst = 1;
  const Connection connection = MakeConnection(settings);
  transport_->Reply({});
  ASSERT_TRUE(connection.Call(Get()).has_value());  // takes the only token
  transport_->Hold();
  const auto call = connection.Stream(Watch(), strand_, sink_);
  executor_->Advance(3600s);
  ASSERT_EQ(transport_->size(), 2u);
  EXPECT_EQ(transport_->request(1).path, "/api/v1/pods?watch=true");
  EXPECT_EQ(sink_->ends, 0);
}

TEST_F(StreamTest, AListHasTheTimeLimit) {
  Settings settings = Defaults();
  settings.timeout = 1s;
  transport_->Hold();
  const auto call = Start(List(), settings);
  executor_->Advance(2s);
  EXPECT_EQ(sink_->end->error().code(), Code::kTimeout);
}

TEST_F(StreamTest, DropsTheSinkAfterTheEnd) {
  struct Flagged final : StreamSink {
    explicit Flagged(bool* f) : flag(f) {}
    ~Flagged() override { *flag = true; }
    void OnOpen() override {}
    void OnBytes(std::string_view) override {}
    void OnEnd(Result<void>) override {}
    bool* flag;
  };
  bool gone = false;
  transport_->Reply({});
  const auto call = connection().Stream(Watch(), strand_, MakeShared<Flagged>(&gone));
  executor_->Run();
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace kgen::testing
