// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Source: pkg/apiserver/schema/pruning and schema/defaulting of k8s.io/apiextensions-apiserver.
#include "validation/complete.h"

#include <algorithm>
#include <iterator>

#include "validation/report.h"

namespace kgen::validation {
namespace {

using nlohmann::json;
using Paths = std::vector<std::string>;

bool IsMetadataField(std::string_view name) {
  constexpr std::string_view kFields[] = {
      "name",          "generateName",      "namespace",         "uid",
      "selfLink",      "generation",        "creationTimestamp", "deletionGracePeriodSeconds",
      "labels",        "annotations",       "ownerReferences",   "resourceVersion",
      "managedFields", "deletionTimestamp", "finalizers"};
  return std::ranges::find(kFields, name) != std::end(kFields);
}

// A value without a schema loses all members of its objects.
void PruneAll(json& value, const std::string& path, Paths& dropped) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) dropped.push_back(ChildPath(path, name));
    value.clear();
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) PruneAll(value[i], IndexPath(path, i), dropped);
  }
}

// `keeps` is true in a list whose schema keeps unknown members: servers pass that on to the items.
void PruneValue(json& value, const Node* node, bool is_resource, bool keeps, const std::string& path, Paths& dropped) {
  if (node == nullptr) {
    if (!keeps) PruneAll(value, path, dropped);
    return;
  }
  keeps = keeps || node->keeps_unknown;
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      PruneValue(value[i], node->items.get(), false, keeps, IndexPath(path, i), dropped);
  }
  if (!value.is_object()) return;
  is_resource = is_resource || node->embedded;
  if (node->embedded) PruneMetadata(value, path, dropped);
  for (auto member = value.begin(); member != value.end();) {
    const std::string& name = member.key();
    const bool known = node->properties.contains(name) || node->has_additional;
    const bool has_rules_of_its_own = is_resource && IsTypeMeta(name);
    if (!has_rules_of_its_own && !known && !keeps) {
      dropped.push_back(ChildPath(path, name));
      member = value.erase(member);
      continue;
    }
    if (!has_rules_of_its_own && known) {
      PruneValue(*member, node->FindMember(name), false, false, ChildPath(path, name), dropped);
    }
    ++member;
  }
}

// Whether a value is a null that stands for an absent one.
bool IsAbsent(const json& value, const Node* node) { return value.is_null() && node != nullptr && !node->nullable; }

void Default(json& value, const Node* node, bool is_resource) {
  if (node == nullptr) return;
  if (value.is_array()) {
    for (json& item : value) {
      if (IsAbsent(item, node->items.get())) item = node->items->initial;
      Default(item, node->items.get(), false);
    }
  }
  if (!value.is_object()) return;
  is_resource = is_resource || node->embedded;
  for (auto member = value.begin(); member != value.end();) {
    const Node* inner = is_resource && IsTypeMeta(member.key()) ? nullptr : node->FindMember(member.key());
    if (inner != nullptr && IsAbsent(*member, inner)) {
      if (inner->initial.is_null()) {
        member = value.erase(member);
        continue;
      }
      *member = inner->initial;
    }
    Default(*member, inner, false);
    ++member;
  }
  for (const auto& [name, inner] : node->properties) {
    if (inner->initial.is_null() || value.contains(name)) continue;
    value[name] = inner->initial;
    Default(value[name], inner.get(), false);
  }
}

}  // namespace

void PruneMetadata(json& object, const std::string& path, Paths& dropped) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return;
  for (auto member = metadata->begin(); member != metadata->end();) {
    if (IsMetadataField(member.key()) && !member->is_null()) {
      ++member;
    } else if (IsMetadataField(member.key())) {
      member = metadata->erase(member);  // absent, as for Go
    } else {
      dropped.push_back(ChildPath(path, "metadata." + member.key()));
      member = metadata->erase(member);
    }
  }
}

void Prune(json& object, const Node& schema, Paths& dropped) {
  PruneValue(object, &schema, /*is_resource=*/true, /*keeps=*/false, "", dropped);
}

void SetDefaults(json& object, const Node& schema) { Default(object, &schema, /*is_resource=*/true); }

}  // namespace kgen::validation
