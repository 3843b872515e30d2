// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// StrandTimer: a timer of a state machine on a strand. Its task runs on the strand and, once it was cancelled there,
// does not run any more.
#ifndef KGEN_SRC_CACHE_REFLECTOR_STRAND_TIMER_H_
#define KGEN_SRC_CACHE_REFLECTOR_STRAND_TIMER_H_

#include <cstdint>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// Thread safety: all members on the strand; the destructor on any thread, because it may run concurrently with a task
// that the clock has posted.
// Ownership: an armed timer owns its task, and every task keeps its owner alive. So a task must run or be cancelled
// before the timer is destroyed.
// Errors: only the constructor allocates. Neither arming nor firing can fail.
class StrandTimer {
 public:
  StrandTimer(const Shared<Executor>& executor, const Shared<Strand>& strand)
      : state_(MakeShared<State>(executor->ReservePost(strand))),
        clock_(executor->clock()),
        timer_(clock_->ReserveTimer()) {}
  StrandTimer(const StrandTimer&) = delete;
  StrandTimer& operator=(const StrandTimer&) = delete;
  ~StrandTimer() = default;

  // Arms the timer; replaces a task that is armed.
  void After(Nanos delay, TimerKind kind, Task task) noexcept {
    Cancel();
    state_->task = std::move(task);
    timer_->Set(Later(clock_->Now(), delay), kind, [state = state_, round = state_->round] {
      state->post->Post([state = state, round] {
        if (state->round != round || !state->task) return;
        Task due = std::exchange(state->task, nullptr);
        due();
      });
    });
  }

  void Cancel() noexcept {
    ++state_->round;  // a task that the clock has already posted sees another round and does nothing
    timer_->Cancel();
    const Task dropped = std::exchange(state_->task, nullptr);
  }

  bool armed() const noexcept { return static_cast<bool>(state_->task); }

 private:
  struct State : SharedObject {
    explicit State(Shared<ReservedPost> reserved) : post(std::move(reserved)) {}
    const Shared<ReservedPost> post;
    std::uint64_t round = 0;
    Task task;
  };
  const Shared<State> state_;
  const Shared<Clock> clock_;
  const Shared<ReservedTimer> timer_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_STRAND_TIMER_H_
