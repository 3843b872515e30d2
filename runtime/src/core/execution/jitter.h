// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Random numbers for delays. They only have to differ between processes. The same seed gives the same sequence.
#ifndef KGEN_SRC_CORE_EXECUTION_JITTER_H_
#define KGEN_SRC_CORE_EXECUTION_JITTER_H_

#include <cstdint>

#include "kgen/core/clock.h"

namespace kgen {

// Thread safety: one thread at a time.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) noexcept : state_(seed) {}

  double Unit() noexcept { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }  // in [0, 1)
  std::int64_t Between(std::int64_t low, std::int64_t high) noexcept {              // in [low, high]
    return low + static_cast<std::int64_t>(Next() % static_cast<std::uint64_t>(high - low + 1));
  }
  // Returns a time in [low, high).
  Nanos Between(Nanos low, Nanos high) noexcept {
    return low + Nanos(static_cast<Nanos::rep>(static_cast<double>((high - low).count()) * Unit()));
  }
  // Any number. As many calls as there are numbers give different ones.
  std::uint64_t Next() noexcept {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// In virtual time the clock follows the seed of the simulation; elsewhere no two processes read the same times.
inline std::uint64_t SeedFrom(Clock& clock) noexcept {
  const auto wall = static_cast<std::uint64_t>(clock.WallNow().time_since_epoch().count());
  return wall * 0x9E3779B97F4A7C15u ^ static_cast<std::uint64_t>(clock.Now().time_since_epoch().count());
}

}  // namespace kgen

#endif  // KGEN_SRC_CORE_EXECUTION_JITTER_H_
