// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/out_of_memory.h"

#include <new>

namespace kgen::detail {

const Error& OutOfMemory() {
  static const Error& error = *new Error(Code::kInternal, "out of memory");
  return error;
}

Error OutOfMemory(std::string_view what) {
  try {
    return OutOfMemory().With(what);
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

}  // namespace kgen::detail
