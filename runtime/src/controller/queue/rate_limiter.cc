// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/rate_limiter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/request/rate_limiter.h"
#include "net/duration_text.h"

namespace kgen {
namespace {

class Exponential final : public RateLimiter {
 public:
  Exponential(Nanos base, Nanos limit) noexcept : base_(base), limit_(limit) {}
  Nanos When(int failures, TimePoint) noexcept override {
    Nanos delay = base_;
    for (int i = 0; i < failures && delay < limit_; ++i) {
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

Result<Shared<RateLimiter>> ExponentialRateLimiter(Nanos base, Nanos limit) {
  for (const auto& [name, value] : {std::pair("base", base), std::pair("limit", limit)}) {
    if (value > Nanos::zero()) continue;
    return Fail(Code::kInvalidArgument, "exponential rate limiter: `" + std::string(name) + "` is " +
                                            net::DurationText(value) + ", but it must be positive");
  }
  return MakeShared<Exponential>(base, limit);
}

Result<Shared<RateLimiter>> BucketRateLimiter(double per_second, int burst) {
  if (!(per_second > 0)) {
    return Fail(Code::kInvalidArgument,
                "bucket rate limiter: `per_second` is " + std::to_string(per_second) + ", but it must be positive");
  }
  if (burst < 1) {
    return Fail(Code::kInvalidArgument,
                "bucket rate limiter: `burst` is " + std::to_string(burst) + ", but it must be at least 1");
  }
  return MakeShared<Bucket>(per_second, burst);
}

Shared<RateLimiter> MaxOfRateLimiter(std::vector<Shared<RateLimiter>> limiters) {
  std::erase(limiters, nullptr);
  return MakeShared<MaxOf>(std::move(limiters));
}

Result<Shared<RateLimiter>> WithMaxWait(Shared<RateLimiter> limiter, Nanos limit) {
  if (limit < Nanos::zero()) {
    return Fail(Code::kInvalidArgument, "rate limiter: the longest wait, `limit`, is " + net::DurationText(limit) +
                                            ", but it must not be negative");
  }
  return MakeShared<AtMost>(limiter ? std::move(limiter) : MaxOfRateLimiter({}), limit);
}

Shared<RateLimiter> DefaultControllerRateLimiter() {
  return MaxOfRateLimiter({*ExponentialRateLimiter(), *BucketRateLimiter()});
}

}  // namespace kgen
