// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Simulation: clock, executor and every other source of chance, driven by one seed.
//
// The production pipeline runs in virtual time here: the seed chooses which task or timer runs next
// and where a read is split. Each piece of Blocking work has a thread of its own, which runs only when its turn comes;
// a blocking call on the test's own thread steps the simulation until it returns.
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

// The choices of a simulation, in order: enough to replay it without the seed, and to shrink it.
using Trace = std::vector<std::uint32_t>;

// A handle to the result of spawned work. The test's thread owns it.
template <typename R>
class TaskResult {
 public:
  // Returns whether the work has returned.
  bool done() const noexcept { return state_->value.has_value(); }
  const R& result() const { return *state_->value; }  // only when done

 private:
  friend class Simulation;
  struct State : SharedObject {
    std::optional<R> value;
  };
  Shared<State> state_ = MakeShared<State>();
};

// Runs the work of a test in virtual time.
//
// Thread safety: only for the test's own thread; its executor and clock may be used from any simulated thread.
// Determinism: the same seed, program and library give the same trace, independent of pointers, hash seeds and wall
// time. Invariants (tests/runtime/testing/simulation_test.cc):
//   S1  At any moment at most one thread runs simulated work.
//   S2  Tasks of one strand run in the order of posting.
//   S3  Time moves only when nothing can run, and then to the earliest timer.
//   S4  RunUntilIdle() returns when only housekeeping timers and deadlines of blocked work remain; it never moves time
//       for one of those. One that is due before the next progress timer fires when time passes it, as in reality.
//   S5  Replaying a trace gives the same trace.
//   S6  A Wait() on the test's own thread steps the simulation, all timers included, and so lets time pass. With a
//       deadline it ends there at the latest. Without one it ends with kDeadlock when nothing can run and no timer is
//       left, or when an hour of virtual time has passed with only housekeeping and no progress timer is armed (a ping
//       or a watch deadline may end a hang; a resync that repeats forever does not).
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);  // decides all choices
  explicit Simulation(Trace replay);        // beyond the end of the trace it always takes the first choice
  // Starts nothing more, drops queued tasks, ends the waits of blocked work with kCancelled, one after the other, and
  // waits until that work has returned.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Return the executor and the clock of the simulation, for whatever runs in it.
  Shared<Executor> executor() const noexcept;
  Shared<Clock> clock() const noexcept;

  // Runs `function` as Blocking work.
  template <typename F>
  auto Spawn(F function) -> TaskResult<decltype(function())> {
    TaskResult<decltype(function())> task;
    executor()->Blocking("spawned", [state = task.state_, function = std::move(function)]() mutable {
      state->value.emplace(function());
    });
    return task;
  }

  // The two below are for the test's own thread; elsewhere they fail with kInvalidArgument. RunUntilIdle() and
  // Advance() rethrow an exception that escaped from a task or from blocking work.
  //
  // Runs everything that can run, firing progress timers, until only housekeeping timers and blocked work remain.
  // Returns the number of steps.
  // Errors: kDeadlock, with the last choices, after more than `max_steps` (a livelock)
  Result<std::size_t> RunUntilIdle(std::size_t max_steps = 10'000'000);
  // Runs up to a point in time: all timers fire, housekeeping too, and the clock ends exactly there.
  Result<std::size_t> Advance(Nanos duration, std::size_t max_steps = 10'000'000);

  // Makes a choice for the test, which becomes part of the trace: 0 <= result < n. For faults, sizes and split points.
  std::uint32_t Choose(std::uint32_t n);

  const Trace& trace() const noexcept;  // the choices so far
  // Returns the queued work, and what blocked work waits for, for messages.
  std::string WhoWaits() const;
  // The numbers of running blocking work, armed timers and queued tasks. All are zero after everything was stopped.
  struct Census {
    std::size_t blocking = 0, timers = 0, tasks = 0;  // now
  };
  Census census() const noexcept;

 private:
  class Impl;
  Impl* impl_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTING_SIMULATION_H_
