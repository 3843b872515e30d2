// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Interprets the Draft: follows references, maps each schema to one Kind, gathers operations into resources, assigns
// types to groups and versions, and sorts everything.
//
//   Draft --Resolve()--> Api
//
// resolve_schema.h decides references, well-known definitions, types, enums and the structural oddities of CRDs;
// resolve_operations.h decides paths, verbs, scope and subresources.
//
// Reports errors to `diagnostics` and continues with the closest meaning (usually any JSON), so the Api is well-formed
// even then. Do not emit from it when diagnostics.has_errors().
#ifndef KGEN_GENERATOR_MODEL_RESOLVE_H_
#define KGEN_GENERATOR_MODEL_RESOLVE_H_

#include "generator/diagnostic.h"
#include "generator/model/api.h"
#include "generator/model/raw_schema.h"

namespace kgen::generator::model {

struct ResolveOptions {
  bool quantity_by_pattern = true;  // int-or-string with the quantity pattern of controller-gen is a Quantity
};

Api Resolve(Draft draft, Diagnostics& diagnostics, const ResolveOptions& options = {});

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_RESOLVE_H_
