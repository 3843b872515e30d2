// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The threads of the executor, the clock and the signal handling. A thread is joined by another thread after it has
// ended, and never delays the exit of the process. In a forked child (core/memory/fork.h) none is started, joined or
// released.
#ifndef KGEN_SRC_CORE_EXECUTION_THREAD_H_
#define KGEN_SRC_CORE_EXECUTION_THREAD_H_

#include "kgen/core/function.h"
#include "kgen/core/shared.h"

namespace kgen::detail {

// A started thread. Its owner must call Join() or Release() before destroying it.
class Thread {
 public:
  Thread() noexcept = default;
  Thread(Thread&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }

  // The result has no thread (operator bool) if the system cannot start one.
  [[nodiscard]] static Thread Start(UniqueFunction<void()> function);

  bool IsThisOne() const noexcept;
  void Join() noexcept;  // not from the thread itself; does nothing if there is no thread
  // Detaches the thread from this object: another thread joins it soon after its end, at the latest when the process
  // exits. If it has not ended by then it is not joined, because an exit must not wait for user code.
  void Release() noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  friend void ReapThreads() noexcept;
  struct State;
  State* state_ = nullptr;
};

// Whether Thread::Start() has started the calling thread. It may then end while the process exits.
bool IsStartedThread() noexcept;

// Joins the released threads that have ended.
void ReapThreads() noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_THREAD_H_
