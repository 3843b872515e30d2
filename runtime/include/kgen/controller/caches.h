// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches: the informers of a process, one per kind and scope, shared by all its controllers.
//
//   Connection --> Caches --> Cache<T>: objects by key and by index, events
//                    |
//                  CachedClient (kgen/controller/cached_client.h): reads from the caches, writes to the server
//
//   kgen::Caches caches(connection, {.scopes = {{.namespace_ = "shop"}, {.namespace_ = "billing"}}});
//   auto pods = kgen::Must(caches.Of<Pod>());
//   kgen::Must(pods.AddIndex("node", kgen::FieldPath("spec.nodeName")));
//   caches.Start(stop);
//   kgen::Must(pods.WaitForSync(stop));
//   for (const auto& pod : kgen::Must(pods.List({.index = "node", .value = "n1"}))) ...
//
// The informers of a kind start when its first user appears and stop when its last user is gone: users are Cache<T>,
// its copies, and registrations of handlers. A kind that is read in two forms (typed, Unstructured, metadata alone) has
// the informers and the memory of both.
#ifndef KGEN_CONTROLLER_CACHES_H_
#define KGEN_CONTROLLER_CACHES_H_

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/cache/informer_options.h"
#include "kgen/cache/informer_status.h"
#include "kgen/cache/registration.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/cache/snapshot.h"
#include "kgen/client/selector.h"
#include "kgen/core/clock.h"
#include "kgen/core/field_path.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

class CachedClient;
class Connection;
struct PartialObjectMetadata;
struct ResourceMapping;
struct Unstructured;

namespace controller {
class CacheHandler;
class KindCache;
class CachesState;
}  // namespace controller

namespace detail {
// Types whose table names their resource. Objects of the other two can be of any kind.
template <typename T>
concept NamesItsKind = HasTable<T> && !std::same_as<T, Unstructured> && !std::same_as<T, PartialObjectMetadata>;
}  // namespace detail

// Options of the caches of a process. Caches::Of() and Manager::New() refuse wrong ones with kInvalidArgument.
struct CachesOptions {
  // Default: the defaults of InformerOptions. For all kinds.
  InformerOptions defaults{};
  // Default: none. Instead of `defaults`, for some kinds.
  InformerOptionsOf of{};
  // Default: all namespaces, with one informer. The namespaces that are cached, with one informer for each. A scope
  // without a namespace means all that no other scope names. Two for the same namespace are an error. Cluster-scoped
  // kinds ignore these scopes.
  std::vector<InformerScope> scopes{};
  // Default: false. True: Caches::AddNamespace() and its like change the namespaces while the caches run. `scopes` then
  // has the first ones, none by default, each with a namespace; a namespace that it names has the selectors given there
  // whenever it is added. Cluster-scoped kinds and the kinds of `scopes_of` do not change.
  bool changing_namespaces = false;
  // Default: none. A label selector, "tenant=yes": the caches hold the namespaces with these labels, besides the ones
  // in `scopes`, and follow them as they are made, deleted or get other labels, as Caches::SetNamespaces() would. A
  // namespace that is being deleted is held until it is gone. Needs to list and watch namespaces in the whole cluster.
  std::string namespaces_by_label{};
  // Default: none. Instead of `scopes`, for some kinds: {{&Pod::kTable, {{.namespace_ = "shop"}}}}. They hold for every
  // version and form of the kind. A namespace for a cluster-scoped kind is an error.
  std::vector<std::pair<const TypeTable*, std::vector<InformerScope>>> scopes_of{};
  // Default: 2 min. The timeout of WaitForSync(), and of the first read of a kind by a CachedClient. kNoLimit: none.
  // Zero and less are refused.
  Nanos sync_timeout = std::chrono::minutes(2);
  // Default: 50,000. How many writes of its clients each informer remembers that it has not received yet; a
  // CachedClient's reads wait for them. kUnlimited: all of them. Zero is refused. Beyond
  // the number the oldest are forgotten, and the observer is warned: a read may then still show an object that one of
  // these has deleted or taken out of the selection. One takes some 300 bytes.
  std::size_t max_remembered_writes = 50'000;
};

// Selects the objects that a List() returns. An object must match every member that is set.
struct ListFilter {
  std::string namespace_{};  // "": every cached namespace
  Selector labels{};         // by default everything
  std::string index{};       // the name of an index, see AddIndex(); with `value`
  std::string value{};
  // With ManagerOptions::shards, and without `namespace_`: the objects in the shards that this process holds at the
  // moment. Without it such a list fails, because the others are in other processes. Ignored where all are cached.
  bool held_only = false;
};

// CacheRegistration: keeps a handler registered with a cache for as long as this object lives. Destroying it removes
// the handler, as Registration does, and ends this use of the cache.
//
// Thread safety: const members from any thread; moving and destroying as any value.
// Lifetime: keeps the informers of its cache running; may outlive the Caches.
class [[nodiscard]] CacheRegistration {
 public:
  CacheRegistration() noexcept;  // of no handler
  CacheRegistration(CacheRegistration&&) noexcept;
  CacheRegistration& operator=(CacheRegistration&& other) noexcept;
  ~CacheRegistration();

  // Removes the handler now, as the destructor does. Idempotent.
  void Remove();
  // Returns an error if nothing was registered, as Registration::status() does.
  Result<void> status() const;
  // Returns true once every informer has synced and the handler has returned from every event of the initial state. A
  // namespace that is added later counts from the moment when its informer has synced.
  bool HasSynced() const noexcept;
  // Blocks until then. Errors: as Cache::WaitForSync(), and kTimeout if `limit` has passed.
  [[nodiscard]] Result<void> WaitForSync(const std::stop_token& stop = {}, Nanos limit = kNoLimit) const;
  // Returns the number of events that wait, of all scopes.
  std::size_t Backlog() const noexcept;

  const Shared<controller::CacheHandler>& handler() const noexcept { return handler_; }

 private:
  friend class controller::KindCache;
  CacheRegistration(Shared<controller::KindCache> kind_cache, Shared<controller::CacheHandler> handler) noexcept;
  Shared<controller::KindCache> cache_;
  Shared<controller::CacheHandler> handler_;
};

// AnyCache: one user of the cache of a kind, without the type of its objects. Cache<T> and the controllers are built on
// it; Cache<T> describes the members. A handle: copies are users of the same cache.
//
// Thread safety: all members from any thread. Members block only if they say so.
class AnyCache {
 public:
  AnyCache() noexcept;  // a user of no cache; only operator bool may be called
  explicit AnyCache(Shared<controller::KindCache> kind_cache) noexcept;
  AnyCache(const AnyCache&) noexcept;
  AnyCache(AnyCache&&) noexcept;
  AnyCache& operator=(AnyCache) noexcept;
  ~AnyCache();

  explicit operator bool() const noexcept { return static_cast<bool>(cache_); }
  // Returns the table of the objects: the kind's, Unstructured's or PartialObjectMetadata's.
  const TypeTable& table() const noexcept;
  const KindInfo& kind() const noexcept;
  std::string name() const;  // "pods", "pods (metadata)"

  // Each is as in Cache<T>, with objects whose type is erased.
  Result<AnyRef> Get(const ObjectKey& key) const;
  Result<std::vector<AnyRef>> List(const ListFilter& filter) const;
  Result<void> AddIndex(std::string_view name, const FieldPath& path) const;
  Result<void> AddIndex(std::string_view name, const cache::IndexFunction& function) const;
  CacheRegistration AddEventHandler(AnyHandler handler, const HandlerOptions& options = {}) const;

  // As in Cache<T>, too. WaitFor() is what kgen/controller/wait.h calls.
  bool HasSynced() const noexcept;
  Result<void> WaitForSync(std::stop_token stop = {}) const;
  Result<void> WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop, Nanos limit) const;
  Result<AnyRef> WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
                         std::stop_token stop, Nanos limit) const;
  std::vector<cache::InformerStatus> status() const;  // one for each informer, and so for each scope
  Result<std::string> ResourceVersion(std::string_view in_namespace) const;

  const Shared<controller::KindCache>& kind_cache() const noexcept { return cache_; }

 private:
  Shared<controller::KindCache> cache_;
};

// Cache<T>: one user of the cache of a kind, which holds the objects that the options of the kind select, a short time
// behind the server. The informers run at least as long as a user lives. Reads return the cache as it is at this
// moment; the reads of a CachedClient also wait for the client's own last writes.
//
// A handle: copies are users of the same cache. It may outlive the Caches, and then reads the last state.
//
// Thread safety: all members from any thread. Members block only if they say so.
template <typename T>
class Cache {
 public:
  // Takes a user of the cache, whose objects are of type T.
  explicit Cache(AnyCache any) noexcept : any_(std::move(any)) {}

  // Returns the object, or null if there is none. The namespace of the key is empty for a cluster-scoped kind.
  // Errors: kInvalidArgument  the namespace is not cached
  //         kUnavailable      the cache has not synced yet; or the namespace is in a shard that this process does not
  //                           hold, see ManagerOptions::shards
  //         kStopped          the cache was stopped before it had synced
  Result<Ref<const T>> Get(const ObjectKey& key) const {
    Result<AnyRef> object = any_.Get(key);
    if (!object) return Fail(std::move(object).error());
    return object->template As<T>();
  }
  // Returns the objects that match, in no particular order. Errors: as Get(), and kInvalidArgument if there is no such
  // index, or if ListFilter::held_only is needed and not set.
  Result<std::vector<Ref<const T>>> List(const ListFilter& filter = {}) const {
    const Result<std::vector<AnyRef>> objects = any_.List(filter);
    if (!objects) return Fail(objects.error());
    return detail::TypedRefs<T>(*objects);
  }

  // Adds an index in every scope, as SharedInformer::AddIndex() does; may be called while the cache runs. The same path
  // may be added again under the same name. The index belongs to this kind in this form (T, Unstructured, metadata
  // alone) for as long as the Caches: users of the cache that come later have it too. Blocks while it visits the
  // objects in the cache. Errors: kInvalidArgument (the name is taken by another path or by a function, no such field,
  // or called from an index function), kUserCode (the function threw), kStopped.
  [[nodiscard]] Result<void> AddIndex(std::string_view name, const FieldPath& path) const {
    return any_.AddIndex(name, path);
  }
  template <std::invocable<const T&, IndexSink&> F>
  [[nodiscard]] Result<void> AddIndex(std::string_view name, F function) const {
    return any_.AddIndex(name,
                         cache::IndexFunction([function = std::move(function)](const AnyRef& object, IndexSink& sink) {
                           if (const Ref<const T> typed = object.As<T>()) function(*typed, sink);
                         }));
  }

  // Adds a handler, as SharedInformer::AddEventHandler() does. With several scopes, calls for objects of different
  // namespaces may overlap; calls for one namespace never do. Keep the result, because destroying it removes the
  // handler.
  [[nodiscard]] CacheRegistration AddEventHandler(EventHandler<T> handler, const HandlerOptions& options = {}) const {
    return any_.AddEventHandler(detail::EraseHandler<T>(std::move(handler)), options);
  }

  // Returns whether the cache has synced in every scope.
  bool HasSynced() const noexcept { return any_.HasSynced(); }
  // Blocks until the cache has synced in every scope. Errors: kInvalidArgument (Caches::Start() has not been
  // called, or a thread that must not block), kTimeout (CachesOptions::sync_timeout),
  // kUnauthorized/kForbidden/kNotFound/kInvalid (refused repeatedly, see SyncOptions::patient), kCancelled, kStopped.
  [[nodiscard]] Result<void> WaitForSync(std::stop_token stop = {}) const { return any_.WaitForSync(std::move(stop)); }
  // Blocks until the informer that has this key contains everything up to a resource version, such as the one in the
  // server's answer to a write. A `limit` of zero looks once, and kNoLimit waits for ever. Errors: as
  // SharedInformer::WaitUntil(), so kInvalidArgument if `limit` is negative; also if the namespace is not cached.
  [[nodiscard]] Result<void> WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop = {},
                                       Nanos limit = std::chrono::seconds(5)) const {
    return any_.WaitUntil(key, version, std::move(stop), limit);
  }

  // Returns the resource version that the cache has reached: the cache contains every change up to there.
  // CompareResourceVersions() tells whether another one is newer. If the kind has several scopes, name the namespace
  // that is meant. Errors: as Get(), and kInvalidArgument if there are several and none is named.
  Result<std::string> ResourceVersion(std::string_view in_namespace = {}) const {
    return any_.ResourceVersion(in_namespace);
  }

  // Returns this user without the type.
  const AnyCache& any() const noexcept { return any_; }

 private:
  AnyCache any_;
};

// Caches: all caches of a process. A handle: copies are the same caches.
//
// Thread safety: all members from any thread. Members block only if they say so.
// Lifetime: users of a cache may outlive this object. Destroying the last handle and the last user waits for nothing;
// Shutdown() does.
class Caches {
 public:
  // Makes caches without informers. Sends nothing; Of() and Start() report wrong options.
  Caches(const Connection& connection, CachesOptions options);

  // Returns a new user of the cache of a kind; the first one creates the cache.
  // Errors: kInvalidArgument  the options of the kind contradict it: a malformed selector, a period that is not
  //                           positive, two scopes for one namespace, or a namespace for a cluster-scoped kind
  //         kStopped          after Shutdown()
  template <detail::NamesItsKind T>
  Result<Cache<T>> Of() const {
    return Typed<T>(Of(T::kTable, *T::kTable.kind));
  }
  // Returns a user of the cache of any kind; RestMapper returns the mapping.
  Result<Cache<Unstructured>> Of(const ResourceMapping& mapping) const;
  // Returns a user of a cache of the metadata alone, for kinds whose objects are large or many. The objects have the
  // apiVersion and kind of T.
  template <detail::NamesItsKind T>
  Result<Cache<PartialObjectMetadata>> MetadataOf() const {
    return MetadataOf(*T::kTable.kind);
  }
  Result<Cache<PartialObjectMetadata>> MetadataOf(const ResourceMapping& mapping) const;
  // Returns a user of a cache, for code that is compiled once for all types. `table` is the table of the kind, of
  // Unstructured or of PartialObjectMetadata, and `kind` must outlive the caches, as the tables of types do.
  Result<AnyCache> Of(const TypeTable& table, const KindInfo& kind) const;

  // Starts the informers of all caches that have users; informers of later users start immediately. They stop when
  // `stop` is requested. Later calls do nothing.
  void Start(const std::stop_token& stop) const;
  // Blocks until every cache that has users has synced, including caches whose first user appears meanwhile.
  // Errors: as Cache::WaitForSync().
  Result<void> WaitForSync(const std::stop_token& stop) const;
  // Stops every informer and blocks until no handler runs (on a thread that must not block: without waiting). Caches
  // cannot be created afterwards.
  void Shutdown() const;
  std::vector<cache::InformerStatus> status() const;  // one for each informer

  // Change the namespaces that are cached, see CachesOptions::changing_namespaces, for all kinds that are in use and
  // for those that will be. The informers of other namespaces go on as they are.
  //
  // A namespace that is added begins with a list, whose objects the handlers get as initial events. A CachedClient's
  // first read of the namespace waits for the list, as the first read of a kind does. Reads of all namespaces include
  // it when it has synced; one that the server forbids holds up nothing, and status() says so.
  //
  // Reads of a namespace that is removed fail with kInvalidArgument at once. Each handler gets what was under way, and
  // then Left for each object that it knows. RemoveNamespace() and SetNamespaces() block until all handlers have
  // returned from that; not on a thread that must not block, nor in a handler. A namespace that is added again begins
  // anew; a handler gets its objects after the last Left.
  //
  // Errors: kInvalidArgument  changing_namespaces is not set, namespaces_by_label is, or the name is no DNS label
  //         kCancelled        `stop` was requested before all handlers were told; the change is made nevertheless
  //         kStopped          after Shutdown(), or the caches were stopped before all handlers were told
  [[nodiscard]] Result<void> AddNamespace(std::string_view name) const;
  [[nodiscard]] Result<void> RemoveNamespace(std::string_view name, const std::stop_token& stop = {}) const;
  // Adds and removes what is needed so that these are the namespaces.
  [[nodiscard]] Result<void> SetNamespaces(const std::vector<std::string>& names,
                                           const std::stop_token& stop = {}) const;
  // Returns the namespaces, in alphabetical order.
  std::vector<std::string> namespaces() const;

  // Returns the connection of the informers.
  const Connection& connection() const noexcept;
  const Shared<controller::CachesState>& state() const noexcept { return state_; }

 private:
  template <typename T>
  static Result<Cache<T>> Typed(Result<AnyCache> any) {
    if (!any) return Fail(std::move(any).error());
    return Cache<T>(*std::move(any));
  }
  Result<Cache<PartialObjectMetadata>> MetadataOf(const KindInfo& kind) const;
  Shared<controller::CachesState> state_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CACHES_H_
