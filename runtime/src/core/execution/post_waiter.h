// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PostWaiter: a Waiter for code that waits without a thread: Notify() posts a task to a strand. The task looks whether
// what it waits for has come, and if not, waits again, as a loop around Waiter::Wait() does.
#ifndef KGEN_SRC_CORE_EXECUTION_POST_WAITER_H_
#define KGEN_SRC_CORE_EXECUTION_POST_WAITER_H_

#include <stop_token>
#include <type_traits>
#include <utility>

#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen::detail {

// Posts a copy of `Step`, which has the size of two pointers at most, so that Notify() allocates nothing. Several
// notifications before the task runs become one.
//
// Lifetime: holds the step, and with it what the step refers to. Whoever the step refers to must let go of the waiter
// when it has waited for the last time.
template <typename Step>
class PostWaiter final : public Waiter {
 public:
  static_assert(sizeof(Step) <= 2 * sizeof(void*) && std::is_nothrow_copy_constructible_v<Step>,
                "it would be allocated");
  PostWaiter(Executor& executor, const Shared<Strand>& strand, Step step)
      : post_(executor.ReservePost(strand)), step_(std::move(step)) {}

  void Notify() noexcept override { post_->Post(step_); }
  Result<void> Wait(std::stop_token, TimePoint) override {
    return Fail(Code::kInvalidArgument, "this waiter posts a task, and cannot block");
  }

 private:
  const Shared<ReservedPost> post_;
  const Step step_;
};

template <typename Step>
[[nodiscard]] Shared<Waiter> MakePostWaiter(Executor& executor, const Shared<Strand>& strand, Step step) {
  return MakeShared<PostWaiter<Step>>(executor, strand, std::move(step));
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_POST_WAITER_H_
