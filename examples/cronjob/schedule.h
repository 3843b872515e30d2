// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Schedule: the times of a schedule in Cron format, in UTC.
#ifndef KGEN_EXAMPLES_CRONJOB_SCHEDULE_H_
#define KGEN_EXAMPLES_CRONJOB_SCHEDULE_H_

#include <kgen/core/result.h>

#include <array>
#include <bitset>
#include <chrono>
#include <optional>
#include <string_view>

// A value; immutable.
class Schedule {
 public:
  using Time = std::chrono::sys_seconds;

  // Reads "MINUTE HOUR DAY MONTH WEEKDAY". A field is "*", a number, a range "1-5", any of these with a step "/15", or
  // several with commas between them. Errors: kInvalidArgument  says which field is wrong
  static kgen::Result<Schedule> Parse(std::string_view text);

  // Returns the first time after `time`; nothing if there is none within eight years, as for 30 February.
  std::optional<Time> After(Time time) const;

 private:
  using Field = std::bitset<64>;
  enum Index : std::size_t { kMinute, kHour, kDay, kMonth, kWeekday, kFields };

  bool OnDay(std::chrono::sys_days day) const;

  std::array<Field, kFields> fields_{};
  bool any_day_ = false, any_weekday_ = false;  // "*": if both are given, either may match, as in cron
};

#endif  // KGEN_EXAMPLES_CRONJOB_SCHEDULE_H_
