// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The canonical text of a JSON document, except that each number keeps its spelling: for tests of values that are sent
// back as received.
#ifndef KGEN_TESTS_RUNTIME_CODEC_EXACTLY_H_
#define KGEN_TESTS_RUNTIME_CODEC_EXACTLY_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "kgen/codec/encode.h"

namespace kgen {

// `text` is valid JSON.
inline std::string Exactly(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    if (text[i] == '"') {
      for (++i; text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
      out += text.substr(start, ++i - start);
    } else if (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) {
      while (i < text.size() && std::string_view("+-.0123456789Ee").find(text[i]) != std::string_view::npos) ++i;
      out.append("\"number ").append(text.substr(start, i - start)).append("\"");
    } else {
      out += text[i++];
    }
  }
  return CanonicalJson(out);
}

}  // namespace kgen

#endif  // KGEN_TESTS_RUNTIME_CODEC_EXACTLY_H_
