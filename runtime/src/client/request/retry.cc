// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/retry.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <string>

#include "client/request/pause.h"
#include "net/duration_text.h"

namespace kgen::detail {
namespace {

// Returns a number in [0, 1) that is random enough to spread clients; it need not be secret. It is derived from the
// clock, so that in virtual time it depends on the seed.
double Random(TimePoint now) noexcept {
  static std::atomic<std::uint64_t> count{0};
  std::uint64_t x = static_cast<std::uint64_t>(now.time_since_epoch().count()) +
                    count.fetch_add(1, std::memory_order_relaxed) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

}  // namespace

Result<void> CheckBackoff(const Backoff& backoff) {
  const auto refuse = [](const std::string& what) -> Result<void> {
    return Fail(Code::kInvalidArgument, "retry on conflict: Backoff::" + what);
  };
  if (backoff.base < Nanos(0)) {
    return refuse("base is " + net::DurationText(backoff.base) + ", but a delay must not be negative");
  }
  if (!(backoff.factor > 0) || !std::isfinite(backoff.factor)) {
    return refuse("factor is " + std::to_string(backoff.factor) + ", but it must be positive and finite");
  }
  if (!(backoff.jitter >= 0) || !std::isfinite(backoff.jitter)) {
    return refuse("jitter is " + std::to_string(backoff.jitter) + ", but it must be finite and not negative");
  }
  if (backoff.steps < 1) {
    return refuse("steps is " + std::to_string(backoff.steps) + ", but there must be at least one attempt");
  }
  if (backoff.cap < Nanos(0)) {
    return refuse("cap is " + net::DurationText(backoff.cap) +
                  ", but a delay must not be negative; kgen::kNoLimit means no cap");
  }
  return {};
}

Result<void> WaitBackoff(const Backoff& backoff, int attempt) {
  Shared<Executor> fallback = backoff.executor == nullptr ? DefaultExecutor() : Shared<Executor>();
  Executor& executor = backoff.executor == nullptr ? *fallback : *backoff.executor;
  if (executor.InPostedTask()) {
    return Fail(Code::kInvalidArgument, "a blocking call on a thread that runs posted tasks; use Executor::Blocking");
  }
  const TimePoint now = executor.clock()->Now();
  const double cap = std::chrono::duration<double>(backoff.cap).count();
  const double growth = std::min(std::pow(backoff.factor, attempt - 1), 1e18);  // finite, also for a base of zero
  double seconds = std::chrono::duration<double>(backoff.base).count() * growth;
  seconds *= 1 + backoff.jitter * Random(now);
  seconds = std::min(seconds, cap);
  const Nanos delay(static_cast<Nanos::rep>(std::min(seconds, 1e8) * 1e9));
  return client::Pause(executor, "the next attempt", delay);
}

}  // namespace kgen::detail
