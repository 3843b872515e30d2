// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/rbac.h"

#include <set>
#include <string_view>
#include <utility>

#include "generator/crd/tree.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {

std::string MakeClusterRole(const Description& description, const std::string& name) {
  static constexpr std::pair<std::string_view, std::string_view> kKeys[] = {{"groups", "apiGroups"},
                                                                            {"resourceNames", "resourceNames"},
                                                                            {"resources", "resources"},
                                                                            {"urls", "nonResourceURLs"},
                                                                            {"verbs", "verbs"}};
  std::set<std::string> rules;
  for (const auto& [key, described] : description.structs) {
    for (const Marker& marker : described.markers) {
      if (marker.name != "rbac" || described.external) continue;
      Tree rule;
      for (const auto& [argument, keyword] : kKeys) {
        const auto found = marker.list_args.find(argument);
        if (found == marker.list_args.end()) continue;
        // The core group is "" in a role, and core in a marker.
        std::set<std::string> values;
        for (const std::string& value : found->second) values.insert(value == "core" ? "" : value);
        rule[keyword] = Tree::Texts({values.begin(), values.end()});
      }
      rules.insert(rule.ToJson());
    }
  }
  Tree role;
  role["apiVersion"] = Tree::Text("rbac.authorization.k8s.io/v1");
  role["kind"] = Tree::Text("ClusterRole");
  role["metadata"]["name"] = Tree::Text(name);
  role["rules"] = Tree::List();
  for (const std::string& rule : rules) role["rules"].Add(Tree::Json(rule));
  const auto parsed = yaml::Parse(role.ToJson());
  return parsed ? yaml::ToYaml(parsed->documents()[0]) : std::string();
}

}  // namespace kgen::generator::crd
