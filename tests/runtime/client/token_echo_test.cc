// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A server, or something in front of it, sends the token back: no error, Status or event shows it.
#include <chrono>
#include <optional>

#include "kgen/client/log_stream.h"
#include "kgen/client/resource_client.h"
#include "kgen/client/subresources.h"
#include "kgen/client/watcher.h"
#include "kgen/core/object_meta.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;
using LoggedWidgetsClient =
    ResourceClient<Widget, WidgetList, Verbs::kStandard, Subresource<"log", std::string, Verbs::kGet>>;

constexpr const char* kToken = "eyJhbGciOi.sEcReT-token_123";

class TokenEchoTest : public ClientTest {
 protected:
  Connection Logged() {
    Settings settings = Defaults();
    settings.token = kToken;
    return MakeConnection(std::move(settings));
  }
  static std::string StatusWith(const std::string& text) {
    return R"({"kind":"Status","status":"Failure","reason":"Expired","message":")" + text + R"(","x":")" + text +
           R"(","details":{"name":")" + text + R"(","causes":[{"message":")" + text + R"("}]}})";
  }
  // The head of the next response comes once the caller waits for it.
  Timer Begin(std::vector<HttpHeader> headers = {}) {
    transport_->Hold();
    return executor_->clock()->After(1s, TimerKind::kProgress,
                                     [this, headers = std::move(headers)] { transport_->last().Head(200, headers); });
  }
};

auto IsHidden() { return AllOf(HasSubstr("(hidden)"), Not(HasSubstr("sEcReT"))); }

TEST_F(TokenEchoTest, NoErrorShowsTheToken) {
  const Connection connection = Logged();
  transport_->Reply({});
  EXPECT_TRUE(connection.Call(Get()).has_value()) << "from here on, the token is known";
  const std::string echo = std::string("got Bearer ") + kToken + " here";
  const std::string status = R"({"kind":"Status","status":"Failure","reason":"Invalid","message":")" + echo +
                             R"(","details":{"causes":[{"field":"f","message":")" + echo + R"("}]}})";
  const FakeReply replies[] = {
      {.status = 422, .body = status},
      {.status = 200, .body = status},
      {.status = 502, .body = "<html>" + echo + "</html>", .headers = {{"content-type", "text/html"}}},
      {.status = 200, .body = "<html>" + echo + "</html>", .headers = {{"content-type", "text/html"}}},
      {.status = 302, .headers = {{"location", std::string("https://login/?got=") + kToken + "/" + kToken}}},
      // The excerpt ends in the middle of the token.
      {.status = 500, .body = std::string(2030, 'x') + kToken, .headers = {{"content-type", "text/plain"}}},
      {.status = 0, .broken = Error(Code::kUnavailable, "the server closed the connection: " + echo)},
      {.status = 0, .broken = Error::NotConnected("no: " + echo)},
  };
  for (const FakeReply& reply : replies) {
    transport_->Reply(reply);
    ApiRequest request = Post();
    request.json = true;
    const auto response = connection.Call(std::move(request));
    ASSERT_FALSE(response.has_value()) << reply.body;
    const Error& error = response.error();
    EXPECT_THAT(error.ToString(), AllOf(HasSubstr("create pods"), Not(HasSubstr("sEcReT")))) << reply.body;
    EXPECT_EQ(error.not_connected(), reply.broken && reply.broken->not_connected());
    if (error.status() == nullptr) continue;
    EXPECT_THAT(error.status()->message.str(), Not(HasSubstr("sEcReT")));
    for (const auto& cause : error.status()->details->causes) {
      EXPECT_THAT(cause.message.str(), Not(HasSubstr("eyJhbG")));
    }
  }
}

TEST_F(TokenEchoTest, SaysWhereTheTokenWas) {
  transport_->Reply({.status = 401, .body = std::string("bad token '") + kToken + "'"});
  const auto response = Logged().Call(Post());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), Code::kUnauthorized);
  EXPECT_THAT(response.error().ToString(), HasSubstr("bad token '(hidden)'"));
}

TEST_F(TokenEchoTest, NoErrorInsideOfAWatchShowsTheToken) {
  const std::string error = R"({"type":"ERROR","object":)" + StatusWith(kToken) + "}";
  const std::string unknown = std::string(R"({"type":")") + kToken + R"(","object":{}})";
  const std::string wrong_kind = std::string(R"({"type":"ADDED","object":{"kind":")") + kToken + R"("}})";
  for (const std::string& event : {error, unknown, wrong_kind}) {
    const Timer begin = Begin();
    Watcher<Widget> watcher = Must(LoggedWidgetsClient(Logged(), "default").Watch());
    transport_->last().Bytes(event);
    const auto next = watcher.Next();
    ASSERT_FALSE(next.has_value());
    EXPECT_THAT(next.error().ToString(), IsHidden()) << event;
    if (const meta::v1::Status* status = next.error().status()) {
      EXPECT_EQ(status->details->name, "(hidden)");
      EXPECT_EQ(status->details->causes[0].message, "(hidden)");
      EXPECT_TRUE(status->unknown_fields.empty());
    }
  }
}

TEST_F(TokenEchoTest, NoErrorThatEndsALogShowsTheToken) {
  const Timer begin = Begin({{"content-type", "text/plain"}});
  LogStream log = Must(StreamLogs(LoggedWidgetsClient(Logged(), "default"), "a", {.follow = true}));
  transport_->last().Bytes(std::string(kToken) + "\n");
  transport_->last().End(Fail(Code::kUnavailable, std::string("reset: ") + kToken));
  EXPECT_EQ(Must(log.Next()), kToken) << "the log itself is the caller's";
  EXPECT_THAT(log.Next().error().ToString(), IsHidden());
}

TEST_F(TokenEchoTest, NoErrorOfDecodingShowsTheToken) {
  const LoggedWidgetsClient client(Logged(), "default");
  transport_->Reply({.body = std::string(R"({"kind":")") + kToken + R"("})"});
  EXPECT_THAT(client.Get("a").error().ToString(), IsHidden());
  transport_->Reply(
      {.body = std::string(R"({"apiVersion":"test.kgen.dev/v1","items":[],"kind":")") + kToken + R"("})"});
  EXPECT_THAT(client.List().error().ToString(), IsHidden());
}

TEST_F(TokenEchoTest, NoErrorShowsTheTokenOfAnEarlierAttempt) {
  Settings settings = Defaults();
  settings.token = "the-new-token-that-is-sent-now";
  const Connection connection = MakeConnection(std::move(settings));
  client::ConnectionState::Of(connection)->sent.Add(kToken);
  transport_->Reply({.status = 401, .body = std::string("old token ") + kToken});
  EXPECT_THAT(connection.Call(Post()).error().ToString(), IsHidden());
}

TEST_F(TokenEchoTest, NoErrorShowsTheBeginningOfATokenThatWasCut) {
  transport_->Reply({.status = 400, .body = "bad: " + std::string(kToken).substr(0, 20)});
  EXPECT_THAT(Logged().Call(Post()).error().ToString(), IsHidden());
}

TEST_F(TokenEchoTest, AnErrorShowsTextAgainThatIsNoTokenAnyMore) {
  transport_->Reply({.body = "{}"});
  {
    const Connection connection = Logged();
    EXPECT_TRUE(connection.Call(Get()).has_value());
    EXPECT_EQ(Error(Code::kServer, kToken).message(), "(hidden)");
    transport_->EndAll();
  }
  EXPECT_EQ(Error(Code::kServer, kToken).message(), kToken);
}

TEST_F(TokenEchoTest, NoEventShowsTheToken) {
  struct Texts final : Observer {
    void OnFieldRefused(const FieldRefused& event) override { all.emplace_back(event.message); }
    void OnHandlerFailed(const HandlerFailed& event) override { all.emplace_back(event.what); }
    void OnLogged(const Logged& event) override { all.emplace_back(event.message); }
    void OnEventDropped(const EventDropped& event) override { all.emplace_back(event.why); }
    void OnServerWarned(const ServerWarned& event) override { all.emplace_back(event.message); }
    std::vector<std::string> all;
  };
  const auto texts = MakeShared<Texts>();
  Settings settings = Defaults();
  settings.token = kToken;
  const Connection connection = client::ConnectionState::Handle({transport_, executor_, texts}, std::move(settings));
  transport_->Reply({.body = "{}"});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  Observer& to = connection.observer();
  to.OnFieldRefused({.informer = {}, .path = {}, .message = kToken});
  to.OnHandlerFailed({.informer = {}, .what = kToken});
  to.OnLogged({.source = {}, .key = {}, .message = kToken});
  to.OnEventDropped({.about = {}, .why = kToken});
  to.OnServerWarned({.what = {}, .message = kToken});
  EXPECT_THAT(texts->all, ::testing::ElementsAre("(hidden)", "(hidden)", "(hidden)", "(hidden)", "(hidden)"));
}

TEST_F(TokenEchoTest, NoWarningShowsTheToken) {
  struct Warnings final : Observer {
    void OnServerWarned(const ServerWarned& event) override { text += event.message; }
    std::string text;
  };
  const auto warnings = MakeShared<Warnings>();
  Settings settings = Defaults();
  settings.token = kToken;
  const Connection connection = client::ConnectionState::Handle({transport_, executor_, warnings}, std::move(settings));
  transport_->Reply({.body = "{}", .headers = {{"warning", std::string("299 - \"seen ") + kToken + "\""}}});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_EQ(warnings->text, "seen (hidden)");
}

}  // namespace
}  // namespace kgen::testing
