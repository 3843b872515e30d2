// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/backoff.h"

#include <algorithm>

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kFirst = 800ms;
constexpr Nanos kLargest = 30s;
constexpr Nanos kResetAfter = 2min;
constexpr std::chrono::seconds kLongestRetryAfter = 5min;  // whatever a broken proxy says: a cache must not stay stale

}  // namespace

std::uint64_t Jitter::Next() noexcept {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double Jitter::Unit() noexcept { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

std::int64_t Jitter::Between(std::int64_t low, std::int64_t high) noexcept {
  return low + static_cast<std::int64_t>(Next() % static_cast<std::uint64_t>(high - low + 1));
}

Nanos Backoff::Next(TimePoint now, std::int32_t retry_after_seconds) noexcept {
  if (now - last_reset_ > kResetAfter) {
    step_ = Nanos(0);
    last_reset_ = now;
  }
  step_ = step_ == Nanos(0) ? kFirst : std::min(step_ * 2, kLargest);
  const auto extra = static_cast<std::int64_t>(static_cast<double>(step_.count()) * jitter_.Unit());
  return std::max<Nanos>(step_ + Nanos(extra), std::min(std::chrono::seconds(retry_after_seconds), kLongestRetryAfter));
}

}  // namespace kgen::cache
