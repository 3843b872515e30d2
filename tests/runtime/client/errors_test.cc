// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kgen/core/object_meta.h"

namespace kgen::client {
namespace {

using ::testing::HasSubstr;

std::string StatusJson(std::string_view reason, int code) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"says so","reason":")" +
         std::string(reason) + R"(","code":)" + std::to_string(code) + "}";
}

struct Row {
  std::string_view reason;
  int http;
  Code code;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.reason << ' ' << row.http; }

class CodeOfTest : public ::testing::TestWithParam<Row> {};

// Contract: client ERR-1, ERR-2.
TEST_P(CodeOfTest, FollowsTheReasonAndThenTheHttpCode) {
  EXPECT_EQ(CodeOf(GetParam().reason, GetParam().http), GetParam().code) << GetParam().reason << ' ' << GetParam().http;
}

INSTANTIATE_TEST_SUITE_P(
    Table, CodeOfTest,
    ::testing::Values(Row{"Unauthorized", 401, Code::kUnauthorized}, Row{"Forbidden", 403, Code::kForbidden},
                      Row{"NotFound", 404, Code::kNotFound}, Row{"MethodNotAllowed", 405, Code::kMethodNotAllowed},
                      Row{"NotAcceptable", 406, Code::kUnsupportedMedia},
                      Row{"AlreadyExists", 409, Code::kAlreadyExists}, Row{"Conflict", 409, Code::kConflict},
                      Row{"Gone", 410, Code::kExpired}, Row{"Expired", 410, Code::kExpired},
                      Row{"RequestEntityTooLarge", 413, Code::kRequestTooLarge},
                      Row{"UnsupportedMediaType", 415, Code::kUnsupportedMedia}, Row{"Invalid", 422, Code::kInvalid},
                      Row{"BadRequest", 400, Code::kInvalid}, Row{"TooManyRequests", 429, Code::kTooManyRequests},
                      Row{"InternalError", 500, Code::kServer}, Row{"ServerTimeout", 500, Code::kServer},
                      Row{"StoreReadError", 500, Code::kServer}, Row{"ServiceUnavailable", 503, Code::kUnavailable},
                      Row{"Timeout", 504, Code::kTimeout},
                      // The reason wins over a code that contradicts it ...
                      Row{"NotFound", 500, Code::kNotFound}, Row{"AlreadyExists", 200, Code::kAlreadyExists},
                      // ... but for these two, whatever the reason ...
                      Row{"InternalError", 429, Code::kTooManyRequests}, Row{"Invalid", 413, Code::kRequestTooLarge},
                      // ... and the code decides where the reason is empty or unknown.
                      Row{"", 400, Code::kInvalid}, Row{"", 401, Code::kUnauthorized}, Row{"", 403, Code::kForbidden},
                      Row{"", 404, Code::kNotFound}, Row{"", 405, Code::kMethodNotAllowed},
                      Row{"", 406, Code::kUnsupportedMedia}, Row{"", 409, Code::kConflict},
                      Row{"", 410, Code::kExpired}, Row{"", 415, Code::kUnsupportedMedia}, Row{"", 422, Code::kInvalid},
                      Row{"Odd", 503, Code::kUnavailable}, Row{"Odd", 504, Code::kTimeout},
                      Row{"Odd", 500, Code::kServer}, Row{"Odd", 418, Code::kServer}, Row{"", 0, Code::kServer}));

// Contract: client REST-28.
TEST(ErrorOf, KeepsTheServersStatusWithItsCauses) {
  const std::string body =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods \"web-0\" is invalid","reason":"Invalid",)"
      R"("details":{"name":"web-0","kind":"pods","causes":[{"reason":"FieldValueRequired","message":"wanted","field":"spec.x"}]},)"
      R"("code":422})";
  const Error error = ErrorOf({.method = "POST", .status = 422, .content_type = "application/json", .body = body});
  EXPECT_EQ(error.code(), Code::kInvalid);
  EXPECT_EQ(error.message(), "pods \"web-0\" is invalid");
  ASSERT_NE(error.status(), nullptr);
  EXPECT_EQ(error.status()->details->causes[0].field, "spec.x");
  EXPECT_THAT(error.ToString(), HasSubstr("spec.x"));
}

// Contract: client REST-28.
TEST(ErrorOf, PrefersTheStatusToTheHttpCode) {
  EXPECT_EQ(ErrorOf({.method = "GET", .status = 500, .body = StatusJson("NotFound", 404)}).code(), Code::kNotFound);
}

TEST(ErrorOf, UsesTheHttpCodeForAStatusWithoutOne) {
  const Error error =
      ErrorOf({.method = "GET", .status = 403, .body = R"({"kind":"Status","status":"Failure","message":"no"})"});
  EXPECT_EQ(error.code(), Code::kForbidden);
  EXPECT_EQ(*error.status()->code, 403);
}

// Contract: client REST-28.
TEST(ErrorOf, DefaultsTheApiVersionOfAStatusButNotItsKind) {
  const Error with =
      ErrorOf({.method = "GET", .status = 500, .body = R"({"kind":"Status","status":"Failure","reason":"Expired"})"});
  EXPECT_EQ(with.code(), Code::kExpired);
  const Error without =
      ErrorOf({.method = "GET", .status = 500, .body = R"({"apiVersion":"v1","status":"Failure","reason":"Expired"})"});
  EXPECT_EQ(without.code(), Code::kServer);
}

// Contract: client REST-28.
TEST(ErrorOf, UsesTheHttpCodeForASuccessStatusAndForAnEmptyObject) {
  for (const std::string_view body :
       {R"({"kind":"Status","status":"Success"})", "{}", "", "[]", "\xff{", "{\"kind\":\"Status\""}) {
    EXPECT_EQ(ErrorOf({.method = "GET", .status = 404, .content_type = "application/json", .body = body}).code(),
              Code::kNotFound)
        << body;
  }
}

// Contract: client REST-29.
TEST(ErrorOf, QuotesAPlainTextResponse) {
  const Error error = ErrorOf({.method = "GET",
                               .status = 503,
                               .content_type = "text/plain",
                               .retry_after_seconds = 7,
                               .body = "upstream is away\n"});
  EXPECT_EQ(error.code(), Code::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("upstream is away"));
  EXPECT_EQ(error.retry_after_seconds(), 7);
  EXPECT_EQ(error.status()->details->causes[0].reason, "UnexpectedServerResponse");
  EXPECT_EQ(*error.status()->details->retryAfterSeconds, 7);
}

TEST(ErrorOf, NamesTheMediaTypeAndQuotesTheTextOnce) {
  EXPECT_EQ(ErrorOf({.method = "GET", .status = 502, .content_type = "Text/HTML; charset=utf-8", .body = "<h1>no</h1>"})
                .ToString(),
            "the server reported an internal error (HTTP 502, text/html): <h1>no</h1> (ServerError, 502)");
  EXPECT_EQ(ErrorOf({.method = "GET", .status = 502, .content_type = "application/grpc", .body = "\1"}).ToString(),
            "the server reported an internal error (HTTP 502, application/grpc) (ServerError, 502): "
            "UnexpectedServerResponse - unknown");
}

TEST(ErrorOf, NamesTheTargetOfARedirectWithoutSecrets) {
  const auto text = [](std::string_view location) {
    return ErrorOf({.method = "GET", .status = 302, .location = location}).message();
  };
  constexpr std::string_view kRest =
      ", and kgen follows no redirects; if that is the API server, name it in the config (HTTP 302)";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"https://login.example:8443/sso", "https://login.example:8443/sso"},
      {"https://bob:hunter2@login.example/sso?token=abc#id", "https://login.example/sso"},
      {"https://login.example?token=abc", "https://login.example"},
      {"//bob:hunter2@login.example/x@y", "//login.example/x@y"},
      {"/oauth/authorize?client_id=1", "/oauth/authorize"},
  };
  for (const auto& [location, shown] : cases) {
    EXPECT_EQ(text(location), "the server redirects to " + std::string(shown) + std::string(kRest));
  }
  EXPECT_EQ(text(""), "the server sent an unexpected response (HTTP 302)");
}

TEST(NotJson, NamesTheMediaTypeOfASuccessfulPage) {
  EXPECT_EQ(
      NotJson({.status = 200, .content_type = "text/html; charset=utf-8", .body = "<html>Please log in"})->ToString(),
      "the server answered in text/html instead of JSON (HTTP 200); is this the address of an API server, or is a "
      "proxy or a login page in between? It begins: <html>Please log in (Decode)");
  EXPECT_EQ(
      NotJson({.status = 200, .content_type = "application/vnd.kubernetes.protobuf", .body = "k8s"})->message(),
      "the server answered in application/vnd.kubernetes.protobuf instead of JSON (HTTP 200); is this the address "
      "of an API server, or is a proxy or a login page in between?");
  EXPECT_EQ(
      NotJson({.status = 200, .body = "OK"})->message(),
      "the server answered without a media type instead of JSON (HTTP 200); is this the address of an API server, "
      "or is a proxy or a login page in between? It begins: OK");
}

TEST(NotJson, LeavesPossibleJsonToTheDecoder) {
  EXPECT_FALSE(NotJson({.content_type = "application/json", .body = "nonsense"}).has_value());
  EXPECT_FALSE(NotJson({.content_type = "Application/JSON;stream=watch", .body = "nonsense"}).has_value());
  EXPECT_FALSE(NotJson({.content_type = "text/plain", .body = " {\"kind\":\"Pod\"}"}).has_value());
  EXPECT_FALSE(NotJson({.body = "{}"}).has_value());
  EXPECT_FALSE(NotJson({.body = ""}).has_value());
}

// Contract: client REST-29.
TEST(ErrorOf, DoesNotQuoteBinaryData) {
  const Error error =
      ErrorOf({.method = "GET", .status = 500, .content_type = "application/octet-stream", .body = "\x01secret"});
  EXPECT_THAT(error.ToString(), ::testing::Not(HasSubstr("secret")));
  EXPECT_EQ(error.status()->details->causes[0].message, "unknown");
}

// Contract: client REST-29.
TEST(ErrorOf, QuotesAtMost2048BytesAndNoHalfCodePoint) {
  const std::string body = std::string(2047, 'x') + "\u00e9" + std::string(100, 'y');
  const Error error = ErrorOf({.method = "GET", .status = 500, .body = body});
  EXPECT_EQ(error.status()->details->causes[0].message, std::string(2047, 'x'));
}

// Contract: client ERR-4.
TEST(ErrorOf, TreatsA409WithoutStatusAsAlreadyExistsOnlyAfterAPost) {
  EXPECT_EQ(ErrorOf({.method = "POST", .status = 409}).code(), Code::kAlreadyExists);
  EXPECT_EQ(ErrorOf({.method = "PUT", .status = 409}).code(), Code::kConflict);
}

// Contract: client ERR-5.
TEST(ErrorOf, ReadsTheRetryDelayFromHeaderOrDetails) {
  const std::string body =
      R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":3},"code":429})";
  EXPECT_EQ(ErrorOf({.method = "GET", .status = 429, .body = body}).retry_after_seconds(), 3);
  EXPECT_EQ(
      ErrorOf({.method = "GET", .status = 429, .retry_after_seconds = 9, .body = StatusJson("TooManyRequests", 429)})
          .retry_after_seconds(),
      9);
}

// Contract: client REST-31.
TEST(FailureIn, FindsAFailedStatusInASuccessfulResponse) {
  ASSERT_TRUE(FailureIn(StatusJson("Conflict", 409)).has_value());
  EXPECT_EQ(FailureIn(StatusJson("Conflict", 409))->code(), Code::kConflict);
  EXPECT_FALSE(FailureIn(R"({"kind":"Status","apiVersion":"v1","status":"Success"})").has_value());
  EXPECT_FALSE(FailureIn(R"({"kind":"Pod","metadata":{"name":"Status"},"x":"Status"})").has_value());
}

// Contract: client REST-19.
TEST(WithHint, AsksForTheCrdWhereTheServerHasNoSuchResource) {
  const Error page = ErrorOf({.method = "GET", .status = 404, .body = "404 page not found"});
  const auto hint = [](std::string_view path, const Error& error) { return WithHint(path, error).message(); };
  EXPECT_THAT(hint("/apis/b.example.com/v1/namespaces/default/clusters", page),
              ::testing::AllOf(HasSubstr("404 page not found"),
                               HasSubstr("does the server have b.example.com/v1, and is the CustomResourceDefinition "
                                         "of this kind installed?")));
  EXPECT_EQ(WithHint("/apis/b.example.com/v1/clusters", page).status()->code, 404);
  EXPECT_EQ(hint("/apis/apps/v1/deployments", page), page.message());
  EXPECT_EQ(hint("/api/v1/pods", page), page.message());
  EXPECT_THAT(hint("/apis/b.example.com", page), HasSubstr("b.example.com/"));
  const Error object = ErrorOf(
      {.method = "GET",
       .status = 404,
       .body = R"({"kind":"Status","status":"Failure","reason":"NotFound","message":"clusters \"a\" not found",)"
               R"("details":{"name":"a","kind":"clusters"}})"});
  EXPECT_EQ(hint("/apis/b.example.com/v1/namespaces/default/clusters/a", object), object.message());
  const Error forbidden = ErrorOf({.method = "GET", .status = 403, .body = "no"});
  EXPECT_EQ(hint("/apis/b.example.com/v1/clusters", forbidden), forbidden.message());
}

TEST(ParseRetryAfter, AcceptsWholeSecondsOnly) {
  EXPECT_EQ(ParseRetryAfter("0"), 0);
  EXPECT_EQ(ParseRetryAfter(" 12 "), 12);
  for (const std::string_view text : {"", "-1", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT", "9999999999", "1s"}) {
    EXPECT_FALSE(ParseRetryAfter(text).has_value()) << text;
  }
}

// Contract: client ERR-7.
TEST(WatchError, IsTheErrorOfTheStatusInAnErrorEvent) {
  const Error error = WatchError(StatusJson("Expired", 410));
  EXPECT_EQ(error.code(), Code::kExpired);
  EXPECT_EQ(error.status()->reason, "Expired");
  EXPECT_EQ(WatchError(R"({"kind":"Pod"})").code(), Code::kDecode);
  for (const char* broken : {R"({"kind":"Status"})", R"({"kind":"Status","code":0,"message":"","reason":""})"}) {
    EXPECT_EQ(WatchError(broken).message(), "the server sent a Status without message, reason and code") << broken;
  }
  EXPECT_EQ(WatchError("nonsense").code(), Code::kDecode);
}

}  // namespace
}  // namespace kgen::client
