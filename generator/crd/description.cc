// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/description.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/dns_names.h"
#include "generator/utf8.h"

namespace kgen::generator::crd {
namespace {

// Two values of a marker that has one: one of them would have no effect.
void CheckOnce(const std::vector<Marker>& markers, Diagnostics& diagnostics) {
  static constexpr std::string_view kMany[] = {
      "atleastoneof", "atmostoneof",     "exactlyoneof", "listmapkey",           "metadata",   "printcolumn",
      "rbac",         "selectablefield", "webhook",      "webhookconfiguration", "xvalidation"};
  for (auto later = markers.begin(); later != markers.end(); ++later) {
    if (std::find(std::begin(kMany), std::end(kMany), later->name) != std::end(kMany)) continue;
    const auto first = std::find_if(markers.begin(), later, [&](const Marker& other) {
      return other.name == later->name && other.steps == later->steps;
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
  for (const CommentLine& line : comment.text) {  // ParseMarker checks the markers
    if (IsUtf8(line.text)) continue;
    diagnostics.Error("comment-utf8", line.origin, "the comment is not UTF-8, and a CRD can have no other text", {},
                      "save the header as UTF-8");
  }
  std::vector<Marker> out;
  for (const CommentLine& line : comment.markers) {
    if (std::optional<Marker> marker = ParseMarker(line, place, diagnostics)) out.push_back(std::move(*marker));
  }
  CheckOnce(out, diagnostics);
  return out;
}

// The server refuses a role with such a rule, or never applies it.
void CheckRule(const Marker& rule, Diagnostics& diagnostics) {
  const auto fail = [&](const std::string& fault, const std::string& hint) {
    diagnostics.Error("rbac", rule.origin, rule.written + ": " + fault, {}, hint);
  };
  for (const auto& [name, values] : rule.list_args) {
    for (const std::string& value : values) {
      if (value.find_first_of("; ,") != std::string::npos)
        fail(Quote(value) + " cannot be one of the " + name, "write several as in verbs=get;list, without quotes");
      if (value.empty() && name != "groups")
        fail("one of the " + name + " is empty", "only groups=\"\" has a meaning: the core group");
    }
  }
  const bool resources = rule.list_args.contains("resources"), urls = rule.list_args.contains("urls");
  if (resources == urls)
    fail(resources ? "a rule has resources or urls, not both" : "it names neither resources nor urls",
         "write groups=apps,resources=deployments or urls=/metrics");
  if (resources && !rule.list_args.contains("groups"))
    fail("it names no API group", "write groups=\"\" for the core group, as of pods");
  const std::string name_space = rule.Arg("namespace");
  if (rule.args.contains("namespace") && !detail::IsDnsLabel(name_space))
    fail(Quote(name_space) + " is no namespace", "write one name, as in namespace=shop");
  if (urls && !name_space.empty())
    fail("urls are not in a namespace", "write a rule of its own for urls, without namespace");
  if (rule.args.contains("roleName") && rule.Arg("roleName").empty())
    fail("roleName is empty", "leave it out for the name of --rbac");
}

// Moves the markers about the program to where manifests are made of them. Markers of another API are about another
// program.
void TakeOfTheProgram(std::vector<Marker>& markers, bool external, Description& out, Diagnostics& diagnostics) {
  for (const Marker& marker : markers) {
    if (external) continue;
    if (marker.name == "rbac") {
      CheckRule(marker, diagnostics);
      out.rules.push_back(marker);
    } else if (marker.name == "webhook") {
      if (auto webhook = ReadWebhook(marker, diagnostics)) out.webhooks.push_back(std::move(*webhook));
    } else if (marker.name == "webhookconfiguration") {
      if (auto read = ReadWebhookConfiguration(marker, diagnostics))
        out.webhook_configurations.push_back(std::move(*read));
    }
  }
  std::erase_if(markers, [](const Marker& marker) { return IsOfTheProgram(marker.name); });
}

// Markers that only a kind reads.
void CheckKindMarkers(const Struct& described, Diagnostics& diagnostics) {
  static constexpr std::string_view kOfKinds[] = {"deprecated",        "groupname",          "hub",        "metadata",
                                                  "printcolumn",       "selectablefield",    "served",     "storage",
                                                  "subresource:scale", "subresource:status", "versionname"};
  if (FindMarker(described.markers, "resource") != nullptr) return;
  for (const Marker& marker : described.markers) {
    if (std::find(std::begin(kOfKinds), std::end(kOfKinds), marker.name) == std::end(kOfKinds)) continue;
    diagnostics.Error("marker-kind", marker.origin,
                      "the marker " + marker.written + " has no effect, since " + Quote(described.path) + " is no kind",
                      {}, "remove it, or write +kgen:resource:group=shop.example.com,version=v1 beside it");
  }
}

// What a comment says to readers of the API: not notes to other developers, and not to tools.
void KeepDescription(std::vector<CommentLine>& lines) {
  static constexpr std::string_view kTools[] = {"NOLINT", "clang-format off", "clang-format on", "IWYU pragma:"};
  std::vector<CommentLine> out;
  bool code = false;  // between fences of Markdown
  for (CommentLine& line : lines) {
    const std::string_view text = line.text;
    if (text.starts_with("```") || text.starts_with("~~~")) code = !code;
    if (!code && (text.starts_with("TODO") || text.starts_with("---"))) break;
    if (std::any_of(std::begin(kTools), std::end(kTools),
                    [&](std::string_view tool) { return text.starts_with(tool); }))
      continue;
    out.push_back(std::move(line));
  }
  while (!out.empty() && out.back().text.empty()) out.pop_back();
  lines = std::move(out);
}

// How many structs a member is inlined from: "common.owner" is from one.
std::size_t Depth(const Member& member) {
  return static_cast<std::size_t>(std::count(member.name.begin(), member.name.end(), '.'));
}

// Leaves out members of inlined structs whose name an outer one has, as Go does: it is the outer one in JSON.
void DropShadowed(std::vector<Member>& members, Diagnostics& diagnostics) {
  std::map<std::string, const Member*> outermost;
  for (const Member& member : members) {
    const auto [at, added] = outermost.emplace(member.wire_name, &member);
    if (!added && Depth(member) < Depth(*at->second)) at->second = &member;
  }
  std::vector<Member> kept;
  for (const Member& member : members) {
    const Member& outer = *outermost.at(member.wire_name);
    if (Depth(member) > Depth(outer)) {
      diagnostics.Info("shadowed", outer.origin,
                       Quote(outer.name) + " takes the place of " + Quote(member.name) +
                           ", which is neither in the CRD nor in JSON");
    } else {
      kept.push_back(member);
    }
  }
  members = std::move(kept);
}

void NameMember(Member& member, Diagnostics& diagnostics) {
  if (const Marker* name = FindMarker(member.markers, "name"); name != nullptr) {
    member.wire_name = name->value;
    if (member.wire_name.empty())
      diagnostics.Error("member-name", name->origin, "a member has no name", {},
                        "write one, as in +kgen:name=template");
    for (char c : member.wire_name) {
      if (static_cast<unsigned char>(c) > 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
      diagnostics.Error("member-name", name->origin, "the name " + Quote(member.wire_name) + " has a space or a quote",
                        {}, "names in JSON are written as in +kgen:name=template");
      break;
    }
  }
}

void CheckNames(const Member& member, std::map<std::string, Origin>& names, Diagnostics& diagnostics) {
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
  const auto parse = [&](const Comment& comment, MarkerPlace place, bool external) {
    std::vector<Marker> out = Parse(comment, place, diagnostics);
    TakeOfTheProgram(out, external, description, diagnostics);
    return out;
  };
  for (auto& [name, described] : description.structs) {
    if (described.documented) continue;
    described.markers = parse(described.comment, kOnStruct, described.external);
    if (!described.external) CheckKindMarkers(described, diagnostics);
    KeepDescription(described.comment.text);
    for (Member& member : described.members) {
      member.markers = parse(member.comment, kOnMember, described.external);
      KeepDescription(member.comment.text);
      NameMember(member, diagnostics);
    }
    DropShadowed(described.members, diagnostics);
    std::map<std::string, Origin> names;
    for (const Member& member : described.members) CheckNames(member, names, diagnostics);
  }
  for (auto& [name, described] : description.enums) {
    described.markers = parse(described.comment, kOnEnum, described.external);
    for (Enum::Value& value : described.values) {
      for (const Marker& marker : parse(value.comment, kOnEnumValue, described.external)) value.text = marker.value;
    }
    KeepDescription(described.comment.text);
    CheckTexts(described, diagnostics);
  }
  for (auto& [name, alias] : description.aliases) {
    alias.markers = parse(alias.comment, kOnAlias, false);
    KeepDescription(alias.comment.text);
  }
  for (auto& [name, space] : description.namespaces) space.markers = parse(space.comment, kOnNamespace, false);
  parse({.text = {}, .markers = description.elsewhere}, kOnNamespace, false);
}

}  // namespace kgen::generator::crd
