// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RateLimiter: says how long an item waits that is added to a work queue with a rate limit, usually after a failure.
//
//   queue counts the item's failures --> RateLimiter::When(failures, now) --> the item's delay
//
// The queue keeps the count of each item, and the limiter only has the formula. Two queues that share a limiter
// therefore do not add up their failures; they do share the tokens of a bucket.
#ifndef KGEN_CONTROLLER_RATE_LIMITER_H_
#define KGEN_CONTROLLER_RATE_LIMITER_H_

#include <chrono>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// Computes the delays of items. Thread safety: all members from any thread. Never blocks.
class RateLimiter : public SharedObject {
 public:
  // Returns the delay of an item that was added with a rate limit `failures` times since it was forgotten, without this
  // time. It is called at most once per addition, because a bucket consumes a token. A negative delay counts as zero.
  // If it throws, the queue notifies its observer (OnHandlerFailed), and the item waits as with
  // ExponentialRateLimiter().
  virtual Nanos When(int failures, TimePoint now) = 0;
};

// These are client-go's limiters, with its defaults.
//
// Delays by base, 2 * base, 4 * base, ..., at most by `limit`, which may be kNoLimit.
// Errors: kInvalidArgument  `base` or `limit` is not positive
Result<Shared<RateLimiter>> ExponentialRateLimiter(Nanos base = std::chrono::milliseconds(5),
                                                   Nanos limit = std::chrono::seconds(1000));
// A token bucket over all items: `burst` at once, then `per_second`.
// Errors: kInvalidArgument  `per_second` is not positive, or `burst` is less than 1
Result<Shared<RateLimiter>> BucketRateLimiter(double per_second = 10, int burst = 100);
// Delays by the longest delay that one of the limiters asks for. Each is asked each time, so a bucket always gives a
// token. A null limiter asks for no delay.
Shared<RateLimiter> MaxOfRateLimiter(std::vector<Shared<RateLimiter>> limiters);
// Delays as `limiter` does, but at most by `limit`, which may be zero or kNoLimit. A null limiter asks for no delay.
// Errors: kInvalidArgument  `limit` is negative
Result<Shared<RateLimiter>> WithMaxWait(Shared<RateLimiter> limiter, Nanos limit);
// Returns client-go's DefaultControllerRateLimiter, the default of queues without priorities: the larger of an
// exponential delay of the item and an overall bucket.
Shared<RateLimiter> DefaultControllerRateLimiter();

}  // namespace kgen

#endif  // KGEN_CONTROLLER_RATE_LIMITER_H_
