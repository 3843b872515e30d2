// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Time, MicroTime and Duration: the time types of the Kubernetes API, 8, 8 and 16 bytes.
//
// They keep the text that the server wrote until a value is assigned, so a time with a zone, a fraction or another
// precision is written back unchanged. Assigned values are written as Go does: Time in whole seconds
// ("2026-11-21T08:33:00Z"), MicroTime with six digits, Duration as "1h2m3.5s".
//
//   if (now - pod.metadata.creationTimestamp.value() > 5min) ...
//   lease.spec->renewTime = std::chrono::system_clock::now();
//
// An unset value reads as the epoch or as zero; has_value() tells them apart. Values compare by instant; an unset one
// comes first.
#ifndef KGEN_CORE_TIME_H_
#define KGEN_CORE_TIME_H_

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include "kgen/core/chrono.h"
#include "kgen/core/memory.h"
#include "kgen/core/result.h"
#include "kgen/core/string.h"

namespace kgen {

namespace detail {

enum class TimePrecision : bool { kSeconds, kMicroseconds };

// RFC 3339. Zero: unset. Low bit 1: microseconds since the epoch << 1 | 1, whose canonical text is what was received or
// will be written. Otherwise a TextBlock* with text of another form. Range: years 0000 to 9999.
class TimeWord {
 public:
  constexpr TimeWord() noexcept = default;
  TimeWord(const TimeWord& other) noexcept;
  constexpr TimeWord(TimeWord&& other) noexcept : word_(other.word_) { other.word_ = 0; }
  TimeWord& operator=(TimeWord other) noexcept;
  constexpr ~TimeWord() {
    if (word_ != 0 && (word_ & 1) == 0) Release();
  }

  bool has_value() const noexcept { return word_ != 0; }
  void reset() noexcept { *this = TimeWord(); }

  // Returns false, and changes nothing, if the text is not an RFC 3339 time or is out of range.
  bool Parse(std::string_view text, TimePrecision canonical);
  void Assign(std::int64_t micros, TimePrecision canonical) noexcept;  // rounded down, clamped to the range
  std::int64_t micros() const noexcept;
  std::string Text(TimePrecision canonical) const;  // "" when unset
  // Equal on the wire: the same text, not only the same instant.
  bool SameText(const TimeWord& other) const noexcept;
  // The text, if it is of another form than the canonical one; else null.
  const TextBlock* block() const noexcept {
    return word_ != 0 && (word_ & 1) == 0 ? std::bit_cast<const TextBlock*>(word_) : nullptr;
  }

 private:
  void Release() noexcept;
  std::uint64_t word_ = 0;
};

// Returns microseconds since the epoch, whatever the unit of `time`; a time far beyond the range of TimeWord does not
// overflow.
template <typename D>
constexpr std::int64_t MicrosOf(std::chrono::sys_time<D> time) noexcept {
  constexpr double kFar = 9e11;  // seconds
  const double seconds = std::chrono::duration<double>(time.time_since_epoch()).count();
  if (!(seconds > -kFar)) return INT64_MIN;
  if (!(seconds < kFar)) return INT64_MAX;
  return std::chrono::floor<std::chrono::microseconds>(time).time_since_epoch().count();
}

}  // namespace detail

// The value of times: microseconds since 1970, UTC.
using SysMicros = std::chrono::sys_time<std::chrono::microseconds>;

// A metav1.Time. Assigned values are written in whole seconds.
class Time {
 public:
  constexpr Time() noexcept = default;
  template <typename D>
  Time(std::chrono::sys_time<D> time) {  // truncated to seconds
    word_.Assign(detail::MicrosOf(time), detail::TimePrecision::kSeconds);
  }
  // Parses a time. Errors: kInvalidArgument if the text is not RFC 3339.
  static Result<Time> Parse(std::string_view text);

  bool has_value() const noexcept { return word_.has_value(); }
  void reset() noexcept { word_.reset(); }
  SysMicros value() const noexcept { return SysMicros(std::chrono::microseconds(word_.micros())); }
  SysMicros value_or(SysMicros other) const noexcept { return has_value() ? value() : other; }
  // Returns the time in RFC 3339; "" when unset.
  std::string str() const { return word_.Text(detail::TimePrecision::kSeconds); }

  friend bool operator==(const Time& a, const Time& b) noexcept { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Time& a, const Time& b) noexcept {
    return a.has_value() != b.has_value() ? a.has_value() <=> b.has_value() : a.word_.micros() <=> b.word_.micros();
  }

  friend std::ostream& operator<<(std::ostream& os, const Time& time);  // the text, or "absent"

 private:
  friend struct detail::TimeAccess;
  detail::TimeWord word_;
};

// A metav1.MicroTime. Assigned values are written with microseconds.
class MicroTime {
 public:
  constexpr MicroTime() noexcept = default;
  template <typename D>
  MicroTime(std::chrono::sys_time<D> time) {  // truncated to microseconds
    word_.Assign(detail::MicrosOf(time), detail::TimePrecision::kMicroseconds);
  }
  static Result<MicroTime> Parse(std::string_view text);

  bool has_value() const noexcept { return word_.has_value(); }
  void reset() noexcept { word_.reset(); }
  SysMicros value() const noexcept { return SysMicros(std::chrono::microseconds(word_.micros())); }
  SysMicros value_or(SysMicros other) const noexcept { return has_value() ? value() : other; }
  // Returns the text as it is in JSON: "2026-11-23T07:35:34.123456Z".
  std::string str() const { return word_.Text(detail::TimePrecision::kMicroseconds); }

  friend bool operator==(const MicroTime& a, const MicroTime& b) noexcept { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const MicroTime& a, const MicroTime& b) noexcept {
    return a.has_value() != b.has_value() ? a.has_value() <=> b.has_value() : a.word_.micros() <=> b.word_.micros();
  }

  friend std::ostream& operator<<(std::ostream& os, const MicroTime& time);  // the text, or "absent"

 private:
  friend struct detail::TimeAccess;
  detail::TimeWord word_;
};

// A metav1.Duration, such as "1h30m", kept as text.
class Duration {
 public:
  constexpr Duration() noexcept = default;
  Duration(std::chrono::nanoseconds value);  // as text, "1h30m0s"
  // Converts any span of whole nanoseconds: `spec.timeout = 5min`.
  template <typename Rep, typename Period>
    requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::nanoseconds>
  Duration(std::chrono::duration<Rep, Period> value) : Duration(std::chrono::nanoseconds(value)) {}
  // Parses a duration. Errors: kInvalidArgument if the text is not a Go duration ("300ms", "-1.5h", "2h45m") that fits
  // 64-bit nanoseconds.
  static Result<Duration> Parse(std::string_view text);

  bool has_value() const noexcept { return text_.has_value(); }
  void reset() noexcept { text_.reset(); }
  std::chrono::nanoseconds value() const noexcept;
  std::chrono::nanoseconds value_or(std::chrono::nanoseconds other) const noexcept {
    return has_value() ? value() : other;
  }
  std::string_view text() const noexcept { return text_; }  // as received; "" when unset

  friend bool operator==(const Duration& a, const Duration& b) noexcept {
    return a.has_value() == b.has_value() && a.value() == b.value();
  }

  friend std::ostream& operator<<(std::ostream& os, const Duration& duration);  // the text, or "absent"

 private:
  friend struct detail::TimeAccess;
  String text_;
};

static_assert(sizeof(Time) == 8 && sizeof(MicroTime) == 8 && sizeof(Duration) == 16);

}  // namespace kgen

#endif  // KGEN_CORE_TIME_H_
