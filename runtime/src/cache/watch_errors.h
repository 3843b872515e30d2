// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a failed list or watch means for the next step of a reflector. [INF ER-01 to ER-09]
#ifndef KGEN_RUNTIME_CACHE_WATCH_ERRORS_H_
#define KGEN_RUNTIME_CACHE_WATCH_ERRORS_H_

#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::cache {

bool IsExpired(const Error& error);          // reason Expired or Gone, or 410 with a reason that nobody knows [ER-01]
bool HasReasonExpired(const Error& error);   // that reason alone: an expired continue token [LW-08]
bool IsVersionTooLarge(const Error& error);  // of three generations of servers [ER-02]
bool IsRetriable(
    const Error& error);  // no connection came about, or 429: the same request again, later [ER-03, ER-05, WL-07]
bool IsInternal(const Error& error);  // reason InternalError, or 500 with a reason that nobody knows [ER-07]
bool IsRefusal(const Error& error);   // 401, 403, 404: somebody has to do something about it [D15]

// So many refusals in a row end a wait for the sync. [D15]
inline constexpr int kRefusalsToGiveUp = 3;

// Internal errors inside a stream that are passed over at once, while they last no longer than the budget. [ER-08]
class RetryBudget {
 public:
  explicit RetryBudget(Nanos budget) noexcept : budget_(budget) {}
  bool Allow(TimePoint now) noexcept;

 private:
  Nanos budget_;
  TimePoint first_{};  // of the series
  TimePoint last_{};
  bool in_series_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_WATCH_ERRORS_H_
