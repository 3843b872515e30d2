// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One part of plan.h: what a CRD declares about a kind besides its schema, as static members of its struct. Private to
// generator/emit.
#ifndef KGEN_GENERATOR_EMIT_PLAN_PLAN_METADATA_H_
#define KGEN_GENERATOR_EMIT_PLAN_PLAN_METADATA_H_

#include <array>
#include <string_view>

#include "generator/emit/plan/plan.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// Names inside a kind's struct that its members must not have, whether they are used or not: a CRD may declare a scale
// later, and that must not rename a member.
inline constexpr std::array<std::string_view, 3> kMetadataNames = {"ScalePaths", "SelectableFields", "kPrinterColumns"};

// Adds to the struct of the kind that `resource` serves.
void PlanMetadata(const model::Resource& resource, PlannedStruct& kind);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_PLAN_METADATA_H_
