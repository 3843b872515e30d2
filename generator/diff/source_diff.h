// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Two plans compared as C++ programs see them: what a program that uses the code of the first finds missing, renamed or
// of another type in the code of the second. Namespaces are named after the groups; the namespace of the whole is left
// out.
#ifndef KGEN_GENERATOR_DIFF_SOURCE_DIFF_H_
#define KGEN_GENERATOR_DIFF_SOURCE_DIFF_H_

#include "generator/diff/differences.h"
#include "generator/emit/plan/plan.h"

namespace kgen::generator::emit {

// Fills `source`. What is only new breaks nothing and is not reported. Both plans have the same namespace.
void CompareSource(const Plan& before, const Plan& after, model::Differences& out);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_DIFF_SOURCE_DIFF_H_
