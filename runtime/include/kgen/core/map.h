// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Map<T>: the string-keyed map of generated structs (labels, annotations, data). 8 bytes when absent.
//
//   pod.metadata.labels["app"] = "web";                  creates the map and the entry
//   if (pod.metadata.labels["app"] == "web") ...         on a const Pod: "" when the entry, or the map, is missing
//   for (const auto& [key, value] : pod.metadata.labels) ...                      in byte order of the keys
//   map.emplace();                                       present and empty: `{}` on the wire
//   map.reset();                                         absent
//
// References are stable: a reference to a value stays valid until its key is erased or the map is destroyed, so
// `labels["c"] = labels["a"]` is safe. Iterators are positions, unlike std::map's: an insertion or erasure before one
// makes it refer to another entry, and the first insertion into an absent map invalidates it.
//
// Reading does not change a map: an entry that a non-const map[key] created and in which nothing was set is not written
// and makes no difference in comparisons, though size() and iteration show it. That holds for `map["a"] = {}` of
// structs too; a present, empty struct is insert_or_assign("a", {}). For numbers and bool, map[key] is a Slot, which
// creates an entry only when it is assigned. An entry whose text was reset() is not written either.
//
// A decoded map is one packed, sorted block; the first insertion or erasure puts an order table beside it.
//
// Thread safety: as a standard container; non-const operator[] is a write.
#ifndef KGEN_CORE_MAP_H_
#define KGEN_CORE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/core/memory.h"
#include "kgen/core/string.h"
#include "kgen/core/value.h"
#include "kgen/core/value_type.h"

namespace kgen {

// An entry, as iteration yields it. The members have the names of std::map's elements.
template <typename T>
struct MapEntry {
  const String first;  // the key
  T second;            // the value
};

namespace detail {

// The order of the entries once a map was changed: pointers in key order, to packed and to separate entries.
struct MapOrder;

// The header's word is the number of packed entries, live or erased. An entry is a String and then the value, at
// 16 bytes. (One entry is EntrySize(type) bytes, a multiple of 8.)
struct MapBlock : BlockHeader {
  MapOrder* order;  // null while the map is just the packed, sorted entries
  char* packed() noexcept { return reinterpret_cast<char*>(this + 1); }
  const char* packed() const noexcept { return reinterpret_cast<const char*>(this + 1); }
};
static_assert(sizeof(MapBlock) == 16);

constexpr std::size_t EntrySize(const ValueType& type) noexcept { return (16 + std::size_t{type.size} + 7) / 8 * 8; }

MapBlock* NewMap();                                             // empty
MapBlock* CopyMap(const MapBlock* map, const ValueType& type);  // deep, packed; null gives null
void ReleaseMap(MapBlock* map, const ValueType& type) noexcept;
bool EqualMap(const MapBlock* a, const MapBlock* b, const ValueType& type) noexcept;
std::size_t MapSize(const MapBlock* map) noexcept;                               // 0 for null
void* MapEntryAt(MapBlock* map, std::size_t i, const ValueType& type) noexcept;  // in key order
// Returns the entry of that key, or null.
void* MapFind(MapBlock* map, std::string_view key, const ValueType& type) noexcept;
// Returns the first index whose key is not less than `key`.
std::size_t MapLowerBound(const MapBlock* map, std::string_view key, const ValueType& type) noexcept;
// Returns the entry of that key, which it creates with a default value if it is missing. `accessed` marks a new one as
// created by operator[].
void* MapFindOrInsert(MapBlock*& map, const String& key, const ValueType& type, bool accessed);
void MapErase(MapBlock* map, std::size_t i, const ValueType& type);
void MapClear(MapBlock* map, const ValueType& type) noexcept;
// Returns false for an entry that operator[] created and in which nothing was ever set. Encoding and comparison use it.
bool MapEntryCounts(const MapBlock* map, std::size_t i, const ValueType& type) noexcept;
// Returns false for null, and for a map that only operator[] created and in which no entry counts.
bool MapHasValue(const MapBlock* map, const ValueType& type) noexcept;

}  // namespace detail

// A map from text to T, in byte order of the keys, or absent.
template <typename T>
class Map {
  template <bool is_const>
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = MapEntry<T>;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<is_const, const MapEntry<T>&, MapEntry<T>&>;
    using pointer = std::conditional_t<is_const, const MapEntry<T>*, MapEntry<T>*>;

    Iterator() = default;
    Iterator(detail::MapBlock* block, std::size_t index) : block_(block), index_(index) {}
    operator Iterator<true>() const { return {block_, index_}; }

    reference operator*() const { return *static_cast<pointer>(detail::MapEntryAt(block_, index_, kTypeOf<T>)); }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator++() { return ++index_, *this; }
    Iterator& operator--() { return --index_, *this; }
    Iterator operator++(int) { return {block_, index_++}; }
    Iterator operator--(int) { return {block_, index_--}; }
    Iterator& operator+=(difference_type n) { return index_ += static_cast<std::size_t>(n), *this; }
    Iterator& operator-=(difference_type n) { return index_ -= static_cast<std::size_t>(n), *this; }
    friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.index_) - static_cast<difference_type>(b.index_);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.index_ <=> b.index_; }

   private:
    friend class Map;
    detail::MapBlock* block_ = nullptr;
    std::size_t index_ = 0;
  };

 public:
  using key_type = String;
  using mapped_type = T;
  using value_type = MapEntry<T>;
  using size_type = std::size_t;
  using iterator = Iterator<false>;
  using const_iterator = Iterator<true>;

  // An element of an initializer list: {"tier", "gold"}.
  struct Item {
    String key;  // the key
    T value;
  };

  // The type of map[key] for numbers and bool. It reads as the value, zero if there is none; assigning creates the
  // entry. It is valid as long as the map.
  class Slot {
   public:
    Slot(const Slot&) = default;
    operator T() const noexcept { return std::as_const(map_)[key_]; }
    const Slot& operator=(T value) const { return map_.insert_or_assign(key_, value), *this; }
    // Const, because it assigns to the entry and not to the Slot.
    const Slot& operator=(const Slot& other) const { return *this = static_cast<T>(other); }
    const Slot& operator+=(T by) const { return *this = static_cast<T>(*this + by); }
    const Slot& operator-=(T by) const { return *this = static_cast<T>(*this - by); }
    const Slot& operator++() const { return *this += T{1}; }
    const Slot& operator--() const { return *this -= T{1}; }

   private:
    friend class Map;
    Slot(Map& map, std::string_view key) : map_(map), key_(key) {}
    Map& map_;
    String key_;
  };

  constexpr Map() noexcept = default;               // absent
  Map(std::initializer_list<Item> items) : Map() {  // of two items with one key the last wins
    for (const Item& item : items) insert_or_assign(item.key, item.value);
  }
  Map(const Map& other) : block_(detail::CopyMap(other.block_, kTypeOf<T>)) {}
  Map(Map&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  ~Map() {
    if (block_ != nullptr) detail::ReleaseMap(block_, kTypeOf<T>);
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): the copy is made first
  Map& operator=(const Map& other) { return *this = Map(other); }
  Map& operator=(Map&& other) noexcept {
    Map moved(std::move(other));
    std::swap(block_, moved.block_);
    return *this;
  }
  Map& operator=(std::initializer_list<Item> items) { return *this = Map(items); }

  // Presence: whether the member is on the wire. A map that only a non-const map[key] created, and in which nothing was
  // set, is absent.
  bool has_value() const noexcept { return detail::MapHasValue(block_, kTypeOf<T>); }
  void reset() noexcept { Map moved(std::move(*this)); }
  Map& emplace() {  // present and empty
    reset();
    block_ = detail::NewMap();
    return *this;
  }

  std::size_t size() const noexcept { return detail::MapSize(block_); }
  bool empty() const noexcept { return size() == 0; }
  iterator begin() noexcept { return {block_, 0}; }
  iterator end() noexcept { return {block_, size()}; }
  const_iterator begin() const noexcept { return {block_, 0}; }
  const_iterator end() const noexcept { return {block_, size()}; }

  const T& operator[](std::string_view key) const noexcept KGEN_LIFETIMEBOUND {
    const MapEntry<T>* entry = Entry(key);
    return entry != nullptr ? entry->second : detail::Empty<T>();
  }
  T& operator[](std::string_view key)
    requires(!std::is_arithmetic_v<T>)
  {
    return static_cast<MapEntry<T>*>(detail::MapFindOrInsert(block_, String(key), kTypeOf<T>, true))->second;
  }
  Slot operator[](std::string_view key)
    requires std::is_arithmetic_v<T>
  {
    return Slot(*this, key);
  }
  iterator find(std::string_view key) noexcept { return {block_, Index(key)}; }
  const_iterator find(std::string_view key) const noexcept { return {block_, Index(key)}; }
  bool contains(std::string_view key) const noexcept { return Entry(key) != nullptr; }
  std::size_t count(std::string_view key) const noexcept { return contains(key) ? 1 : 0; }

  T& insert_or_assign(std::string_view key, T value) {
    T& target = static_cast<MapEntry<T>*>(detail::MapFindOrInsert(block_, String(key), kTypeOf<T>, false))->second;
    target = std::move(value);
    return target;
  }
  std::size_t erase(std::string_view key) {
    const std::size_t i = Index(key);
    if (i == size()) return 0;
    detail::MapErase(block_, i, kTypeOf<T>);
    return 1;
  }
  // Erase entries, and return the position after them.
  iterator erase(const_iterator position) {
    detail::MapErase(block_, position.index_, kTypeOf<T>);
    return {block_, position.index_};
  }
  iterator erase(const_iterator first, const_iterator last) {
    for (std::size_t i = last.index_; i > first.index_; --i) detail::MapErase(block_, i - 1, kTypeOf<T>);
    return {block_, first.index_};
  }
  void clear() noexcept {  // a present map stays present
    if (block_ != nullptr) detail::MapClear(block_, kTypeOf<T>);
  }
  void swap(Map& other) noexcept { std::swap(block_, other.block_); }

 private:
  friend struct detail::BlockAccess;

  MapEntry<T>* Entry(std::string_view key) const noexcept {
    return block_ == nullptr ? nullptr : static_cast<MapEntry<T>*>(detail::MapFind(block_, key, kTypeOf<T>));
  }
  std::size_t Index(std::string_view key) const noexcept {
    if (Entry(key) == nullptr) return size();
    return detail::MapLowerBound(block_, key, kTypeOf<T>);
  }

  detail::MapBlock* block_ = nullptr;
};

template <typename T>
bool operator==(const Map<T>& a, const Map<T>& b) noexcept {
  return detail::EqualMap(detail::BlockAccess::Of(a), detail::BlockAccess::Of(b), kTypeOf<T>);
}

// Works as std::erase_if for a std::map: returns the number of erased entries. A present map stays present.
template <typename T, typename Predicate>
std::size_t erase_if(Map<T>& map, Predicate predicate) {
  const std::size_t before = map.size();
  for (auto it = map.end(); it != map.begin();) {  // from the end, so that fewer entries move
    --it;
    if (predicate(std::as_const(*it))) it = map.erase(it);
  }
  return before - map.size();
}

// Prints the map as YAML, or "absent". PrintTo is for GoogleTest, which would print a container in its own way.
template <typename T>
std::ostream& operator<<(std::ostream& os, const Map<T>& map) {
  return detail::PrintValue(os, &map, kTypeOf<Map<T>>);
}
template <typename T>
std::ostream& operator<<(std::ostream& os, const MapEntry<T>& entry) {
  return detail::PrintEntry(os, &entry, kTypeOf<T>);
}
template <typename T>
void PrintTo(const Map<T>& map, std::ostream* os) {
  *os << map;
}

}  // namespace kgen

#endif  // KGEN_CORE_MAP_H_
