// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Quantity, computed with decimal digits and an exponent, and IntOrString.
#include "kgen/core/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/access.h"
#include "core/json/lexer.h"
#include "core/json/number.h"

namespace kgen {
namespace {

// A decimal number: 0.d1d2d3... * 10^point, d1 != 0 and the last digit != 0; no digits: zero. Longer numbers keep
// kDigits digits and one digit that represents the rest, which is enough for rounding up and for comparison.
struct Decimal {
  static constexpr int kDigits = 256;

  bool valid = false;
  bool negative = false;
  int size = 0;
  std::int64_t point = 0;
  unsigned char digits[kDigits + 24];  // room for a binary suffix: 2^60 adds 19 digits

  int sign() const { return size == 0 ? 0 : negative ? -1 : 1; }
  int digit(std::int64_t i) const { return i < size ? digits[i] : 0; }

  void Trim() {
    int zeros = 0;
    while (zeros < size && digits[zeros] == 0) ++zeros;
    std::copy(digits + zeros, digits + size, digits);
    size -= zeros;
    point -= zeros;
    while (size > 0 && digits[size - 1] == 0) --size;
    if (size == 0) point = 0;
  }

  // Multiplies by 2^bits.
  void Shift(int bits) {
    for (; bits > 0; bits -= 10) {
      unsigned carry = 0;
      for (int i = size; i-- > 0;) {
        const unsigned value = digits[i] * 1024u + carry;
        digits[i] = static_cast<unsigned char>(value % 10);
        carry = value / 10;
      }
      // There are at most four more digits in front.
      std::copy_backward(digits, digits + size, digits + size + 4);
      for (int i = 4; i-- > 0; carry /= 10) digits[i] = static_cast<unsigned char>(carry % 10);
      size += 4;
      point += 4;
      Trim();
    }
  }
};

struct Suffix {
  std::string_view name;
  int exponent;  // the exponent of ten
  int bits;      // the exponent of two
};
constexpr Suffix kSuffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

using detail::IsDigit;

// Applies the suffix or the exponent after the digits. An exponent must fit into 32 bits, as in the server.
bool ApplySuffix(std::string_view text, Decimal& number) {
  for (const Suffix& suffix : kSuffixes) {
    if (text != suffix.name) continue;
    number.point += suffix.exponent;
    number.Shift(suffix.bits);
    return true;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  if (text[0] == '+') {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  std::int32_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (number.size != 0) number.point += exponent;
  return true;
}

Decimal Read(std::string_view text) {
  Decimal number;
  number.negative = text.starts_with('-');
  if (number.negative || text.starts_with('+')) text.remove_prefix(1);
  bool any = false;
  bool after_point = false;
  bool rest = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!IsDigit(text[i])) break;
    any = true;
    if (number.size == 0 && text[i] == '0') {  // leading zeros
      number.point -= after_point;
    } else if (number.size < Decimal::kDigits - 1) {
      number.digits[number.size++] = static_cast<unsigned char>(text[i] - '0');
      number.point += !after_point;
    } else {
      rest = rest || text[i] != '0';
      number.point += !after_point;
    }
  }
  if (!any) return number;
  if (rest) number.digits[number.size++] = 1;
  number.Trim();
  number.valid = ApplySuffix(text.substr(i), number);
  if (!number.valid) number.size = 0;
  return number;
}

// Returns number * 10^shift, rounded away from zero and saturated.
std::int64_t RoundedUp(const Decimal& number, int shift) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  if (number.size == 0) return 0;
  const std::int64_t whole = number.point + shift;  // digits before the point
  if (whole > 19) return number.negative ? kMin : kMax;
  std::uint64_t magnitude = 0;  // 19 digits fit
  for (std::int64_t i = 0; i < whole; ++i) magnitude = magnitude * 10 + static_cast<unsigned>(number.digit(i));
  if (number.size > whole) ++magnitude;
  if (number.negative)
    return magnitude > static_cast<std::uint64_t>(kMax) ? kMin : -static_cast<std::int64_t>(magnitude);
  return magnitude > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<std::int64_t>(magnitude);
}

std::strong_ordering CompareMagnitude(const Decimal& a, const Decimal& b) {
  if (a.point != b.point) return a.point <=> b.point;
  for (int i = 0; i < std::max(a.size, b.size); ++i) {
    if (a.digit(i) != b.digit(i)) return a.digit(i) <=> b.digit(i);
  }
  return std::strong_ordering::equal;
}

// ---- A JSON number is inline text whose tag has the high bit set, which String does not know. (A longer number of a
// Quantity is text after a special byte.) ----

constexpr unsigned char kNumberTag = 0x80;

bool IsNumber(unsigned char tag) { return tag > kNumberTag && tag != 255; }

std::string_view NumberOrText(const String& text) noexcept {
  const auto* bytes = reinterpret_cast<const char*>(&text);
  const auto tag = static_cast<unsigned char>(bytes[15]);
  return IsNumber(tag) ? std::string_view(bytes, std::size_t{tag} - kNumberTag - 1) : text.view();
}

bool IsLongNumber(std::string_view text) noexcept {
  return text.starts_with(detail::ScalarAccess::kLongNumber) && detail::IsJsonNumber(text.substr(1));
}

}  // namespace

bool detail::ScalarAccess::SetNumber(String& text, std::string_view number) noexcept {
  if (number.size() > String::kInline) return false;
  std::memcpy(text.bytes_, number.data(), number.size());
  text.bytes_[15] = static_cast<char>(kNumberTag + number.size() + 1);
  return true;
}

std::string_view detail::ScalarAccess::Number(const IntOrString& v) noexcept { return NumberOrText(v.text_); }

std::string_view Quantity::text() const noexcept {
  std::string_view text = NumberOrText(text_);
  if (IsLongNumber(text)) text.remove_prefix(1);
  return text;
}

bool Quantity::is_number() const noexcept {
  return IsNumber(detail::ScalarAccess::Tag(text_)) || IsLongNumber(text_.view());
}

Quantity::Quantity(std::int64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  text_ = std::string_view(buffer, static_cast<std::size_t>(end - buffer));
}

bool Quantity::valid() const noexcept { return Read(text()).valid; }

std::int64_t Quantity::Value() const noexcept { return RoundedUp(Read(text()), 0); }

std::int64_t Quantity::MilliValue() const noexcept { return RoundedUp(Read(text()), 3); }

double Quantity::AsDouble() const noexcept {
  const Decimal number = Read(text());
  if (number.size == 0) return 0;
  char buffer[sizeof number.digits + 32];
  char* out = buffer;
  if (number.negative) *out++ = '-';
  *out++ = '0';
  *out++ = '.';
  for (int i = 0; i < number.size; ++i) *out++ = static_cast<char>('0' + number.digits[i]);
  *out++ = 'e';
  out = std::to_chars(out, buffer + sizeof buffer, number.point).ptr;
  double value = 0;
  if (detail::ReadDouble({buffer, out}, value).ec == std::errc::result_out_of_range) {
    value = number.point > 0 ? HUGE_VAL : 0;
    if (number.negative) value = -value;
  }
  return value;
}

std::strong_ordering Quantity::Compare(const Quantity& a, const Quantity& b) noexcept {
  const Decimal x = Read(a.text());
  const Decimal y = Read(b.text());
  if (x.sign() != y.sign()) return x.sign() <=> y.sign();
  return x.sign() < 0 ? CompareMagnitude(y, x) : CompareMagnitude(x, y);
}

IntOrString::IntOrString(std::int32_t value) {
  char buffer[16];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  detail::ScalarAccess::SetNumber(*this, {buffer, static_cast<std::size_t>(end - buffer)});
}

bool IntOrString::is_int() const noexcept { return IsNumber(detail::ScalarAccess::Tag(text_)); }

std::int64_t IntOrString::int64_value() const noexcept {
  return is_int() ? RoundedUp(Read(NumberOrText(text_)), 0) : 0;  // an integer in any spelling: `1e3`, `80.0`
}

std::int32_t IntOrString::int_value() const noexcept {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(int64_value(), Limits::min(), Limits::max()));
}

std::string_view IntOrString::string_value() const noexcept { return is_int() ? std::string_view() : text_.view(); }

std::string IntOrString::str() const { return std::string(NumberOrText(text_)); }

bool operator==(const IntOrString& a, const IntOrString& b) noexcept {
  if (a.is_int() != b.is_int() || a.has_value() != b.has_value()) return false;
  return a.is_int() ? a.int64_value() == b.int64_value() : a.text_ == b.text_;
}

}  // namespace kgen
