// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private to the runtime: the internals of blocks, for the interpreter (core/value.cc) and the codec.
//
// The public headers declare how a block is held. This one declares how a block is filled in place, sorted and shared,
// and how to tell whether a value is present. All functions take erased values: `member` is the address of a field of a
// struct (base + Field::offset), `value` the address of a list's or map's element.
//
// How the decoder fills a block:
//   list   block = NewList(n, type)
//          slot = AppendElement(block, type), and decode into *slot; for each element
//          block = ShrinkList(block, type)
//   map    block = NewPackedMap(n, type)
//          entry = AppendEntry(block, type), and decode into KeyOf(entry) and ValueOf(entry); for each entry
//          block = SortPackedMap(block, type)
//   box    block = NewBox(table, false), and decode into block->object()
// At any point Release{List,Map,Box} frees everything that was appended, so an error path is one call.
//
// To share a block, call AddRef(block) and store the pointer a second time. Only below objects that become Ref<const
// T>.
#ifndef KGEN_SRC_CORE_BLOCKS_H_
#define KGEN_SRC_CORE_BLOCKS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kgen/core/json.h"
#include "kgen/core/list.h"
#include "kgen/core/map.h"
#include "kgen/core/memory.h"
#include "kgen/core/optional.h"
#include "kgen/core/quantity.h"
#include "kgen/core/string.h"
#include "kgen/core/time.h"
#include "kgen/core/type_table.h"
#include "kgen/core/unknown_fields.h"
#include "kgen/core/value.h"
#include "kgen/core/value_type.h"

namespace kgen::detail {

// ---- The one pointer inside Optional<struct>, List and Map (standard layout, one member). ----

inline BoxBlock*& BoxOf(void* member) noexcept { return *static_cast<BoxBlock**>(member); }
inline const BoxBlock* BoxOf(const void* member) noexcept { return *static_cast<BoxBlock* const*>(member); }
inline ListBlock*& ListOf(void* member) noexcept { return *static_cast<ListBlock**>(member); }
inline const ListBlock* ListOf(const void* member) noexcept { return *static_cast<ListBlock* const*>(member); }
inline MapBlock*& MapOf(void* member) noexcept { return *static_cast<MapBlock**>(member); }
inline const MapBlock* MapOf(const void* member) noexcept { return *static_cast<MapBlock* const*>(member); }

inline void* MemberOf(void* object, const Field& field) noexcept { return static_cast<char*>(object) + field.offset; }
inline const void* MemberOf(const void* object, const Field& field) noexcept {
  return static_cast<const char*>(object) + field.offset;
}
inline UnknownFields& UnknownOf(void* object, const TypeTable& table) noexcept {
  return *reinterpret_cast<UnknownFields*>(static_cast<char*>(object) + table.unknown_offset);
}
inline const UnknownFields& UnknownOf(const void* object, const TypeTable& table) noexcept {
  return *reinterpret_cast<const UnknownFields*>(static_cast<const char*>(object) + table.unknown_offset);
}

// ---- Values as bytes. ----
//
// Every value type of kgen is empty when its bytes are zero, and none contains a pointer into itself. So values are
// created by zeroing memory and moved by copying it, without code for each type.

inline void ConstructEmpty(void* to, const ValueType& type) noexcept { std::memset(to, 0, type.size); }
inline void ConstructEmpty(void* to, const TypeTable& table) noexcept { std::memset(to, 0, table.size); }
// Moves `count` values that lie side by side into other memory, and ends their lifetime where they were.
inline void Relocate(void* to, const void* from, std::size_t count, const ValueType& type) noexcept {
  std::memcpy(to, from, count * type.size);
}

// ---- Lists. ----

inline void* ElementAt(ListBlock* list, std::size_t i, const ValueType& type) noexcept {
  return static_cast<char*>(list->elements()) + i * type.size;
}
inline const void* ElementAt(const ListBlock* list, std::size_t i, const ValueType& type) noexcept {
  return static_cast<const char*>(list->elements()) + i * type.size;
}
// Appends a default element and counts it. `list` may be null and is replaced when it is full.
inline void* AppendElement(ListBlock*& list, const ValueType& type) {
  if (list == nullptr || list->word == list->capacity) {
    list = ReserveList(list, list == nullptr ? 4 : std::size_t{list->capacity} * 2 + 2, type);
  }
  void* slot = ElementAt(list, list->word, type);
  ConstructEmpty(slot, type);
  ++list->word;
  return slot;
}
// Returns the same elements in a block without spare room. Consumes the argument.
ListBlock* ShrinkList(ListBlock* list, const ValueType& type);
// Returns a block without spare room, with `count` elements moved out of scratch memory. Their lifetime there ends.
ListBlock* NewListFrom(void* elements, std::size_t count, const ValueType& type);

// ---- Maps. ----

inline String& KeyOf(void* entry) noexcept { return *static_cast<String*>(entry); }
inline const String& KeyOf(const void* entry) noexcept { return *static_cast<const String*>(entry); }
inline void* ValueOf(void* entry) noexcept { return static_cast<char*>(entry) + sizeof(String); }
inline const void* ValueOf(const void* entry) noexcept { return static_cast<const char*>(entry) + sizeof(String); }

// Returns a map without entries and with room for `capacity`. The caller tracks the capacity.
MapBlock* NewPackedMap(std::size_t capacity, const ValueType& type);
// Appends and counts an entry with an unset key and a default value. Only within the capacity.
void* AppendEntry(MapBlock* map, const ValueType& type);
// Turns a packed block into a map: sorts it by the bytes of the keys and removes duplicates (the last one wins). The
// argument is consumed; it is the result if it was already sorted, as Go servers write maps.
MapBlock* SortPackedMap(MapBlock* map, const ValueType& type);
// Returns a map without spare room, with `count` entries moved out of scratch memory, where their lifetime ends. They
// are EntrySize apart, may be in any order, and may contain duplicates.
MapBlock* NewPackedMapFrom(void* entries, std::size_t count, const ValueType& type);
// Marks the unset values of a decoded map as received as `null`, so that they are written as null. Other unset values
// are not written.
void KeepNulls(MapBlock* map, const ValueType& type);

inline const void* MapEntryAt(const MapBlock* map, std::size_t i, const ValueType& type) noexcept {
  return MapEntryAt(const_cast<MapBlock*>(map), i, type);
}

// ---- Presence: what the encoder writes and what comparison sees. ----

// Returns false if the value is of kString to kJson and unset, otherwise true.
inline bool ValueIsSet(const void* value, ValueKind kind) noexcept {
  switch (kind) {
    case ValueKind::kString:
    case ValueKind::kDuration:
    case ValueKind::kQuantity:
    case ValueKind::kIntOrString:
    case ValueKind::kBytes:
    case ValueKind::kJson:
      return static_cast<const char*>(value)[15] != 0;  // String's tag
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
      return *static_cast<const std::uint64_t*>(value) != 0;
    default:
      return true;
  }
}

// True if the encoder writes this member. `metadata` (kStruct) counts unless it is empty.
inline bool MemberIsPresent(const void* member, const Field& field) noexcept {
  switch (field.kind) {
    case ValueKind::kBool:
      return static_cast<const Optional<bool>*>(member)->has_value();
    case ValueKind::kInt32:
      return static_cast<const Optional<std::int32_t>*>(member)->has_value();
    case ValueKind::kInt64:
      return static_cast<const Optional<std::int64_t>*>(member)->has_value();
    case ValueKind::kDouble:
      return static_cast<const Optional<double>*>(member)->has_value();
    case ValueKind::kStruct:
      return !IsEmptyStruct(member, *field.table());
    case ValueKind::kBox:
      return BoxOf(member) != nullptr && BoxHasValue(BoxOf(member), *field.table());
    case ValueKind::kList:
      return ListOf(member) != nullptr;
    case ValueKind::kMap:
      return MapOf(member) != nullptr && MapHasValue(MapOf(member), *field.element());
    default:
      return ValueIsSet(member, field.kind);
  }
}

// ---- Unknown fields, and the notes that the decoder keeps with them. ----
//
// The word of UnknownFields is one of
//   0                      nothing
//   a pointer              a list of UnknownField; the first `hidden` ones are notes
//   bit 0 set              marks: bits 1 to 15 identify the table, bit 16 + i is set if member i was `null`
// Most structs with notes have only nulls (Go writes `creationTimestamp: null` in each pod template and condition), so
// nulls are marks, which need no memory. A note holds, in place of the name, the raw text of a known member as it was
// received, and, in place of the value, table and index of the member. The text is "null", or a number (or a list or
// map of numbers) whose value does not determine its spelling. Marks and notes are bound to a table, because a user may
// assign the unknown fields of one type to another; there they have no effect.

static_assert(sizeof(std::uintptr_t) == 8);
inline constexpr std::size_t kMarks = 48;  // members that can have a mark; others have a note

inline std::uintptr_t& UnknownWord(UnknownFields& unknown) noexcept {
  return *reinterpret_cast<std::uintptr_t*>(&unknown);
}
inline std::uintptr_t UnknownWord(const UnknownFields& unknown) noexcept {
  return *reinterpret_cast<const std::uintptr_t*>(&unknown);
}
// The list, if there is one.
inline ListBlock* UnknownList(std::uintptr_t word) noexcept {
  return (word & 1) == 0 ? reinterpret_cast<ListBlock*>(word) : nullptr;
}
// The low 16 bits of marks of that table. Not unique, but the worst effect of a collision is a superfluous `null`.
inline std::uintptr_t TableMark(const TypeTable& table) noexcept {
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(&table) * TypeTable::kHashMultiplier;
  return (mixed >> 48 & 0xFFFE) | 1;
}
std::uintptr_t CopyUnknown(std::uintptr_t word);
// Returns the list of `unknown` for appending, or null if there is nothing in it. Marks become notes.
ListBlock* UnknownListFor(UnknownFields& unknown);
UnknownField MakeNote(std::uintptr_t table_mark, std::size_t member, String raw);
// The member of a note, or null if the note belongs to another table.
const Field* NotedMember(const UnknownField& note, const TypeTable& table) noexcept;
// True if both hold the same fields.
bool SameFields(const UnknownFields& a, const UnknownFields& b) noexcept;

// Calls `visit` with each member that was received as `null`, is not nullable (nulls of nullable members are among the
// unknown fields) and still has no value.
template <typename Visit>
void ForEachSentNull(const void* object, const TypeTable& table, const Visit& visit) {
  if (table.unknown_offset == TypeTable::kNoUnknown) return;
  const std::uintptr_t word = UnknownWord(UnknownOf(object, table));
  if (word == 0) return;
  const auto tell = [&](const Field& field) {
    if (!MemberIsPresent(MemberOf(object, field), field)) visit(field);
  };
  if (const ListBlock* list = UnknownList(word); list != nullptr) {
    const auto* notes = static_cast<const UnknownField*>(list->elements());
    for (std::size_t i = 0; i < list->hidden; ++i) {
      const Field* field = notes[i].name == "null" ? NotedMember(notes[i], table) : nullptr;
      if (field != nullptr) tell(*field);
    }
  } else if ((word & 0xFFFF) == TableMark(table)) {
    for (std::uintptr_t left = word >> 16; left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      if (i < table.field_count) tell(table.field_data[i]);
    }
  }
}

// True for an unknown field that is not written because the member of that name now has a value: the user has replaced
// a field of the wrong type, or a null. A field without a name is replaced as soon as anything in the struct is set.
bool IsReplaced(const UnknownField& unknown, const void* object, const TypeTable& table) noexcept;

// ---- Resetting to the default state, which frees everything owned. ----

void ResetMember(void* member, const Field& field) noexcept;
void ResetStruct(void* object, const TypeTable& table) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_BLOCKS_H_
