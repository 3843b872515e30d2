// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ErrorOfThrown(): what a function of the user threw, as an error.
#ifndef KGEN_SRC_CORE_THROWN_H_
#define KGEN_SRC_CORE_THROWN_H_

#include <string_view>

#include "kgen/core/result.h"

namespace kgen::detail {

// Call it in a catch block. `who` threw: "the reconcile function". The error is what a kgen::Exception has, or else has
// the code kUserCode and the text of a std::exception.
Error ErrorOfThrown(std::string_view who) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_THROWN_H_
