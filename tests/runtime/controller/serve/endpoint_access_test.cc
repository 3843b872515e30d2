// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Who may read /metrics and /debug, and TLS: in virtual time, against a scripted API server.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/request/connection_state.h"
#include "net/tls.h"
#include "testing/certificates.h"
#include "tests/runtime/controller/serve/endpoint_fixture.h"
#include "tests/support/fake_transport.h"
#include "tests/support/prometheus_parser.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class EndpointAccessTest : public EndpointTest {
 protected:
  EndpointAccessTest() {
    Metrics metrics;
    Must(metrics.AddCounter("c_total", "Cats"));
    Listen({.metrics = metrics, .authorize = connection_});
    Must(server_->AddSection("queues", [] { return controller::DebugSection{.text = "orders"}; }));
    Must(server_->AddPage("/orders", [](const std::stop_token&) { return EndpointPage{.body = "3 open"}; }));
    Start();
  }
  ~EndpointAccessTest() override {
    transport_->EndAll();
    executor_->Run();
  }

  void Reply(const json& status, int http = 201) {
    transport_->Reply(
        {.status = http, .body = json{{"status", status}}.dump(), .headers = {{"content-type", "application/json"}}});
  }
  void ReplyUser() {
    Reply({{"authenticated", true},
           {"user", {{"username", "prometheus"}, {"uid", "7"}, {"groups", {"g"}}, {"extra", {{"k", {"v"}}}}}}});
  }
  std::string AskWith(const std::string& token, std::string_view path = "/metrics") {
    return Ask(path, "Authorization: Bearer " + token + "\r\n");
  }

  const Shared<FakeTransport> transport_ = MakeShared<FakeTransport>();
  const Connection connection_ = client::ConnectionState::Handle({transport_, executor_, reports_}, {.host = "test"});
};

TEST_F(EndpointAccessTest, AsksForNoTokenAtTheAddressForBrowsers) {
  server_->Close();
  Listen({.address = "127.0.0.1:81", .debug_address = "127.0.0.1:83", .authorize = connection_});
  Must(server_->AddSection("queues", [] { return controller::DebugSection{.text = "orders"}; }));
  Start();
  const auto ask = [this](std::uint16_t port) {
    const auto client = loop_->Dial("127.0.0.1", port);
    client->Receive("GET /debug HTTP/1.1\r\nHost: localhost:83\r\n\r\n");
    executor_->Run();
    return StatusOf(client->sent());
  };
  EXPECT_EQ(ask(83), "200");
  EXPECT_EQ(ask(81), "401");
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, AsksWhoseTheTokenIsAndWhatTheUserMayDo) {
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("secret"), AllOf(StartsWith("200 "), HasSubstr("c_total 0")));
  ASSERT_EQ(transport_->size(), 2u);
  EXPECT_EQ(transport_->request(0).method, "POST");
  EXPECT_THAT(transport_->request(0).path, StartsWith("/apis/authentication.k8s.io/v1/tokenreviews"));
  EXPECT_EQ(transport_->request(0).body,
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"secret"}})");
  EXPECT_THAT(transport_->request(1).path, StartsWith("/apis/authorization.k8s.io/v1/subjectaccessreviews"));
  EXPECT_EQ(json::parse(transport_->request(1).body)["spec"],
            json({{"user", "prometheus"},
                  {"uid", "7"},
                  {"groups", {"g"}},
                  {"extra", {{"k", {"v"}}}},
                  {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}}));
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, KeepsTheUserForAMinuteAndPermissionForFive) {
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
  executor_->Advance(59s);
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
  EXPECT_EQ(transport_->size(), 2u);
  executor_->Advance(1s);
  ReplyUser();
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));  // permission is still known
  EXPECT_EQ(transport_->size(), 3u);
  executor_->Advance(4min);
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
  EXPECT_EQ(transport_->size(), 5u);
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, RefusesAUserWhoIsNotAllowedForHalfAMinute) {
  ReplyUser();
  Reply({{"allowed", false}});
  EXPECT_EQ(AskWith("secret"), "403 Authorization denied for user prometheus\n");
  executor_->Advance(29s);
  EXPECT_THAT(AskWith("secret"), StartsWith("403 "));
  EXPECT_EQ(transport_->size(), 2u);
  executor_->Advance(1s);
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
  // Another path is another question.
  Reply({{"allowed", false}});
  EXPECT_THAT(AskWith("secret", "/debug"), StartsWith("403 "));
  EXPECT_THAT(reports_->lines, IsEmpty());
}

TEST_F(EndpointAccessTest, AsksForPagesOfTheUsersOwnByTheirPath) {
  EXPECT_THAT(Ask("/orders"), StartsWith("401 "));
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_EQ(AskWith("secret", "/orders?all"), "200 3 open");
  EXPECT_EQ(json::parse(transport_->request(1).body)["spec"]["nonResourceAttributes"],
            json({{"path", "/orders"}, {"verb", "get"}}));
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, RefusesARequestWithoutAValidToken) {
  for (const char* header :
       {"", "Authorization: Basic abc\r\n", "Authorization: Bearer \r\n", "Authorization: Bearer\r\n",
        "Authorization: Bearer a b\r\n", "Authorization: Bearer \xFF\r\n", "Authorization: Bearer a\"b\r\n"}) {
    EXPECT_THAT(Get("/metrics", header), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("www-authenticate: Bearer\r\n")))
        << header;
  }
  EXPECT_EQ(transport_->size(), 0u);
  for (const json& status : {json{{"authenticated", false}, {"error", "expired"}}, json{{"authenticated", "true"}},
                             json{{"authenticated", true}}, json(), json(7)}) {
    Reply(status);
    EXPECT_EQ(AskWith("t" + std::to_string(transport_->size())), "401 Unauthorized\n") << status;
  }
  EXPECT_EQ(transport_->size(), 5u);
  EXPECT_EQ(AskWith("t0"), "401 Unauthorized\n");  // known
  EXPECT_EQ(transport_->size(), 5u);
}

TEST_F(EndpointAccessTest, RefusesATokenIfTheAnswerIsNoTokenReviewWithAUser) {
  const json user = {{"username", "prometheus"}};
  for (const json& status :
       {json{{"authenticated", "true"}, {"user", user}}, json{{"authenticated", true}}, json("x")}) {
    Reply(status);
    EXPECT_THAT(AskWith("secret" + std::to_string(transport_->size())), StartsWith("401 ")) << status;
  }
  transport_->Reply(
      {.status = 201,
       .body =
           json{{"apiVersion", "v1"}, {"kind", "Status"}, {"status", {{"authenticated", true}, {"user", user}}}}.dump(),
       .headers = {{"content-type", "application/json"}}});
  EXPECT_THAT(AskWith("other"), StartsWith("401 "));
}

TEST_F(EndpointAccessTest, NeedsNoTokenForHealth) {
  EXPECT_EQ(Ask("/healthz"), "200 ok");
  EXPECT_THAT(Ask("/debug"), StartsWith("401 "));
  EXPECT_THAT(Ask("/nothing"), StartsWith("404 "));
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, AsksAgainWhileTheServerCannotAnswer) {
  const auto client = loop_->Dial();
  for (int i = 0; i < 4; ++i)
    transport_->Reply({.status = 500, .body = "busy", .headers = {{"content-type", "text/plain"}}});
  ReplyUser();
  Reply({{"allowed", true}});
  client->Receive(Request("/metrics", "authorization: bearer secret\r\n"));
  executor_->Run();
  EXPECT_EQ(transport_->size(), 1u);
  for (const auto& [pause, requests] : {std::pair(500ms, 2u), std::pair(750ms, 3u), std::pair(1125ms, 4u)}) {
    executor_->Advance(pause - 1ms);
    EXPECT_EQ(transport_->size(), requests - 1);
    executor_->Advance(1ms);
    EXPECT_EQ(transport_->size(), requests);
  }
  executor_->Advance(2s);
  EXPECT_THAT(client->sent(), HasSubstr("200 OK"));
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, AnswersWithAnErrorIfTheServerNeverAnswers) {
  for (int i = 0; i < 5; ++i) transport_->Reply({.status = 0, .broken = Error(Code::kUnavailable, "refused")});
  const auto client = loop_->Dial();
  client->Receive(Request("/metrics", "Authorization: Bearer secret\r\n"));
  executor_->Advance(10s);
  EXPECT_EQ(transport_->size(), 5u);
  EXPECT_THAT(client->sent(), AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("Authentication failed")));
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(HasSubstr("/metrics"), HasSubstr("refused"))));

  // A silent server: the review ends after ten seconds.
  transport_->Hold();
  const auto other = loop_->Dial();
  other->Receive(Request("/metrics", "Authorization: Bearer secret\r\n"));
  executor_->Advance(9999ms);
  EXPECT_EQ(other->sent(), "");
  executor_->Advance(1ms);
  EXPECT_THAT(other->sent(), HasSubstr("Authentication failed"));
  // An error of the program, such as a missing role, is not tried again.
  ReplyUser();
  Reply({}, 403);
  EXPECT_EQ(AskWith("secret"), "500 Authorization for user prometheus failed\n");
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, ReviewsALimitedNumberOfUnknownTokensAtATime) {
  for (int i = 0; i < 16; ++i) transport_->Hold();
  std::vector<Shared<ManualStream>> clients;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(loop_->Dial());
    clients.back()->Receive(Request("/metrics", "Authorization: Bearer t" + std::to_string(i) + "\r\n"));
  }
  executor_->Run();
  EXPECT_EQ(transport_->size(), 16u);
  EXPECT_EQ(clients[0]->sent(), "");
  EXPECT_THAT(clients[16]->sent(), AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("retry-after: 1\r\n")));
  executor_->Advance(10s);
  EXPECT_THAT(clients[0]->sent(), HasSubstr("Authentication failed"));
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("next"), StartsWith("200 "));
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, ReviewsALimitedNumberOfUnknownTokensInATime) {
  auto ask = [this, token = 0]() mutable {
    Reply({{"authenticated", false}});
    return Ask("/metrics", "Authorization: Bearer t" + std::to_string(token++) + "\r\n").substr(0, 3);
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(), "401") << i;
  EXPECT_EQ(ask(), "429");
  executor_->Advance(1s);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(), "401") << i;
  EXPECT_EQ(ask(), "429");
  EXPECT_EQ(transport_->size(), 30u);
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, KeepsAUserWhoseTokenIsKnownWhileStrangersComeInAnyNumber) {
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
  for (int i = 0; i < 500; ++i) {
    Reply({{"authenticated", false}});
    AskWith("t" + std::to_string(i));
    executor_->Advance(100ms);
    if (i % 100 == 0) {
      EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
    }
  }
  EXPECT_EQ(transport_->size(), 502u);
  // Its next review does not wait in the line of strangers.
  for (int i = 0; i < 16; ++i) transport_->Hold();
  std::vector<Shared<ManualStream>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(loop_->Dial());
    clients.back()->Receive(Request("/metrics", "Authorization: Bearer u" + std::to_string(i) + "\r\n"));
  }
  executor_->Advance(11s);
  for (int i = 0; i < 16; ++i) transport_->Hold();
  for (int i = 0; i < 20; ++i) {
    clients.push_back(loop_->Dial());
    clients.back()->Receive(Request("/metrics", "Authorization: Bearer v" + std::to_string(i) + "\r\n"));
  }
  executor_->Run();
  EXPECT_THAT(AskWith("w"), StartsWith("429 "));
  ReplyUser();
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
}

// Contract: controller 40.
TEST_F(EndpointAccessTest, TakesATokenThatIsNoLongerValidForAStrangers) {
  ReplyUser();
  Reply({{"allowed", true}});
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
  executor_->Advance(1min);
  Reply({{"authenticated", false}});
  EXPECT_THAT(AskWith("secret"), StartsWith("401 "));
  executor_->Advance(1min);
  ReplyUser();
  EXPECT_THAT(AskWith("secret"), StartsWith("200 "));
}

class EndpointTlsTest : public EndpointTest {
 protected:
  EndpointTlsTest() {
    char folder[] = "endpoint_tls_test_XXXXXX";
    if (mkdtemp(folder) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = std::filesystem::absolute(folder);
    Write(identity_);
  }
  ~EndpointTlsTest() override { std::filesystem::remove_all(folder_); }

  TlsFiles Files() const { return {(folder_ / "tls.crt").string(), (folder_ / "tls.key").string()}; }
  void Write(const Identity& identity) {
    std::ofstream(Files().certificate_file) << identity.certificate_pem;
    std::ofstream(Files().key_file) << identity.key_pem;
  }
  // A client that accepts the certificate of this name only. What it gets for /healthz, or why the handshake failed.
  std::string Fetch(const std::string& name) {
    auto context = Must(net::TlsContext::ForClient({.ca_data = authority_->certificate_pem()}));
    auto engine = Must(net::TlsEngine::Client(context, name));
    const auto server = loop_->Dial();
    std::size_t read = 0;
    bool asked = false;
    std::string response;
    for (int i = 0; i < 10; ++i) {
      engine.Feed(server->sent().substr(read));
      read = server->sent().size();
      const auto open = engine.Handshake();
      if (!open) return open.error().message();
      if (*open && !std::exchange(asked, true)) Must(engine.Write(Request("/healthz")));
      char bytes[4096];
      if (*open) response.append(bytes, engine.Read(bytes).value_or(0));
      server->Receive(engine.TakeOutput());
      executor_->Run();
    }
    return response;
  }

  const Shared<CertificateAuthority> authority_ = Must(CertificateAuthority::Make());
  const Identity identity_ = Must(authority_->Issue({.names = {"old.example"}}));
  std::filesystem::path folder_;
};

// Contract: controller 39, 205, 213.
TEST_F(EndpointTlsTest, ServesTheLatestPairOfFilesThatBelongTogether) {
  Metrics metrics;
  Listen({.tls = Files(), .metrics = metrics});
  const auto count = [&metrics](const std::string& name) {
    return test_support::ParsePrometheus(Must(metrics.Text())).at("certwatcher_read_certificate_" + name);
  };
  Start();
  EXPECT_THAT(Fetch("old.example"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\n\r\nok")));
  EXPECT_EQ(count("total"), 1);
  EXPECT_EQ(count("errors_total"), 0);

  const Identity fresh = Must(authority_->Issue({.names = {"new.example"}}));
  Write({fresh.certificate_pem, identity_.key_pem});  // half of it
  executor_->Advance(10s);
  EXPECT_THAT(Fetch("old.example"), HasSubstr("200 OK"));
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(HasSubstr("tls.crt"), HasSubstr("is not the key of"))));
  EXPECT_EQ(count("errors_total"), 1);

  Write(fresh);
  executor_->Advance(9s);
  EXPECT_THAT(Fetch("old.example"), HasSubstr("200 OK"));
  executor_->Advance(1s);
  EXPECT_THAT(Fetch("new.example"), HasSubstr("200 OK"));
  EXPECT_THAT(Fetch("old.example"), HasSubstr("the server's certificate is not for old.example"));

  std::filesystem::remove(Files().key_file);
  executor_->Advance(20s);
  EXPECT_THAT(Fetch("new.example"), HasSubstr("200 OK"));
  EXPECT_EQ(count("total"), 5);
  EXPECT_EQ(count("errors_total"), 3);
}

// Contract: controller 2, 205.
TEST_F(EndpointTlsTest, FailsIfTheFilesCannotBeUsed) {
  for (const TlsFiles& files : {TlsFiles{"/nothing.crt", "/nothing.key"}, TlsFiles{Files().key_file, Files().key_file},
                                TlsFiles{Files().certificate_file, Files().certificate_file}}) {
    const auto server = Server::Listen({.tls = files, .executor = executor_}, loop_);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code(), Code::kConfig);
    EXPECT_THAT(server.error().ToString(), HasSubstr(files.certificate_file)) << server.error();
  }
}

TEST_F(EndpointTlsTest, RefusesOneFileWithoutTheOther) {
  for (const TlsFiles& files : {TlsFiles{Files().certificate_file, ""}, TlsFiles{"", Files().key_file}}) {
    const auto server = Server::Listen({.tls = files, .executor = executor_}, loop_);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code(), Code::kConfig);
    const std::string named = files.key_file.empty() ? "certificate" : "key";
    EXPECT_THAT(server.error().message(), HasSubstr("only the file of the " + named + " is named"));
  }
}

TEST_F(EndpointTlsTest, SurvivesAClientWithoutTls) {
  Listen({.tls = Files()});
  Start();
  const auto client = loop_->Dial();
  client->Receive(Request("/healthz"));
  executor_->Run();
  EXPECT_TRUE(client->closed());
  EXPECT_THAT(Fetch("old.example"), HasSubstr("200 OK"));
}

}  // namespace
}  // namespace kgen::testing
