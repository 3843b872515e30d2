// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Markers of members that a CRD can only say as rules of the object around them.
#ifndef KGEN_GENERATOR_CRD_MEMBER_RULES_H_
#define KGEN_GENERATOR_CRD_MEMBER_RULES_H_

#include <string>
#include <vector>

#include "generator/crd/description.h"

namespace kgen::generator::crd {

struct MemberRule {
  std::string rule, message;
};

// The rules of immutable and forbidden members, and of unions. Members that contradict them are errors.
std::vector<MemberRule> MemberRules(const Struct& described, Diagnostics& diagnostics);

// The rule for the keys of a map, of a marker such as +k8s:eachKey=+k8s:maxLength=63. Without a rule, an error is in
// `diagnostics`.
std::vector<MemberRule> KeyRules(const Marker& marker, Diagnostics& diagnostics);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_MEMBER_RULES_H_
