// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/description.h"

#include <utility>

namespace kgen::generator::crd {
namespace {

std::vector<Marker> Parse(const Comment& comment, MarkerPlace place, Diagnostics& diagnostics) {
  std::vector<Marker> out;
  for (const CommentLine& line : comment.markers) {
    if (std::optional<Marker> marker = ParseMarker(line, place, diagnostics)) out.push_back(std::move(*marker));
  }
  return out;
}

void NameMember(Member& member, std::map<std::string, Origin>& names, Diagnostics& diagnostics) {
  if (const Marker* name = FindMarker(member.markers, "name"); name != nullptr) {
    member.wire_name = name->value;
    for (char c : member.wire_name) {
      if (static_cast<unsigned char>(c) > 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
      diagnostics.Error("member-name", name->origin, "the name " + Quote(member.wire_name) + " has a space or a quote",
                        {}, "names in JSON are written as in +kgen:name=template");
      break;
    }
  }
  const auto [first, added] = names.emplace(member.wire_name, member.origin);
  if (added) return;
  diagnostics.Error("member-name", member.origin,
                    "the member " + Quote(member.name) + " is called " + Quote(member.wire_name) +
                        " in JSON, as is another one at " + diagnostics.Describe(first->second),
                    {}, "choose another name with +kgen:name=");
}

}  // namespace

void ReadMarkers(Description& description, Diagnostics& diagnostics) {
  for (auto& [name, described] : description.structs) {
    if (described.documented) continue;
    described.markers = Parse(described.comment, kOnStruct, diagnostics);
    std::map<std::string, Origin> names;
    for (Member& member : described.members) {
      member.markers = Parse(member.comment, kOnMember, diagnostics);
      NameMember(member, names, diagnostics);
    }
  }
  for (auto& [name, described] : description.enums) {
    described.markers = Parse(described.comment, kOnEnum, diagnostics);
    for (Enum::Value& value : described.values) {
      for (const Marker& marker : Parse(value.comment, kOnEnumValue, diagnostics)) value.text = marker.value;
    }
  }
}

}  // namespace kgen::generator::crd
