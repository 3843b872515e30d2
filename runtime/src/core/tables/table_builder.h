// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: builds the tables of the runtime's own structs (ObjectMeta, Unstructured, ...) at compile time. Generated
// code contains the same tables as data.
#ifndef KGEN_SRC_CORE_TABLES_TABLE_BUILDER_H_
#define KGEN_SRC_CORE_TABLES_TABLE_BUILDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/tables/name_hash.h"
#include "kgen/core/type_table.h"

namespace kgen::detail {

consteval Field MakeField(std::string_view name, std::size_t offset, ValueKind kind, const void* detail = nullptr,
                          unsigned flags = 0) noexcept {
  return {name.data(), static_cast<std::uint16_t>(name.size()), static_cast<std::uint16_t>(offset),
          kind,        static_cast<std::uint8_t>(flags),        0,
          detail};
}

struct NameSlots {
  std::uint32_t seed = 0;
  std::uint8_t bits = 0;
  std::array<std::uint8_t, 64> slots{};
};

// Finds the first seed without a collision for the smallest table that has at least twice as many slots as fields.
template <std::size_t n>
consteval NameSlots FindNameSlots(const Field (&fields)[n]) {
  static_assert(n <= 32);
  NameSlots result;
  for (result.bits = 1; (1u << result.bits) < 2 * n;) ++result.bits;
  for (;; ++result.seed) {
    result.slots = {};
    bool perfect = true;
    for (std::size_t i = 0; i < n && perfect; ++i) {
      std::uint8_t& slot = result.slots[NameSlot(NameKey(fields[i].wire_name()), result.seed, result.bits)];
      perfect = slot == 0;
      slot = static_cast<std::uint8_t>(i + 1);
    }
    if (perfect) return result;
  }
}

// Numbers the fields from 1 on, in their order.
template <std::size_t n>
consteval std::array<WireField, n> NumberFields(const Field (&)[n]) {
  std::array<WireField, n> fields{};
  for (std::size_t i = 0; i < n; ++i) {
    fields[i] = {static_cast<std::uint16_t>(i + 1), static_cast<std::uint8_t>(i), 0, false};
  }
  return fields;
}

// The table with its fields in protobuf.
template <std::size_t n>
consteval TypeTable WithWire(TypeTable table, const std::array<WireField, n>& fields) noexcept {
  table.wire = fields.data();
  table.wire_count = static_cast<std::uint16_t>(n);
  return table;
}

template <typename T, std::size_t n>
consteval TypeTable MakeTable(const char* name, const Field (&fields)[n], const NameSlots& slots,
                              std::size_t metadata_offset = TypeTable::kNoMetadata, const KindInfo* kind = nullptr,
                              unsigned flags = 0) noexcept {
  std::size_t unknown_offset = TypeTable::kNoUnknown;
  if constexpr (requires(T t) { t.unknown_fields; }) unknown_offset = offsetof(T, unknown_fields);
  return {.version = kTableVersion,
          .size = sizeof(T),
          .name = name,
          .field_data = fields,
          .field_count = static_cast<std::uint16_t>(n),
          .unknown_offset = static_cast<std::uint16_t>(unknown_offset),
          .metadata_offset = static_cast<std::uint16_t>(metadata_offset),
          .hash_bits = slots.bits,
          .flags = static_cast<std::uint8_t>(flags),
          .hash_seed = slots.seed,
          .hash_slots = slots.slots.data(),
          .kind = kind,
          .empty = kZeros<T>};
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_TABLES_TABLE_BUILDER_H_
