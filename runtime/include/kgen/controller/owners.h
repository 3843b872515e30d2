// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Owner references: making the one of a controller, and reading whom an object belongs to.
//
//   ReplicaSet set{.metadata = {.name = "web", .ownerReferences = {kgen::ControllerRef(*deployment)}}};
//   if (!kgen::IsControlledBy(*set, *deployment)) ...
//
// Thread safety: free functions over values. None blocks.
#ifndef KGEN_CONTROLLER_OWNERS_H_
#define KGEN_CONTROLLER_OWNERS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "kgen/core/object_key.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Which owners of an object count.
enum class Owners : std::uint8_t {
  kController,  // the one whose reference says `controller: true`
  kAll,
};

namespace detail {
meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, std::string_view api_version,
                                           std::string_view kind);
meta::v1::OwnerReference MakeControllerRef(const meta::v1::ObjectMeta& owner, const KindInfo& kind);
bool IsControlledBy(const meta::v1::ObjectMeta& object, const meta::v1::ObjectMeta& owner) noexcept;
// The keys of the owners of that kind: group and kind decide, whatever the version. A reference with a malformed
// apiVersion belongs to no kind.
std::vector<ObjectKey> OwnerKeys(const meta::v1::ObjectMeta& object, const KindInfo& owner, Owners which);
}  // namespace detail

// The owner reference that makes `owner` the controller of the object that carries it; it also blocks the owner's
// deletion in the foreground until that object is gone. `owner` needs its UID, which the server sets.
template <typename Owner>
meta::v1::OwnerReference ControllerRef(const Owner& owner) {
  if constexpr (requires { detail::MakeControllerRef(owner.metadata, owner.apiVersion, owner.kind); }) {
    if (Owner::kTable.kind == nullptr) return detail::MakeControllerRef(owner.metadata, owner.apiVersion, owner.kind);
  }
  return detail::MakeControllerRef(owner.metadata, *Owner::kTable.kind);
}

// Whether the controlling owner reference of `object` has the UID of `owner`.
template <typename T, typename Owner>
bool IsControlledBy(const T& object, const Owner& owner) noexcept {
  return detail::IsControlledBy(object.metadata, owner.metadata);
}

}  // namespace kgen

#endif  // KGEN_CONTROLLER_OWNERS_H_
