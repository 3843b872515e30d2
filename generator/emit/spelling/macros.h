// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Names that the headers of the C and C++ libraries define as macros: a member or type of such a name would not
// compile. CRDs use many of them, as environment variables and error codes.
#ifndef KGEN_GENERATOR_EMIT_SPELLING_MACROS_H_
#define KGEN_GENERATOR_EMIT_SPELLING_MACROS_H_

#include <string_view>

namespace kgen::generator::emit {

// Macros without parameters. Function-like macros do not affect a name that no parenthesis follows.
bool IsSystemMacro(std::string_view word);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_SPELLING_MACROS_H_
