// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How API groups are called in C++. The name of a group depends on that group alone, so that another group in the input
// never renames it: its first label (shop.example.com is `shop`), or the first two where a group of Kubernetes owns the
// first (core.strimzi.io is `core_strimzi`). Groups that would share a name are an error, and the user names them.
#ifndef KGEN_GENERATOR_EMIT_SPELLING_GROUP_NAMES_H_
#define KGEN_GENERATOR_EMIT_SPELLING_GROUP_NAMES_H_

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"

namespace kgen::generator::emit {

struct GroupName {
  std::string name_space;  // "cert_manager"; the folder too
  std::string accessor;    // "CertManager"

  friend bool operator==(const GroupName&, const GroupName&) = default;
};

// What --group-names says.
struct GroupNaming {
  bool full = false;                                            // all labels instead of the first: `shop_example_com`
  std::map<std::string, std::string, std::less<>> chosen = {};  // group -> namespace
};

// Reads the values of --group-names; an error is a message for the user.
std::expected<GroupNaming, std::string> ParseGroupNaming(const std::vector<std::string>& values);

// A group of the input, and where it first occurs.
struct GroupSource {
  std::string name;
  Origin origin;
};

using GroupNames = std::map<std::string, GroupName, std::less<>>;

GroupName NameGroup(std::string_view group, const GroupNaming& naming);

// Returns the names by the full name of the group. Reports all groups that share a name as one error, and each chosen
// name whose group is not in `groups`.
GroupNames NameGroups(const std::vector<GroupSource>& groups, const GroupNaming& naming, Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_SPELLING_GROUP_NAMES_H_
