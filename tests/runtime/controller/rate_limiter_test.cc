// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/rate_limiter.h"

#include <gtest/gtest.h>

#include <limits>

namespace kgen {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow{1h};

TEST(RateLimiterTest, DoublesTheDelayUpToItsLimit) {
  const auto limiter = ExponentialRateLimiter();
  EXPECT_EQ(limiter->When(0, kNow), 5ms);
  EXPECT_EQ(limiter->When(1, kNow), 10ms);
  EXPECT_EQ(limiter->When(10, kNow), 5120ms);
  EXPECT_EQ(limiter->When(17, kNow), 655360ms);
  EXPECT_EQ(limiter->When(18, kNow), 1000s);
  EXPECT_EQ(limiter->When(std::numeric_limits<int>::max(), kNow), 1000s);
}

TEST(RateLimiterTest, DoesNotOverflowAtTheLongestLimit) {
  EXPECT_EQ(ExponentialRateLimiter(1ns, Nanos::max())->When(1000, kNow), Nanos::max());
  EXPECT_EQ(ExponentialRateLimiter(0ns)->When(1000, kNow), 0ns);
}

// Contract: controller 81.
TEST(RateLimiterTest, HandsOutABurstAndThenTokensAtTheRateOfTheBucket) {
  const auto limiter = BucketRateLimiter();
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
  const auto limiter = WithMaxWait(ExponentialRateLimiter(), 1s);
  EXPECT_EQ(limiter->When(0, kNow), 5ms);
  EXPECT_EQ(limiter->When(20, kNow), 1s);
}

TEST(RateLimiterTest, TakesANullLimiterForNoDelay) {
  EXPECT_EQ(MaxOfRateLimiter({nullptr})->When(20, kNow), 0ns);
  EXPECT_EQ(MaxOfRateLimiter({nullptr, ExponentialRateLimiter()})->When(0, kNow), 5ms);
  EXPECT_EQ(WithMaxWait(nullptr, 1s)->When(20, kNow), 0ns);
}

}  // namespace
}  // namespace kgen
