// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/resource_version.h"

#include <algorithm>
#include <string>

namespace kgen {
namespace {

bool IsVersion(std::string_view text) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.front() != '0' && std::ranges::all_of(text, is_digit);
}

}  // namespace

Result<std::strong_ordering> CompareResourceVersions(std::string_view a, std::string_view b) {
  for (const std::string_view each : {a, b}) {
    if (IsVersion(each)) continue;
    return Fail(Code::kInvalidArgument, "compare resource versions: \"" + std::string(each) +
                                            "\" is no number, so it cannot be compared; compare for equality only");
  }
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

}  // namespace kgen
