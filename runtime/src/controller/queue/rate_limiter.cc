// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/rate_limiter.h"

#include <algorithm>
#include <utility>

#include "client/request/rate_limiter.h"

namespace kgen {
namespace {

class Exponential final : public RateLimiter {
 public:
  Exponential(Nanos base, Nanos limit) noexcept : base_(base), limit_(limit) {}
  Nanos When(int failures, TimePoint) noexcept override {
    Nanos delay = base_;
    for (int i = 0; i < failures && delay < limit_; ++i) {
      if (delay <= Nanos::zero()) return Nanos::zero();
      if (delay > limit_ / 2) return limit_;  // doubling would exceed the limit or overflow
      delay *= 2;
    }
    return std::min(delay, limit_);
  }

 private:
  const Nanos base_;
  const Nanos limit_;
};

class Bucket final : public RateLimiter {
 public:
  Bucket(double per_second, int burst) noexcept : tokens_(per_second, burst) {}
  Nanos When(int, TimePoint now) noexcept override { return tokens_.Take(now); }

 private:
  client::RateLimiter tokens_;
};

class MaxOf final : public RateLimiter {
 public:
  explicit MaxOf(std::vector<Shared<RateLimiter>> limiters) noexcept
      : limiters_(std::move(limiters)) {}  // none is null
  Nanos When(int failures, TimePoint now) override {
    Nanos longest{};
    for (const Shared<RateLimiter>& limiter : limiters_) longest = std::max(longest, limiter->When(failures, now));
    return longest;
  }

 private:
  const std::vector<Shared<RateLimiter>> limiters_;
};

class AtMost final : public RateLimiter {
 public:
  AtMost(Shared<RateLimiter> limiter, Nanos limit) noexcept : limiter_(std::move(limiter)), limit_(limit) {}
  Nanos When(int failures, TimePoint now) override { return std::min(limiter_->When(failures, now), limit_); }

 private:
  const Shared<RateLimiter> limiter_;
  const Nanos limit_;
};

}  // namespace

Shared<RateLimiter> ExponentialRateLimiter(Nanos base, Nanos limit) { return MakeShared<Exponential>(base, limit); }

Shared<RateLimiter> BucketRateLimiter(double per_second, int burst) { return MakeShared<Bucket>(per_second, burst); }

Shared<RateLimiter> MaxOfRateLimiter(std::vector<Shared<RateLimiter>> limiters) {
  std::erase(limiters, nullptr);
  return MakeShared<MaxOf>(std::move(limiters));
}

Shared<RateLimiter> WithMaxWait(Shared<RateLimiter> limiter, Nanos limit) {
  return MakeShared<AtMost>(limiter ? std::move(limiter) : MaxOfRateLimiter({}), limit);
}

Shared<RateLimiter> DefaultControllerRateLimiter() {
  return MaxOfRateLimiter({ExponentialRateLimiter(), BucketRateLimiter()});
}

}  // namespace kgen
