// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/field_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/json/compact_json.h"
#include "core/json/utf8.h"

namespace kgen {
namespace {

std::string_view TextOf(FieldError::Kind kind) noexcept {
  switch (kind) {
    case FieldError::Kind::kRequired:
      return "Required value";
    case FieldError::Kind::kInvalid:
    case FieldError::Kind::kTypeInvalid:
      return "Invalid value";
    case FieldError::Kind::kDuplicate:
      return "Duplicate value";
    case FieldError::Kind::kForbidden:
      return "Forbidden";
    case FieldError::Kind::kNotSupported:
      return "Unsupported value";
    case FieldError::Kind::kNotFound:
      return "Not found";
    case FieldError::Kind::kTooLong:
      return "Too long";
    case FieldError::Kind::kTooMany:
      return "Too many";
    case FieldError::Kind::kInternal:
      break;
  }
  return "Internal error";
}

// Returns "Invalid value: 0: must be positive". A part that is "" is left out.
std::string Message(FieldError::Kind kind, std::string_view value, std::string_view why) {
  std::string message(TextOf(kind));
  for (const std::string_view part : {value, why}) {
    if (!part.empty()) message.append(": ").append(part);
  }
  return message;
}

// Whether Go's %q prints a character of more than one byte as it is. The ranges are those without a visible form:
// controls, spaces, separators, marks of direction, characters for private use and values that are no characters.
bool IsPrinted(std::uint32_t c) noexcept {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 16> kHidden = {{{0x80, 0xA0},
                                              {0xAD, 0xAD},
                                              {0x600, 0x605},
                                              {0x61C, 0x61C},
                                              {0x6DD, 0x6DD},
                                              {0x70F, 0x70F},
                                              {0x1680, 0x1680},
                                              {0x180E, 0x180E},
                                              {0x2000, 0x200F},
                                              {0x2028, 0x202F},
                                              {0x205F, 0x206F},
                                              {0x3000, 0x3000},
                                              {0xE000, 0xF8FF},
                                              {0xFEFF, 0xFEFF},
                                              {0xFFF0, 0xFFFB},
                                              {0xE0000, 0x10FFFF}}};
  if ((c & 0xFFFE) == 0xFFFE) return false;
  return std::ranges::none_of(kHidden, [c](const Range& range) { return range.first <= c && c <= range.last; });
}

void AppendHex(std::string& out, std::string_view prefix, std::uint32_t value, int digits) {
  out += prefix;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[value >> shift & 15];
}

// Appends an ASCII character as %q writes it.
void AppendAscii(std::string& out, char c) {
  constexpr std::string_view kLetters = "abtnvfr";  // from 7, the bell, on
  if (c == '"' || c == '\\') {
    out.append({'\\', c});
  } else if (c >= '\a' && c <= '\r') {
    out.append({'\\', kLetters[static_cast<std::size_t>(c - '\a')]});
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
    AppendHex(out, "\\x", static_cast<unsigned char>(c), 2);
  } else {
    out += c;
  }
}

// Returns the character of more than one byte at the beginning of valid UTF-8, and its size.
std::pair<std::uint32_t, std::size_t> DecodeUtf8(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  std::uint32_t c = first & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) c = c << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  return {c, size};
}

// Appends text beyond ASCII, which begins with a byte above 0x7F, and returns how many bytes it took.
std::size_t AppendBeyondAscii(std::string& out, std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + std::min<std::size_t>(text.size(), 4);
  const char* const bad = detail::FindInvalidUtf8(begin, end);
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (static_cast<std::size_t>(bad - begin) < needed) {
    AppendHex(out, "\\x", lead, 2);
    return 1;
  }
  const auto [c, size] = DecodeUtf8(text);
  if (IsPrinted(c)) {
    out.append(text.substr(0, size));
  } else if (c < 0x10000) {
    AppendHex(out, "\\u", c, 4);
  } else {
    AppendHex(out, "\\U", c, 8);
  }
  return size;
}

// Servers print objects and lists as Go does: with sorted members, and with escapes for what has a meaning in HTML.
std::string JsonText(const nlohmann::json& value) {
  std::string text;
  for (const char c : detail::CompactJson(value)) {
    if (c == '<' || c == '>' || c == '&') {
      AppendHex(text, "\\u", static_cast<unsigned char>(c), 4);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string_view FieldError::reason() const noexcept {
  switch (kind) {
    case Kind::kRequired:
      return "FieldValueRequired";
    case Kind::kInvalid:
      return "FieldValueInvalid";
    case Kind::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case Kind::kDuplicate:
      return "FieldValueDuplicate";
    case Kind::kForbidden:
      return "FieldValueForbidden";
    case Kind::kNotSupported:
      return "FieldValueNotSupported";
    case Kind::kNotFound:
      return "FieldValueNotFound";
    case Kind::kTooLong:
      return "FieldValueTooLong";
    case Kind::kTooMany:
      return "FieldValueTooMany";
    case Kind::kInternal:
      break;
  }
  return "InternalError";
}

std::string FieldError::ToString() const { return field + ": " + message; }

void FieldErrors::Required(std::string_view field, std::string_view why) {
  AddValue(FieldError::Kind::kRequired, field, {}, why);
}

void FieldErrors::Forbidden(std::string_view field, std::string_view why) {
  AddValue(FieldError::Kind::kForbidden, field, {}, why);
}

void FieldErrors::TooLong(std::string_view field, std::size_t most_bytes) {
  AddValue(FieldError::Kind::kTooLong, field, {},
           "may not be more than " + std::to_string(most_bytes) + (most_bytes == 1 ? " byte" : " bytes"));
}

void FieldErrors::TooMany(std::string_view field, std::size_t actual, std::size_t most) {
  AddValue(FieldError::Kind::kTooMany, field, std::to_string(actual),
           "must have at most " + std::to_string(most) + (most == 1 ? " item" : " items"));
}

void FieldErrors::Internal(std::string_view field, std::string_view why) {
  AddValue(FieldError::Kind::kInternal, field, {}, why);
}

void FieldErrors::Add(std::string_view prefix, const FieldErrors& part) {
  const std::size_t count = part.errors_.size();  // `part` may be this list
  for (std::size_t i = 0; i < count; ++i) {
    FieldError error = part.errors_[i];
    const bool joined = prefix.empty() || error.field.empty() || error.field[0] == '[';
    error.field.insert(0, std::string(prefix) + (joined ? "" : "."));
    errors_.push_back(std::move(error));
  }
}

std::string FieldErrors::ToString() const {
  std::set<std::string> seen;
  std::string text;
  for (const FieldError& error : errors_) {
    const auto [line, is_new] = seen.insert(error.ToString());
    if (!is_new) continue;
    if (!text.empty()) text += ", ";
    text += *line;
  }
  return seen.size() > 1 ? '[' + text + ']' : text;
}

std::string FieldErrors::ValueText(const Json& value) {
  const nlohmann::json parsed = value.Parse<nlohmann::json>();
  if (parsed.is_string()) return ValueText(std::string_view(parsed.get_ref<const std::string&>()));
  if (parsed.is_number_float()) return ValueText(parsed.get<double>());
  // An integer keeps its digits, whatever its size.
  if (parsed.is_structured()) return JsonText(parsed);
  return value.has_value() ? std::string(value.text()) : "null";
}

std::string FieldErrors::ValueText(std::string_view value) {
  std::string out(1, '"');
  while (!value.empty()) {
    std::size_t size = 1;
    if (static_cast<unsigned char>(value[0]) < 0x80) {
      AppendAscii(out, value[0]);
    } else {
      size = AppendBeyondAscii(out, value);
    }
    value.remove_prefix(size);
  }
  return out += '"';
}

std::string FieldErrors::ValueText(bool value) { return value ? "true" : "false"; }

std::string FieldErrors::ValueText(std::int64_t value) { return std::to_string(value); }

// As Go's %v: with an exponent below 1e-4 and from 1e6 on (1e+06).
std::string FieldErrors::ValueText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 400> room{};
  const auto print = [&](std::chars_format format) {
    return std::string(room.data(), std::to_chars(room.data(), room.data() + room.size(), value, format).ptr);
  };
  std::string scientific = print(std::chars_format::scientific);
  const char* const sign = scientific.data() + scientific.find('e') + 1;  // from_chars takes no '+'
  int exponent = 0;
  std::from_chars(*sign == '+' ? sign + 1 : sign, scientific.data() + scientific.size(), exponent);
  return exponent < -4 || exponent >= 6 ? scientific : print(std::chars_format::fixed);
}

void FieldErrors::AddValue(FieldError::Kind kind, std::string_view field, const std::string& value,
                           std::string_view why) {
  Add(FieldError{.kind = kind, .field = std::string(field), .message = Message(kind, value, why)});
}

void FieldErrors::AddNotSupported(std::string_view field, const std::string& value,
                                  const std::vector<std::string>& supported) {
  std::string why;
  for (const std::string& each : supported) {
    why += why.empty() ? "supported values: " : ", ";
    why += ValueText(std::string_view(each));
  }
  AddValue(FieldError::Kind::kNotSupported, field, value, why);
}

}  // namespace kgen
