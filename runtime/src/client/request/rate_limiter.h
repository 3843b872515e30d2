// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RateLimiter: the token bucket for Config::qps and burst.
#ifndef KGEN_SRC_CLIENT_REQUEST_RATE_LIMITER_H_
#define KGEN_SRC_CLIENT_REQUEST_RATE_LIMITER_H_

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/memory/mutex.h"
#include "kgen/core/clock.h"

namespace kgen::client {

// Thread safety: all members from any thread. Never blocks: it returns how long the caller has to wait.
class RateLimiter {
 public:
  // Without qps there is no limit. Without burst it is the tokens of one second, at least one. Both are positive.
  RateLimiter(std::optional<double> qps, std::optional<int> burst) noexcept
      : qps_(qps.value_or(0)), burst_(burst ? *burst : std::max(1.0, std::ceil(qps_))), tokens_(burst_) {}

  // Takes a token, possibly a future one, and returns the time until it is available.
  Nanos Take(TimePoint now) noexcept {
    if (!(qps_ > 0)) return Nanos::zero();
    const MutexLock lock(mutex_);
    if (now > last_) {
      const double seconds = std::chrono::duration<double>(now - last_).count();
      if (started_) tokens_ = std::min(burst_, tokens_ + seconds * qps_);
      last_ = now;
    }
    started_ = true;
    tokens_ -= 1;
    if (tokens_ >= -kTiny) return Nanos::zero();
    return Nanos(std::llround(std::min(-tokens_ / qps_, kLongest) * 1e9));
  }

 private:
  static constexpr double kTiny = 1e-9;    // rounding errors
  static constexpr double kLongest = 1e8;  // seconds; keeps the conversion in range
  const double qps_;                       // 0: no limit
  const double burst_;
  Mutex mutex_;
  double tokens_ KGEN_GUARDED_BY(mutex_);  // below zero: promised to waiting callers
  TimePoint last_ KGEN_GUARDED_BY(mutex_){};
  bool started_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_RATE_LIMITER_H_
