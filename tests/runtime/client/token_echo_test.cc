// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A server, or something in front of it, sends the token back: no error, Status or warning shows it.
#include "kgen/core/object_meta.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kToken = "eyJhbGciOi.sEcReT-token_123";

class TokenEchoTest : public ClientTest {
 protected:
  Connection Logged() {
    Settings settings = Defaults();
    settings.token = kToken;
    return MakeConnection(std::move(settings));
  }
};

TEST_F(TokenEchoTest, NoErrorShowsTheToken) {
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
  const Connection connection = Logged();
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

TEST_F(TokenEchoTest, NoWarningShowsTheToken) {
  struct Warnings final : Observer {
    void OnServerWarned(const ServerWarned& event) override { text += event.message; }
    std::string text;
  };
  const auto warnings = MakeShared<Warnings>();
  Settings settings = Defaults();
  settings.token = kToken;
  const Connection connection = client::ConnectionCore::Handle({transport_, executor_, warnings}, std::move(settings));
  transport_->Reply({.body = "{}", .headers = {{"warning", std::string("299 - \"seen ") + kToken + "\""}}});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_EQ(warnings->text, "seen (hidden)");
}

}  // namespace
}  // namespace kgen::testing
