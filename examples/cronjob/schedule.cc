// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <charconv>
#include <string>

namespace {

using namespace std::chrono_literals;

struct Range {
  std::string_view name;
  int least, most;
};
constexpr Range kRanges[] = {
    {"minute", 0, 59}, {"hour", 0, 23}, {"day of the month", 1, 31}, {"month", 1, 12}, {"day of the week", 0, 6}};

// Removes the text before `separator`, and the separator, from `text`. Returns that text.
std::string_view Next(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

std::optional<int> Number(std::string_view text, int least, int most) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  if (number < least || number > most) return std::nullopt;
  return number;
}

// Adds the values of "*", "4", "1-5" or one of these with a step.
bool Add(std::string_view part, const Range& range, std::bitset<64>& field) {
  const bool has_step = part.find('/') != std::string_view::npos;
  std::string_view step_text = part;
  const std::string_view values = Next(step_text, '/');
  const std::optional<int> step = has_step ? Number(step_text, 1, range.most) : 1;
  std::optional<int> first = range.least, last = range.most;
  if (values != "*") {
    std::string_view last_text = values;
    first = Number(Next(last_text, '-'), range.least, range.most);
    const bool has_last = values.find('-') != std::string_view::npos;
    if (has_last) {
      last = Number(last_text, range.least, range.most);
    } else if (!has_step) {
      last = first;
    }
  }
  if (!step || !first || !last || *first > *last) return false;
  for (int value = *first; value <= *last; value += *step) field.set(static_cast<std::size_t>(value));
  return true;
}

}  // namespace

kgen::Result<Schedule> Schedule::Parse(std::string_view text) {
  Schedule schedule;
  std::size_t index = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view field = Next(rest, ' ');
    if (field.empty()) continue;
    if (index == kFields) return kgen::Fail(kgen::Code::kInvalidArgument, "has more than five fields");
    if (field == "*") (index == kDay ? schedule.any_day_ : schedule.any_weekday_) |= index == kDay || index == kWeekday;
    const Range& range = kRanges[index];
    const std::string whole(field);
    while (!field.empty()) {
      if (Add(Next(field, ','), range, schedule.fields_[index])) continue;
      return kgen::Fail(kgen::Code::kInvalidArgument,
                        "the " + std::string(range.name) + " is \"" + whole + "\"; write *, numbers from " +
                            std::to_string(range.least) + " to " + std::to_string(range.most) +
                            ", ranges such as 1-5, steps such as */15, or several with commas");
    }
    ++index;
  }
  if (index < kFields) {
    return kgen::Fail(kgen::Code::kInvalidArgument, "has " + std::to_string(index) +
                                                        " fields; write five: minute, hour, day of the month, month, "
                                                        "day of the week");
  }
  return schedule;
}

bool Schedule::OnDay(std::chrono::sys_days day) const {
  const std::chrono::year_month_day date(day);
  if (!fields_[kMonth][static_cast<unsigned>(date.month())]) return false;
  const bool in_month = fields_[kDay][static_cast<unsigned>(date.day())];
  const bool in_week = fields_[kWeekday][std::chrono::weekday(day).c_encoding()];
  return any_day_ || any_weekday_ ? in_month && in_week : in_month || in_week;
}

std::optional<Schedule::Time> Schedule::After(Time time) const {
  Time next = std::chrono::floor<std::chrono::minutes>(time) + 1min;
  for (const Time end = next + std::chrono::days(8 * 366); next < end;) {
    const auto day = std::chrono::floor<std::chrono::days>(next);
    const std::chrono::hh_mm_ss clock(next - day);
    if (!OnDay(day)) {
      next = day + std::chrono::days(1);
    } else if (!fields_[kHour][static_cast<std::size_t>(clock.hours().count())]) {
      next = day + clock.hours() + 1h;
    } else if (!fields_[kMinute][static_cast<std::size_t>(clock.minutes().count())]) {
      next += 1min;
    } else {
      return next;
    }
  }
  return std::nullopt;
}
