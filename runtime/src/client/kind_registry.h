// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: the KindInfo of resources that are known by name only. Generated kinds have theirs in read-only data;
// clients and informers refer to either for as long as they live.
#ifndef KGEN_SRC_CLIENT_KIND_REGISTRY_H_
#define KGEN_SRC_CLIENT_KIND_REGISTRY_H_

#include <string_view>

#include "kgen/client/rest_mapper.h"
#include "kgen/core/type_table.h"

namespace kgen::client {

// The KindInfo of that mapping, one for all equal ones. It is never freed, since handles to it may outlive everything:
// memory grows with the number of different resources that a program names, about 300 bytes for each.
// Thread safety: any thread. Does not block.
const KindInfo& KindOf(const ResourceMapping& mapping);

// A mapping for a resource of unknown kind and scope: namespaced if there is a namespace.
ResourceMapping MappingOf(const GroupVersionResource& resource, std::string_view in_namespace);

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_KIND_REGISTRY_H_
