// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: the KindInfo of resources that are known by name only. The KindInfo of generated kinds is in read-only data.
// Clients and informers refer to either for as long as they live.
#ifndef KGEN_SRC_CLIENT_VERBS_KIND_REGISTRY_H_
#define KGEN_SRC_CLIENT_VERBS_KIND_REGISTRY_H_

#include <string_view>

#include "kgen/client/rest_mapper.h"
#include "kgen/core/type_table.h"

namespace kgen::client {

// Returns the KindInfo of a mapping; equal mappings share one. It is never freed, since handles may refer to it until
// the process ends. Each different resource that a program names costs about 300 bytes.
// Thread safety: any thread. Does not block.
const KindInfo& KindOf(const ResourceMapping& mapping);

// Returns a mapping for a resource of unknown kind and scope. It is namespaced if there is a namespace.
ResourceMapping MappingOf(const GroupVersionResource& resource, std::string_view in_namespace);

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_VERBS_KIND_REGISTRY_H_
