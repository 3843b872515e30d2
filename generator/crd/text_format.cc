// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/text_format.h"

#include "kgen/core/time.h"
#include "validation/formats.h"
#include "validation/pattern.h"

namespace kgen::generator::crd {

bool MatchesPattern(std::string_view text, std::string_view pattern) {
  const auto compiled = validation::Pattern::Compile(pattern);
  return !compiled || compiled->Matches(text);
}

bool HasFormat(std::string_view text, std::string_view format) {
  const validation::FormatCheck check = validation::FindFormat(format);
  if (check != nullptr && !check(text)) return false;
  if (format == "date-time") return Time::Parse(text).has_value();
  return format != "duration" || Duration::Parse(text).has_value();
}

}  // namespace kgen::generator::crd
