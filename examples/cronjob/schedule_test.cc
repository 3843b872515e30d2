// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

using namespace std::chrono_literals;

namespace {

constexpr Schedule::Time kThursday = std::chrono::sys_days(2026y / 11 / 26) + 21h + 30min + 5s;

Schedule::Time After(std::string_view text, Schedule::Time time = kThursday) {
  const auto schedule = Schedule::Parse(text);
  EXPECT_TRUE(schedule) << text;
  return schedule->After(time).value_or(Schedule::Time());
}

std::string ErrorOf(std::string_view text) {
  const auto schedule = Schedule::Parse(text);
  return schedule ? "" : schedule.error().message();
}

TEST(Schedule, FindsTheNextMinuteHourAndDay) {
  const auto day = std::chrono::sys_days(2026y / 11 / 26);
  EXPECT_EQ(After("* * * * *"), day + 21h + 31min);
  EXPECT_EQ(After("*/15 * * * *"), day + 21h + 45min);
  EXPECT_EQ(After("0 3 * * *"), std::chrono::sys_days(2026y / 11 / 27) + 3h);
  EXPECT_EQ(After("5,35 21-22 * * *"), day + 21h + 35min);
  EXPECT_EQ(After("0 0 1 1 *"), std::chrono::sys_days(2027y / 1 / 1));
  EXPECT_EQ(After("0 0 29 2 *"), std::chrono::sys_days(2028y / 2 / 29));
}

TEST(Schedule, IsAfterTheGivenTimeEvenIfThatMatches) {
  const auto noon = std::chrono::sys_days(2026y / 11 / 26) + 12h;
  EXPECT_EQ(After("0 12 * * *", noon), noon + 24h);
}

TEST(Schedule, MatchesEitherDayIfBothAreGiven) {
  EXPECT_EQ(After("0 0 30 * *"), std::chrono::sys_days(2026y / 11 / 30));
  EXPECT_EQ(After("0 0 30 * 6"), std::chrono::sys_days(2026y / 11 / 28)) << "a Saturday";
}

TEST(Schedule, HasNoNextTimeIfNoDayMatches) {
  const auto never = Schedule::Parse("0 0 30 2 *");
  ASSERT_TRUE(never);
  EXPECT_EQ(never->After(kThursday), std::nullopt);
}

TEST(Schedule, SaysWhichFieldIsMalformed) {
  EXPECT_TRUE(ErrorOf("61 * * * *").starts_with("the minute is \"61\"")) << ErrorOf("61 * * * *");
  EXPECT_TRUE(ErrorOf("* 5-1 * * *").starts_with("the hour is"));
  EXPECT_TRUE(ErrorOf("* * 0 * *").starts_with("the day of the month is"));
  EXPECT_TRUE(ErrorOf("* * * */0 *").starts_with("the month is"));
  EXPECT_TRUE(ErrorOf("* * * * mon").starts_with("the day of the week is"));
  EXPECT_TRUE(ErrorOf("* * *").starts_with("has 3 fields"));
  EXPECT_TRUE(ErrorOf("* * * * * *").starts_with("has more than five fields"));
  EXPECT_TRUE(ErrorOf("").starts_with("has 0 fields"));
}

}  // namespace
