// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "core/json/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/json/lexer.h"

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#include <locale.h>
#include <stdlib.h>
#define KGEN_NO_FROM_CHARS_OF_DOUBLE 1
#endif

namespace kgen::detail {

namespace {

// Larger exponents and lengths need not be told apart: all are too large or too small.
constexpr std::int64_t kFar = 100'000'000;

// A number as digits and a power of ten: 0.<digits> * 10^exponent. The digits have no zeros at either end.
struct Decimal {
  bool negative = false;
  std::string_view text;   // from the first significant digit to the last, possibly with a point in between
  std::size_t digits = 0;  // of `text`, without the point; 0 for zero
  std::int64_t exponent = 0;

  bool integral() const noexcept { return exponent >= static_cast<std::int64_t>(digits); }
};

std::int64_t ParseExponent(std::string_view text) noexcept {  // the text after the e
  bool negative = false;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c == '-') negative = true;
    if (IsDigit(c) && value < kFar) value = value * 10 + (c - '0');
  }
  value = std::min(value, kFar);
  return negative ? -value : value;
}

Decimal Split(std::string_view number) noexcept {
  Decimal result;
  if (number.front() == '-') {
    result.negative = true;
    number.remove_prefix(1);
  }
  std::int64_t exponent = 0;
  if (const std::size_t e = number.find_first_of("eE"); e != number.npos) {
    exponent = ParseExponent(number.substr(e + 1));
    number = number.substr(0, e);
  }
  std::size_t point = number.find('.');
  if (point == number.npos) point = number.size();
  const std::size_t first = number.find_first_of("123456789");
  if (first == number.npos) return result;
  const std::size_t last = number.find_last_of("123456789");
  result.text = number.substr(first, last - first + 1);
  result.digits = result.text.size() - (first < point && point < last ? 1 : 0);
  const auto before_point = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  result.exponent = exponent + (before_point > 0 ? before_point : before_point + 1);
  return result;
}

}  // namespace

bool IsJsonNumber(std::string_view text) noexcept {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const NumberToken number = ScanNumber(begin, end);
  return number.problem == NumberToken::Problem::kNone && number.end == end;
}

bool ParseInteger(std::string_view number, bool plain, std::int64_t& value) noexcept {
  if (plain) {
    constexpr std::size_t kSafe = 18;  // this many digits cannot overflow
    const bool negative = number.front() == '-';
    if (number.size() <= kSafe) {
      std::int64_t sum = 0;
      for (std::size_t i = negative ? 1 : 0; i < number.size(); ++i) sum = sum * 10 + (number[i] - '0');
      value = negative ? -sum : sum;
      return true;
    }
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    return error == std::errc();
  }
  const Decimal decimal = Split(number);
  if (decimal.digits == 0) {
    value = 0;
    return true;
  }
  if (!decimal.integral() || decimal.exponent > 19) return false;
  char buffer[24];
  char* p = buffer;
  if (decimal.negative) *p++ = '-';
  for (const char c : decimal.text) {
    if (c != '.') *p++ = c;
  }
  for (auto i = static_cast<std::int64_t>(decimal.digits); i < decimal.exponent; ++i) *p++ = '0';
  const auto [end, error] = std::from_chars(buffer, p, value);
  return error == std::errc();
}

namespace {

// Returns false for integers such as 2^53 + 1, which would be sent back as 2^53.
bool KeepsInteger(std::string_view number, double parsed) noexcept {
  constexpr double kAllExact = 9007199254740992;
  std::int64_t integer;
  if (std::abs(parsed) < kAllExact || number.find_first_of(".eE") != number.npos) return true;
  if (!ParseInteger(number, /*plain=*/true, integer)) return true;
  char buffer[kNumberRoom];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, parsed, std::chars_format::fixed).ptr;
  return number == std::string_view(buffer, end);
}

}  // namespace

std::from_chars_result ReadDouble(std::string_view text, double& value) noexcept {
#if !defined(KGEN_NO_FROM_CHARS_OF_DOUBLE)
  return std::from_chars(text.data(), text.data() + text.size(), value);
#else
  static const locale_t kC = ::newlocale(LC_ALL_MASK, "C", nullptr);
  const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
  if (end == 0 || text[0] == '+') return {text.data(), std::errc::invalid_argument};
  const std::string copy(text.substr(0, end));
  char* stop = nullptr;
  const double read = ::strtod_l(copy.c_str(), &stop, kC);
  const std::string_view used = text.substr(0, static_cast<std::size_t>(stop - copy.c_str()));
  if (used.empty()) return {text.data(), std::errc::invalid_argument};
  const std::string_view digits = used.substr(0, used.find_first_of("eE"));
  const bool zero = digits.find_first_of("123456789") == digits.npos;
  const char* const after = used.data() + used.size();
  if (!std::isfinite(read) || (read == 0 && !zero)) return {after, std::errc::result_out_of_range};
  value = read;
  return {after, std::errc()};
#endif
}

bool ParseDouble(std::string_view number, double& value) noexcept {
  double parsed = 0;
  const auto [end, error] = ReadDouble(number, parsed);
  if (error == std::errc::result_out_of_range) {
    const Decimal decimal = Split(number);
    if (decimal.exponent > 0) return false;
    parsed = decimal.negative ? -0.0 : 0.0;  // too small for a double: zero is the nearest
  } else if (error != std::errc() || !std::isfinite(parsed) || !KeepsInteger(number, parsed)) {
    return false;
  }
  value = parsed;
  return true;
}

std::string CanonicalNumber(std::string_view number) {
  constexpr std::int64_t kLongest = 20;  // digits; a longer integer, such as `1e400`, keeps an exponent
  const Decimal decimal = Split(number);
  if (decimal.digits == 0) return "0";
  if (decimal.integral()) {
    std::string text(decimal.negative ? "-" : "");
    for (const char c : decimal.text) {
      if (c != '.') text.push_back(c);
    }
    const auto zeros = static_cast<std::size_t>(decimal.exponent) - decimal.digits;
    if (zeros == 0 || decimal.exponent <= kLongest) return text.append(zeros, '0');
    // The reader has the same limit. Without it here, the canonical text of a number would have another canonical text.
    return text.append("e").append(std::to_string(std::min(zeros, static_cast<std::size_t>(kFar))));
  }
  double value;
  if (!ParseDouble(number, value)) return std::string(number);
  char buffer[kNumberRoom];
  const std::string_view nearest(buffer, WriteDouble(value, buffer));
  // A double may be an integer where the number is none: a large one, or a number too small for a double.
  const Decimal written = Split(nearest);
  return written.digits == 0 || written.integral() ? CanonicalNumber(nearest) : std::string(nearest);
}

char* WriteInteger(std::int64_t value, char* to) noexcept { return std::to_chars(to, to + kNumberRoom, value).ptr; }

char* WriteDouble(double value, char* to) noexcept {
  if (!std::isfinite(value)) return std::copy_n("null", 4, to);
  const double magnitude = std::abs(value);
  if (magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21)) {
    return std::to_chars(to, to + kNumberRoom, value, std::chars_format::fixed).ptr;
  }
  char* end = std::to_chars(to, to + kNumberRoom, value, std::chars_format::scientific).ptr;
  if (end - to >= 4 && end[-4] == 'e' && end[-2] == '0') {  // e-07
    end[-2] = end[-1];
    --end;
  }
  return end;
}

bool IsWrittenSo(double value, std::string_view number, bool plain) noexcept {
  constexpr std::size_t kExact = 15;  // integers of this many digits are written unchanged
  if (plain && number.size() <= kExact && number != "-0") return true;
  char buffer[kNumberRoom];
  return number == std::string_view(buffer, WriteDouble(value, buffer));
}

}  // namespace kgen::detail
