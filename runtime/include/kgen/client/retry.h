// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RetryOnConflict: read, change, write, and repeat if the object was changed in between.
#ifndef KGEN_CLIENT_RETRY_H_
#define KGEN_CLIENT_RETRY_H_

#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"

namespace kgen {

// The attempts of RetryOnConflict(), and the delays between them: after attempt n (from 1) it is base * factor^(n-1),
// times a random number in [1, 1 + jitter), and at most cap. RetryOnConflict() refuses values that are out of range.
struct Backoff {
  Nanos base = std::chrono::milliseconds(10);  // Default: 10 ms. Zero: no delay.
  double factor = 1.0;                         // Default: 1. More than zero, and finite.
  double jitter = 0.1;                         // Default: 0.1. Zero: no random part. Not negative, and finite.
  int steps = 5;                               // Default: 5. How many attempts in all, at least one.
  Nanos cap = std::chrono::minutes(5);         // Default: 5 min. kNoLimit: none.
  // Default: null, which is DefaultExecutor(), in real time. The executor whose clock measures the delays. A test in
  // virtual time passes the executor of its Cluster. Not owned.
  Executor* executor = nullptr;
};

namespace detail {
// Errors: kInvalidArgument  a value is out of its range; the message names it
Result<void> CheckBackoff(const Backoff& backoff);
// Waits after attempt `attempt` (from 1). Blocks. Errors: kInvalidArgument on a thread that runs posted work.
Result<void> WaitBackoff(const Backoff& backoff, int attempt);
}  // namespace detail

// Calls `body`, which returns a Result<T>, until its result is not kConflict, at most backoff.steps times. Returns the
// result of the last call. Blocks between attempts.
//
// Errors: the last error of `body`
//         kInvalidArgument  a value of `backoff` is out of its range, and `body` is not called; or, after a conflict, a
//                           thread that must not block
template <typename F>
auto RetryOnConflict(F&& body, const Backoff& backoff = {}) -> decltype(body()) {
  if (auto valid = detail::CheckBackoff(backoff); !valid) return Fail(std::move(valid).error());
  for (int attempt = 1;; ++attempt) {
    auto result = body();
    if (result || result.error().code() != Code::kConflict || attempt >= backoff.steps) return result;
    if (auto waited = detail::WaitBackoff(backoff, attempt); !waited) return Fail(std::move(waited).error());
  }
}

}  // namespace kgen

#endif  // KGEN_CLIENT_RETRY_H_
