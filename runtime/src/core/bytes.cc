// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes: base64 (RFC 4648, padded). Line breaks in the text are ignored, as in Go.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/core/quantity.h"

namespace kgen {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> kDigitOf = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}();

// Calls `put` with each byte. Returns false if the text is not base64; `put` may already have been called for a part of
// it.
template <typename Put>
bool DecodeBase64(std::string_view text, const Put& put) {
  std::uint32_t bits = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::uint8_t digit = kDigitOf[static_cast<unsigned char>(c)];
    if (digit == kNone || padding != 0) return false;
    bits = bits << 6 | digit;
    if (++digits < 4) continue;
    put(bits >> 16 & 0xFF);
    put(bits >> 8 & 0xFF);
    put(bits & 0xFF);
    digits = 0;
    bits = 0;
  }
  if (digits == 0) return padding == 0;
  if (digits == 1 || digits + padding != 4) return false;
  put(bits >> (digits == 2 ? 4 : 10) & 0xFF);
  if (digits == 3) put(bits >> 2 & 0xFF);
  return true;
}

}  // namespace

Bytes Bytes::Of(std::string_view raw) {
  std::string text;
  text.reserve((raw.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < raw.size(); i += 3) {
    const std::size_t left = raw.size() - i;
    const auto byte = [&](std::size_t k) {
      return k < left ? std::uint32_t{static_cast<unsigned char>(raw[i + k])} : 0u;
    };
    const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += kAlphabet[bits >> 18];
    text += kAlphabet[bits >> 12 & 63];
    text += left > 1 ? kAlphabet[bits >> 6 & 63] : '=';
    text += left > 2 ? kAlphabet[bits & 63] : '=';
  }
  return FromBase64(text);
}

bool Bytes::valid() const noexcept {
  return DecodeBase64(base64_, [](std::uint32_t) {});
}

std::string Bytes::Decode() const {
  std::string raw;
  raw.reserve(base64_.size() / 4 * 3);
  if (!DecodeBase64(base64_, [&](std::uint32_t byte) { raw += static_cast<char>(byte); })) raw.clear();
  return raw;
}

std::size_t Bytes::size() const noexcept {
  std::size_t count = 0;
  return DecodeBase64(base64_, [&](std::uint32_t) { ++count; }) ? count : 0;
}

}  // namespace kgen
