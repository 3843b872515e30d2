// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reader: a single-pass JSON reader that returns the tokens of a text in memory.
//
// The decoder, ParseJson, CanonicalJson and PeekIdentity use it. It is stricter than most readers: it accepts only RFC
// 8259 and valid UTF-8, and no control characters inside strings. It repairs only one error: a lone surrogate escape
// becomes U+FFFD, as in Go.
//
// It never reads outside of the text, and needs no padding. Every function returns false after an error; the first
// error is kept with its position.
#ifndef KGEN_SRC_CODEC_READER_H_
#define KGEN_SRC_CODEC_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/scan.h"

namespace kgen::codec {

// Upper bounds of DecodeOptions. The decoder recurses, so depth needs stack; the size of a String has 32 bits.
inline constexpr std::size_t kDepthCeiling = 1024;
inline constexpr std::size_t kBytesCeiling = 0xFFFFFF00u;

class Reader {
 public:
  Reader(std::string_view text, std::size_t max_depth, std::size_t max_members, std::string& scratch) noexcept
      : begin_(text.data()),
        p_(text.data()),
        end_(text.data() + text.size()),
        max_depth_(max_depth < kDepthCeiling ? max_depth : kDepthCeiling),
        max_members_(max_members),
        scratch_(scratch) {}

  // The position.
  const char* position() const noexcept { return p_; }
  void Rewind(const char* p) noexcept { p_ = p; }
  void Rewind(const char* p, std::size_t depth) noexcept {
    p_ = p;
    depth_ = depth;
  }
  const char* end() const noexcept { return end_; }
  std::size_t OffsetOf(const char* p) const noexcept { return static_cast<std::size_t>(p - begin_); }
  std::size_t depth() const noexcept { return depth_; }
  std::size_t max_depth() const noexcept { return max_depth_; }
  std::size_t members() const noexcept { return members_; }
  void set_members(std::size_t n) noexcept { members_ = n; }
  // Counts members that were not read because their text was found in the memo.
  bool AddMembers(std::size_t n) noexcept {
    members_ += n;
    return members_ <= max_members_ || Fail("too many members", p_);
  }

  // Returns the next byte that is not white space, without consuming it; '\0' at the end (and for a NUL byte, which is
  // never valid).
  char Peek() noexcept {
    if (p_ != end_ && static_cast<unsigned char>(*p_) > ' ') return *p_;
    return PeekSlow();
  }
  // Does the same without skipping white space; '\0' also for white space.
  char PeekQuickly() const noexcept { return p_ != end_ && static_cast<unsigned char>(*p_) > ' ' ? *p_ : '\0'; }
  void Skip() noexcept { ++p_; }  // the byte just peeked
  bool Take(char c) noexcept {
    if (Peek() != c) return false;
    ++p_;
    return true;
  }

  // Consumes the opening bracket of an object or array that Peek() has returned.
  bool Enter() noexcept {
    if (depth_ == max_depth_) return Fail("nested too deeply", p_);
    ++depth_;
    ++p_;
    return true;
  }
  void Leave() noexcept { --depth_; }

  // Reads the name of a member and the colon. The view points into the text, or into scratch until the next string is
  // read.
  bool Key(std::string_view& key) {
    if (Peek() != '"') return Fail("expected a member name in quotes", p_);
    if (++members_ > max_members_) return Fail("too many members", p_);
    if (!String(key)) return false;
    if (Peek() != ':') return Fail("expected ':' after the member name", p_);
    ++p_;
    return true;
  }
  // After the value of a member, reads the name of the next one if it follows as `,"name":` without white space or
  // escapes. Otherwise returns false and consumes nothing.
  bool QuickKey(std::string_view& key) noexcept {
    return end_ - p_ >= 2 && p_[0] == ',' && p_[1] == '"' && QuickName(p_ + 2, key);
  }
  // Does the same for the first member, at its quote.
  bool QuickFirstKey(std::string_view& key) noexcept { return p_ != end_ && *p_ == '"' && QuickName(p_ + 1, key); }
  // Reads a string, unescaped, at its quote.
  bool String(std::string_view& text) {
    const char* start = p_ + 1;
    const char* stop = FindStop(start, end_);
    if (stop == end_ || *stop != '"') return StringSlow(start, text);
    text = {start, static_cast<std::size_t>(stop - start)};
    p_ = stop + 1;
    return true;
  }
  // Reads a short integer that ends at a comma or a bracket, as most do. Otherwise returns false and consumes nothing.
  bool QuickInteger(std::int64_t& value) noexcept {
    const char* p = p_;
    const bool negative = p != end_ && *p == '-';
    if (negative) ++p;
    const char* first = p;
    std::uint64_t sum = 0;
    for (; p != end_ && *p >= '0' && *p <= '9' && p - first < 19; ++p)
      sum = sum * 10 + static_cast<std::uint64_t>(*p - '0');
    constexpr std::ptrdiff_t kSafe = 18;  // this many digits cannot overflow
    const bool spelled = p != first && p - first <= kSafe && (*first != '0' || p - first == 1);
    if (!spelled || p == end_ || (*p != ',' && *p != '}' && *p != ']')) return false;
    value = negative ? -static_cast<std::int64_t>(sum) : static_cast<std::int64_t>(sum);
    p_ = p;
    return true;
  }
  // Reads a number as it is spelled, at its first byte. `plain` means no fraction and no exponent.
  bool Number(std::string_view& text, bool& plain) noexcept;
  // Reads true, false or null, at its first byte.
  bool Literal(std::string_view word) noexcept;
  // Skips any value, and validates all of it without recursion. `raw` is its text.
  bool SkipValue(std::string_view& raw);
  // Fails if anything but white space follows.
  bool AtEnd() noexcept { return (Peek() == '\0' && p_ == end_) || Fail("unexpected text after the value", p_); }

  // Records the first error.
  bool Fail(const char* message, const char* at) noexcept {
    if (error_ == nullptr) {
      error_ = message;
      error_at_ = at;
    }
    return false;
  }
  const char* error() const noexcept { return error_; }
  std::size_t error_offset() const noexcept { return OffsetOf(error_at_); }

 private:
  [[gnu::always_inline]] bool QuickName(const char* start, std::string_view& key) noexcept {
    const char* stop = FindStop(start, end_);
    if (end_ - stop < 2 || stop[0] != '"' || stop[1] != ':' || members_ >= max_members_) return false;
    ++members_;
    key = {start, static_cast<std::size_t>(stop - start)};
    p_ = stop + 2;
    return true;
  }
  char PeekSlow() noexcept;
  bool StringSlow(const char* start, std::string_view& text);
  bool Escape(const char*& p, std::uint32_t& code_point) noexcept;
  bool SkipString() {
    const char* stop = FindStop(p_ + 1, end_);
    if (stop == end_ || *stop != '"') return SkipStringSlow(p_ + 1);
    p_ = stop + 1;
    return true;
  }
  bool SkipStringSlow(const char* piece);
  bool SkipKey();
  bool SkipNested();
  bool SkipScalar(char first);

  const char* begin_;
  const char* p_;
  const char* end_;
  std::size_t depth_ = 0;
  std::size_t max_depth_;
  std::size_t members_ = 0;
  std::size_t max_members_;
  const char* error_ = nullptr;
  const char* error_at_ = nullptr;
  std::string& scratch_;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_READER_H_
