// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CompareResourceVersions(): tells which of two states of one resource is newer, as k8s.io/apimachinery compares them.
//
//   const auto order = kgen::CompareResourceVersions(a.metadata.resourceVersion, b.metadata.resourceVersion);
//   if (order && *order < 0) ...  // `a` is older
#ifndef KGEN_CACHE_RESOURCE_VERSION_H_
#define KGEN_CACHE_RESOURCE_VERSION_H_

#include <compare>
#include <string_view>

#include "kgen/core/result.h"

namespace kgen {

// Compares the versions of objects of one resource (all pods, for instance) of one API server. Versions of different
// resources have no order. Thread safety: any thread. Never blocks.
// Errors: kInvalidArgument  one of the two is no decimal number without leading zeros: "", "0", and the versions of
//                           some aggregated API servers
Result<std::strong_ordering> CompareResourceVersions(std::string_view a, std::string_view b);

}  // namespace kgen

#endif  // KGEN_CACHE_RESOURCE_VERSION_H_
