// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/testing/simulation.h"

#include <chrono>
#include <stop_token>
#include <utility>

#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "testing/simulation_state.h"

namespace kgen::testing {
namespace {

class SimTimer final : public Timer::State {
 public:
  SimTimer(Shared<SimulationState> state, SimulationState::TimerKey key) : state_(std::move(state)), key_(key) {}
  void Cancel() noexcept override { state_->RemoveTimer(key_); }

 private:
  const Shared<SimulationState> state_;
  const SimulationState::TimerKey key_;
};

class SimClock final : public Clock {
 public:
  explicit SimClock(Shared<SimulationState> state) : state_(std::move(state)) {}
  TimePoint Now() noexcept override { return state_->now(); }
  std::chrono::sys_time<std::chrono::microseconds> WallNow() noexcept override {
    using namespace std::chrono;
    return sys_days(January / 1 / 2026) + floor<microseconds>(state_->now().time_since_epoch());
  }
  Timer At(TimePoint when, TimerKind kind, Task task) override {
    return Timer(MakeShared<SimTimer>(state_, state_->AddTimer(when, kind, std::move(task))));
  }

 private:
  const Shared<SimulationState> state_;
};

class SimWaiter final : public Waiter {
 public:
  SimWaiter(Shared<SimulationState> state, std::string_view what) : state_(std::move(state)), what_(what) {}

  void Notify() noexcept override {
    notified_ = true;
    if (waiting_ != nullptr) state_->MakeReady(*waiting_);
  }

  Result<void> Wait(std::stop_token stop, TimePoint deadline) override {
    if (detail::ForkedChild()) return Fail(detail::ForkedError());
    if (state_->in_posted_task()) {
      return Fail(
          Error(Code::kInvalidArgument, "a blocking call in a posted task; use Executor::Blocking").With(what_));
    }
    // First, as the real waiter does, so that a loop ends even if it is notified again and again.
    if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(what_));
    // Without a notification it blocks below even then, so that others run while a task polls.
    if (notified_ && state_->now() >= deadline) return Fail(Error(Code::kTimeout, "the deadline passed").With(what_));
    if (std::exchange(notified_, false)) return {};
    if (state_->closed()) return Fail(Error(Code::kCancelled, "the simulation has ended").With(what_));

    // When the end of the simulation releases a blocked task, the test may already have released the waiter.
    const Shared<SimWaiter> self(this);
    const Shared<Runner> runner = state_->Current();
    runner->waits_for = &what_;
    runner->deadline = deadline;
    waiting_ = runner.get();
    Result<void> blocked;
    {
      const std::stop_callback wake(stop, [&] { state_->MakeReady(*runner); });
      blocked = state_->Block(*runner);
    }
    waiting_ = nullptr;
    runner->waits_for = nullptr;
    if (std::exchange(notified_, false)) return {};
    if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(what_));
    if (!blocked) return blocked.error().With(what_);
    if (runner->timed_out) return Fail(Error(Code::kTimeout, "the deadline passed").With(what_));
    return Fail(Error(Code::kCancelled, "the simulation has ended").With(what_));
  }

 private:
  const Shared<SimulationState> state_;
  const std::string what_;
  bool notified_ = false;
  Runner* waiting_ = nullptr;
};

class SimExecutor final : public Executor {
 public:
  SimExecutor(Shared<SimulationState> state, Shared<Clock> clock)
      : state_(std::move(state)), clock_(std::move(clock)) {}

  Shared<Strand> MakeStrand(std::string_view name) override { return MakeShared<SimStrand>(name); }
  void Post(const Shared<Strand>& strand, Task task) override { state_->Push(Mine(strand), {std::move(task), false}); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override {
    state_->Push(Mine(strand), {std::move(work), true});
  }
  void Blocking(std::string name, Task work) override { state_->AddBlocking(std::move(name), std::move(work), {}); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return MakeShared<SimWaiter>(state_, what); }
  Shared<Clock> clock() noexcept override { return clock_; }
  bool InPostedTask() const noexcept override { return state_->in_posted_task(); }

 private:
  static Shared<SimStrand> Mine(const Shared<Strand>& strand) {
    return Shared<SimStrand>(static_cast<SimStrand*>(strand.get()));
  }

  const Shared<SimulationState> state_;
  const Shared<Clock> clock_;
};

}  // namespace

class Simulation::Impl {
 public:
  explicit Impl(Shared<SimulationState> given) : state(std::move(given)) {}
  const Shared<SimulationState> state;
  const Shared<Clock> clock = MakeShared<SimClock>(state);
  const Shared<Executor> executor = MakeShared<SimExecutor>(state, clock);
};

Simulation::Simulation(std::uint64_t seed) : impl_(new Impl(MakeShared<SimulationState>(seed))) {}
Simulation::Simulation(Trace replay) : impl_(new Impl(MakeShared<SimulationState>(std::move(replay)))) {}

Simulation::~Simulation() {
  impl_->state->Close();
  delete impl_;
}

Shared<Executor> Simulation::executor() const noexcept { return impl_->executor; }
Shared<Clock> Simulation::clock() const noexcept { return impl_->clock; }

Result<std::size_t> Simulation::RunUntilIdle(std::size_t max_steps) {
  auto steps = impl_->state->Run(SimulationState::Until::kIdle, {}, max_steps);
  impl_->state->Rethrow();
  return steps;
}

Result<std::size_t> Simulation::Advance(Nanos duration, std::size_t max_steps) {
  auto steps = impl_->state->Run(SimulationState::Until::kMoment, impl_->state->now() + duration, max_steps);
  impl_->state->Rethrow();
  return steps;
}

std::uint32_t Simulation::Choose(std::uint32_t n) { return impl_->state->Choose(n); }
const Trace& Simulation::trace() const noexcept { return impl_->state->trace(); }
std::string Simulation::WhoWaits() const { return impl_->state->WhoWaits(); }
Simulation::Census Simulation::census() const noexcept { return impl_->state->census(); }

}  // namespace kgen::testing
