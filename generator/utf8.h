// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Decodes text of the input, code point by code point.
#ifndef KGEN_GENERATOR_UTF8_H_
#define KGEN_GENERATOR_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kgen::generator {

struct CodePoint {
  std::uint32_t value = 0;  // if not valid: the byte
  std::size_t size = 1;     // bytes; 1 for a byte that begins no valid sequence
  bool valid = false;
};

// The first code point of `text`, which is not empty.
inline CodePoint DecodeUtf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const CodePoint broken{first, 1, false};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return broken;
  std::uint32_t value = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return broken;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return broken;
  return {value, size, true};
}

// Whether all of `text` is UTF-8.
inline bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = DecodeUtf8(text);
    if (!first.valid) return false;
    text.remove_prefix(first.size);
  }
  return true;
}

}  // namespace kgen::generator

#endif  // KGEN_GENERATOR_UTF8_H_
