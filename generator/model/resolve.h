// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From what the documents say to what it means: references followed, each schema decided into one Kind, operations
// gathered into resources, types placed into groups and versions, everything sorted.
//
//   Draft --Resolve()--> Api
//
// Rules, with the items of the generator contract: references and single-member allOf (REF-01..REF-06, REF-12, REF-13),
// well-known definitions (WK-02..WK-18), types (TY-01..TY-30), enums (ENUM-06..ENUM-10), structural oddities of CRDs
// (CRD-06..CRD-16, CRD-25, CRD-26), paths and verbs (OP-01..OP-24), order (GRP-13, MV-04).
//
// Reports faults to `diagnostics` and goes on with the nearest meaning (usually any JSON), so the Api is complete in
// form even then; nobody may emit from it when diagnostics.has_errors().
#ifndef KGEN_GENERATOR_MODEL_RESOLVE_H_
#define KGEN_GENERATOR_MODEL_RESOLVE_H_

#include "generator/diagnostic.h"
#include "generator/model/api.h"
#include "generator/model/raw_schema.h"

namespace kgen::generator::model {

struct ResolveOptions {
  bool quantity_by_pattern =
      true;  // int-or-string with the quantity pattern of controller-gen is a Quantity [GEN TY-08]
};

Api Resolve(Draft draft, Diagnostics& diagnostics, const ResolveOptions& options = {});

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_RESOLVE_H_
