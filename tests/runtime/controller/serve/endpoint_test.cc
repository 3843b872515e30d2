// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the endpoint answers, and its time limits. endpoint_socket_test.cc has sockets, endpoint_access_test.cc tokens.
#include "kgen/controller/endpoint.h"

#include <chrono>
#include <stdexcept>

#include "tests/runtime/controller/serve/endpoint_fixture.h"
#include "tests/support/prometheus_parser.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Contract: controller 36.
TEST_F(EndpointTest, HasAPingCheckIfThereIsNoOther) {
  Listen();
  Start();
  EXPECT_EQ(Ask("/healthz"), "200 ok");
  EXPECT_EQ(Ask("/readyz/"), "200 ok");
  EXPECT_EQ(Ask("/healthz?verbose"), "200 [+]ping ok\nhealthz check passed\n");
  EXPECT_EQ(Ask("/healthz/ping"), "200 ok");
  EXPECT_EQ(Ask("/healthz?exclude=ping&verbose"), "200 [+]ping excluded: ok\nhealthz check passed\n");
}

// Contract: controller 34, 35.
TEST_F(EndpointTest, ListsTheChecksWhenAskedAndWhenOneFails) {
  Listen();
  Check(Kind::kHealth, "alive");
  Check(Kind::kReady, "caches");
  Check(Kind::kReady, "db", false);
  Start();
  EXPECT_EQ(Ask("/healthz"), "200 ok");
  EXPECT_EQ(Ask("/healthz?verbose=1"), "200 [+]alive ok\nhealthz check passed\n");
  EXPECT_THAT(reports_->lines, IsEmpty());
  EXPECT_EQ(Ask("/readyz"), "500 [+]caches ok\n[-]db failed: reason withheld\nreadyz check failed\n");
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(HasSubstr("/readyz/db"), HasSubstr("the secret reason"))));
}

// Contract: controller 35.
TEST_F(EndpointTest, ExcludesChecksAndOnlyNotesAnUnknownName) {
  Listen();
  Check(Kind::kReady, "a");
  Check(Kind::kReady, "db", false);
  Start();
  EXPECT_EQ(Ask("/readyz?exclude=db&exclude=db"), "200 ok");
  EXPECT_EQ(Ask("/readyz?verbose&exclude=db&exclude=x&exclude=y"),
            "200 [+]a ok\n[+]db excluded: ok\nwarn: some health checks cannot be excluded: no matches for "
            "\"x\",\"y\"\nreadyz check passed\n");
  EXPECT_EQ(Ask("/readyz?exclude=x"),
            "500 [+]a ok\n[-]db failed: reason withheld\nwarn: some health checks cannot be excluded: no matches for "
            "\"x\"\nreadyz check failed\n");
}

// Contract: controller 36.
TEST_F(EndpointTest, ServesEachCheckAtItsOwnPath) {
  Listen();
  Check(Kind::kReady, "a");
  Check(Kind::kReady, "db", false);
  Start();
  EXPECT_EQ(Ask("/readyz/a"), "200 ok");
  EXPECT_EQ(Ask("/readyz/db"), "500 internal server error: reason withheld\n");
  EXPECT_THAT(reports_->lines, ElementsAre(HasSubstr("the secret reason")));
  for (const char* path : {"/readyz/ping", "/readyz/x", "/readyz/a/", "/healthz/a", "/healthzz", "/", "/metrics",
                           "/debug", "/readyz//a", "//healthz"}) {
    EXPECT_THAT(Ask(path), StartsWith("404 ")) << path;
  }
}

// Contract: controller 37.
TEST_F(EndpointTest, RefusesABadNameAndAnyNameAfterTheStart) {
  Listen();
  Check(Kind::kReady, "a");
  Check(Kind::kHealth, "a");
  const auto add = [this](std::string_view name) {
    const auto added = server_->Add(Kind::kReady, name, [](const std::stop_token&) { return std::string(); });
    return added ? "added" : added.error().message();
  };
  EXPECT_EQ(add("a"), "endpoint /readyz/a: the name is taken");
  EXPECT_EQ(server_->Add(Kind::kReady, "empty", {}).error().message(), "endpoint /readyz/empty: the function is empty");
  for (const char* name : {"", "a/b", "a b", "\xC3\xA4", "a\n"})
    EXPECT_THAT(add(name), HasSubstr("a name has")) << name;
  Start();
  EXPECT_EQ(add("b"), "endpoint: 'b' was added after Start()");
  EXPECT_EQ(server_->Start().error().code(), Code::kInvalidArgument);
  Must(server_->Stop(0s));
  EXPECT_EQ(server_->Start().error().code(), Code::kStopped);
}

// Contract: controller 38, 41.
TEST_F(EndpointTest, ServesMetrics) {
  Metrics metrics;
  Must(metrics.AddCounter("c_total", "Cats")).Add(3);
  Listen({.metrics = metrics});
  Start();
  const std::string response = Get("/metrics");
  EXPECT_THAT(response, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                              HasSubstr("content-type: text/plain; version=0.0.4; charset=utf-8\r\n")));
  EXPECT_EQ(test_support::ParsePrometheus(BodyOf(response)).at("c_total"), 3);
  EXPECT_THAT(Ask("/metrics/x"), StartsWith("404 "));
  metrics.AddCollector([]() -> std::vector<MetricFamily> { throw std::runtime_error("no queue"); });
  EXPECT_EQ(Ask("/metrics"), "500 internal server error: reason withheld\n");
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(HasSubstr("/metrics"), HasSubstr("no queue"))));
}

TEST_F(EndpointTest, ServesThePageOfSectionsInTheirOrder) {
  Listen();
  Must(server_->AddSection("queues", [] { return controller::DebugSection{.text = "orders: 3"}; }));
  Must(server_->AddSection("informers", []() -> controller::DebugSection { throw std::runtime_error("bug"); }));
  Must(server_->AddSection("a", [] { return controller::DebugSection{.text = "b\n"}; }));
  Start();
  EXPECT_EQ(Ask("/debug"), "200 # queues\norders: 3\n\n# informers\nfailed: reason withheld\n\n# a\nb\n");
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(HasSubstr("/debug/informers"), HasSubstr("bug"))));
  EXPECT_THAT(Ask("/debug/queues"), StartsWith("404 "));
}

TEST_F(EndpointTest, GivesNoBodyToHeadAndRefusesOtherMethods) {
  Listen();
  Start();
  EXPECT_THAT(Send(Request("/healthz", "", "HEAD")),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("content-length: 2\r\n"), Not(HasSubstr("ok"))));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"}) {
    EXPECT_THAT(Send(Request("/healthz", "Content-Length: 2\r\n", method) + "ab"),
                AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("allow: GET, HEAD\r\n")))
        << method;
  }
}

TEST_F(EndpointTest, RefusesHostileRequestsAndCloses) {
  Listen();
  Start();
  for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
           {"rubbish\r\n\r\n", "400"},
           {std::string("\0\xFF\x16\x03\x01\r\n\r\n", 9), "400"},
           {"GET /healthz HTTP/1.1\r\n\r\n", "400"},
           {"GET * HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
           {Request("/healthz", "X: " + std::string(17'000, 'x') + "\r\n"), "431"},
           {"GET /" + std::string(17'000, 'x'), "431"},
           {Request("/healthz", "Content-Length: 20000\r\n", "POST"), "413"},
       }) {
    const auto client = loop_->Dial();
    client->Receive(request);
    executor_->Run();
    EXPECT_EQ(StatusOf(client->sent()), status) << request.substr(0, 40);
    EXPECT_EQ(client->closed(), status != "413") << request.substr(0, 40);  // which first reads what is still sent
    executor_->Advance(90s);
    EXPECT_TRUE(client->closed()) << request.substr(0, 40);
  }
  EXPECT_EQ(Ask("/healthz"), "200 ok");
}

TEST_F(EndpointTest, AnswersPipelinedRequestsAndTargetsInAbsoluteForm) {
  Listen();
  Check(Kind::kReady, "a");
  Start();
  const auto client = loop_->Dial();
  client->Receive(Request("/healthz") + Request("http://h:8080/readyz/a?x") + Request("/nothing"));
  executor_->Run();
  EXPECT_THAT(client->sent(),
              ::testing::MatchesRegex("HTTP/1.1 200 (.|\n)*okHTTP/1.1 200 (.|\n)*okHTTP/1.1 404 (.|\n)*"));
  EXPECT_FALSE(client->closed());
}

// Contract: controller 23.
TEST_F(EndpointTest, ClosesAConnectionWhoseRequestComesTooSlowly) {
  Listen();
  Start();
  const auto silent = loop_->Dial();
  const auto slow = loop_->Dial();
  for (const char c : std::string("GET /healthz HTTP/1.1\r\nHost: h\r\n").substr(0, 31)) {
    slow->Receive(std::string_view(&c, 1));
    executor_->Advance(1s);
  }
  EXPECT_FALSE(slow->closed());
  executor_->Advance(1s);
  EXPECT_TRUE(slow->closed());
  EXPECT_TRUE(silent->closed());
}

// Contract: controller 23.
TEST_F(EndpointTest, ClosesAnIdleConnectionAndGivesEachRequestItsOwnTime) {
  Listen();
  Start();
  const auto client = loop_->Dial();
  executor_->Advance(31s);
  client->Receive(Request("/healthz"));
  executor_->Advance(80s);
  client->Receive("GET /healthz HTTP/1.1\r\n");
  executor_->Advance(31s);
  ASSERT_FALSE(client->closed());
  client->Receive("Host: h\r\n\r\n");
  executor_->Run();
  executor_->Advance(89s);
  EXPECT_FALSE(client->closed());
  executor_->Advance(1s);
  EXPECT_TRUE(client->closed());
}

TEST_F(EndpointTest, ClosesTheConnectionThatWaitsForTheLongestTimeIfThereAreTooMany) {
  Listen();
  Must(server_->Add(Kind::kReady, "slow", [](const std::stop_token&) { return std::string(); }));
  Start();
  std::vector<Shared<ManualStream>> clients;
  for (int i = 0; i < 256; ++i) clients.push_back(loop_->Dial());
  clients[0]->Receive(Request("/readyz"));  // has a request
  clients.push_back(loop_->Dial());
  EXPECT_TRUE(clients[1]->closed());
  clients[2]->Receive("G");
  clients.push_back(loop_->Dial());
  for (int i = 0; i < 258; ++i) EXPECT_EQ(clients[static_cast<std::size_t>(i)]->closed(), i == 1 || i == 2) << i;
  EXPECT_EQ(Ask("/healthz"), "200 ok");
  EXPECT_THAT(clients[0]->sent(), HasSubstr("200 OK"));
}

TEST_F(EndpointTest, KeepsConnectionsWaitingUntilTheStart) {
  Listen();
  const auto client = loop_->Dial();
  executor_->Run();
  EXPECT_FALSE(client->closed());
  Start();
  client->Receive(Request("/healthz"));
  executor_->Run();
  EXPECT_THAT(client->sent(), HasSubstr("200 OK"));
}

TEST_F(EndpointTest, TakesAnExceptionOfACheckForAFailure) {
  Listen();
  Must(server_->Add(Kind::kReady, "a",
                    [](const std::stop_token&) -> Result<std::string> { throw std::runtime_error("broken"); }));
  Start();
  EXPECT_EQ(Ask("/readyz"), "500 [-]a failed: reason withheld\nreadyz check failed\n");
  EXPECT_THAT(reports_->lines, ElementsAre(HasSubstr("broken")));
}

// Contract: controller 38.
TEST_F(EndpointTest, StopClosesIdleConnectionsAndTheListener) {
  Listen();
  const auto early = loop_->Dial();
  Start();
  const auto idle = loop_->Dial();
  idle->Receive(Request("/healthz"));
  executor_->Run();
  EXPECT_THAT(server_->Stop(-1s).error().ToString(), HasSubstr("`limit` is -1s"));
  Must(server_->Stop(30s));
  EXPECT_TRUE(idle->closed());
  EXPECT_TRUE(early->closed());
  EXPECT_FALSE(loop_->listening());
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  Must(server_->Stop(30s));
}

TEST_F(EndpointTest, StopNamesTheFunctionsThatHang) {
  Listen();
  const Shared<Waiter> release = executor_->MakeWaiter("the test");
  Must(server_->Add(Kind::kReady, "hangs", [&](const std::stop_token&) -> Result<std::string> {
    (void)release->Wait();
    return "";
  }));
  std::string message;
  const Timer stop = executor_->manual_clock()->After(1s, TimerKind::kProgress, [&] {
    const auto stopped = server_->Stop(5s);
    message = stopped ? "stopped" : stopped.error().ToString();
    release->Notify();
  });
  Start();
  EXPECT_THAT(message, AllOf(HasSubstr("did not stop within 5s: still running: /readyz/hangs"), HasSubstr("Timeout")));
}

// Contract: controller 34.
TEST_F(EndpointTest, IsOffWithoutAnAddress) {
  Listen({.address = ""});
  EXPECT_EQ(server_->address(), "");
  EXPECT_FALSE(loop_->listening());
  Check(Kind::kReady, "a");
  Must(server_->Start());
  Must(server_->Stop(1s));
}

// Contract: controller 2.
TEST_F(EndpointTest, RefusesAMalformedAddress) {
  for (const char* address : {"0", "8080", "localhost", ":", ":x", ":65536", ":-1", ":80 ", "example.com:80",
                              "1.2.3:80", "::1:80", "[::1]", "[127.0.0.1]:80", "[]:80", "a:b:80"}) {
    const auto server = Server::Listen({.address = address, .executor = executor_}, loop_);
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().code(), Code::kConfig);
    EXPECT_THAT(server.error().message(), HasSubstr("'" + std::string(address) + "'"));
  }
  for (const auto& [address, bound] : {std::pair("127.0.0.1:81", "127.0.0.1:81"), std::pair("[::1]:82", "[::1]:82"),
                                       std::pair("localhost:83", "127.0.0.1:83"), std::pair(":84", "[::]:84")}) {
    Listen({.address = address});
    EXPECT_EQ(server_->address(), bound);
    Must(server_->Stop(1s));
  }
}

}  // namespace
}  // namespace kgen::testing
