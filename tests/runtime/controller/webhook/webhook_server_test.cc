// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the webhook server answers, and its deadlines. webhook_limits_test.cc has its limits, webhook_socket_test.cc
// sockets, webhook_tls_test.cc certificates.
#include "controller/webhook/webhook_server.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/webhook/review_deadline.h"
#include "tests/runtime/controller/webhook/webhook_fixture.h"
#include "tests/support/prometheus_parser.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Contract: controller 194.
TEST_F(WebhookTest, AnswersAReviewWithAReviewInJson) {
  const auto handler = Add("/validate-v1-pod");
  Serve();
  EXPECT_THAT(Send(Post("/validate-v1-pod?timeout=10s", R"({"a":1})")),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("content-type: application/json\r\n"),
                    HasSubstr("content-length: 9\r\n"), ::testing::EndsWith("\r\n\r\n{\"got\":7}")));
  EXPECT_EQ(handler->calls, 1);
  EXPECT_EQ(Ask("/validate-v1-pod", "{}", "X-Other: 1\r\n"), R"(200 {"got":2})");
}

TEST_F(WebhookTest, KeepsAConnectionForManyReviews) {
  Add("/v");
  Serve();
  const auto client = loop_->Dial();
  for (int i = 1; i <= 3; ++i) {
    client->Receive(Post("/v", std::string(static_cast<std::size_t>(i), 'x')));
    executor_->Run();
    EXPECT_THAT(client->sent(), HasSubstr("{\"got\":" + std::to_string(i) + "}"));
  }
  EXPECT_THAT(client->sent(), Not(HasSubstr("connection: close")));
  EXPECT_FALSE(client->closed());
}

TEST_F(WebhookTest, ReadsAReviewInChunks) {
  Add("/v");
  Serve();
  const std::string head =
      "POST /v HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  EXPECT_THAT(Send(head + "\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\n"), HasSubstr("{\"got\":5}"));
  EXPECT_THAT(Send(head + "\r\nx\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(WebhookTest, HasOnlyTheDeclaredPathsAndOnlyPost) {
  const auto handler = Add("/v");
  Serve();
  for (const char* path : {"/", "/v/", "/w", "/v/x", "/validate"}) EXPECT_THAT(Ask(path), StartsWith("404 ")) << path;
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"}) {
    EXPECT_THAT(Send(std::string(method) + " /v HTTP/1.1\r\nHost: h\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("allow: POST\r\n")))
        << method;
  }
  EXPECT_EQ(handler->calls, 0);
}

// Contract: controller 196.
TEST_F(WebhookTest, AnswersAWrongContentTypeInsideTheReview) {
  const auto handler = Add("/v");
  Add("/convert", Echo, Kind::kConversion);
  Serve();
  const auto ask = [this](const std::string& path, const std::string& type) {
    const std::string response =
        Send("POST " + path + " HTTP/1.1\r\nHost: h\r\n" + type + "Content-Length: 2\r\n\r\n{}");
    return StatusOf(response) + " " + BodyOf(response);
  };
  for (const char* type : {"", "Content-Type: text/plain\r\n", "Content-Type: application/jsonx\r\n"}) {
    EXPECT_THAT(ask("/v", type), AllOf(StartsWith("200 "), HasSubstr(R"("allowed":false)"), HasSubstr(R"("code":400)"),
                                       HasSubstr("application/json")))
        << type;
  }
  EXPECT_THAT(ask("/v", "Content-Type: a\"b\r\n"), HasSubstr(R"('a\"b')"));
  EXPECT_THAT(ask("/convert", "Content-Type: text/plain\r\n"),
              AllOf(StartsWith("200 "), HasSubstr("ConversionReview"), HasSubstr(R"("status":"Failure")")));
  EXPECT_EQ(handler->calls, 0);
  for (const char* type : {"application/json; charset=utf-8", "Application/JSON", "application/json ;x"}) {
    EXPECT_EQ(ask("/v", "Content-Type: " + std::string(type) + "\r\n"), R"(200 {"got":2})") << type;
  }
}

// Contract: controller 196.
TEST_F(WebhookTest, AnswersAReviewThatIsTooLargeBeforeItArrives) {
  const auto handler = Add("/v");
  const auto conversion = Add("/convert", Echo, Kind::kConversion);
  Serve({.max_review_bytes = 10, .max_conversion_bytes = 20});
  EXPECT_EQ(Ask("/v", std::string(10, 'x')), R"(200 {"got":10})");
  EXPECT_EQ(Ask("/convert", std::string(20, 'x')), R"(200 {"got":20})");
  for (const auto& [path, length, limit] : {std::tuple("/v", "11", "10"), std::tuple("/convert", "21", "20"),
                                            std::tuple("/v", "18446744073709551615", "10")}) {
    const auto client = loop_->Dial();
    client->Receive("POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: " +
                    std::string(length) + "\r\n\r\n");
    EXPECT_THAT(client->sent(),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Type: application/json\r\n"),
                      HasSubstr("Connection: close\r\n"), HasSubstr("{\"larger_than\":" + std::string(limit) + "}")))
        << path << length;
    const std::string answer = client->sent();
    for (int i = 0; i < 100; ++i) client->Receive(std::string(1000, 'x'));  // the client reads when it has sent
    EXPECT_EQ(client->sent(), answer);
    EXPECT_FALSE(client->closed());
    executor_->Advance(30s);
    EXPECT_TRUE(client->closed());
  }
  EXPECT_THAT(Send("POST /v HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n8\r\n1234"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("{\"larger_than\":10}")));
  EXPECT_EQ(handler->calls + conversion->calls, 2);
  // What is no review is small.
  EXPECT_THAT(Send("POST /w HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
}

TEST_F(WebhookTest, RefusesMalformedRequestsAndCloses) {
  Add("/v");
  Serve();
  for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
           {"rubbish\r\n\r\n", "400"},
           {std::string("\0\xFF\x16\x03\x01\r\n\r\n", 9), "400"},
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"},
           {"POST /v HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "400"},
           {"POST /v HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
           {"POST /v HTTP/1.1\r\nHost: h\r\nContent-Length: -2\r\n\r\n{}", "400"},
           {"POST /v HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", "400"},
           {"POST /v HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n{}", "400"},
           {"POST * HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
           {Post("/v", "{}", "X: " + std::string(66'000, 'x') + "\r\n"), "431"},
           {"POST /v HTTP/1.1\r\nHost: h\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n", "417"},
       }) {
    const auto client = loop_->Dial();
    client->Receive(request);
    executor_->Run();
    EXPECT_EQ(StatusOf(client->sent()), status) << request.substr(0, 80);
    EXPECT_TRUE(client->closed()) << request.substr(0, 80);
  }
  EXPECT_EQ(Ask("/v"), R"(200 {"got":2})");
}

TEST_F(WebhookTest, ContinuesARequestThatAsksForIt) {
  Add("/v");
  Serve();
  const auto client = loop_->Dial();
  const std::string request = Post("/v", "{}", "Expect: 100-continue\r\n");
  client->Receive(request.substr(0, request.size() - 2));
  EXPECT_EQ(client->sent(), "HTTP/1.1 100 Continue\r\n\r\n");
  client->Receive("{}");
  executor_->Run();
  EXPECT_THAT(client->sent(), HasSubstr("{\"got\":2}"));
}

TEST(ReviewDeadline, IsALittleBeforeTheTimeoutOfTheServer) {
  using controller::ReviewTimeOf;
  for (const auto& [query, timeout, limit] : std::vector<std::tuple<std::string, Nanos, Nanos>>{
           {"?timeout=10s", 10s, 9s},
           {"?timeout=30s", 30s, 29s},
           {"?timeout=1s", 1s, 900ms},
           {"?timeout=2s", 2s, 1800ms},
           {"?a=b&timeout=1.5s&c", 1500ms, 1350ms},
           {"?timeout=0.5s", 500ms, 400ms},
           {"?timeout=100ms", 100ms, 50ms},  // a margin would leave nothing
           {"?timeout=1m", 30s, 29s},        // more than a server may grant
           {"?timeout=1000h", 30s, 29s},
           {"", 7s, 6300ms},
           {"?", 7s, 6300ms},
           {"?timeout=", 7s, 6300ms},
           {"?timeout=0s", 7s, 6300ms},
           {"?timeout=-5s", 7s, 6300ms},
           {"?timeout=5", 7s, 6300ms},
           {"?timeout=%31s", 7s, 6300ms},
           {"?timeouts=1s", 7s, 6300ms},
           {"?timeout=99999999999999999999h", 7s, 6300ms},
       }) {
    const auto time = ReviewTimeOf("/v" + query, 7s);
    EXPECT_EQ(time.timeout, timeout) << query;
    EXPECT_EQ(time.limit, limit) << query;
  }
}

TEST_F(WebhookTest, TellsAFunctionItsDeadline) {
  std::optional<TimePoint> deadline;
  const auto note = [&](std::string_view, const Call& call) {
    deadline = call.deadline;
    return std::string("{}");
  };
  Add("/v", note);
  Add("/convert", note, Kind::kConversion);
  Serve();
  for (const auto& [target, limit] :
       {std::pair("/v?timeout=5s", 4500ms), std::pair("/v", 9000ms), std::pair("/convert", 29000ms)}) {
    EXPECT_EQ(Ask(target), "200 {}");
    EXPECT_EQ(deadline, executor_->clock()->Now() + limit) << target;
  }
  // The time for which the body travels counts.
  const auto client = loop_->Dial();
  client->Receive(
      "POST /v?timeout=5s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n");
  executor_->Advance(2s);
  client->Receive("{}");
  executor_->Run();
  EXPECT_EQ(deadline, executor_->clock()->Now() + 2500ms);
}

TEST_F(WebhookTest, RequestsTheStopAtTheDeadlineAndSendsNothingAfterIt) {
  Gate gate(*executor_);
  Add("/v", gate.Function());
  Serve();
  const TimePoint begin = executor_->clock()->Now();
  const auto client = loop_->Dial();
  client->Receive(Post("/v?timeout=2s", "{}"));
  executor_->Run();
  EXPECT_TRUE(gate.stopped);
  EXPECT_EQ(executor_->clock()->Now(), begin + 1800ms);
  executor_->Advance(1100ms);
  EXPECT_FALSE(client->closed()) << "the API server says that the time is over, and not that the connection broke";
  executor_->Advance(200ms);
  EXPECT_TRUE(client->closed());
  EXPECT_EQ(client->sent(), "");
}

TEST_F(WebhookTest, ClosesTheConnectionOfAFunctionThatIgnoresItsStop) {
  const auto release = executor_->MakeWaiter("the test");
  const auto handler = Add("/v", [&](std::string_view, const Call&) {
    (void)release->Wait();
    return std::string("{}");
  });
  Serve();
  const auto client = loop_->Dial();
  client->Receive(Post("/v", "{}"));
  std::vector<bool> closed;
  std::vector<Timer> timers;
  for (const Nanos when : {Nanos(10900ms), Nanos(11100ms)}) {  // the server gives up after 10 s
    timers.push_back(
        executor_->clock()->After(when, TimerKind::kProgress, [&] { closed.push_back(client->closed()); }));
  }
  timers.push_back(executor_->clock()->After(20s, TimerKind::kProgress, [&] { release->Notify(); }));
  executor_->Run();
  EXPECT_THAT(closed, ::testing::ElementsAre(false, true));
  EXPECT_EQ(client->sent(), "");
  EXPECT_EQ(Ask("/v?timeout=1s"), "");  // the function waits again, until the last timer; nothing is left over
}

TEST_F(WebhookTest, RequestsTheStopOfAFunctionWhoseClientIsGone) {
  Gate gate(*executor_);
  Add("/v", gate.Function());
  Serve();
  const TimePoint begin = executor_->clock()->Now();
  const auto client = loop_->Dial();
  client->Receive(Post("/v", "{}"));
  const Timer leave =
      executor_->clock()->After(3s, TimerKind::kProgress, [&] { client->Break("the peer closed the connection"); });
  executor_->Run();
  EXPECT_TRUE(gate.stopped);
  EXPECT_EQ(executor_->clock()->Now(), begin + 3s);
}

// Contract: controller 194, 212.
TEST_F(WebhookTest, CountsUnderTheNamesOfControllerRuntime) {
  Metrics& metrics = metrics_;
  const auto count = [&metrics](const std::string& name) {
    const auto all = test_support::ParsePrometheus(Must(metrics.Text()));
    const auto found = all.find("controller_runtime_" + name);
    return found == all.end() ? -1 : found->second;
  };
  double in_flight = 0;
  const auto handler = Add("/v", [&](std::string_view, const Call&) {
    in_flight = count("webhook_requests_in_flight{webhook=\"/v\"}");
    return std::string("{}");
  });
  const auto conversion = Add("/convert", Echo, Kind::kConversion);
  Serve();
  EXPECT_EQ(count("webhook_requests_total{code=\"200\",webhook=\"/v\"}"), 0);
  EXPECT_EQ(count("webhook_requests_total{code=\"500\",webhook=\"/v\"}"), 0);
  EXPECT_EQ(count("webhook_requests_total{code=\"200\",webhook=\"/convert\"}"), 0);
  EXPECT_EQ(count("webhook_latency_seconds_count{webhook=\"/v\"}"), 0);
  EXPECT_EQ(count("webhook_requests_in_flight{webhook=\"/v\"}"), 0);
  EXPECT_EQ(count("webhook_panics_total"), 0);
  EXPECT_EQ(count("conversion_webhook_panics_total"), 0);
  handler->panicked = 2;
  EXPECT_EQ(Ask("/v"), "200 {}");
  EXPECT_EQ(in_flight, 1);
  EXPECT_EQ(Ask("/v"), "200 {}");
  conversion->panicked = 1;
  EXPECT_EQ(Ask("/convert"), R"(200 {"got":2})");
  EXPECT_THAT(Send("GET /v HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask("/w"), StartsWith("404 "));
  EXPECT_EQ(count("webhook_requests_total{code=\"200\",webhook=\"/v\"}"), 2);
  EXPECT_EQ(count("webhook_requests_total{code=\"405\",webhook=\"/v\"}"), 1);
  EXPECT_EQ(count("webhook_requests_total{code=\"200\",webhook=\"/convert\"}"), 1);
  EXPECT_EQ(count("webhook_latency_seconds_count{webhook=\"/v\"}"), 3);
  EXPECT_EQ(count("webhook_latency_seconds_bucket{webhook=\"/v\",le=\"0.005\"}"), 3);
  EXPECT_EQ(count("webhook_latency_seconds_bucket{webhook=\"/v\",le=\"10\"}"), 3);
  EXPECT_EQ(count("webhook_requests_in_flight{webhook=\"/v\"}"), 0);
  EXPECT_EQ(count("webhook_panics_total"), 2);
  EXPECT_EQ(count("conversion_webhook_panics_total"), 1);
  EXPECT_THAT(Must(metrics.Text()), Not(HasSubstr("\"/w\"")));
}

TEST_F(WebhookTest, CountsAnAnswerThatCameTooLate) {
  Gate gate(*executor_);
  Add("/v", gate.Function());
  Serve();
  EXPECT_EQ(Ask("/v?timeout=1s"), "");
  EXPECT_THAT(Must(metrics_.Text()),
              AllOf(HasSubstr("controller_runtime_webhook_requests_total{code=\"504\",webhook=\"/v\"} 1\n"),
                    HasSubstr("controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/v\"} 0\n")));
}

TEST_F(WebhookTest, TwoManagersMayShareTheirMetrics) {
  Add("/v");
  Serve();
  auto setup = SetupOf({.address = ":9444"});
  const auto second = Must(Server::Listen(std::move(setup)));
  Must(second->Start());
  executor_->Run();
  EXPECT_EQ(Ask("/v"), R"(200 {"got":2})");
  EXPECT_THAT(Must(metrics_.Text()), HasSubstr("requests_total{code=\"200\",webhook=\"/v\"} 1\n"));
  second->Close();
}

TEST_F(WebhookTest, IsReadyWhileItServes) {
  Listen();
  EXPECT_THAT(Ready(), HasSubstr("does not serve"));
  Must(server_->Start());
  EXPECT_EQ(Ready(), "ready");
  const auto check = server_->ReadyCheck();
  Must(server_->Stop(1s));
  EXPECT_THAT(Ready(), HasSubstr("stopping"));
  EXPECT_EQ(server_->Start().error().code(), Code::kStopped);
}

TEST_F(WebhookTest, KeepsConnectionsWaitingUntilTheStart) {
  Add("/v");
  Listen();
  const auto client = loop_->Dial();
  executor_->Run();
  EXPECT_FALSE(client->closed());
  Must(server_->Start());
  EXPECT_EQ(server_->Start().error().code(), Code::kInvalidArgument);
  executor_->Run();
  client->Receive(Post("/v", "{}"));
  executor_->Run();
  EXPECT_THAT(client->sent(), HasSubstr("{\"got\":2}"));
}

// Contract: controller 194.
TEST_F(WebhookTest, ServesOnWhileItDrainsAndClosesConnections) {
  Add("/v");
  Serve();
  const auto client = loop_->Dial(), idle = loop_->Dial();
  client->Receive(Post("/v", "{}"));
  executor_->Run();
  EXPECT_THAT(client->sent(), Not(HasSubstr("connection: close")));
  server_->Drain();
  EXPECT_THAT(Ready(), HasSubstr("stopping"));
  executor_->Run();
  EXPECT_FALSE(client->closed() || idle->closed());
  for (const auto& each : {client, loop_->Dial()}) {  // an old connection and a new one
    each->Receive(Post("/v", "{\n}"));
    executor_->Run();
    EXPECT_THAT(each->sent(), HasSubstr("connection: close\r\n\r\n{\"got\":3}"));
    EXPECT_TRUE(each->closed());
  }
  EXPECT_FALSE(idle->closed());
  Must(server_->Stop(30s));
  EXPECT_TRUE(idle->closed());
  EXPECT_FALSE(loop_->listening());
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  Must(server_->Stop(30s));
}

TEST_F(WebhookTest, StopWaitsForReviewsAndForThoseThatAreArriving) {
  const auto handler = Add("/v", [this](std::string_view review, const Call& call) {
    const auto waiter = executor_->MakeWaiter("the function");
    const Timer timer = executor_->clock()->After(2s, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    EXPECT_TRUE(waiter->Wait(call.stop));
    return Echo(review, call);
  });
  Serve();
  const auto running = loop_->Dial(), arriving = loop_->Dial(), idle = loop_->Dial();
  const std::string request = Post("/v", "{}");
  arriving->Receive(request.substr(0, 20));
  running->Receive(request);
  const Timer rest =
      executor_->clock()->After(3s, TimerKind::kProgress, [&] { arriving->Receive(request.substr(20)); });
  const TimePoint begin = executor_->clock()->Now();
  Must(server_->Stop(30s));
  EXPECT_EQ(executor_->clock()->Now(), begin + 5s);
  for (const auto& each : {running, arriving}) {
    EXPECT_THAT(each->sent(), HasSubstr("connection: close\r\n\r\n{\"got\":2}"));
    EXPECT_TRUE(each->closed());
  }
  EXPECT_EQ(idle->sent(), "");
  EXPECT_TRUE(idle->closed());
}

TEST_F(WebhookTest, StopNamesThePathsWhoseFunctionsHang) {
  Gate gate(*executor_);
  Add("/v", gate.Function());
  Add("/convert", gate.Function(), Kind::kConversion);
  Serve();
  const auto one = loop_->Dial(), other = loop_->Dial();
  one->Receive(Post("/v?timeout=30s", "{}"));
  other->Receive(Post("/convert", "{}"));
  std::string message;
  const Timer stop = executor_->clock()->After(1s, TimerKind::kProgress, [&] {
    const auto stopped = server_->Stop(5s);
    message = stopped ? "stopped" : stopped.error().ToString();
  });
  executor_->Run();
  EXPECT_THAT(message, AllOf(HasSubstr("Timeout"), HasSubstr("did not stop within 5s: still running: /convert, /v")));
  EXPECT_TRUE(gate.stopped);
  EXPECT_EQ(gate.inside, 0);
  EXPECT_TRUE(one->closed() && other->closed());
}

TEST_F(WebhookTest, RefusesOptionsThatContradictEachOther) {
  const auto refused = [this](WebhookOptions options) {
    const auto server = Server::Listen(SetupOf(std::move(options)));
    return server ? "accepted" : std::string(ToString(server.error().code())) + " " + server.error().message();
  };
  EXPECT_THAT(refused({.max_review_bytes = 0}),
              AllOf(HasSubstr("InvalidArgument"), HasSubstr("max_review_bytes is 0")));
  EXPECT_THAT(refused({.max_conversion_bytes = 0}), HasSubstr("max_conversion_bytes is 0"));
  EXPECT_THAT(refused({.max_bytes = 1000}), AllOf(HasSubstr("max_bytes is 1000"), HasSubstr("may have 268435456")));
  EXPECT_THAT(refused({.max_concurrent = 0}), HasSubstr("max_concurrent is 0"));
  EXPECT_THAT(refused({.drain = -1s}), HasSubstr("drain is -1s"));
  for (const char* address : {"9443", "", "localhost", "example.com:1"}) {
    EXPECT_THAT(refused({.address = address}),
                AllOf(HasSubstr("Config "), HasSubstr("the webhook server's address '" + std::string(address) + "'")));
  }
  Listen();
  EXPECT_EQ(server_->address(), "[::]:9443");
  EXPECT_THAT(refused({}), AllOf(HasSubstr("Unavailable"), HasSubstr("WebhookOptions::address")));
}

}  // namespace
}  // namespace kgen::testing
