// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Gives the decoder, the encoder and the interpreter access to the representation of scalar field types.
#ifndef KGEN_SRC_CORE_ACCESS_H_
#define KGEN_SRC_CORE_ACCESS_H_

#include <cstring>
#include <string_view>

#include "kgen/core/quantity.h"
#include "kgen/core/string.h"
#include "kgen/core/time.h"

namespace kgen::detail {

struct StringAccess {
  // Takes over one reference to `block`.
  static void AdoptBlock(String& s, TextBlock* block) noexcept {
    std::memcpy(s.bytes_, static_cast<const void*>(&block), sizeof(void*));
    s.bytes_[15] = static_cast<char>(String::kBlock);
  }
  // Stores text of at most 15 bytes in an unset String.
  static void SetInline(String& s, const char* data, std::size_t size) noexcept {
    std::memcpy(s.bytes_, data, size);
    s.bytes_[15] = static_cast<char>(size + 1);
  }
  // Does the same, given all 16 bytes: text, zeros, tag.
  static void SetBytes(String& s, const char* bytes) noexcept { std::memcpy(s.bytes_, bytes, sizeof s.bytes_); }
};

struct TimeAccess {
  static TimeWord& Word(Time& t) noexcept { return t.word_; }
  static const TimeWord& Word(const Time& t) noexcept { return t.word_; }
  static TimeWord& Word(MicroTime& t) noexcept { return t.word_; }
  static const TimeWord& Word(const MicroTime& t) noexcept { return t.word_; }
  static String& Text(Duration& d) noexcept { return d.text_; }
};

struct ScalarAccess {
  static String& Text(Quantity& q) noexcept { return q.text_; }
  static String& Text(IntOrString& v) noexcept { return v.text_; }
  static String& Text(Bytes& b) noexcept { return b.base64_; }
  static unsigned char Tag(const String& text) noexcept { return text.tag(); }
  // A longer number is text that begins with this byte, which never occurs in UTF-8.
  static constexpr char kLongNumber = '\xFF';
  // Stores the text of a number, of at most 15 bytes, in an unset value. If the text is longer, returns false and
  // leaves the value unset.
  static bool SetNumber(IntOrString& v, std::string_view text) noexcept { return SetNumber(v.text_, text); }
  static bool SetNumber(Quantity& q, std::string_view text) noexcept { return SetNumber(q.text_, text); }
  // Returns the spelling of the number. Only if is_int().
  static std::string_view Number(const IntOrString& v) noexcept;

 private:
  static bool SetNumber(String& text, std::string_view number) noexcept;
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_ACCESS_H_
