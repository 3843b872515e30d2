// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/perfect_hash.h"

#include <algorithm>
#include <cstddef>

#include "core/tables/name_hash.h"

namespace kgen::generator::emit {
namespace {

constexpr unsigned kMostBits = 12;
constexpr std::uint32_t kSeedsPerSize = 4096;

bool Try(const std::vector<std::uint64_t>& keys, NameSlots& result) {
  std::fill(result.slots.begin(), result.slots.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::uint8_t& slot = result.slots[detail::NameSlot(keys[i], result.seed, result.bits)];
    if (slot != 0) return false;
    slot = static_cast<std::uint8_t>(i + 1);
  }
  return true;
}

}  // namespace

NameSlots FindNameSlots(const std::vector<std::string>& wire_names) {
  NameSlots result;
  if (wire_names.empty() || wire_names.size() > 254) return result;  // a slot is one byte
  std::vector<std::uint64_t> keys;
  keys.reserve(wire_names.size());
  for (const std::string& name : wire_names) keys.push_back(detail::NameKey(name));
  std::vector<std::uint64_t> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  // Names that differ only in the middle have the same key for every seed.
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return result;
  for (result.bits = 1; (std::size_t{1} << result.bits) < 2 * keys.size();) ++result.bits;
  for (; result.bits <= kMostBits; ++result.bits) {
    result.slots.resize(std::size_t{1} << result.bits);
    for (result.seed = 0; result.seed < kSeedsPerSize; ++result.seed) {
      if (Try(keys, result)) return result;
    }
  }
  return {};
}

}  // namespace kgen::generator::emit
