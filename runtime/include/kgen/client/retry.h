// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RetryOnConflict: read, change, write, and repeat if the object was changed in between.
#ifndef KGEN_CLIENT_RETRY_H_
#define KGEN_CLIENT_RETRY_H_

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"

namespace kgen {

// Delay after attempt n (from 1): base * factor^(n-1), times a random part in [1, 1 + jitter), at most cap.
struct Backoff {
  Nanos base = std::chrono::milliseconds(10);
  double factor = 1.0;
  double jitter = 0.1;
  int steps = 5;  // attempts in all
  Nanos cap = std::chrono::minutes(5);
  // The executor whose clock measures the delays; null: DefaultExecutor(), in real time. A test in virtual time passes
  // that of its Cluster. Not owned.
  Executor* executor = nullptr;
};

namespace detail {
// Waits after attempt `attempt` (from 1). Blocks. Errors: kInvalidArgument on a thread that runs posted work.
Result<void> WaitBackoff(const Backoff& backoff, int attempt);
}  // namespace detail

// Calls `body`, which returns a Result<T>, until its result is not kConflict, at most backoff.steps times. Returns the
// result of the last call. Blocks between attempts.
template <typename F>
auto RetryOnConflict(F&& body, const Backoff& backoff = {}) -> decltype(body()) {
  for (int attempt = 1;; ++attempt) {
    auto result = body();
    if (result || result.error().code() != Code::kConflict || attempt >= backoff.steps) return result;
    if (auto waited = detail::WaitBackoff(backoff, attempt); !waited) return Fail(std::move(waited).error());
  }
}

}  // namespace kgen

#endif  // KGEN_CLIENT_RETRY_H_
