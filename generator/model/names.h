// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks names of the input. The patterns are the API server's, so that valid names can be installed, and are
// safe in file names and C++ identifiers: no separators, quotes, control characters or consecutive dots.
#ifndef KGEN_GENERATOR_MODEL_NAMES_H_
#define KGEN_GENERATOR_MODEL_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

namespace kgen::generator::model {

// A DNS label that starts with a letter (RFC 1035): plural, singular, short names, categories, subresource names.
bool IsResourceName(std::string_view text);

// A DNS label that starts with a letter: versions ("v1", "v1-2-3", "preview").
bool IsVersion(std::string_view text);

// DNS labels with dots, at most 253 characters: groups. The empty group is not one.
bool IsGroup(std::string_view text);

// A kind: letters, digits and inner dashes, starting with a letter, at most 63 characters. `widget` is valid, and so is
// "Foo-Bar" (the server requires that the kind in lower case is a DNS label).
bool IsKind(std::string_view text);

// The name of a definition's type: letters, digits and '_', starting with a letter, at most 200 characters.
bool IsTypeName(std::string_view text);

// The group, version and name of a type, from the name of its definition.
struct DefinitionName {
  std::string group;    // "apps", "", "rbac.authorization.k8s.io", "meta.k8s.io"
  std::string version;  // "" when the name has none
  std::string name;
};

// "io.k8s.api.core.v1.PodSpec" -> {"", "v1", "PodSpec"}; "com.example.shop.v1.Order" -> {"shop.example.com", "v1",
// "Order"}. Nothing when a part is no legal name.
std::optional<DefinitionName> ParseDefinitionName(std::string_view definition);

// Kubernetes' order of versions: stable before beta before alpha, then by number, newest first; others last, by bytes.
// True if `a` comes before `b`.
bool VersionBefore(std::string_view a, std::string_view b);

// Types of meta/v1 that the runtime declares (kgen::meta::v1).
bool IsRuntimeType(std::string_view group, std::string_view version, std::string_view name);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_NAMES_H_
