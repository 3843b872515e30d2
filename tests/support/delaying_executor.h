// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// DelayingExecutor: an executor of a simulation in which informers apply late what they received, so that a list or a
// stop comes while changes are queued.
#ifndef KGEN_TESTS_SUPPORT_DELAYING_EXECUTOR_H_
#define KGEN_TESTS_SUPPORT_DELAYING_EXECUTOR_H_

#include <string>
#include <string_view>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"

namespace kgen::testing {

class DelayingExecutor final : public Executor {
 public:
  DelayingExecutor(Shared<Executor> inner, Nanos delay) : inner_(std::move(inner)), delay_(delay) {}

  Shared<Strand> MakeStrand(std::string_view name) override {
    Shared<Strand> strand = inner_->MakeStrand(name);
    if (name.starts_with("informer ")) new_informer_ = strand;
    return strand;
  }
  // The first post that an informer reserves is for its work: what it applies, replays and frees.
  Shared<ReservedPost> ReservePost(const Shared<Strand>& strand) override {
    Shared<ReservedPost> post = inner_->ReservePost(strand);
    if (strand != new_informer_) return post;
    new_informer_ = {};
    return MakeShared<LatePost>(std::move(post), inner_->clock(), delay_);
  }
  void Post(const Shared<Strand>& strand, Task task) override { inner_->Post(strand, std::move(task)); }
  void Blocking(std::string name, Task work) override { inner_->Blocking(std::move(name), std::move(work)); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { inner_->BlockingOn(strand, std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

 private:
  // Posts late, except what continues the task that is running: work that has begun goes on without a delay.
  class LatePost final : public ReservedPost {
   public:
    LatePost(Shared<ReservedPost> post, Shared<Clock> clock, Nanos delay)
        : post_(std::move(post)), clock_(std::move(clock)), timer_(clock_->ReserveTimer()), delay_(delay) {}
    void Post(Task task) noexcept override {
      Task marked = [self = Shared<LatePost>(this), task = std::move(task)]() mutable {
        self->running_ = true;
        std::exchange(task, nullptr)();
        self->running_ = false;
      };
      if (running_ || delay_ == Nanos(0)) return post_->Post(std::move(marked));
      timer_->Set(Later(clock_->Now(), delay_), TimerKind::kProgress,
                  [post = post_, marked = std::move(marked)]() mutable { post->Post(std::move(marked)); });
    }

   private:
    const Shared<ReservedPost> post_;
    const Shared<Clock> clock_;
    const Shared<ReservedTimer> timer_;
    const Nanos delay_;
    bool running_ = false;
  };

  const Shared<Executor> inner_;
  const Nanos delay_;
  Shared<Strand> new_informer_;  // has reserved nothing yet
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_DELAYING_EXECUTOR_H_
