// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_CLUSTERS_LIVE_ALLOCATIONS_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_CLUSTERS_LIVE_ALLOCATIONS_H_

#include <cstdint>

namespace kgen::testing {

// How many blocks of operator new are alive in this test program; 0 under ThreadSanitizer. queue_memory_test.cc has the
// operators.
std::int64_t LiveAllocations() noexcept;

}  // namespace kgen::testing

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_CLUSTERS_LIVE_ALLOCATIONS_H_
