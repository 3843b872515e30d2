// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The state that a simulation shares with its executor, clock and handles. The scheduler, posted tasks and timers run
// on the test's own thread. Each blocking task has a thread that runs only between Resume() and the next Yield(), so
// only one thread runs at any time. No lock is needed: each handover orders all memory accesses.
#ifndef KGEN_SRC_TESTING_SIMULATION_STATE_H_
#define KGEN_SRC_TESTING_SIMULATION_STATE_H_

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/execution/sleeper.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/testing/simulation.h"

namespace kgen::testing {

class SimulationState;

class SimStrand final : public Strand {
 public:
  struct Item {
    Task task;
    bool blocking = false;
  };
  explicit SimStrand(std::string_view name) : name_(name) {}
  std::string_view name() const noexcept override { return name_; }

  std::deque<Item> items;
  bool scheduled = false;  // in `ready_`, or held by a blocking task

 private:
  const std::string name_;
};

// Something that runs code and can block: a blocking task, or the test's own thread.
struct Runner : SharedObject {
  std::string name;
  Task task;                 // until it starts
  Shared<SimStrand> strand;  // set by BlockingOn(); held until the task ends
  bool started = false, ended = false;
  // While it waits:
  const std::string* waits_for = nullptr;
  TimePoint deadline = Waiter::kNoDeadline;
  bool ready = false;  // resumes when it is chosen
  bool timed_out = false;
  Shared<detail::Sleeper> baton = detail::MakeSleeper();
};

class SimulationState final : public SharedObject {
 public:
  using TimerKey = std::pair<TimePoint, std::uint64_t>;
  struct ArmedTimer {
    TimerKind kind = TimerKind::kProgress;
    Task task;
  };
  enum class Until : std::uint8_t { kIdle, kMoment, kWoken };

  explicit SimulationState(std::uint64_t seed);
  explicit SimulationState(Trace replay);

  // The executor calls this.
  void Push(const Shared<SimStrand>& strand, SimStrand::Item item);
  void AddBlocking(std::string name, Task task, Shared<SimStrand> strand);
  // The clock calls these. A closed simulation drops the task.
  TimerKey AddTimer(TimePoint when, TimerKind kind, Task task);
  void RemoveTimer(const TimerKey& key) noexcept;
  // Waiters call these. Block() blocks the calling runner until MakeReady() or its deadline.
  Shared<Runner> Current() noexcept;
  Result<void> Block(Runner& runner);
  void MakeReady(Runner& runner) noexcept;

  // The simulation calls these.
  Result<std::size_t> Run(Until until, TimePoint moment, std::size_t max_steps);
  std::uint32_t Choose(std::uint32_t n);
  void Close();
  std::string WhoWaits() const;
  Simulation::Census census() const noexcept;
  Result<void> CheckOwnThread() const;
  void Rethrow();

  TimePoint now() const noexcept { return now_; }
  bool in_posted_task() const noexcept { return in_posted_task_; }
  bool closed() const noexcept { return closed_; }
  const Trace& trace() const noexcept { return trace_; }

 private:
  struct Ready {
    Shared<SimStrand> strand;  // run its next item
    Shared<Runner> runner;     // start or resume it
  };

  std::uint64_t NextRandom() noexcept;
  std::uint32_t ChooseReady();
  bool Step();  // false: the test's own thread was chosen
  void RunItem(Shared<SimStrand> strand);
  void RunPosted(Task task) noexcept;
  void Resume(const Shared<Runner>& runner);
  void Start(const Shared<Runner>& runner);
  void AwaitBaton(const Shared<Runner>& runner);
  void Yield(Runner& runner);
  void AfterItem(Shared<SimStrand> strand);
  bool FireTimer(Until until, TimePoint moment);
  void KeepException() noexcept;
  void Note(std::string_view what);
  std::string LastSteps() const;

  // Random choices.
  std::uint64_t random_ = 0;
  std::uint32_t habit_ = 0;  // the bias of this seed: even, mostly the oldest, or mostly the newest
  std::optional<Trace> replay_;
  std::size_t replayed_ = 0;
  Trace trace_;

  // The strands and runners that can run, in the order in which they became ready.
  std::vector<Ready> ready_;
  std::vector<Shared<Runner>> runners_;  // blocking tasks that have started and not ended, in the order of starting
  std::size_t queued_ = 0;               // the number of strand items and blocking tasks that have not started
  const Shared<Runner> own_ = MakeShared<Runner>();  // the test's own thread
  std::exception_ptr exception_;                     // the first one not yet rethrown

  // Time.
  TimePoint now_{};
  TimePoint patience_{};  // until when housekeeping alone may go on in S6
  std::uint64_t next_timer_ = 0;
  std::map<TimerKey, ArmedTimer> timers_;  // including the deadlines of waits, as housekeeping
  std::size_t progress_timers_ = 0;        // the number of progress timers in `timers_`

  bool stepping_ = false;
  bool in_posted_task_ = false;
  bool closed_ = false;

  static constexpr std::size_t kNotes = 16;
  std::vector<std::string> notes_ = std::vector<std::string>(kNotes);
  std::size_t steps_ = 0;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_SIMULATION_STATE_H_
