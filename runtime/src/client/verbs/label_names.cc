// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/verbs/label_names.h"

#include <algorithm>
#include <cstddef>

#include "core/dns_names.h"

namespace kgen::client {
namespace {

bool IsAlnum(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

bool IsLabelValue(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 63 && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsQualifiedName(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsLabelValue(text);
  return detail::IsDnsSubdomain(text.substr(0, slash)) && IsLabelValue(text.substr(slash + 1));
}

}  // namespace kgen::client
