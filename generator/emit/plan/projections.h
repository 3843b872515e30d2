// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Projections: types that have a part of the members of a kind.
//
//   parse::Projection + UsedApi --PlanProjections()--> Plan
//
// An object of which only some members are kept is a struct of this run. What is kept whole has the type of the used
// API, or a struct of this run if it has no named type. Metadata are a class with the layout of ObjectMeta, so that the
// runtime finds the identity of an object where it always is, and in which only the kept members are accessible.
#ifndef KGEN_GENERATOR_EMIT_PLAN_PROJECTIONS_H_
#define KGEN_GENERATOR_EMIT_PLAN_PROJECTIONS_H_

#include <string>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/plan/external_types.h"
#include "generator/emit/plan/plan.h"
#include "generator/parse/projections.h"

namespace kgen::generator::emit {

// Plans one PlannedVersion for each projection, all in `name_space`. Modifies the models of `apis`. Reports kinds and
// members that none of them has; the plan is complete only if there are no errors.
Plan PlanProjections(const std::vector<parse::Projection>& projections, std::vector<UsedApi>& apis,
                     const std::string& name_space, Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_PROJECTIONS_H_
