// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/description.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "generator/utf8.h"

namespace kgen::generator::crd {
namespace {

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = DecodeUtf8(text);
    if (!next.valid) return false;
    text.remove_prefix(next.size);
  }
  return true;
}

// Two values of a marker that has one: one of them would have no effect.
void CheckOnce(const std::vector<Marker>& markers, Diagnostics& diagnostics) {
  static constexpr std::string_view kMany[] = {"listmapkey", "metadata",        "printcolumn",
                                               "rbac",       "selectablefield", "xvalidation"};
  for (auto later = markers.begin(); later != markers.end(); ++later) {
    if (std::find(std::begin(kMany), std::end(kMany), later->name) != std::end(kMany)) continue;
    const auto first = std::find_if(markers.begin(), later, [&](const Marker& other) {
      return other.name == later->name && other.items == later->items;
    });
    const bool same = first == later || (first->value == later->value && first->list == later->list &&
                                         first->args == later->args && first->list_args == later->list_args);
    if (same) continue;
    diagnostics.Error("marker-clash", later->origin,
                      "the marker " + later->written + " has another value at " + diagnostics.Describe(first->origin),
                      {}, "remove one of the two");
  }
}

std::vector<Marker> Parse(const Comment& comment, MarkerPlace place, Diagnostics& diagnostics) {
  for (const std::vector<CommentLine>* lines : {&comment.text, &comment.markers}) {
    for (const CommentLine& line : *lines) {
      if (IsUtf8(line.text)) continue;
      diagnostics.Error("comment-utf8", line.origin, "the comment is not UTF-8, and a CRD can have no other text", {},
                        "save the header as UTF-8");
    }
  }
  std::vector<Marker> out;
  for (const CommentLine& line : comment.markers) {
    if (std::optional<Marker> marker = ParseMarker(line, place, diagnostics)) out.push_back(std::move(*marker));
  }
  CheckOnce(out, diagnostics);
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

void CheckTexts(const Enum& described, Diagnostics& diagnostics) {
  if (described.values.empty())
    diagnostics.Error("enum-value", described.origin, "the enum has no values", {}, "write at least one");
  std::map<std::string, Origin> texts;
  for (const Enum::Value& value : described.values) {
    const auto [first, added] = texts.emplace(value.text, value.origin);
    if (added) continue;
    diagnostics.Error("enum-value", value.origin,
                      "the value " + Quote(value.name) + " is " + Quote(value.text) +
                          " in JSON, as is another one at " + diagnostics.Describe(first->second),
                      {}, "choose another text with +kgen:name=");
  }
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
    CheckTexts(described, diagnostics);
  }
}

}  // namespace kgen::generator::crd
