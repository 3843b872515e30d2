// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/reader.h"

#include "core/json/lexer.h"
#include "core/json/utf8.h"

namespace kgen::codec {

using detail::EscapeToken;
using detail::FindInvalidUtf8;

char Reader::PeekSlow() noexcept {
  while (p_ != end_ && detail::IsJsonSpace(*p_)) ++p_;
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
    std::uint32_t code_point = 0;
    if (!Escape(stop, code_point)) return false;
    if (code_point < 0x80) {
      scratch_.push_back(static_cast<char>(code_point));
    } else {
      char character[4];
      scratch_.append(character, detail::WriteUtf8(code_point, character));
    }
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

// Scans the escape at `p`, a backslash, and moves `p` behind it.
bool Reader::Escape(const char*& p, std::uint32_t& code_point) noexcept {
  const EscapeToken escape = detail::ScanEscape(p, end_);
  code_point = escape.code_point;
  switch (escape.problem) {
    case EscapeToken::Problem::kNone:
      return true;
    case EscapeToken::Problem::kEnds:
      return Fail("unterminated string", end_);
    case EscapeToken::Problem::kUnknown:
      return Fail("invalid escape in a string", p);
    case EscapeToken::Problem::kHex:
      break;
  }
  return Fail("invalid \\u escape in a string", p);
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
    std::uint32_t ignored = 0;
    if (!Escape(stop, ignored)) return false;
    piece = stop;
  }
}

bool Reader::Number(std::string_view& text, bool& plain) noexcept {
  using Problem = detail::NumberToken::Problem;
  const detail::NumberToken number = detail::ScanNumber(p_, end_);
  if (number.problem != Problem::kNone) {
    if (number.problem == Problem::kNoNumber) return Fail("expected a value", p_);
    const bool fraction = number.problem == Problem::kNoFraction;
    return Fail(fraction ? "expected a digit after the decimal point" : "expected a digit in the exponent", number.end);
  }
  plain = number.plain;
  text = {p_, static_cast<std::size_t>(number.end - p_)};
  p_ = number.end;
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
