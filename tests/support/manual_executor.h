// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An executor and a clock on the test's own thread: tasks run when the test says so, in the order of posting, and time
// only moves when the test moves it. For tests of one layer; tests of concurrency use kgen::testing::Simulation.
#ifndef KGEN_TESTS_SUPPORT_MANUAL_EXECUTOR_H_
#define KGEN_TESTS_SUPPORT_MANUAL_EXECUTOR_H_

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"

namespace kgen::testing {

class ManualClock final : public Clock {
 public:
  TimePoint Now() noexcept override { return now_; }
  std::chrono::sys_time<std::chrono::microseconds> WallNow() noexcept override {
    constexpr auto kStart = std::chrono::sys_time<std::chrono::microseconds>(std::chrono::seconds(1'700'000'000));
    return kStart + std::chrono::duration_cast<std::chrono::microseconds>(now_ - TimePoint(std::chrono::hours(1)));
  }
  Timer At(TimePoint when, TimerKind, Task task) override {
    auto state = MakeShared<State>(std::move(task));
    timers_.emplace(std::max(when, now_), state);
    return Timer(state);
  }

  std::optional<TimePoint> Next() {
    DropCancelled();
    return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first);
  }
  // Moves to `when` and fires what is due, in order.
  void MoveTo(TimePoint when) {
    for (DropCancelled(); !timers_.empty() && timers_.begin()->first <= when; DropCancelled()) {
      auto node = timers_.extract(timers_.begin());
      now_ = node.key();
      Task task = std::exchange(node.mapped()->task, nullptr);
      task();
    }
    now_ = std::max(now_, when);
  }
  // Destroys the tasks of all timers, unrun.
  void Clear() {
    for (const auto& [when, timer] : std::exchange(timers_, {})) timer->Cancel();
  }
  std::size_t armed() {
    DropCancelled();
    return timers_.size();
  }

 private:
  struct State final : Timer::State {
    explicit State(Task t) : task(std::move(t)) {}
    void Cancel() noexcept override { const Task dropped = std::exchange(task, nullptr); }
    Task task;
  };
  void DropCancelled() {
    std::erase_if(timers_, [](const auto& timer) { return timer.second->task == nullptr; });
  }
  TimePoint now_{std::chrono::hours(1)};
  std::multimap<TimePoint, Shared<State>> timers_;
};

class ManualExecutor final : public Executor {
 public:
  ~ManualExecutor() override { Shutdown(); }

  Shared<Strand> MakeStrand(std::string_view name) override { return MakeShared<NamedStrand>(name); }
  void Post(const Shared<Strand>&, Task task) override {
    if (!shut_down_) tasks_.push_back({std::move(task), true});
  }
  void Blocking(std::string, Task work) override {
    ++blocking_;
    tasks_.push_back({std::move(work), false});
  }
  void BlockingOn(const Shared<Strand>&, Task work) override { tasks_.push_back({std::move(work), false}); }
  Shared<Waiter> MakeWaiter(std::string_view) override { return MakeShared<StepWaiter>(this); }
  Shared<Clock> clock() noexcept override { return clock_; }
  bool InPostedTask() const noexcept override { return posted_; }

  // Runs everything that is queued, and what that queues. No time passes.
  void Run() {
    while (Step()) {
    }
  }
  // Lets time pass, running what comes due on the way.
  void Advance(Nanos duration) {
    const TimePoint end = clock_->Now() + duration;
    for (Run(); clock_->Next() && *clock_->Next() <= end; Run()) clock_->MoveTo(*clock_->Next());
    clock_->MoveTo(end);
    Run();
  }
  // Destroys what is queued, unrun; nothing is taken any more.
  void Shutdown() {
    shut_down_ = true;
    while (!tasks_.empty()) tasks_.pop_front();
    clock_->Clear();
  }
  std::size_t blocking() const noexcept { return blocking_; }  // blocking tasks so far
  const Shared<ManualClock>& manual_clock() const noexcept { return clock_; }

 private:
  struct NamedStrand final : Strand {
    explicit NamedStrand(std::string_view n) : text(n) {}
    std::string_view name() const noexcept override { return text; }
    std::string text;
  };
  // Steps the executor until it is notified.
  class StepWaiter final : public Waiter {
   public:
    explicit StepWaiter(ManualExecutor* executor) : executor_(executor) {}
    void Notify() noexcept override { notified_ = true; }
    Result<void> Wait(std::stop_token stop, TimePoint deadline) override {
      if (stop.stop_requested()) return Fail(Code::kCancelled, "stopped");
      if (executor_->clock_->Now() >= deadline) return Fail(Code::kTimeout, "the deadline passed");
      for (;;) {
        if (std::exchange(notified_, false)) return {};
        if (stop.stop_requested()) return Fail(Code::kCancelled, "stopped");
        if (executor_->Step()) continue;
        ManualClock& clock = *executor_->clock_;
        const std::optional<TimePoint> next = clock.Next();
        if (deadline != kNoDeadline && (!next || *next >= deadline)) {
          clock.MoveTo(deadline);
          if (std::exchange(notified_, false)) return {};
          return Fail(Code::kTimeout, "the deadline passed");
        }
        if (!next) return Fail(Code::kDeadlock, "nothing can run");
        clock.MoveTo(*next);
      }
    }

   private:
    ManualExecutor* const executor_;
    bool notified_ = false;
  };

  struct Queued {
    Task task;
    bool posted;
  };
  bool Step() {
    if (tasks_.empty()) return false;
    Queued next = std::move(tasks_.front());
    tasks_.pop_front();
    const bool before = std::exchange(posted_, next.posted);
    next.task();
    next.task = nullptr;
    posted_ = before;
    return true;
  }

  const Shared<ManualClock> clock_ = MakeShared<ManualClock>();
  std::deque<Queued> tasks_;
  std::size_t blocking_ = 0;
  bool posted_ = false;
  bool shut_down_ = false;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_MANUAL_EXECUTOR_H_
