// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "generator/diagnostic.h"
#include "generator/utf8.h"

namespace kgen::generator::crd {
namespace {

constexpr int kMostRepetitions = 1000;
constexpr std::string_view kClasses[] = {"alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph",
                                         "lower", "print", "punct", "space", "upper", "word",  "xdigit"};

// The value of a digit of up to 36, or 36.
std::uint32_t Digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? static_cast<std::uint32_t>((c | 0x20) - 'a' + 10) : 36;
}
bool IsWord(char c) { return Digit(c) < 36 || c == '_'; }

// The number of a repetition, or another that is not allowed either; -1 if it is none.
int Count(std::string_view text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (text.empty() || !digits || (text.size() > 1 && text[0] == '0')) return -1;
  return text.size() > 4 ? kMostRepetitions + 1 : std::stoi(std::string(text));
}

// Reads a pattern from left to right, as Go's parser does, but keeps only what the checks need.
class Checker {
 public:
  explicit Checker(std::string_view pattern) : rest_(pattern) {}

  std::string Check() {
    while (!rest_.empty() && fault_.empty()) Step();
    if (open_ != 0) Fail("a parenthesis ( is not closed; write \\( for the character");
    return std::move(fault_);
  }

 private:
  void Fail(const std::string& fault) { fault_ = fault_.empty() ? fault : fault_; }

  char Peek(std::size_t at = 0) const { return at < rest_.size() ? rest_[at] : '\0'; }

  std::string_view Take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool Take(std::string_view text) { return rest_.starts_with(text) && !Take(text.size()).empty(); }

  void Step() {
    const bool repeated = std::exchange(repeated_, false);
    if (Take("(")) return Open();
    if (Peek() == '\\') return Escape();
    if (const std::size_t size = Repetition(); size != 0) return Repeat(Take(size), repeated);
    if (Peek() == ')' && open_-- == 0) Fail("a parenthesis ) closes nothing; write \\) for the character");
    operand_ = Peek() != '|';
    if (Take("[")) return Class();
    Take(1);
  }

  // The bytes of a repetition, or 0; a brace that begins none is a character.
  std::size_t Repetition() {
    if (Peek() == '*' || Peek() == '+' || Peek() == '?') return 1;
    const std::size_t end = Peek() == '{' ? rest_.find('}') : std::string_view::npos;
    if (end == std::string_view::npos) return 0;
    const std::string_view range = rest_.substr(1, end - 1), least = range.substr(0, range.find(','));
    const bool open = range.ends_with(',');  // {2,}
    const int low = Count(least);
    const int high = open || least == range ? low : Count(range.substr(least.size() + 1));
    if (low < 0 || high < 0 || (open && least.size() + 1 != range.size())) return 0;
    if (low > high) Fail("in the repetition {" + std::string(range) + "} the least is above the most");
    if (high > kMostRepetitions) Fail("the repetition {" + std::string(range) + "} is above 1000");
    return end + 1;
  }

  void Repeat(std::string_view sign, bool repeated) {
    if (!operand_)
      return Fail("there is nothing before " + Quote(sign) + " to repeat; write \\" + sign[0] + " for the character");
    if (repeated)
      return Fail("the repetition " + Quote(sign) + " follows another one; write parentheses around what it repeats");
    Take("?");
    repeated_ = true;
  }

  void Open() {
    const std::string shown = Quote("(" + std::string(rest_), 12);
    for (const std::string_view look : {"?=", "?!", "?<=", "?<!"}) {
      if (rest_.starts_with(look))
        return Fail("RE2 has no look-around such as " + shown + "; write a second condition as +kgen:XValidation");
    }
    if (Take("?P<") || Take("?<")) {
      const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsWord);
      if (Take(static_cast<std::size_t>(end - rest_.begin())).empty() || !Take(">"))
        return Fail("the name of the group " + shown + " is not made of letters, digits and _ up to a >");
    } else if (Take("?")) {
      const std::string_view flags = Take(std::min(rest_.find_first_of(":)"), rest_.size()));
      const bool known = flags.find_first_not_of("imsU-") == flags.npos && flags.find('-') == flags.rfind('-');
      if (!known || flags.ends_with('-') || rest_.empty()) return Fail("RE2 has no group " + shown);
      if (Take(")")) return;  // for the rest of the group around it
      Take(":");
    }
    ++open_;
    operand_ = false;
  }

  void Escape() {
    if (Take("\\Q")) {
      const std::size_t end = rest_.find("\\E");
      operand_ = !Take(std::min(end, rest_.size())).empty() || operand_;
      Take("\\E");
    } else {
      if (!Take("\\A") && !Take("\\b") && !Take("\\B") && !Take("\\z") && !ClassEscape()) Character();
      operand_ = true;
    }
  }

  // \d, \pL or \p{Greek}, which stand for more than one character.
  bool ClassEscape() {
    if (Peek() != '\\' || !IsWord(Peek(1)) || !std::string_view("dDsSwWpP").contains(Peek(1))) return false;
    if ((Take(2)[1] | 0x20) != 'p') return true;
    const std::size_t end = Peek() == '{' ? rest_.find('}') : 0;
    if (rest_.empty() || end == std::string_view::npos) Fail("\\p needs a name, as in \\p{Greek}");
    Take(end + 1);
    return true;
  }

  // One character, as it is or written with a backslash.
  std::uint32_t Character() {
    constexpr std::string_view kNames = "afnrtv", kValues = "\a\f\n\r\t\v";
    const bool escaped = Take("\\");
    if (rest_.empty()) {
      Fail("it ends with a backslash; write \\\\ for the character");
      return 0;
    }
    const char c = escaped ? rest_[0] : '\0';
    if (c == 'x') {
      Take(1);
      return Take("{") ? Number(16, 1, rest_.size(), "}") : Number(16, 2, 2, "");
    }
    if (c == '0' || (Digit(c) < 8 && Digit(Peek(1)) < 8)) return Number(8, 1, 3, "");
    if (Digit(c) < 10) Fail("RE2 has no back-references such as \\" + std::string(1, c));
    const std::size_t named = escaped ? kNames.find(c) : kNames.npos;
    const CodePoint next = DecodeUtf8(rest_);
    if (escaped && named == kNames.npos && (Digit(c) < 36 || next.value >= 0x80))
      Fail("RE2 has no escape \\" + Visible(rest_.substr(0, next.size)));
    Take(next.size);
    return named == kNames.npos ? next.value : static_cast<std::uint32_t>(kValues[named]);
  }

  std::uint32_t Number(std::uint32_t base, std::size_t least, std::size_t most, std::string_view end) {
    std::uint32_t value = 0;
    std::size_t count = 0;
    for (; count < most && value <= 0x10FFFF && Digit(Peek()) < base; ++count) value = value * base + Digit(Take(1)[0]);
    if (count < least || value > 0x10FFFF || !rest_.starts_with(end))
      Fail("\\x needs two digits, as in \\x0A, or up to \\x{10FFFF}");
    Take(end.size());
    return value;
  }

  void Class() {
    Take("^");
    for (bool first = true; fault_.empty() && (first || Peek() != ']'); first = false) {
      if (rest_.empty()) return Fail("a bracket [ is not closed; write \\[ for the character");
      if (NamedClass() || ClassEscape()) continue;
      const std::string_view range = rest_;
      const std::uint32_t low = Character();
      if (rest_.size() < 2 || Peek(1) == ']' || !Take("-")) continue;
      if (Character() < low)
        Fail("the range " + Quote(range.substr(0, range.size() - rest_.size())) + " in brackets ends before it begins");
    }
    Take("]");
  }

  // [:alpha:] inside of brackets. Without :] behind it, [: are characters.
  bool NamedClass() {
    const std::size_t end = rest_.starts_with("[:") ? rest_.find(":]", 2) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    std::string_view name = Take(end + 2).substr(2, end - 2);
    if (name.starts_with('^')) name.remove_prefix(1);
    if (std::find(std::begin(kClasses), std::end(kClasses), name) == std::end(kClasses))
      Fail("there is no class [:" + Visible(name) + ":] of characters");
    return true;
  }

  std::string_view rest_;
  std::string fault_;
  std::size_t open_ = 0;   // parentheses
  bool operand_ = false;   // there is something before this place that can be repeated
  bool repeated_ = false;  // the last token is a repetition
};

}  // namespace

std::string FaultOfPattern(std::string_view pattern) { return Checker(pattern).Check(); }

}  // namespace kgen::generator::crd
