// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An executor in manual time whose timers find no memory while they run. The test's operator new must throw
// std::bad_alloc while `timer_runs` is true.
#ifndef KGEN_TESTS_SUPPORT_POOR_CLOCK_H_
#define KGEN_TESTS_SUPPORT_POOR_CLOCK_H_

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>

#include "tests/support/manual_executor.h"

namespace kgen::testing {

inline thread_local bool timer_runs = false;

class PoorClock final : public Clock {
 public:
  explicit PoorClock(Shared<ManualClock> inner) : inner_(std::move(inner)) {}
  TimePoint Now() noexcept override { return inner_->Now(); }
  std::chrono::sys_time<std::chrono::microseconds> WallNow() noexcept override { return inner_->WallNow(); }
  Timer At(TimePoint when, TimerKind kind, Task task) override {
    return inner_->At(when, kind, [task = std::move(task)]() mutable {
      timer_runs = true;
      try {
        task();
        timer_runs = false;
      } catch (const std::bad_alloc&) {
        timer_runs = false;
        ADD_FAILURE() << "a timer allocates memory";
      }
    });
  }
  // The inner clock's At() allocates, also when a timer sets another one.
  Shared<ReservedTimer> ReserveTimer() override { return MakeShared<Reserved>(Shared<PoorClock>(this)); }

 private:
  class Reserved final : public ReservedTimer {
   public:
    explicit Reserved(Shared<PoorClock> clock) : clock_(std::move(clock)) {}
    void Set(TimePoint when, TimerKind kind, Task task) noexcept override {
      const bool before = std::exchange(timer_runs, false);
      timer_ = clock_->At(when, kind, std::move(task));
      timer_runs = before;
    }
    void Cancel() noexcept override { timer_.Cancel(); }

   private:
    const Shared<PoorClock> clock_;
    Timer timer_;
  };
  const Shared<ManualClock> inner_;
};

class PoorClockExecutor final : public Executor {
 public:
  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override {
    if (timer_runs) throw std::bad_alloc();  // as a pool does; the inner executor may have room
    inner_->Post(strand, std::move(task));
  }
  Shared<ReservedPost> ReservePost(const Shared<Strand>& strand) override {
    return MakeShared<Reserved>(inner_, strand);
  }
  void Blocking(std::string name, Task work) override { inner_->Blocking(std::move(name), std::move(work)); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { inner_->BlockingOn(strand, std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return clock_; }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }
  ManualExecutor& manual() const noexcept { return *inner_; }

 private:
  class Reserved final : public ReservedPost {
   public:
    Reserved(Shared<Executor> executor, Shared<Strand> strand)
        : executor_(std::move(executor)), strand_(std::move(strand)) {}
    void Post(Task task) noexcept override {
      const bool before = std::exchange(timer_runs, false);
      executor_->Post(strand_, std::move(task));
      timer_runs = before;
    }

   private:
    const Shared<Executor> executor_;
    const Shared<Strand> strand_;
  };
  const Shared<ManualExecutor> inner_ = MakeShared<ManualExecutor>();
  const Shared<PoorClock> clock_ = MakeShared<PoorClock>(inner_->manual_clock());
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_POOR_CLOCK_H_
