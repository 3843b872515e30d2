// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Threads for the blocking tasks of a simulation. They outlive it and the next simulation reuses them; otherwise a run
// of thousands of short simulations would spend most of its time on creating threads.
#ifndef KGEN_SRC_TESTING_RUNNER_THREAD_H_
#define KGEN_SRC_TESTING_RUNNER_THREAD_H_

#include "core/execution/sleeper.h"
#include "core/execution/thread.h"
#include "kgen/core/clock.h"

namespace kgen::testing {

// Thread safety: Take() from any thread; the rest is for the owner that took the thread.
class RunnerThread {
 public:
  // Returns a parked thread or a new one, or null if the system cannot create one.
  static RunnerThread* Take();

  // Runs `task` on the thread, destroys it, and runs `end`. The thread is then free for the next Take().
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
