// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Replaces types that this run would generate by types of other generated APIs.
//
//   model::Api --UseTypes()--> the same Api with references to types of the used APIs --MakePlan()--> Plan
//
// UseTypes() replaces
//
//   * a definition of an API document if the used API has a struct for it, unless it is a kind, or the list of a kind,
//     that this run generates clients for;
//   * an object of a CRD if it matches a type of the used API (model/anchors.h), unless it is a direct child of a kind,
//     because users overload on those.
#ifndef KGEN_GENERATOR_EMIT_PLAN_EXTERNAL_TYPES_H_
#define KGEN_GENERATOR_EMIT_PLAN_EXTERNAL_TYPES_H_

#include <expected>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/spelling/group_names.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// Another generated API: its model, and the options that determine its C++ names.
struct UsedApi {
  std::string name_space;
  GroupNaming group_naming = {};
  model::Api api;
};

struct UseOptions {
  // The values of --type: maps a position such as "orders.shop.example.com:spec.template" to a C++ type or "own".
  std::map<std::string, std::string, std::less<>> types = {};

  // As in PlanOptions: these positions, and the objects that contain them, remain types of this run.
  std::set<std::string, std::less<>> distinct = {};
};

// Parses the values of --type. The error is a message for the user.
std::expected<std::map<std::string, std::string, std::less<>>, std::string> ParseTypes(
    const std::vector<std::string>& values);

// Modifies `api` and returns the positions in `options.types` that it does not have. Call once for each Api. Reports
// types in `options.types` that do not exist or do not fit. If several of `uses` have a type, the first one is used.
std::set<std::string> UseTypes(model::Api& api, const std::vector<UsedApi>& uses, const UseOptions& options,
                               Diagnostics& diagnostics);

// Reports positions in --type that no input has.
void ReportUnknownPositions(const std::set<std::string>& positions, Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_EXTERNAL_TYPES_H_
