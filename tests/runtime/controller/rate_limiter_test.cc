// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/rate_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr TimePoint kNow{1h};

TEST(RateLimiterTest, DoublesTheDelayUpToItsLimit) {
  const auto limiter = Must(ExponentialRateLimiter());
  EXPECT_EQ(limiter->When(0, kNow), 5ms);
  EXPECT_EQ(limiter->When(1, kNow), 10ms);
  EXPECT_EQ(limiter->When(10, kNow), 5120ms);
  EXPECT_EQ(limiter->When(17, kNow), 655360ms);
  EXPECT_EQ(limiter->When(18, kNow), 1000s);
  EXPECT_EQ(limiter->When(std::numeric_limits<int>::max(), kNow), 1000s);
}

TEST(RateLimiterTest, DoesNotOverflowAtTheLongestLimit) {
  EXPECT_EQ(Must(ExponentialRateLimiter(1ns, kNoLimit))->When(1000, kNow), Nanos::max());
}

// Contract: controller 81.
TEST(RateLimiterTest, HandsOutABurstAndThenTokensAtTheRateOfTheBucket) {
  const auto limiter = Must(BucketRateLimiter());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(limiter->When(0, kNow), 0ns);
  EXPECT_EQ(limiter->When(0, kNow), 100ms);
  EXPECT_EQ(limiter->When(0, kNow), 200ms);
  EXPECT_EQ(limiter->When(0, kNow + 300ms), 0ns);
}

// Contract: controller 81.
TEST(RateLimiterTest, TakesTheLongestDelayOfSeveralLimiters) {
  const auto limiter = DefaultControllerRateLimiter();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(limiter->When(0, kNow), 5ms);
  EXPECT_EQ(limiter->When(0, kNow), 100ms);
  EXPECT_EQ(limiter->When(10, kNow), 5120ms);
  EXPECT_EQ(limiter->When(0, kNow), 300ms);  // each call takes a token
}

TEST(RateLimiterTest, BoundsTheDelayOfAnotherLimiter) {
  const auto limiter = Must(WithMaxWait(Must(ExponentialRateLimiter()), 1s));
  EXPECT_EQ(limiter->When(0, kNow), 5ms);
  EXPECT_EQ(limiter->When(20, kNow), 1s);
}

TEST(RateLimiterTest, TakesANullLimiterForNoDelay) {
  EXPECT_EQ(MaxOfRateLimiter({nullptr})->When(20, kNow), 0ns);
  EXPECT_EQ(MaxOfRateLimiter({nullptr, Must(ExponentialRateLimiter())})->When(0, kNow), 5ms);
  EXPECT_EQ(Must(WithMaxWait(nullptr, 1s))->When(20, kNow), 0ns);
}

TEST(RateLimiterTest, RefusesArgumentsOutOfTheirRangeAndNamesThem) {
  const auto refusal = [](const Result<Shared<RateLimiter>>& made) {
    EXPECT_TRUE(made || made.error().code() == Code::kInvalidArgument);
    return made ? "none" : made.error().ToString();
  };
  for (const Nanos each : {Nanos(0s), Nanos(-1s)}) {
    EXPECT_THAT(refusal(ExponentialRateLimiter(each)), HasSubstr("`base`"));
    EXPECT_THAT(refusal(ExponentialRateLimiter(1s, each)), HasSubstr("`limit`"));
  }
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(refusal(BucketRateLimiter(rate)), HasSubstr("`per_second`"));
  }
  for (const int burst : {0, -1}) EXPECT_THAT(refusal(BucketRateLimiter(1, burst)), HasSubstr("`burst`"));
  EXPECT_THAT(refusal(WithMaxWait(nullptr, -1s)), HasSubstr("`limit`"));
  EXPECT_EQ(refusal(WithMaxWait(nullptr, 0s)), "none");
}

}  // namespace
}  // namespace kgen
