// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A timer of a state machine on a strand: what it does runs there, and does not run any more once it was cancelled
// there.
#ifndef KGEN_RUNTIME_CACHE_STRAND_TIMER_H_
#define KGEN_RUNTIME_CACHE_STRAND_TIMER_H_

#include <cstdint>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// Thread safety: all members on the strand; the destructor on any thread, as a task that the clock has posted may run
// beside it.
// Ownership: an armed timer owns its task, and every task keeps its owner alive: it must be run or cancelled, and when
// the timer goes nothing is armed.
class StrandTimer {
 public:
  StrandTimer(Shared<Executor> executor, Shared<Strand> strand)
      : state_(MakeShared<State>()), executor_(std::move(executor)), strand_(std::move(strand)) {}
  StrandTimer(const StrandTimer&) = delete;
  StrandTimer& operator=(const StrandTimer&) = delete;
  ~StrandTimer() = default;

  // Replaces what was armed.
  void After(Nanos delay, TimerKind kind, Task task) {
    Cancel();
    state_->task = std::move(task);
    timer_ = executor_->clock()->After(delay, kind,
                                       [state = state_, round = state_->round, executor = executor_, strand = strand_] {
                                         executor->Post(strand, [state, round] {
                                           if (state->round != round || !state->task) return;
                                           Task due = std::exchange(state->task, nullptr);
                                           due();
                                         });
                                       });
  }

  void Cancel() noexcept {
    ++state_->round;  // a task that the clock has posted already finds another round
    timer_.Cancel();
    const Task dropped = std::exchange(state_->task, nullptr);
  }

  bool armed() const noexcept { return static_cast<bool>(state_->task); }

 private:
  struct State : SharedObject {
    std::uint64_t round = 0;
    Task task;
  };
  Shared<State> state_;
  Shared<Executor> executor_;
  Shared<Strand> strand_;
  Timer timer_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_STRAND_TIMER_H_
