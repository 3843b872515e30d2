// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/protobuf.h"

#include <algorithm>

namespace kgen::generator::model {
namespace {

// Returns whether the member is in the envelope of a message: of a kind, of Status, of DeleteOptions.
bool IsOfEnvelope(const NamedType& type, const Field& field) {
  const bool may = type.role != Role::kPlain || type.group == kMetaGroup;
  return may && field.protobuf.numbers.empty() && (field.name == "apiVersion" || field.name == "kind");
}

bool CanDecode(const Api& api, const Schema& schema);

bool CanDecodeType(const Api& api, const NamedType& type) {
  return type.schema.kind == Kind::kObject ? type.protobuf : CanDecode(api, type.schema);
}

bool CanDecode(const Api& api, const Schema& schema) {
  switch (schema.kind) {
    case Kind::kObject:  // messages have names, but for the parts of a projection
      return schema.projection && std::ranges::all_of(schema.fields, [&](const Field& field) {
               return !field.protobuf.numbers.empty() && CanDecode(api, *field.schema);
             });
    case Kind::kList:
    case Kind::kMap:
      return CanDecode(api, *schema.element);
    case Kind::kRef:
      return CanDecodeType(api, api.Target(schema.ref));
    case Kind::kJson:
      return schema.json_shape == JsonShape::kObject;  // RawExtension and FieldsV1
    default:
      return true;
  }
}

}  // namespace

bool CanDecodeMembers(const Api& api, const NamedType& type) {
  return std::ranges::all_of(type.schema.fields, [&](const Field& field) {
    return IsOfEnvelope(type, field) || (!field.protobuf.numbers.empty() && CanDecode(api, *field.schema));
  });
}

void MarkProtobuf(Api& api) {
  // Starts from all types, because types contain each other, and takes away until nothing changes.
  for (NamedType& type : api.types) {
    const auto known = [](const Field& field) { return !field.protobuf.numbers.empty(); };
    type.protobuf = type.schema.kind == Kind::kObject && std::ranges::any_of(type.schema.fields, known);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (NamedType& type : api.types) {
      if (!type.protobuf || CanDecodeMembers(api, type)) continue;
      type.protobuf = false;
      changed = true;
    }
  }
}

}  // namespace kgen::generator::model
