// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Stream output of the scalar field types.
#include <ostream>
#include <string_view>

#include "kgen/core/json.h"
#include "kgen/core/quantity.h"
#include "kgen/core/string.h"
#include "kgen/core/time.h"

namespace kgen {
namespace {

std::ostream& PrintText(std::ostream& os, bool present, std::string_view text) {
  return os << (present ? text : std::string_view("absent"));
}

}  // namespace

std::ostream& operator<<(std::ostream& os, const Time& time) { return PrintText(os, time.has_value(), time.str()); }

std::ostream& operator<<(std::ostream& os, const MicroTime& time) {
  return PrintText(os, time.has_value(), time.str());
}

std::ostream& operator<<(std::ostream& os, const Duration& duration) {
  return PrintText(os, duration.has_value(), duration.text());
}

std::ostream& operator<<(std::ostream& os, const Quantity& quantity) {
  return PrintText(os, quantity.has_value(), quantity.text());
}

std::ostream& operator<<(std::ostream& os, const IntOrString& v) { return PrintText(os, v.has_value(), v.str()); }

std::ostream& operator<<(std::ostream& os, const Bytes& bytes) {
  return PrintText(os, bytes.has_value(), bytes.base64());
}

std::ostream& operator<<(std::ostream& os, const Json& json) { return PrintText(os, json.has_value(), json.text()); }

void PrintTo(const String& text, std::ostream* os) {
  if (!text.has_value()) {
    *os << "absent";
    return;
  }
  *os << '"';
  for (const char c : text.view()) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *os << '\\' << c;
    } else if (c == '\n') {
      *os << "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      static constexpr char kHex[] = "0123456789abcdef";
      *os << "\\x" << kHex[byte >> 4] << kHex[byte & 15];
    } else {
      *os << c;
    }
  }
  *os << '"';
}

}  // namespace kgen
