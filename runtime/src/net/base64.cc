// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/base64.h"

#include <cctype>
#include <cstdint>

namespace kgen::net {
namespace {

int Base64Value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned count = 0;  // of characters, padding included
  unsigned padding = 0;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    const int value = c == '=' ? 0 : Base64Value(c);
    if (value < 0) return std::nullopt;
    if (c == '=') {
      ++padding;
    } else if (padding != 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++count % 4 != 0) continue;
    if (padding > 2) return std::nullopt;
    for (unsigned i = 0; i < 3 - padding; ++i) out += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
    bits = 0;
  }
  if (count % 4 != 0) return std::nullopt;
  return out;
}

}  // namespace kgen::net
