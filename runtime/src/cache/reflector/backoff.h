// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How long a reflector waits before it retries, by cause. A request that has no connection waits at the client's
// ReconnectGate instead.
#ifndef KGEN_SRC_CACHE_REFLECTOR_BACKOFF_H_
#define KGEN_SRC_CACHE_REFLECTOR_BACKOFF_H_

#include <cstdint>

#include "core/execution/jitter.h"
#include "kgen/core/clock.h"

namespace kgen::cache {

// For a resource that fails: 403, 404, 500, or a response that is not a list. Each informer has one.
//
// The n-th delay since Reset() is random between half of min(2^n, 30) seconds and all of it, counting n from 0: 0.5 to
// 1 s, 1 to 2 s, and so on up to 15 to 30 s.
class Backoff {
 public:
  Nanos Next(Jitter& jitter) noexcept;
  void Reset() noexcept { step_ = Nanos(0); }  // after a success

 private:
  Nanos step_{};  // 0: the next delay is the first
};

// Delays the next watch after the server or a proxy has ended one early. A token bucket of 5 that refills at one token
// per second: while there is a token, the watch is reopened at once; otherwise after a delay that doubles from 0.5..1 s
// to 15..30 s. The delay starts over when the bucket is full, which takes up to five seconds of watching.
class EarlyEnds {
 public:
  // The delay before a watch that has just ended is reopened; 0: at once.
  Nanos Next(TimePoint now, Jitter& jitter) noexcept;

 private:
  static constexpr double kBurst = 5;
  double tokens_ = kBurst;
  TimePoint filled_{};  // later than now during a delay, which earns no tokens
  Backoff delay_;
};

// The delay that a server requested (Retry-After, in seconds) plus 0 to 100 %, so that its clients do not all return at
// once. At most five minutes, in case a broken proxy requests more.
Nanos AskedFor(std::int32_t seconds, Jitter& jitter) noexcept;

// For a server that has come back after the connection was lost, and may for a while refuse requests that it will
// accept later: 0.5 to 2 seconds.
Nanos WhileStarting(Jitter& jitter) noexcept;

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_BACKOFF_H_
