// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/with_kind.h"

#include <utility>

#include "kgen/core/object_key.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {

AnyRef WithKind(AnyRef object, const KindInfo& kind) {
  if (const Ref<const Unstructured> whole = object.As<Unstructured>()) {
    const bool complete = !whole->apiVersion.empty() && (!whole->kind.empty() || kind.kind.empty());
    if (complete) return object;
    Unstructured named = *whole;
    if (named.apiVersion.empty()) named.apiVersion = GroupVersion{kind.group, kind.version}.str();
    if (named.kind.empty() && !kind.kind.empty()) named.kind = kind.kind;
    return MakeRef(std::move(named));
  }
  if (const Ref<const PartialObjectMetadata> part = object.As<PartialObjectMetadata>()) {
    PartialObjectMetadata named;
    named.metadata = part->metadata;
    named.apiVersion = GroupVersion{kind.group, kind.version}.str();
    named.kind = kind.kind;
    return MakeRef(std::move(named));
  }
  return object;
}

}  // namespace kgen::cache
