// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OutOfMemory(): the error for an allocation that failed.
#ifndef KGEN_SRC_CORE_OUT_OF_MEMORY_H_
#define KGEN_SRC_CORE_OUT_OF_MEMORY_H_

#include <string_view>

#include "kgen/core/result.h"

namespace kgen::detail {

// The error of a call that fails to allocate memory. Every connection requests it once when it is created, so that no
// memory is needed when there is none left. `what` is added in front if memory suffices.
const Error& OutOfMemory();
Error OutOfMemory(std::string_view what);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OUT_OF_MEMORY_H_
