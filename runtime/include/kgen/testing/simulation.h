// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Simulation: clock, executor and every other source of chance, driven by one seed. [D10]
//
// The same pipeline that runs in production runs here in virtual time: which task runs next, which timer, where a read
// is cut, is a choice that the seed takes. A Blocking body is a thread that runs only while it holds the baton; a
// blocking call on the test's own thread steps the simulation until it is answered.
//
//   kgen::testing::Simulation simulation(seed);
//   auto wait = simulation.Spawn([&] { return gate.WaitUntil("7", {}); });
//   simulation.RunUntilIdle();
//   EXPECT_FALSE(wait.done());
#ifndef KGEN_TESTING_SIMULATION_H_
#define KGEN_TESTING_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::testing {

// What a simulation chose, in order: enough to replay it without the seed, and to shrink it.
using Trace = std::vector<std::uint32_t>;

// The result of a body that was spawned. Owned by the test's thread.
template <typename R>
class TaskResult {
 public:
  bool done() const noexcept { return state_->value.has_value(); }
  const R& result() const { return *state_->value; }  // only when done

 private:
  friend class Simulation;
  struct State : SharedObject {
    std::optional<R> value;
  };
  Shared<State> state_ = MakeShared<State>();
};

// Thread safety: of the test's own thread; the executor and the clock it gives out may be used from any simulated
// thread. Determinism: the same seed, program and library give the same trace. Pointers, hash seeds and wall time take
// no part. Invariants (tests/runtime/testing/simulation_test.cc):
//   S1  At any moment at most one thread runs simulated work.
//   S2  Tasks of one strand run in the order of posting.
//   S3  Time moves only when nothing can run, and then to the earliest timer.
//   S4  RunUntilIdle() returns when only housekeeping timers and deadlines of blocked bodies remain; it never moves
//       time for one of those. One that is on the way to a progress timer fires when time passes it, as it would in
//       reality.
//   S5  Replaying a trace gives the same trace.
//   S6  A Wait() on the test's own thread steps the simulation, all timers included: whoever waits lets time pass.
//       With a deadline it ends there at the latest. Without one it ends with kDeadlock when nothing can run and no
//       timer is left, or when an hour of virtual time has passed with housekeeping alone and no progress timer is
//       armed (a ping or a watch deadline may free what hangs; a resync that goes on for ever does not).
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);
  explicit Simulation(Trace replay);  // beyond its end the first choice is taken always
  // Runs nothing that has not started; drops what is queued, releases blocked bodies with kCancelled, one after the
  // other, and waits until they have ended.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  Shared<Executor> executor() const noexcept;
  Shared<Clock> clock() const noexcept;

  // Runs `body` as Blocking work.
  template <typename F>
  auto Spawn(F body) -> TaskResult<decltype(body())> {
    TaskResult<decltype(body())> task;
    executor()->Blocking("spawned",
                         [state = task.state_, body = std::move(body)]() mutable { state->value.emplace(body()); });
    return task;
  }

  // The two below are for the test's own thread; elsewhere they fail with kInvalidArgument. An exception that left a
  // body or a task is thrown again by RunUntilIdle() and Advance().
  //
  // Runs whatever can run, letting progress timers fire, until only housekeeping timers and blocked bodies remain.
  // Gives the number of steps. Fails the process' test by an Error if it takes more than `max_steps` (a live-lock):
  // kDeadlock with the last choices.
  Result<std::size_t> RunUntilIdle(std::size_t max_steps = 10'000'000);
  // The same, up to a moment: all timers fire, housekeeping too, and the clock ends exactly there.
  Result<std::size_t> Advance(Nanos duration, std::size_t max_steps = 10'000'000);

  // A choice of the test's own, part of the trace: 0 <= result < n. Faults, sizes and cuts ask here.
  std::uint32_t Choose(std::uint32_t n);

  const Trace& trace() const noexcept;
  // What is queued, which bodies block and on what: for messages.
  std::string WhoWaits() const;
  // Bodies that have started and not ended, timers that are armed, tasks that are queued. All zero after everything was
  // stopped.
  struct Census {
    std::size_t bodies = 0, timers = 0, tasks = 0;
  };
  Census census() const noexcept;

 private:
  class Impl;
  Impl* impl_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTING_SIMULATION_H_
