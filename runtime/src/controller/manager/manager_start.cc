// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ManagerState::Start(): a manager that holds no thread while nothing happens. What it waits for posts a task to a
// strand; what blocks, which is its beginning and its end, is Blocking work.
#include <optional>
#include <utility>

#include "controller/manager/manager_state.h"
#include "core/execution/post_timer.h"
#include "core/execution/post_waiter.h"
#include "core/out_of_memory.h"

namespace kgen::controller {

// Lifetime: kept alive by the manager, which it keeps alive, until End() or Abandon().
class ManagerState::Started final : public SharedObject {
 public:
  Started(Shared<ManagerState> manager, Done done)
      : manager_(std::move(manager)),
        executor_(manager_->executor_),
        done_(std::move(done)),
        strand_(executor_->MakeStrand("manager " + manager_->name_)),
        timer_(executor_, strand_) {}

  void Begin(const std::stop_token& stop) {
    on_stop_.emplace(stop, Forward{manager_->end_});
    Result<void> begun;
    try {
      begun = manager_->Begin();
      waker_ = kgen::detail::MakePostWaiter(*executor_, strand_, Step{Shared<Started>(this)});
    } catch (const std::bad_alloc&) {
      begun = Fail(kgen::detail::OutOfMemory("start"));
    }
    if (!begun) return End(std::move(begun));
    waker_->Notify();
  }

  void Abandon() {
    Release();
    (void)manager_->Finish(Fail(Code::kCancelled, "the executor was shut down"));
  }

 private:
  struct Forward {
    std::stop_source end;
    void operator()() noexcept { end.request_stop(); }
  };
  struct Step {
    Shared<Started> running;
    void operator()() const { running->Advance(); }
  };
  struct Wake {
    Shared<Waiter> waker;
    void operator()() const noexcept { waker->Notify(); }
  };

  void Advance() {
    if (ended_) return;
    std::optional<Result<void>> outcome;
    try {
      if (!on_end_) on_end_.emplace(manager_->end_.get_token(), Wake{waker_});
      outcome = manager_->Advance(waker_);
    } catch (const std::bad_alloc&) {
      outcome = Fail(kgen::detail::OutOfMemory("start"));
    }
    timer_.Cancel();
    if (!outcome) {
      const TimePoint again = manager_->look_again_;
      if (again != Waiter::kNoDeadline) timer_.Set(again, TimerKind::kHousekeeping, Step{Shared<Started>(this)});
      return;
    }
    ended_ = true;
    executor_->Blocking(
        "end of manager " + manager_->name_,
        [self = Shared<Started>(this), outcome = *std::move(outcome)]() mutable { self->End(std::move(outcome)); });
  }

  void End(Result<void> outcome) {
    Release();
    Done done = std::move(done_);
    Result<void> result = manager_->Finish(std::move(outcome));
    done(std::move(result));
  }

  void Release() {
    on_stop_.reset();
    on_end_.reset();
    timer_.Cancel();
    manager_->syncing_.reset();
    Shared<Started> self;  // destroyed without the lock
    {
      const MutexLock lock(manager_->mutex_);
      self = std::move(manager_->start_);
    }
    waker_ = {};
  }

  const Shared<ManagerState> manager_;
  const Shared<Executor> executor_;
  Done done_;
  const Shared<Strand> strand_;
  kgen::detail::PostTimer timer_;
  Shared<Waiter> waker_;
  bool ended_ = false;  // on the strand
  std::optional<std::stop_callback<Forward>> on_stop_;
  std::optional<std::stop_callback<Wake>> on_end_;
};

void ManagerState::Start(const std::stop_token& stop, Done done) {
  if (Result<void> entered = Enter(); !entered) return done(std::move(entered));
  const auto running = MakeShared<Started>(Shared<ManagerState>(this), std::move(done));
  {
    const MutexLock lock(mutex_);
    start_ = running;
  }
  running->Begin(stop);
}

void ManagerState::Discard() {
  std::vector<Runnable> runnables;  // destroyed without the lock
  std::vector<Shared<ControllerRunner>> controllers;
  const MutexLock lock(mutex_);
  if (phase_ != Phase::kNew) return;
  phase_ = Phase::kEnded;
  runnables.swap(runnables_);
  controllers.swap(controllers_);
}

void ManagerState::Abandon() {
  Shared<Started> running;
  {
    const MutexLock lock(mutex_);
    running = start_;
  }
  if (running) running->Abandon();
}

}  // namespace kgen::controller
