// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks DNS names, as RFC 1123 and the API server define them. Inline, because the generator does not link core.
#ifndef KGEN_SRC_CORE_DNS_NAMES_H_
#define KGEN_SRC_CORE_DNS_NAMES_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kgen::detail {

inline constexpr std::size_t kMaxDnsLabel = 63;
inline constexpr std::size_t kMaxDnsSubdomain = 253;

// True for lower-case letters, digits and inner dashes: a part of a subdomain, of any length.
constexpr bool IsDnsPart(std::string_view text) noexcept {
  const auto good = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-'; };
  return !text.empty() && text.front() != '-' && text.back() != '-' && std::ranges::all_of(text, good);
}

// True for lower-case letters, digits and inner dashes, at most 63 characters: namespaces.
constexpr bool IsDnsLabel(std::string_view text) noexcept { return text.size() <= kMaxDnsLabel && IsDnsPart(text); }

// True for what most objects may be called: lower-case letters, digits and inner dashes, in parts separated by dots, at
// most 253 characters. As on the server, a part may be longer than a label.
constexpr bool IsDnsSubdomain(std::string_view text) noexcept {
  if (text.size() > kMaxDnsSubdomain) return false;
  while (true) {
    const std::string_view part = text.substr(0, text.find('.'));
    if (!IsDnsPart(part)) return false;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_DNS_NAMES_H_
