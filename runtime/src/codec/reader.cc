// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/reader.h"

namespace kgen::codec {

namespace {

bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }

// The value of four hexadecimal digits at p, or -1.
std::int32_t Hex4(const char* p, const char* end) noexcept {
  if (end - p < 4) return -1;
  std::int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const char lower = static_cast<char>(c | 0x20);
    if (IsDigit(c)) {
      value = value * 16 + (c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + (lower - 'a' + 10);
    } else {
      return -1;
    }
  }
  return value;
}

constexpr std::uint32_t kReplacement = 0xFFFD;

bool IsHighSurrogate(std::int32_t unit) noexcept { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(std::int32_t unit) noexcept { return unit >= 0xDC00 && unit < 0xE000; }

// The character of a simple escape, or '\0'.
char SimpleEscape(char c) noexcept {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

const char* FindInvalidUtf8(const char* p, const char* end) noexcept {
  const auto byte = [](const char* at) { return static_cast<unsigned char>(*at); };
  const auto follows = [&](const char* at, unsigned low, unsigned high) {
    return at < end && byte(at) >= low && byte(at) <= high;
  };
  while (p != end) {
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

void AppendUtf8(std::uint32_t c, std::string& out) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | (c >> shift & 0x3F))); };
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | c >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char Reader::PeekSlow() noexcept {
  while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
  return p_ == end_ ? '\0' : *p_;
}

bool Reader::StringSlow(const char* start, std::string_view& text) {
  const char* piece = start;
  bool escaped = false;
  bool high = false;
  const char* stop = FindSpecial(start, end_, high);
  for (;;) {
    if (high) {
      if (const char* bad = FindInvalidUtf8(piece, stop); bad != stop) return Fail("invalid UTF-8 in a string", bad);
    }
    if (stop == end_) return Fail("unterminated string", stop);
    if (*stop == '"') break;
    if (*stop != '\\') return Fail("control character in a string", stop);
    if (!escaped) scratch_.clear();
    escaped = true;
    scratch_.append(piece, stop);
    if (!Unescape(stop, scratch_)) return false;
    piece = stop;
    high = false;
    stop = FindSpecial(piece, end_, high);
  }
  if (escaped) {
    scratch_.append(piece, stop);
    text = scratch_;
  } else {
    text = {start, static_cast<std::size_t>(stop - start)};
  }
  p_ = stop + 1;
  return true;
}

// Decodes an escape. `p` is at its backslash, and is moved to the end of the escape.
bool Reader::Unescape(const char*& p, std::string& out) {
  if (end_ - p < 2) return Fail("unterminated string", end_);
  if (p[1] == 'u') return UnescapeUnicode(p, out);
  const char c = SimpleEscape(p[1]);
  if (c == '\0') return Fail("invalid escape in a string", p);
  out.push_back(c);
  p += 2;
  return true;
}

bool Reader::UnescapeUnicode(const char*& p, std::string& out) {
  const std::int32_t unit = Hex4(p + 2, end_);
  if (unit < 0) return Fail("invalid \\u escape in a string", p);
  p += 6;
  if (IsHighSurrogate(unit) && end_ - p >= 6 && p[0] == '\\' && p[1] == 'u') {
    const std::int32_t low = Hex4(p + 2, end_);
    if (IsLowSurrogate(low)) {
      p += 6;
      AppendUtf8(
          0x10000u + (static_cast<std::uint32_t>(unit - 0xD800) << 10) + static_cast<std::uint32_t>(low - 0xDC00), out);
      return true;
    }
  }
  AppendUtf8(IsHighSurrogate(unit) || IsLowSurrogate(unit) ? kReplacement : static_cast<std::uint32_t>(unit), out);
  return true;
}

bool Reader::CheckEscape(const char*& p) noexcept {
  if (end_ - p < 2) return Fail("unterminated string", end_);
  if (p[1] == 'u') {
    if (Hex4(p + 2, end_) < 0) return Fail("invalid \\u escape in a string", p);
    p += 6;
    return true;
  }
  if (SimpleEscape(p[1]) == '\0') return Fail("invalid escape in a string", p);
  p += 2;
  return true;
}

bool Reader::SkipStringSlow(const char* piece) {
  for (;;) {
    bool high = false;
    const char* stop = FindSpecial(piece, end_, high);
    if (high) {
      if (const char* bad = FindInvalidUtf8(piece, stop); bad != stop) return Fail("invalid UTF-8 in a string", bad);
    }
    if (stop == end_) return Fail("unterminated string", stop);
    if (*stop == '"') {
      p_ = stop + 1;
      return true;
    }
    if (*stop != '\\') return Fail("control character in a string", stop);
    if (!CheckEscape(stop)) return false;
    piece = stop;
  }
}

bool Reader::Number(std::string_view& text, bool& plain) noexcept {
  const char* p = p_;
  const auto digits = [&] {
    const char* first = p;
    while (p != end_ && IsDigit(*p)) ++p;
    return p != first;
  };
  if (p != end_ && *p == '-') ++p;
  if (p != end_ && *p == '0') {
    ++p;
  } else if (!digits()) {
    return Fail("expected a value", p_);
  }
  plain = true;
  if (p != end_ && *p == '.') {
    ++p;
    plain = false;
    if (!digits()) return Fail("expected a digit after the decimal point", p);
  }
  if (p != end_ && (*p == 'e' || *p == 'E')) {
    ++p;
    plain = false;
    if (p != end_ && (*p == '+' || *p == '-')) ++p;
    if (!digits()) return Fail("expected a digit in the exponent", p);
  }
  text = {p_, static_cast<std::size_t>(p - p_)};
  p_ = p;
  return true;
}

bool Reader::Literal(std::string_view word) noexcept {
  if (static_cast<std::size_t>(end_ - p_) < word.size() || std::memcmp(p_, word.data(), word.size()) != 0) {
    return Fail("expected a value", p_);
  }
  p_ += word.size();
  return true;
}

bool Reader::SkipScalar(char first) {
  switch (first) {
    case '"':
      return SkipString();
    case 't':
      return Literal("true");
    case 'f':
      return Literal("false");
    case 'n':
      return Literal("null");
    case '\0':
      if (p_ == end_) return Fail("the text ends where a value should be", p_);
      return Fail("expected a value", p_);
    default: {
      std::string_view text;
      bool plain;
      return Number(text, plain);
    }
  }
}

bool Reader::SkipValue(std::string_view& raw) {
  const char c = Peek();
  const char* start = p_;
  if (!(c == '{' || c == '[' ? SkipNested() : SkipScalar(c))) return false;
  raw = {start, static_cast<std::size_t>(p_ - start)};
  return true;
}

bool Reader::SkipKey() {
  if (Peek() != '"') return Fail("expected a member name in quotes", p_);
  if (++members_ > max_members_) return Fail("too many members", p_);
  if (!SkipString()) return false;
  if (Peek() != ':') return Fail("expected ':' after the member name", p_);
  ++p_;
  return true;
}

// One bit for each open bracket tells whether it belongs to an object or an array.
bool Reader::SkipNested() {
  std::uint64_t objects[kDepthCeiling / 64 + 1] = {};
  const std::size_t floor = depth_;
  char close = '\0';  // of the innermost bracket
  for (char c = *p_;;) {
    if (c == '{' || c == '[') {
      const char its_close = static_cast<char>(c + 2);
      if (!Enter()) return false;
      if (Peek() == its_close) {
        ++p_;
        Leave();
      } else {
        close = its_close;
        const std::uint64_t bit = std::uint64_t{1} << depth_ % 64;
        objects[depth_ / 64] = c == '{' ? objects[depth_ / 64] | bit : objects[depth_ / 64] & ~bit;
        if (c == '{' && !SkipKey()) return false;
        c = Peek();
        continue;
      }
    } else if (!(c == '"' ? SkipString() : SkipScalar(c))) {
      return false;
    }
    for (;;) {  // after a value
      if (depth_ == floor) return true;
      std::string_view name;
      if (close == '}' && QuickKey(name)) break;
      c = Peek();
      if (c == ',') {
        ++p_;
        if (close == '}' && !SkipKey()) return false;
        break;
      }
      if (c != close) return Fail(close == '}' ? "expected ',' or '}'" : "expected ',' or ']'", p_);
      ++p_;
      Leave();
      close = (objects[depth_ / 64] >> depth_ % 64 & 1) != 0 ? '}' : ']';
    }
    c = Peek();
  }
}

}  // namespace kgen::codec
