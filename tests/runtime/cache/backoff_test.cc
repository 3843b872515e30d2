// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/backoff.h"

#include <gtest/gtest.h>

#include <set>

#include "cache/reflector/history_check.h"
#include "cache/reflector/watch_errors.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

TimePoint At(Nanos since_start) { return TimePoint(since_start); }

class BackoffTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Jitter jitter_{GetParam()};
};

// Contract: informer ER-10.
TEST_P(BackoffTest, DoublesFromOneSecondToThirtyMinusUpToHalfAtRandom) {
  Backoff backoff;
  for (int round = 0; round < 2; ++round) {
    for (const Nanos step : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
      const Nanos delay = backoff.Next(jitter_);
      EXPECT_GE(delay, step / 2);
      EXPECT_LT(delay, step);
    }
    backoff.Reset();
  }
}

// Contract: informer ER-10.
TEST_P(BackoffTest, WaitsAsLongAsTheServerAsksAndUpToTwiceThat) {
  for (int i = 0; i < 20; ++i) {
    const Nanos delay = AskedFor(17, jitter_);
    EXPECT_GE(delay, 17s);
    EXPECT_LT(delay, 34s);
    EXPECT_LE(AskedFor(200, jitter_), 5min);
    EXPECT_EQ(AskedFor(2'000'000'000, jitter_), 5min);
  }
}

TEST_P(BackoffTest, WaitsHalfASecondToTwoForAStartingServer) {
  for (int i = 0; i < 20; ++i) {
    const Nanos delay = WhileStarting(jitter_);
    EXPECT_GE(delay, 500ms);
    EXPECT_LT(delay, 2s);
  }
}

TEST_P(BackoffTest, OpensAWatchThatEndsEarlyFiveTimesAtOnceAndThenOnceASecond) {
  EarlyEnds ends;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ends.Next(At(100s), jitter_), 0s);
  EXPECT_GT(ends.Next(At(100s), jitter_), 0s);
  EarlyEnds slow;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(slow.Next(At(100s + i * 1s), jitter_), 0s) << i;
}

TEST_P(BackoffTest, DoublesItsDelayWhileWatchesKeepEndingAtOnceAndForgetsItAfterFiveSecondsOfWatching) {
  EarlyEnds ends;
  TimePoint now = At(100s);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ends.Next(now, jitter_), 0s);
  for (const Nanos step : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    const Nanos delay = ends.Next(now, jitter_);
    EXPECT_GE(delay, step / 2);
    EXPECT_LT(delay, step);
    now += delay;  // and the next watch ends the moment it was opened
  }
  now += 5s;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ends.Next(now, jitter_), 0s);
  EXPECT_LT(ends.Next(now, jitter_), 1s);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackoffTest, ::testing::Range<std::uint64_t>(0, 50));

TEST(Jitter, StaysWithinItsBounds) {
  Jitter jitter(7);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(jitter.Between(300, 303));
  EXPECT_EQ(seen, (std::set<std::int64_t>{300, 301, 302, 303}));
}

// -------------------------------------------------------------------------------------------- what errors mean

struct Case {
  const char* what;
  const char* reason;
  int code;
  const char* message;
  const char* cause_reason;
  const char* cause_message;
  bool expired, too_large, starting, refusal;
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
    {"expired", "Expired", 410, "too old", "", "", true, false, false, false},
    {"gone", "Gone", 410, "", "", "", true, false, false, false},
    {"gone with another code", "Gone", 500, "", "", "", true, false, true, false},
    {"410 with a reason that nobody knows", "Whatever", 410, "", "", "", true, false, false, false},
    {"410 with a known reason", "Conflict", 410, "", "", "", false, false, false, false},
    {"too large by its cause's reason", "Timeout", 504, "", "ResourceVersionTooLarge", "", false, true, false, false},
    {"too large by its cause's message", "Timeout", 504, "", "", "Too large resource version", false, true, false,
     false},
    {"nearly that message", "Timeout", 504, "", "", "Too large resource version: 8", false, false, true, false},
    {"too large by its message", "Timeout", 504, "Too large resource version: 8, current: 4", "", "", false, true,
     false, false},
    {"that message without a timeout", "InternalError", 500, "Too large resource version", "", "", false, false, true,
     false},
    {"too many requests", "TooManyRequests", 429, "", "", "", false, false, false, false},
    {"an internal error", "InternalError", 500, "", "", "", false, false, true, false},
    {"500 with a reason that nobody knows", "Odd", 500, "", "", "", false, false, true, false},
    {"an unreadable object in the store", "StoreReadError", 500, "", "", "", false, false, true, false},
    {"an overloaded server", "ServiceUnavailable", 503, "", "", "", false, false, true, false},
    {"forbidden", "Forbidden", 403, "", "", "", false, false, true, true},
    {"not found", "NotFound", 404, "", "", "", false, false, true, true},
};

// Contract: informer ER-01, ER-02, ER-03.
TEST(WatchErrors, AreDistinguishedByReasonThenByCode) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    meta::v1::Status status{.status = "Failure", .code = c.code, .message = c.message, .reason = c.reason};
    if (*c.cause_reason != 0 || *c.cause_message != 0) {
      status.details->causes.push_back({.message = c.cause_message, .reason = c.cause_reason});
    }
    const Error error = Error::FromStatus(status, CodeOf(c.code)).With("watch pods");
    EXPECT_EQ(IsExpired(error), c.expired);
    EXPECT_EQ(IsVersionTooLarge(error), c.too_large);
    EXPECT_EQ(MayBeStarting(error), c.starting);
    EXPECT_FALSE(IsNoConnection(error));  // the server said so
    EXPECT_EQ(IsRefusal(error), c.refusal);
  }
}

// Contract: informer LW-08.
TEST(WatchErrors, RecogniseAnExpiredContinueTokenByItsReasonOnly) {
  EXPECT_TRUE(HasReasonExpired(Error::FromStatus({.code = 410, .reason = "Expired"}, Code::kExpired)));
  EXPECT_FALSE(HasReasonExpired(Error::FromStatus({.code = 410, .reason = "Gone"}, Code::kExpired)));
  EXPECT_FALSE(HasReasonExpired(Error(Code::kExpired, "made here")));
}

// Contract: informer ER-03.
TEST(WatchErrors, CountErrorsWithoutAnyServerResponseAsNoConnection) {
  EXPECT_TRUE(IsNoConnection(Error(Code::kUnavailable, "cannot connect to 10.0.0.1:6443: connection refused")));
  EXPECT_TRUE(IsNoConnection(Error(Code::kUnavailable, "the connection was reset")));
  EXPECT_TRUE(IsNoConnection(Error(Code::kTls, "certificate signed by nobody")));
  EXPECT_FALSE(IsNoConnection(Error(Code::kTimeout, "no answer")));
  EXPECT_FALSE(IsNoConnection(Error(Code::kDecode, "no list")));
  EXPECT_FALSE(IsNoConnection(Error(Code::kUserCode, "a transform threw")));
}

TEST(HistoryCheck, ComparesVersionsAsNumbersAndNothingElse) {
  EXPECT_TRUE(IsOlderVersion("9", "10"));
  EXPECT_FALSE(IsOlderVersion("10", "10"));
  EXPECT_FALSE(IsOlderVersion("11", "10"));
  EXPECT_FALSE(IsOlderVersion("", "10"));
  EXPECT_FALSE(IsOlderVersion("9", ""));
  EXPECT_FALSE(IsOlderVersion("9a", "10"));
  EXPECT_FALSE(IsOlderVersion("-1", "10"));
  EXPECT_FALSE(IsOlderVersion("9", "99999999999999999999999"));
}

}  // namespace
}  // namespace kgen::cache
