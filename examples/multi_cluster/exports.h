// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_EXAMPLES_MULTI_CLUSTER_EXPORTS_H_
#define KGEN_EXAMPLES_MULTI_CLUSTER_EXPORTS_H_

#include <kgen/controller/clusters.h>
#include <kgen/controller/manager.h>
#include <kgen/core/result.h>

// The label of a ConfigMap that is exported, with the value "true"; and the namespace of the copies in the home
// cluster.
inline constexpr const char* kExport = "exports.example.com/export";
inline constexpr const char* kExports = "exports";

// Adds a controller to each cluster that copies its exported ConfigMaps to the home cluster, under the name
// CLUSTER.NAMESPACE.NAME, and deletes the copy with the original.
// Errors: as Clusters::Each()
kgen::Result<void> ExportConfigMaps(const kgen::Manager& home, const kgen::Clusters& clusters);

#endif  // KGEN_EXAMPLES_MULTI_CLUSTER_EXPORTS_H_
