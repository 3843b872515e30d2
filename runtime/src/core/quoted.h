// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_QUOTED_H_
#define KGEN_SRC_CORE_QUOTED_H_

#include <string>
#include <string_view>

namespace kgen::detail {

// Returns `text` in double quotes, for messages. Escapes nothing.
inline std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_QUOTED_H_
