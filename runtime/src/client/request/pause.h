// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Pause(): waits for a while in the course of an operation, for back-off or polling.
#ifndef KGEN_SRC_CLIENT_REQUEST_PAUSE_H_
#define KGEN_SRC_CLIENT_REQUEST_PAUSE_H_

#include <stop_token>
#include <string_view>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"

namespace kgen::client {

// Blocks for `delay`. Uses a progress timer and not the deadline of a Waiter, so that a simulation that runs until it
// is idle does not end here. Errors: kCancelled  `stop` was requested
inline Result<void> Pause(Executor& executor, std::string_view what, Nanos delay, std::stop_token stop = {}) {
  const Shared<Waiter> waiter = executor.MakeWaiter(what);
  const Timer timer = executor.clock()->After(delay, TimerKind::kProgress, [waiter] { waiter->Notify(); });
  return waiter->Wait(std::move(stop));
}

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_PAUSE_H_
