// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Trim: text without the blanks and line ends around it.
#ifndef KGEN_SRC_NET_TRIM_H_
#define KGEN_SRC_NET_TRIM_H_

#include <cstddef>
#include <string_view>

namespace kgen::net {

inline std::string_view Trim(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_TRIM_H_
