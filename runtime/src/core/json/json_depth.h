// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: the maximum depth of JSON that is passed to nlohmann_json. That library parses and destroys without
// recursion, but copies, compares and writes with one call per level.
#ifndef KGEN_SRC_CORE_JSON_JSON_DEPTH_H_
#define KGEN_SRC_CORE_JSON_JSON_DEPTH_H_

#include <cstddef>
#include <string_view>

#include "core/json/lexer.h"

namespace kgen::detail {

inline constexpr std::size_t kMaxJsonDepth = 256;  // the same as the decoder's

// True if JSON text is nested deeper than `levels`. For text that is not JSON, true if more than that many brackets are
// open at some point.
inline bool NestsTooDeep(std::string_view text, std::size_t levels = kMaxJsonDepth) noexcept {
  std::size_t depth = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    const char c = *p;
    if (c == '"') {
      p = SkipString(p, end);
      if (p == nullptr) break;
      continue;
    }
    if (c == '{' || c == '[') {
      if (++depth > levels) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
    ++p;
  }
  return false;
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_JSON_DEPTH_H_
