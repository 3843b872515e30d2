// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Values without members.
#include <chrono>
#include <utility>

#include "codec/interpreter.h"
#include "codec/number.h"

namespace kgen::codec {

namespace {

bool StartsNumber(char c) noexcept { return c == '-' || (c >= '0' && c <= '9'); }

// Standard base64 with padding; line breaks are allowed, as Go allows them.
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

// "2026-11-21T08:33:00Z" and nothing else, as seconds since the epoch; false for any other form, which is the business
// of TimeWord::Parse. Nearly all times of the API are such, and a pod has a dozen.
bool ParseUtcSeconds(std::string_view text, std::int64_t& seconds) noexcept {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kForm.size()) return false;
  const char* p = text.data();
  unsigned wrong = 0;
  const auto two = [&](std::size_t i) {
    const unsigned tens = static_cast<unsigned char>(p[i]) - unsigned{'0'};
    const unsigned ones = static_cast<unsigned char>(p[i + 1]) - unsigned{'0'};
    wrong |= static_cast<unsigned>(tens > 9) | static_cast<unsigned>(ones > 9);
    return tens * 10 + ones;
  };
  const unsigned year = two(0) * 100 + two(2);
  const unsigned month = two(5);
  const unsigned day = two(8);
  const unsigned hour = two(11);
  const unsigned minute = two(14);
  const unsigned second = two(17);
  for (const std::size_t i : {4, 7, 10, 13, 16, 19}) wrong |= static_cast<unsigned>(p[i] != kForm[i]);
  if (wrong != 0 || hour > 23 || minute > 59 || second > 59) return false;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return false;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  seconds = days * 86400 + static_cast<std::int64_t>((hour * 60 + minute) * 60 + second);
  return true;
}

}  // namespace

// Longer text of a String. The pool keeps each once; unique text (uid, resourceVersion) would only fill it.
void Interpreter::SetLongText(String& text, std::string_view value, bool unique) {
  if (shared_ != nullptr && shared_->share_strings && !unique) {
    detail_StringAccess::AdoptBlock(text, shared_->strings.Intern(value));
  } else {
    detail_StringAccess::AdoptBlock(text, detail::NewText(value));
  }
}

Json Interpreter::RawText(std::string_view raw) {
  String text;
  SetText(text, raw, false);
  return Json(std::move(text));
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
  return Misfit("a boolean");
}

Interpreter::Outcome Interpreter::Integer(std::int64_t& value, std::int64_t min, std::int64_t max, char c) {
  if (!StartsNumber(c)) return Misfit("an integer");
  const char* start = reader_.position();
  std::string_view number;
  bool plain;
  if (!reader_.Number(number, plain)) return Broken();
  if (ParseInteger(number, plain, value) && value >= min && value <= max) return Outcome::kOk;
  reader_.Rewind(start);
  return Misfit(min < INT32_MIN ? "a 64-bit integer" : "a 32-bit integer");
}

Interpreter::Outcome Interpreter::Double(double& value, char c) {
  if (!StartsNumber(c)) return Misfit("a number");
  const char* start = reader_.position();
  std::string_view number;
  bool plain;
  if (!reader_.Number(number, plain)) return Broken();
  if (ParseDouble(number, value)) return Outcome::kOk;
  reader_.Rewind(start);
  return Misfit("a number that fits 64-bit floating point");
}

Interpreter::Outcome Interpreter::Text(String& text, bool unique, char c) {
  if (c != '"') return Misfit("a string");
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  SetText(text, value, unique);
  return Outcome::kOk;
}

Interpreter::Outcome Interpreter::TimeText(detail::TimeWord& word, detail::TimePrecision precision, char c) {
  constexpr const char* kExpected = "an RFC 3339 time";
  if (c != '"') return Misfit(kExpected);
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
  return Misfit(kExpected);
}

Interpreter::Outcome Interpreter::DurationText(Duration& duration, char c) {
  constexpr const char* kExpected = "a duration such as \"1h30m\"";
  if (c != '"') return Misfit(kExpected);
  const char* start = reader_.position();
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  if (Duration::Parse(value)) {
    SetText(detail_TimeAccess::Text(duration), value, false);
    return Outcome::kOk;
  }
  reader_.Rewind(start);
  return Misfit(kExpected);
}

Interpreter::Outcome Interpreter::QuantityText(Quantity& quantity, char c) {
  String& text = detail_ScalarAccess::Text(quantity);
  std::string_view value;
  if (c == '"') {
    if (!reader_.String(value)) return Broken();
  } else if (StartsNumber(c)) {  // `cpu: 2`, as custom resources may store it
    bool plain;
    if (!reader_.Number(value, plain)) return Broken();
  } else {
    return Misfit("a quantity such as \"500m\"");
  }
  SetText(text, value, false);
  return Outcome::kOk;
}

Interpreter::Outcome Interpreter::IntOrText(IntOrString& value, char c) {
  if (c == '"') {
    std::string_view text;
    if (!reader_.String(text)) return Broken();
    if (value.has_value()) value.reset();
    SetText(detail_ScalarAccess::Text(value), text, false);
    return Outcome::kOk;
  }
  if (!StartsNumber(c)) return Misfit("an integer or a string");
  const char* start = reader_.position();
  std::string_view number;
  bool plain;
  std::int64_t integer;
  if (!reader_.Number(number, plain)) return Broken();
  if (ParseInteger(number, plain, integer)) {
    if (value.has_value()) value.reset();
    if (detail_ScalarAccess::SetInt(value, number)) return Outcome::kOk;
  }
  reader_.Rewind(start);
  return Misfit("an integer or a string");
}

Interpreter::Outcome Interpreter::Base64(Bytes& bytes, char c) {
  if (c != '"') return Misfit("base64 text");
  const char* start = reader_.position();
  std::string_view value;
  if (!reader_.String(value)) return Broken();
  if (!IsBase64(value)) {
    reader_.Rewind(start);
    return Misfit("base64 text");
  }
  SetText(detail_ScalarAccess::Text(bytes), value, false);
  return Outcome::kOk;
}

// Any value. Fields that hold whole objects (fieldsV1) repeat like other subtrees, and are shared like them.
Interpreter::Outcome Interpreter::RawMember(Json& value, const Field& field, char c) {
  if (c == '{' && MayShare(field)) {
    if (SubtreeMemo::FieldStats* stats = shared_->subtrees.Try(field); stats != nullptr) {
      return Memoised(&value, field, *stats);
    }
  }
  return Raw(value);
}

Interpreter::Outcome Interpreter::Raw(Json& value) {
  std::string_view raw;
  if (!reader_.SkipValue(raw)) return Broken();
  value = RawText(raw);
  return Outcome::kOk;
}

}  // namespace kgen::codec
