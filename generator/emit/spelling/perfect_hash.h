// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Searches the perfect hash of a field table. kgen/core/type_table.h describes it and has the hash function.
#ifndef KGEN_GENERATOR_EMIT_SPELLING_PERFECT_HASH_H_
#define KGEN_GENERATOR_EMIT_SPELLING_PERFECT_HASH_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kgen::generator::emit {

struct NameSlots {
  std::uint8_t bits = 0;
  std::uint32_t seed = 0;
  std::vector<std::uint8_t> slots;  // index + 1, or 0; empty: none was found, and the look-up goes one by one
};

// The first seed of the smallest table without collisions. Depends only on the names and their order.
NameSlots FindNameSlots(const std::vector<std::string>& wire_names);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_SPELLING_PERFECT_HASH_H_
