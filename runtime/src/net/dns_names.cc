// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/dns_names.h"

#include <algorithm>

namespace kgen::net {
namespace {

// Lower-case letters, digits and inner dashes.
bool IsPart(std::string_view text) noexcept {
  const auto good = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-'; };
  return !text.empty() && text.front() != '-' && text.back() != '-' && std::ranges::all_of(text, good);
}

}  // namespace

bool IsDnsLabel(std::string_view text) noexcept { return text.size() <= 63 && IsPart(text); }

bool IsDnsSubdomain(std::string_view text) noexcept {
  if (text.size() > 253) return false;
  while (true) {
    const std::string_view part = text.substr(0, text.find('.'));
    if (!IsPart(part)) return false;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace kgen::net
