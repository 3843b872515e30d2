// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Rules of x-kubernetes-validations, which are written in CEL. They are parsed and their names are looked up, but not
// evaluated, and types of values are followed only as far as members need them.
#ifndef KGEN_GENERATOR_CRD_CEL_H_
#define KGEN_GENERATOR_CRD_CEL_H_

#include <string>
#include <string_view>

#include "generator/crd/tree.h"

namespace kgen::generator::crd {

// The name of a member as a rule must write it: self.x__dash__y for "x-y".
std::string CelName(std::string_view member);

// What is certainly wrong with a rule or a messageExpression about values of the schema `self`: its syntax, or a
// function, variable or member that does not exist. Nothing if nothing is found. `root`: it is the object of a kind.
std::string FaultOfCel(std::string_view expression, const Tree& self, bool root);

// What is wrong with a fieldPath of a rule, such as .spec.item or .labels['a b']; nothing if it names a member.
std::string FaultOfFieldPath(std::string_view path, const Tree& self);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_CEL_H_
