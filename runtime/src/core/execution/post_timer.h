// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Timers that post their task to a strand. What the post needs is allocated before the clock runs the timer, because
// code on the clock's thread cannot handle a failure.
#ifndef KGEN_SRC_CORE_EXECUTION_POST_TIMER_H_
#define KGEN_SRC_CORE_EXECUTION_POST_TIMER_H_

#include <type_traits>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"

namespace kgen::detail {

// Posts `task` to `strand` at `when`. For timers that are set once. Throws std::bad_alloc.
[[nodiscard]] inline Timer PostAt(Executor& executor, const Shared<Strand>& strand, TimePoint when, TimerKind kind,
                                  Task task) {
  return executor.clock()->At(when, kind, [post = executor.ReservePost(strand), task = std::move(task)]() mutable {
    post->Post(std::move(task));
  });
}

[[nodiscard]] inline Timer PostAfter(Executor& executor, const Shared<Strand>& strand, Nanos delay, TimerKind kind,
                                     Task task) {
  return PostAt(executor, strand, Later(executor.clock()->Now(), delay), kind, std::move(task));
}

// For timers that are set again and again, or where nothing can handle a failure: only the constructor allocates.
//
// Thread safety: one thread at a time. A task that was posted before Cancel() or the destructor may still run.
class PostTimer {
 public:
  PostTimer(const Shared<Executor>& executor, const Shared<Strand>& strand)
      : post_(executor->ReservePost(strand)), clock_(executor->clock()), timer_(clock_->ReserveTimer()) {}
  PostTimer(const PostTimer&) = delete;
  PostTimer& operator=(const PostTimer&) = delete;
  ~PostTimer() = default;

  // Posts `task`, which has the size of two pointers at most. Replaces what was set before.
  template <typename F>
  void Set(TimePoint when, TimerKind kind, F task) noexcept {
    static_assert(sizeof(F) <= 2 * sizeof(void*) && std::is_nothrow_move_constructible_v<F>, "it would be allocated");
    armed_ = true;
    timer_->Set(when, kind, [post = post_, task = std::move(task)]() mutable { post->Post(std::move(task)); });
  }
  template <typename F>
  void After(Nanos delay, TimerKind kind, F task) noexcept {
    Set(Later(clock_->Now(), delay), kind, std::move(task));
  }
  void Cancel() noexcept {
    armed_ = false;
    timer_->Cancel();
  }
  // Whether it was set, and not cancelled since.
  bool armed() const noexcept { return armed_; }

 private:
  const Shared<ReservedPost> post_;
  const Shared<Clock> clock_;
  const Shared<ReservedTimer> timer_;
  bool armed_ = false;
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_POST_TIMER_H_
