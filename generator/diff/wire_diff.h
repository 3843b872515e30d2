// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Two models compared as clients and servers see them: paths, verbs, fields and their JSON. Names of C++ play no part.
#ifndef KGEN_GENERATOR_DIFF_WIRE_DIFF_H_
#define KGEN_GENERATOR_DIFF_WIRE_DIFF_H_

#include "generator/diff/differences.h"
#include "generator/model/api.h"

namespace kgen::generator::model {

// Fills `wire` and `added`. A difference below a named type is reported once, under the name of that type.
void CompareWire(const Api& before, const Api& after, Differences& out);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_DIFF_WIRE_DIFF_H_
