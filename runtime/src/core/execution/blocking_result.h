// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// BlockingResult: runs a function that blocks, for whoever polls for its result.
#ifndef KGEN_SRC_CORE_EXECUTION_BLOCKING_RESULT_H_
#define KGEN_SRC_CORE_EXECUTION_BLOCKING_RESULT_H_

#include <optional>
#include <string>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen::detail {

// Thread safety: all members from any thread.
class BlockingResult final : public SharedObject {
 public:
  // Calls `function`, which must not throw, by Executor::Blocking, and then notifies `waker`.
  template <typename F>
  static Shared<BlockingResult> Start(Executor& executor, std::string name, F function, Shared<Waiter> waker) {
    auto result = MakeShared<BlockingResult>();
    executor.Blocking(std::move(name), [result, function = std::move(function), waker = std::move(waker)] {
      result->Set(function());
      waker->Notify();
    });
    return result;
  }
  // Nothing until the function has returned.
  std::optional<Result<void>> Get() const {
    const MutexLock lock(mutex_);
    return result_;
  }

 private:
  void Set(Result<void> result) {
    const MutexLock lock(mutex_);
    result_ = std::move(result);
  }

  mutable Mutex mutex_;
  std::optional<Result<void>> result_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_BLOCKING_RESULT_H_
