// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks of values: a server refuses a CRD if a default does not fit its own schema, and no object at all fits limits
// that contradict each other.
#ifndef KGEN_GENERATOR_CRD_DEFAULT_VALUE_H_
#define KGEN_GENERATOR_CRD_DEFAULT_VALUE_H_

#include <string>
#include <string_view>

#include "generator/crd/tree.h"

namespace kgen::generator::crd {

// Why the value `json` does not fit `schema`, or nothing if it does. Rules are left to the server. Patterns
// and formats are checked as kgen/validation/validate.h says.
std::string FaultOfDefault(const std::string& json, const Tree& schema);
// Why no value fits `schema`, if `lower` ("minLength") is above its upper limit; else nothing.
std::string FaultOfLimit(std::string_view lower, const Tree& schema);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_DEFAULT_VALUE_H_
