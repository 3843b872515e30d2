// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/json/quote.h"

#include <algorithm>

#include "core/json/lexer.h"
#include "core/json/utf8.h"

namespace kgen::detail {

char* WriteEscape(char c, char* to) noexcept {
  constexpr std::string_view kPlain = "\"\\\n\r\t", kLetters = "\"\\nrt";
  constexpr char kHex[] = "0123456789abcdef";
  *to++ = '\\';
  if (const std::size_t at = kPlain.find(c); at != std::string_view::npos) {
    *to++ = kLetters[at];
    return to;
  }
  to = std::ranges::copy(std::string_view("u00"), to).out;
  *to++ = kHex[static_cast<unsigned char>(c) >> 4];
  *to++ = kHex[static_cast<unsigned char>(c) & 15];
  return to;
}

std::string QuoteJson(std::string_view text) {
  std::string out(1, '"');
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const char* const bad = FindInvalidUtf8(p, end);
    for (; p != bad; ++p) {
      if (*p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) {
        out += *p;
      } else {
        char escape[kEscapeRoom];
        out.append(escape, WriteEscape(*p, escape));
      }
    }
    if (p == end) break;
    out += "\xEF\xBF\xBD";
    ++p;
  }
  return out += '"';
}

std::optional<std::string> UnquoteJson(std::string_view json) {
  if (json.empty() || json.front() != '"') return std::nullopt;
  const char* p = json.data();
  if (SkipString(p, p + json.size()) != p + json.size()) return std::nullopt;
  const char* const end = p + json.size() - 1;
  std::string out;
  for (++p; p != end;) {
    const char* const stop = std::find(p, end, '\\');
    out.append(p, stop);
    p = stop;
    if (p == end) break;
    const EscapeToken escape = ScanEscape(p, end);
    if (escape.problem != EscapeToken::Problem::kNone) return std::nullopt;
    char bytes[4];
    out.append(bytes, WriteUtf8(escape.code_point, bytes));
  }
  return out;
}

}  // namespace kgen::detail
