// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How long a reflector waits before it asks again, by cause. What has no connection waits at the client's Gate instead.
#ifndef KGEN_RUNTIME_CACHE_BACKOFF_H_
#define KGEN_RUNTIME_CACHE_BACKOFF_H_

#include <cstdint>

#include "core/jitter.h"
#include "kgen/core/clock.h"

namespace kgen::cache {

// For a resource that fails: 403, 404, 500, an answer that is no list. One per informer.
//
// The n-th delay since Reset() lies between half of 2^n seconds and all of it, 30 seconds at most: 0.5 to 1 s, 1 to 2
// s,
// ... 15 to 30 s.
class Backoff {
 public:
  Nanos Next(Jitter& jitter) noexcept;
  void Reset() noexcept { step_ = Nanos(0); }  // after a success

 private:
  Nanos step_{};  // 0: the next delay is the first
};

// For watches that the server, or something in between, ends early. A token bucket of 5 that fills at one a second:
// with a token the watch is opened again at once, else after a delay that doubles from 0.5..1 s to 15..30 s. Delays
// become small again when the bucket is full: after five seconds of watching.
class EarlyEnds {
 public:
  // Of a watch that has just ended; 0: at once.
  Nanos Next(TimePoint now, Jitter& jitter) noexcept;

 private:
  static constexpr double kBurst = 5;
  double tokens_ = kBurst;
  TimePoint filled_{};  // later than now while it waits, which earns nothing
  Backoff delay_;
};

// The delay that a server requested (Retry-After, in seconds) plus 0 to 100 %, so that its clients do not all return at
// once; never more than five minutes, whatever a broken proxy says.
Nanos AskedFor(std::int32_t seconds, Jitter& jitter) noexcept;

// For a server that answers again after the connection was lost, and may refuse for a while what it will allow: 0.5 to
// 2 seconds.
Nanos WhileStarting(Jitter& jitter) noexcept;

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_BACKOFF_H_
