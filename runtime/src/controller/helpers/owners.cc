// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/owners.h"

#include <algorithm>
#include <utility>

namespace kgen::detail {
namespace {

bool IsController(const meta::v1::OwnerReference& reference) noexcept { return reference.controller.value_or(false); }

bool IsOfKind(const meta::v1::OwnerReference& reference, std::string_view group, std::string_view kind) {
  if (reference.kind != kind) return false;
  const Result<GroupVersion> parsed = GroupVersion::Parse(reference.apiVersion);
  return parsed && parsed->group == group;
}

// Whether a reference is to the owner's name, kind and group, whatever the version.
class IsTo {
 public:
  explicit IsTo(const ObjectOfKind& owner) : owner_(owner), group_(GroupVersion::Parse(owner.api_version)) {}
  bool operator()(const meta::v1::OwnerReference& reference) const {
    return group_ && reference.name == owner_.metadata->name && IsOfKind(reference, group_->group, owner_.kind);
  }

 private:
  const ObjectOfKind& owner_;
  const Result<GroupVersion> group_;
};

std::string Described(std::string_view kind, const ObjectKey& key) {
  return (kind.empty() ? "the object" : std::string(kind)) + (key.name.empty() ? "" : ' ' + key.str());
}
std::string Described(const ObjectOfKind& object) {
  return Described(object.kind, {object.metadata->namespace_, object.metadata->name});
}

std::string_view RoleOf(bool controller) noexcept { return controller ? "controller" : "owner"; }

Result<void> CheckOwner(const ObjectOfKind& owner) {
  const auto refuse = [](std::string_view why) {
    return Fail(Code::kInvalidArgument, "the owner " + std::string(why));
  };
  if (owner.kind.empty() || owner.api_version.empty()) return refuse("has no apiVersion or no kind; set both");
  if (const auto parsed = GroupVersion::Parse(owner.api_version); !parsed) return refuse(parsed.error().message());
  if (owner.metadata->name.empty()) return refuse("has no name");
  if (owner.metadata->uid.empty()) {
    return refuse("has no UID, which the server sets; use the object that a client or a lister returned");
  }
  return {};
}

Result<void> CheckNamespaces(const ObjectOfKind& object, const ObjectOfKind& owner) {
  const std::string_view of_owner = owner.metadata->namespace_;
  const std::string_view of_object = object.metadata->namespace_;
  if (owner.info != nullptr ? owner.info->scope == Scope::kCluster : of_owner.empty()) return {};
  std::string why;
  if (object.info != nullptr && object.info->scope == Scope::kCluster) {
    why = "a cluster-scoped object cannot have an owner in a namespace";
  } else if (of_object.empty()) {
    why = "the object has no namespace; an owner in a namespace can only own objects in that namespace";
  } else if (of_owner != of_object) {
    why = "the owner is in another namespace";
  } else {
    return {};
  }
  return Fail(Code::kInvalidArgument, why);
}

}  // namespace

Result<void> SetOwner(meta::v1::ObjectMeta& metadata, const ObjectOfKind& object, const ObjectOfKind& owner,
                      bool controller, const OwnerReferenceOptions& options) {
  const auto failed = [&](const Error& error) {
    return Fail(error.With("make " + Described(owner) + " the " + std::string(RoleOf(controller)) + " of " +
                           Described(object)));
  };
  if (const auto valid = CheckOwner(owner); !valid) return failed(valid.error());
  if (const auto valid = CheckNamespaces(object, owner); !valid) return failed(valid.error());
  const IsTo is_to_owner(owner);
  List<meta::v1::OwnerReference>& references = metadata.ownerReferences;
  if (controller) {
    const auto other = std::ranges::find_if(
        references, [&](const auto& reference) { return IsController(reference) && !is_to_owner(reference); });
    if (other != references.end()) {
      return failed(Error(Code::kAlreadyExists,
                          "its controller is " + Described(other->kind, {metadata.namespace_, other->name}) +
                              " already; remove that reference first if this owner is to take over"));
    }
  }
  meta::v1::OwnerReference made = MakeControllerRef(*owner.metadata, owner.api_version, owner.kind);
  if (!controller) {
    made.controller.reset();
    made.blockOwnerDeletion.reset();
  }
  if (options.block_owner_deletion.has_value()) made.blockOwnerDeletion = *options.block_owner_deletion;
  const auto old = std::ranges::find_if(references, is_to_owner);
  if (old == references.end()) {
    references.push_back(std::move(made));
  } else {
    *old = std::move(made);
  }
  return {};
}

Result<void> RemoveOwner(meta::v1::ObjectMeta& metadata, const ObjectOfKind& object, const ObjectOfKind& owner,
                         bool controller) {
  const IsTo is_to_owner(owner);
  const std::size_t erased = erase_if(metadata.ownerReferences, [&](const meta::v1::OwnerReference& reference) {
    return is_to_owner(reference) && (!controller || IsController(reference));
  });
  if (erased > 0) return {};
  return Fail(Code::kNotFound, "cannot remove the owner reference: " + Described(owner) + " is not the " +
                                   std::string(RoleOf(controller)) + " of " + Described(object));
}

bool HasOwner(const meta::v1::ObjectMeta& object, const ObjectOfKind& owner) {
  return std::ranges::any_of(object.ownerReferences, IsTo(owner));
}

bool HasController(const meta::v1::ObjectMeta& object) noexcept {
  return std::ranges::any_of(object.ownerReferences, IsController);
}

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
    if (!IsOfKind(reference, owner.group, owner.kind)) continue;
    if (owner.scope == Scope::kCluster) {
      keys.push_back(ObjectKey::ClusterWide(reference.name));
    } else {
      keys.push_back(ObjectKey::Namespaced(object.namespace_, reference.name));
    }
  }
  return keys;
}

}  // namespace kgen::detail
