// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Mail addresses as Go's net/mail.ParseAddress() reads them, which is what servers call for the format "email". It
// follows RFC 5322 with the old forms that RFC allows: names, comments, quoted text, groups of one address.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "core/json/utf8.h"
#include "validation/ascii.h"
#include "validation/formats.h"

namespace kgen::validation {
namespace {

constexpr int kMaxDepth = 1;  // a group contains addresses, but no group

bool IsSpace(char c) { return c == ' ' || c == '\t'; }
// Visible, which all characters beyond ASCII are.
bool IsVisible(char c) { return (c >= '!' && c <= '~') || static_cast<unsigned char>(c) >= 0x80; }
bool IsAtomText(char c) { return IsVisible(c) && !std::string_view("()<>[]:;@\\,\"").contains(c); }

bool IsBase64Word(std::string_view text) {
  std::string kept;  // Go skips line breaks
  std::ranges::copy_if(text, std::back_inserter(kept), [](char c) { return c != '\r' && c != '\n'; });
  std::string_view rest = kept;
  if (rest.size() % 4 != 0) return false;
  for (int i = 0; i < 2 && rest.ends_with('='); ++i) rest.remove_suffix(1);
  return std::ranges::all_of(rest, [](char c) { return IsAlphanumeric(c) || c == '+' || c == '/'; });
}

bool IsQuotedPrintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=') {
      if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
      i += 2;
    } else if ((text[i] < ' ' || text[i] > '~') && !std::string_view("\n\r\t").contains(text[i])) {
      return false;
    }
  }
  return true;
}

// Whether a word such as =?koi8-r?q?text?= is encoded in a character set that Go does not know.
bool HasUnknownCharset(std::string_view word) {
  if (word.size() < 8 || !word.starts_with("=?") || !word.ends_with("?=") || std::ranges::count(word, '?') != 4)
    return false;
  word = word.substr(2, word.size() - 4);
  const std::size_t first = word.find('?'), second = word.find('?', first + 1);
  const std::string_view charset = word.substr(0, first), text = word.substr(second + 1);
  if (charset.empty() || second != first + 2) return false;
  const char encoding = word[first + 1];
  if (encoding == 'b' || encoding == 'B') {
    if (!IsBase64Word(text)) return false;
  } else if ((encoding != 'q' && encoding != 'Q') || !IsQuotedPrintable(text)) {
    return false;
  }
  const std::string lower = Lower(charset);
  return lower != "utf-8" && lower != "iso-8859-1" && lower != "us-ascii";
}

// Each Take function returns whether it has taken what it is called after, as the method of Go's parser does. A failed
// one may have taken a part of it.
class MailParser {
 public:
  explicit MailParser(std::string_view text) : rest_(text) {}

  bool IsSingleAddress() {
    std::size_t count = 0;
    return TakeAddress(count, 0) && SkipComments() && rest_.empty() && count == 1;
  }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipSpace() {
    while (!rest_.empty() && IsSpace(rest_[0])) rest_.remove_prefix(1);
  }
  bool SkipComments() {
    for (SkipSpace(); Take('('); SkipSpace()) {
      if (std::string comment; !TakeComment(comment)) return false;
    }
    return true;
  }

  // After the opening parenthesis.
  bool TakeComment(std::string& comment) {
    int depth = 1;
    for (; !rest_.empty() && depth > 0; rest_.remove_prefix(1)) {
      if (rest_[0] == '\\' && rest_.size() > 1) {
        rest_.remove_prefix(1);
      } else if (rest_[0] == '(') {
        ++depth;
      } else if (rest_[0] == ')') {
        --depth;
      }
      if (depth > 0) comment += rest_[0];
    }
    return depth == 0;
  }

  // The name after an address: a@b.example (Ada)
  bool TakeNameComment() {
    std::string comment;
    if (!Take('(') || !TakeComment(comment)) return false;
    std::string_view words = comment;
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find_first_of(" \t"));
      if (HasUnknownCharset(word)) return false;
      words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
    return true;
  }

  bool TakeAddress(std::size_t& count, int depth) {
    SkipSpace();
    if (rest_.empty()) return false;
    const std::string_view start = rest_;
    if (TakeSpec()) {
      ++count;
      SkipSpace();
      return !rest_.starts_with('(') || TakeNameComment();
    }
    rest_ = start;
    if (!rest_.starts_with('<') && !TakePhrase()) return false;
    SkipSpace();
    if (depth < kMaxDepth && Take(':')) return TakeGroup(count, depth + 1);
    if (!Take('<') || !TakeSpec() || !Take('>')) return false;
    ++count;
    return true;
  }

  bool TakeGroup(std::size_t& count, int depth) {
    SkipSpace();
    if (Take(';')) return SkipComments();
    while (true) {
      SkipSpace();
      if (!TakeAddress(count, depth) || !SkipComments()) return false;
      if (Take(';')) return SkipComments();
      if (!Take(',')) return false;
    }
  }

  // name@domain
  bool TakeSpec() {
    SkipSpace();
    if (rest_.empty()) return false;
    if (rest_[0] == '"') {
      bool empty = true;
      if (!TakeQuoted(empty) || empty) return false;
    } else if (!TakeAtom(/*loose=*/false)) {
      return false;
    }
    if (!Take('@')) return false;
    SkipSpace();
    if (rest_.empty()) return false;
    return rest_[0] == '[' ? TakeLiteral() : TakeAtom(/*loose=*/false);
  }

  // [192.0.2.1]
  bool TakeLiteral() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view address = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return IsIpAddress(address);
  }

  // One word or more. What follows them is left to the caller.
  bool TakePhrase() {
    bool any = false;
    while (true) {
      if (any && !SkipComments()) return false;
      SkipSpace();
      if (rest_.empty()) return any;
      bool empty = false;
      if (rest_[0] == '"') {
        if (!TakeQuoted(empty)) return any;
      } else {
        const std::string_view start = rest_;
        if (!TakeAtom(/*loose=*/true)) return any;
        if (HasUnknownCharset(start.substr(0, start.size() - rest_.size()))) return any;
      }
      any = true;
    }
  }

  // Takes nothing if it fails, as in Go.
  bool TakeQuoted(bool& empty) {
    bool escaped = false;
    empty = true;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (!escaped && c == '"') {
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (!IsVisible(c) && !IsSpace(c)) return false;
      escaped = !escaped && c == '\\';
      empty = empty && escaped;
    }
    return false;
  }

  bool TakeAtom(bool loose) {
    const auto end = std::ranges::find_if_not(rest_, IsAtomText);
    const std::string_view atom = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (atom.empty()) return false;
    rest_.remove_prefix(atom.size());
    return loose || !(atom.starts_with('.') || atom.ends_with('.') || atom.contains(".."));
  }

  std::string_view rest_;
};

}  // namespace

bool IsMailAddress(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  return detail::FindInvalidUtf8(begin, end) == end && MailParser(text).IsSingleAddress();
}

}  // namespace kgen::validation
