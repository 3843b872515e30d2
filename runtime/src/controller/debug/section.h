// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// DebugSection: what /debug shows, apart from the form in which it does.
//
//   the manager --DebugSection--> forms.h --text, HTML or JSON--> /debug
#ifndef KGEN_SRC_CONTROLLER_DEBUG_SECTION_H_
#define KGEN_SRC_CONTROLLER_DEBUG_SECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"

namespace kgen::controller {

// How a value looks to whoever has to act.
enum class DebugMood : std::uint8_t { kPlain, kGood, kBad };

struct DebugCell {
  // Without a number, JSON has the text as a string.
  std::string text{};
  std::optional<double> number{};
  DebugMood mood = DebugMood::kPlain;
};

DebugCell Cell(std::string text, DebugMood mood = DebugMood::kPlain);
DebugCell CountCell(std::uint64_t count, DebugMood mood = DebugMood::kPlain);
DebugCell BytesCell(std::uint64_t bytes);                                // "1.2 MB"
DebugCell TimeCell(Nanos duration, DebugMood mood = DebugMood::kPlain);  // "350 us", "1.2 s", "3m12s"; in JSON seconds
DebugCell RateCell(double per_second);                                   // "12.5/s"

// "350 us", "1.2 s", "3m12s", "2h05m".
std::string ShortTime(Nanos duration);
// "1.2 MB", in powers of a thousand.
std::string ShortBytes(double bytes);

struct DebugTable {
  std::string title{};                         // "Queues"; the member of JSON is the same in lower case with '_'
  std::vector<std::string> columns{};          // as the title
  std::vector<std::vector<DebugCell>> rows{};  // as long as `columns`
  std::string note{};                          // what else there is to know: "3 more controllers are not shown"
};

// Lines over the time until now. A sample that is not a number is a gap.
struct DebugPlot {
  struct Line {
    std::string name;
    std::vector<float> samples;  // oldest first, all lines of a plot the same number
  };
  enum class Unit : std::uint8_t { kCount, kRate, kSeconds, kBytes };

  std::string title{};
  Unit unit = Unit::kCount;
  Nanos step{};  // between two samples
  std::vector<Line> lines{};
  std::string note{};
};

struct DebugSection {
  std::string text{};  // lines
  std::vector<DebugTable> tables{};
  std::vector<DebugPlot> plots{};
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_DEBUG_SECTION_H_
