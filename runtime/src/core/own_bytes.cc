// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/own_bytes.h"

#include <cstdint>
#include <utility>

#include "core/blocks.h"

namespace kgen::detail {
namespace {

constexpr int kMaxDepth =
    100;  // deeper blocks are not counted; only lists and maps of JSON-like schemas can be so deep

// What counts of a block that something else shares.
enum class SharedBlocks : std::uint8_t { kNotCounted, kInPart };

class Counter {
 public:
  explicit Counter(SharedBlocks shared) noexcept : shared_(shared) {}
  void Struct(const void* object, const TypeTable& table) noexcept {
    for (const Field& field : table) Member(MemberOf(object, field), field.kind, field.detail);
    if (table.unknown_offset == TypeTable::kNoUnknown) return;
    const ListBlock* unknown = UnknownList(UnknownWord(UnknownOf(object, table)));
    if (unknown != nullptr) List(unknown, kTypeOf<UnknownField>);
  }
  void Add(std::size_t bytes) noexcept {
    const std::size_t rounded = (bytes + 15) / 16 * 16;
    bytes_ += part_ * static_cast<double>(rounded);
  }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(bytes_); }

 private:
  // The part of a block that counts, and of all below it; 0 for nothing. An informer has one reference to each value
  // that its objects may share, which is not an object's.
  double PartOf(const BlockHeader* block) const noexcept {
    const std::uint32_t refs = block->refs.load(std::memory_order_relaxed);
    if (refs == 1) return 1;
    return shared_ == SharedBlocks::kInPart && refs > 1 ? 1.0 / (refs - 1) : 0;
  }
  // Calls `count` for a block, unless nothing of it counts or it is too deep.
  template <typename F>
  void Within(const BlockHeader* block, F count) noexcept {
    const double part = PartOf(block);
    if (part == 0 || depth_ == kMaxDepth) return;
    const double outside = std::exchange(part_, part_ * part);
    ++depth_;
    count();
    --depth_;
    part_ = outside;
  }
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
    Within(block, [&] { Add(sizeof(TextBlock) + text.size()); });
  }
  void Box(const BoxBlock* box, const TypeTable& table) noexcept {
    Within(box, [&] {
      Add(sizeof(BoxBlock) + table.size);
      Struct(box->object(), table);
    });
  }
  void List(const ListBlock* list, const ValueType& type) noexcept {
    Within(list, [&] {
      Add(sizeof(ListBlock) + std::size_t{list->capacity} * type.size);
      for (std::uint32_t i = 0; i < list->word; ++i) Value(ElementAt(list, i, type), type);
    });
  }
  void Map(const MapBlock* map, const ValueType& type) noexcept {
    Within(map, [&] {
      const std::size_t size = MapSize(map);
      Add(sizeof(MapBlock) + size * EntrySize(type));
      for (std::size_t i = 0; i < size; ++i) {
        const void* entry = MapEntryAt(map, i, type);
        Text(KeyOf(entry));
        Value(ValueOf(entry), type);
      }
    });
  }

  const SharedBlocks shared_;
  double bytes_ = 0;
  double part_ = 1;
  int depth_ = 0;
};

std::size_t Count(const AnyRef& object, SharedBlocks shared) noexcept {
  if (!object) return 0;
  Counter counter(shared);
  counter.Add(sizeof(ObjectBlock) + object.table().size);
  counter.Struct(object.object(), object.table());
  return counter.bytes();
}

}  // namespace

std::size_t OwnBytes(const AnyRef& object) noexcept { return Count(object, SharedBlocks::kNotCounted); }
std::size_t BytesWithShare(const AnyRef& object) noexcept { return Count(object, SharedBlocks::kInPart); }

}  // namespace kgen::detail
