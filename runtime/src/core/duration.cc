// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Durations as Go writes and reads them.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/core/time.h"

namespace kgen {
namespace {

constexpr std::uint64_t kMaxMagnitude = std::uint64_t{1} << 63;  // the magnitude of the most negative duration

struct Unit {
  std::string_view name;
  std::uint64_t nanos;
};
// Longer names come before their prefixes.
constexpr Unit kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

bool IsDigit(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

// Removes one "1.5h" from the front of `text` and adds it to `sum`. Returns false if there is none, or if it does not
// fit.
bool TakeTerm(std::string_view& text, std::uint64_t& sum) {
  std::uint64_t whole = 0;
  bool any = false;
  for (; IsDigit(text); text.remove_prefix(1), any = true) {
    const unsigned digit = static_cast<unsigned>(text[0] - '0');
    if (whole > (kMaxMagnitude - digit) / 10) return false;
    whole = whole * 10 + digit;
  }
  std::uint64_t fraction = 0;
  double scale = 1;
  if (!text.empty() && text[0] == '.') {
    bool full = false;  // digits beyond 63 bits do not count
    for (text.remove_prefix(1); IsDigit(text); text.remove_prefix(1), any = true) {
      const unsigned digit = static_cast<unsigned>(text[0] - '0');
      full = full || fraction > ((kMaxMagnitude - 1) - digit) / 10;
      if (full) continue;
      fraction = fraction * 10 + digit;
      scale *= 10;
    }
  }
  if (!any) return false;
  std::uint64_t unit = 0;
  for (const Unit& candidate : kUnits) {
    if (!text.starts_with(candidate.name)) continue;
    unit = candidate.nanos;
    text.remove_prefix(candidate.name.size());
    break;
  }
  if (unit == 0 || whole > kMaxMagnitude / unit) return false;
  // The fraction uses floating point, as in Go: the results must agree to the nanosecond.
  const std::uint64_t term =
      whole * unit + static_cast<std::uint64_t>(static_cast<double>(fraction) * (static_cast<double>(unit) / scale));
  if (term > kMaxMagnitude || sum > kMaxMagnitude - term) return false;
  sum += term;
  return true;
}

std::optional<std::int64_t> ParseNanos(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  while (!text.empty()) {
    if (!TakeTerm(text, sum)) return std::nullopt;
  }
  if (negative) return static_cast<std::int64_t>(~sum + 1);
  if (sum == kMaxMagnitude) return std::nullopt;
  return static_cast<std::int64_t>(sum);
}

// Returns "1.5" for 1'500'000'000 and 9 digits.
std::string Decimal(std::uint64_t value, int digits) {
  std::string text = std::to_string(value);
  if (static_cast<int>(text.size()) <= digits) text.insert(0, static_cast<std::size_t>(digits) + 1 - text.size(), '0');
  text.insert(text.size() - static_cast<std::size_t>(digits), 1, '.');
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string Format(std::int64_t nanos) {
  if (nanos == 0) return "0s";
  std::string text = nanos < 0 ? "-" : "";
  const std::uint64_t value = nanos < 0 ? ~static_cast<std::uint64_t>(nanos) + 1 : static_cast<std::uint64_t>(nanos);
  if (value < 1'000) return text + std::to_string(value) + "ns";
  if (value < 1'000'000) return text + Decimal(value, 3) + "\u00b5s";
  if (value < 1'000'000'000) return text + Decimal(value, 6) + "ms";
  const std::uint64_t minutes = value / 60'000'000'000;
  if (minutes >= 60) text += std::to_string(minutes / 60) + "h";
  if (minutes >= 1) text += std::to_string(minutes % 60) + "m";
  return text + Decimal(value % 60'000'000'000, 9) + "s";
}

}  // namespace

Duration::Duration(std::chrono::nanoseconds value) : text_(Format(value.count())) {}

Result<Duration> Duration::Parse(std::string_view text) {
  if (!ParseNanos(text)) {
    return Fail(Code::kInvalidArgument,
                "\"" + std::string(text.substr(0, 64)) +
                    "\" is not a duration such as \"300ms\" or \"1h30m\", of at most 292 years");
  }
  Duration duration;
  duration.text_ = text;
  return duration;
}

std::chrono::nanoseconds Duration::value() const noexcept {
  return std::chrono::nanoseconds(ParseNanos(text_.view()).value_or(0));
}

}  // namespace kgen
