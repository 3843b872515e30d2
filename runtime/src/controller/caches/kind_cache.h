// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KindCache: the cache of one kind in one form: its informers, one for each scope.
//
//   Caches::Of() --> CachesState --finds or makes--> KindCache --> Informer, one for each scope
#ifndef KGEN_SRC_CONTROLLER_CACHES_KIND_CACHE_H_
#define KGEN_SRC_CONTROLLER_CACHES_KIND_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "controller/caches/applied_answers.h"
#include "controller/caches/cache_handler.h"
#include "controller/caches/deliberate_bugs.h"
#include "controller/caches/namespace_source.h"
#include "controller/caches/own_writes.h"
#include "controller/caches/parts.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/client/shard_ranges.h"
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

// What caches hold whose namespaces may change.
struct Namespaces {
  std::vector<InformerScope> scopes{};  // each of one namespace
  std::uint64_t revision = 0;           // grows with each change
};
// Whether the namespaces of caches with these options may change.
bool MayChange(const CachesOptions& options) noexcept;
// The scopes that are for this kind alone; none for a cluster-scoped kind. Null: the scopes of all kinds apply.
const std::vector<InformerScope>* OwnScopes(const KindInfo& kind, const CachesOptions& options);

// Thread safety: all members from any thread. Members block only if they say so.
// Lifetime: held by its users, and by nothing else. The destructor stops the informers and does not wait.
class KindCache final : public SharedObject {
 public:
  // `namespaces` are the current ones of the caches, for a kind that follows them. `fresh`: the first list must have
  // the newest state.
  static Result<Shared<KindCache>> Make(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                                        const Namespaces& namespaces, bool fresh);
  KindCache(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind, std::vector<PartScope> scopes,
            bool changes, std::uint64_t follows, bool fresh);
  ~KindCache() override;

  const TypeTable& table() const noexcept { return table_; }
  const KindInfo& kind() const noexcept { return kind_; }
  std::string name() const;
  std::string Description() const;  // "cache of kind Pod (v1)"
  static Error NotStarted();        // of a wait for the sync
  bool Serves(const TypeTable& table, const KindInfo& kind) const noexcept;

  void Start(const std::stop_token& stop) const;
  void Stop();
  std::vector<Shared<cache::Informer>> informers() const;  // also of namespaces that leave
  std::vector<cache::InformerStatus> status() const;
  // Once true, it stays so, whatever namespaces are added.
  bool HasSynced() const noexcept;
  // Blocks for `limit` or CachesOptions::sync_timeout at most. If namespaces may change, it leaves out what the server
  // forbids.
  Result<void> WaitForSync(std::stop_token stop, Nanos limit = Nanos::max()) const;

  // In namespaces.cc. Whether the namespaces may change.
  bool changes() const noexcept { return changes_; }
  bool Has(std::string_view in_namespace) const noexcept { return parts_.Read()->Find(in_namespace) != nullptr; }
  // Has those namespaces from now on, unless it was called with later ones. Does not block.
  void Follow(const Namespaces& namespaces);
  // The parts of namespaces that are removed, for which a handler has not been told of everything yet.
  std::vector<Shared<Part>> leaving() const { return leaving_->all(); }

  // Reads of the cache as it is.
  Result<AnyRef> Get(const ObjectKey& key) const;
  Result<std::vector<AnyRef>> List(const ListFilter& filter) const;
  Result<std::string> ResourceVersion(std::string_view in_namespace) const;
  // Reads that wait for what the clients of these caches have written. The cache has synced.
  Result<AnyRef> GetFresh(const ObjectKey& key, const std::stop_token& stop);
  Result<std::vector<AnyRef>> ListFresh(const ListFilter& filter, const std::stop_token& stop);
  bool Remember(const Written& written);    // false if no informer will show it
  AnyRef Look(const ObjectKey& key) const;  // null until it has synced
  std::size_t remembered() const noexcept;
  std::uint64_t visited() const noexcept;  // see OwnWrites

  // Adds `indexes`, which an earlier cache of this kind and form had.
  void Inherit(const std::vector<IndexSpec>& indexes);
  Result<void> AddIndex(std::string_view name, const FieldPath& path);
  Result<void> AddIndex(std::string_view name, const cache::IndexFunction& function);
  CacheRegistration AddEventHandler(AnyHandler handler, const HandlerOptions& options);
  void Forget(const CacheHandler& handler);  // it is being removed
  // Blocks until the cache has synced and the handler has handled the initial events, for `limit` at most.
  Result<void> WaitForHandled(const CacheHandler& handler, const std::stop_token& stop, Nanos limit) const;
  Result<void> WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop, Nanos limit) const;
  Result<AnyRef> WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
                         std::stop_token stop, Nanos limit) const;

  // Shards, in kind_cache_shards.cc. The informers of a cache that is divided hold the objects of some namespaces
  // alone, of none at first. Reads of others fail.
  bool divided() const noexcept { return divided_; }
  // Does nothing if the cache is whole, or after a call with a greater number.
  void Hold(const ShardRanges& ranges, std::uint64_t number);
  // Blocks until the informers have what they were told to hold.
  Result<void> WaitUntilHeld(const std::stop_token& stop, TimePoint deadline) const;
  // The objects in these ranges; all of them if the cache is whole.
  std::vector<AnyRef> Held(const ShardRanges& ranges) const;
  // In kind_cache_count.cc. Adds the number of objects on the server that a whole cache would have, by the hash of
  // their namespace. Blocks, and lists their metadata page by page.
  Result<void> CountOnServer(std::unordered_map<std::uint64_t, double>& loads, const std::stop_token& stop) const;
  Result<void> WaitUntilReached(std::string_view version, const std::stop_token& stop, TimePoint deadline) const;
  // Informers that list the newest state, and the numbers for Informer::WaitUntilHeld().
  using Listing = std::vector<std::pair<Shared<cache::Informer>, std::uint64_t>>;
  Listing ListAnew() const;
  // The version of the newest change that the cache has shown; nothing if versions cannot be compared.
  std::optional<std::uint64_t> Changed() const;
  // Blocks until the cache shows what was written in these ranges before; false at the deadline.
  bool ShowsOwnWrites(const ShardRanges& ranges, TimePoint deadline);

 private:
  Shared<const Parts> FirstParts(std::vector<PartScope> scopes, bool fresh) const;
  Shared<Part> MakePart(PartScope scope, std::uint64_t order, bool fresh) const;
  static void HoldIn(Part& part, const ShardRanges& ranges);
  static bool HoldsAll(const Parts& parts) noexcept;
  static std::uint64_t Readable(const Part& part, std::string_view in_namespace);
  Error NotHeld(std::string_view in_namespace) const;
  static Error NotAllHeld();
  // Calls `read`, whose result is valid only if the informer had the whole namespace meanwhile.
  template <typename F>
  auto ReadHeld(const Part& part, std::string_view in_namespace, F read) const -> decltype(read()) {
    if (!divided_) return read();
    for (;;) {
      const std::uint64_t before = Readable(part, in_namespace);
      if (before == 0 && !Injected(ManagerBug::kReadsAnywhere)) return Fail(NotHeld(in_namespace));
      auto result = read();
      if (Readable(part, in_namespace) == before) return result;
    }
  }
  Result<AnyRef> GetFrom(Part& part, const ObjectKey& key, const std::stop_token& stop);
  Shared<cache::Informer> MakeInformer(const cache::Selection& selection, const InformerOptions& options,
                                       bool fresh) const;
  static Error Stopped();
  Error NotCached(const Parts& parts, std::string_view in_namespace) const;
  Error Removed(const Part& part) const { return NotCached(*parts_.Read(), part.namespace_name()); }
  // The part of a key. The result lives as long as `parts`.
  Result<Part*> PartOf(const Parts& parts, const ObjectKey& key) const;
  // The parts in which a list reads: the one of its namespace, or all.
  Result<std::span<const Shared<Part>>> PartsOf(const Parts& parts, const ListFilter& filter) const;
  Result<void> CheckSynced(std::span<const Shared<Part>> in) const;
  Shared<Part> PartToTell(std::string_view in_namespace) const;
  Result<void> WaitForEach(const std::stop_token& stop, TimePoint deadline) const;
  Result<void> WaitForPart(const Part& part, const std::stop_token& stop, Nanos limit) const;
  Result<void> Await(const Part& part, const std::stop_token& stop) const;
  Result<cache::AnySnapshot> Await(Part& part, const std::function<bool(const cache::AnySnapshot&)>& shows,
                                   std::uint64_t losses, const std::stop_token& stop, TimePoint deadline) const;
  Result<void> SelectFresh(Part& part, const OwnWrites::Mark& mark, const ListFilter& filter,
                           const std::stop_token& stop, TimePoint deadline, std::vector<AnyRef>& objects) const;
  Error Behind(const Part& part, const std::optional<OwnWrites::Entry>& missing) const;
  Result<void> Select(const cache::AnySnapshot& view, const ListFilter& filter, std::vector<AnyRef>& objects) const;
  Result<void> AddIndex(IndexSpec index);
  Result<void> AddToInformers(const IndexSpec& index);
  Result<void> CheckIndex(const std::string& name) const;
  Error NoIndex(const std::string& name) const;

  const Shared<CachesState> state_;
  const TypeTable& table_;
  const KindInfo& kind_;
  const bool changes_;
  const bool divided_;
  const Shared<LeavingParts> leaving_ = MakeShared<LeavingParts>();
  PublishedParts parts_;                    // replaced under mutex_
  mutable std::atomic<bool> ready_{false};  // HasSynced() was true, and the namespaces may change
  Mutex hold_mutex_;                        // the informers are told of changes in order
  std::uint64_t hold_number_ KGEN_GUARDED_BY(hold_mutex_) = 0;
  mutable Mutex mutex_;
  std::map<std::string, std::string, std::less<>> indexes_ KGEN_GUARDED_BY(mutex_);  // name to path; "": a function
  std::vector<IndexSpec> specs_ KGEN_GUARDED_BY(mutex_);                // of these, the ones that informers have
  std::vector<Shared<CacheHandler>> handlers_ KGEN_GUARDED_BY(mutex_);  // if the namespaces may change
  std::uint64_t followed_ KGEN_GUARDED_BY(mutex_);                      // revision of the namespaces
  std::uint64_t next_order_ KGEN_GUARDED_BY(mutex_) = 1;
  bool stopped_ KGEN_GUARDED_BY(mutex_) = false;
};

// Errors: kInvalidArgument  an option is out of its range; the message names it
Result<void> Check(const CachesOptions& options);

// What the caches of a process share.
//
// Thread safety: all members from any thread. Holds no lock while it calls an informer, but for one that is being made.
class CachesState final : public NamespaceFollower {
 public:
  CachesState(const Connection& connection, CachesOptions options)
      : connection_(connection), options_(std::move(options)) {
    for (const InformerScope& scope : options_.scopes) names_.insert(scope.namespace_);
    namespaces_ = {options_.scopes, 1};
    if (!options_.namespaces_by_label.empty() && Check(options_)) {
      source_ = MakeShared<NamespaceSource>(*this, connection_, options_.namespaces_by_label,
                                            options_.defaults.streaming_list);
    }
  }
  ~CachesState() override {
    if (source_) source_->Stop();
  }

  // What a process on shards holds.
  struct Division {
    std::vector<const TypeTable*> everywhere{};  // kinds that are whole
    std::string member{};                        // this process, for messages
  };

  Result<Shared<KindCache>> Of(const TypeTable& table, const KindInfo& kind);
  void Start(const std::stop_token& stop);
  bool started() const noexcept { return started_.load(std::memory_order_acquire); }
  Result<void> WaitForSync(const std::stop_token& stop);
  // Whether the namespaces may change. Then WaitForChanging() is what WaitForSync() does.
  bool may_change() const noexcept { return MayChange(options_); }
  Result<void> WaitForChanging(const std::stop_token& stop);
  Shared<KindCache> FirstUnsynced();  // null if all have synced
  void Shutdown();
  std::vector<cache::InformerStatus> status();
  // What the caches wait for that have not synced.
  std::vector<cache::InformerStatus> unsynced();

  // Tells every cache of that kind, whatever its version and form, about a write. Returns whether there is one that
  // will show it.
  bool Remember(const Written& written);
  // For the caches of this kind and form that are made later, when this one has lost its last user.
  void KeepIndex(const KindCache& kind_cache, IndexSpec index);
  // The object as one of these caches has it, or null.
  AnyRef Look(const KindInfo& kind, const ObjectKey& key);
  AppliedAnswers& applied_answers() noexcept { return applied_answers_; }

  // In namespaces.cc. Changes the namespaces, and waits until every handler was told what has left, if this thread may
  // wait for that. Errors: kInvalidArgument, kStopped, kCancelled; the change is made even if the wait fails
  Result<void> AddNamespace(std::string_view name);
  Result<void> RemoveNamespace(std::string_view name, const std::stop_token& stop);
  Result<void> SetNamespaces(const std::vector<std::string>& names, const std::stop_token& stop);
  std::vector<std::string> namespaces() const;
  // Whether the namespaces are those that the options ask for.
  bool KnowsNamespaces() const noexcept { return !source_ || source_->HasSynced(); }
  // Blocks until then. Errors: as Cache::WaitForSync()
  Result<void> WaitForNamespaces(const std::stop_token& stop, Nanos limit) const {
    return source_ ? source_->WaitForSync(stop, limit) : Result<void>();
  }
  // The namespaces of the options and these.
  void FollowNamespaces(const std::set<std::string>& names) override;
  // Whether an object of that kind was written.
  bool HasWritten(const KindInfo& kind) const;
  // The stop token of the informers, if they have been started.
  std::optional<std::stop_token> RunningUntil() const;

  // Shards, in kind_cache_shards.cc. Divide() makes the namespaced kinds divided; before any cache is made.
  void Divide(Division division);
  bool Divides(const KindInfo& kind) const noexcept;
  const std::string& member() const noexcept { return division_->member; }
  // What divided caches hold from now on, those that are made later included. Does not block.
  void Hold(const ShardRanges& ranges);
  // Blocks until they do. Errors: kTimeout  within the sync timeout; kCancelled, kStopped
  Result<void> WaitUntilHeld(const std::stop_token& stop);
  // Resource versions by resource, see ShardVersions.
  using ResourceVersions = std::map<std::string, std::string>;
  // Blocks until all caches have reached these versions or, with `list_anew`, a newer state than any at the call.
  // Errors: kCancelled, kStopped
  Result<void> CatchUp(const ResourceVersions& versions, bool list_anew, const std::stop_token& stop);
  // What these caches have shown, and what their clients have written, in these ranges at least. Nothing if that is
  // unknown by the deadline. Blocks.
  std::optional<ResourceVersions> Versions(const ShardRanges& ranges, TimePoint deadline);

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
  Result<void> MayChangeTo(const std::vector<std::string>& names) const;
  Result<std::vector<Shared<KindCache>>> Change(const std::function<void(std::set<std::string>&)>& change);
  Result<void> AwaitLeft(const std::vector<Shared<KindCache>>& live, const std::set<std::string>& names,
                         const std::stop_token& stop);
  std::vector<Shared<KindCache>> AllLive();
  Result<void> AwaitList(const KindCache& kind_cache, cache::Informer& informer, std::uint64_t number,
                         const std::stop_token& stop);
  void NoteUnseen(const Written& written);
  std::vector<Shared<KindCache>> LiveOf(const KindInfo& kind);

  const Connection connection_;
  const CachesOptions options_;
  Shared<NamespaceSource> source_;      // null without namespaces_by_label
  std::optional<Division> division_{};  // set before there is any cache
  std::atomic<bool> started_{false};
  AppliedAnswers applied_answers_;
  mutable Mutex mutex_;
  std::stop_token stop_ KGEN_GUARDED_BY(mutex_);
  bool shut_down_ KGEN_GUARDED_BY(mutex_) = false;
  std::vector<KindCache*> caches_ KGEN_GUARDED_BY(mutex_);  // each removes itself
  std::vector<KindIndexes> indexes_ KGEN_GUARDED_BY(mutex_);
  std::set<std::string> names_ KGEN_GUARDED_BY(mutex_);  // the namespaces, if they may change
  Namespaces namespaces_ KGEN_GUARDED_BY(mutex_);        // made of names_
  mutable Mutex written_mutex_;                          // innermost
  // Group and resource of what was written. Informers that are made later begin with the newest state.
  std::set<std::pair<std::string, std::string>> written_ KGEN_GUARDED_BY(written_mutex_);
  ShardRanges held_ KGEN_GUARDED_BY(mutex_);
  std::uint64_t hold_number_ KGEN_GUARDED_BY(mutex_) = 0;
  // With shards, by resource: the newest version of a write that no cache will show.
  std::map<std::string, std::uint64_t> unseen_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_KIND_CACHE_H_
