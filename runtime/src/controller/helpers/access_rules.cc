// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/access_rules.h"

#include <map>
#include <set>
#include <tuple>

#include "core/json/quote.h"

namespace kgen {
namespace {

using Texts = std::set<std::string>;

// What the resources of one rule have in common: the group, the name of the object and the verbs.
using Shape = std::tuple<std::string, std::string, Texts>;

void AppendList(std::string& yaml, std::string_view key, const Texts& texts) {
  yaml.append(key).append(":\n");
  for (const std::string& text : texts) yaml.append("  - ").append(detail::QuoteJson(text)).append("\n");
}

void AppendRole(std::string& yaml, std::string_view name, const std::string& in_namespace,
                const std::map<Shape, Texts>& rules) {
  if (!yaml.empty()) yaml += "---\n";
  yaml.append("apiVersion: rbac.authorization.k8s.io/v1\nkind: ").append(in_namespace.empty() ? "ClusterRole" : "Role");
  yaml.append("\nmetadata:\n  name: ").append(detail::QuoteJson(name)).append("\n");
  if (!in_namespace.empty()) yaml.append("  namespace: ").append(detail::QuoteJson(in_namespace)).append("\n");
  yaml += "rules:\n";
  for (const auto& [shape, resources] : rules) {
    const auto& [group, object, verbs] = shape;
    AppendList(yaml, "- apiGroups", {group});
    AppendList(yaml, "  resources", resources);
    if (!object.empty()) AppendList(yaml, "  resourceNames", {object});
    AppendList(yaml, "  verbs", verbs);
  }
}

}  // namespace

std::string RolesAsYaml(std::string_view name, const std::vector<AccessRule>& rules) {
  // The verbs of each resource, by namespace, group and object; then the resources with the same verbs.
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Texts> verbs;
  for (const AccessRule& rule : rules) {
    verbs[{rule.namespace_, rule.group, rule.resource, rule.name}].insert(rule.verbs.begin(), rule.verbs.end());
  }
  std::map<std::string, std::map<Shape, Texts>> roles;
  for (const auto& [resource, of_resource] : verbs) {
    const auto& [in_namespace, group, plural, object] = resource;
    roles[in_namespace][{group, object, of_resource}].insert(plural);
  }
  std::string yaml;
  for (const auto& [in_namespace, of_namespace] : roles) AppendRole(yaml, name, in_namespace, of_namespace);
  return yaml;
}

}  // namespace kgen
