// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Machine: a separate machine within a simulation. Its clock runs at its own rate from its own start, and it can be
// suspended: then nothing of it runs, Clock::Now() stands still, and NowWithSuspend() goes on.
//
//   kgen::test_support::Machine machine(simulation, {.rate = 1.25});
//   auto connection = kgen::Connection::Over({.transport = transport, .executor = machine.executor()});
//   machine.Suspend();
#ifndef KGEN_TESTS_SUPPORT_MACHINE_H_
#define KGEN_TESTS_SUPPORT_MACHINE_H_

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"
#include "kgen/testing/simulation.h"

namespace kgen::test_support {

struct MachineOptions {
  double rate = 1;           // of its clock, by the simulation's
  Nanos booted{};            // Now() at the beginning
  Nanos suspended_before{};  // by how much NowWithSuspend() is ahead at the beginning
  Nanos skew{};              // of its wall clock
};

// No locks: a simulation runs one thread at a time.
class MachineState final : public SharedObject {
 public:
  struct HeldStrand final : Strand {
    explicit HeldStrand(Shared<Strand> of) : inner(std::move(of)) {}
    std::string_view name() const noexcept override { return inner->name(); }
    const Shared<Strand> inner;
    std::deque<Task> tasks{};
    int missed = 0;  // tasks whose time came while the machine was suspended
  };
  struct HeldTimer final : Timer::State {
    void Cancel() noexcept override {
      inner.Cancel();
      const Task dropped = std::exchange(task, nullptr);
    }
    TimePoint when{};
    TimerKind kind{};
    Task task{};
    Timer inner{};
  };

  MachineState(Shared<Executor> inner, const MachineOptions& options)
      : executor(std::move(inner)), clock(executor->clock()), options_(options), begun_(clock->Now()) {}

  TimePoint Now() const noexcept {
    const TimePoint until = suspended_ ? suspended_at_ : clock->Now();
    return TimePoint(options_.booted + Local(until - begun_ - slept_));
  }
  TimePoint NowWithSuspend() const noexcept {
    return TimePoint(options_.booted + options_.suspended_before + Local(clock->Now() - begun_));
  }
  std::chrono::sys_time<std::chrono::microseconds> WallNow() const noexcept {
    return clock->WallNow() + std::chrono::floor<std::chrono::microseconds>(options_.skew);
  }
  TimePoint Simulated(TimePoint local) const noexcept {
    if (local == TimePoint::max()) return local;
    const Nanos left = local - Now();
    return left <= Nanos()
               ? clock->Now()
               : Later(clock->Now(),
                       Nanos(static_cast<Nanos::rep>(static_cast<double>(left.count()) / options_.rate + 1)));
  }

  bool suspended() const noexcept { return suspended_; }
  void Suspend() {
    if (std::exchange(suspended_, true)) return;
    suspended_at_ = clock->Now();
  }
  void Resume() {
    if (!std::exchange(suspended_, false)) return;
    slept_ += clock->Now() - suspended_at_;
    for (const Shared<HeldStrand>& strand : std::exchange(strands_, {})) {
      for (int n = std::exchange(strand->missed, 0); n > 0; --n) Pump(strand);
    }
    for (const Shared<HeldTimer>& timer : std::exchange(timers_, {})) Arm(timer);
    for (const Shared<Waiter>& waiter : std::exchange(waiters_, {})) waiter->Notify();
  }

  void Post(const Shared<HeldStrand>& strand, Task task) {
    strand->tasks.push_back(std::move(task));
    Pump(strand);
  }
  void Arm(const Shared<HeldTimer>& timer) {
    if (!timer->task) return;
    timer->inner = clock->At(Simulated(timer->when), timer->kind, [self = Shared<MachineState>(this), timer] {
      if (!timer->task) return;
      if (self->suspended_) {
        self->timers_.push_back(timer);
      } else if (self->Now() < timer->when) {
        self->Arm(timer);
      } else {
        Task due = std::exchange(timer->task, nullptr);
        due();
      }
    });
  }
  void WaitUntilAwake() {
    while (suspended_) {
      const Shared<Waiter> waiter = executor->MakeWaiter("a suspended machine");
      waiters_.push_back(waiter);
      if (!waiter->Wait()) return;  // the simulation has ended
    }
  }

  // Drops all tasks and timers, which may hold what holds them.
  void Drop() {
    for (const Shared<HeldStrand>& strand : std::exchange(all_strands, {})) {
      const std::deque<Task> dropped = std::exchange(strand->tasks, {});
    }
    for (const Shared<HeldTimer>& timer : std::exchange(all_timers, {})) timer->Cancel();
  }

  const Shared<Executor> executor;
  const Shared<Clock> clock;
  std::vector<Shared<HeldStrand>> all_strands{};
  std::vector<Shared<HeldTimer>> all_timers{};

 private:
  Nanos Local(Nanos simulated) const noexcept {
    return Nanos(static_cast<Nanos::rep>(static_cast<double>(simulated.count()) * options_.rate));
  }
  void Pump(const Shared<HeldStrand>& strand) {
    executor->Post(strand->inner, [self = Shared<MachineState>(this), strand] {
      if (self->suspended_) {
        if (strand->missed++ == 0) self->strands_.push_back(strand);
        return;
      }
      if (strand->tasks.empty()) return;  // dropped
      Task task = std::move(strand->tasks.front());
      strand->tasks.pop_front();
      task();
    });
  }

  const MachineOptions options_;
  const TimePoint begun_;
  Nanos slept_{};
  bool suspended_ = false;
  TimePoint suspended_at_{};
  std::vector<Shared<HeldStrand>> strands_{};
  std::vector<Shared<HeldTimer>> timers_{};
  std::vector<Shared<Waiter>> waiters_{};
};

class MachineClock final : public Clock {
 public:
  explicit MachineClock(Shared<MachineState> state) : state_(std::move(state)) {}
  TimePoint Now() noexcept override { return state_->Now(); }
  TimePoint NowWithSuspend() noexcept override { return state_->NowWithSuspend(); }
  std::chrono::sys_time<std::chrono::microseconds> WallNow() noexcept override { return state_->WallNow(); }
  Timer At(TimePoint when, TimerKind kind, Task task) override {
    auto timer = MakeShared<MachineState::HeldTimer>();
    timer->when = when;
    timer->kind = kind;
    timer->task = std::move(task);
    state_->all_timers.push_back(timer);
    state_->Arm(timer);
    return Timer(std::move(timer));
  }

 private:
  const Shared<MachineState> state_;
};

class MachineWaiter final : public Waiter {
 public:
  MachineWaiter(Shared<MachineState> state, Shared<Waiter> inner)
      : state_(std::move(state)), inner_(std::move(inner)) {}
  void Notify() noexcept override { inner_->Notify(); }
  Result<void> Wait(std::stop_token stop, TimePoint deadline) override {
    for (;;) {
      Result<void> waited = inner_->Wait(stop, state_->Simulated(deadline));
      state_->WaitUntilAwake();
      if (waited || waited.error().code() != Code::kTimeout || state_->Now() >= deadline) return waited;
    }
  }

 private:
  const Shared<MachineState> state_;
  const Shared<Waiter> inner_;
};

class MachineExecutor final : public Executor {
 public:
  explicit MachineExecutor(Shared<MachineState> state)
      : state_(std::move(state)), clock_(MakeShared<MachineClock>(state_)) {}

  Shared<Strand> MakeStrand(std::string_view name) override {
    state_->all_strands.push_back(MakeShared<MachineState::HeldStrand>(state_->executor->MakeStrand(name)));
    return state_->all_strands.back();
  }
  void Post(const Shared<Strand>& strand, Task task) override { state_->Post(Mine(strand), std::move(task)); }
  // After the machine was suspended, the work is not in order with posted tasks.
  void BlockingOn(const Shared<Strand>& strand, Task work) override {
    state_->executor->BlockingOn(Mine(strand)->inner, Awake(std::move(work)));
  }
  void Blocking(std::string name, Task work) override {
    state_->executor->Blocking(std::move(name), Awake(std::move(work)));
  }
  Shared<Waiter> MakeWaiter(std::string_view what) override {
    return MakeShared<MachineWaiter>(state_, state_->executor->MakeWaiter(what));
  }
  Shared<Clock> clock() noexcept override { return clock_; }
  bool InPostedTask() const noexcept override { return state_->executor->InPostedTask(); }

 private:
  static Shared<MachineState::HeldStrand> Mine(const Shared<Strand>& strand) {
    return Shared<MachineState::HeldStrand>(static_cast<MachineState::HeldStrand*>(strand.get()));
  }
  Task Awake(Task work) {
    return [state = state_, work = std::move(work)]() mutable {
      state->WaitUntilAwake();
      work();
    };
  }

  const Shared<MachineState> state_;
  const Shared<Clock> clock_;
};

// Used on the test's own thread, between the steps of the simulation.
class Machine {
 public:
  Machine(const testing::Simulation& simulation, const MachineOptions& options)
      : state_(MakeShared<MachineState>(simulation.executor(), options)),
        executor_(MakeShared<MachineExecutor>(state_)) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { state_->Drop(); }

  Shared<Executor> executor() const noexcept { return executor_; }
  Shared<Clock> clock() const noexcept { return executor_->clock(); }
  bool suspended() const noexcept { return state_->suspended(); }
  void Suspend() { state_->Suspend(); }
  void Resume() { state_->Resume(); }

 private:
  const Shared<MachineState> state_;
  const Shared<MachineExecutor> executor_;
};

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_MACHINE_H_
