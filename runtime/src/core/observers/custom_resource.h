// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_OBSERVERS_CUSTOM_RESOURCE_H_
#define KGEN_SRC_CORE_OBSERVERS_CUSTOM_RESOURCE_H_

#include <string_view>

namespace kgen::detail {

// What to ask when a resource is not found.
inline constexpr std::string_view kIsItsCrdInstalled = "is its CustomResourceDefinition installed, with this version?";

// True for the name of an informer ("clusters.b.example.com/v1 in default") whose resource a CustomResourceDefinition
// may define: its group is a domain name.
constexpr bool MayBeCustom(std::string_view informer) {
  const std::string_view resource = informer.substr(0, informer.find_first_of("/ "));
  return resource.find('.') != resource.rfind('.');
}

// Returns what to ask when the server does not find the resource of that informer, or nothing if the error already asks
// for the CustomResourceDefinition.
constexpr std::string_view AskForCrd(std::string_view informer, std::string_view error) {
  const bool asked = error.find("CustomResourceDefinition") != std::string_view::npos;
  return !asked && MayBeCustom(informer) ? kIsItsCrdInstalled : std::string_view();
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OBSERVERS_CUSTOM_RESOURCE_H_
