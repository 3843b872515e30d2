// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/map.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/blocks.h"
#include "core/map_order.h"

namespace kgen::detail {
namespace {

constexpr std::size_t kLinearUpTo = 16;  // entries; above, binary search

void ConstructEntry(void* entry, const ValueType& type) {
  ::new (entry) String();
  ConstructEmpty(ValueOf(entry), type);
}

void DestroyEntry(void* entry, const ValueType& type) noexcept {
  KeyOf(entry).~String();
  DestroyValue(ValueOf(entry), type);
}

void RelocateEntry(void* to, void* from, const ValueType& type) noexcept {
  Relocate(to, from, 1, kTypeOf<String>);
  Relocate(ValueOf(to), ValueOf(from), 1, type);
}

void* PackedAt(void* entries, std::size_t i, const ValueType& type) noexcept {
  return static_cast<char*>(entries) + i * EntrySize(type);
}

bool IsSorted(void* entries, std::size_t count, const ValueType& type) noexcept {
  for (std::size_t i = 1; i < count; ++i) {
    if (KeyOf(PackedAt(entries, i - 1, type)).view() >= KeyOf(PackedAt(entries, i, type)).view()) return false;
  }
  return true;
}

// Moves entries out of `entries`, where their lifetime ends, into a map in key order. Of equal keys the last one wins.
MapBlock* Sorted(void* entries, std::size_t count, const ValueType& type) {
  std::vector<void*> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = PackedAt(entries, i, type);
  std::sort(order.begin(), order.end(), [](const void* a, const void* b) {
    const int by_key = KeyOf(a).compare(KeyOf(b));
    return by_key != 0 ? by_key < 0 : std::less<>()(a, b);  // of equal keys the later one comes last
  });
  std::size_t distinct = count == 0 ? 0 : 1;
  for (std::size_t i = 1; i < count; ++i) distinct += KeyOf(order[i - 1]) != KeyOf(order[i]);

  MapBlock* map = NewPackedMap(distinct, type);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + 1 < count && KeyOf(order[i]) == KeyOf(order[i + 1])) {
      DestroyEntry(order[i], type);
    } else {
      RelocateEntry(PackedAt(map->packed(), map->word++, type), order[i], type);
    }
  }
  return map;
}

MapOrder* NewOrder(std::size_t capacity) {
  void* memory = Allocate(sizeof(MapOrder) + capacity * sizeof(std::uintptr_t));
  return ::new (memory) MapOrder{0, static_cast<std::uint32_t>(capacity), false};
}

// Returns the order table with room for one more entry. Creates it if there is none.
MapOrder& Ordered(MapBlock* map, const ValueType& type) {
  MapOrder* old = map->order;
  if (old != nullptr && old->size < old->capacity) return *old;
  const std::size_t size = MapSize(map);
  if (size >= std::numeric_limits<std::uint32_t>::max() / 2) throw std::length_error("kgen::Map: too many entries");
  MapOrder* order = NewOrder(size < 4 ? 6 : size * 2);
  for (std::size_t i = 0; i < size; ++i) {
    order->entries()[i] =
        old != nullptr ? old->entries()[i] : reinterpret_cast<std::uintptr_t>(PackedAt(map->packed(), i, type));
  }
  order->size = static_cast<std::uint32_t>(size);
  order->accessed = old != nullptr && old->accessed;
  map->order = order;
  Free(old);
  return *order;
}

void* NewEntry(const String& key, const ValueType& type) {
  void* entry = Allocate(EntrySize(type));
  ::new (entry) String(key);
  ConstructEmpty(ValueOf(entry), type);
  return entry;
}

// True for an unset value, such as a text, a time or a list: there is nothing to write.
bool IsUnset(const void* value, const ValueType& type) noexcept {
  if (type.kind == ValueKind::kList) return ListOf(value) == nullptr;
  if (type.kind == ValueKind::kMap) return MapOf(value) == nullptr;
  return !ValueIsSet(value, type.kind);
}

// True for a value that could be written, but in which nothing was ever set.
bool IsUntouched(const void* value, const ValueType& type) noexcept {
  if (type.kind == ValueKind::kStruct) return IsEmptyStruct(value, *type.table);
  return type.kind == ValueKind::kMap && !MapHasValue(MapOf(value), *type.element);
}

}  // namespace

MapBlock* NewPackedMap(std::size_t capacity, const ValueType& type) {
  if (capacity > std::numeric_limits<std::uint32_t>::max() / 2) throw std::length_error("kgen::Map: too many entries");
  return ::new (Allocate(sizeof(MapBlock) + capacity * EntrySize(type))) MapBlock{{{1}, 0}, nullptr};
}

MapBlock* NewMap() { return ::new (Allocate(sizeof(MapBlock))) MapBlock{{{1}, 0}, nullptr}; }

void* AppendEntry(MapBlock* map, const ValueType& type) {
  void* entry = PackedAt(map->packed(), map->word, type);
  ConstructEntry(entry, type);
  ++map->word;
  return entry;
}

MapBlock* SortPackedMap(MapBlock* map, const ValueType& type) {
  if (map == nullptr || IsSorted(map->packed(), map->word, type)) return map;
  MapBlock* sorted = Sorted(map->packed(), map->word, type);
  Free(map);
  return sorted;
}

MapBlock* NewPackedMapFrom(void* entries, std::size_t count, const ValueType& type) {
  if (!IsSorted(entries, count, type)) return Sorted(entries, count, type);
  MapBlock* map = NewPackedMap(count, type);
  for (std::size_t i = 0; i < count; ++i) {
    RelocateEntry(PackedAt(map->packed(), i, type), PackedAt(entries, i, type), type);
  }
  map->word = static_cast<std::uint32_t>(count);
  return map;
}

void KeepNulls(MapBlock* map, const ValueType& type) {
  MapOrder& order = Ordered(map, type);
  for (std::uint32_t i = 0; i < order.size; ++i) {
    if (IsUnset(ValueOf(order.entry(i)), type)) order.entries()[i] |= MapOrder::kNull;
  }
}

MapBlock* CopyMap(const MapBlock* map, const ValueType& type) {
  if (!MapHasValue(map, type)) return nullptr;
  const std::size_t size = MapSize(map);
  MapBlock* copy = NewPackedMap(size, type);
  bool nulls = false;
  try {
    for (std::size_t i = 0; i < size; ++i) {
      if (map->order != nullptr && !MapEntryCounts(map, i, type)) continue;
      const void* from = MapEntryAt(map, i, type);
      void* to = PackedAt(copy->packed(), copy->word, type);
      CopyValue(ValueOf(to), ValueOf(from), type);
      ::new (to) String(KeyOf(from));
      ++copy->word;
      nulls = nulls || (map->order != nullptr && map->order->marked(i, MapOrder::kNull));
    }
    if (nulls) KeepNulls(copy, type);
  } catch (...) {
    ReleaseMap(copy, type);
    throw;
  }
  return copy;
}

std::size_t MapSize(const MapBlock* map) noexcept {
  if (map == nullptr) return 0;
  return map->order != nullptr ? map->order->size : map->word;
}

void* MapEntryAt(MapBlock* map, std::size_t i, const ValueType& type) noexcept {
  return map->order != nullptr ? map->order->entry(i) : PackedAt(map->packed(), i, type);
}

std::size_t MapLowerBound(const MapBlock* map, std::string_view key, const ValueType& type) noexcept {
  std::size_t first = 0;
  std::size_t count = MapSize(map);
  while (count > 0) {
    const std::size_t half = count / 2;
    if (KeyOf(MapEntryAt(map, first + half, type)).view() < key) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

void* MapFind(MapBlock* map, std::string_view key, const ValueType& type) noexcept {
  const std::size_t size = MapSize(map);
  if (size <= kLinearUpTo) {
    for (std::size_t i = 0; i < size; ++i) {
      void* entry = MapEntryAt(map, i, type);
      if (KeyOf(entry).view() == key) return entry;
    }
    return nullptr;
  }
  const std::size_t i = MapLowerBound(map, key, type);
  if (i == size) return nullptr;
  void* entry = MapEntryAt(map, i, type);
  return KeyOf(entry).view() == key ? entry : nullptr;
}

void* MapFindOrInsert(MapBlock*& map, const String& key, const ValueType& type, bool accessed) {
  const std::string_view text = key.view();
  const std::size_t at = MapLowerBound(map, text, type);
  if (at < MapSize(map) && KeyOf(MapEntryAt(map, at, type)).view() == text) {
    if (!accessed && map->order != nullptr) {
      map->order->entries()[at] &= ~(MapOrder::kAccessed | MapOrder::kNull);
      map->order->accessed = false;
    }
    return MapEntryAt(map, at, type);
  }
  const bool is_new = map == nullptr;
  if (is_new) map = NewMap();
  try {
    MapOrder& order = Ordered(map, type);
    void* entry = NewEntry(key, type);
    std::uintptr_t* entries = order.entries();
    std::copy_backward(entries + at, entries + order.size, entries + order.size + 1);
    entries[at] = reinterpret_cast<std::uintptr_t>(entry) | (accessed ? MapOrder::kAccessed : 0);
    ++order.size;
    order.accessed = accessed && (is_new || order.accessed);
    return entry;
  } catch (...) {
    if (is_new) ReleaseMap(std::exchange(map, nullptr), type);
    throw;
  }
}

void MapErase(MapBlock* map, std::size_t i, const ValueType& type) {
  const bool counts = MapEntryCounts(map, i, type);
  MapOrder& order = Ordered(map, type);
  void* entry = order.entry(i);
  if (counts) order.accessed = false;  // removing an entry is a change: an empty map remains
  std::uintptr_t* entries = order.entries();
  std::copy(entries + i + 1, entries + order.size, entries + i);
  --order.size;
  DestroyEntry(entry, type);
  if (IsPacked(map, entry, type)) {
    ConstructEntry(entry, type);
  } else {
    Free(entry);
  }
}

void MapClear(MapBlock* map, const ValueType& type) noexcept {
  MapOrder* order = map->order;
  const bool stays_absent = !MapHasValue(map, type);
  ForEachEntryOfItsOwn(map, type, [&](void* entry) {
    DestroyEntry(entry, type);
    Free(entry);
  });
  for (std::uint32_t i = 0; i < map->word; ++i) DestroyEntry(PackedAt(map->packed(), i, type), type);
  map->word = 0;
  if (order == nullptr) return;
  order->size = 0;
  order->accessed = stays_absent;
}

bool MapEntryCounts(const MapBlock* map, std::size_t i, const ValueType& type) noexcept {
  const void* entry = MapEntryAt(map, i, type);
  const void* value = ValueOf(entry);
  const MapOrder* order = map->order;
  if (IsUnset(value, type)) return order != nullptr && order->marked(i, MapOrder::kNull);
  return order == nullptr || !order->marked(i, MapOrder::kAccessed) || !IsUntouched(value, type);
}

bool MapHasValue(const MapBlock* map, const ValueType& type) noexcept {
  if (map == nullptr) return false;
  if (map->order == nullptr || !map->order->accessed) return true;
  for (std::size_t i = 0; i < MapSize(map); ++i) {
    if (MapEntryCounts(map, i, type)) return true;
  }
  return false;
}

}  // namespace kgen::detail
