// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/conversion.h"

#include <string>
#include <utility>
#include <vector>

#include "core/blocks.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "kgen/codec/convert.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/value_type.h"

namespace kgen::detail {
namespace {

using meta::v1::ObjectMeta;

void DropFromValue(const void* from, const ValueType& from_type, void* to, const ValueType& to_type);

// Whether an unknown field of `to` is a member that the version of `from` has, so that the function could read it.
bool IsKnown(const UnknownField& field, const void* from, const TypeTable& from_table, const TypeTable& to_table) {
  if (!field.name.has_value() || from_table.Find(field.name) == nullptr) return false;
  const Json& kept = UnknownOf(from, from_table)[field.name];
  if (kept.has_value() && !kept.is_null()) return false;  // of the wrong type, so the function has not seen it
  return !field.value.is_null() || to_table.Find(field.name) == nullptr;
}

// Removes what Convert() has kept among the unknown fields of `to` though the version of `from` knows it.
void DropFromStruct(const void* from, const TypeTable& from_table, void* to, const TypeTable& to_table) {
  if (&from_table == &to_table) return;
  UnknownFields& unknown = UnknownOf(to, to_table);
  std::vector<String> known;
  for (const UnknownField& field : unknown) {
    if (IsKnown(field, from, from_table, to_table)) known.push_back(field.name);
  }
  for (const String& name : known) unknown.Erase(name);
  for (const Field& field : to_table) {
    const Field* source = from_table.Find(field.wire_name());
    if (source == nullptr) continue;
    const void* before = MemberOf(from, *source);
    void* after = MemberOf(to, field);
    if (!MemberIsPresent(before, *source) || !MemberIsPresent(after, field)) continue;
    const auto type_of = [](const Field& member) {
      const bool is_struct = member.kind == ValueKind::kStruct || member.kind == ValueKind::kBox;
      const bool is_block = member.kind == ValueKind::kList || member.kind == ValueKind::kMap;
      return ValueType{member.kind, 0, is_struct ? member.table() : nullptr, is_block ? member.element() : nullptr};
    };
    DropFromValue(before, type_of(*source), after, type_of(field));
  }
}

void DropFromList(const ListBlock* from, const ValueType& from_type, ListBlock* to, const ValueType& to_type) {
  if (from == nullptr || to == nullptr || from->word != to->word) return;
  for (std::size_t i = 0; i < from->word; ++i) {
    DropFromValue(ElementAt(from, i, from_type), from_type, ElementAt(to, i, to_type), to_type);
  }
}

// Maps are in the order of their keys.
void DropFromMap(const MapBlock* from, const ValueType& from_type, MapBlock* to, const ValueType& to_type) {
  if (from == nullptr || to == nullptr) return;
  std::size_t i = 0;
  for (std::size_t j = 0; j < MapSize(to); ++j) {
    void* entry = MapEntryAt(to, j, to_type);
    const std::string_view key = KeyOf(entry);
    while (i < MapSize(from) && std::string_view(KeyOf(MapEntryAt(from, i, from_type))) < key) ++i;
    if (i == MapSize(from)) return;
    const void* source = MapEntryAt(from, i, from_type);
    if (KeyOf(source) == key) DropFromValue(ValueOf(source), from_type, ValueOf(entry), to_type);
  }
}

void DropFromValue(const void* from, const ValueType& from_type, void* to, const ValueType& to_type) {
  const auto is_struct = [](ValueKind kind) { return kind == ValueKind::kStruct || kind == ValueKind::kBox; };
  if (is_struct(from_type.kind) && is_struct(to_type.kind)) {
    DropFromStruct(from_type.kind == ValueKind::kBox ? BoxOf(from)->object() : from, *from_type.table,
                   to_type.kind == ValueKind::kBox ? BoxOf(to)->object() : to, *to_type.table);
  } else if (from_type.kind == ValueKind::kList && to_type.kind == ValueKind::kList) {
    DropFromList(ListOf(from), *from_type.element, ListOf(to), *to_type.element);
  } else if (from_type.kind == ValueKind::kMap && to_type.kind == ValueKind::kMap) {
    DropFromMap(MapOf(from), *from_type.element, MapOf(to), *to_type.element);
  }
}

ObjectMeta* MetadataOf(void* object, const TypeTable& table) {
  const Field* field = table.metadata_offset != TypeTable::kNoMetadata ? table.Find("metadata") : nullptr;
  if (field == nullptr || field->kind != ValueKind::kStruct || field->table() != &ObjectMeta::kTable) return nullptr;
  return static_cast<ObjectMeta*>(MemberOf(object, *field));
}

// Sets labels or annotations in the text of the metadata, if the function has changed them.
Result<void> Carry(std::string_view name, const Map<String>& before, const Map<String>& after, std::string& metadata) {
  if (EqualValue(&before, &after, kTypeOf<Map<String>>)) return {};
  const JsonStep step{.name = std::string(name)};
  if (!after.empty()) {
    std::string text;
    EncodeValue(&after, kTypeOf<Map<String>>, text);
    Result<std::string> with = SetJson(metadata, {&step, 1}, text);
    if (!with) return Fail(std::move(with).error());
    metadata = *std::move(with);
  } else {
    auto without = RemoveJson(metadata, {&step, 1});
    if (!without) return Fail(std::move(without).error());
    if (*without) metadata = **std::move(without);
  }
  return {};
}

// Returns `to` as JSON, with the metadata of `json` but for what the function has changed.
Result<std::string> Compose(std::string_view json, const ConversionCall& call) {
  std::string metadata;
  auto found = ForEachJson(json, [&](std::string_view name, std::string_view value) {
    if (name == "metadata") metadata = value;
  });
  if (!found) return Fail(std::move(found).error());
  ObjectMeta* after = MetadataOf(call.to, *call.to_table);
  const ObjectMeta* before = MetadataOf(call.from, *call.from_table);
  if (before != nullptr && after != nullptr) {
    if (auto done = Carry("labels", before->labels, after->labels, metadata); !done) return Fail(done.error());
    if (auto done = Carry("annotations", before->annotations, after->annotations, metadata); !done) {
      return Fail(done.error());
    }
  }
  if (const Field* field = call.to_table->Find("metadata"); field != nullptr) {
    ResetMember(MemberOf(call.to, *field), *field);
  }
  std::string body;
  EncodeStruct(call.to, *call.to_table, body);
  const KindInfo& kind = *call.to_table->kind;
  std::string out = "{\"apiVersion\":\"";
  out.append(kind.group).append(kind.group.empty() ? "" : "/").append(kind.version);
  out.append("\",\"kind\":\"").append(kind.kind).append("\"");
  if (!metadata.empty()) out.append(",\"metadata\":").append(metadata);
  auto rest = ForEachJson(body, [&](std::string_view name, std::string_view value) {
    if (name == "apiVersion" || name == "kind" || name == "metadata") return;
    out.append(",").append(QuoteJson(name)).append(":").append(value);
  });
  if (!rest) return Fail(std::move(rest).error());
  out += '}';
  return out;
}

}  // namespace

Result<std::string> ConvertObject(std::string_view json, const ConversionCall& call) {
  auto decoded = DecodeStruct(json, call.from, *call.from_table, {});
  if (!decoded) return Fail(std::move(decoded).error());
  // Compose() takes them from `json`. An object may contain other metadata, which keeps its own.
  if (ObjectMeta* metadata = MetadataOf(call.from, *call.from_table); metadata != nullptr) {
    metadata->managedFields.reset();
  }
  ResetStruct(call.copy, *call.from_table);
  CopyStruct(call.copy, call.from, *call.from_table);
  const ValueType from_type{ValueKind::kStruct, call.from_table->size, call.from_table, nullptr};
  const ValueType to_type{ValueKind::kStruct, call.to_table->size, call.to_table, nullptr};
  std::vector<Unplaced> unplaced;
  auto converted = ConvertValue(call.copy, from_type, call.to, to_type, unplaced);
  if (!converted) return Fail(std::move(converted).error());
  DropFromStruct(call.from, *call.from_table, call.to, *call.to_table);
  if (auto called = call.call(call.function, call.from, call.to); !called) return Fail(std::move(called).error());
  return Compose(json, call);
}

}  // namespace kgen::detail
