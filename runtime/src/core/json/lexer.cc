// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/json/lexer.h"

namespace kgen::detail {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

bool IsHigh(std::int32_t unit) noexcept { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLow(std::int32_t unit) noexcept { return unit >= 0xDC00 && unit < 0xE000; }

// Returns the value of the four hexadecimal digits of the \u escape at p, or -1.
std::int32_t Unit(const char* p, const char* end) noexcept {
  if (end - p < 6) return -1;
  std::int32_t value = 0;
  for (int i = 2; i < 6; ++i) {
    const int digit = HexDigit(p[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

}  // namespace

EscapeToken ScanUnicodeEscape(const char*& p, const char* end) noexcept {
  const std::int32_t unit = Unit(p, end);
  if (unit < 0) return {.problem = EscapeToken::Problem::kHex};
  p += 6;
  if (!IsHigh(unit) && !IsLow(unit)) return {.code_point = static_cast<std::uint32_t>(unit)};
  const std::int32_t low = IsHigh(unit) && end - p >= 2 && p[0] == '\\' && p[1] == 'u' ? Unit(p, end) : -1;
  if (!IsLow(low)) return {.code_point = kReplacement, .half_of_pair = true};
  p += 6;
  return {.code_point =
              0x10000u + (static_cast<std::uint32_t>(unit - 0xD800) << 10) + static_cast<std::uint32_t>(low - 0xDC00)};
}

}  // namespace kgen::detail
