// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/group_names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>

#include "generator/emit/spelling/names.h"

namespace kgen::generator::emit {
namespace {

// The groups of Kubernetes that own their first label. Frozen: another entry would rename groups of users.
constexpr std::string_view kBuiltInGroups[] = {"",
                                               "admissionregistration.k8s.io",
                                               "apiextensions.k8s.io",
                                               "apiregistration.k8s.io",
                                               "apps",
                                               "authentication.k8s.io",
                                               "authorization.k8s.io",
                                               "autoscaling",
                                               "batch",
                                               "certificates.k8s.io",
                                               "coordination.k8s.io",
                                               "discovery.k8s.io",
                                               "events.k8s.io",
                                               "extensions",
                                               "flowcontrol.apiserver.k8s.io",
                                               "internal.apiserver.k8s.io",
                                               "meta.k8s.io",
                                               "networking.k8s.io",
                                               "node.k8s.io",
                                               "policy",
                                               "rbac.authorization.k8s.io",
                                               "resource.k8s.io",
                                               "scheduling.k8s.io",
                                               "storage.k8s.io",
                                               "storagemigration.k8s.io"};

bool IsBuiltIn(std::string_view group) {
  return std::find(std::begin(kBuiltInGroups), std::end(kBuiltInGroups), group) != std::end(kBuiltInGroups);
}

std::vector<std::string> Labels(std::string_view group) {
  if (group.empty()) return {"core"};
  std::vector<std::string> labels;
  for (;;) {
    const std::size_t dot = group.find('.');
    labels.emplace_back(group.substr(0, dot));
    if (dot == std::string_view::npos) return labels;
    group.remove_prefix(dot + 1);
  }
}

std::size_t OwnLabels(std::string_view group) {
  if (IsBuiltIn(group)) return 1;
  const std::string first = Labels(group)[0];
  const bool owned = std::any_of(std::begin(kBuiltInGroups), std::end(kBuiltInGroups),
                                 [&](std::string_view built_in) { return Labels(built_in)[0] == first; });
  return owned ? 2 : 1;
}

// The first labels of a group, or all that it has: "core-strimzi".
std::string FirstLabels(std::string_view group, std::size_t count) {
  const std::vector<std::string> labels = Labels(group);
  std::string out;
  for (std::size_t i = 0; i < std::min(count, labels.size()); ++i) out += (i == 0 ? "" : "-") + labels[i];
  return out;
}

GroupName Spell(const std::string& words) { return {NamespaceIdentifier(words), TypeIdentifier(words)}; }

// Groups that share a namespace or an accessor with others, in sets.
std::vector<std::set<std::string>> FindClashes(const GroupNames& names) {
  std::map<std::string, std::set<std::string>> by_space, by_accessor;
  for (const auto& [group, name] : names) {
    by_space[name.name_space].insert(group);
    by_accessor[name.accessor].insert(group);
  }
  std::vector<std::set<std::string>> clashes;
  for (const auto* sharing : {&by_space, &by_accessor}) {
    for (const auto& [name, groups] : *sharing) {
      const bool known = std::find(clashes.begin(), clashes.end(), groups) != clashes.end();
      if (groups.size() > 1 && !known) clashes.push_back(groups);
    }
  }
  return clashes;
}

// Names for the groups that clash: of each as many labels as no other of them begins with, and a number if it has no
// such labels. Only a proposal, so it may depend on the other groups. Kubernetes' own groups keep their names.
std::map<std::string, std::string> Propose(const GroupNames& names, const std::vector<std::set<std::string>>& clashes) {
  std::set<std::string> clashing;
  for (const std::set<std::string>& clash : clashes) {
    std::copy_if(clash.begin(), clash.end(), std::inserter(clashing, clashing.end()),
                 [](const std::string& group) { return !IsBuiltIn(group); });
  }
  std::set<std::string> spaces, accessors;
  for (const auto& [group, name] : names) {
    if (clashing.contains(group)) continue;
    spaces.insert(name.name_space);
    accessors.insert(name.accessor);
  }
  std::map<std::string, std::string> proposed;
  for (const std::string& group : clashing) {
    const std::size_t all = Labels(group).size();
    const auto fits = [&](const std::string& words, std::size_t count) {
      const GroupName name = Spell(words);
      if (spaces.contains(name.name_space) || accessors.contains(name.accessor)) return false;
      return count > all || std::none_of(clashing.begin(), clashing.end(), [&](const std::string& other) {
               return other != group && Spell(FirstLabels(other, count)) == name;
             });
    };
    std::size_t count = std::min(OwnLabels(group) + 1, all);
    std::string words = FirstLabels(group, count);
    while (!fits(words, count)) {
      ++count;
      words = FirstLabels(group, count) + (count > all ? "-" + std::to_string(count - all + 1) : "");
    }
    const GroupName name = Spell(words);
    spaces.insert(name.name_space);
    accessors.insert(name.accessor);
    proposed[group] = name.name_space;
  }
  return proposed;
}

void ReportClashes(const GroupNames& names, const std::vector<GroupSource>& groups, Diagnostics& diagnostics) {
  const std::vector<std::set<std::string>> clashes = FindClashes(names);
  if (clashes.empty()) return;
  const auto place = [&](const std::string& group) {
    const auto source = std::find_if(groups.begin(), groups.end(), [&](const auto& s) { return s.name == group; });
    return Quote(group, 253) + " at " + diagnostics.Describe(source->origin);
  };
  std::string message;
  for (const std::set<std::string>& clash : clashes) {
    std::string sharing;
    for (const std::string& group : clash) sharing += (sharing.empty() ? "" : " and ") + place(group);
    message += (message.empty() ? "" : "; ") + sharing + " share the C++ name " +
               names.find(*clash.begin())->second.name_space;
  }
  std::string line = "GROUP_NAMES";
  for (const auto& [group, name] : Propose(names, clashes)) line += " " + (group + "=").append(name);
  diagnostics.Error("group-names", Origin{}, std::move(message), {},
                    "choose names, in kgen_add_api: " + line +
                        " (for kgen generate, --group-names before each pair), or use whole names: GROUP_NAMES full");
}

}  // namespace

std::expected<GroupNaming, std::string> ParseGroupNaming(const std::vector<std::string>& values) {
  GroupNaming naming;
  for (const std::string& value : values) {
    if (value == "full") {
      naming.full = true;
      continue;
    }
    const std::size_t equals = value.find('=');
    const std::string group = value.substr(0, equals);
    const std::string name = equals == std::string::npos ? std::string() : value.substr(equals + 1);
    if (name.empty() || name[0] == '_' || NamespaceIdentifier(name) != name) {
      return std::unexpected(
          "--group-names needs full, or a group and a lower-case identifier such as shop.example.com=shop, got " +
          Quote(value, 200));
    }
    if (!naming.chosen.emplace(group, name).second)
      return std::unexpected("--group-names names the group " + Quote(group, 253) + " twice");
  }
  return naming;
}

GroupName NameGroup(std::string_view group, const GroupNaming& naming) {
  if (const auto chosen = naming.chosen.find(group); chosen != naming.chosen.end()) {
    std::string words = chosen->second;
    std::replace(words.begin(), words.end(), '_', '-');
    return {chosen->second, TypeIdentifier(words)};
  }
  return Spell(FirstLabels(group, naming.full ? std::string_view::npos : OwnLabels(group)));
}

GroupNames NameGroups(const std::vector<GroupSource>& groups, const GroupNaming& naming, Diagnostics& diagnostics) {
  GroupNames names;
  std::vector<std::string_view> known;
  for (const GroupSource& group : groups) {
    names[group.name] = NameGroup(group.name, naming);
    known.emplace_back(group.name);
  }
  for (const auto& [group, name] : naming.chosen) {
    if (names.contains(group)) continue;
    const std::string_view nearest = Nearest(group, known);
    diagnostics.Error(
        "group-names", Origin{}, "the input has no group " + Quote(group, 253) + ", which is to be called " + name, {},
        nearest.empty() ? "take it out of GROUP_NAMES or --group-names" : "did you mean " + Quote(nearest, 253) + "?");
  }
  ReportClashes(names, groups, diagnostics);
  return names;
}

}  // namespace kgen::generator::emit
