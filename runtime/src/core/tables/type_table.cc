// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/type_table.h"

#include "core/tables/name_hash.h"

namespace kgen {

const Field* TypeTable::Find(std::string_view wire_name) const noexcept {
  const auto is = [&](const Field& field) {
    return field.name_size == wire_name.size() && std::memcmp(field.name, wire_name.data(), wire_name.size()) == 0;
  };
  if (wire_name.empty()) return nullptr;
  if (hash_slots == nullptr) {
    for (const Field& field : *this) {
      if (is(field)) return &field;
    }
    return nullptr;
  }
  const std::uint8_t slot = hash_slots[detail::NameSlot(detail::NameKey(wire_name), hash_seed, hash_bits)];
  if (slot == 0) return nullptr;
  const Field& field = field_data[slot - 1];
  return is(field) ? &field : nullptr;
}

}  // namespace kgen
