// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Patches of a kustomization that configure the conversion of CRDs. kgen applies no patches, but it does not warn of
// CRDs whose versions a webhook converts.
#ifndef KGEN_GENERATOR_PARSE_CONVERSION_PATCH_H_
#define KGEN_GENERATOR_PARSE_CONVERSION_PATCH_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {

// The names of the CRDs whose conversion the patches of a kustomization in this folder configure, as the kustomization
// writes them; for IsPatched(). Patches that cannot be read are left out.
std::vector<std::string> ConvertedByPatches(const yaml::Node& kustomization, const std::filesystem::path& folder);

// Whether a name of ConvertedByPatches() means this CRD: an empty one means all of them, and ".*" any part of a name.
// Other regular expressions of kustomize match nothing.
bool IsPatched(std::string_view pattern, std::string_view crd);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_CONVERSION_PATCH_H_
