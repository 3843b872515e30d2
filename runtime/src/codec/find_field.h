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

inline std::uint64_t Word(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

// memcmp without the call, for names.
inline bool SameBytes(const char* a, const char* b, std::size_t size) noexcept {
  if (size >= 8) {
    for (; size > 8; a += 8, b += 8, size -= 8) {
      if (Word(a) != Word(b)) return false;
      if (size < 16) {  // the rest overlaps
        return Word(a + size - 8) == Word(b + size - 8);
      }
    }
    return Word(a) == Word(b);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
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
