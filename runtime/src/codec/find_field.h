// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FieldFinder: TypeTable::Find for a name inside a larger buffer. The same look-up, inlined, and with whole-word loads.
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

// An inlined memcmp for names, which are not empty.
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

// Looks up names in one table, and holds the values that every look-up needs.
class FieldFinder {
 public:
  explicit FieldFinder(const TypeTable& table) noexcept
      : table_(table),
        slots_(std::endian::native == std::endian::little ? table.hash_slots : nullptr),
        multiplier_(TypeTable::kHashMultiplier + 2 * std::uint64_t{table.hash_seed}),
        shift_(64u - table.hash_bits) {}

  // The bytes after the name may be read up to `end`.
  [[gnu::always_inline]] const Field* Find(std::string_view name, const char* end) const noexcept {
    const std::size_t size = name.size();
    std::uint64_t key;
    if (slots_ == nullptr) [[unlikely]]
      return table_.Find(name);
    if (size >= 8) {
      key = internal::Word(name.data()) ^ std::rotl(internal::Word(name.data() + size - 8), 23) ^ size;
    } else if (size != 0 && end - name.data() >= 8) [[likely]] {
      const std::uint64_t word = internal::Word(name.data()) & ((std::uint64_t{1} << (8 * size)) - 1);
      key = word ^ std::rotl(word, 23) ^ size;
    } else {
      return table_.Find(name);
    }
    const std::uint8_t slot = slots_[key * multiplier_ >> shift_];  // detail::NameSlot
    if (slot == 0) return nullptr;
    const Field& field = table_.field_data[slot - 1];
    if (field.name_size != size || !internal::SameBytes(field.name, name.data(), size)) return nullptr;
    return &field;
  }

 private:
  const TypeTable& table_;
  const std::uint8_t* slots_;
  std::uint64_t multiplier_;
  unsigned shift_;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_FIND_FIELD_H_
