// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Sleeper: lets one thread sleep until any thread wakes it. All waits of the real executor, the clock and the
// simulation use it, so that only one file (waiter.cc) contains a condition variable.
#ifndef KGEN_SRC_CORE_EXECUTION_SLEEPER_H_
#define KGEN_SRC_CORE_EXECUTION_SLEEPER_H_

#include <string>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen::detail {

// Thread safety: Wake() from any thread; SleepUntil() from one at a time.
class Sleeper : public SharedObject {
 public:
  // Ends the current sleep, or the next one.
  virtual void Wake() noexcept = 0;
  // Returns true when woken, which consumes the wake, or false when `deadline` (of the machine's monotonic clock) has
  // passed, and at once in a forked child.
  virtual bool SleepUntil(TimePoint deadline) noexcept = 0;
};

Shared<Sleeper> MakeSleeper();

// Connects a thread executor with its waiters.
class WaitScope : public SharedObject {
 public:
  // A wait, on the stack of its thread: destructors wait, too, and must not allocate.
  struct Wait {
    Sleeper* sleeper;
    Wait* next = nullptr;
    Wait** link = nullptr;  // what refers to this one
  };
  // Called at the beginning and the end of a wait. The executor wakes the sleeper if it is closed in between.
  virtual void Enter(Wait& wait) noexcept = 0;
  virtual void Leave(Wait& wait) noexcept = 0;
  virtual bool closed() const noexcept = 0;
};

// A Waiter for real threads. Waits end with kCancelled when the executor is shut down.
Shared<Waiter> MakeThreadWaiter(std::string what, Shared<WaitScope> scope);

// True on a thread that must not block: it runs posted work, timers or I/O. Set by the code that starts such a thread.
bool& OnPostedThread() noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_SLEEPER_H_
