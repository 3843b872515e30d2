// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "exports.h"

#include <k8s/core/v1/types.h>

#include <string>

using k8s::core::v1::ConfigMap;

namespace {

// Names of objects may have dots, and names of clusters and namespaces are parts of a domain name, too.
std::string NameOfCopy(const kgen::Request& request) {
  std::string name(request.cluster());
  name.append(".").append(request.key().namespace_.view()).append(".").append(request.key().name.view());
  return name;
}

// Reads from the cluster of the request, and writes to the home cluster.
kgen::Result<void> Copy(kgen::Request& request, const kgen::CachedClient& hub) {
  KGEN_TRY(const auto map, request.Get<ConfigMap>());
  const std::string name = NameOfCopy(request);
  const auto label = map ? map->metadata.labels.find(kExport) : decltype(map->metadata.labels.find(kExport))();
  if (!map || label == map->metadata.labels.end() || label->second != "true") {
    auto gone = hub.Delete<ConfigMap>({kExports, name});
    if (!gone && gone.error().code() != kgen::Code::kNotFound) return gone.error();
    return {};
  }
  ConfigMap copy{.metadata = {.name = name, .namespace_ = kExports}, .data = map->data};
  copy.metadata.labels["exports.example.com/cluster"] = kgen::String(request.cluster());
  KGEN_TRY(const auto applied, hub.Apply(copy));
  return {};
}

}  // namespace

kgen::Result<void> ExportConfigMaps(const kgen::Manager& home, const kgen::Clusters& clusters) {
  return clusters.Each([hub = home.client()](const kgen::Manager& cluster) -> kgen::Result<void> {
    const auto added = cluster.Control<ConfigMap>("exports").MaxConcurrentReconciles(2).Reconcile(
        [hub](kgen::Request& request) { return Copy(request, hub.With(request.stop())); });
    if (!added) return added.error();
    return {};
  });
}
