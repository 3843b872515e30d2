// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Messages, their members, and what objects share. protobuf_values.cc has the values without members.
#include "codec/protobuf_decoder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "codec/sharing/member_block.h"
#include "core/access.h"
#include "core/blocks.h"
#include "core/metadata_table.h"
#include "kgen/core/object_meta.h"

namespace kgen::codec {
namespace {

// The type that an element of a list is written with; `items` of a list inside a map are in a message.
WireType TypeOfElement(const ValueType& type) noexcept {
  switch (type.kind) {
    case ValueKind::kBool:
    case ValueKind::kInt32:
    case ValueKind::kInt64:
      return WireType::kVarint;
    case ValueKind::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kBytes;
  }
}

bool IsFinite(std::uint64_t number) noexcept { return std::isfinite(std::bit_cast<double>(number)); }

bool IsTime(ValueKind kind) noexcept { return kind == ValueKind::kTime || kind == ValueKind::kMicroTime; }

bool HasOwnBlock(const Field& field) noexcept {
  return field.kind == ValueKind::kBox || field.kind == ValueKind::kList || field.kind == ValueKind::kMap;
}

}  // namespace

Result<void> ProtobufDecoder::Run(void* object, const TypeTable& table) {
  top_ = &table;
  const std::size_t limit = options_.max_bytes;
  const bool decoded =
      message_.size() > limit ? Broken("is larger than the limit") : Message(message_, object, table, Level::kObject);
  arena_.Trim();
  if (decoded) {
    if (&table == &PartialObjectMetadata::kTable) NameMetadata(*static_cast<PartialObjectMetadata*>(object));
    return {};
  }
  detail::ResetStruct(object, table);
  return Fail(Code::kDecode, "the protobuf of " + std::string(table.name) + " " + error_);
}

bool ProtobufDecoder::Message(std::string_view bytes, void* object, const TypeTable& table, Level level) {
  if (table.wire == nullptr) return Broken("contains a type that has no table for protobuf");
  if (++depth_ > options_.max_depth) return Broken("is nested too deep");
  std::uint64_t nulls = 0;
  const bool decoded = Fields(bytes, object, table, table.wire, table.wire_count, level, nulls);
  --depth_;
  if (decoded && nulls != 0) {
    detail::UnknownWord(detail::UnknownOf(object, table)) = nulls << 16 | detail::TableMark(table);
  }
  return decoded;
}

// Decodes a message whose fields are members of `object`: its own, or one that is embedded in it.
bool ProtobufDecoder::Fields(std::string_view bytes, void* object, const TypeTable& table, const WireField* fields,
                             std::size_t count, Level level, std::uint64_t& nulls) {
  WireReader reader(bytes);
  const WireField* const end = fields + count;
  const WireField* next = fields;  // fields arrive in the order of their numbers
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(number, type)) return Malformed();
    if (next != end && next->number > number) next = fields;
    while (next != end && next->number < number) ++next;
    if (next == end || next->number != number) {
      if (!Unknown(reader, number, type, table)) return false;
      continue;
    }
    if (!Count()) return false;
    if (next->count != 0) {
      std::string_view embedded;
      if (type != WireType::kBytes) return Unexpected();
      if (!reader.Bytes(embedded)) return Malformed();
      if (!Fields(embedded, object, table, table.wire + next->index, next->count, Level::kInside, nulls)) return false;
      continue;
    }
    const Field& field = table.field_data[next->index];
    zero_time_ = false;
    if (!Member(reader, number, type, detail::MemberOf(object, field), field, next->zero_is_absent, level)) {
      return false;
    }
    if (zero_time_ && IsTime(field.kind) && !next->zero_is_absent) {
      if (next->index >= detail::kMarks) return Broken("has the zero time in a member that cannot say so");
      nulls |= std::uint64_t{1} << next->index;
    }
  }
  return true;
}

bool ProtobufDecoder::Unknown(WireReader& reader, std::uint32_t number, WireType type, const TypeTable& table) {
  if ((table.flags & kProjection) != 0) return reader.Skip(type) || Malformed();
  if (error_.empty()) {
    error_ = "has a field of " + std::string(table.name) + " with the number " + std::to_string(number) +
             ", which this program does not know; the server is newer than its API documents";
  }
  return false;
}

[[gnu::always_inline]] inline bool ProtobufDecoder::ReadWire(WireReader& reader, Wire& wire) {
  switch (wire.type) {
    case WireType::kVarint:
      return reader.Varint(wire.number) || Malformed();
    case WireType::kFixed64:
      return reader.Fixed64(wire.number) || Malformed();
    case WireType::kBytes:
      return reader.Bytes(wire.bytes) || Malformed();
    default:
      return Unexpected();
  }
}

[[gnu::always_inline]] inline bool ProtobufDecoder::Member(WireReader& reader, std::uint32_t number, WireType type,
                                                           void* member, const Field& field, bool zero_is_absent,
                                                           Level level) {
  if (field.kind == ValueKind::kList || field.kind == ValueKind::kMap) {
    const WireType expected = field.kind == ValueKind::kMap ? WireType::kBytes : TypeOfElement(*field.element());
    if (type != expected) return Unexpected();
    const char* const start = reader.position();
    do {
      if (!reader.Skip(type)) return Malformed();
    } while (reader.TakeAnother(number, type));
    if ((field.flags & kManagedFields) != 0 && options_.drop_managed_fields) return true;
    return Block({start, static_cast<std::size_t>(reader.position() - start)}, number, member, field, level);
  }
  Wire wire{type};
  if (!ReadWire(reader, wire)) return false;
  if (field.kind == ValueKind::kBox) {
    return type == WireType::kBytes ? Block(wire.bytes, number, member, field, level) : Unexpected();
  }
  if (field.kind == ValueKind::kStruct) {
    return type == WireType::kBytes ? Metadata(wire.bytes, member, field, level) : Unexpected();
  }
  if (field.kind == ValueKind::kJson && type == WireType::kBytes && wire.bytes.size() > 2 * kInlineText) {
    return Block(wire.bytes, number, member, field, level);
  }
  return Scalar(wire, member, field, zero_is_absent);
}

// Decodes a struct that is stored in place: the `metadata` of an object.
bool ProtobufDecoder::Metadata(std::string_view bytes, void* member, const Field& field, Level level) {
  const bool of_object = level == Level::kObject && field.offset == top_->metadata_offset;
  return Message(bytes, member, *field.table(), of_object ? Level::kMetadata : Level::kInside);
}

[[gnu::always_inline]] inline bool ProtobufDecoder::Scalar(const Wire& wire, void* member, const Field& field,
                                                           bool zero_is_absent) {
  const auto is = [&](WireType type) { return wire.type == type || Unexpected(); };
  switch (field.kind) {
    case ValueKind::kBool:
      if (!is(WireType::kVarint)) return false;
      if (wire.number != 0 || !zero_is_absent) *static_cast<Optional<bool>*>(member) = wire.number != 0;
      return true;
    case ValueKind::kInt32:
      if (!is(WireType::kVarint)) return false;
      if (wire.number != 0 || !zero_is_absent) {
        *static_cast<Optional<std::int32_t>*>(member) = static_cast<std::int32_t>(wire.number);
      }
      return true;
    case ValueKind::kInt64:
      if (!is(WireType::kVarint)) return false;
      if (wire.number != 0 || !zero_is_absent) {
        *static_cast<Optional<std::int64_t>*>(member) = static_cast<std::int64_t>(wire.number);
      }
      return true;
    case ValueKind::kDouble:
      if (!is(WireType::kFixed64)) return false;
      if (!IsFinite(wire.number)) return Broken("has a number that JSON cannot express");
      if (wire.number != 0 || !zero_is_absent) {
        *static_cast<Optional<double>*>(member) = std::bit_cast<double>(wire.number);
      }
      return true;
    default:
      break;
  }
  if (!is(WireType::kBytes)) return false;
  const bool text = field.kind == ValueKind::kString || field.kind == ValueKind::kBytes;
  if (text && wire.bytes.empty() && zero_is_absent) return true;
  if (field.kind == ValueKind::kString) {
    return Text(wire.bytes, *static_cast<String*>(member), (field.flags & kUnique) != 0);
  }
  return Element(wire, member, {field.kind, 0, nullptr, nullptr});
}

// Decodes a value into an element of a list, into the value of an entry, or into a member of the same form.
bool ProtobufDecoder::Element(const Wire& wire, void* element, const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kBool:
      *static_cast<bool*>(element) = wire.number != 0;
      return true;
    case ValueKind::kInt32:
      *static_cast<std::int32_t*>(element) = static_cast<std::int32_t>(wire.number);
      return true;
    case ValueKind::kInt64:
      *static_cast<std::int64_t*>(element) = static_cast<std::int64_t>(wire.number);
      return true;
    case ValueKind::kDouble:
      if (!IsFinite(wire.number)) return Broken("has a number that JSON cannot express");
      *static_cast<double*>(element) = std::bit_cast<double>(wire.number);
      return true;
    case ValueKind::kString:
      return Text(wire.bytes, *static_cast<String*>(element), false);
    case ValueKind::kTime:
      return TimeOf(wire.bytes, detail::TimeAccess::Word(*static_cast<Time*>(element)),
                    detail::TimePrecision::kSeconds);
    case ValueKind::kMicroTime:
      return TimeOf(wire.bytes, detail::TimeAccess::Word(*static_cast<MicroTime*>(element)),
                    detail::TimePrecision::kMicroseconds);
    case ValueKind::kDuration:
      return DurationOf(wire.bytes, *static_cast<Duration*>(element));
    case ValueKind::kQuantity:
      return QuantityOf(wire.bytes, *static_cast<Quantity*>(element));
    case ValueKind::kIntOrString:
      return IntOrStringOf(wire.bytes, *static_cast<IntOrString*>(element));
    case ValueKind::kBytes:
      return Base64(wire.bytes, *static_cast<Bytes*>(element));
    case ValueKind::kJson:
      return RawJson(wire.bytes, *static_cast<Json*>(element));
    case ValueKind::kStruct:
      return Message(wire.bytes, element, *type.table, Level::kInside);
    case ValueKind::kList: {  // of an entry: a message whose first field is the list
      WireReader reader(wire.bytes);
      std::uint32_t number = 0;
      WireType first{};
      if (reader.AtEnd()) {  // servers write [] in JSON
        detail::ListOf(element) = detail::NewList(0, *type.element);
        return true;
      }
      if (!reader.Tag(number, first) || number != 1 || first != TypeOfElement(*type.element)) return Unexpected();
      const auto tag = static_cast<std::size_t>(reader.position() - wire.bytes.data());
      return List(wire.bytes.substr(tag), number, detail::ListOf(element), *type.element);
    }
    default:
      return Unexpected();
  }
}

// ---- Members with a block. ----

bool ProtobufDecoder::Block(std::string_view raw, std::uint32_t number, void* member, const Field& field, Level level) {
  if (HasOwnBlock(field) && BlockOf(member, field) != nullptr) return Broken("has a member in several places");
  const std::uint8_t slot = SlotOf(field, level);
  return slot != MemberSlots::kNone ? Traced(raw, number, member, field, slot, level)
                                    : Memoised(raw, number, member, field);
}

std::uint8_t ProtobufDecoder::SlotOf(const Field& field, Level level) const noexcept {
  if (trace_ == nullptr || level == Level::kInside) return MemberSlots::kNone;
  return level == Level::kObject ? trace_->slots.OfObject(field) : trace_->slots.OfMetadata(field);
}

const void* ProtobufDecoder::EarlierMember(const Field& field, Level level) const noexcept {
  const std::size_t metadata = level == Level::kObject ? 0 : top_->metadata_offset;
  return static_cast<const char*>(trace_->before) + metadata + field.offset;
}

MemberHash ProtobufDecoder::Hashed(std::string_view raw) const noexcept {
  const std::uint64_t hash = shared_->subtrees.hash().Lane(raw, options_.drop_managed_fields ? 1 : 0);
  return {hash, static_cast<std::uint32_t>(raw.size()), 0};
}

bool ProtobufDecoder::IsEarlier(std::string_view raw, std::size_t slot) const noexcept {
  if (trace_->earlier.empty()) return false;
  const MemberHash earlier = trace_->earlier[slot];
  return earlier.hash != 0 && earlier.size == raw.size() && Hashed(raw).hash == earlier.hash;
}

// Shares the block of the earlier member with `member`, which is empty. Returns false if the earlier one has none.
bool ProtobufDecoder::AdoptEarlier(void* member, const Field& field, Level level) noexcept {
  detail::BlockHeader* const block = BlockOf(EarlierMember(field, level), field);
  if (block == nullptr) return false;
  detail::AddRef(block);
  Adopt(member, field, block);
  return true;
}

// Decodes a member that has a hash.
bool ProtobufDecoder::Traced(std::string_view raw, std::uint32_t number, void* member, const Field& field,
                             std::size_t slot, Level level) {
  const bool entries = level == Level::kMetadata && slot == trace_->slots.OfManagedFields();
  MemberHash& now = trace_->now[slot];
  if (IsEarlier(raw, slot) && AdoptEarlier(member, field, level)) {
    now = trace_->earlier[slot];
    for (std::size_t i = 0; entries && i < MemberSlots::kEntries; ++i) {
      const std::size_t entry = trace_->slots.OfEntries() + i;
      trace_->now[entry] = trace_->earlier[entry];
    }
    return true;
  }
  at_entries_ = entries;
  if (!Memoised(raw, number, member, field)) return false;
  at_entries_ = false;
  if (HasOwnBlock(field) || HasBlock(field, static_cast<const Json*>(member)->text())) now = Hashed(raw);
  return true;
}

// Looks up whether these bytes were decoded before.
bool ProtobufDecoder::Memoised(std::string_view raw, std::uint32_t number, void* member, const Field& field) {
  const bool may_share = shared_ != nullptr && shared_->share_subtrees && (field.flags & (kNoMemo | kUnique)) == 0;
  SubtreeMemo::FieldStats* const stats = may_share ? shared_->subtrees.Try(field) : nullptr;
  if (stats == nullptr) return Fresh(raw, number, member, field);
  const SubtreeMemo::Key key = shared_->subtrees.MakeKey(raw, field, options_.drop_managed_fields);
  const SubtreeMemo::Hit hit = shared_->subtrees.Find(key);
  stats->Count(hit.block != nullptr);  // before anything else is decoded, which may move the statistics
  fields_ += hit.members;
  if (hit.block != nullptr) {
    Adopt(member, field, hit.block);
    return fields_ <= options_.max_fields || Broken("has too many fields");
  }
  const std::size_t before = fields_;
  if (!Fresh(raw, number, member, field)) return false;
  if (HasOwnBlock(field) || HasBlock(field, static_cast<const Json*>(member)->text())) {
    shared_->subtrees.Insert(key, BlockOf(member, field), fields_ - before);
  }
  return true;
}

bool ProtobufDecoder::Fresh(std::string_view raw, std::uint32_t number, void* member, const Field& field) {
  switch (field.kind) {
    case ValueKind::kBox: {
      detail::BoxBlock* const box = detail::NewBox(*field.table(), false);
      detail::BoxOf(member) = box;
      return Message(raw, box->object(), *field.table(), Level::kInside);
    }
    case ValueKind::kList:
      return List(raw, number, detail::ListOf(member), *field.element());
    case ValueKind::kMap:
      return Map(raw, number, detail::MapOf(member), *field.element());
    default: {
      std::string_view json;
      if (!JsonText(raw, json)) return false;
      *static_cast<Json*>(member) = Json(json);  // not from the pool: text in both pool and memo would never be swept
      return true;
    }
  }
}

// ---- Lists and maps. `run` begins behind the tag of the first element. ----

bool ProtobufDecoder::List(std::string_view run, std::uint32_t number, detail::ListBlock*& list,
                           const ValueType& type) {
  const bool entries = std::exchange(at_entries_, false);
  for (std::size_t i = 0; entries && i < MemberSlots::kEntries; ++i) trace_->now[trace_->slots.OfEntries() + i] = {};
  Elements elements(arena_, type, false);
  Wire wire{TypeOfElement(type)};
  WireReader reader(run);
  std::size_t index = 0;
  do {
    if (!Count() || !ReadWire(reader, wire)) return false;
    void* const element = elements.Append();
    const bool decoded = entries && index < MemberSlots::kEntries ? ManagedFieldsEntry(wire, element, type, index)
                                                                  : Element(wire, element, type);
    if (!decoded) return false;
    ++index;
  } while (reader.TakeAnother(number, wire.type));
  if (!reader.AtEnd()) return Unexpected();
  const std::size_t count = elements.count();
  list = detail::NewListFrom(elements.Take(), count, type);
  return true;
}

// If the earlier object has the same entry, at any position, copies it from there, which shares its text.
bool ProtobufDecoder::ManagedFieldsEntry(const Wire& wire, void* element, const ValueType& type, std::size_t index) {
  const std::size_t first = trace_->slots.OfEntries();
  MemberHash& now = trace_->now[first + index];
  for (std::size_t i = 0; i < MemberSlots::kEntries; ++i) {
    const std::size_t place = (index + i) % MemberSlots::kEntries;  // most are still in the same place
    if (!IsEarlier(wire.bytes, first + place)) continue;
    const auto& metadata = *static_cast<const meta::v1::ObjectMeta*>(
        static_cast<const void*>(static_cast<const char*>(trace_->before) + top_->metadata_offset));
    if (place >= metadata.managedFields.size()) break;
    *static_cast<meta::v1::ManagedFieldsEntry*>(element) = metadata.managedFields[place];
    now = trace_->earlier[first + place];
    return true;
  }
  if (!Element(wire, element, type)) return false;
  now = Hashed(wire.bytes);
  return true;
}

bool ProtobufDecoder::Map(std::string_view run, std::uint32_t number, detail::MapBlock*& map, const ValueType& type) {
  zero_time_ = false;
  Elements entries(arena_, type, true);
  WireReader reader(run);
  do {
    std::string_view bytes;
    if (!Count()) return false;
    if (!reader.Bytes(bytes)) return Malformed();
    if (!MapEntry(bytes, entries.Append(), type)) return false;
  } while (reader.TakeAnother(number, WireType::kBytes));
  const std::size_t count = entries.count();
  map = detail::NewPackedMapFrom(entries.Take(), count, type);
  if (zero_time_ && IsTime(type.kind)) detail::KeepNulls(map, type);
  return true;
}

// Decodes an entry, whose key is field 1 and whose value is field 2; either is absent if it is zero.
bool ProtobufDecoder::MapEntry(std::string_view bytes, void* entry, const ValueType& type) {
  WireReader reader(bytes);
  std::string_view key;
  Wire value{TypeOfElement(type)};
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType found{};
    if (!reader.Tag(number, found)) return Malformed();
    if (number == 1 && found == WireType::kBytes) {
      if (!reader.Bytes(key)) return Malformed();
    } else if (number == 2 && found == value.type) {
      if (!ReadWire(reader, value)) return false;
    } else {
      return Unexpected();
    }
  }
  return Text(key, detail::KeyOf(entry), false) && Element(value, detail::ValueOf(entry), type);
}

}  // namespace kgen::codec
