// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Threads for the blocking tasks of a simulation. They outlive it and are used again by the next one: a run of
// thousands of short simulations would otherwise spend its time on making threads.
#ifndef KGEN_SRC_TESTING_RUNNER_THREAD_H_
#define KGEN_SRC_TESTING_RUNNER_THREAD_H_

#include "core/sleeper.h"
#include "core/thread.h"
#include "kgen/core/clock.h"

namespace kgen::testing {

// Thread safety: Take() from any thread; the rest is for the owner that took the thread.
class RunnerThread {
 public:
  // A parked thread, or a new one. Null when the system has none to give.
  static RunnerThread* Take();

  // Lets the thread run `task`. Then it runs `end` (with nothing of the task left) and is free for the next one to
  // take it.
  void Start(Task task, Task end);

 private:
  struct Parked;
  void Loop();

  const Shared<detail::Sleeper> sleeper_ = detail::MakeSleeper();
  Task task_, end_;  // written before the wake, read after it
  bool quit_ = false;
  detail::Thread thread_;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_RUNNER_THREAD_H_
