// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The one way to block. [D9]
//
// A Waiter is made by an Executor, so that in simulation a blocking call steps the simulation instead of stopping the
// world. No lock may be held across Wait(); lint forbids condition variables, futures, sleeps and stop-token waits
// elsewhere.
#ifndef KGEN_CORE_WAITER_H_
#define KGEN_CORE_WAITER_H_

#include <stop_token>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// A latch for one waiting thread.
//
// Thread safety: Notify() from any thread, any number of times; Wait() from one thread at a time.
// Ownership: shared between who waits and who notifies, so that either may go first.
class Waiter : public SharedObject {
 public:
  static constexpr TimePoint kNoDeadline = TimePoint::max();

  // Ends a Wait() that is under way, or the next one.
  virtual void Notify() noexcept = 0;

  // Blocks until notified. Consumes the notification, so the Waiter can be used again.
  // Errors: kCancelled  `stop` was requested
  //         kTimeout    the deadline of the executor's clock passed
  //         kDeadlock   simulation only: nothing can run, so nobody would ever notify; the message says who waits for
  //         whom
  virtual Result<void> Wait(std::stop_token stop = {}, TimePoint deadline = kNoDeadline) = 0;
};

}  // namespace kgen

#endif  // KGEN_CORE_WAITER_H_
