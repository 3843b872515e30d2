// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Connection::Call and CallAsync: requests, responses, retries, time limits, cancellation.
#include <optional>
#include <stop_token>

#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class CallTest : public ClientTest {};

TEST_F(CallTest, SendsMethodPathHeadersAndBody) {
  transport_->Reply({.status = 201, .body = R"({"kind":"Pod"})", .headers = {{"content-type", "application/json"}}});
  Settings settings = Defaults();
  settings.token = "secret";
  settings.base_path = "/proxy/a";
  ApiRequest request = Post();
  request.query = "dryRun=All";
  const Result<ApiResponse> response = MakeConnection(settings).Call(request);
  ASSERT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, R"({"kind":"Pod"})");
  EXPECT_EQ(response->content_type, "application/json");

  const HttpRequest& http = transport_->request(0);
  EXPECT_EQ(http.method, "POST");
  EXPECT_EQ(http.path, "/proxy/a/api/v1/pods?dryRun=All");
  EXPECT_EQ(http.body, "{}");
  EXPECT_FALSE(http.long_lived);
  EXPECT_EQ(HeaderOf(http, "authorization"), "Bearer secret");
  EXPECT_EQ(HeaderOf(http, "user-agent"), "test/kgen");
  EXPECT_EQ(HeaderOf(http, "accept"), "application/json");
  EXPECT_EQ(HeaderOf(http, "content-type"), "application/json");
}

TEST_F(CallTest, SendsNoAuthorizationAndNoContentTypeWhereThereIsNone) {
  transport_->Reply({});
  ASSERT_TRUE(connection().Call(Get()).has_value());
  EXPECT_EQ(HeaderOf(transport_->request(0), "authorization"), "");
  EXPECT_EQ(HeaderOf(transport_->request(0), "content-type"), "");
}

TEST_F(CallTest, CollectsABodyThatComesInPiecesAndReturnsCreditForEach) {
  transport_->Reply({.body = "0123456789", .piece = 3});
  const Result<ApiResponse> response = connection().Call(Get());
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->body, "0123456789");
  transport_->Hold();
  std::optional<Result<ApiResponse>> answer;
  connection().CallAsync(Get(), [&](Result<ApiResponse> r) { answer = std::move(r); });
  executor_->Run();
  transport_->last().Head(200);
  transport_->last().Bytes("abcd");
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), 4u);
  transport_->last().End();
  executor_->Run();
  EXPECT_EQ((*answer)->body, "abcd");
}

TEST_F(CallTest, PutsTheOperationBeforeTheServersError) {
  transport_->Reply(
      {.status = 404,
       .body = R"({"kind":"Status","status":"Failure","reason":"NotFound","message":"no web-0","code":404})"});
  const Result<ApiResponse> response = connection().Call(Get());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), Code::kNotFound);
  EXPECT_THAT(response.error().ToString(), StartsWith("get pods default/web-0: no web-0"));
}

// Contract: client REST-31.
TEST_F(CallTest, TreatsAFailedStatusInASuccessfulResponseAsAnError) {
  transport_->Reply(
      {.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409})"});
  EXPECT_EQ(connection().Call(Post()).error().code(), Code::kConflict);
}

// Contract: client REST-27.
TEST_F(CallTest, TreatsCodesOutside200To206AsErrors) {
  for (const int status : {207, 301, 304, 418}) {
    transport_->Reply({.status = status});
    EXPECT_EQ(connection().Call(Get()).error().code(), Code::kServer) << status;
  }
  transport_->Reply({.status = 206});
  EXPECT_TRUE(connection().Call(Get()).has_value());
}

TEST_F(CallTest, KeepsABoundedPartOfALongRefusal) {
  transport_->Reply({.status = 500, .body = std::string(3u << 20, 'x'), .piece = 1u << 16});
  const Result<ApiResponse> response = connection().Call(Get());
  EXPECT_EQ(response.error().code(), Code::kServer);
  EXPECT_LT(response.error().message().size(), 4096u);
}

// --- Retries

// Contract: client REST-19.
TEST_F(CallTest, RetriesEveryVerbAfter429And5xxWithRetryAfter) {
  for (const int status : {429, 500, 503, 504}) {
    transport_->Reply(Busy(status, "2"));
    transport_->Reply({.body = "{}"});
    const TimePoint before = executor_->manual_clock()->Now();
    EXPECT_TRUE(connection().Call(Post()).has_value()) << status;
    EXPECT_EQ(executor_->manual_clock()->Now() - before, 2s);
    EXPECT_EQ(transport_->last().request().body, "{}") << "the body is sent again from its start";
  }
}

// Contract: client REST-19.
TEST_F(CallTest, DoesNotRetryWithoutRetryAfterOrWithADate) {
  transport_->Reply({.status = 503, .body = "busy"});
  EXPECT_EQ(connection().Call(Get()).error().code(), Code::kUnavailable);
  transport_->Reply(Busy(503, "Wed, 21 Oct 2015 07:28:00 GMT"));
  EXPECT_EQ(connection().Call(Get()).error().code(), Code::kUnavailable);
  transport_->Reply(Busy(404, "1"));
  EXPECT_EQ(connection().Call(Get()).error().code(), Code::kNotFound);
  EXPECT_EQ(transport_->size(), 3u);
}

// Contract: client REST-19.
TEST_F(CallTest, WaitsFiveMinutesAtMostHoweverLongTheServerSays) {
  transport_->Reply(Busy(503, "86400"));
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection().Call(Get()).has_value());
  EXPECT_EQ(Elapsed(), 300s);
}

// Contract: client REST-18.
TEST_F(CallTest, GivesUpAfterTenRetriesWithTheLastError) {
  for (int i = 0; i < 11; ++i) transport_->Reply(Busy(429, "1"));
  const Result<ApiResponse> response = connection().Call(Get());
  EXPECT_EQ(response.error().code(), Code::kTooManyRequests);
  EXPECT_EQ(response.error().retry_after_seconds(), 1);
  EXPECT_EQ(transport_->size(), 11u);
  EXPECT_EQ(Elapsed(), 10s);
}

// Contract: client REST-20.
TEST_F(CallTest, RetriesAGetAfterALostConnectionASecondLater) {
  transport_->Reply({.status = 0, .broken = kReset, .lost = true});
  transport_->Reply({.status = 200, .body = "half", .broken = kReset, .lost = true});
  transport_->Reply({.body = "whole"});
  const Result<ApiResponse> response = connection().Call(Get());
  ASSERT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(response->body, "whole");
  EXPECT_EQ(Elapsed(), 2s);
}

// Contract: client REST-20.
TEST_F(CallTest, DoesNotRetryAGetThatWasResetWhileTheConnectionLives) {
  transport_->Reply({.status = 0, .broken = Error(Code::kUnavailable, "the server reset the stream: PROTOCOL_ERROR")});
  EXPECT_EQ(connection().Call(Get()).error().code(), Code::kUnavailable);
  EXPECT_EQ(transport_->size(), 1u);
  EXPECT_EQ(Elapsed(), 0s);
}

// Contract: client REST-20.
TEST_F(CallTest, DoesNotRetryAPostAfterALostConnection) {
  transport_->Reply({.status = 0, .broken = kReset, .lost = true});
  const Result<ApiResponse> response = connection().Call(Post());
  EXPECT_EQ(response.error().code(), Code::kUnavailable);
  EXPECT_THAT(response.error().ToString(), StartsWith("create pods: connection reset"));
  EXPECT_EQ(transport_->size(), 1u);
}

// Contract: client REST-20.
TEST_F(CallTest, DoesNotRetryWithoutAServerOrTrust) {
  transport_->Reply({.status = 0, .broken = kRefused});
  EXPECT_EQ(connection().Call(Get()).error().code(), Code::kUnavailable);
  transport_->Reply({.status = 0, .broken = Error(Code::kTls, "certificate has expired")});
  EXPECT_EQ(connection().Call(Get()).error().code(), Code::kTls);
  EXPECT_EQ(transport_->size(), 2u);
  EXPECT_EQ(Elapsed(), 0s);
}

// Contract: client REST-23.
TEST_F(CallTest, PassesTheLimiterAgainBeforeARetry) {
  Settings settings = Defaults();
  settings.qps = 0.1;
  settings.burst = 1;
  transport_->Reply(Busy(429, "1"));
  transport_->Reply({});
  EXPECT_TRUE(MakeConnection(settings).Call(Get()).has_value());
  EXPECT_EQ(Elapsed(), 10s);
}

TEST_F(CallTest, RefusesAPageInsteadOfJsonWhereJsonWasAskedFor) {
  const FakeReply page = {.body = "<html>", .headers = {{"content-type", "text/html"}}};
  ApiRequest request = Get();
  transport_->Reply(page);
  EXPECT_TRUE(connection().Call(request).has_value()) << "as it would be of /healthz";
  request.json = true;
  transport_->Reply(page);
  const Result<ApiResponse> response = connection().Call(request);
  EXPECT_EQ(response.error().code(), Code::kDecode);
  EXPECT_THAT(response.error().ToString(), StartsWith("get pods default/web-0: the server answered in text/html "));
}

TEST_F(CallTest, NamesTheTargetOfARedirect) {
  transport_->Reply({.status = 307, .headers = {{"location", "https://elsewhere/x?token=1"}}});
  EXPECT_THAT(connection().Call(Get()).error().ToString(),
              StartsWith("get pods default/web-0: the server redirects to https://elsewhere/x, and kgen follows no"));
}

// --- Time

// Contract: client REST-8.
TEST_F(CallTest, GivesUpAtTheTimeLimitAndCancelsTheExchange) {
  Settings settings = Defaults();
  settings.timeout = 30s;
  transport_->Hold();
  const Result<ApiResponse> response = MakeConnection(settings).Call(Get());
  EXPECT_EQ(response.error().code(), Code::kTimeout);
  EXPECT_THAT(response.error().ToString(), HasSubstr("no answer within 30s"));
  EXPECT_EQ(Elapsed(), 30s);
  EXPECT_TRUE(transport_->last().cancelled());
  EXPECT_THAT(transport_->request(0).path, ::testing::EndsWith("?timeout=30s"));
}

// Contract: client REST-7, REST-8.
TEST_F(CallTest, PutsTheTimeLimitIntoTheQueryInOrder) {
  Settings settings = Defaults();
  settings.timeout = 1500ms;
  transport_->Reply({});
  ApiRequest request = Get("/api/v1/pods");
  request.query = "limit=5&timeoutSeconds=7";
  ASSERT_TRUE(MakeConnection(settings).Call(request).has_value());
  EXPECT_EQ(transport_->request(0).path, "/api/v1/pods?limit=5&timeout=1.5s&timeoutSeconds=7");
  transport_->Reply({});
  request.query = "timeout=7s&timeoutSeconds=7";
  ASSERT_TRUE(MakeConnection(settings).Call(request).has_value());
  EXPECT_EQ(transport_->request(1).path, "/api/v1/pods?timeout=7s&timeoutSeconds=7");
}

TEST_F(CallTest, ReturnsTheServersErrorWhenARetryWouldPassTheTimeLimit) {
  Settings settings = Defaults();
  settings.timeout = 5s;
  transport_->Reply(Busy(429, "60"));
  EXPECT_EQ(MakeConnection(settings).Call(Get()).error().code(), Code::kTooManyRequests);
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(CallTest, LeavesNoTimerBehind) {
  Settings settings = Defaults();
  settings.timeout = 30s;
  transport_->Reply({});
  ASSERT_TRUE(MakeConnection(settings).Call(Get()).has_value());
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

// Contract: client REST-15, RTY-6.
TEST_F(CallTest, WaitsForTheLimiterAndNotifiesTheObserver) {
  Settings settings = Defaults();
  settings.qps = 2;
  settings.burst = 3;
  settings.timeout = 100ms;  // starts after the wait
  const Connection connection = MakeConnection(settings);
  for (int i = 0; i < 5; ++i) {
    transport_->Reply({});
    ASSERT_TRUE(connection.Call(Get()).has_value());
  }
  EXPECT_EQ(Elapsed(), 1s) << "three at once, then two a second";
  EXPECT_EQ(observer_->waits, (std::vector<Nanos>{500ms, 500ms}));
}

TEST_F(CallTest, AnUnlimitedRequestTakesNoTokenOfTheLimiter) {
  Settings settings = Defaults();
  settings.qps = 0.1;
  settings.burst = 1;
  const Connection connection = MakeConnection(settings);
  ApiRequest request = Get();
  request.unlimited = true;
  for (int i = 0; i < 3; ++i) {
    transport_->Reply({});
    ASSERT_TRUE(connection.Call(request).has_value());
  }
  EXPECT_EQ(Elapsed(), 0s);
}

// --- Counts

TEST_F(CallTest, CountsEveryAttemptByMethodAndCode) {
  using Count = client::RequestCounts::Count;
  Settings settings = Defaults();
  settings.host = "https://10.0.0.1:6443/behind/a/proxy";
  const Connection connection = MakeConnection(settings);
  transport_->Reply(Busy(503, "1"));
  transport_->Reply({.status = 0, .broken = kReset, .lost = true});
  transport_->Reply({.body = "whole"});
  ASSERT_TRUE(connection.Call(Get()).has_value());
  transport_->Reply({});
  ASSERT_TRUE(connection.Call(Get()).has_value());
  transport_->Reply({.status = 201});
  ASSERT_TRUE(connection.Call(Post()).has_value());
  const client::RequestCounts& requests = *client::ConnectionState::Of(connection)->requests;
  EXPECT_EQ(requests.host(), "10.0.0.1:6443");
  EXPECT_THAT(requests.Read(), ::testing::ElementsAre(Count{"GET", 503, 1}, Count{"GET", 0, 1}, Count{"GET", 200, 2},
                                                      Count{"POST", 201, 1}));
}

// --- Stopping

TEST_F(CallTest, SendsNothingWhenItIsStoppedAlready) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(connection().Call(Get(), stop.get_token()).error().code(), Code::kCancelled);
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(CallTest, EndsWithCancelledWhenItIsStoppedInFlight) {
  std::stop_source stop;
  transport_->Hold();
  const Connection connection = this->connection();
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  const Result<ApiResponse> response = connection.Call(Get(), stop.get_token());
  EXPECT_EQ(response.error().code(), Code::kCancelled);
  EXPECT_THAT(response.error().ToString(), StartsWith("get pods default/web-0: "));
  executor_->Run();
  EXPECT_TRUE(transport_->last().cancelled());
}

TEST_F(CallTest, EndsWithTheStopThatTheConnectionWasMadeWith) {
  std::stop_source stop, own;
  const Connection whole = this->connection(), connection = whole.With(stop.get_token());
  EXPECT_TRUE(connection == whole);
  transport_->Reply({});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  transport_->Hold();
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(connection.Call(Get()).error().code(), Code::kCancelled);
  EXPECT_EQ(Elapsed(), 5s);
  EXPECT_EQ(connection.Call(Get()).error().code(), Code::kCancelled);
  transport_->Reply({});
  EXPECT_TRUE(connection.Call(Get(), own.get_token()).has_value()) << "a call's own stop counts instead";
}

// Contract: client REST-23.
TEST_F(CallTest, StopsBetweenAttemptsToo) {
  std::stop_source stop;
  transport_->Reply(Busy(503, "60"));
  const Connection connection = this->connection();
  const Timer timer = executor_->clock()->After(5s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(connection.Call(Get(), stop.get_token()).error().code(), Code::kCancelled);
  EXPECT_EQ(Elapsed(), 5s);
  executor_->Advance(120s);
  EXPECT_EQ(transport_->size(), 1u);
}

// Contract: design D9.
TEST_F(CallTest, IsRefusedOnAThreadThatRunsPostedTasks) {
  const Connection connection = this->connection();
  std::optional<Result<ApiResponse>> response;
  executor_->Post(executor_->MakeStrand("test"), [&] { response = connection.Call(Get()); });
  executor_->Run();
  EXPECT_EQ(response->error().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 0u);
}

// Contract: design D9.
TEST_F(CallTest, IsAllowedInBlockingWork) {
  const Connection connection = this->connection();
  transport_->Reply({});
  std::optional<Result<ApiResponse>> response;
  executor_->Blocking("test", [&] { response = connection.Call(Get()); });
  executor_->Run();
  EXPECT_TRUE(response->has_value());
}

// Contract: design D11.
TEST_F(CallTest, EndsWhenTheExecutorShutsDown) {
  transport_->Hold();
  const Connection connection = this->connection();
  const Timer timer = executor_->clock()->After(1s, TimerKind::kProgress, [&] {
    transport_->last().End();
    executor_->Shutdown();
  });
  EXPECT_EQ(connection.Call(Get()).error().code(), Code::kCancelled);
}

TEST_F(CallTest, CallsTheAsynchronousCallbackOnceInAPostedTask) {
  transport_->Reply({});
  int calls = 0;
  bool posted = false;
  connection().CallAsync(Get(), [&](Result<ApiResponse> response) {
    calls += response.has_value() ? 1 : 100;
    posted = executor_->InPostedTask();
  });
  EXPECT_EQ(calls, 0) << "never inside the call";
  executor_->Run();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(posted);
}

// Contract: design D12.
TEST_F(CallTest, ReportsACallbackThatThrowsAndContinues) {
  transport_->Reply({});
  connection().CallAsync(Get(), [](Result<ApiResponse>) { throw std::runtime_error("oops"); });
  executor_->Run();
  EXPECT_EQ(observer_->failures, std::vector<std::string>{"oops"});
}

// Contract: design D16.
TEST_F(CallTest, ClosesTheTransportWithTheLastHandleAndNotBeforeTheLastRequest) {
  transport_->Hold();
  {
    const Connection connection = this->connection();
    connection.CallAsync(Get(), [](Result<ApiResponse>) {});
    executor_->Run();
  }
  EXPECT_FALSE(transport_->closed());
  transport_->last().Head(200);
  transport_->last().End();
  executor_->Run();
  EXPECT_TRUE(transport_->closed());
}

}  // namespace
}  // namespace kgen::testing
