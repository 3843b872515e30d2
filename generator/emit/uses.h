// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Types of other generated APIs, in place of types that this run would make.
//
//   model::Api --UseTypes()--> the same Api, where references lead to types of the used APIs --MakePlan()--> Plan
//
// Two things become a type of a used API:
//
//   * a definition of an API document that the used API has a struct for, unless it is a kind, or the list of a kind,
//     that this run generates clients for;
//   * an object of a CRD that is one of its types (model/anchors.h), unless it is the direct child of a kind, which
//     users overload on.
#ifndef KGEN_GENERATOR_EMIT_USES_H_
#define KGEN_GENERATOR_EMIT_USES_H_

#include <expected>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/group_names.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// Another generated API: what it was made from, and how it was named.
struct UsedApi {
  std::string name_space;
  GroupNaming group_naming = {};
  model::Api api;
};

struct UseOptions {
  // Positions that are decided: "orders.shop.example.com:spec.template" to a C++ type or "own". See --type.
  std::map<std::string, std::string, std::less<>> types = {};

  // As in PlanOptions: these positions, and what contains them, stay types of this run.
  std::set<std::string, std::less<>> distinct = {};
};

// Reads the values of --type; an error is a message for the user.
std::expected<std::map<std::string, std::string, std::less<>>, std::string> ParseTypes(
    const std::vector<std::string>& values);

// Changes `api`, once, and returns the positions of `options.types` that it does not have. Reports types in
// `options.types` that do not exist or do not fit. The first of `uses` that has a type counts.
std::set<std::string> UseTypes(model::Api& api, const std::vector<UsedApi>& uses, const UseOptions& options,
                               Diagnostics& diagnostics);

// Reports positions of --type that no input has.
void ReportUnknownPositions(const std::set<std::string>& positions, Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_USES_H_
