// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/execution/fork_error.h"

#include <pthread.h>

#include <atomic>

#include "core/memory/fork.h"
#include "kgen/core/result.h"

namespace kgen::detail {
namespace {

constinit std::atomic<const Error*> error{nullptr};
constinit std::atomic<bool> watching{false};

extern "C" void KgenAfterFork() { forked_child.store(true, std::memory_order_relaxed); }

}  // namespace

const Error& ForkedError() noexcept { return *error.load(std::memory_order_acquire); }

// Threads that come here at the same time register the handler twice, which does no harm. A lock or a static variable's
// guard would do some: a child that was forked meanwhile, and makes its own first use of kgen, would wait for it.
void WatchForks() {
  if (watching.load(std::memory_order_acquire)) return;
  const Error* none = nullptr;
  const auto* made = new Error(Code::kInvalidArgument,
                               "this process was forked after kgen had started threads, which do not exist here; call "
                               "exec, or fork before the first use of kgen");
  if (!error.compare_exchange_strong(none, made, std::memory_order_acq_rel)) delete made;
  pthread_atfork(nullptr, nullptr, KgenAfterFork);
  watching.store(true, std::memory_order_release);
}

}  // namespace kgen::detail
