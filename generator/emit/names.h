// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From names of the API to C++ identifiers. Pure functions of the name, and where names can clash of the set of names:
// no order, no counter, no locale. [GEN NAM-01..NAM-24, ENUM-03..ENUM-05, GRP-01..GRP-05; D19]
//
// A name of the API is arbitrary text here; what comes back is always a legal identifier that is no keyword, no common
// macro and not reserved (no double underscore).
#ifndef KGEN_GENERATOR_EMIT_NAMES_H_
#define KGEN_GENERATOR_EMIT_NAMES_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::generator::emit {

// A data member: the wire name wherever it is legal ("clusterIP"), else the nearest legal text ("x_foo" for "x-foo").
// Keywords and macros get a trailing underscore ("namespace_").
std::string MemberIdentifier(std::string_view wire_name);

// A type: the same with a capital first letter of each word ("Spec", "NatOutgoing"). Capitals inside stay (HTTPRoute).
std::string TypeIdentifier(std::string_view name);

// A constant of an enum: "kAlways", "kEmpty" for "", "kEqualTilde" for "=~", "kValue301" for "301".
std::string ConstantIdentifier(std::string_view value);

// Constants for the values of one enum. Code that compiles must go on meaning what it meant when a value is added, so a
// name is never handed from one value to another: where values want the same name none of them gets it, and each says
// how it is spelled ("kReplace_replace", "kReplace_Replace"). In the order of `values`; no value twice. [GEN ENUM-04;
// D19]
std::vector<std::string> ConstantIdentifiers(const std::vector<std::string>& values);

// A namespace and folder: lower case, ASCII, no reserved file name ("cert_manager", "con_").
std::string NamespaceIdentifier(std::string_view name);

// The accessor of a version: "V1", "V1alpha1", "V1_2_3".
std::string VersionAccessor(std::string_view version);

// The accessor of a resource: its plural, cased after the kind as far as the two agree: ("networkpolicies",
// "NetworkPolicy") -> "NetworkPolicies".
std::string ResourceAccessor(std::string_view plural, std::string_view kind);

// Identifiers for several names of one scope. Of names that would get the same one, the name that is spelled like it
// keeps it, else the first in byte order; the others get "_2", "_3" ... in byte order. What is in `taken` is avoided
// with a trailing underscore. The result is in the order of `names`. [GEN NAM-08, NAM-09]
std::vector<std::string> DistinctIdentifiers(const std::vector<std::string>& names,
                                             const std::function<std::string(std::string_view)>& identifier,
                                             const std::set<std::string, std::less<>>& taken);

// How the groups of one run are called.
struct GroupName {
  std::string name_space;  // "cert_manager"; the folder too
  std::string accessor;    // "CertManager"
};

// By full group. The first label; as many more labels as it takes to be unique; and always one more than the first
// where that is the name of a group of Kubernetes itself ("core.strimzi.io" is core_strimzi). [GEN GRP-01..GRP-04]
std::map<std::string, GroupName, std::less<>> NameGroups(const std::vector<std::string>& groups);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_NAMES_H_
