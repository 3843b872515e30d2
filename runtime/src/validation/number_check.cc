// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A server also checks that a bound is in the range of the type, each time that it checks a value, and cuts a bound for
// an integer to an integer.
#include "validation/number_check.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "validation/report.h"

namespace kgen::validation {
namespace {

using nlohmann::json;

constexpr double kEnd = 9223372036854775808.0;  // 2^63

bool IsWholeDouble(double value) noexcept {
  constexpr double kMost = 9007199254740991;  // 2^53 - 1
  if (!(std::abs(value) <= kMost)) return false;
  const double whole = std::trunc(value);
  if (value == whole) return true;
  // Go compares with the number as uint64, which is what is nearest to zero for a positive one.
  return whole > 0 && (value - whole) / (value + whole) < 1e-9;
}

// As a server on amd64 converts it: what does not fit is the smallest integer.
std::int64_t ToInt64(double value) noexcept {
  return value >= -kEnd && value < kEnd ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::min();
}

// Whether a number is in the range of the type and the format.
bool IsInRange(double value, bool is_integer, const Node& node) noexcept {
  if (node.types.size() != 1) return true;
  constexpr double kFloatEnd = 0x1.ffffffp127;  // what a float would round to infinity
  if (node.types[0] == "number") return node.format != "float" || std::abs(value) < kFloatEnd;
  if (node.types[0] != "integer") return true;
  if (!is_integer && (std::trunc(value) != value || value < -kEnd || value >= kEnd)) return false;
  return node.format != "int32" ||
         (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max());
}

class NumberChecker {
 public:
  NumberChecker(const json& number, const Node& node, const std::string& path, FieldErrors& errors)
      : number_(number), node_(node), path_(path), errors_(errors) {}

  void Check() {
    RequireRange("Checked", value_, is_integer_);
    if (node_.multiple_of) CheckMultiple(*node_.multiple_of);
    if (node_.minimum) CheckMinimum(*node_.minimum);
    if (node_.maximum) CheckMaximum(*node_.maximum);
  }

 private:
  std::string_view Field() const { return path_.empty() ? kNowhere : std::string_view(path_); }

  // Returns whether the number is in range.
  bool RequireRange(const char* what, double value, bool is_integer) {
    if (IsInRange(value, is_integer, node_)) return true;
    const std::string format = node_.format.empty() ? " (default format)" : " with format " + node_.format;
    errors_.Invalid(kNowhere, "",
                    std::string(what) + " value must be of type " + node_.types[0] + format + " in " + path_);
    return false;
  }

  // The value and the bound as the server compares them, which are integers if the value is one and the bound fits.
  void Invalid(bool native, const std::string& why, double bound) {
    const std::string shown = native && is_integer_ ? std::to_string(ToInt64(bound)) : NumberText(bound);
    const json value = native ? number_ : json(value_);
    AddInvalid(errors_, Field(), value, path_ + " in body should be " + why + " " + shown);
  }

  void CheckMultiple(double factor) {
    const bool native = RequireRange("MultipleOf", factor, false);
    if (native && is_integer_) {
      const std::int64_t whole = ToInt64(factor);
      if (whole <= 0) return NotPositive(whole);
      if (integer_ % whole != 0) Invalid(native, "a multiple of", factor);
      return;
    }
    if (factor <= 0) return NotPositive(factor);
    const double ratio = factor < 1 ? 1 / factor * value_ : value_ / factor;
    if (!IsWholeDouble(ratio)) Invalid(native, "a multiple of", factor);
  }
  void NotPositive(const json& factor) {
    AddInvalid(errors_, Field(), factor,
               "factor MultipleOf declared for " + path_ + " must be positive: " +
                   (factor.is_number_float() ? NumberText(factor.get<double>()) : factor.dump()));
  }

  void CheckMinimum(double least) {
    const bool native = RequireRange("Minimum boundary", least, false);
    const bool integers = native && is_integer_, exclusive = node_.exclusive_minimum;
    const bool below = integers ? integer_ < ToInt64(least) : value_ < least;
    const bool equal = integers ? integer_ == ToInt64(least) : value_ == least;
    if (below || (equal && exclusive)) Invalid(native, exclusive ? "greater than" : "greater than or equal to", least);
  }

  void CheckMaximum(double most) {
    const bool native = RequireRange("Maximum boundary", most, false);
    const bool integers = native && is_integer_, exclusive = node_.exclusive_maximum;
    const bool above = integers ? integer_ > ToInt64(most) : value_ > most;
    const bool equal = integers ? integer_ == ToInt64(most) : value_ == most;
    if (above || (equal && exclusive)) Invalid(native, exclusive ? "less than" : "less than or equal to", most);
  }

  const json& number_;
  const Node& node_;
  const std::string& path_;
  FieldErrors& errors_;
  const bool is_integer_ = IsInt64(number_);
  const std::int64_t integer_ = is_integer_ ? number_.get<std::int64_t>() : 0;
  const double value_ = number_.get<double>();
};

}  // namespace

bool IsInt64(const json& value) noexcept {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  return value.is_number_integer();
}

bool IsWhole(const json& number) noexcept { return IsInt64(number) || IsWholeDouble(number.get<double>()); }

void CheckNumber(const json& number, const Node& node, const std::string& path, FieldErrors& errors) {
  NumberChecker(number, node, path, errors).Check();
}

}  // namespace kgen::validation
