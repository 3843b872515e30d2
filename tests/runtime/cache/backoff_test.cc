// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/backoff.h"

#include <gtest/gtest.h>

#include <set>

#include "cache/watch_errors.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

TimePoint At(Nanos since_start) { return TimePoint(since_start); }

class BackoffTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(BackoffTest, DoublesFrom800MillisecondsTo30SecondsAndAddsUpToAsMuch_ER_10) {
  Backoff backoff(GetParam(), At(0s));
  for (const Nanos step : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms}) {
    const Nanos delay = backoff.Next(At(1s));
    EXPECT_GE(delay, step);
    EXPECT_LT(delay, 2 * step);
  }
}

TEST_P(BackoffTest, StartsAgainTwoMinutesAfterTheLastResetWhateverHappenedInBetween_ER_11) {
  Backoff backoff(GetParam(), At(0s));
  for (Nanos t = 0s; t <= 120s; t += 10s) backoff.Next(At(t));  // failures do not move the reset
  EXPECT_LT(backoff.Next(At(120s + 1ns)), 1600ms);
  EXPECT_GE(backoff.Next(At(200s)), 1600ms);  // the next reset is two minutes after this one
  EXPECT_LT(backoff.Next(At(241s)), 1600ms);
}

TEST_P(BackoffTest, IsNeverShorterThanWhatTheServerAskedFor) {
  Backoff backoff(GetParam(), At(0s));
  EXPECT_EQ(backoff.Next(At(0s), 17), 17s);
  EXPECT_LT(backoff.Next(At(0s), 1), 3200ms);  // which counts as a step as well
}

TEST_P(BackoffTest, IsNeverLongerThanFiveMinutesWhateverTheServerAskedFor) {
  Backoff backoff(GetParam(), At(0s));
  EXPECT_EQ(backoff.Next(At(0s), 300), 5min);
  EXPECT_EQ(backoff.Next(At(0s), 2'000'000'000), 5min);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackoffTest, ::testing::Range<std::uint64_t>(0, 50));

TEST(Backoff, DiffersBetweenSeeds_ER_10) {
  std::set<Nanos> delays;
  for (std::uint64_t seed = 0; seed < 100; ++seed) delays.insert(Backoff(seed, At(0s)).Next(At(0s)));
  EXPECT_GT(delays.size(), 90u);
}

TEST(Jitter, StaysWithinItsBounds) {
  Jitter jitter(7);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(jitter.Between(300, 303));
  EXPECT_EQ(seen, (std::set<std::int64_t>{300, 301, 302, 303}));
}

TEST(RetryBudget, AllowsOneErrorASecondFor31TimesWithABudgetOf30Seconds_ER_08) {
  RetryBudget budget(30s);
  int allowed = 0;
  while (budget.Allow(At(std::chrono::seconds(allowed)))) ++allowed;
  EXPECT_EQ(allowed, 31);
  EXPECT_TRUE(budget.Allow(At(32s)));  // refused once, then a new series
}

TEST(RetryBudget, StartsANewSeriesAfterAMinuteWithoutAnError_ER_08) {
  RetryBudget budget(30s);
  EXPECT_TRUE(budget.Allow(At(0s)));
  EXPECT_TRUE(budget.Allow(At(60s)));
  EXPECT_TRUE(budget.Allow(At(90s)));
}

TEST(RetryBudget, AllowsNothingByDefault_ER_07) { EXPECT_FALSE(RetryBudget(0s).Allow(At(0s))); }

// -------------------------------------------------------------------------------------------- what errors mean

struct Case {
  const char* what;
  const char* reason;
  int code;
  const char* message;
  const char* cause_reason;
  const char* cause_message;
  bool expired, too_large, retriable, internal, refusal;
};

Code CodeOf(int http) {
  switch (http) {
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 410:
      return Code::kExpired;
    case 429:
      return Code::kTooManyRequests;
    case 503:
      return Code::kUnavailable;
    case 504:
      return Code::kTimeout;
    default:
      return Code::kServer;
  }
}

constexpr Case kCases[] = {
    {"expired", "Expired", 410, "too old", "", "", true, false, false, false, false},
    {"gone", "Gone", 410, "", "", "", true, false, false, false, false},
    {"gone with another code", "Gone", 500, "", "", "", true, false, false, false, false},
    {"410 with a reason that nobody knows", "Whatever", 410, "", "", "", true, false, false, false, false},
    {"410 with a known reason", "Conflict", 410, "", "", "", false, false, false, false, false},
    {"too large by its cause's reason", "Timeout", 504, "", "ResourceVersionTooLarge", "", false, true, false, false,
     false},
    {"too large by its cause's message", "Timeout", 504, "", "", "Too large resource version", false, true, false,
     false, false},
    {"nearly that message", "Timeout", 504, "", "", "Too large resource version: 8", false, false, false, false, false},
    {"too large by its message", "Timeout", 504, "Too large resource version: 8, current: 4", "", "", false, true,
     false, false, false},
    {"that message without a timeout", "InternalError", 500, "Too large resource version", "", "", false, false, false,
     true, false},
    {"too many requests", "TooManyRequests", 429, "", "", "", false, false, true, false, false},
    {"an internal error", "InternalError", 500, "", "", "", false, false, false, true, false},
    {"500 with a reason that nobody knows", "Odd", 500, "", "", "", false, false, false, true, false},
    {"an unreadable object in the store", "StoreReadError", 500, "", "", "", false, false, false, false, false},
    {"an overloaded server", "ServiceUnavailable", 503, "", "", "", false, false, false, false, false},
    {"forbidden", "Forbidden", 403, "", "", "", false, false, false, false, true},
    {"not found", "NotFound", 404, "", "", "", false, false, false, false, true},
};

TEST(WatchErrors, AreToldApartByReasonThenByCode_ER_01_ER_02_ER_03_ER_07) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    meta::v1::Status status{.status = "Failure", .code = c.code, .message = c.message, .reason = c.reason};
    if (*c.cause_reason != 0 || *c.cause_message != 0) {
      status.details->causes.push_back({.message = c.cause_message, .reason = c.cause_reason});
    }
    const Error error = Error::FromStatus(status, CodeOf(c.code)).With("watch pods");
    EXPECT_EQ(IsExpired(error), c.expired);
    EXPECT_EQ(IsVersionTooLarge(error), c.too_large);
    EXPECT_EQ(IsRetriable(error), c.retriable);
    EXPECT_EQ(IsInternal(error), c.internal);
    EXPECT_EQ(IsRefusal(error), c.refusal);
  }
}

TEST(WatchErrors, TakeTheReasonExpiredAloneForAnExpiredContinueToken_LW_08) {
  EXPECT_TRUE(HasReasonExpired(Error::FromStatus({.code = 410, .reason = "Expired"}, Code::kExpired)));
  EXPECT_FALSE(HasReasonExpired(Error::FromStatus({.code = 410, .reason = "Gone"}, Code::kExpired)));
  EXPECT_FALSE(HasReasonExpired(Error(Code::kExpired, "made here")));
}

TEST(WatchErrors, TryAgainLaterWhenNoConnectionCameAboutButNotWhenItWasLost_ER_03_ER_04) {
  EXPECT_TRUE(IsRetriable(Error::NotConnected("cannot connect to 10.0.0.1:6443: connection refused")));
  EXPECT_FALSE(IsRetriable(Error(Code::kUnavailable, "the connection was reset")));
}

}  // namespace
}  // namespace kgen::cache
