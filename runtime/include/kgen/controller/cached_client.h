// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CachedClient: a client that reads from caches and writes to the server. Controllers read and write with it.
//
//   auto order = client.Get<Order>(key);                       // Result<Ref<const Order>>, null if there is none
//   Order changed = **order;
//   changed.status->phase = "Ready";
//   auto updated = client.UpdateStatus(changed);
//   client.Get<Order>(key);                                    // this state or a newer one
//
// Reads are never older than what the clients of the same Caches have written, for instance the clients of one manager;
// another manager of the process has its own. Each successful write is remembered with its resource version.
// A Get() waits until the cache contains the last write of its key, a List() until it contains the writes of its kind
// (and namespace) from before its call; later writes do not extend a wait. After 5 seconds a read fails with kTimeout
// instead of returning an older state. Writes never wait. What a cache does not select (by namespace, labels or fields)
// is not waited for. A CachedClient does not remember writes that do not go through such a CachedClient, writes of
// subresources other than status, writes whose outcome is unknown because the call failed, dry runs, and the oldest of
// more than CachesOptions::max_remembered_writes. To read without waiting, use caches().
//
// The first read of a kind creates its cache, which the client and its copies keep from then on, and blocks until it
// has synced.
#ifndef KGEN_CONTROLLER_CACHED_CLIENT_H_
#define KGEN_CONTROLLER_CACHED_CLIENT_H_

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/client/options.h"
#include "kgen/controller/caches.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

class RestMapper;

namespace controller {
class ClientState;
class WriteLog;
}  // namespace controller

// A handle: copies share the caches that they keep.
//
// Thread safety: const members from any thread.
// Blocking: reads block only for a cache that has not synced or not caught up, as described above; writes block until
// the server has answered. On a thread that runs posted work, a call that would block fails with kInvalidArgument.
class CachedClient {
 public:
  // `field_manager` is the name under which the server records who wrote a field, usually the name of the controller.
  CachedClient(Caches caches, std::string_view field_manager);
  CachedClient(const CachedClient&);
  CachedClient(CachedClient&&) noexcept;
  CachedClient& operator=(CachedClient) noexcept;
  ~CachedClient();

  // --- Reads.
  //
  // Errors: kInvalidArgument  the caches have not been started; the namespace is not cached; no such index; a list of
  //                           all namespaces without ListFilter::held_only where they are divided between processes
  //         kUnavailable      the namespace is in a shard that this process does not hold
  //         kTimeout          the cache has not caught up with the last write in 5 s; the message names kind, key and
  //                           versions. Or it has not synced in time
  //         kForbidden, ...   the server refuses to list the kind (see Cache::WaitForSync())
  //         kCancelled        the stop of With() was requested
  //         kStopped          the caches have been shut down
  // A first read that fails leaves no cache behind.

  // Returns the object, or null if there is none. The namespace of the key is empty for a cluster-scoped kind.
  template <detail::NamesItsKind T>
  [[nodiscard]] Result<Ref<const T>> Get(const ObjectKey& key) const {
    return TypedRef<T>(GetAny(T::kTable, *T::kTable.kind, key));
  }
  // Returns the objects that match, in no particular order.
  template <detail::NamesItsKind T>
  [[nodiscard]] Result<std::vector<Ref<const T>>> List(const ListFilter& filter = {}) const {
    return TypedList<T>(ListAny(T::kTable, *T::kTable.kind, filter));
  }
  // Reads objects of any kind. The first call for a kind asks the server which resource it is.
  [[nodiscard]] Result<Ref<const Unstructured>> Get(const GroupVersionKind& kind, const ObjectKey& key) const;
  [[nodiscard]] Result<std::vector<Ref<const Unstructured>>> List(const GroupVersionKind& kind,
                                                                  const ListFilter& filter = {}) const;
  // Reads the metadata alone.
  template <detail::NamesItsKind T>
  [[nodiscard]] Result<Ref<const PartialObjectMetadata>> GetMetadata(const ObjectKey& key) const {
    return GetMetadata(*T::kTable.kind, key);
  }
  template <detail::NamesItsKind T>
  [[nodiscard]] Result<std::vector<Ref<const PartialObjectMetadata>>> ListMetadata(
      const ListFilter& filter = {}) const {
    return ListMetadata(*T::kTable.kind, filter);
  }
  // Get and List for code that is compiled once for all types; see Caches::Of(); see Caches::Of().
  [[nodiscard]] Result<AnyRef> GetAny(const TypeTable& table, const KindInfo& kind, const ObjectKey& key) const;
  [[nodiscard]] Result<std::vector<AnyRef>> ListAny(const TypeTable& table, const KindInfo& kind,
                                                    const ListFilter& filter) const;

  // --- Writes.
  //
  // T may be a kind with a type of its own, or Unstructured, whose apiVersion and kind name the kind (the server is
  // asked once which resource that is). PartialObjectMetadata can only be patched and deleted. A result is the server's
  // answer, with uid, resourceVersion and defaults. An empty field_manager means the name of the client.
  //
  // Errors: kInvalidArgument (nothing sent), the server's (see Code), the guard's (see SendGuard), kUnavailable, kTls,
  // kTimeout, kCancelled, kDecode.

  // Creates the object and returns it as the server has stored it.
  template <detail::HasTable T>
  [[nodiscard]] Result<T> Create(const T& object, const CreateOptions& options = {}) const {
    CheckWhole<T>();
    return Answer<T>([&](void* answer) { return CreateAny(&object, T::kTable, options, answer); });
  }
  // Replaces the object; kConflict if metadata.resourceVersion is set and no longer the newest.
  template <detail::HasTable T>
  [[nodiscard]] Result<T> Update(const T& object, const UpdateOptions& options = {}) const {
    CheckWhole<T>();
    return Answer<T>([&](void* answer) { return UpdateAny(&object, T::kTable, "", options, answer); });
  }
  template <detail::HasTable T>
  [[nodiscard]] Result<T> UpdateStatus(const T& object, const UpdateOptions& options = {}) const {
    CheckWhole<T>();
    return Answer<T>([&](void* answer) { return UpdateAny(&object, T::kTable, "status", options, answer); });
  }

  // Patches the object with the kind and key of `object`, whose other members are ignored.
  template <detail::HasTable T>
  [[nodiscard]] Result<T> Patch(const T& object, const kgen::Patch& patch, const PatchOptions& options = {}) const {
    return Answer<T>([&](void* answer) { return PatchAny(&object, T::kTable, "", &patch, options, answer); });
  }
  template <detail::HasTable T>
  [[nodiscard]] Result<T> PatchStatus(const T& object, const kgen::Patch& patch,
                                      const PatchOptions& options = {}) const {
    return Answer<T>([&](void* answer) { return PatchAny(&object, T::kTable, "status", &patch, options, answer); });
  }
  // Applies the members that are set in `object`, with server-side apply.
  template <detail::HasTable T>
  [[nodiscard]] Result<T> Apply(const T& object, const PatchOptions& options = {}) const {
    CheckWhole<T>();
    return Answer<T>([&](void* answer) { return PatchAny(&object, T::kTable, "", nullptr, options, answer); });
  }
  // Applies the status alone. Fails with kNotFound if there is no such object.
  template <detail::HasTable T>
  [[nodiscard]] Result<T> ApplyStatus(const T& object, const PatchOptions& options = {}) const {
    CheckWhole<T>();
    return Answer<T>([&](void* answer) { return PatchAny(&object, T::kTable, "status", nullptr, options, answer); });
  }

  // Deletes the object with the kind and key of `object`; its other members matter only if `options` have
  // preconditions.
  template <detail::HasTable T>
  [[nodiscard]] Result<void> Delete(const T& object, const DeleteOptions& options = {}) const {
    return DeleteAny(&object, T::kTable, options);
  }
  template <detail::NamesItsKind T>
  [[nodiscard]] Result<void> Delete(const ObjectKey& key, const DeleteOptions& options = {}) const {
    return DeleteKey(*T::kTable.kind, key, options);
  }

  // --- Subresources, by their name: "scale", "eviction", "token", "approval", ... Only the kind and key of `object`
  // matter. `Reply` is the type of the answer: autoscaling::v1::Scale, T, Unstructured, ... GetSubresource() asks the
  // server. Reads from the caches do not wait for writes of subresources.
  //
  //   client.GetSubresource<Scale>(deployment, "scale");
  //   client.CreateSubresource<Unstructured>(pod, "eviction", Eviction{.metadata = {.name = pod.metadata.name}});

  // Reads a subresource of the object: GET.
  template <detail::HasTable Reply, detail::HasTable T>
  [[nodiscard]] Result<Reply> GetSubresource(const T& object, std::string_view name,
                                             const GetOptions& options = {}) const {
    return Answer<Reply>(
        [&](void* answer) { return GetSubresourceAny(&object, T::kTable, name, options, answer, Reply::kTable); });
  }
  // Posts to a subresource of the object: POST.
  template <detail::HasTable Reply, detail::HasTable T, detail::HasTable Body>
  [[nodiscard]] Result<Reply> CreateSubresource(const T& object, std::string_view name, const Body& body,
                                                const CreateOptions& options = {}) const {
    return Answer<Reply>([&](void* answer) {
      return CreateSubresourceAny(&object, T::kTable, name, {&body, &Body::kTable}, options, answer, Reply::kTable);
    });
  }
  // Replaces a subresource of the object: PUT.
  template <detail::HasTable Reply, detail::HasTable T, detail::HasTable Body>
  [[nodiscard]] Result<Reply> UpdateSubresource(const T& object, std::string_view name, const Body& body,
                                                const UpdateOptions& options = {}) const {
    return Answer<Reply>([&](void* answer) {
      return UpdateSubresourceAny(&object, T::kTable, name, {&body, &Body::kTable}, options, answer, Reply::kTable);
    });
  }
  // Patches a subresource of the object: PATCH.
  template <detail::HasTable Reply, detail::HasTable T>
  [[nodiscard]] Result<Reply> PatchSubresource(const T& object, std::string_view name, const kgen::Patch& patch,
                                               const PatchOptions& options = {}) const {
    return Answer<Reply>([&](void* answer) {
      return PatchSubresourceAny(&object, T::kTable, name, patch, options, answer, Reply::kTable);
    });
  }

  // --- Variants of this client, which share its caches and the memory of writes.

  // Returns a client whose reads ask the server. The caches need not be started.
  // ListFilter::index is an error there.
  CachedClient Live() const;
  // Returns a client whose blocking calls end with kCancelled once `stop` is requested. The call that asks the server
  // which resource a kind is does not.
  CachedClient With(std::stop_token stop) const;
  // Returns a client that asks `guard` immediately before it sends a write.
  CachedClient With(Shared<SendGuard> guard) const;
  // Returns a client the spans of whose requests are children of the span `parent`; see Connection::With().
  CachedClient With(const TraceContext& parent) const;
  CachedClient WithFieldManager(std::string_view name) const;
  // Returns a client that notes the answers to writes that directly follow a state that the caller knows. For
  // controllers.
  CachedClient With(Shared<controller::WriteLog> log) const;

  // Return what the client was made of.
  const Connection& connection() const noexcept { return connection_; }
  const Caches& caches() const noexcept { return caches_; }
  RestMapper mapper() const;  // shared by the copies of this client
  std::string_view field_manager() const noexcept { return field_manager_; }

 private:
  template <typename T>
  static constexpr void CheckWhole() {
    static_assert(!std::is_same_v<T, PartialObjectMetadata>,
                  "metadata alone can be patched and deleted; create, update and apply need the whole object");
    static_assert(!detail::IsProjection<T>,
                  "a projection can be patched and deleted; create, update and apply need the whole object");
  }
  template <typename T, typename F>
  static Result<T> Answer(F write) {
    Result<T> answer{std::in_place};
    if (Result<void> done = write(static_cast<void*>(&*answer)); !done) return Fail(std::move(done).error());
    return answer;
  }
  template <typename T>
  static Result<Ref<const T>> TypedRef(Result<AnyRef> object) {
    if (!object) return Fail(std::move(object).error());
    return object->template As<T>();
  }
  template <typename T>
  static Result<std::vector<Ref<const T>>> TypedList(const Result<std::vector<AnyRef>>& objects) {
    if (!objects) return Fail(objects.error());
    return detail::TypedRefs<T>(*objects);
  }
  Result<Ref<const PartialObjectMetadata>> GetMetadata(const KindInfo& kind, const ObjectKey& key) const;
  Result<std::vector<Ref<const PartialObjectMetadata>>> ListMetadata(const KindInfo& kind,
                                                                     const ListFilter& filter) const;

  // `object` and `answer` are structs of that table; a null patch means apply.
  Result<void> CreateAny(const void* object, const TypeTable& table, const CreateOptions& options, void* answer) const;
  Result<void> UpdateAny(const void* object, const TypeTable& table, std::string_view subresource,
                         const UpdateOptions& options, void* answer) const;
  Result<void> PatchAny(const void* object, const TypeTable& table, std::string_view subresource,
                        const kgen::Patch* patch, const PatchOptions& options, void* answer) const;
  // A value of any type with a table.
  struct AnyStruct {
    const void* value;
    const TypeTable* table;
  };
  Result<void> GetSubresourceAny(const void* object, const TypeTable& table, std::string_view name,
                                 const GetOptions& options, void* answer, const TypeTable& answer_table) const;
  Result<void> CreateSubresourceAny(const void* object, const TypeTable& table, std::string_view name, AnyStruct body,
                                    const CreateOptions& options, void* answer, const TypeTable& answer_table) const;
  Result<void> UpdateSubresourceAny(const void* object, const TypeTable& table, std::string_view name, AnyStruct body,
                                    const UpdateOptions& options, void* answer, const TypeTable& answer_table) const;
  Result<void> PatchSubresourceAny(const void* object, const TypeTable& table, std::string_view name,
                                   const kgen::Patch& patch, const PatchOptions& options, void* answer,
                                   const TypeTable& answer_table) const;
  Result<void> DeleteAny(const void* object, const TypeTable& table, const DeleteOptions& options) const;
  Result<void> DeleteKey(const KindInfo& kind, const ObjectKey& key, const DeleteOptions& options) const;

  Caches caches_;
  Shared<controller::ClientState> state_;
  Connection connection_;
  Shared<controller::WriteLog> log_;  // may be null
  std::string field_manager_;
  bool live_ = false;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CACHED_CLIENT_H_
