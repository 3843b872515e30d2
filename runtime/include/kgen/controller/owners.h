// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Sets, removes and reads owner references.
//
//   ReplicaSet set{.metadata = {.name = "web", .namespace_ = deployment->metadata.namespace_}};
//   if (auto done = kgen::SetControllerReference(set, *deployment); !done) return done;
//   if (!kgen::IsControlledBy(set, *deployment)) ...
//
// The type of an object determines its kind. Unstructured and PartialObjectMetadata name their kind themselves, in
// apiVersion and kind, and count as cluster-scoped if they have no namespace.
//
// Thread safety: the functions work on the values that they are given. None blocks.
#ifndef KGEN_CONTROLLER_OWNERS_H_
#define KGEN_CONTROLLER_OWNERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/object_key.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/optional.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Selects owners of an object.
enum class Owners : std::uint8_t {
  kController,  // the one whose reference says `controller: true`
  kAll,
};

// Options of an owner reference.
struct OwnerReferenceOptions {
  // Whether a deletion of the owner in the foreground waits until the object is gone. Absent: true for a controller,
  // and not sent for another owner. To set it, the server wants the permission to update the owner's finalizers.
  Optional<bool> block_owner_deletion{};
};

namespace detail {

// An object without its type. It is valid as long as the object.
struct ObjectOfKind {
  const meta::v1::ObjectMeta* metadata;
  std::string api_version;
  std::string_view kind;
  const KindInfo* info;  // null if the type does not determine the kind
};

template <typename T>
ObjectOfKind WithKind(const T& object) {
  const KindInfo* info = T::kTable.kind;
  if constexpr (requires { std::string_view(object.apiVersion), std::string_view(object.kind); }) {
    if (info == nullptr) return {&object.metadata, object.apiVersion.str(), object.kind, nullptr};
  }
  return {&object.metadata, GroupVersion{info->group, info->version}.str(), info->kind, info};
}

Result<void> SetOwner(meta::v1::ObjectMeta& metadata, const ObjectOfKind& object, const ObjectOfKind& owner,
                      bool controller, const OwnerReferenceOptions& options);
Result<void> RemoveOwner(meta::v1::ObjectMeta& metadata, const ObjectOfKind& object, const ObjectOfKind& owner,
                         bool controller);
bool HasOwner(const meta::v1::ObjectMeta& object, const ObjectOfKind& owner);
bool HasController(const meta::v1::ObjectMeta& object) noexcept;
meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, std::string_view api_version,
                                           std::string_view kind);
meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, const KindInfo& kind);
bool IsControlledBy(const meta::v1::ObjectMeta& object, const meta::v1::ObjectMeta& owner) noexcept;
// Returns the keys of the owners of that kind. Group and kind decide, whatever the version. A reference with a
// malformed apiVersion belongs to no kind.
std::vector<ObjectKey> OwnerKeys(const meta::v1::ObjectMeta& object, const KindInfo& owner, Owners which);
}  // namespace detail

// Makes `owner` the controller of `object`: the one owner whose controller is responsible for it. Replaces a reference
// of the same group, kind and name, whatever its version and UID.
//
// Errors: kAlreadyExists    another owner is the controller already; nothing changed
//         kInvalidArgument  the owner has no name or no UID, which the server sets when it creates the owner; it names
//                           no kind; or it has a namespace and the object is in another one, or in none
template <typename T, typename Owner>
Result<void> SetControllerReference(T& object, const Owner& owner, const OwnerReferenceOptions& options = {}) {
  return detail::SetOwner(object.metadata, detail::WithKind(object), detail::WithKind(owner), true, options);
}

// Makes `owner` one of the owners of `object`, which is garbage when the last of them is gone. Replaces a reference of
// the same group, kind and name, which may have made it the controller. Errors: kInvalidArgument, as above.
template <typename T, typename Owner>
Result<void> SetOwnerReference(T& object, const Owner& owner, const OwnerReferenceOptions& options = {}) {
  return detail::SetOwner(object.metadata, detail::WithKind(object), detail::WithKind(owner), false, options);
}

// Removes the references of the owner's group, kind and name. Errors: kNotFound if there is none.
template <typename T, typename Owner>
Result<void> RemoveOwnerReference(T& object, const Owner& owner) {
  return detail::RemoveOwner(object.metadata, detail::WithKind(object), detail::WithKind(owner), false);
}

// Removes the reference if `owner` is the controller. Errors: kNotFound if it is not.
template <typename T, typename Owner>
Result<void> RemoveControllerReference(T& object, const Owner& owner) {
  return detail::RemoveOwner(object.metadata, detail::WithKind(object), detail::WithKind(owner), true);
}

// Returns whether there is a reference of the owner's group, kind and name. IsControlledBy compares UIDs instead.
template <typename T, typename Owner>
bool HasOwnerReference(const T& object, const Owner& owner) {
  return detail::HasOwner(object.metadata, detail::WithKind(owner));
}

// Returns whether any owner is the controller.
template <typename T>
bool HasControllerReference(const T& object) noexcept {
  return detail::HasController(object.metadata);
}

// Returns the owner reference that makes `owner` the controller of the object that carries it; it also blocks the
// owner's deletion in the foreground until that object is gone. `owner` needs its UID, which the server sets.
template <typename Owner>
meta::v1::OwnerReference ControllerRef(const Owner& owner) {
  if constexpr (requires { detail::MakeControllerRef(owner.metadata, owner.apiVersion, owner.kind); }) {
    if (Owner::kTable.kind == nullptr) return detail::MakeControllerRef(owner.metadata, owner.apiVersion, owner.kind);
  }
  return detail::MakeControllerRef(owner.metadata, *Owner::kTable.kind);
}

// Returns whether the controlling owner reference of `object` has the UID of `owner`.
template <typename T, typename Owner>
bool IsControlledBy(const T& object, const Owner& owner) noexcept {
  return detail::IsControlledBy(object.metadata, owner.metadata);
}

}  // namespace kgen

#endif  // KGEN_CONTROLLER_OWNERS_H_
