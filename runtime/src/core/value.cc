// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Copy and destroy. Compare and hash are in compare.cc.
#include "kgen/core/value.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "core/blocks.h"
#include "core/map_order.h"

namespace kgen::detail {
namespace {

// Destroys values with bounded use of the stack: blocks below kMaxDepth are queued in a list and destroyed later.
// Decoded values are never that deep, but user code may build a linked list of a million boxes.
class Destroyer {
 public:
  Destroyer() = default;
  Destroyer(const Destroyer&) = delete;
  Destroyer& operator=(const Destroyer&) = delete;
  ~Destroyer() {
    while (!waiting_.empty()) {
      const Waiting next = waiting_.back();
      waiting_.pop_back();
      next.destroy(*this, next.block, next.type);
    }
  }

  void Box(BoxBlock* box, const TypeTable& table) noexcept {
    if (!DropRef(box)) return;
    Enter(box, &table, [](Destroyer& self, BlockHeader* block, const void* type) noexcept {
      self.Struct(static_cast<BoxBlock*>(block)->object(), *static_cast<const TypeTable*>(type));
      Free(block);
    });
  }

  void List(ListBlock* list, const ValueType& type) noexcept {
    if (!DropRef(list)) return;
    Enter(list, &type, [](Destroyer& self, BlockHeader* block, const void* detail) noexcept {
      const auto& type = *static_cast<const ValueType*>(detail);
      auto* list = static_cast<ListBlock*>(block);
      for (std::uint32_t i = 0; i < list->word; ++i) self.Value(ElementAt(list, i, type), type);
      Free(list);
    });
  }

  void Map(MapBlock* map, const ValueType& type) noexcept {
    if (!DropRef(map)) return;
    Enter(map, &type, [](Destroyer& self, BlockHeader* block, const void* detail) noexcept {
      const auto& type = *static_cast<const ValueType*>(detail);
      auto* map = static_cast<MapBlock*>(block);
      ForEachEntryOfItsOwn(map, type, [&](void* entry) {
        self.Entry(entry, type);
        Free(entry);
      });
      for (std::uint32_t i = 0; i < map->word; ++i) self.Entry(map->packed() + i * EntrySize(type), type);
      Free(map->order);
      Free(map);
    });
  }

  void Struct(void* object, const TypeTable& table) noexcept {
    for (const Field& field : table) {
      void* member = MemberOf(object, field);
      if (!OwnsNothing(member, field.kind)) Member(member, field.kind, field.detail);
    }
    if (table.unknown_offset != TypeTable::kNoUnknown) {
      if (ListBlock* unknown = UnknownList(UnknownWord(UnknownOf(object, table))); unknown != nullptr) {
        List(unknown, kTypeOf<UnknownField>);
      }
    }
  }

  void Value(void* value, const ValueType& type) noexcept {
    const bool is_struct = type.kind == ValueKind::kStruct || type.kind == ValueKind::kBox;
    Member(value, type.kind, is_struct ? static_cast<const void*>(type.table) : type.element);
  }

 private:
  static constexpr int kMaxDepth = 200;
  using Destroy = void (*)(Destroyer&, BlockHeader*, const void* type) noexcept;
  struct Waiting {
    Destroy destroy;
    BlockHeader* block;
    const void* type;
  };

  void Entry(void* entry, const ValueType& type) noexcept {
    KeyOf(entry).~String();
    Value(ValueOf(entry), type);
  }

  // Most members of most structs are scalars, absent or short text: a few tests are faster than a jump for each.
  static bool OwnsNothing(const void* member, ValueKind kind) noexcept {
    constexpr unsigned char kTextBlock = 255;  // String's tag
    if (kind == ValueKind::kString) return static_cast<const unsigned char*>(member)[15] != kTextBlock;
    if (kind >= ValueKind::kBox) {  // a box, a list, a map: one pointer
      std::uintptr_t pointer;
      std::memcpy(&pointer, member, sizeof pointer);
      return pointer == 0;
    }
    return kind <= ValueKind::kDouble;
  }

  // Scalars have nothing to destroy. Absent members cost one test.
  [[gnu::always_inline]] inline void Member(void* member, ValueKind kind, const void* detail) noexcept {
    switch (kind) {
      case ValueKind::kString:
      case ValueKind::kDuration:
      case ValueKind::kQuantity:
      case ValueKind::kIntOrString:
      case ValueKind::kBytes:
      case ValueKind::kJson:
        static_cast<String*>(member)->~String();  // each of these types consists of one String
        break;
      case ValueKind::kTime:
      case ValueKind::kMicroTime:
        static_cast<TimeWord*>(member)->~TimeWord();
        break;
      case ValueKind::kStruct:
        Struct(member, *static_cast<const TypeTable*>(detail));
        break;
      case ValueKind::kBox:
        if (BoxOf(member) != nullptr) Box(BoxOf(member), *static_cast<const TypeTable*>(detail));
        break;
      case ValueKind::kList:
        if (ListOf(member) != nullptr) List(ListOf(member), *static_cast<const ValueType*>(detail));
        break;
      case ValueKind::kMap:
        if (MapOf(member) != nullptr) Map(MapOf(member), *static_cast<const ValueType*>(detail));
        break;
      default:
        break;
    }
  }

  void Enter(BlockHeader* block, const void* type, Destroy destroy) noexcept {
    if (depth_ == kMaxDepth && Wait({destroy, block, type})) return;
    ++depth_;
    destroy(*this, block, type);
    --depth_;
  }

  bool Wait(Waiting waiting) noexcept {
    try {
      waiting_.push_back(waiting);
      return true;
    } catch (...) {
      return false;  // out of memory for the list: use the stack
    }
  }

  int depth_ = 0;
  std::vector<Waiting> waiting_;
};

template <typename T>
void CopyTo(void* to, const void* from) {
  ::new (to) T(*static_cast<const T*>(from));
}

void FillStruct(void* to, const void* from, const TypeTable& table);

// Copies anything but a scalar to a default value, which owns nothing yet.
inline void Fill(void* to, const void* from, ValueKind kind, const void* detail) {
  switch (kind) {
    case ValueKind::kString:
    case ValueKind::kDuration:
    case ValueKind::kQuantity:
    case ValueKind::kIntOrString:
    case ValueKind::kBytes:
    case ValueKind::kJson:
      CopyTo<String>(to, from);  // each of these types consists of one String
      break;
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
      CopyTo<TimeWord>(to, from);
      break;
    case ValueKind::kStruct:
      FillStruct(to, from, *static_cast<const TypeTable*>(detail));
      break;
    case ValueKind::kBox:
      if (BoxOf(from) != nullptr) BoxOf(to) = CopyBox(BoxOf(from), *static_cast<const TypeTable*>(detail));
      break;
    case ValueKind::kList:
      if (ListOf(from) != nullptr) ListOf(to) = CopyList(ListOf(from), *static_cast<const ValueType*>(detail));
      break;
    case ValueKind::kMap:
      if (MapOf(from) != nullptr) MapOf(to) = CopyMap(MapOf(from), *static_cast<const ValueType*>(detail));
      break;
    default:
      break;
  }
}

// Scalars are Optional in members and bare in values.
inline void FillMember(void* to, const void* from, const Field& field) {
  switch (field.kind) {
    case ValueKind::kBool:
      return CopyTo<Optional<bool>>(to, from);
    case ValueKind::kInt32:
      return CopyTo<Optional<std::int32_t>>(to, from);
    case ValueKind::kInt64:
      return CopyTo<Optional<std::int64_t>>(to, from);
    case ValueKind::kDouble:
      return CopyTo<Optional<double>>(to, from);
    default:
      return Fill(to, from, field.kind, field.detail);
  }
}

void FillStruct(void* to, const void* from, const TypeTable& table) {
  for (const Field& field : table) FillMember(MemberOf(to, field), MemberOf(from, field), field);
  if (table.unknown_offset == TypeTable::kNoUnknown) return;
  const std::uintptr_t unknown = UnknownWord(UnknownOf(from, table));
  if (unknown != 0) UnknownWord(UnknownOf(to, table)) = CopyUnknown(unknown);
}

}  // namespace

void CopyStruct(void* to, const void* from, const TypeTable& table) {
  ConstructEmpty(to, table);
  try {
    FillStruct(to, from, table);
  } catch (...) {
    DestroyStruct(to, table);
    throw;
  }
}

void CopyValue(void* to, const void* from, const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBool:
      return CopyTo<bool>(to, from);
    case ValueKind::kInt32:
      return CopyTo<std::int32_t>(to, from);
    case ValueKind::kInt64:
      return CopyTo<std::int64_t>(to, from);
    case ValueKind::kDouble:
      return CopyTo<double>(to, from);
    case ValueKind::kStruct:
      return CopyStruct(to, from, *type.table);
    default:
      ConstructEmpty(to, type);
      return Fill(to, from, type.kind,
                  type.kind == ValueKind::kBox ? static_cast<const void*>(type.table) : type.element);
  }
}

void DestroyStruct(void* object, const TypeTable& table) noexcept { Destroyer().Struct(object, table); }

void DestroyValue(void* value, const ValueType& type) noexcept { Destroyer().Value(value, type); }

void ReleaseBox(BoxBlock* box, const TypeTable& table) noexcept {
  if (box != nullptr) Destroyer().Box(box, table);
}

void ReleaseList(ListBlock* list, const ValueType& type) noexcept {
  if (list != nullptr) Destroyer().List(list, type);
}

void ReleaseMap(MapBlock* map, const ValueType& type) noexcept {
  if (map != nullptr) Destroyer().Map(map, type);
}

void ResetMember(void* member, const Field& field) noexcept {
  switch (field.kind) {
    case ValueKind::kBool:
      return static_cast<Optional<bool>*>(member)->reset();
    case ValueKind::kInt32:
      return static_cast<Optional<std::int32_t>*>(member)->reset();
    case ValueKind::kInt64:
      return static_cast<Optional<std::int64_t>*>(member)->reset();
    case ValueKind::kDouble:
      return static_cast<Optional<double>*>(member)->reset();
    case ValueKind::kStruct:
      return ResetStruct(member, *field.table());
    case ValueKind::kBox:
      return ReleaseBox(std::exchange(BoxOf(member), nullptr), *field.table());
    case ValueKind::kList:
      return ReleaseList(std::exchange(ListOf(member), nullptr), *field.element());
    case ValueKind::kMap:
      return ReleaseMap(std::exchange(MapOf(member), nullptr), *field.element());
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
      return static_cast<TimeWord*>(member)->reset();
    default:
      return static_cast<String*>(member)->reset();
  }
}

void ResetStruct(void* object, const TypeTable& table) noexcept {
  DestroyStruct(object, table);
  ConstructEmpty(object, table);
}

// ---- Unknown fields. ----

namespace {

// The table and the index of a note: four bytes, stored as inline text.
struct NoteKey {
  std::uint16_t table;
  std::uint16_t member;
};

}  // namespace

std::uintptr_t CopyUnknown(std::uintptr_t word) {
  const ListBlock* list = UnknownList(word);
  return list != nullptr ? reinterpret_cast<std::uintptr_t>(CopyList(list, kTypeOf<UnknownField>)) : word;
}

UnknownField MakeNote(std::uintptr_t table_mark, std::size_t member, String raw) {
  const NoteKey key{static_cast<std::uint16_t>(table_mark), static_cast<std::uint16_t>(member)};
  char bytes[sizeof key];
  std::memcpy(bytes, &key, sizeof key);
  return {std::move(raw), Json(std::string_view(bytes, sizeof bytes))};
}

const Field* NotedMember(const UnknownField& note, const TypeTable& table) noexcept {
  NoteKey key;
  std::memcpy(&key, note.value.text().data(), sizeof key);
  return key.table == TableMark(table) && key.member < table.field_count ? &table.field_data[key.member] : nullptr;
}

ListBlock* UnknownListFor(UnknownFields& unknown) {
  std::uintptr_t& word = UnknownWord(unknown);
  if ((word & 1) == 0) return UnknownList(word);
  const std::uintptr_t marks = word >> 16;
  ListBlock* list = NewList(static_cast<std::size_t>(std::popcount(marks)) + 2, kTypeOf<UnknownField>);
  for (std::uintptr_t left = marks; left != 0; left &= left - 1) {
    ::new (ElementAt(list, list->word, kTypeOf<UnknownField>))
        UnknownField(MakeNote(word & 0xFFFF, static_cast<std::size_t>(std::countr_zero(left)), String("null")));
    list->hidden = ++list->word;
  }
  word = reinterpret_cast<std::uintptr_t>(list);
  return list;
}

bool IsReplaced(const UnknownField& unknown, const void* object, const TypeTable& table) noexcept {
  if (!unknown.name.has_value()) {
    if (UnknownOf(object, table).size() > 1) return true;
    return std::ranges::any_of(table, [&](const Field& f) { return MemberIsPresent(MemberOf(object, f), f); });
  }
  const Field* field = table.Find(unknown.name);
  return field != nullptr && MemberIsPresent(MemberOf(object, *field), *field);
}

}  // namespace kgen::detail
