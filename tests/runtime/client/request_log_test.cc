// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Requests in a log, and what never is.
#include "client/request/request_log.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/core/log.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kBegin = "2023-11-14T22:13:20.000Z ";
constexpr const char* kHiddenToken = "eyJhbGciOi.sEcReT-token_456";

class RequestLogTest : public ClientTest {
 protected:
  // The connection of a log with these levels, which sends kHiddenToken.
  Connection Logging(std::string levels, LogFormat format = LogFormat::kText) {
    log_ =
        MakeLogObserver({.format = format,
                         .sink = FunctionSink([this](LogLevel, std::string_view line) { lines_.emplace_back(line); }),
                         .levels = std::move(levels),
                         .clock = executor_->clock()});
    Settings settings = Defaults();
    settings.token = kHiddenToken;
    settings.host = "https://test/base";
    settings.base_path = "/base";
    return client::ConnectionState::Handle({transport_, executor_, log_}, std::move(settings));
  }
  // Answers the next request after that time.
  Timer AnswerAfter(Nanos delay, int status, std::string body, std::vector<HttpHeader> headers = {}) {
    transport_->Hold();
    return executor_->clock()->After(delay, TimerKind::kProgress,
                                     [this, status, body = std::move(body), headers = std::move(headers)] {
                                       transport_->last().Head(status, headers);
                                       transport_->last().Bytes(body);
                                       transport_->last().End();
                                     });
  }

  Shared<LogObserver> log_;
  std::vector<std::string> lines_;
};

TEST_F(RequestLogTest, WritesMethodUrlStatusAndMillisecondsAtDebug) {
  const Connection connection = Logging("client=debug");
  const Timer answer = AnswerAfter(12ms, 200, "{}");
  EXPECT_TRUE(connection.Call({.path = "/api/v1/pods", .query = "limit=5", .timeout = kNoLimit}).has_value());
  EXPECT_THAT(lines_,
              ElementsAre("2023-11-14T22:13:20.012Z DEBUG kgen: GET https://test/base/api/v1/pods?limit=5 200 in "
                          "12 milliseconds\n"));
}

TEST_F(RequestLogTest, WritesFieldsInAStructuredLog) {
  const Connection connection = Logging("client=debug", LogFormat::kLogfmt);
  const Timer answer = AnswerAfter(1500us, 404, R"({"kind":"Status","reason":"NotFound"})");
  EXPECT_FALSE(connection.Call({.path = "/api/v1/pods", .what = "list pods", .timeout = kNoLimit}).has_value());
  EXPECT_THAT(lines_, ElementsAre(EndsWith(" level=debug component=client message=request method=GET "
                                           "url=https://test/base/api/v1/pods request=\"list pods\" status=404 "
                                           "milliseconds=1.5 attempt=1\n")));
}

TEST_F(RequestLogTest, WritesNothingBelowItsLevel) {
  const Connection connection = Logging("trace,client=info");
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_TRUE(log_->SetLevels("client=debug").has_value());
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(RequestLogTest, ReportsRequestsOnlyToObserversThatWantThem) {
  struct Counting final : Observer {
    bool IsEnabled(LogComponent component, LogLevel level) const noexcept override {
      return component == LogComponent::kClient && level <= most;
    }
    void OnRequested(const Requested& event) override { counts.emplace_back(event.detailed); }
    LogLevel most = LogLevel::kInfo;
    std::vector<bool> counts;
  };
  const auto counting = MakeShared<Counting>();
  const Connection connection = client::ConnectionState::Handle({transport_, executor_, counting}, Defaults());
  for (const LogLevel most : {LogLevel::kInfo, LogLevel::kDebug, LogLevel::kTrace}) {
    counting->most = most;
    transport_->Reply({.body = "{}"});
    EXPECT_TRUE(connection.Call(Get()).has_value());
  }
  EXPECT_THAT(counting->counts, ElementsAre(false, true));
}

TEST_F(RequestLogTest, WritesEachAttemptAndWhyItFailed) {
  const Connection connection = Logging("client=debug");
  transport_->Reply({.status = 0, .broken = Error(Code::kUnavailable, "reset by peer"), .lost = true});
  transport_->Reply({.status = 429, .body = "{}", .headers = {{"retry-after", "1"}}});
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection.Call({.path = "/a", .timeout = kNoLimit}).has_value());
  const std::string begin = " DEBUG kgen: GET https://test/base/a ";
  EXPECT_THAT(lines_, ElementsAre(EndsWith(begin + "failed in 0 milliseconds: reset by peer (Unavailable)\n"),
                                  EndsWith(begin + "429 in 0 milliseconds, attempt 2\n"),
                                  EndsWith(begin + "200 in 0 milliseconds, attempt 3\n")));
}

TEST_F(RequestLogTest, WritesATimeout) {
  const Connection connection = Logging("client=debug");
  transport_->Hold();
  EXPECT_FALSE(connection.Call({.path = "/a", .timeout = 2s}).has_value());
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("/a?timeout=2s failed in 2000 milliseconds: no answer within 2s")));
}

TEST_F(RequestLogTest, WritesAWatchOnceItIsOpen) {
  struct Nothing final : StreamSink {
    void OnOpen() override {}
    void OnBytes(std::string_view) override {}
    void OnEnd(Result<void>) override {}
  };
  const Connection connection = Logging("client=trace");
  transport_->Hold();
  const auto call = connection.Stream({.path = "/api/v1/pods", .query = "watch=true", .watch = true},
                                      executor_->MakeStrand("watch"), MakeShared<Nothing>());
  executor_->Run();
  EXPECT_THAT(lines_, IsEmpty());
  transport_->last().Head(200, {{"content-type", "application/json"}});
  executor_->Run();
  transport_->last().Bytes(R"({"type":"ADDED"})");
  transport_->last().End();
  executor_->Run();
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("?watch=true 200 in 0 milliseconds"), Not(HasSubstr("ADDED")))));
}

TEST_F(RequestLogTest, WritesHeadersAndTheBeginningOfBodiesAtTrace) {
  const Connection connection = Logging("client=trace");
  ApiRequest request = Post();
  request.path = "/api/v1/namespaces/default/pods";
  request.content_type = "application/json";
  request.body = R"({"kind":"Pod"})";
  request.timeout = kNoLimit;
  transport_->Reply({.status = 201,
                     .body = "{\"filler\":\"" + std::string(5000, 'x') + "\"}",
                     .headers = {{"content-type", "application/json"}, {"set-cookie", "sEcReT"}},
                     .piece = 100});
  EXPECT_TRUE(connection.Call(std::move(request)).has_value());
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_EQ(lines_.front(),
            std::string(kBegin) +
                "TRACE kgen: POST https://test/base/api/v1/namespaces/default/pods 201 in 0 milliseconds; request "
                "headers: accept: application/json, user-agent: test/kgen, authorization: (hidden), content-type: "
                "application/json; request body: {\"kind\":\"Pod\"}; response headers: content-type: "
                "application/json, set-cookie: (hidden); response body: {\"filler\":\"" +
                std::string(1013, 'x') + "... (5013 bytes)\n");
}

TEST_F(RequestLogTest, WritesTheSizeOfABodyThatIsNotText) {
  const Connection connection = Logging("client=trace");
  ApiRequest request = Get();
  request.accept = "application/vnd.kubernetes.protobuf";
  const std::vector<HttpHeader> headers = {{"content-type", "application/vnd.kubernetes.protobuf"}};
  transport_->Reply({.body = std::string("k8s\0binary", 10), .headers = headers});
  EXPECT_TRUE(connection.Call(std::move(request)).has_value());
  EXPECT_THAT(lines_, ElementsAre(EndsWith("response body: (10 bytes)\n")));
}

// What a log at the highest level must never have. Each row has a path, and what the request and the response hold.
struct Private {
  const char* what;
  const char* method;
  const char* path;
  bool watch = false;
  bool text = false;
};

constexpr Private kPrivate[] = {
    {"a Secret", "GET", "/api/v1/namespaces/default/secrets/db"},
    {"a Secret that is created", "POST", "/api/v1/namespaces/default/secrets"},
    {"a Secret that is patched", "PATCH", "/api/v1/namespaces/default/secrets/db"},
    {"Secrets of a namespace", "GET", "/api/v1/namespaces/default/secrets"},
    {"Secrets of all namespaces", "GET", "/api/v1/secrets"},
    {"Secrets under an escaped path", "GET", "/api/v1/%73ecret%53"},
    {"a watch of Secrets", "GET", "/api/v1/secrets", true},
    {"an old watch of Secrets", "GET", "/api/v1/watch/secrets", true},
    {"a ServiceAccount's token", "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token"},
    {"a TokenRequest", "POST", "/apis/authentication.k8s.io/v1/tokenrequests"},
    {"a TokenReview", "POST", "/apis/authentication.k8s.io/v1/tokenreviews"},
    {"a SelfSubjectReview", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"},
    {"a SubjectAccessReview", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"},
    {"a local one", "POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews"},
    {"a SelfSubjectAccessReview", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
    {"a SelfSubjectRulesReview", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"},
    {"a CertificateSigningRequest", "POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests"},
    {"its approval", "PUT", "/apis/certificates.k8s.io/v1/certificatesigningrequests/me/approval"},
    {"what a proxied service says", "GET", "/api/v1/namespaces/default/services/web/proxy/login"},
    {"the log of a pod", "GET", "/api/v1/namespaces/default/pods/web-0/log", false, true},
    {"the log of a pod as it comes", "GET", "/api/v1/namespaces/default/pods/web-0/log", true, true},
};

TEST_F(RequestLogTest, NeverWritesWhatIsPrivate) {
  const std::vector<HttpHeader> headers = {{"content-type", "application/json"},
                                           {"set-cookie", "sEcReT"},
                                           {"x-remote-token", "sEcReT"},
                                           {"warning", std::string("299 - \"you sent ") + kHiddenToken + "\""}};
  for (const Private& row : kPrivate) {
    for (const int status : {200, 403}) {
      for (const LogFormat format : {LogFormat::kText, LogFormat::kLogfmt, LogFormat::kJson}) {
        SCOPED_TRACE(std::string(row.what) + ", status " + std::to_string(status));
        lines_.clear();
        const Connection connection = Logging("trace", format);
        transport_->Reply({.status = status,
                           .body = R"({"kind":"Status","data":{"password":"c0VjUmVUsEcReT"},"message":"sEcReT"})",
                           .headers = headers});
        ApiRequest request = {.method = row.method, .path = row.path, .query = "pretty=sEcReT"};
        if (row.text) request.query = "";
        request.body = R"({"token":"sEcReT"})";
        request.content_type = "application/json";
        request.watch = row.watch;
        request.text = row.text;
        request.timeout = kNoLimit;
        (void)connection.Call(std::move(request));
        ASSERT_FALSE(lines_.empty());
        EXPECT_TRUE(lines_.back().contains(row.path)) << lines_.back();
        for (const std::string& line : lines_) EXPECT_FALSE(line.contains("sEcReT")) << line;
      }
    }
  }
}

TEST_F(RequestLogTest, NeverWritesATokenThatAServerSendsBack) {
  const Connection connection = Logging("trace");
  const std::string token = kHiddenToken;
  const auto filled = [](std::string text, std::size_t size) { return text += std::string(size - text.size(), 'x'); };
  // Also where the rest of it is cut off: from what is shown, and from what is kept, of which earlier tokens shorten
  // what is shown.
  const std::string bodies[] = {token, filled("", 1016) + token + filled("", 900),
                                filled(token + token + token + token, 1080) + token + filled("", 900)};
  for (const std::string& body : bodies) {
    transport_->Reply(
        {.body = R"("x)" + body + '"', .headers = {{"content-type", "application/json"}, {"warning", kHiddenToken}}});
    ApiRequest request = Get("/api/v1/" + token);
    request.query = "fieldManager=" + token;
    EXPECT_TRUE(connection.Call(std::move(request)).has_value());
    ASSERT_FALSE(lines_.empty());
    EXPECT_FALSE(lines_.back().contains("eyJhb")) << lines_.back();
    EXPECT_TRUE(lines_.back().contains("(hidden)") && lines_.back().contains("response body: \"x")) << lines_.back();
  }
}

TEST_F(RequestLogTest, ShowsTheBodiesOfOtherResources) {
  for (const char* path : {"/api/v1/configmaps", "/apis/apps/v1/deployments", "/api/v1/namespaces/a/pods/tokens"}) {
    EXPECT_FALSE(client::HidesBodies(path)) << path;
  }
  EXPECT_FALSE(client::HidesBodies("/api/v1/pods?labelSelector=a/secrets"));
}

}  // namespace
}  // namespace kgen::testing
