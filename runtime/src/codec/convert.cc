// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/codec/convert.h"

#include <cstring>
#include <optional>

#include "codec/encode_rest.h"
#include "codec/interpreter.h"
#include "codec/reader.h"
#include "core/blocks.h"
#include "kgen/codec/decode.h"

namespace kgen {

namespace {

using detail::BoxOf;
using detail::ListOf;
using detail::MapOf;
using detail::MemberOf;

constexpr std::size_t kMaxDepth = 256;  // the same as the decoder's

bool IsStruct(const Field& field) noexcept { return field.kind == ValueKind::kStruct || field.kind == ValueKind::kBox; }

// True if values of both types have the same representation.
bool SameType(const ValueType& a, const ValueType& b) noexcept {
  if (a.kind != b.kind || a.table != b.table) return false;
  return a.element == nullptr || SameType(*a.element, *b.element);
}

// True if the member can be moved or converted member by member. Otherwise it is converted through its JSON.
bool Fits(const void* member, const Field& from, const Field& to) noexcept {
  if (IsStruct(from) && IsStruct(to)) {
    // A struct in place cannot be both present and empty. Through JSON, it becomes an unknown `{}`.
    return from.kind == ValueKind::kStruct || to.kind == ValueKind::kBox ||
           !detail::IsEmptyStruct(BoxOf(member)->object(), *from.table());
  }
  if (from.kind != to.kind) return false;
  if (from.kind != ValueKind::kList && from.kind != ValueKind::kMap) return true;
  const ValueType& a = *from.element();
  const ValueType& b = *to.element();
  return (a.kind == ValueKind::kStruct && b.kind == ValueKind::kStruct) || SameType(a, b);
}

// True if the member's number was received in another spelling than the encoder's. Only its JSON preserves that.
bool HasNote(const void* object, const TypeTable& table, const Field& field) noexcept {
  if (table.unknown_offset == TypeTable::kNoUnknown) return false;
  const detail::ListBlock* list = detail::UnknownList(detail::UnknownWord(detail::UnknownOf(object, table)));
  const auto* notes = list != nullptr ? static_cast<const UnknownField*>(list->elements()) : nullptr;
  for (std::size_t i = 0; list != nullptr && i < list->hidden; ++i) {
    if (notes[i].name != "null" && detail::NotedMember(notes[i], table) == &field) return true;
  }
  return false;
}

std::size_t SizeOf(const Field& field) noexcept {
  switch (field.kind) {
    case ValueKind::kBool:
      return sizeof(Optional<bool>);
    case ValueKind::kInt32:
      return sizeof(Optional<std::int32_t>);
    case ValueKind::kInt64:
      return sizeof(Optional<std::int64_t>);
    case ValueKind::kDouble:
      return sizeof(Optional<double>);
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
      return sizeof(Time);
    case ValueKind::kStruct:
      return field.table()->size;
    case ValueKind::kBox:
    case ValueKind::kList:
    case ValueKind::kMap:
      return sizeof(void*);
    default:
      return sizeof(String);
  }
}

// Values may be moved as bytes, and all zeros are the default value. `to` must own nothing.
void MoveBytes(void* to, void* from, std::size_t size) noexcept {
  std::memcpy(to, from, size);
  std::memset(from, 0, size);
}

class Converter {
 public:
  explicit Converter(std::vector<Unplaced>& unplaced) noexcept : unplaced_(unplaced) {}

  // `to` is a default struct. If `whole`, it is a whole object, so apiVersion and kind are written with it.
  Result<void> Struct(void* from, const TypeTable& from_table, void* to, const TypeTable& to_table, bool whole) {
    if (&from_table == &to_table) {
      MoveBytes(to, from, to_table.size);
      return {};
    }
    const Level level(*this);
    if (depth_ > kMaxDepth) return TooDeep(to_table);
    if (KeepsText(from, from_table, to, to_table)) return {};
    const bool has_unknown = detail::UnknownWord(detail::UnknownOf(from, from_table)) != 0;
    const KindInfo* kind = whole && to_table.kind == nullptr && HasIdentity(to_table) ? from_table.kind : nullptr;
    bool rest = has_unknown || kind != nullptr;
    for (const Field& field : from_table) rest = rest || !IsPlaced(from, from_table, field, to_table);
    if (rest) {
      if (auto done = Rest(from, from_table, to, to_table, kind, whole); !done) return done;
    }
    for (const Field& field : from_table) {
      void* member = MemberOf(from, field);
      if (!detail::MemberIsPresent(member, field) || !IsPlaced(from, from_table, field, to_table)) continue;
      const Field& target = *to_table.Find(field.wire_name());
      const Place place(*this, path_.empty() ? "" : ".", field.wire_name(), "");
      if (auto done = Member(member, field, from_table, MemberOf(to, target), target, to_table); !done) return done;
    }
    return {};
  }

  // `to` is null. `items` is true for the items of a list of objects.
  Result<void> List(detail::ListBlock* from, const ValueType& from_type, detail::ListBlock*& to,
                    const ValueType& to_type, bool items) {
    const Level level(*this);
    if (from == nullptr) return {};
    to = detail::NewList(from->word, to_type);
    for (std::size_t i = 0; i < from->word; ++i) {
      const Place place(*this, "[", std::to_string(i), "]");
      auto done = Struct(detail::ElementAt(from, i, from_type), *from_type.table, detail::AppendElement(to, to_type),
                         *to_type.table, items);
      if (!done) return done;
    }
    return {};
  }

  // `to` is null.
  Result<void> Map(detail::MapBlock* from, const ValueType& from_type, detail::MapBlock*& to,
                   const ValueType& to_type) {
    const Level level(*this);
    if (!detail::MapHasValue(from, from_type)) return {};
    const std::size_t size = detail::MapSize(from);
    to = detail::NewPackedMap(size, to_type);
    for (std::size_t i = 0; i < size; ++i) {  // in order of the keys
      if (!detail::MapEntryCounts(from, i, from_type)) continue;
      void* entry = detail::MapEntryAt(from, i, from_type);
      void* target = detail::AppendEntry(to, to_type);
      detail::KeyOf(target) = detail::KeyOf(entry);
      const Place place(*this, "['", detail::KeyOf(entry), "']");
      auto done = Struct(detail::ValueOf(entry), *from_type.table, detail::ValueOf(target), *to_type.table, false);
      if (!done) return done;
    }
    return {};
  }

 private:
  struct Level {
    explicit Level(Converter& c) noexcept : converter(c) { ++converter.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --converter.depth_; }
    Converter& converter;
  };

  // Adds one step to the path while it lives.
  struct Place {
    Place(Converter& c, std::string_view before, std::string_view name, std::string_view after)
        : converter(c), size(c.path_.size()) {
      converter.path_.append(before).append(name).append(after);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { converter.path_.resize(size); }
    Converter& converter;
    std::size_t size;
  };

  // Returns false for a present member that has no counterpart in the target, or that must be converted through JSON.
  static bool IsPlaced(const void* object, const TypeTable& table, const Field& field, const TypeTable& to_table) {
    const void* member = MemberOf(object, field);
    if (!detail::MemberIsPresent(member, field)) return true;
    const Field* target = to_table.Find(field.wire_name());
    return target != nullptr && Fits(member, field, *target) && !HasNote(object, table, field);
  }

  static bool HasIdentity(const TypeTable& table) noexcept {
    return table.Find("apiVersion") != nullptr || table.Find("kind") != nullptr;
  }

  // If the element was not an object when it was decoded, keeps its text in the target, and returns true.
  bool KeepsText(const void* from, const TypeTable& from_table, void* to, const TypeTable& to_table) {
    const UnknownFields& unknown = detail::UnknownOf(from, from_table);
    if (unknown.size() != 1 || unknown.begin()->name.has_value()) return false;
    if (detail::IsReplaced(*unknown.begin(), from, from_table)) return false;
    const Json& value = unknown.begin()->value;
    if (!value.is_null()) unplaced_.push_back({path_, "expected an object"});
    detail::UnknownOf(to, to_table).Append(String(), value);
    return true;
  }

  // Converts what must go through JSON: members of another kind, unknown fields, nulls, and numbers in another spelling
  // than the encoder's. Not inlined, because its buffers would occupy the stack once for each level.
  [[gnu::noinline]] Result<void> Rest(const void* from, const TypeTable& from_table, void* to,
                                      const TypeTable& to_table, const KindInfo* kind, bool whole) {
    std::string json;
    codec::EncodeRest(
        from, from_table, kind, [&](const Field& field) { return !IsPlaced(from, from_table, field, to_table); }, json);
    std::vector<FieldMismatch> mismatches;
    const DecodeOptions options{.mismatches = &mismatches,
                                .max_bytes = codec::kBytesCeiling,
                                .max_depth = kMaxDepth - depth_ + 1,
                                .max_fields = static_cast<std::size_t>(-1)};
    codec::Scratch scratch;
    auto done = codec::Interpreter(json, options, nullptr, scratch)
                    .RunConverted(to, to_table, whole && to_table.kind != nullptr && !HasIdentity(to_table));
    if (!done) return Fail(path_.empty() ? done.error() : done.error().With(path_));
    for (FieldMismatch& mismatch : mismatches) {
      unplaced_.push_back(
          {path_.empty() ? std::move(mismatch.path) : path_ + "." + mismatch.path, std::move(mismatch.message)});
    }
    return {};
  }

  // Converts a member that fits. The target is in its default state.
  Result<void> Member(void* from, const Field& field, const TypeTable& from_table, void* to, const Field& target,
                      const TypeTable& to_table) {
    if (IsStruct(field)) {
      if (field.kind == target.kind && field.table() == target.table()) return MoveBytes(to, from, SizeOf(field)), Ok();
      if (target.kind == ValueKind::kBox) BoxOf(to) = detail::NewBox(*target.table(), false);
      return Struct(field.kind == ValueKind::kBox ? BoxOf(from)->object() : from, *field.table(),
                    target.kind == ValueKind::kBox ? BoxOf(to)->object() : to, *target.table(), false);
    }
    const bool block = field.kind == ValueKind::kList || field.kind == ValueKind::kMap;
    if (!block || SameType(*field.element(), *target.element())) return MoveBytes(to, from, SizeOf(field)), Ok();
    if (field.kind == ValueKind::kMap) return Map(MapOf(from), *field.element(), MapOf(to), *target.element());
    return List(ListOf(from), *field.element(), ListOf(to), *target.element(),
                AreItems(*field.element(), from_table) || AreItems(*target.element(), to_table));
  }

  static Result<void> Ok() { return {}; }

  // True if the encoder writes apiVersion and kind with the elements of such a list.
  static bool AreItems(const ValueType& type, const TypeTable& owner) noexcept {
    return type.table->kind != nullptr && type.table->kind->list == &owner;
  }

  Result<void> TooDeep(const TypeTable& to_table) const {
    return Fail(Code::kDecode, std::string(to_table.name) + ": nested too deeply, at " + path_);
  }

  std::vector<Unplaced>& unplaced_;
  std::string path_;
  std::size_t depth_ = 0;
};

}  // namespace

Result<void> detail::ConvertValue(void* from, const ValueType& from_type, void* to, const ValueType& to_type,
                                  std::vector<Unplaced>& unplaced) {
  Converter converter(unplaced);
  Result<void> done;
  switch (from_type.kind) {
    case ValueKind::kList:
      done = converter.List(ListOf(from), *from_type.element, ListOf(to), *to_type.element, true);
      break;
    case ValueKind::kMap:
      done = converter.Map(MapOf(from), *from_type.element, MapOf(to), *to_type.element);
      break;
    default:
      done = converter.Struct(from, *from_type.table, to, *to_type.table, true);
  }
  if (done) return done;
  const ValueType& named = to_type.element != nullptr ? *to_type.element : to_type;
  return Fail(done.error().With("convert to " + std::string(named.table->name)));
}

}  // namespace kgen
