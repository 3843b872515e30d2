// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Determines the types of plain scalars as kubectl does: YAML 1.1 without base 60 and with dates as text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "codec/yaml/tree.h"
#include "core/json/lexer.h"
#include "core/json/number.h"

namespace kgen::yaml {
namespace {

using detail::IsDigit;
using detail::IsJsonNumber;

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kSpecialFloats = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF",
                                                             "-.inf", "-.Inf", "-.INF", ".nan",  ".NaN",  ".NAN"};

template <std::size_t n>
bool IsOneOf(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

// Parses an integer in the notations of kubectl: decimal, 0x, 0o, 0b, and 0 followed by octal digits. Returns false if
// the text is not an integer, or does not fit into 64 bits.
bool ParseInteger(std::string_view text, bool& negative, std::uint64_t& magnitude) {
  const std::string plain = WithoutUnderscores(text);
  std::string_view digits = plain;
  negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    digits.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  if (digits.empty()) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  return !negative || magnitude <= (std::uint64_t{1} << 63);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool IsYamlFloat(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const std::size_t before = digits();
  std::size_t after = 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    after = digits();
  }
  if (before == 0 && after == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// Returns a YAML float in JSON spelling: no plus sign, no leading zeros, digits on both sides of the point.
std::string FloatToJson(std::string_view text) {
  std::string plain = WithoutUnderscores(text);
  std::string_view rest = plain;
  std::string out;
  if (rest.starts_with('-')) out += '-';
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  const std::size_t point = rest.find_first_of(".eE");
  std::string_view whole = rest.substr(0, point);
  rest = point == std::string_view::npos ? std::string_view() : rest.substr(point);
  while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
  out += whole.empty() ? std::string_view("0") : whole;
  if (rest.starts_with('.')) {
    const std::size_t exponent = rest.find_first_of("eE");
    const std::string_view fraction = rest.substr(0, exponent);
    if (fraction.size() > 1) out += fraction;
    rest = exponent == std::string_view::npos ? std::string_view() : rest.substr(exponent);
  }
  return out += rest;
}

// Returns what Go's strconv.FormatFloat(value, 'g', -1, 32) returns, for a YAML float.
std::string FormatFloat32(std::string_view text) {
  if (IsInfinityOrNan(text))
    return text.ends_with('n') || text.ends_with('N') ? ".nan" : text[0] == '-' ? "-.inf" : ".inf";
  const std::string plain = WithoutUnderscores(text);
  const std::string_view digits = std::string_view(plain).substr(plain.starts_with('+') ? 1 : 0);
  double wide = 0;
  const std::from_chars_result parsed = detail::ReadDouble(digits, wide);
  const bool small = digits.contains("e-") || digits.contains("E-");
  if (parsed.ec != std::errc() && !small) return std::string(text);  // too large, so text for Go's YAML reader
  const auto value = static_cast<float>(wide);
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::array<char, 64> buffer;
  const auto print = [&](std::chars_format format) {
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
    return std::string(buffer.data(), end);
  };
  std::string scientific = print(std::chars_format::scientific);
  int exponent = 0;
  const char* const sign = scientific.data() + scientific.find('e') + 1;  // from_chars takes no '+'
  std::from_chars(*sign == '+' ? sign + 1 : sign, scientific.data() + scientific.size(), exponent);
  return exponent < -4 || exponent >= 6 ? scientific : print(std::chars_format::fixed);
}

}  // namespace

bool IsInfinityOrNan(std::string_view text) { return IsOneOf(text, kSpecialFloats); }

Kind ResolvePlain(std::string_view text, bool& value) {
  value = false;
  if (text.empty()) return Kind::kNull;
  const char first = text[0];
  if (!IsDigit(first) && first != '-' && first != '+' && first != '.') {
    if (text.size() > 5 || std::string_view("~nNyYtTfFoO").find(first) == std::string_view::npos) return Kind::kString;
    if (IsOneOf(text, kNulls)) return Kind::kNull;
    if (IsOneOf(text, kTrue)) {
      value = true;
      return Kind::kBool;
    }
    return IsOneOf(text, kFalse) ? Kind::kBool : Kind::kString;
  }
  if (IsInfinityOrNan(text)) return Kind::kFloat;
  if (first != '.') {
    bool negative = false;
    std::uint64_t magnitude = 0;
    if (ParseInteger(text, negative, magnitude)) return Kind::kInt;
  }
  return IsYamlFloat(WithoutUnderscores(text)) ? Kind::kFloat : Kind::kString;
}

std::optional<std::string> KubectlKey(const Entry& entry) {
  if (!entry.ambiguous) return std::string(entry.key);
  bool value = false;
  switch (ResolvePlain(entry.key, value)) {
    case Kind::kNull:
      return std::nullopt;
    case Kind::kBool:
      return value ? "true" : "false";
    case Kind::kFloat:
      return FormatFloat32(entry.key);
    case Kind::kInt: {
      bool negative = false;
      std::uint64_t magnitude = 0;
      ParseInteger(entry.key, negative, magnitude);
      if (!negative && magnitude > 0x7FFFFFFFFFFFFFFF) return std::nullopt;
      return (negative && magnitude != 0 ? "-" : "") + std::to_string(magnitude);
    }
    default:
      return std::string(entry.key);
  }
}

// YYYY-M-D, alone or followed by a time.
bool LooksLikeTimestamp(std::string_view text) {
  std::size_t i = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t start = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    const std::size_t count = i - start;
    if (part == 0 ? count != 4 : (count < 1 || count > 2)) return false;
    if (part < 2) {
      if (i == text.size() || text[i] != '-') return false;
      ++i;
    }
  }
  return i == text.size() || text[i] == 'T' || text[i] == 't' || text[i] == ' ';
}

std::optional<std::int64_t> Node::AsInt64() const noexcept {
  if (kind_ != Kind::kInt) return std::nullopt;
  const std::string_view digits = text();
  std::int64_t result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error == std::errc() && end == digits.data() + digits.size() && IsJsonNumber(digits)) return result;
  bool negative = false;
  std::uint64_t magnitude = 0;
  if (!ParseInteger(digits, negative, magnitude)) return std::nullopt;
  if (negative) return static_cast<std::int64_t>(0 - magnitude);
  if (magnitude > 0x7FFFFFFFFFFFFFFF) return std::nullopt;
  return static_cast<std::int64_t>(magnitude);
}

std::string Node::NumberText() const {
  if (!is_number()) return {};
  if (IsJsonNumber(text())) return std::string(text());
  if (kind_ == Kind::kFloat) return FloatToJson(text());
  bool negative = false;
  std::uint64_t magnitude = 0;
  ParseInteger(text(), negative, magnitude);
  return (negative && magnitude != 0 ? "-" : "") + std::to_string(magnitude);
}

}  // namespace kgen::yaml
