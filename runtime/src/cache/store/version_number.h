// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Resource versions as numbers. The versions of one resource ascend with its changes.
#ifndef KGEN_SRC_CACHE_STORE_VERSION_NUMBER_H_
#define KGEN_SRC_CACHE_STORE_VERSION_NUMBER_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace kgen::cache {

// Nothing for a text that is no decimal number, as the versions of some aggregated servers.
inline std::optional<std::uint64_t> VersionNumber(std::string_view version) noexcept {
  std::uint64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto read = std::from_chars(version.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_VERSION_NUMBER_H_
