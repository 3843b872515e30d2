// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RFC 3339 times. Durations are in duration.cc.
#include "kgen/core/time.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "core/access.h"
#include "kgen/core/result.h"

namespace kgen {
namespace detail {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;

constexpr std::int64_t MicrosAt(int year, unsigned month, unsigned day) {
  const std::chrono::sys_days days{std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day)};
  return std::int64_t{days.time_since_epoch().count()} * 86400 * kMicrosPerSecond;
}
constexpr std::int64_t kMin = MicrosAt(0, 1, 1);
constexpr std::int64_t kMax = MicrosAt(9999, 12, 31) + 86400 * kMicrosPerSecond - 1;

// Reads fixed-width digits and separators; after the first mismatch everything fails.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool done() const { return ok_ && at_ == text_.size(); }
  bool ok() const { return ok_; }

  int Digits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (!IsDigit()) return Fail();
      value = value * 10 + (text_[at_++] - '0');
    }
    return value;
  }
  int Number(int count, int low, int high) {
    const int value = Digits(count);
    return value < low || value > high ? Fail() : value;
  }
  void Expect(char upper, char lower) {
    if (!Accept(upper) && !Accept(lower)) Fail();
  }
  bool Accept(char c) {
    if (!ok_ || at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Reads one or more digits as millionths. Digits after the sixth are ignored.
  int Fraction() {
    int micros = 0;
    int weight = 100'000;
    if (!IsDigit()) return Fail();
    for (; IsDigit(); ++at_, weight /= 10) micros += (text_[at_] - '0') * weight;
    return micros;
  }
  int Fail() {
    ok_ = false;
    return 0;
  }

 private:
  bool IsDigit() const { return ok_ && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

std::optional<std::int64_t> ParseRfc3339(std::string_view text) {
  Cursor in(text);
  const int year = in.Digits(4);
  in.Expect('-', '-');
  const int month = in.Number(2, 1, 12);
  in.Expect('-', '-');
  const int day = in.Number(2, 1, 31);
  in.Expect('T', 't');
  const int hour = in.Number(2, 0, 23);
  in.Expect(':', ':');
  const int minute = in.Number(2, 0, 59);
  in.Expect(':', ':');
  const int second = in.Number(2, 0, 60);
  const int micros = in.Accept('.') ? in.Fraction() : 0;
  int offset = 0;  // minutes
  const bool east = in.Accept('+');
  if (east || in.Accept('-')) {
    offset = in.Number(2, 0, 23) * 60;
    in.Expect(':', ':');
    offset += in.Number(2, 0, 59);
    if (!east) offset = -offset;
  } else {
    in.Expect('Z', 'z');
  }
  if (!in.done()) return std::nullopt;
  if (!std::chrono::year_month_day(std::chrono::year(year) / month / day).ok()) return std::nullopt;

  const std::int64_t minutes = std::int64_t{hour} * 60 + minute - offset;
  // A leap second is the last second of a day in UTC. It reads as the first second of the next day.
  if (second == 60 && (minutes % 1440 + 1440) % 1440 != 1439) return std::nullopt;
  const std::int64_t result = MicrosAt(year, static_cast<unsigned>(month), static_cast<unsigned>(day)) +
                              (minutes * 60 + second) * kMicrosPerSecond + micros;
  return result < kMin || result > kMax ? std::nullopt : std::optional(result);
}

char* Put(char* out, std::int64_t value, int width) {
  for (int i = width; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + width;
}

constexpr std::size_t kSecondsSize = sizeof("2006-01-02T15:04:05Z") - 1;
constexpr std::size_t kMicrosSize = sizeof("2006-01-02T15:04:05.000000Z") - 1;

// Writes kSecondsSize or kMicrosSize characters.
std::string_view Canonical(std::int64_t micros, TimePrecision precision, char (&buffer)[kMicrosSize]) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(micros)};
  const auto days = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::int64_t rest = (time - days).count();
  const std::int64_t seconds = rest / kMicrosPerSecond;
  char* out = Put(buffer, static_cast<int>(date.year()), 4);
  *out++ = '-';
  out = Put(out, static_cast<unsigned>(date.month()), 2);
  *out++ = '-';
  out = Put(out, static_cast<unsigned>(date.day()), 2);
  *out++ = 'T';
  out = Put(out, seconds / 3600, 2);
  *out++ = ':';
  out = Put(out, seconds / 60 % 60, 2);
  *out++ = ':';
  out = Put(out, seconds % 60, 2);
  if (precision == TimePrecision::kMicroseconds) {
    *out++ = '.';
    out = Put(out, rest % kMicrosPerSecond, 6);
  }
  *out++ = 'Z';
  return {buffer, static_cast<std::size_t>(out - buffer)};
}

constexpr std::uint64_t WordOf(std::int64_t micros) { return static_cast<std::uint64_t>(micros) << 1 | 1; }

bool IsCanonical(std::string_view text, std::int64_t micros, TimePrecision precision) {
  const bool seconds = precision == TimePrecision::kSeconds;
  if (text.size() != (seconds ? kSecondsSize : kMicrosSize)) return false;
  char buffer[kMicrosSize];
  return text == Canonical(micros, precision, buffer);
}

}  // namespace

TimeWord::TimeWord(const TimeWord& other) noexcept : word_(other.word_) {
  if (const TextBlock* text = block(); text != nullptr) AddRef(const_cast<TextBlock*>(text));
}

TimeWord& TimeWord::operator=(TimeWord other) noexcept {
  std::swap(word_, other.word_);
  return *this;
}

void TimeWord::Release() noexcept {
  auto* text = const_cast<TextBlock*>(block());
  if (DropRef(text)) DestroyText(text);
}

bool TimeWord::Parse(std::string_view text, TimePrecision canonical) {
  const std::optional<std::int64_t> micros = ParseRfc3339(text);
  if (!micros) return false;
  TimeWord parsed;
  if (IsCanonical(text, *micros, canonical)) {
    parsed.word_ = WordOf(*micros);
  } else {
    parsed.word_ = reinterpret_cast<std::uint64_t>(NewText(text));
  }
  *this = std::move(parsed);
  return true;
}

void TimeWord::Assign(std::int64_t micros, TimePrecision canonical) noexcept {
  micros = std::clamp(micros, kMin, kMax);
  if (canonical == TimePrecision::kSeconds) {
    const std::int64_t part = micros % kMicrosPerSecond;
    micros -= part < 0 ? part + kMicrosPerSecond : part;
  }
  TimeWord assigned;
  assigned.word_ = WordOf(micros);
  *this = std::move(assigned);
}

std::int64_t TimeWord::micros() const noexcept {
  if (word_ == 0) return 0;
  if (const TextBlock* text = block(); text != nullptr) return ParseRfc3339(text->view()).value_or(0);
  return static_cast<std::int64_t>(word_) >> 1;
}

std::string TimeWord::Text(TimePrecision canonical) const {
  if (word_ == 0) return {};
  if (const TextBlock* text = block(); text != nullptr) return std::string(text->view());
  char buffer[kMicrosSize];
  return std::string(Canonical(micros(), canonical, buffer));
}

bool TimeWord::SameText(const TimeWord& other) const noexcept {
  if (word_ == other.word_) return true;
  const TextBlock* a = block();
  const TextBlock* b = other.block();
  return a != nullptr && b != nullptr && a->view() == b->view();
}

}  // namespace detail

namespace {

template <typename T>
Result<T> ParseTime(std::string_view text, const char* what, detail::TimePrecision precision) {
  T time;
  if (detail::TimeAccess::Word(time).Parse(text, precision)) return time;
  return Fail(Code::kInvalidArgument, std::string(what) + " \"" + std::string(text.substr(0, 64)) +
                                          "\" is not an RFC 3339 time of the years 0000 to 9999");
}

}  // namespace

Result<Time> Time::Parse(std::string_view text) {
  return ParseTime<Time>(text, "time", detail::TimePrecision::kSeconds);
}

Result<MicroTime> MicroTime::Parse(std::string_view text) {
  return ParseTime<MicroTime>(text, "time", detail::TimePrecision::kMicroseconds);
}

}  // namespace kgen
