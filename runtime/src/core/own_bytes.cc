// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/own_bytes.h"

#include <cstdint>

#include "core/blocks.h"

namespace kgen::detail {
namespace {

constexpr int kMaxDepth =
    100;  // deeper blocks are not counted; only lists and maps of JSON-like schemas can be so deep

bool IsOwn(const BlockHeader* block) noexcept { return block->refs.load(std::memory_order_relaxed) == 1; }

class Counter {
 public:
  void Struct(const void* object, const TypeTable& table) noexcept {
    for (const Field& field : table) Member(MemberOf(object, field), field.kind, field.detail);
    if (table.unknown_offset == TypeTable::kNoUnknown) return;
    const ListBlock* unknown = UnknownList(UnknownWord(UnknownOf(object, table)));
    if (unknown != nullptr) List(unknown, kTypeOf<UnknownField>);
  }
  void Add(std::size_t bytes) noexcept { bytes_ += (bytes + 15) / 16 * 16; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void Member(const void* member, ValueKind kind, const void* detail) noexcept {
    switch (kind) {
      case ValueKind::kBool:
      case ValueKind::kInt32:
      case ValueKind::kInt64:
      case ValueKind::kDouble:
      case ValueKind::kTime:
      case ValueKind::kMicroTime:
        return;
      case ValueKind::kStruct:
        return Struct(member, *static_cast<const TypeTable*>(detail));
      case ValueKind::kBox:
        if (BoxOf(member) != nullptr) Box(BoxOf(member), *static_cast<const TypeTable*>(detail));
        return;
      case ValueKind::kList:
        if (ListOf(member) != nullptr) List(ListOf(member), *static_cast<const ValueType*>(detail));
        return;
      case ValueKind::kMap:
        if (MapOf(member) != nullptr) Map(MapOf(member), *static_cast<const ValueType*>(detail));
        return;
      default:
        return Text(*static_cast<const String*>(member));
    }
  }
  void Value(const void* value, const ValueType& type) noexcept {
    const bool is_struct = type.kind == ValueKind::kStruct || type.kind == ValueKind::kBox;
    Member(value, type.kind, is_struct ? static_cast<const void*>(type.table) : type.element);
  }
  void Text(const String& text) noexcept {
    constexpr unsigned char kTextBlock = 255;  // String's tag
    if (reinterpret_cast<const unsigned char*>(&text)[15] != kTextBlock) return;
    const TextBlock* block = *reinterpret_cast<const TextBlock* const*>(&text);
    if (IsOwn(block)) Add(sizeof(TextBlock) + text.size());
  }
  void Box(const BoxBlock* box, const TypeTable& table) noexcept {
    if (!IsOwn(box) || depth_ == kMaxDepth) return;
    ++depth_;
    Add(sizeof(BoxBlock) + table.size);
    Struct(box->object(), table);
    --depth_;
  }
  void List(const ListBlock* list, const ValueType& type) noexcept {
    if (!IsOwn(list) || depth_ == kMaxDepth) return;
    ++depth_;
    Add(sizeof(ListBlock) + std::size_t{list->capacity} * type.size);
    for (std::uint32_t i = 0; i < list->word; ++i) Value(ElementAt(list, i, type), type);
    --depth_;
  }
  void Map(const MapBlock* map, const ValueType& type) noexcept {
    if (!IsOwn(map) || depth_ == kMaxDepth) return;
    ++depth_;
    const std::size_t size = MapSize(map);
    Add(sizeof(MapBlock) + size * EntrySize(type));
    for (std::size_t i = 0; i < size; ++i) {
      const void* entry = MapEntryAt(map, i, type);
      Text(KeyOf(entry));
      Value(ValueOf(entry), type);
    }
    --depth_;
  }

  std::size_t bytes_ = 0;
  int depth_ = 0;
};

}  // namespace

std::size_t OwnBytes(const AnyRef& object) noexcept {
  if (!object) return 0;
  Counter counter;
  counter.Add(sizeof(ObjectBlock) + object.table().size);
  counter.Struct(object.object(), object.table());
  return counter.bytes();
}

}  // namespace kgen::detail
