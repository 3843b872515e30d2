// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/backoff.h"

#include <algorithm>

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kFirst = 1s;
constexpr Nanos kLargest = 30s;
constexpr Nanos kLongestAskedFor = 5min;

}  // namespace

Nanos Backoff::Next(Jitter& jitter) noexcept {
  step_ = step_ == Nanos(0) ? kFirst : std::min(step_ * 2, kLargest);
  return jitter.Between(step_ / 2, step_);
}

Nanos EarlyEnds::Next(TimePoint now, Jitter& jitter) noexcept {
  if (now > filled_) {
    tokens_ = std::min(tokens_ + std::chrono::duration<double>(now - filled_).count(), kBurst);
    filled_ = now;
  }
  if (tokens_ >= kBurst) delay_.Reset();
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return Nanos(0);
  }
  const Nanos delay = delay_.Next(jitter);
  filled_ = now + delay;
  return delay;
}

Nanos AskedFor(std::int32_t seconds, Jitter& jitter) noexcept {
  const Nanos asked = std::min<Nanos>(std::chrono::seconds(seconds), kLongestAskedFor);
  return std::min(jitter.Between(asked, 2 * asked), kLongestAskedFor);
}

Nanos WhileStarting(Jitter& jitter) noexcept { return jitter.Between(Nanos(500ms), Nanos(2s)); }

}  // namespace kgen::cache
