// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_EXECUTION_THREAD_POOL_H_
#define KGEN_SRC_CORE_EXECUTION_THREAD_POOL_H_

#include <cstddef>
#include <optional>

#include "kgen/core/executor.h"

namespace kgen::detail {

// The number of threads that an executor from MakeThreadPool() has now. For tests.
struct PoolCensus {
  std::size_t posted = 0;    // threads for posted work
  std::size_t blocking = 0;  // threads for blocking work
  std::size_t brief = 0;     // threads for BlockingShort()
};
PoolCensus CensusOf(const Executor& thread_pool);

// How many blocking tasks run at a time at most. Nothing if the executor is not from MakeThreadPool().
std::optional<int> BlockingLimitOf(const Executor& executor) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_THREAD_POOL_H_
