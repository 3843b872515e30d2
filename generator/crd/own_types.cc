// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/own_types.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "generator/emit/spelling/escaping.h"

namespace kgen::generator::crd {
namespace {

// The enumerator of kgen::ValueKind of a member.
std::string_view ValueKind(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBool:
      return "kBool";
    case TypeKind::kInt32:
      return "kInt32";
    case TypeKind::kInt64:
      return "kInt64";
    case TypeKind::kDouble:
      return "kDouble";
    case TypeKind::kString:
    case TypeKind::kEnum:
      return "kString";
    case TypeKind::kBytes:
      return "kBytes";
    case TypeKind::kTime:
      return "kTime";
    case TypeKind::kMicroTime:
      return "kMicroTime";
    case TypeKind::kDuration:
      return "kDuration";
    case TypeKind::kQuantity:
      return "kQuantity";
    case TypeKind::kIntOrString:
      return "kIntOrString";
    case TypeKind::kJson:
      return "kJson";
    case TypeKind::kObjectMeta:
      return "kStruct";
    case TypeKind::kStruct:
      return "kBox";
    case TypeKind::kList:
      return "kList";
    case TypeKind::kMap:
      return "kMap";
  }
  return "kJson";
}

// The C++ type of an element of a list or map.
std::string Spell(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kInt32:
      return "std::int32_t";
    case TypeKind::kInt64:
      return "std::int64_t";
    case TypeKind::kDouble:
      return "double";
    case TypeKind::kObjectMeta:
      return "kgen::meta::v1::ObjectMeta";
    case TypeKind::kStruct:
      return "::" + type.name;
    case TypeKind::kList:
      return "kgen::List<" + Spell(type.element.at(0)) + ">";
    case TypeKind::kMap:
      return "kgen::Map<" + Spell(type.element.at(0)) + ">";
    case TypeKind::kEnum:
      return "kgen::Enum<::" + type.name + ">";
    default:
      return "kgen::" + std::string(ValueKind(type.kind)).substr(1);
  }
}

emit::PlannedField PlanField(const Member& member, bool of_kind) {
  emit::PlannedField out;
  out.wire_name = member.wire_name;
  out.identifier = member.name;
  out.value_kind = member.type.boxed ? "kBox" : ValueKind(member.type.kind);
  out.flags = FindMarker(member.markers, "nullable") != nullptr ? "kgen::kNullable" : "";
  if (of_kind && member.wire_name == "status") out.flags += out.flags.empty() ? "kgen::kNoMemo" : " | kgen::kNoMemo";
  if (out.flags.empty()) out.flags = "0";
  out.detail = "nullptr";
  const TypeKind kind = member.type.kind;
  if (kind == TypeKind::kStruct || kind == TypeKind::kObjectMeta) out.detail = "&" + Spell(member.type) + "::kTable";
  if (kind == TypeKind::kList || kind == TypeKind::kMap)
    out.detail = "&kgen::kTypeOf<" + Spell(member.type.element.at(0)) + ">";
  return out;
}

emit::PlannedStruct PlanStruct(const Struct& described, bool is_kind) {
  emit::PlannedStruct out;
  out.own = true;
  out.name = out.path = described.path;
  out.table_name = described.Name();
  for (std::size_t at = out.table_name.find("::"); at != std::string::npos; at = out.table_name.find("::"))
    out.table_name.replace(at, 2, ".");
  for (const Member& member : described.members) {
    out.fields.push_back(PlanField(member, is_kind));
    if (is_kind && member.type.kind == TypeKind::kObjectMeta && member.wire_name == "metadata")
      out.metadata = member.name;
  }
  out.preserve_unknown = FindMarker(described.markers, "preserveunknownfields") != nullptr;
  return out;
}

}  // namespace

std::vector<emit::OwnTypes> MakeOwnTypes(const Description& description, const std::vector<KindOf>& kinds,
                                         Diagnostics& diagnostics) {
  std::vector<emit::OwnTypes> out;
  std::set<const Struct*> of_kinds;
  for (const KindOf& kind : kinds) {
    of_kinds.insert(kind.described);
    const std::string& space = kind.described->name_space;
    const auto same = std::find_if(out.begin(), out.end(), [&](const emit::OwnTypes& own) {
      return (own.group == kind.group && own.version == kind.version) || own.name_space == space;
    });
    if (same == out.end()) {
      out.push_back({.group = kind.group,
                     .version = kind.version,
                     .name_space = space,
                     .headers = {},
                     .structs = {},
                     .enums = {}});
    } else if (same->name_space != space || same->group != kind.group || same->version != kind.version) {
      diagnostics.Error("own-namespace", kind.described->origin,
                        "the kind " + Quote(kind.described->path) + " of " + kind.group + "/" + kind.version +
                            " is in namespace " + Quote(space, 200) + ", and other kinds of " + same->group + "/" +
                            same->version + " are in " + Quote(same->name_space, 200),
                        {}, "each group version has a namespace of its own, as in acme::shop::v1");
    }
  }
  for (const auto& [name, described] : description.structs) {
    if (described.external) continue;
    const auto own = std::find_if(out.begin(), out.end(), [&](const emit::OwnTypes& candidate) {
      return candidate.name_space == described.name_space;
    });
    if (own == out.end()) {
      diagnostics.Error(
          "own-namespace", described.origin,
          "no kind is in the namespace of " + Quote(described.path) + ", " + Quote(described.name_space, 200), {},
          "move the struct to the namespace of the kind that uses it");
      continue;
    }
    own->structs.push_back(PlanStruct(described, of_kinds.contains(&described)));
    if (std::find(own->headers.begin(), own->headers.end(), described.header) == own->headers.end())
      own->headers.push_back(described.header);
  }
  for (const auto& [name, described] : description.enums) {
    if (described.external) continue;
    const std::size_t scope = name.rfind("::");
    const auto own = std::find_if(out.begin(), out.end(), [&](const emit::OwnTypes& candidate) {
      return name.starts_with(candidate.name_space + "::") && scope != std::string::npos;
    });
    if (own == out.end()) {
      diagnostics.Error("own-namespace", described.origin,
                        "no kind is in the namespace of the enum " + Quote(name, 200), {},
                        "move the enum to the namespace of the kind that uses it");
      continue;
    }
    emit::PlannedEnumNames names{.type = "::" + name, .constants = {}};
    for (const Enum::Value& value : described.values)
      names.constants.emplace_back(value.name, emit::StringViewLiteral(value.text));
    own->enums.push_back(std::move(names));
  }
  return out;
}

}  // namespace kgen::generator::crd
