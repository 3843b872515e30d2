// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One part of resolve.h: gathers operations on paths into resources with verbs, scope and subresources. Private to
// generator/model.
#ifndef KGEN_GENERATOR_MODEL_RESOLVE_OPERATIONS_H_
#define KGEN_GENERATOR_MODEL_RESOLVE_OPERATIONS_H_

#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/api.h"
#include "generator/model/raw_schema.h"

namespace kgen::generator::model {

// A resource and the kind of its own operations (not of its subresources).
struct ServedResource {
  GroupVersionKind gvk;
  Resource resource;
};

// Returns the resources in the order of group, version and plural.
std::vector<ServedResource> GatherResources(const Draft& draft, Diagnostics& diagnostics);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_RESOLVE_OPERATIONS_H_
