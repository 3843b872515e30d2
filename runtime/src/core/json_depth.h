// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: the bound of what is handed to nlohmann_json. It parses and destroys without recursion, but copies, compares
// and writes with one call for each level.
#ifndef KGEN_SRC_CORE_JSON_DEPTH_H_
#define KGEN_SRC_CORE_JSON_DEPTH_H_

#include <cstddef>
#include <string_view>

namespace kgen::detail {

inline constexpr std::size_t kMaxJsonDepth = 256;  // as the decoder's

// Whether a text of JSON nests deeper than `levels`. Of other text it says whether as many brackets are open.
inline bool NestsTooDeep(std::string_view text, std::size_t levels = kMaxJsonDepth) noexcept {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > levels) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_DEPTH_H_
