// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/unstructured.h"

#include <nlohmann/json.hpp>

#include "core/blocks.h"
#include "core/tables/table_builder.h"

namespace kgen {
namespace {

using detail::MakeField;

nlohmann::json ToJson(const void* object, const TypeTable& table);

// A Json that holds invalid text is shown as null, since a discarded value inside another one has no meaning.
nlohmann::json ToJson(const Json& json) {
  nlohmann::json value = json.Parse<nlohmann::json>();
  return value.is_discarded() ? nlohmann::json() : value;
}

nlohmann::json ToJson(const void* value, const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kString:
      if (const auto& text = *static_cast<const String*>(value); text.has_value()) return text.view();
      return nullptr;  // it was received as null
    case ValueKind::kStruct:
      return ToJson(value, *type.table);
    default:
      return nullptr;  // ObjectMeta has no other lists and maps
  }
}

// Converts a member of ObjectMeta, with its children.
nlohmann::json ToJson(const void* member, const Field& field) {
  switch (field.kind) {
    case ValueKind::kBool:
      return **static_cast<const Optional<bool>*>(member);
    case ValueKind::kInt64:
      return **static_cast<const Optional<std::int64_t>*>(member);
    case ValueKind::kTime:
      return static_cast<const Time*>(member)->str();
    case ValueKind::kJson:
      return ToJson(*static_cast<const Json*>(member));
    case ValueKind::kStruct:
      return ToJson(member, *field.table());
    case ValueKind::kList: {
      nlohmann::json list = nlohmann::json::array();
      const detail::ListBlock* block = detail::ListOf(member);
      for (std::uint32_t i = 0; i < block->word; ++i) {
        list.push_back(ToJson(detail::ElementAt(block, i, *field.element()), *field.element()));
      }
      return list;
    }
    case ValueKind::kMap: {
      nlohmann::json map = nlohmann::json::object();
      const detail::MapBlock* block = detail::MapOf(member);
      for (std::size_t i = 0; i < detail::MapSize(block); ++i) {
        if (!detail::MapEntryCounts(block, i, *field.element())) continue;
        const void* entry = detail::MapEntryAt(block, i, *field.element());
        map[detail::KeyOf(entry).str()] = ToJson(detail::ValueOf(entry), *field.element());
      }
      return map;
    }
    default:
      return static_cast<const String*>(member)->view();
  }
}

nlohmann::json ToJson(const void* object, const TypeTable& table) {
  nlohmann::json result = nlohmann::json::object();
  for (const UnknownField& unknown : detail::UnknownOf(object, table)) {
    if (detail::IsReplaced(unknown, object, table)) continue;
    if (!unknown.name.has_value()) return ToJson(unknown.value);  // an element of the wrong type
    result[unknown.name.str()] = ToJson(unknown.value);
  }
  detail::ForEachSentNull(object, table, [&](const Field& field) { result[std::string(field.wire_name())] = nullptr; });
  for (const Field& field : table) {
    const void* member = detail::MemberOf(object, field);
    if (detail::MemberIsPresent(member, field)) result[std::string(field.wire_name())] = ToJson(member, field);
  }
  return result;
}

// Members are written in the order of these tables, so apiVersion and kind come first, as in every manifest.
constexpr Field kUnstructuredFields[] = {
    MakeField("apiVersion", offsetof(Unstructured, apiVersion), ValueKind::kString),
    MakeField("kind", offsetof(Unstructured, kind), ValueKind::kString),
    MakeField("metadata", offsetof(Unstructured, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
};
constexpr Field kUnstructuredListFields[] = {
    MakeField("apiVersion", offsetof(UnstructuredList, apiVersion), ValueKind::kString),
    MakeField("kind", offsetof(UnstructuredList, kind), ValueKind::kString),
    MakeField("metadata", offsetof(UnstructuredList, metadata), ValueKind::kStruct, &meta::v1::ListMeta::kTable),
    MakeField("items", offsetof(UnstructuredList, items), ValueKind::kList, &kTypeOf<Unstructured>),
};
constexpr Field kPartialFields[] = {
    MakeField("apiVersion", offsetof(PartialObjectMetadata, apiVersion), ValueKind::kString),
    MakeField("kind", offsetof(PartialObjectMetadata, kind), ValueKind::kString),
    MakeField("metadata", offsetof(PartialObjectMetadata, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
};
// Servers send the metadata of objects of every kind in protobuf, of custom resources too. The message has no
// apiVersion and no kind: they are in the envelope.
constexpr WireField kPartialWire[] = {{.number = 1, .index = 2, .count = 0, .zero_is_absent = false}};
constexpr detail::NameSlots kUnstructuredSlots = detail::FindNameSlots(kUnstructuredFields);
constexpr detail::NameSlots kUnstructuredListSlots = detail::FindNameSlots(kUnstructuredListFields);
constexpr detail::NameSlots kPartialSlots = detail::FindNameSlots(kPartialFields);

}  // namespace

// No KindInfo: apiVersion and kind are members here, because they differ from object to object.
constinit const TypeTable Unstructured::kTable =
    detail::MakeTable<Unstructured>("kgen.Unstructured", kUnstructuredFields, kUnstructuredSlots,
                                    offsetof(Unstructured, metadata), nullptr, kPreservesUnknown);
constinit const TypeTable UnstructuredList::kTable = detail::MakeTable<UnstructuredList>(
    "kgen.UnstructuredList", kUnstructuredListFields, kUnstructuredListSlots, offsetof(UnstructuredList, metadata));
constinit const TypeTable PartialObjectMetadata::kTable = [] {
  TypeTable table = detail::MakeTable<PartialObjectMetadata>("kgen.PartialObjectMetadata", kPartialFields,
                                                             kPartialSlots, offsetof(PartialObjectMetadata, metadata));
  table.wire = kPartialWire;
  table.wire_count = 1;
  return table;
}();

nlohmann::json Unstructured::json() const { return ToJson(static_cast<const void*>(this), kTable); }

}  // namespace kgen
