// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// C++ identifiers for names of the API. Pure functions of the name and, where names can clash, of the set of names:
// they do not depend on an order, a counter or the locale.
//
// A name of the API is arbitrary text here. The result is always a legal identifier: no keyword, no common macro, not
// reserved (no double underscore).
#ifndef KGEN_GENERATOR_EMIT_SPELLING_NAMES_H_
#define KGEN_GENERATOR_EMIT_SPELLING_NAMES_H_

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

// The word for one of `plural`, by its ending alone; what no row fits stays as it is:
//
//   aws, dns, gcs, https, kms, nfs, series, tls   stay: no plurals
//   -ss, -us, -is                                 stay: address, status, analysis
//   -ies                                          -y: policies, policy
//   caches                                        cache
//   -sses, -xes, -ches, -shes                     without -es: addresses, address
//   -tuses                                        -tus: statuses, status
//   -iases                                        -ias: aliases, alias
//   -s                                            without -s: containers, container; PVCs, PVC
std::string Singular(std::string_view plural);

// The type of the elements of a list or map that is called `name`: TypeIdentifier() of its singular. Of the plural
// where the singular is in `taken`, or is what another of `siblings` is called in the singular or the plural.
std::string ElementTypeIdentifier(std::string_view name, const std::vector<std::string>& siblings,
                                  const std::set<std::string, std::less<>>& taken);

// The constant for a value of an enum. It follows from the value alone, and no two values have the same one:
//
//   a capital, then letters and digits               k and the value: "kAlways", "kHTTP"
//   letters, digits, and single underscores inside   k_ and the value: "k_keep", "k_ALWAYS_ON", "k_301"
//   all others                                       ks and the value, with the names of its symbols:
//                                                    "ks_cloud_Dash_config", "ksEqualTilde", "ksDash_5", "ksEmpty"
//
// "Table" is kTable_, because kTable is the table of a type.
std::string ConstantIdentifier(std::string_view value);

// Constants for the paths of the selectable fields of one kind, such as "spec.nodeName": "kSpecNodeName". Paths that
// differ only in case or separators have the constants of ConstantIdentifier(). The result has the order of `paths`,
// which has no duplicates.
std::vector<std::string> FieldConstants(const std::vector<std::string>& paths);

// A namespace and folder: lower case, ASCII, no reserved file name ("cert_manager", "con_").
std::string NamespaceIdentifier(std::string_view name);

// Lower-case identifiers with "::" between them, none of them reserved, the first one not std or kgen.
bool IsNamespace(const std::string& text);

// The accessor of a version: "V1", "V1alpha1", "V1_2_3".
std::string VersionAccessor(std::string_view version);

// The accessor of a resource: its plural, cased after the kind as far as the two agree: ("networkpolicies",
// "NetworkPolicy") -> "NetworkPolicies".
std::string ResourceAccessor(std::string_view plural, std::string_view kind);

// Identifiers for the names of one scope. When names map to the same identifier, the one that is spelled exactly like
// it keeps it, else the first in byte order; the others get "_2", "_3" ... in byte order. An identifier in `taken` gets
// a trailing underscore. The result is in the order of `names`.
std::vector<std::string> DistinctIdentifiers(const std::vector<std::string>& names,
                                             const std::function<std::string(std::string_view)>& identifier,
                                             const std::set<std::string, std::less<>>& taken);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_SPELLING_NAMES_H_
