// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/log_record.h"

#include <array>
#include <charconv>
#include <cmath>

namespace kgen {

bool LogValue::is_json() const noexcept { return !is_text() && (kind_ != Kind::kReal || std::isfinite(real_)); }

std::string LogValue::ToString() const {
  switch (kind_) {
    case Kind::kText:
      return std::string(text_);
    case Kind::kSigned:
      return std::to_string(signed_);
    case Kind::kUnsigned:
      return std::to_string(unsigned_);
    case Kind::kReal: {
      std::array<char, 32> text{};
      return {text.data(), std::to_chars(text.data(), text.data() + text.size(), real_).ptr};
    }
    case Kind::kBool:
      return bool_ ? "true" : "false";
  }
  return {};
}

}  // namespace kgen
