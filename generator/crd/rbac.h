// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Roles from the markers +kgen:rbac.
#ifndef KGEN_GENERATOR_CRD_RBAC_H_
#define KGEN_GENERATOR_CRD_RBAC_H_

#include <string>
#include <vector>

#include "generator/crd/markers.h"

namespace kgen::generator::crd {

// The roles as YAML documents: a ClusterRole with the rules without a namespace, and a Role for each namespace, all
// called `name` but for rules with a roleName; by namespace and name. Rules that differ only in verbs, resources,
// groups or URLs are one. Without any rule, an empty ClusterRole.
std::string MakeRoles(const std::vector<Marker>& rules, const std::string& name);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_RBAC_H_
