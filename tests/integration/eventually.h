// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Waiting for events of a real server.
#ifndef KGEN_TESTS_INTEGRATION_EVENTUALLY_H_
#define KGEN_TESTS_INTEGRATION_EVENTUALLY_H_

#include <chrono>
#include <functional>

#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"

namespace kgen::integration {

// Looks every 20 ms, for `limit` at most. False: it has not come true. A test that measures looks more often.
inline bool Eventually(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::seconds(60),
                       std::chrono::milliseconds interval = std::chrono::milliseconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  auto pause = DefaultExecutor()->MakeWaiter("test");
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    (void)pause->Wait({}, DefaultExecutor()->clock()->Now() + interval);
  }
  return true;
}

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_EVENTUALLY_H_
