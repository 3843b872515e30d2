// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/time.h"

#include <chrono>
#include <limits>
#include <random>
#include <string>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using namespace std::chrono;
using namespace std::chrono_literals;
using TimeTest = sample::CoreTest;
using DurationTest = sample::CoreTest;

std::int64_t MicrosOf(std::string_view text) {
  auto time = MicroTime::Parse(text);
  EXPECT_TRUE(time.has_value()) << text;
  return time ? time->value().time_since_epoch().count() : -1;
}

TEST_F(TimeTest, IsUnsetByDefaultAndReadsAsTheEpoch) {
  const Time t;
  EXPECT_FALSE(t.has_value());
  EXPECT_EQ(t.value(), SysMicros());
  EXPECT_EQ(t.str(), "");
  EXPECT_EQ(t.value_or(SysMicros(5s)), SysMicros(5s));
}

TEST_F(TimeTest, KeepsTheEpochApartFromUnset) {
  const Time epoch = Time::Parse("1970-01-01T00:00:00Z").value();
  EXPECT_TRUE(epoch.has_value());
  EXPECT_EQ(epoch.str(), "1970-01-01T00:00:00Z");
  EXPECT_NE(epoch, Time());
  EXPECT_LT(Time(), epoch) << "unset comes first";
  EXPECT_LT(Time(), Time::Parse("1800-01-01T00:00:00Z").value());
}

TEST_F(TimeTest, ReadsZonesFractionsAndLeapSeconds) {
  struct Case {
    const char* text;
    std::int64_t micros;
  };
  const Case cases[] = {
      {"1970-01-01T00:00:01Z", 1'000'000},
      {"1969-12-31T23:59:59Z", -1'000'000},
      {"1969-12-31T23:59:59.25Z", -750'000},
      {"1970-01-01T01:00:00+01:00", 0},
      {"1969-12-31T23:30:00-00:30", 0},
      {"1970-01-01T00:00:00-00:00", 0},
      {"1970-01-01T23:59:00+23:59", 0},
      {"1970-01-01t00:00:00z", 0},
      {"1970-01-01T00:00:00.1Z", 100'000},
      {"1970-01-01T00:00:00.123456Z", 123'456},
      {"1970-01-01T00:00:00.123456789Z", 123'456},
      {"1970-01-01T00:00:00.9999999Z", 999'999},
      {"2016-12-31T23:59:60Z", 1'483'228'800'000'000},
      {"2017-01-01T00:59:60+01:00", 1'483'228'800'000'000},
      {"2000-02-29T00:00:00Z", 951'782'400'000'000},
      {"2026-11-21T08:33:00Z", 1'795'249'980'000'000},
      {"0000-01-01T00:00:00Z", -62'167'219'200'000'000},
      {"9999-12-31T23:59:59.999999Z", 253'402'300'799'999'999},
  };
  for (const Case& c : cases) EXPECT_EQ(MicrosOf(c.text), c.micros) << c.text;
}

TEST_F(TimeTest, RefusesTextThatIsNotAnRfc3339TimeOrOutOfRange) {
  const char* const texts[] = {
      "",
      "now",
      "2026",
      "2026-11-21",
      "2026-11-21T08:33:00",
      "2026-11-21 08:33:00Z",
      "2026-11-21T08:33Z",
      "2026-11-21T08:33:00ZZ",
      " 2026-11-21T08:33:00Z",
      "2026-11-21T08:33:00Z ",
      "2026-11-21T8:33:00Z",
      "26-11-21T08:33:00Z",
      "12026-11-21T08:33:00Z",
      "2026-13-21T08:33:00Z",
      "2026-00-21T08:33:00Z",
      "2026-11-00T08:33:00Z",
      "2026-11-31T08:33:00Z",
      "2026-02-29T08:33:00Z",
      "1900-02-29T00:00:00Z",
      "2026-11-21T24:00:00Z",
      "2026-11-21T08:60:00Z",
      "2026-11-21T08:33:61Z",
      "2026-11-21T08:33:60Z",
      "2016-12-31T23:59:60+01:00",
      "2026-11-21T08:33:00.Z",
      "2026-11-21T08:33:00,5Z",
      "2026-11-21T08:33:00+0100",
      "2026-11-21T08:33:00+1:00",
      "2026-11-21T08:33:00+24:00",
      "2026-11-21T08:33:00+01:60",
      "2026-11-21T08:33:00+01",
      "202:-11-21T08:33:00Z",
      "2026-1/-21T08:33:00Z",
      "2026-11-21T08:3x:00Z",
      "-026-11-21T08:33:00Z",
      "\xD9\xA2\xD9\xA0-11-21T08:33:00Z",
      "0000-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59-00:01",
      "9999-12-31T23:59:60Z",
  };
  for (const char* text : texts) {
    const auto time = Time::Parse(text);
    EXPECT_FALSE(time.has_value()) << text;
    EXPECT_EQ(time ? Code::kInternal : time.error().code(), Code::kInvalidArgument) << text;
    EXPECT_FALSE(MicroTime::Parse(text).has_value()) << text;
  }
  EXPECT_FALSE(Time::Parse(std::string_view("2026-11-21T08:33:00Z\0", 21)).has_value());
  EXPECT_FALSE(Time::Parse(std::string(100'000, '9')).has_value());
}

TEST_F(TimeTest, LeavesTheValueAloneWhenTextDoesNotParse) {
  detail::TimeWord word;
  ASSERT_TRUE(word.Parse("2026-11-21T08:33:00Z", detail::TimePrecision::kSeconds));
  EXPECT_FALSE(word.Parse("garbage", detail::TimePrecision::kSeconds));
  EXPECT_EQ(word.Text(detail::TimePrecision::kSeconds), "2026-11-21T08:33:00Z");
}

// Contract: design D6.
TEST_F(TimeTest, KeepsTheTextTheServerWroteUntilAssigned) {
  for (const char* text : {"2026-11-21T08:33:00Z", "2026-11-21T08:33:00.5Z", "2026-11-21T08:33:00.123456Z",
                           "2026-11-21T08:33:00.000000Z", "2026-11-21T08:33:00+00:00", "2026-11-21t08:33:00z",
                           "2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "2026-11-21T08:33:00.123456789+05:30"}) {
    Time time = Time::Parse(text).value();
    MicroTime micro = MicroTime::Parse(text).value();
    EXPECT_EQ(Time(time).str(), text);
    EXPECT_EQ(MicroTime(micro).str(), text);
    time = sys_days(2026y / 11 / 21) + 8h + 33min + 999ms;
    micro = sys_days(2026y / 11 / 21) + 8h + 33min + 999ms;
    EXPECT_EQ(time.str(), "2026-11-21T08:33:00Z");
    EXPECT_EQ(micro.str(), "2026-11-21T08:33:00.999000Z");
  }
}

TEST_F(TimeTest, AllocatesNothingForTheFormsThatServersWrite) {
  const std::int64_t before = LiveBlocks();
  const Time time = Time::Parse("2026-11-21T08:33:00Z").value();
  const MicroTime micro = MicroTime::Parse("2026-11-21T08:33:00.123456Z").value();
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(TimeTest, RoundsDownToItsPrecisionBeforeTheEpochToo) {
  EXPECT_EQ(Time(SysMicros(-1us)).str(), "1969-12-31T23:59:59Z");
  EXPECT_EQ(MicroTime(sys_time<nanoseconds>(-1ns)).str(), "1969-12-31T23:59:59.999999Z");
}

TEST_F(TimeTest, ClampsToTheYears0000To9999) {
  EXPECT_EQ(Time(sys_seconds(seconds::max())).str(), "9999-12-31T23:59:59Z");
  EXPECT_EQ(Time(sys_seconds(seconds::min())).str(), "0000-01-01T00:00:00Z");
  EXPECT_EQ(MicroTime(sys_seconds(seconds::max())).str(), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(Time(SysMicros::max()).str(), "9999-12-31T23:59:59Z");
  EXPECT_EQ(Time(SysMicros::min()).str(), "0000-01-01T00:00:00Z");
  EXPECT_EQ(Time(sys_days(9999y / 12 / 31)).str(), "9999-12-31T00:00:00Z");
}

TEST_F(TimeTest, ComparesByInstantWhateverTheText) {
  EXPECT_EQ(Time::Parse("2026-01-01T01:00:00+01:00").value(), Time::Parse("2026-01-01T00:00:00Z").value());
  EXPECT_LT(Time::Parse("2026-01-01T00:00:00Z").value(), Time::Parse("2026-01-01T00:00:00.5Z").value());
  detail::TimeWord a;
  detail::TimeWord b;
  a.Parse("2026-01-01T01:00:00+01:00", detail::TimePrecision::kSeconds);
  b.Parse("2026-01-01T00:00:00Z", detail::TimePrecision::kSeconds);
  EXPECT_FALSE(a.SameText(b));
  b.Parse("2026-01-01T01:00:00+01:00", detail::TimePrecision::kSeconds);
  EXPECT_TRUE(a.SameText(b));
}

TEST_F(TimeTest, ReadsBackEveryTimeItWrites) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(-62'167'219'200'000'000, 253'402'300'799'999'999);
  for (int i = 0; i < 20'000; ++i) {
    const SysMicros time{microseconds(any(random))};
    const std::string text = MicroTime(time).str();
    ASSERT_EQ(text.size(), 27u);
    ASSERT_EQ(MicroTime::Parse(text)->value(), time) << text;
    ASSERT_EQ(Time::Parse(Time(time).str())->value(), floor<seconds>(time)) << text;
  }
}

// ---- Duration. ----

TEST_F(DurationTest, WritesDurationsAsGo) {
  struct Case {
    nanoseconds value;
    const char* text;
  };
  const Case cases[] = {
      {0ns, "0s"},
      {1ns, "1ns"},
      {1100ns, "1.1\u00b5s"},
      {2200us, "2.2ms"},
      {3300ms, "3.3s"},
      {4min + 5s, "4m5s"},
      {4min + 5s + 1ms, "4m5.001s"},
      {5h + 6min + 7s + 1ms, "5h6m7.001s"},
      {8min + 1ns, "8m0.000000001s"},
      {1h, "1h0m0s"},
      {-1500ms, "-1.5s"},
      {999ns, "999ns"},
      {nanoseconds::max(), "2562047h47m16.854775807s"},
      {nanoseconds::min(), "-2562047h47m16.854775808s"},
  };
  for (const Case& c : cases) {
    const Duration d = c.value;
    EXPECT_EQ(d.text(), c.text);
    EXPECT_EQ(d.value(), c.value) << c.text;
  }
}

TEST_F(DurationTest, AcceptsAnyDurationOfWholeNanoseconds) {
  Duration timeout = std::chrono::minutes(5);
  EXPECT_EQ(timeout.text(), "5m0s");
  timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(timeout.text(), "300ms");
  EXPECT_FALSE((std::convertible_to<std::chrono::duration<double>, Duration>)) << "half a nanosecond is none";
}

TEST_F(DurationTest, ReadsDurationsAsGo) {
  struct Case {
    const char* text;
    nanoseconds value;
  };
  const Case cases[] = {
      {"0", 0ns},
      {"-0", 0ns},
      {"+0", 0ns},
      {"5s", 5s},
      {"30s", 30s},
      {"+5s", 5s},
      {"-5s", -5s},
      {"5.0s", 5s},
      {"5.6s", 5600ms},
      {"5.s", 5s},
      {".5s", 500ms},
      {"1.0040s", 1004ms},
      {"100.00100s", 100'001ms},
      {"10ns", 10ns},
      {"11us", 11us},
      {"12\u00b5s", 12us},
      {"12\u03bcs", 12us},
      {"13ms", 13ms},
      {"15m", 15min},
      {"16h", 16h},
      {"3h30m", 3h + 30min},
      {"10.5s4m", 4min + 10500ms},
      {"-2m3.4s", -(2min + 3400ms)},
      {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
      {"39h9m14.425s", 39h + 9min + 14425ms},
      {"52763797000ns", 52763797000ns},
      {"0.3333333333333333333h", 20min},
      {"9007199254740993ns", 9007199254740993ns},
      {"9223372036854775807ns", nanoseconds::max()},
      {"9223372036854775.807us", nanoseconds::max()},
      {"-9223372036854775808ns", nanoseconds::min()},
      {"-2562047h47m16.854775808s", nanoseconds::min()},
      {"0.100000000000000000000h", 6min},
      {"0.830103483285477580700h", 49min + 48s + 372539827ns},
  };
  for (const Case& c : cases) {
    const auto d = Duration::Parse(c.text);
    ASSERT_TRUE(d.has_value()) << c.text;
    EXPECT_EQ(d->value(), c.value) << c.text;
    EXPECT_EQ(d->text(), c.text) << "the text stays as it came";
  }
}

TEST_F(DurationTest, RefusesWhatGoRefuses) {
  for (const char* text : {"",
                           "3",
                           "-",
                           "s",
                           ".",
                           "-.",
                           ".s",
                           "+.s",
                           "1d",
                           "1 s",
                           " 1s",
                           "1s ",
                           "1.5",
                           "1h-2m",
                           "1.1.1s",
                           "\x85\x85",
                           "1e3s",
                           "9223372036854775810ns",
                           "9223372036854775808ns",
                           "-9223372036854775809ns",
                           "9223372036854775.808us",
                           "3000000h",
                           "9223372036854ms775us808ns",
                           "99999999999999999999h"}) {
    EXPECT_FALSE(Duration::Parse(text).has_value()) << text;
  }
}

TEST_F(DurationTest, ComparesByLengthAndPresence) {
  EXPECT_EQ(Duration::Parse("90m").value(), Duration(1h + 30min));
  EXPECT_NE(Duration(), Duration(0ns));
  EXPECT_EQ(Duration().value_or(3s), 3s);
}

}  // namespace
}  // namespace kgen
