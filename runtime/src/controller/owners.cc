// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/owners.h"

namespace kgen::detail {
namespace {

bool IsController(const meta::v1::OwnerReference& reference) noexcept { return reference.controller.value_or(false); }

bool IsOfKind(const meta::v1::OwnerReference& reference, const KindInfo& kind) {
  if (reference.kind != kind.kind) return false;
  const Result<GroupVersion> parsed = GroupVersion::Parse(reference.apiVersion);
  return parsed && parsed->group == kind.group;
}

}  // namespace

meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, std::string_view api_version,
                                           std::string_view kind) {
  return {.name = owner.name,
          .apiVersion = api_version,
          .blockOwnerDeletion = true,
          .controller = true,
          .kind = kind,
          .uid = owner.uid};
}

meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, const KindInfo& kind) {
  return MakeControllerRef(owner, GroupVersion{kind.group, kind.version}.str(), kind.kind);
}

bool IsControlledBy(const meta::v1::ObjectMeta& object, const meta::v1::ObjectMeta& owner) noexcept {
  for (const meta::v1::OwnerReference& reference : object.ownerReferences) {
    if (IsController(reference)) return reference.uid == owner.uid;  // the server allows only one controller
  }
  return false;
}

std::vector<ObjectKey> OwnerKeys(const meta::v1::ObjectMeta& object, const KindInfo& owner, Owners which) {
  std::vector<ObjectKey> keys;
  for (const meta::v1::OwnerReference& reference : object.ownerReferences) {
    if (which == Owners::kController && !IsController(reference)) continue;
    if (!IsOfKind(reference, owner)) continue;
    if (owner.scope == Scope::kCluster) {
      keys.push_back(ObjectKey::ClusterWide(reference.name));
    } else {
      keys.push_back(ObjectKey::Namespaced(object.namespace_, reference.name));
    }
  }
  return keys;
}

}  // namespace kgen::detail
