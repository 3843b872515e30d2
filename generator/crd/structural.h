// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Structural schemas: the form of OpenAPI that a CRD may have.
#ifndef KGEN_GENERATOR_CRD_STRUCTURAL_H_
#define KGEN_GENERATOR_CRD_STRUCTURAL_H_

#include <string>

#include "generator/crd/tree.h"

namespace kgen::generator::crd {

// Why a server would refuse a CRD with this schema inside of it, with the path; nothing if it would not. Rules of CEL
// and the limits of their cost are not checked.
std::string FaultOfSchema(const Tree& schema);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_STRUCTURAL_H_
