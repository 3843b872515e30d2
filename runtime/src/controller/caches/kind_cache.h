// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KindCache: the cache of one kind in one form: its informers, one for each scope.
//
//   Caches::Of() --> CachesState --finds or makes--> KindCache --> Informer, one for each scope
#ifndef KGEN_SRC_CONTROLLER_CACHES_KIND_CACHE_H_
#define KGEN_SRC_CONTROLLER_CACHES_KIND_CACHE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/field_selector.h"
#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "controller/caches/own_writes.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/controller/caches.h"
#include "kgen/core/object_meta.h"

namespace kgen::controller {

// A successful write, as the server answered it.
struct Written {
  const KindInfo& kind;
  ObjectKey key{};
  const meta::v1::ObjectMeta* answer = nullptr;  // null: the object is gone, and the server said nothing but its uid
  std::string_view body{};                       // the answer as JSON; "" as above
  OwnWrite write{};                              // but for `selected`
};

// An index of a kind, for each informer that its caches make.
struct IndexSpec {
  std::string name;
  std::string path;  // "": a function
  std::function<Result<void>(cache::Informer&)> add;
};

// Thread safety: all members from any thread. Members block only if they say so.
// Lifetime: held by its users, and by nothing else. The destructor stops the informers and does not wait.
class KindCache final : public SharedObject {
 public:
  // What one informer selects.
  struct PartScope {
    cache::Selection selection;  // the namespace: "" for all, or for all that no other scope names
    Selector labels;
    cache::FieldSelector fields;
  };
  // `fresh`: the first list must have the newest state.
  static Result<Shared<KindCache>> Make(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                                        bool fresh);
  KindCache(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind, std::vector<PartScope> scopes,
            const InformerOptions& options, bool fresh);
  ~KindCache() override;

  const TypeTable& table() const noexcept { return table_; }
  const KindInfo& kind() const noexcept { return kind_; }
  std::string name() const;
  bool Serves(const TypeTable& table, const KindInfo& kind) const noexcept;

  void Start(const std::stop_token& stop) const;
  void Stop() const;
  std::vector<Shared<cache::Informer>> informers() const;
  std::vector<cache::InformerStatus> status() const;
  bool HasSynced() const noexcept;
  // Blocks for `limit` or CachesOptions::sync_timeout at most.
  Result<void> WaitForSync(std::stop_token stop, Nanos limit = Nanos::max()) const;

  // Reads of the cache as it is.
  Result<AnyRef> Get(const ObjectKey& key) const;
  Result<std::vector<AnyRef>> List(const ListFilter& filter) const;
  Result<std::string> ResourceVersion(std::string_view in_namespace) const;
  // Reads that wait for what the clients of these caches have written. The cache has synced.
  Result<AnyRef> GetFresh(const ObjectKey& key, const std::stop_token& stop);
  Result<std::vector<AnyRef>> ListFresh(const ListFilter& filter, const std::stop_token& stop);
  void Remember(const Written& written);
  AnyRef Look(const ObjectKey& key) const;  // null until it has synced
  std::size_t remembered() const noexcept;
  std::uint64_t visited() const noexcept;  // see OwnWrites

  // Adds `indexes`, which an earlier cache of this kind and form had.
  void Inherit(const std::vector<IndexSpec>& indexes);
  Result<void> AddIndex(std::string_view name, const FieldPath& path);
  Result<void> AddIndex(std::string_view name, const cache::IndexFunction& function);
  CacheRegistration AddEventHandler(AnyHandler handler, const HandlerOptions& options);
  Result<void> WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop, Nanos limit) const;
  Result<AnyRef> WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
                         std::stop_token stop, Nanos limit) const;

 private:
  // One informer.
  struct Part {
    Part(PartScope in, Shared<cache::Informer> follows, std::size_t max_writes)
        : scope(std::move(in)), informer(std::move(follows)), writes(informer->store(), max_writes) {}
    const std::string& namespace_name() const noexcept { return scope.selection.namespace_; }
    const PartScope scope;
    const Shared<cache::Informer> informer;
    OwnWrites writes;
  };

  Shared<cache::Informer> MakeInformer(const cache::Selection& selection, const InformerOptions& options,
                                       bool fresh) const;
  // Null if the namespace is not cached.
  const Part* Find(std::string_view in_namespace) const noexcept;
  Part* Find(std::string_view in_namespace) noexcept;
  static Error Stopped();
  Error NotCached(std::string_view in_namespace) const;
  Result<void> CheckKey(const ObjectKey& key) const;
  Result<void> CheckFilter(const ListFilter& filter) const;
  Result<void> CheckSynced() const;
  Result<cache::AnySnapshot> Await(Part& part, const std::function<bool(const cache::AnySnapshot&)>& shows,
                                   std::uint64_t losses, const std::stop_token& stop, TimePoint deadline) const;
  Result<void> SelectFresh(Part& part, const OwnWrites::Mark& mark, const ListFilter& filter,
                           const std::stop_token& stop, TimePoint deadline, std::vector<AnyRef>& objects) const;
  Error Behind(const Part& part, const std::optional<OwnWrites::Entry>& missing) const;
  Result<void> Select(const cache::AnySnapshot& view, const ListFilter& filter, std::vector<AnyRef>& objects) const;
  Result<void> AddIndex(IndexSpec index);
  Result<void> AddToInformers(const IndexSpec& index);
  Error NoIndex(const std::string& name) const;

  const Shared<CachesState> state_;
  const TypeTable& table_;
  const KindInfo& kind_;
  std::deque<Part> parts_;  // does not change after the construction
  mutable Mutex mutex_;
  std::map<std::string, std::string, std::less<>> indexes_ KGEN_GUARDED_BY(mutex_);  // name to path; "": a function
};

// Errors: kInvalidArgument  an option is out of its range; the message names it
Result<void> Check(const CachesOptions& options);

// What the caches of a process share.
//
// Thread safety: all members from any thread. Holds no lock while it calls an informer, but for one that is being made.
class CachesState final : public SharedObject {
 public:
  CachesState(const Connection& connection, CachesOptions options)
      : connection_(connection), options_(std::move(options)) {}

  Result<Shared<KindCache>> Of(const TypeTable& table, const KindInfo& kind);
  void Start(const std::stop_token& stop);
  bool started() const noexcept { return started_.load(std::memory_order_acquire); }
  Result<void> WaitForSync(const std::stop_token& stop);
  void Shutdown();
  std::vector<cache::InformerStatus> status();

  // Tells every cache of that kind, whatever its version and form, about a write.
  void Remember(const Written& written);
  // For the caches of this kind and form that are made later, when this one has lost its last user.
  void KeepIndex(const KindCache& kind_cache, IndexSpec index);
  // The object as one of these caches has it, or null.
  AnyRef Look(const KindInfo& kind, const ObjectKey& key);

  const Connection& connection() const noexcept { return connection_; }
  const CachesOptions& options() const noexcept { return options_; }
  void Remove(KindCache* kind_cache) noexcept;  // by its destructor

 private:
  struct KindIndexes {
    const TypeTable& table;
    const KindInfo& kind;
    std::vector<IndexSpec> indexes{};
  };
  std::vector<Shared<KindCache>> Live() KGEN_REQUIRES(mutex_);
  std::vector<Shared<KindCache>> LiveOf(const KindInfo& kind);

  const Connection connection_;
  const CachesOptions options_;
  std::atomic<bool> started_{false};
  mutable Mutex mutex_;
  std::stop_token stop_ KGEN_GUARDED_BY(mutex_);
  bool shut_down_ KGEN_GUARDED_BY(mutex_) = false;
  std::vector<KindCache*> caches_ KGEN_GUARDED_BY(mutex_);  // each removes itself
  std::vector<KindIndexes> indexes_ KGEN_GUARDED_BY(mutex_);
  // Group and resource of what was written. Informers that are made later begin with the newest state.
  std::set<std::pair<std::string, std::string>> written_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_KIND_CACHE_H_
