// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Values without members, in the forms that JSON has for them.
#include <chrono>
#include <cstring>

#include "codec/protobuf_decoder.h"
#include "codec/reader.h"
#include "codec/sharing/member_block.h"
#include "core/access.h"
#include "core/json/lexer.h"
#include "core/json/utf8.h"

namespace kgen::codec {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080u;
constexpr std::int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z

bool IsUtf8(std::string_view text) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  for (; end - p >= 8; p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    if ((word & kHighBits) != 0) return detail::FindInvalidUtf8(p, end) == end;
  }
  for (const char* at = p; at != end; ++at) {
    if ((*at & 0x80) != 0) return detail::FindInvalidUtf8(p, end) == end;
  }
  return true;
}

// Whether a server writes this JSON as it stores it: without white space, and with < > & and the line separators
// U+2028 and U+2029 escaped. The answer may be no for other text too.
bool IsWrittenAsStored(std::string_view json) noexcept {
  return json.find_first_of(" \t\r\n<>&\xE2") == std::string_view::npos;
}

// Returns the JSON as a server writes it.
std::string AsWritten(std::string_view json) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  bool inside = false;  // of a string
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inside && c == '\\') {
      out.append(json.substr(i++, 2));
      continue;
    }
    if (c == '"') inside = !inside;
    const bool line_end = json.substr(i).starts_with("\xE2\x80\xA8") || json.substr(i).starts_with("\xE2\x80\xA9");
    if (line_end) {
      out.append(json[i + 2] == '\xA8' ? "\\u2028" : "\\u2029");
      i += 2;
    } else if (c == '<' || c == '>' || c == '&') {
      out.append("\\u00").append(1, kDigits[c >> 4]).append(1, kDigits[c & 15]);
    } else if (inside || !detail::IsJsonSpace(c)) {
      out += c;
    }
  }
  return out;
}

}  // namespace

void ProtobufDecoder::SetText(String& text, std::string_view value, bool unique) {
  if (text.has_value()) text.reset();
  if (value.empty()) value = "";  // text that is not on the wire is null, which memcpy() does not take
  if (value.size() <= kInlineText) {
    detail::StringAccess::SetInline(text, value.data(), value.size());
  } else if (shared_ != nullptr && shared_->share_strings && !unique) {
    detail::StringAccess::AdoptBlock(text, shared_->strings.Intern(value));
  } else {
    detail::StringAccess::AdoptBlock(text, detail::NewText(value));
  }
}

bool ProtobufDecoder::Text(std::string_view value, String& text, bool unique) {
  if (!IsUtf8(value)) return Broken("has text that is not UTF-8");
  SetText(text, value, unique);
  return true;
}

// A Timestamp: seconds and nanoseconds. Servers ignore the latter in a Time. An empty message is the zero time, which
// JSON writes as null.
bool ProtobufDecoder::TimeOf(std::string_view bytes, detail::TimeWord& word, detail::TimePrecision precision) {
  constexpr std::uint32_t kSeconds = 1, kNanos = 2;
  if (bytes.empty()) {
    zero_time_ = true;
    return true;
  }
  WireReader reader(bytes);
  std::uint64_t seconds = 0, nanos = 0;
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(number, type)) return Malformed();
    if (type != WireType::kVarint || (number != kSeconds && number != kNanos)) return Unexpected();
    if (!reader.Varint(number == kSeconds ? seconds : nanos)) return Malformed();
  }
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < kFirstSecond || whole > kLastSecond || nanos >= 1'000'000'000) return Broken("has a time out of range");
  const auto micros =
      precision == detail::TimePrecision::kSeconds ? std::int64_t{0} : static_cast<std::int64_t>(nanos / 1000);
  word.Assign(whole * 1'000'000 + micros, precision);
  return true;
}

bool ProtobufDecoder::DurationOf(std::string_view bytes, Duration& duration) {
  WireReader reader(bytes);
  std::uint64_t nanos = 0;
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(number, type)) return Malformed();
    if (number != 1 || type != WireType::kVarint) return Unexpected();
    if (!reader.Varint(nanos)) return Malformed();
  }
  duration = Duration(std::chrono::nanoseconds(static_cast<std::int64_t>(nanos)));
  return true;
}

bool ProtobufDecoder::QuantityOf(std::string_view bytes, Quantity& quantity) {
  WireReader reader(bytes);
  std::string_view text;
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(number, type)) return Malformed();
    if (number != 1 || type != WireType::kBytes) return Unexpected();
    if (!reader.Bytes(text)) return Malformed();
  }
  if (quantity.has_value()) quantity.reset();
  return Text(text.empty() ? "0" : text, detail::ScalarAccess::Text(quantity), false);
}

bool ProtobufDecoder::IntOrStringOf(std::string_view bytes, IntOrString& value) {
  constexpr std::uint32_t kKind = 1, kInteger = 2, kText = 3;
  WireReader reader(bytes);
  std::uint64_t kind = 0, integer = 0;
  std::string_view text;
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(number, type)) return Malformed();
    const bool is_text = number == kText;
    if (number > kText || type != (is_text ? WireType::kBytes : WireType::kVarint)) return Unexpected();
    if (!(is_text ? reader.Bytes(text) : reader.Varint(number == kKind ? kind : integer))) return Malformed();
  }
  static_assert(kInteger != kKind);
  if (value.has_value()) value.reset();
  if (kind == 1) return Text(text, detail::ScalarAccess::Text(value), false);
  if (kind != 0) return Unexpected();
  const std::string digits = std::to_string(static_cast<std::int32_t>(integer));
  return detail::ScalarAccess::SetNumber(value, digits) || Unexpected();
}

bool ProtobufDecoder::Base64(std::string_view bytes, Bytes& value) {
  value = Bytes::Of(bytes);
  return true;
}

// Returns the JSON in a message whose first field has it: a RawExtension, a FieldsV1.
bool ProtobufDecoder::JsonText(std::string_view bytes, std::string_view& json) {
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(number, type)) return Malformed();
    if (number != 1 || type != WireType::kBytes) return Unexpected();
    if (!reader.Bytes(json)) return Malformed();
  }
  if (json.empty()) {
    json = "null";
    return true;
  }
  if (!IsWrittenAsStored(json)) {
    json_ = AsWritten(json);
    json = json_;
  }
  Reader check(json, options_.max_depth, options_.max_fields, text_);
  std::string_view raw;
  return (check.SkipValue(raw) && check.AtEnd()) || Broken("has a value that should be JSON and is not");
}

bool ProtobufDecoder::RawJson(std::string_view bytes, Json& value) {
  std::string_view json;
  if (!JsonText(bytes, json)) return false;
  String text;
  SetText(text, json, false);
  value = Json(std::move(text));
  return true;
}

}  // namespace kgen::codec
