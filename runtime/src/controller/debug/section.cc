// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/debug/section.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

namespace kgen::controller {
namespace {

// Three digits, without zeros at the end: "1.2", "35", "120".
std::string Digits(double value) {
  std::array<char, 32> text{};
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::string number(text.data(),
                     static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.*f", decimals, value)));
  if (decimals == 0) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

std::string TwoDigits(std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

std::string ShortTime(Nanos duration) {
  const auto nanos = static_cast<double>(duration.count());
  if (nanos <= 0) return "0 s";
  if (nanos < 999.5) return Digits(nanos) + " ns";
  if (nanos < 999.5e3) return Digits(nanos / 1e3) + " us";
  if (nanos < 999.5e6) return Digits(nanos / 1e6) + " ms";
  if (nanos < 99.5e9) return Digits(nanos / 1e9) + " s";
  const std::int64_t seconds = std::chrono::round<std::chrono::seconds>(duration).count();
  if (seconds < 3600) {
    return std::to_string(seconds / 60) + "m" + (seconds % 60 > 0 ? TwoDigits(seconds % 60) + "s" : "");
  }
  return std::to_string(seconds / 3600) + "h" + TwoDigits(seconds / 60 % 60) + "m";
}

std::string ShortBytes(double bytes) {
  std::string_view unit = " B";
  for (const std::string_view larger : {" kB", " MB", " GB", " TB"}) {
    if (bytes < 999.5) break;
    bytes /= 1000;
    unit = larger;
  }
  return Digits(bytes).append(unit);
}

DebugCell Cell(std::string text, DebugMood mood) { return {.text = std::move(text), .mood = mood}; }
DebugCell CountCell(std::uint64_t count, DebugMood mood) {
  return {.text = std::to_string(count), .number = static_cast<double>(count), .mood = mood};
}
DebugCell BytesCell(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  return {.text = ShortBytes(number), .number = number};
}
DebugCell TimeCell(Nanos duration, DebugMood mood) {
  return {.text = ShortTime(duration), .number = std::chrono::duration<double>(duration).count(), .mood = mood};
}
DebugCell RateCell(double per_second) { return {.text = Digits(per_second) + "/s", .number = per_second}; }

}  // namespace kgen::controller
