// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Patterns of a schema, in the syntax of Go's package regexp. RE2 is the C++ library of the same author, with the same
// syntax and semantics, and the same promise: matching takes time linear in the text. It differs as follows.
// * A named group may be (?<name>x) in Go since 1.22, but not in the RE2 of Debian 12; Pattern rewrites it.
// * \C, any byte, is RE2's alone; Pattern refuses it.
// * RE2 limits the memory of a pattern, Go the number of its instructions. Pattern allows 64 MB, which is more than
//   any pattern needs that Go accepts and a schema has; RE2 refuses a larger one.
// * RE2 accepts groups that nest deeper than 1000, and two groups of one name. No server takes a CRD with such a
// pattern.
// * The tables of Unicode are of the version that each was built with, so that a script which is newer is unknown.
#ifndef KGEN_SRC_VALIDATION_PATTERN_H_
#define KGEN_SRC_VALIDATION_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>

#include "kgen/core/result.h"

namespace re2 {
class RE2;
}

namespace kgen::validation {

// A compiled pattern. Immutable, and movable; any number of threads may use one.
class Pattern {
 public:
  // Errors: kInvalidArgument  not in the syntax of Go, or too large
  static Result<Pattern> Compile(std::string_view text);

  // True if the pattern matches somewhere in `text`: it has no implied anchors.
  bool Matches(std::string_view text) const;
  // The pattern as it was given.
  const std::string& text() const noexcept { return text_; }

 private:
  Pattern(std::string text, std::shared_ptr<const re2::RE2> compiled)
      : text_(std::move(text)), compiled_(std::move(compiled)) {}
  std::string text_;
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_PATTERN_H_
