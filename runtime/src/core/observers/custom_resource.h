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

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OBSERVERS_CUSTOM_RESOURCE_H_
