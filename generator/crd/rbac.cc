// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/rbac.h"

#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "generator/crd/tree.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

using Texts = std::set<std::string>;

enum Part : std::uint8_t { kGroups, kResources, kNames, kUrls, kVerbs, kParts };

// One rule of a role. Rules compare by groups, resources, names of objects, URLs and verbs, in this order.
using Rule = std::array<Texts, kParts>;

// The keys of a rule in the order of Part.
constexpr std::array<std::pair<std::string_view, std::string_view>, kParts> kKeys = {
    {{"groups", "apiGroups"},
     {"resources", "resources"},
     {"resourceNames", "resourceNames"},
     {"urls", "nonResourceURLs"},
     {"verbs", "verbs"}}};

// Adds the rule of a marker, with one resource each, so that the same resource of several markers meets.
void Split(const Marker& marker, std::set<Rule>& out) {
  Rule rule;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto found = marker.list_args.find(kKeys[part].first);
    if (found != marker.list_args.end()) rule[part].insert(found->second.begin(), found->second.end());
  }
  if (rule[kGroups].erase("core") != 0) rule[kGroups].insert("");  // as the core group is called in a role
  const Texts resources = std::exchange(rule[kResources], {});
  if (resources.empty()) out.insert(rule);
  for (const std::string& resource : resources) {
    rule[kResources] = {resource};
    out.insert(rule);
  }
}

// Makes one rule of those that differ in `part` only.
void Merge(std::set<Rule>& rules, Part part) {
  std::map<Rule, Texts> merged;
  for (Rule rule : rules) {
    Texts values = std::exchange(rule[part], {});
    merged[std::move(rule)].merge(values);
  }
  rules.clear();
  for (const auto& [rule, values] : merged) {
    Rule whole = rule;
    whole[part] = values;
    rules.insert(std::move(whole));
  }
}

Tree ToTree(const Rule& rule) {
  Tree out;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (!rule[part].empty()) out[kKeys[part].second] = Tree::Texts({rule[part].begin(), rule[part].end()});
  }
  if (rule[kVerbs].contains("*")) out["verbs"] = Tree::Texts({"*"});
  return out;
}

std::string ToYaml(const std::string& name_space, const std::string& name, const std::set<Rule>& rules) {
  Tree role;
  role["apiVersion"] = Tree::Text("rbac.authorization.k8s.io/v1");
  role["kind"] = Tree::Text(name_space.empty() ? "ClusterRole" : "Role");
  role["metadata"]["name"] = Tree::Text(name);
  if (!name_space.empty()) role["metadata"]["namespace"] = Tree::Text(name_space);
  role["rules"] = Tree::List();
  for (const Rule& rule : rules) role["rules"].Add(ToTree(rule));
  const auto tree = role.ToStream();
  return tree ? yaml::ToYaml(tree->documents()[0]) : std::string();
}

}  // namespace

std::string MakeRoles(const std::vector<Marker>& rules, const std::string& name) {
  std::map<std::pair<std::string, std::string>, std::set<Rule>> roles;  // by namespace and name
  for (const Marker& marker : rules) Split(marker, roles[{marker.Arg("namespace"), marker.Arg("roleName", name)}]);
  if (roles.empty()) roles[{"", name}] = {};
  std::string out;
  for (auto& [key, all] : roles) {
    for (const Part part : {kVerbs, kResources, kGroups, kUrls}) Merge(all, part);
    out += (out.empty() ? "" : "---\n") + ToYaml(key.first, key.second, all);
  }
  return out;
}

}  // namespace kgen::generator::crd
