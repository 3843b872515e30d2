// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/result.h"

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using meta::v1::Status;
using meta::v1::StatusCause;
using meta::v1::StatusDetails;
using ResultTest = sample::CoreTest;

Status Refusal() {
  return {.status = "Failure",
          .code = 422,
          .details =
              StatusDetails{
                  .name = "web",
                  .causes = {StatusCause{.field = "spec.replicas", .message = "must be positive", .reason = "Invalid"},
                             StatusCause{.message = "two\nlines"}},
                  .retryAfterSeconds = 7},
          .message = "Deployment.apps \"web\" is invalid",
          .reason = "Invalid"};
}

TEST_F(ResultTest, CarriesACodeAndAMessage) {
  const Error error(Code::kConfig, "no such context");
  EXPECT_EQ(error.code(), Code::kConfig);
  EXPECT_EQ(error.message(), "no such context");
  EXPECT_EQ(error.status(), nullptr);
  EXPECT_EQ(error.retry_after_seconds(), 0);
  EXPECT_EQ(error.ToString(), "no such context (Config)");
  EXPECT_EQ(sizeof(Error), 8u);
}

// Contract: design D12.
TEST_F(ResultTest, ListsOperationsOutermostFirst) {
  const Error inner(Code::kUnavailable, "connection refused");
  const Error outer = inner.With("list pods").With("sync informer pods");
  EXPECT_EQ(outer.ToString(), "sync informer pods: list pods: connection refused (Unavailable)");
  EXPECT_EQ(outer.message(), "connection refused");
  EXPECT_EQ(outer.code(), Code::kUnavailable);
  EXPECT_EQ(inner.ToString(), "connection refused (Unavailable)") << "an Error never changes";
}

TEST_F(ResultTest, ListsEachOperationOnce) {
  const Error error = Error(Code::kCancelled, "a stop was requested").With("get pods default/p");
  EXPECT_EQ(error.With("get pods default/p").ToString(), "get pods default/p: a stop was requested (Cancelled)");
  EXPECT_EQ(error.With("get pods").ToString(), "get pods: get pods default/p: a stop was requested (Cancelled)");
}

// Contract: design D12.
TEST_F(ResultTest, KeepsTheStatusOfTheServer) {
  const Error error = Error::FromStatus(Refusal(), Code::kInvalid).With("update deployments default/web");
  ASSERT_NE(error.status(), nullptr);
  EXPECT_EQ(*error.status(), Refusal());
  EXPECT_EQ(error.retry_after_seconds(), 7);
  EXPECT_EQ(error.message(), "Deployment.apps \"web\" is invalid");
}

TEST_F(ResultTest, WritesEverythingIncludingCausesInOneLine) {
  const Error error = Error::FromStatus(Refusal(), Code::kInvalid).With("update deployments default/web");
  EXPECT_EQ(error.ToString(),
            "update deployments default/web: Deployment.apps \"web\" is invalid (Invalid, 422, retry after 7 s): "
            "spec.replicas: Invalid - must be positive; two lines");
  std::ostringstream out;
  out << error;
  EXPECT_EQ(out.str(), error.ToString());
}

TEST_F(ResultTest, HasAMessageForAStatusWithoutOne) {
  EXPECT_EQ(Error::FromStatus({.reason = "Gone"}, Code::kExpired).message(), "Gone");
  EXPECT_FALSE(Error::FromStatus({}, Code::kServer).message().empty());
}

TEST_F(ResultTest, AcceptsARetryAfterWithoutAStatus) {
  const Error error = Error(Code::kTooManyRequests, "slow down").WithRetryAfter(3);
  EXPECT_EQ(error.retry_after_seconds(), 3);
  EXPECT_EQ(error.With("get").retry_after_seconds(), 3);
}

TEST_F(ResultTest, KeepsTheFlagOfAMissingConnection) {
  const Error error = Error::NotConnected("cannot connect to 10.0.0.1:6443: Connection refused");
  EXPECT_EQ(error.code(), Code::kUnavailable);
  EXPECT_TRUE(error.not_connected());
  EXPECT_TRUE(error.With("list pods").WithRetryAfter(1).not_connected());
  EXPECT_EQ(error.With("list pods").ToString(),
            "list pods: cannot connect to 10.0.0.1:6443: Connection refused (Unavailable)");
  EXPECT_EQ(Error::NotConnected("TLS handshake", Code::kTls).code(), Code::kTls);
  EXPECT_FALSE(Error(Code::kUnavailable, "cannot connect to 10.0.0.1:6443: Connection refused").not_connected());
}

TEST_F(ResultTest, CanBeReadAfterItWasMovedFrom) {
  Error error(Code::kConfig, "text");
  const Error other = std::move(error);
  EXPECT_EQ(error.code(), Code::kInternal);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): the case
  EXPECT_EQ(error.message(), "");
  EXPECT_EQ(error.With("x").ToString(), "x:  (Internal)");
  EXPECT_EQ(other.message(), "text");
}

TEST_F(ResultTest, NamesEveryCodeOnce) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::kServer); ++code) {
    EXPECT_TRUE(names.insert(ToString(static_cast<Code>(code))).second) << code;
  }
  EXPECT_FALSE(names.contains("Unknown"));
  EXPECT_EQ(ToString(Code::kNotFound), "NotFound");
}

// Contract: design D12.
TEST_F(ResultTest, ThrowsTheWholeMessageFromMust) {
  const Result<int> good = 3;
  EXPECT_EQ(Must(good), 3);
  Result<int> bad = Fail(Error(Code::kNotFound, "pods \"web-0\" not found").With("get pods default/web-0"));
  try {
    Must(bad);
    FAIL() << "no exception";
  } catch (const Exception& e) {
    EXPECT_STREQ(e.what(), "get pods default/web-0: pods \"web-0\" not found (NotFound)");
    EXPECT_EQ(e.error().code(), Code::kNotFound);
  }
  EXPECT_NO_THROW(Must(Result<void>()));
  EXPECT_THROW(Must(Result<void>(Fail(Code::kStopped, "stopped"))), Exception);
}

TEST_F(ResultTest, ForgetsAValueButNotAnError) {
  EXPECT_TRUE(Discard(Result<int>(3)).has_value());
  EXPECT_EQ(Discard(Result<int>(Fail(Code::kTimeout, "late"))).error().code(), Code::kTimeout);
}

}  // namespace
}  // namespace kgen
