// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "validation/pattern.h"

#include <re2/re2.h>

#include <cstddef>
#include <utility>

namespace kgen::validation {
namespace {

constexpr int kMaxBytes = 64 << 20;

// The pattern in the syntax of RE2, or what is wrong with it. Text between \Q and \E, and the inside of brackets, stay
// as they are.
Result<std::string> Translate(std::string_view text) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] == 'C') return Fail(Code::kInvalidArgument, "invalid escape sequence: \\C");
      if (text[i + 1] == 'Q' && !in_class) {
        const std::size_t end = text.find("\\E", i);
        const std::size_t size = (end == std::string_view::npos ? text.size() : end + 2) - i;
        out += text.substr(i, size);
        i += size - 1;
        continue;
      }
      out += text.substr(i++, 2);
      continue;
    }
    out += text[i];
    if (text[i] == '[' && !in_class) {
      in_class = true;
      // A bracket that comes first is a character of the class: []a], [^]a].
      if (i + 1 < text.size() && text[i + 1] == '^') out += text[++i];
      if (i + 1 < text.size() && text[i + 1] == ']') out += text[++i];
    } else if (text[i] == '[' && text.substr(i).starts_with("[:")) {
      // A named class in a class, such as [[:alpha:]].
      const std::size_t end = text.find(":]", i + 2);
      if (end != std::string_view::npos) {
        out += text.substr(i + 1, end + 1 - i);
        i = end + 1;
      }
    } else if (text[i] == ']') {
      in_class = false;
    } else if (!in_class && text.substr(i).starts_with("(?<")) {
      out += "?P";
      ++i;
    }
  }
  return out;
}

}  // namespace

Result<Pattern> Pattern::Compile(std::string_view text) {
  auto translated = Translate(text);
  if (!translated) return Fail(std::move(translated).error());
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxBytes);
  auto compiled = std::make_shared<re2::RE2>(*translated, options);
  if (!compiled->ok()) return Fail(Code::kInvalidArgument, compiled->error());
  return Pattern(std::string(text), std::move(compiled));
}

bool Pattern::Matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace kgen::validation
