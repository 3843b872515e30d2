// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Source: pkg/apiserver/schema/listtype and schema/objectmeta of k8s.io/apiextensions-apiserver. Unlike the checks of
// values, they write the names of a map in brackets.
#include "validation/structure_check.h"

#include <algorithm>
#include <unordered_map>

#include "core/json/compact_json.h"
#include "validation/metadata_check.h"
#include "validation/report.h"

namespace kgen::validation {
namespace {

using nlohmann::json;

// Calls `visit` with each value that a value with a schema contains, with its schema and its path.
template <typename Visit>
void VisitInner(const json& value, const Node& node, const std::string& path, const Visit& visit) {
  if (value.is_array() && node.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) visit(value[i], *node.items, IndexPath(path, i));
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    const auto declared = node.properties.find(name);
    if (declared != node.properties.end()) {
      visit(member, *declared->second, ChildPath(path, name));
    } else if (node.additional != nullptr) {
      visit(member, *node.additional, KeyPath(path, name));
    }
  }
}

// What identifies an entry of a keyed list. An entry of null has no keys.
json KeysOf(const json& entry, const Node& list) {
  json keys = json::object();
  for (const std::string& name : list.map_keys) {
    if (entry.is_object() && entry.contains(name)) keys[name] = entry[name];
  }
  return keys;
}

void CheckList(const json& list, const Node& node, const std::string& path, FieldErrors& errors) {
  const bool keyed = node.list_type == ListType::kMap;
  if (keyed) {
    const auto odd = std::ranges::find_if(list, [](const json& each) { return !each.is_object() && !each.is_null(); });
    if (odd != list.end()) {
      const auto index = static_cast<std::size_t>(odd - list.begin());
      AddInvalid(errors, IndexPath(path, index), *odd, "must be an object for an array of list-type map");
      return;
    }
  }
  std::unordered_map<std::string, int> seen;  // how often, by the text of the entry or of its keys
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json entry = keyed ? KeysOf(list[i], node) : list[i];
    if (++seen[detail::CompactJson(entry)] == 2)
      AddDuplicate(errors, IndexPath(path, i), entry);  // further ones go unreported
  }
}

}  // namespace

void CheckEmbedded(const json& value, const Node& node, const std::string& path, FieldErrors& errors) {
  if (value.is_object() && node.embedded) CheckEmbeddedResource(value, path, errors);
  VisitInner(value, node, path, [&](const json& inner, const Node& schema, const std::string& place) {
    CheckEmbedded(inner, schema, place, errors);
  });
}

void CheckLists(const json& value, const Node& node, const std::string& path, FieldErrors& errors) {
  if (value.is_array() && node.list_type != ListType::kAtomic) CheckList(value, node, path, errors);
  VisitInner(value, node, path, [&](const json& inner, const Node& schema, const std::string& place) {
    CheckLists(inner, schema, place, errors);
  });
}

void CollectRules(const json& value, const Node& node, const std::string& path, std::vector<UncheckedRule>& rules) {
  if (value.is_null()) return;
  for (const std::string& rule : node.rules) rules.push_back({.field = path, .rule = rule});
  for (const auto& each : node.all_of) CollectRules(value, *each, path, rules);
  VisitInner(value, node, path, [&](const json& inner, const Node& schema, const std::string& place) {
    CollectRules(inner, schema, place, rules);
  });
}

}  // namespace kgen::validation
