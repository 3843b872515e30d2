// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The lexical rules of JSON (RFC 8259): white space, numbers, escapes and the ends of strings. All readers of JSON
// stand on them: the decoder (codec/reader.h), the comparison of opaque values (core/json/json_value.h), the tree with
// positions (codec/yaml/json.cc) and the list splitter. Each finds the end of plain text in its own way, because that
// decides how fast it is, and words its own errors, because only it knows positions.
#ifndef KGEN_SRC_CORE_JSON_LEXER_H_
#define KGEN_SRC_CORE_JSON_LEXER_H_

#include <cstdint>

namespace kgen::detail {

constexpr bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool IsJsonSpace(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Returns the value of a hexadecimal digit, or -1.
constexpr int HexDigit(char c) noexcept {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// A number at the beginning of a text.
struct NumberToken {
  enum class Problem : std::uint8_t {
    kNone,
    kNoNumber,    // there is no digit, after a minus sign or without one
    kNoFraction,  // there is no digit after the decimal point
    kNoExponent,  // there is no digit in the exponent
  };
  const char* end = nullptr;  // after the number, or where the missing digit should be
  bool plain = true;          // without a fraction and an exponent
  Problem problem = Problem::kNone;
};

// Scans the number at `p`. A leading zero ends its whole part, so "01" is the number 0 and then something else.
constexpr NumberToken ScanNumber(const char* p, const char* end) noexcept {
  using Problem = NumberToken::Problem;
  const auto digits = [&] {
    const char* const first = p;
    while (p != end && IsDigit(*p)) ++p;
    return p != first;
  };
  if (p != end && *p == '-') ++p;
  if (p != end && *p == '0') {
    ++p;
  } else if (!digits()) {
    return {p, true, Problem::kNoNumber};
  }
  bool plain = true;
  if (p != end && *p == '.') {
    ++p;
    plain = false;
    if (!digits()) return {p, plain, Problem::kNoFraction};
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    plain = false;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    if (!digits()) return {p, plain, Problem::kNoExponent};
  }
  return {p, plain, Problem::kNone};
}

// An escape in a string.
struct EscapeToken {
  enum class Problem : std::uint8_t {
    kNone,
    kEnds,     // the text ends after the backslash
    kUnknown,  // no escape has that letter
    kHex,      // \u is not followed by four hexadecimal digits
  };
  // What it stands for; half of a surrogate pair is U+FFFD, as in Go.
  std::uint32_t code_point = 0;
  bool half_of_pair = false;
  Problem problem = Problem::kNone;
};

// Scans the \u escape at `p`; see ScanEscape().
EscapeToken ScanUnicodeEscape(const char*& p, const char* end) noexcept;

// Returns the character of an escape of one letter, or '\0'.
constexpr char CharacterOf(char letter) noexcept {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
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

// Scans the escape at `p`, a backslash, and moves `p` behind it; a surrogate pair is one escape. After a problem, `p`
// is unchanged. Inline, because quotes in strings are common: annotations hold JSON.
inline EscapeToken ScanEscape(const char*& p, const char* end) noexcept {
  if (end - p < 2) return {.problem = EscapeToken::Problem::kEnds};
  if (p[1] == 'u') return ScanUnicodeEscape(p, end);
  const char c = CharacterOf(p[1]);
  if (c == '\0') return {.problem = EscapeToken::Problem::kUnknown};
  p += 2;
  return {.code_point = static_cast<std::uint32_t>(c)};
}

// Returns the end of the string whose opening quote is at `p`, behind its closing quote, or null if the text ends
// before it. For readers that skip strings: it checks neither escapes nor characters.
constexpr const char* SkipString(const char* p, const char* end) noexcept {
  for (++p; p != end; ++p) {
    if (*p == '"') return p + 1;
    if (*p != '\\') continue;
    if (++p == end) break;
  }
  return nullptr;
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_LEXER_H_
