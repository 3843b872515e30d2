// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/share_constants.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kgen::generator::emit {
namespace {

// The type of constants, with their names and values.
using Constants = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;
using Names = std::map<Constants, std::string>;

Constants ConstantsOf(const PlannedEnum& planned) {
  Constants constants{planned.type, {}};
  for (const PlannedEnum::Constant& constant : planned.constants)
    constants.second.emplace_back(constant.identifier, constant.value);
  return constants;
}

// `space` is the last namespace around the struct, which members may hide.
void ShareInside(const std::string& space, PlannedStruct& planned, Names& first) {
  for (PlannedStruct& nested : planned.nested) ShareInside(space, nested, first);
  const bool hidden = std::ranges::find(planned.fields, space, &PlannedField::identifier) != planned.fields.end();
  for (PlannedEnum& each : planned.enums) {
    const auto [found, added] = first.emplace(ConstantsOf(each), space + "::" + planned.path + "::" + each.name);
    if (!added && !hidden) each.same_as = found->second;
  }
}

std::string HeaderOf(const PlannedVersion& version, const PlannedStruct& planned) {
  return planned.common ? version.folder + "/common_types.h" : version.header;
}

// The headers of a plan: what they include, and their structs of constants by content, with the whole name.
struct Headers {
  std::map<std::string, std::set<std::string>> includes;
  std::map<std::string, Names> constants;

  void Add(const PlannedVersion& version) {
    const std::string common = version.folder + "/common_types.h";
    includes[version.header] = version.types.includes;
    if (version.has_common) {
      includes[version.header].insert(common);
      includes[common] = version.common.includes;
    }
    for (const PlannedStruct& planned : version.structs)
      AddStruct("::" + version.name_space + "::", planned, constants[HeaderOf(version, planned)]);
  }

  // Returns an equal struct of constants in what `header` includes; empty: none.
  std::string Find(const std::string& header, const Constants& wanted) const {
    std::set<std::string> seen = {header};
    std::vector<std::string> todo = {header};
    while (!todo.empty()) {
      const auto included = includes.find(todo.back());
      todo.pop_back();
      if (included == includes.end()) continue;
      for (const std::string& each : included->second) {
        const auto names = constants.find(each);
        if (!seen.insert(each).second) continue;
        todo.push_back(each);
        if (names == constants.end()) continue;
        if (const auto name = names->second.find(wanted); name != names->second.end()) return name->second;
      }
    }
    return {};
  }

 private:
  static void AddStruct(const std::string& space, const PlannedStruct& planned, Names& out) {
    for (const PlannedStruct& nested : planned.nested) AddStruct(space, nested, out);
    for (const PlannedEnum& each : planned.enums) {
      if (each.same_as.empty()) out.emplace(ConstantsOf(each), space + planned.path + "::" + each.name);
    }
  }
};

void ShareWithIncluded(const Headers& headers, const std::string& header, PlannedStruct& planned) {
  for (PlannedStruct& nested : planned.nested) ShareWithIncluded(headers, header, nested);
  for (PlannedEnum& each : planned.enums) {
    if (each.same_as.empty()) each.same_as = headers.Find(header, ConstantsOf(each));
  }
}

}  // namespace

void ShareConstants(Plan& plan) {
  Headers headers;
  for (PlannedVersion& version : plan.versions) {
    Names first;
    for (const bool common : {true, false}) {
      for (PlannedStruct& planned : version.structs) {
        if (planned.common == common) ShareInside(version.space, planned, first);
      }
    }
    headers.Add(version);
  }
  for (PlannedVersion& version : plan.versions) {
    for (PlannedStruct& planned : version.structs) ShareWithIncluded(headers, HeaderOf(version, planned), planned);
  }
}

}  // namespace kgen::generator::emit
