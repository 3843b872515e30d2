// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <k8s/core/v1/types.h>
#include <kgen/core/try.h>

#include <string>

using k8s::core::v1::ConfigMap;

// Nothing here knows of the tracer: the requests of request.client() are children of the span of this call.
kgen::Result<void> AddKeyCounter(const kgen::Manager& manager) {
  const auto added =
      manager.Control<ConfigMap>("keys").Reconcile([](kgen::Request& request) -> kgen::Result<kgen::Requeue> {
        KGEN_TRY(const auto map, request.Get<ConfigMap>());
        if (!map) return kgen::Requeue::Done();
        const std::string keys = std::to_string(map->data.size());
        if (map->metadata.annotations[kKeys] == keys) return kgen::Requeue::Done();
        ConfigMap changed = *map;
        changed.metadata.annotations[kKeys] = keys;
        KGEN_TRY(changed, request.client().Update(changed));
        return kgen::Requeue::Done();
      });
  if (!added) return added.error();
  return {};
}
