// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RunningWork: what is still going on, so that a shutdown can wait for its end.
#ifndef KGEN_SRC_CONTROLLER_HTTP_RUNNING_WORK_H_
#define KGEN_SRC_CONTROLLER_HTTP_RUNNING_WORK_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen::controller {

// Thread safety: all members from any thread. Only AwaitNone() blocks.
class RunningWork final : public SharedObject {
 public:
  // One thing that is going on, until the token is destroyed.
  class Token {
   public:
    explicit Token(Shared<RunningWork> of) : of_(std::move(of)) { of_->Enter(); }
    Token(Token&& other) noexcept = default;
    Token& operator=(Token&&) = delete;
    ~Token() {
      if (of_) of_->Leave();
    }

   private:
    Shared<RunningWork> of_;
  };

  // `who` is for messages: "the endpoint".
  explicit RunningWork(std::string_view who) : who_(who) {}

  // Blocks until nothing is going on. One caller at a time. Errors: as Waiter::Wait()
  Result<void> AwaitNone(Executor& executor, TimePoint deadline) {
    const Shared<Waiter> waiter = executor.MakeWaiter("the end of the requests of " + who_);
    for (;;) {
      {
        const MutexLock lock(mutex_);
        if (count_ == 0) return {};
        waiter_ = waiter;
      }
      if (auto waited = waiter->Wait({}, deadline); !waited) return waited;
    }
  }

 private:
  void Enter() {
    const MutexLock lock(mutex_);
    ++count_;
  }
  void Leave() noexcept {
    const MutexLock lock(mutex_);
    if (--count_ == 0 && waiter_) waiter_->Notify();
  }

  const std::string who_;
  Mutex mutex_;
  std::size_t count_ KGEN_GUARDED_BY(mutex_) = 0;
  Shared<Waiter> waiter_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_HTTP_RUNNING_WORK_H_
