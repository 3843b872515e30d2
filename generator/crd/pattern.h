// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Patterns of a schema. A server compiles them with Go's package regexp, whose syntax is RE2.
#ifndef KGEN_GENERATOR_CRD_PATTERN_H_
#define KGEN_GENERATOR_CRD_PATTERN_H_

#include <string>
#include <string_view>

namespace kgen::generator::crd {

// What is certainly wrong with a pattern, or nothing. Not checked are the names of Unicode classes (\p{Greek}), of
// which newer versions of Go know more, and Go's limits of nesting, of repetitions inside each other, and of the whole
// size.
std::string FaultOfPattern(std::string_view pattern);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_PATTERN_H_
