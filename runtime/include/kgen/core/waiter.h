// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Waiter: the only primitive that blocks.
//
// An Executor makes the Waiters, so that in simulation a blocking call steps the simulation instead of blocking it. Do
// not hold a lock across Wait(). Lint forbids condition variables, futures, sleeps and stop-token waits elsewhere.
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
// Ownership: shared by the waiting and the notifying side, so that either may drop it first. The waiting side may drop
// the last reference once Wait() has returned, even if the Notify() that ended it has not.
class Waiter : public SharedObject {
 public:
  static constexpr TimePoint kNoDeadline = TimePoint::max();  // waits for ever

  // Ends the current Wait(), or the next one.
  virtual void Notify() noexcept = 0;

  // Blocks until notified, and consumes the notification. A stop or deadline that is over at the call comes first.
  // Errors: kCancelled  `stop` was requested
  //         kTimeout    the deadline of the executor's clock passed
  //         kInvalidArgument  on a thread that must not block; or in a child of fork() without the threads of kgen
  //         kDeadlock   simulation only: nothing can run, so the wait would never end; the message lists who waits for
  //         what
  virtual Result<void> Wait(std::stop_token stop = {}, TimePoint deadline = kNoDeadline) = 0;
};

}  // namespace kgen

#endif  // KGEN_CORE_WAITER_H_
