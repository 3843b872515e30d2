// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CreateOrUpdate, CreateOrPatch and ApplyIfChanged: bring an object to the wanted state, and send nothing if it has
// that state already.
//
//   Deployment deployment{.metadata = {.name = "web", .namespace_ = order.metadata.namespace_}};
//   auto written = kgen::CreateOrUpdate(client, deployment, [&](Deployment& d) {
//     d.spec->replicas = *order.spec->replicas;
//     return kgen::SetControllerReference(d, order);
//   });
//   if (!written) return kgen::Fail(written.error());
//
// All of them compare with what CachedClient::Get() returns: the object in the cache, with the client's own writes.
// SemanticEqual decides whether two objects are equal.
//
// Thread safety: may be called from any thread. They block as the client does, and return its errors.
#ifndef KGEN_CONTROLLER_CREATE_OR_UPDATE_H_
#define KGEN_CONTROLLER_CREATE_OR_UPDATE_H_

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/status_part.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"
#include "kgen/core/value.h"

namespace kgen {

enum class OperationResult : std::uint8_t {
  kUnchanged,          // nothing was sent, or the server had nothing to change
  kCreated,            // there was no such object in the cache
  kUpdated,            // without the status
  kUpdatedStatus,      // the status too
  kUpdatedStatusOnly,  // the status and nothing else
};
// "unchanged", "created", "updated", "updatedStatus", "updatedStatusOnly"
std::string_view ToString(OperationResult result) noexcept;
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, OperationResult result) {
  return os << ToString(result);
}

// What a write has done, and the object after it.
template <typename T>
struct Written {
  T object{};  // the server's answer; if nothing was sent, as it is in the cache
  OperationResult operation{};
};

namespace detail {

// Returns whether applying `wanted` as `manager` can change nothing; see ApplyIfChanged. Without `caches`, no answer of
// the server is known.
bool AlreadyApplied(const void* wanted, const void* cached, const TypeTable& table, std::string_view manager,
                    const Caches* caches);
// Keeps in `caches` what the server has added to `wanted`, if AlreadyApplied() will need it.
void RememberApplied(const void* wanted, const void* answer, const TypeTable& table, std::string_view manager,
                     const Caches& caches);
Result<void> CheckSameKey(const ObjectKey& before, const ObjectKey& after);

template <typename T>
ObjectKey KeyOf(const T& object) {
  return {object.metadata.namespace_, object.metadata.name};
}

template <typename T>
Result<Ref<const T>> GetLike(const CachedClient& client, const T& object) {
  if (object.metadata.name.empty()) return Fail(Code::kInvalidArgument, "the object has no metadata.name");
  if constexpr (NamesItsKind<T>) {
    return client.Get<T>(KeyOf(object));
  } else {
    static_assert(std::is_same_v<T, Unstructured>, "metadata alone cannot be created and updated");
    Result<GroupVersion> names = GroupVersion::Parse(object.apiVersion);
    if (!names) return Fail(std::move(names).error());
    return client.Get(GroupVersionKind{names->group, names->version, object.kind}, KeyOf(object));
  }
}

template <typename T, typename F>
Result<void> Mutate(T& object, F& mutate) {
  using Returned = std::invoke_result_t<F&, T&>;
  static_assert(std::is_void_v<Returned> || std::is_same_v<Returned, Result<void>>,
                "mutate takes a reference to the object, and returns nothing or kgen::Result<void>");
  const ObjectKey before = KeyOf(object);
  if constexpr (std::is_void_v<Returned>) {
    mutate(object);
  } else if (Result<void> done = mutate(object); !done) {
    return done;
  }
  return CheckSameKey(before, KeyOf(object));
}

template <typename T, typename F>
Result<Written<T>> MutateAndCreate(const CachedClient& client, T object, F& mutate) {
  if (Result<void> done = Mutate(object, mutate); !done) return Fail(std::move(done).error());
  Result<T> created = client.Create(object);
  if (!created) return Fail(std::move(created).error());
  return Written<T>{*std::move(created), OperationResult::kCreated};
}

}  // namespace detail

// Creates the object with the name, namespace and kind of `object`, or updates it. `mutate(T&)` brings it to the wanted
// state: it gets a copy of the cached object, or `object` itself if there is none. It may return an error
// (Result<void>), which ends the call.
//
// The update carries the resourceVersion, so it fails with kConflict if the object has changed since; reconcile again.
// It does not write the status of a kind with that subresource. It replaces the whole object: with a cache whose
// transform drops members, use CreateOrPatch, or they are lost on the server.
//
// Errors: the errors of `mutate`; kInvalidArgument if the object has no name, or `mutate` changed its name or
// namespace; the errors of CachedClient::Get, Create and Update, among them kAlreadyExists if the cache did not have
// the object yet.
template <typename T, typename F>
[[nodiscard]] Result<Written<T>> CreateOrUpdate(const CachedClient& client, const T& object, F mutate) {
  Result<Ref<const T>> cached = detail::GetLike(client, object);
  if (!cached) return Fail(std::move(cached).error());
  if (!*cached) return detail::MutateAndCreate(client, object, mutate);
  T wanted = **cached;
  if (Result<void> done = detail::Mutate(wanted, mutate); !done) return Fail(std::move(done).error());
  if (SemanticEqual(**cached, wanted)) return Written<T>{std::move(wanted), OperationResult::kUnchanged};
  Result<T> updated = client.Update(wanted);
  if (!updated) return Fail(std::move(updated).error());
  return Written<T>{*std::move(updated), OperationResult::kUpdated};
}

// Brings an object to the wanted state with merge patches (RFC 7386), one of the object and one of its status
// subresource, each only if it has something to change. They contain the members that differ, so what others change
// meanwhile stays as it is, and there are no conflicts; but a list, the finalizers for instance, is replaced as a whole
// by what is in the cache with the changes of `mutate`. The server ignores the status of an object that is created: the
// next call patches it.
//
// Errors: as above, and as kgen::MergePatch. After an error of the second patch, the first one has been made.
template <typename T, typename F>
[[nodiscard]] Result<Written<T>> CreateOrPatch(const CachedClient& client, const T& object, F mutate) {
  Result<Ref<const T>> cached = detail::GetLike(client, object);
  if (!cached) return Fail(std::move(cached).error());
  if (!*cached) return detail::MutateAndCreate(client, object, mutate);
  const T& before = **cached;
  T wanted = before;
  if (Result<void> done = detail::Mutate(wanted, mutate); !done) return Fail(std::move(done).error());
  const T new_status = detail::WithStatusOf(before, wanted);
  const bool status = !SemanticEqual(before, new_status);
  const bool rest = !SemanticEqual(new_status, wanted);
  Written<T> written{before, OperationResult::kUnchanged};
  if (rest) {
    const Result<Patch> patch = MergePatch(new_status, wanted);
    if (!patch) return Fail(patch.error());
    Result<T> patched = client.Patch(before, *patch);
    if (!patched) return Fail(std::move(patched).error());
    written = {*std::move(patched), OperationResult::kUpdated};
  }
  if (status) {
    const Result<Patch> patch = MergePatch(before, new_status);
    if (!patch) return Fail(patch.error());
    Result<T> patched = client.PatchStatus(before, *patch);
    if (!patched) return Fail(std::move(patched).error());
    written = {*std::move(patched), rest ? OperationResult::kUpdatedStatus : OperationResult::kUpdatedStatusOnly};
  }
  return written;
}

// Applies the members that are set in `wanted` with CachedClient::Apply(), but only if that may change something. A
// controller can therefore build the wanted object from scratch in each reconcile, and send it without comparing it
// with the defaults that the server has added.
//
// Nothing is sent if both hold for the cached object:
//   * The fields that it records for this field manager (metadata.managedFields, operation Apply, of the same
//     apiVersion) are exactly those that are set in `wanted`. An apply would remove the others.
//   * Each of them has the value of `wanted`: quantities, times and durations compare by value, members in any order.
//     Elements of a list with keys are found by them and have to be in the same order; they may leave out a key that
//     the server fills in, as it does the protocol of a port. A list, map or struct that is owned as a whole has to be
//     equal as a whole, so that a member that is no longer wanted is noticed. It may have more members only if they are
//     the same that the server has added in its answer to the same `wanted` before, as it does in volumeClaimTemplates:
//     the caches keep a hash of such answers (20,000 at most, 2 MB). So the first call of a process sends such an
//     object.
// It sends the apply when in doubt: when the cache has no managedFields (a transform may drop them), when the server
// stores a value in another spelling, or none for an empty one, or when `wanted` contains a null, a resourceVersion, a
// uid or the status of a kind with that subresource. That costs a request; an apply that changes nothing does not
// change the resourceVersion.
//
// Errors: kInvalidArgument if `wanted` has no name; the errors of CachedClient::Get and Apply, among them kConflict if
// another manager owns a field and `options` do not say `force`.
template <typename T>
[[nodiscard]] Result<Written<T>> ApplyIfChanged(const CachedClient& client, const T& wanted,
                                                const PatchOptions& options = {}) {
  Result<Ref<const T>> cached = detail::GetLike(client, wanted);
  if (!cached) return Fail(std::move(cached).error());
  const std::string_view manager =
      options.field_manager.empty() ? client.field_manager() : std::string_view(options.field_manager);
  if (*cached && detail::AlreadyApplied(&wanted, cached->get(), T::kTable, manager, &client.caches())) {
    return Written<T>{**cached, OperationResult::kUnchanged};
  }
  Result<T> applied = client.Apply(wanted, options);
  if (!applied) return Fail(std::move(applied).error());
  if (!options.dry_run) detail::RememberApplied(&wanted, &*applied, T::kTable, manager, client.caches());
  OperationResult operation = *cached ? OperationResult::kUpdated : OperationResult::kCreated;
  if (*cached && (*cached)->metadata.resourceVersion == applied->metadata.resourceVersion) {
    operation = OperationResult::kUnchanged;
  }
  return Written<T>{*std::move(applied), operation};
}

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CREATE_OR_UPDATE_H_
