// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/log_record.h"

#include <cmath>
#include <cstdio>

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
      char text[32];
      std::snprintf(text, sizeof text, "%.6g", real_);
      return text;
    }
    case Kind::kBool:
      return bool_ ? "true" : "false";
  }
  return {};
}

}  // namespace kgen
