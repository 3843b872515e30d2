// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/json/utf8.h"

#include <cstring>

namespace kgen::detail {

const char* FindInvalidUtf8(const char* p, const char* end) noexcept {
  const auto byte = [](const char* at) { return static_cast<unsigned char>(*at); };
  const auto follows = [&](const char* at, unsigned low, unsigned high) {
    return at < end && byte(at) >= low && byte(at) <= high;
  };
  while (p != end) {
    if (std::uint64_t eight = 0; end - p >= 8) {
      std::memcpy(&eight, p, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        p += 8;
        continue;
      }
    }
    const unsigned lead = byte(p);
    if (lead < 0x80) {
      ++p;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
      if (!follows(p + 1, 0x80, 0xBF)) return p;
      p += 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;   // no overlong form
      const unsigned high = lead == 0xED ? 0x9F : 0xBF;  // no surrogate
      if (!follows(p + 1, low, high) || !follows(p + 2, 0x80, 0xBF)) return p;
      p += 3;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
      const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
      if (!follows(p + 1, low, high) || !follows(p + 2, 0x80, 0xBF) || !follows(p + 3, 0x80, 0xBF)) return p;
      p += 4;
    } else {
      return p;
    }
  }
  return end;
}

char* WriteUtf8(std::uint32_t c, char* to) noexcept {
  const auto tail = [&](int shift) { *to++ = static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    *to++ = static_cast<char>(c);
  } else if (c < 0x800) {
    *to++ = static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    *to++ = static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    *to++ = static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
  return to;
}

}  // namespace kgen::detail
