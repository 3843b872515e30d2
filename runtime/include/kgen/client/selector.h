// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Selector: a label selector, such as "app=web,tier in (a, b),!legacy", for listers and for the in-memory API server.
#ifndef KGEN_CLIENT_SELECTOR_H_
#define KGEN_CLIENT_SELECTOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/map.h"
#include "kgen/core/optional.h"
#include "kgen/core/result.h"
#include "kgen/core/string.h"

namespace kgen {

namespace meta::v1 {
struct LabelSelector;
}

// A parsed label selector. Thread safety: immutable.
class Selector {
 public:
  Selector() = default;  // selects everything
  static Selector Everything() { return Selector(); }
  static Selector Nothing();

  // Parses the text form of the API. Errors: kInvalidArgument with the position and what was expected.
  static Result<Selector> Parse(std::string_view text);
  // Converts a field like spec.selector: an absent one selects nothing, an empty one everything. Errors:
  // kInvalidArgument for an unknown operator, or values that do not match it.
  static Result<Selector> From(const Optional<meta::v1::LabelSelector>& selector);

  // Returns whether an object with these labels is selected.
  bool Matches(const Map<String>& labels) const noexcept;
  // Returns whether it selects every object.
  bool is_everything() const noexcept { return !nothing_ && requirements_.empty(); }
  // Returns whether it selects no object, whatever its labels.
  bool is_nothing() const noexcept { return nothing_; }
  std::string str() const;  // what Parse reads, requirements sorted by key

 private:
  class Parser;
  enum class Operator : std::uint8_t {
    kIn,
    kNotIn,
    kExists,
    kDoesNotExist,
    kEquals,
    kDoubleEquals,  // kEquals, written ==
    kNotEquals,
    kGreaterThan,
    kLessThan,
  };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;  // sorted, each once
    std::int64_t number = 0;          // of kGreaterThan, kLessThan
    bool Matches(const Map<String>& labels) const noexcept;
    std::string str() const;
  };
  static Result<Requirement> Make(std::string_view key, Operator op, std::vector<std::string> values);
  void Sort();
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_SELECTOR_H_
