// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/dynamic_client.h"

#include <deque>

#include "client/verbs/kind_registry.h"
#include "core/memory/mutex.h"

namespace kgen {
namespace client {
namespace {

// The strings that a KindInfo refers to.
struct KnownKind {
  explicit KnownKind(const ResourceMapping& of)
      : mapping(of),
        info{.group = mapping.resource.group,
             .version = mapping.resource.version,
             .kind = mapping.kind.kind,
             .list_kind = {},  // accept any list: discovery does not report its kind
             .resource = mapping.resource.resource,
             .singular = {},
             .scope = mapping.scope,
             .list = &UnstructuredList::kTable} {}
  KnownKind(const KnownKind&) = delete;
  KnownKind& operator=(const KnownKind&) = delete;

  const ResourceMapping mapping;
  const KindInfo info;
};

}  // namespace

const KindInfo& KindOf(const ResourceMapping& mapping) {
  static Mutex& mutex = *new Mutex();
  static std::deque<KnownKind>& known KGEN_GUARDED_BY(mutex) = *new std::deque<KnownKind>();
  const MutexLock lock(mutex);
  for (const KnownKind& kind : known) {
    if (kind.mapping == mapping) return kind.info;
  }
  return known.emplace_back(mapping).info;
}

ResourceMapping MappingOf(const GroupVersionResource& resource, std::string_view in_namespace) {
  return {.kind = {.group = resource.group, .version = resource.version, .kind = {}},
          .resource = resource,
          .scope = in_namespace.empty() ? Scope::kCluster : Scope::kNamespaced};
}

}  // namespace client

DynamicResource DynamicClient::ForResource(const GroupVersionResource& resource, std::string_view in_namespace) const {
  return ForMapping(client::MappingOf(resource, in_namespace), in_namespace);
}

DynamicResource DynamicClient::ForMapping(const ResourceMapping& mapping, std::string_view in_namespace) const {
  return DynamicResource(RawResource(connection(), client::KindOf(mapping), in_namespace));
}

Result<DynamicResource> DynamicClient::ForKind(const GroupVersionKind& kind, std::string_view in_namespace) const {
  Result<ResourceMapping> mapping = mapper_.ForKind(kind);
  if (!mapping) return Fail(std::move(mapping).error());
  return ForMapping(*mapping, in_namespace);
}

}  // namespace kgen
