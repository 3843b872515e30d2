// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private to map.cc and value.cc: the order table that a Map gets with its first insertion or erasure.
//
// Entries never move while the map lives, because users hold references to them; insertion and erasure only change this
// table of pointers, in key order. An entry is either packed (inside the MapBlock) or separate (in its own block).
// Erasing a packed entry resets it to its default state, in which it is safe to destroy it again.
#ifndef KGEN_SRC_CORE_MAP_ORDER_H_
#define KGEN_SRC_CORE_MAP_ORDER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "kgen/core/map.h"

namespace kgen::detail {

struct alignas(8) MapOrder {
  std::uint32_t size;
  std::uint32_t capacity;
  bool accessed;  // the map itself was created by operator[], and not changed since

  // Entry pointers with marks in the low bits, which are zero in a pointer that is aligned to 8 bytes.
  static constexpr std::uintptr_t kAccessed = 1;  // operator[] created the entry
  static constexpr std::uintptr_t kNull = 2;      // was received as `null`, and is written as null while it is unset
  std::uintptr_t* entries() noexcept { return reinterpret_cast<std::uintptr_t*>(this + 1); }
  const std::uintptr_t* entries() const noexcept { return reinterpret_cast<const std::uintptr_t*>(this + 1); }
  void* entry(std::size_t i) const noexcept { return std::bit_cast<void*>(entries()[i] & ~(kAccessed | kNull)); }
  bool marked(std::size_t i, std::uintptr_t mark) const noexcept { return (entries()[i] & mark) != 0; }
};

inline bool IsPacked(const MapBlock* map, const void* entry, const ValueType& type) noexcept {
  const char* p = static_cast<const char*>(entry);
  const char* end = map->packed() + map->word * EntrySize(type);
  return !std::less<const char*>()(p, map->packed()) && std::less<const char*>()(p, end);
}

template <typename Visit>
void ForEachEntryOfItsOwn(const MapBlock* map, const ValueType& type, const Visit& visit) {
  if (map->order == nullptr) return;
  for (std::uint32_t i = 0; i < map->order->size; ++i) {
    if (void* entry = map->order->entry(i); !IsPacked(map, entry, type)) visit(entry);
  }
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_MAP_ORDER_H_
