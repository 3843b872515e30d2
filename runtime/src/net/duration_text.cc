// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/duration_text.h"

#include <algorithm>
#include <cstdint>

namespace kgen::net {
namespace {

// Returns "1.5" for 1500 milliseconds: the whole part, and the fraction without trailing zeros.
std::string Decimal(std::int64_t value, std::int64_t unit) {
  std::string out = std::to_string(value / unit);
  std::int64_t rest = value % unit;
  if (rest == 0) return out;
  out += '.';
  while (rest != 0) {
    unit /= 10;
    out += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return out;
}

}  // namespace

std::string DurationText(Nanos duration) {
  const std::int64_t n = duration.count();
  if (n == 0) return "0s";
  // The least value has no positive counterpart; a nanosecond more prints the same but for the last digit.
  if (n < 0) return '-' + DurationText(-std::max(duration, -Nanos::max()));
  if (n < 1000) return std::to_string(n) + "ns";
  if (n < 1'000'000) return Decimal(n, 1000) + "\u00b5s";
  if (n < 1'000'000'000) return Decimal(n, 1'000'000) + "ms";
  const std::int64_t minutes = n / 60'000'000'000;
  std::string seconds = Decimal(n % 60'000'000'000, 1'000'000'000) + 's';
  if (minutes == 0) return seconds;
  if (minutes < 60) return std::to_string(minutes) + 'm' + seconds;
  return std::to_string(minutes / 60) + 'h' + std::to_string(minutes % 60) + 'm' + seconds;
}

}  // namespace kgen::net
