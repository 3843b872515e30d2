// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TypeTable::Find for a name that lies in a larger buffer: the same look-up, inline, with whole-word loads.
#ifndef KGEN_SRC_CODEC_FIND_FIELD_H_
#define KGEN_SRC_CODEC_FIND_FIELD_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "kgen/core/type_table.h"

namespace kgen::codec {

namespace internal {

template <typename T>
T Part(const char* p) noexcept {
  T part;
  std::memcpy(&part, p, sizeof part);
  return part;
}
inline std::uint64_t Word(const char* p) noexcept { return Part<std::uint64_t>(p); }

// memcmp without the call, for names: not empty.
inline bool SameBytes(const char* a, const char* b, std::size_t size) noexcept {
  if (size >= 8) {  // the last word overlaps those before it
    if (Word(a) != Word(b) || Word(a + size - 8) != Word(b + size - 8)) return false;
    for (std::size_t i = 8; i + 8 < size; i += 8) {
      if (Word(a + i) != Word(b + i)) return false;
    }
    return true;
  }
  if (size >= 4) {
    return Part<std::uint32_t>(a) == Part<std::uint32_t>(b) &&
           Part<std::uint32_t>(a + size - 4) == Part<std::uint32_t>(b + size - 4);
  }
  if (size >= 2) {
    return Part<std::uint16_t>(a) == Part<std::uint16_t>(b) &&
           Part<std::uint16_t>(a + size - 2) == Part<std::uint16_t>(b + size - 2);
  }
  return *a == *b;
}

}  // namespace internal

// `end`: up to where bytes behind the name may be read.
inline const Field* FindField(const TypeTable& table, std::string_view name, const char* end) noexcept {
  const std::size_t size = name.size();
  if (table.hash_slots == nullptr || std::endian::native != std::endian::little || size == 0) return table.Find(name);
  std::uint64_t key;
  if (size >= 8) {
    key = internal::Word(name.data()) ^ std::rotl(internal::Word(name.data() + size - 8), 23) ^ size;
  } else if (end - name.data() >= 8) {
    const std::uint64_t word = internal::Word(name.data()) & ((std::uint64_t{1} << (8 * size)) - 1);
    key = word ^ std::rotl(word, 23) ^ size;
  } else {
    return table.Find(name);
  }
  const std::uint8_t slot = table.hash_slots[detail::NameSlot(key, table.hash_seed, table.hash_bits)];
  if (slot == 0) return nullptr;
  const Field& field = table.field_data[slot - 1];
  if (field.name_size != size || !internal::SameBytes(field.name, name.data(), size)) return nullptr;
  return &field;
}

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_FIND_FIELD_H_
