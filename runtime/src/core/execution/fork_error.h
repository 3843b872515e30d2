// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The error for everything that does not work in a forked child; core/memory/fork.h says what does.
#ifndef KGEN_SRC_CORE_EXECUTION_FORK_ERROR_H_
#define KGEN_SRC_CORE_EXECUTION_FORK_ERROR_H_

#include "kgen/core/result.h"

namespace kgen::detail {

// Why nothing works in such a child. Made before the fork, so that nothing is allocated here.
const Error& ForkedError() noexcept;

// Must be called before a thread is started, or a descriptor is made that a child must not use. From then on, children
// know that they are forked. Any thread, idempotent; takes no lock that a child could wait for.
void WatchForks();

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_FORK_ERROR_H_
