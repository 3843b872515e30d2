// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// MakePlan(): decides every declaration of an API, and its header.
#ifndef KGEN_GENERATOR_EMIT_PLAN_MAKE_PLAN_H_
#define KGEN_GENERATOR_EMIT_PLAN_MAKE_PLAN_H_

#include <map>
#include <string>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/plan/plan.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// Reports types that cannot be emitted, such as a struct with too many members for a table, to `diagnostics`. The plan
// is complete only if there are no errors.
Plan MakePlan(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics);

// The struct that MakePlan() plans for a named type.
struct CppType {
  std::string name;    // "::k8s::core::v1::PodSpec"; empty: there is none
  std::string header;  // "k8s/core/v1/common_types.h"
};

// Returns the structs of all named types, by TypeId.
std::vector<CppType> CppTypes(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics);

// The positions of the schemas of all structs that MakePlan() plans, by C++ name: "acme::shop::v1::Order::Spec".
std::map<std::string, Origin> StructOrigins(const model::Api& api, const PlanOptions& options,
                                            Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_MAKE_PLAN_H_
