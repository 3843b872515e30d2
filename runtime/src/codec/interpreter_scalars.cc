// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Values without members.
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "codec/interpreter.h"
#include "core/access.h"
#include "core/json/number.h"

namespace kgen::codec {

using detail::IsWrittenSo;
using detail::ParseDouble;
using detail::ParseInteger;

namespace {

bool StartsNumber(char c) noexcept { return c == '-' || (c >= '0' && c <= '9'); }

// True for standard base64 with padding. Line breaks are allowed, as in Go.
bool IsBase64(std::string_view text) noexcept {
  std::size_t size = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const char lower = static_cast<char>(c | 0x20);
    const bool digit = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (c == '=') {
      ++padding;
    } else if (!digit || padding != 0) {
      return false;
    }
    ++size;
  }
  return size % 4 == 0 && padding <= 2;
}

std::uint64_t Load(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Eight characters of a fixed form, such as "0000-00-": a digit wherever the form has a zero, and the character of the
// form everywhere else.
class Form {
 public:
  consteval explicit Form(const char (&form)[9]) {
    for (int i = 0; i < 8; ++i) {
      const auto c = static_cast<unsigned char>(form[i]);
      form_ |= std::uint64_t{c} << (8 * i);
      if (c != '0') not_digits_ |= std::uint64_t{0x0F} << (8 * i);
    }
  }

  // Returns true if `word` has this form. Each byte of `word` is then the value of one digit.
  bool Match(std::uint64_t& word) const noexcept {
    word ^= form_;
    return ((word & not_digits_) | ((word + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u)) == 0;
  }

 private:
  std::uint64_t form_ = 0;
  std::uint64_t not_digits_ = 0xF0F0F0F0F0F0F0F0u;  // the bits that are zero after a match, but for digits over 9
};

// Returns the number that two adjacent digits form, the first one at byte `i`.
unsigned Two(std::uint64_t digits, int i) noexcept {
  const auto pair = static_cast<unsigned>(digits >> (8 * i));
  return (pair & 15) * 10 + (pair >> 8 & 15);
}

// Parses a time such as "2026-11-21T08:33:00Z" to seconds since the epoch. Returns false for any other form, which
// TimeWord::Parse handles. Nearly all times in the API have this form, and a pod has a dozen.
bool ParseUtcSeconds(std::string_view text, std::int64_t& seconds) noexcept {
  if (text.size() != 20 || std::endian::native != std::endian::little) return false;
  std::uint64_t date = Load(text.data());       // 2026-11-
  std::uint64_t time = Load(text.data() + 8);   // 21T08:33
  std::uint64_t rest = Load(text.data() + 12);  // 8:33:00Z
  static constexpr Form kDate("0000-00-");
  static constexpr Form kTime("00T00:00");
  static constexpr Form kRest("0:00:00Z");
  if (!kDate.Match(date) || !kTime.Match(time) || !kRest.Match(rest)) return false;
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(Two(date, 0) * 100 + Two(date, 2))),
                                        std::chrono::month(Two(date, 5)), std::chrono::day(Two(time, 0))};
  const unsigned hour = Two(time, 3);
  const unsigned minute = Two(time, 6);
  const unsigned second = Two(rest, 5);
  if (!day.ok() || hour > 23 || minute > 59 || second > 59) return false;
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  seconds = days * 86400 + static_cast<std::int64_t>((hour * 60 + minute) * 60 + second);
  return true;
}

}  // namespace

// Sets a String to text that needs a block. The pool stores each text once; unique text (uid, resourceVersion) would
// only fill it.
void Interpreter::SetLongText(String& text, std::string_view value, bool unique) {
  if (shared_ != nullptr && shared_->share_strings && !unique) {
    detail::StringAccess::AdoptBlock(text, shared_->strings.Intern(value));
  } else {
    detail::StringAccess::AdoptBlock(text, unique ? detail::NewText(value) : RecentText(value));
  }
}

// Returns a block with that text: one of this object, if it is among the most recent ones, or a new one.
detail::TextBlock* Interpreter::RecentText(std::string_view value) {
  constexpr int kShift = 64 - std::countr_zero(kRecent);
  const std::uint64_t end = Load(value.data() + value.size() - sizeof(std::uint64_t));  // longer than 15 bytes
  detail::TextBlock*& recent = recent_[(end ^ value.size()) * TypeTable::kHashMultiplier >> kShift];
  if (recent == nullptr || recent->view() != value) {
    detail::TextBlock* text = detail::NewText(value);
    if (recent != nullptr && detail::DropRef(recent)) detail::DestroyText(recent);
    recent = text;
    has_recent_ = true;
  }
  detail::AddRef(recent);
  return recent;
}

Json Interpreter::RawText(std::string_view raw) {
  String text;
  SetText(text, raw, false);
  return Json(std::move(text));
}

Interpreter::Outcome Interpreter::BoolMember(Optional<bool>& member, char c) {
  bool value = false;
  const Outcome outcome = Bool(value, c);
  if (outcome == Outcome::kOk) member = value;
  return outcome;
}

Interpreter::Outcome Interpreter::Int32Member(Optional<std::int32_t>& member, char c) {
  using Limits = std::numeric_limits<std::int32_t>;
  std::int64_t value = 0;
  const Outcome outcome = Integer(value, Limits::min(), Limits::max(), c);
  if (outcome != Outcome::kOk) return outcome;
  member = static_cast<std::int32_t>(value);
  return respelled_ == nullptr ? Outcome::kOk : Outcome::kRespelled;
}

Interpreter::Outcome Interpreter::Int64Member(Optional<std::int64_t>& member, char c) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t value = 0;
  const Outcome outcome = Integer(value, Limits::min(), Limits::max(), c);
  if (outcome != Outcome::kOk) return outcome;
  member = value;
  return respelled_ == nullptr ? Outcome::kOk : Outcome::kRespelled;
}

Interpreter::Outcome Interpreter::DoubleMember(Optional<double>& member, char c) {
  double value = 0;
  const Outcome outcome = Double(value, c);
  if (outcome != Outcome::kOk) return outcome;
  member = value;
  return respelled_ == nullptr ? Outcome::kOk : Outcome::kRespelled;
}

Interpreter::Outcome Interpreter::Bool(bool& value, char c) {
  if (c == 't') {
    if (!reader_.Literal("true")) return Broken();
    value = true;
    return Outcome::kOk;
  }
  if (c == 'f') {
    if (!reader_.Literal("false")) return Broken();
    value = false;
    return Outcome::kOk;
  }
  return Mismatch("a boolean");
}

Interpreter::Outcome Interpreter::Integer(std::int64_t& value, std::int64_t min, std::int64_t max, char c) {
  if (!StartsNumber(c)) return Mismatch("an integer");
  const char* start = reader_.position();
  if (reader_.QuickInteger(value)) {
    if (value >= min && value <= max) {
      if (value == 0 && c == '-') respelled_ = start;
      return Outcome::kOk;
    }
    reader_.Rewind(start);
  }
  std::string_view number;
  bool plain;
  if (!reader_.Number(number, plain)) return Broken();
  if (ParseInteger(number, plain, value) && value >= min && value <= max) {
    if (!plain || number == "-0") respelled_ = start;
    return Outcome::kOk;
  }
  reader_.Rewind(start);
  return Mismatch(min < INT32_MIN ? "a 64-bit integer" : "a 32-bit integer");
}

Interpreter::Outcome Interpreter::Double(double& value, char c) {
  if (!StartsNumber(c)) return Mismatch("a number");
  const char* start = reader_.position();
  std::string_view number;
  bool plain;
  if (!reader_.Number(number, plain)) return Broken();
  if (ParseDouble(number, value)) {
    if (!IsWrittenSo(value, number, plain)) respelled_ = start;
    return Outcome::kOk;
  }
  reader_.Rewind(start);
  return Mismatch("a number that fits 64-bit floating point");
}

// Most text is short and plain, and is stored here. LongText() handles everything else in a tail call, so that no
// registers need saving.
Interpreter::Outcome Interpreter::Text(String& text, bool unique, char c) {
#ifdef KGEN_CODEC_SSE2
  static constexpr char kMask[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  const char* start = reader_.position() + 1;
  if (c == '"' && reader_.end() - start >= 16 && !text.has_value()) [[likely]] {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(start));
    const unsigned stops = StopsOf(v);
    const int n = stops != 0 ? std::countr_zero(stops) : 15;
    if (stops != 0 && start[n] == '"') {
      alignas(16) char bytes[16];
      const __m128i mask = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kMask + 16 - n));
      _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm_and_si128(v, mask));
      bytes[15] = static_cast<char>(n + 1);
      detail::StringAccess::SetBytes(text, bytes);
      reader_.Rewind(start + n + 1);
      return Outcome::kOk;
    }
  }
#endif
  return LongText(text, unique, c);
}

Interpreter::Outcome Interpreter::LongText(String& text, bool unique, char c) {
  if (c != '"') return Mismatch("a string");
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  SetText(text, value, unique);
  return Outcome::kOk;
}

Interpreter::Outcome Interpreter::TimeText(detail::TimeWord& word, detail::TimePrecision precision, char c) {
  constexpr const char* kExpected = "an RFC 3339 time";
  if (c != '"') return Mismatch(kExpected);
  const char* start = reader_.position();
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  std::int64_t seconds;
  if (precision == detail::TimePrecision::kSeconds && ParseUtcSeconds(value, seconds)) {
    word.Assign(seconds * 1'000'000, precision);
    return Outcome::kOk;
  }
  if (word.has_value()) word.reset();
  if (word.Parse(value, precision)) return Outcome::kOk;
  reader_.Rewind(start);
  return Mismatch(kExpected);
}

Interpreter::Outcome Interpreter::DurationText(Duration& duration, char c) {
  constexpr const char* kExpected = "a duration such as \"1h30m\"";
  if (c != '"') return Mismatch(kExpected);
  const char* start = reader_.position();
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  if (Duration::Parse(value)) {
    SetText(detail::TimeAccess::Text(duration), value, false);
    return Outcome::kOk;
  }
  reader_.Rewind(start);
  return Mismatch(kExpected);
}

Interpreter::Outcome Interpreter::QuantityText(Quantity& quantity, char c) {
  const bool number = StartsNumber(c);  // `cpu: 2`, as custom resources may store it
  if (c != '"' && !number) return Mismatch("a quantity such as \"500m\"");
  std::string_view value;
  bool plain;
  if (!(number ? reader_.Number(value, plain) : reader_.String(value))) return Broken();
  if (quantity.has_value()) quantity.reset();
  String& text = detail::ScalarAccess::Text(quantity);
  if (!number) {
    SetText(text, value, false);
  } else if (!detail::ScalarAccess::SetNumber(quantity, value)) {
    SetText(text, std::string(1, detail::ScalarAccess::kLongNumber).append(value), false);
  }
  return Outcome::kOk;
}

Interpreter::Outcome Interpreter::IntOrText(IntOrString& value, char c) {
  if (c == '"') {
    std::string_view text;
    if (!reader_.String(text)) return Broken();
    if (value.has_value()) value.reset();
    SetText(detail::ScalarAccess::Text(value), text, false);
    return Outcome::kOk;
  }
  if (!StartsNumber(c)) return Mismatch("an integer or a string");
  const char* start = reader_.position();
  std::string_view number;
  bool plain;
  std::int64_t integer;
  if (!reader_.Number(number, plain)) return Broken();
  if (ParseInteger(number, plain, integer)) {
    if (value.has_value()) value.reset();
    if (detail::ScalarAccess::SetNumber(value, number)) return Outcome::kOk;
  }
  reader_.Rewind(start);
  return Mismatch("an integer or a string");
}

Interpreter::Outcome Interpreter::Base64(Bytes& bytes, char c) {
  if (c != '"') return Mismatch("base64 text");
  const char* start = reader_.position();
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  if (!IsBase64(value)) {
    reader_.Rewind(start);
    return Mismatch("base64 text");
  }
  SetText(detail::ScalarAccess::Text(bytes), value, false);
  return Outcome::kOk;
}

// Decodes any value. Fields that hold whole objects (fieldsV1) repeat like other subtrees, and are shared in the same
// way.
Interpreter::Outcome Interpreter::RawMember(Json& value, const Field& field, char c) {
  return c == '{' && IsShared(field) ? SharedBlock(&value, field) : Raw(value);
}

Interpreter::Outcome Interpreter::Raw(Json& value) {
  std::string_view raw;
  if (!reader_.SkipValue(raw)) return Broken();
  value = RawText(raw);
  return Outcome::kOk;
}

}  // namespace kgen::codec
