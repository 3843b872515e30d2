// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How long a work queue lets an item wait that is added with a rate limit: after a failure, usually.
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

// Thread safety: all members from any thread. Never blocks.
class RateLimiter : public SharedObject {
 public:
  // The delay of an item that was added with a rate limit `failures` times before, since it was forgotten. Called at
  // most once per addition, because a bucket consumes a token. A negative one counts as zero. If it throws, the queue
  // notifies its observer (OnHandlerFailed), and the item waits as with ExponentialRateLimiter().
  virtual Nanos When(int failures, TimePoint now) = 0;
};

// These are client-go's limiters, with its defaults.
//
// base, 2 * base, 4 * base, ..., at most `limit`, which may be kNoLimit.
// Errors: kInvalidArgument  `base` or `limit` is not positive
Result<Shared<RateLimiter>> ExponentialRateLimiter(Nanos base = std::chrono::milliseconds(5),
                                                   Nanos limit = std::chrono::seconds(1000));
// A token bucket over all items: `burst` at once, then `per_second`.
// Errors: kInvalidArgument  `per_second` is not positive, or `burst` is less than 1
Result<Shared<RateLimiter>> BucketRateLimiter(double per_second = 10, int burst = 100);
// The longest delay that one of them asks for. Each is asked each time, so a bucket always gives a token. A null one
// asks for no delay.
Shared<RateLimiter> MaxOfRateLimiter(std::vector<Shared<RateLimiter>> limiters);
// What `limiter` asks for, at most `limit`, which may be zero or kNoLimit. A null one asks for no delay.
// Errors: kInvalidArgument  `limit` is negative
Result<Shared<RateLimiter>> WithMaxWait(Shared<RateLimiter> limiter, Nanos limit);
// client-go's DefaultControllerRateLimiter, the default of queues without priorities: the larger of an exponential
// delay of the item and an overall bucket.
Shared<RateLimiter> DefaultControllerRateLimiter();

}  // namespace kgen

#endif  // KGEN_CONTROLLER_RATE_LIMITER_H_
