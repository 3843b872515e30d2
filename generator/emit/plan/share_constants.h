// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_GENERATOR_EMIT_PLAN_SHARE_CONSTANTS_H_
#define KGEN_GENERATOR_EMIT_PLAN_SHARE_CONSTANTS_H_

#include "generator/emit/plan/plan.h"

namespace kgen::generator::emit {

// Makes one of the structs of constants that are equal, by setting PlannedEnum::same_as of the others: one for each
// version, and one of another version if the header includes it anyway. A header does not include another one only for
// its constants.
void ShareConstants(Plan& plan);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_SHARE_CONSTANTS_H_
