// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A ClusterRole from the markers +kgen:rbac.
#ifndef KGEN_GENERATOR_CRD_RBAC_H_
#define KGEN_GENERATOR_CRD_RBAC_H_

#include <string>

#include "generator/crd/description.h"

namespace kgen::generator::crd {

// The role as YAML, with one rule for each different marker, in byte order. No rules: no markers.
std::string MakeClusterRole(const Description& description, const std::string& name);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_RBAC_H_
