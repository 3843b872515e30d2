// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_EXECUTION_SYSTEM_CLOCK_H_
#define KGEN_SRC_CORE_EXECUTION_SYSTEM_CLOCK_H_

#include "kgen/core/clock.h"

namespace kgen::detail {

// Returns a clock of the machine with a separate timer thread, which is joined when the last reference is dropped. For
// tests; all other code shares SystemClock().
Shared<Clock> MakeSystemClock();

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_EXECUTION_SYSTEM_CLOCK_H_
