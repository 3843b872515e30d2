// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: text as a JSON string, and back.
#ifndef KGEN_SRC_CORE_JSON_QUOTE_H_
#define KGEN_SRC_CORE_JSON_QUOTE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kgen::detail {

// Writes the escape of a quote, a backslash or a control character, and returns its end: at most kEscapeRoom bytes.
inline constexpr std::size_t kEscapeRoom = 6;
char* WriteEscape(char c, char* to) noexcept;

// Returns the text in quotes, escaped only as far as JSON requires. Invalid UTF-8 becomes U+FFFD.
std::string QuoteJson(std::string_view text);
// Returns what a JSON string, with its quotes, stands for; nothing if `json` is no string or has a malformed escape.
std::optional<std::string> UnquoteJson(std::string_view json);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_QUOTE_H_
