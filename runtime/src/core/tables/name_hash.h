// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The hash of wire names that TypeTable describes, in two steps: the generator and the tables of the runtime search for
// a seed without collisions with it, and TypeTable::Find() looks names up.
#ifndef KGEN_SRC_CORE_TABLES_NAME_HASH_H_
#define KGEN_SRC_CORE_TABLES_NAME_HASH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "kgen/core/type_table.h"

namespace kgen::detail {

// Returns the part of the hash that depends on the name alone.
constexpr std::uint64_t NameKey(std::string_view name) noexcept {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const std::size_t size = name.size();
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little && size >= 8) {
    std::memcpy(&first, name.data(), 8);
    std::memcpy(&last, name.data() + size - 8, 8);
  } else {
    const std::size_t n = size < 8 ? size : 8;
    for (std::size_t i = 0; i < n; ++i) {
      first |= std::uint64_t{static_cast<unsigned char>(name[i])} << (8 * i);
      last |= std::uint64_t{static_cast<unsigned char>(name[size - n + i])} << (8 * i);
    }
  }
  return first ^ std::rotl(last, 23) ^ size;
}
// Returns the slot of a name with that key. `bits` is 1 to 32.
constexpr std::uint32_t NameSlot(std::uint64_t key, std::uint32_t seed, unsigned bits) noexcept {
  return static_cast<std::uint32_t>(key * (TypeTable::kHashMultiplier + 2 * std::uint64_t{seed}) >> 32) >> (32 - bits);
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_TABLES_NAME_HASH_H_
