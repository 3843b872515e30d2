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

constexpr std::uint64_t kOnes = 0x0101010101010101u;  // times a byte: that byte in all eight places
constexpr std::uint64_t kHighBits = 0x80 * kOnes;

constexpr std::int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z

std::uint64_t ByteAt(std::string_view text, std::size_t i) noexcept { return static_cast<unsigned char>(text[i]); }

// Returns a word with all bytes of a text of less than 8, and with letters.
std::uint64_t WordOfShort(std::string_view text) noexcept {
  const std::size_t size = text.size();
  if (size >= 4) {
    std::uint32_t first, last;  // they may overlap
    std::memcpy(&first, text.data(), sizeof first);
    std::memcpy(&last, text.data() + size - sizeof last, sizeof last);
    return std::uint64_t{last} << 32 | first;
  }
  constexpr std::uint64_t kLetters = 'a' * kOnes;
  if (size == 0) return kLetters;
  return kLetters << 24 | ByteAt(text, 0) << 16 | ByteAt(text, size / 2) << 8 | ByteAt(text, size - 1);
}

// Returns whether `matches` accepts one of the words that together have all bytes of the text.
template <typename Matches>
bool AnyWord(std::string_view text, Matches matches) noexcept {
  std::uint64_t word;
  if (text.size() < sizeof word) return matches(WordOfShort(text));
  const char* const last = text.data() + text.size() - sizeof word;
  for (const char* p = text.data(); p < last; p += sizeof word) {
    std::memcpy(&word, p, sizeof word);
    if (matches(word)) return true;
  }
  std::memcpy(&word, last, sizeof word);
  return matches(word);
}

bool IsUtf8(std::string_view text) noexcept {
  if (!AnyWord(text, [](std::uint64_t word) { return (word & kHighBits) != 0; })) return true;
  const char* const end = text.data() + text.size();
  return detail::FindInvalidUtf8(text.data(), end) == end;
}

// Sets the high bit of the first byte that is zero, and of none if no byte is zero.
constexpr std::uint64_t Zeros(std::uint64_t word) noexcept { return (word - kOnes) & ~word & kHighBits; }

// Whether a server writes this JSON as it stores it: without white space, and with < > & and the line separators
// U+2028 and U+2029 escaped. The answer is no for all text that is not ASCII too, which is rare here.
bool IsWrittenAsStored(std::string_view json) noexcept {
  constexpr std::uint64_t kPrintable = ('!' * kOnes), kAmpersand = '&' * kOnes, kLess = '<' * kOnes;
  constexpr std::uint64_t kLessOrGreater = ~(('<' ^ '>') * kOnes);  // the bits that < and > have in common
  return !AnyWord(json, [](std::uint64_t word) {
    const std::uint64_t space_or_control = (word - kPrintable) & ~word & kHighBits;
    return ((word & kHighBits) | space_or_control | Zeros(word ^ kAmpersand) |
            Zeros((word & kLessOrGreater) ^ kLess)) != 0;
  });
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

inline void ProtobufDecoder::SetText(String& text, std::string_view value, bool unique) {
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

void ProtobufDecoder::NameMetadata(PartialObjectMetadata& object) {
  SetText(object.apiVersion, "meta.k8s.io/v1", false);
  SetText(object.kind, "PartialObjectMetadata", false);
}

}  // namespace kgen::codec
