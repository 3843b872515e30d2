// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How long a reflector waits after a failure. [INF ER-10 to ER-13]
#ifndef KGEN_RUNTIME_CACHE_BACKOFF_H_
#define KGEN_RUNTIME_CACHE_BACKOFF_H_

#include <cstdint>

#include "kgen/core/clock.h"

namespace kgen::cache {

// Numbers that only have to differ between processes. The same seed gives the same ones.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_(seed) {}
  double Unit() noexcept;                                              // in [0, 1)
  std::int64_t Between(std::int64_t low, std::int64_t high) noexcept;  // in [low, high]

 private:
  std::uint64_t Next() noexcept;
  std::uint64_t state_;
};

// One per informer, shared by every reason to wait. [ER-12]
//
// Steps 0.8, 1.6, 3.2, ... 25.6, then 30 seconds; each delay is step * (1 + u), u in [0, 1), which does not feed into
// the next step. A delay that is asked for more than two minutes after the last reset starts again at the first step.
// [ER-11]
class Backoff {
 public:
  Backoff(std::uint64_t seed, TimePoint now) noexcept : jitter_(seed), last_reset_(now) {}

  // The next delay; never less than what the server asked for (seconds; 0: it did not), of which five minutes count.
  Nanos Next(TimePoint now, std::int32_t retry_after_seconds = 0) noexcept;
  Jitter& jitter() noexcept { return jitter_; }

 private:
  Jitter jitter_;
  TimePoint last_reset_;
  Nanos step_{};  // 0: the next delay is the first
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_BACKOFF_H_
