// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/text_writer.h"

#include <utility>

#include "codec/scan.h"
#include "core/json/quote.h"
#include "core/json/utf8.h"

namespace kgen::codec {

void TextWriter::Grow(std::size_t bytes) {
  const std::size_t used = size();
  const std::size_t capacity = (used + bytes) * 2;
  auto bigger = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(bigger.get(), start_, used);
  grown_ = std::move(bigger);
  start_ = grown_.get();
  p_ = start_ + used;
  limit_ = start_ + capacity;
}

void TextWriter::Quoted(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  bool high = false;
  const char* stop = FindSpecial(p, end, high);
  if (stop != end || high) return Escaped(p, end);
  char* to = Reserve(text.size() + 2);
  *to++ = '"';
  if (!text.empty()) std::memcpy(to, p, text.size());
  to += text.size();
  *to++ = '"';
  p_ = to;
}

void TextWriter::Escaped(const char* p, const char* end) {
  Char('"');
  while (p != end) {
    bool high = false;
    const char* stop = FindSpecial(p, end, high);
    if (high) {
      for (const char* bad; (bad = detail::FindInvalidUtf8(p, stop)) != stop; p = bad + 1) {
        Raw({p, static_cast<std::size_t>(bad - p)});
        Raw("\xEF\xBF\xBD");
      }
    }
    Raw({p, static_cast<std::size_t>(stop - p)});
    p = stop;
    if (p == end) break;
    Advance(detail::WriteEscape(*p++, Reserve(detail::kEscapeRoom)));
  }
  Char('"');
}

}  // namespace kgen::codec
