// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Characters of ASCII, whatever the locale.
#ifndef KGEN_SRC_VALIDATION_ASCII_H_
#define KGEN_SRC_VALIDATION_ASCII_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace kgen::validation {

constexpr bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsAlphanumeric(char c) noexcept { return IsDigit(c) || IsLetter(c); }
constexpr bool IsHex(char c) noexcept { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr int HexValue(char c) noexcept { return IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return lower;
}

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_ASCII_H_
