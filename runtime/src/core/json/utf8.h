// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// UTF-8, as JSON, YAML and the metrics need it.
#ifndef KGEN_SRC_CORE_JSON_UTF8_H_
#define KGEN_SRC_CORE_JSON_UTF8_H_

#include <cstdint>

namespace kgen::detail {

// Returns the first byte of [p, end) that is not part of valid UTF-8 (no overlong forms, no surrogates, at most
// U+10FFFF), or `end`.
const char* FindInvalidUtf8(const char* p, const char* end) noexcept;

// Writes a code point, in up to four bytes, and returns their end.
char* WriteUtf8(std::uint32_t code_point, char* to) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_UTF8_H_
