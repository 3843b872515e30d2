// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The field tables of the structs of API headers, for the emitter.
#ifndef KGEN_GENERATOR_CRD_OWN_TYPES_H_
#define KGEN_GENERATOR_CRD_OWN_TYPES_H_

#include <vector>

#include "generator/crd/description.h"
#include "generator/crd/resources.h"
#include "generator/diagnostic.h"
#include "generator/emit/plan/plan.h"

namespace kgen::generator::crd {

// One element for each group version. Every struct of the headers gets a table, and is in the namespace of a kind.
std::vector<emit::OwnTypes> MakeOwnTypes(const Description& description, const std::vector<KindOf>& kinds,
                                         Diagnostics& diagnostics);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_OWN_TYPES_H_
