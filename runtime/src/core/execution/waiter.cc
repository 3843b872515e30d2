// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/waiter.h"

#include <atomic>
#include <condition_variable>
#include <utility>

#include "core/execution/fork_error.h"
#include "core/execution/sleeper.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/core/clock.h"

namespace kgen::detail {
namespace {

class ConditionSleeper final : public Sleeper {
 public:
  void Wake() noexcept override {
    if (ForkedChild()) return;         // a condition variable has locks of its own
    const Shared<Sleeper> self(this);  // the last other reference may go as soon as the sleeping thread sees `woken_`
    {
      const MutexLock lock(mutex_);
      woken_ = true;
    }
    condition_.notify_one();  // without the lock, which the woken thread takes
  }

  bool SleepUntil(TimePoint deadline) noexcept override {
    if (ForkedChild()) return false;
    const MutexLock lock(mutex_);
    std::unique_lock native(mutex_.native(), std::adopt_lock);
    while (!woken_) {
      if (deadline == Waiter::kNoDeadline) {
        condition_.wait(native);
      } else if (condition_.wait_until(native, deadline) == std::cv_status::timeout) {
        break;
      }
    }
    native.release();  // `lock` unlocks it
    return std::exchange(woken_, false);
  }

 private:
  Mutex mutex_;
  std::condition_variable condition_;
  bool woken_ KGEN_GUARDED_BY(mutex_) = false;
};

class ThreadWaiter final : public Waiter {
 public:
  ThreadWaiter(std::string what, Shared<WaitScope> scope) : what_(std::move(what)), scope_(std::move(scope)) {}

  void Notify() noexcept override {
    const Shared<Sleeper> sleeper = sleeper_;  // this waiter may go as soon as the waiting thread sees `notified_`
    notified_.store(true);
    sleeper->Wake();
  }

  Result<void> Wait(std::stop_token stop, TimePoint deadline) override {
    // Before the callback, because a thread that is gone may hold the lock of the stop state.
    if (ForkedChild()) return Fail(ForkedError());
    if (OnPostedThread()) {
      return Fail(
          Error(Code::kInvalidArgument, "a blocking call on a thread that runs posted tasks; use Executor::Blocking")
              .With(what_));
    }
    // First, so that a loop ends even if it is notified again and again. The notification stays for the next wait.
    if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(what_));
    if (deadline != kNoDeadline && SystemClock()->Now() >= deadline) {
      return Fail(Error(Code::kTimeout, "the deadline passed").With(what_));
    }
    // The callback has its own reference, because on the thread that requests the stop it may outlive this wait for a
    // moment.
    const std::stop_callback wake(stop, [sleeper = sleeper_] { sleeper->Wake(); });
    const InScope in_scope(*scope_, *sleeper_);
    return WaitInScope(stop, deadline);
  }

 private:
  class InScope {
   public:
    InScope(WaitScope& scope, Sleeper& sleeper) noexcept : scope_(scope), wait_{&sleeper} { scope_.Enter(wait_); }
    InScope(const InScope&) = delete;
    InScope& operator=(const InScope&) = delete;
    ~InScope() { scope_.Leave(wait_); }

   private:
    WaitScope& scope_;
    WaitScope::Wait wait_;
  };

  // A wake only means "check again": it may be left over from an earlier stop or notification.
  Result<void> WaitInScope(const std::stop_token& stop, TimePoint deadline) {
    while (!notified_.exchange(false)) {
      if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(what_));
      if (scope_->closed()) return Fail(Error(Code::kCancelled, "the executor was shut down").With(what_));
      if (!sleeper_->SleepUntil(deadline)) {
        if (notified_.exchange(false)) return {};
        return Fail(Error(Code::kTimeout, "the deadline passed").With(what_));
      }
    }
    return {};
  }

  const std::string what_;
  const Shared<WaitScope> scope_;
  const Shared<Sleeper> sleeper_ = MakeSleeper();
  std::atomic<bool> notified_{false};
};

}  // namespace

Shared<Sleeper> MakeSleeper() { return MakeShared<ConditionSleeper>(); }

Shared<Waiter> MakeThreadWaiter(std::string what, Shared<WaitScope> scope) {
  return MakeShared<ThreadWaiter>(std::move(what), std::move(scope));
}

bool& OnPostedThread() noexcept {
  static thread_local bool on_posted_thread = false;
  return on_posted_thread;
}

}  // namespace kgen::detail
