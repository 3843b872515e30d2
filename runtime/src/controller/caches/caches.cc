// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/caches.h"

#include <algorithm>

#include "client/verbs/kind_registry.h"
#include "controller/caches/caches_sync.h"
#include "controller/caches/kind_cache.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/core/unstructured.h"
#include "net/duration_text.h"

namespace kgen {
namespace controller {

Result<void> Check(const CachesOptions& options) {
  if (options.sync_timeout <= Nanos(0)) {
    return Fail(Code::kInvalidArgument, "CachesOptions::sync_timeout is " + net::DurationText(options.sync_timeout) +
                                            ", but it must be positive; kgen::kNoLimit means no timeout");
  }
  if (options.max_remembered_writes == 0) {
    return Fail(Code::kInvalidArgument,
                "CachesOptions::max_remembered_writes is 0, but reads could not wait for any write then; "
                "kgen::kUnlimited means all of them");
  }
  if (MayChange(options) && std::ranges::find(options.scopes, "", &InformerScope::namespace_) != options.scopes.end()) {
    return Fail(Code::kInvalidArgument,
                "CachesOptions::scopes has a scope without a namespace, which means all that no other scope names, but "
                "with changing_namespaces and namespaces_by_label each must name one");
  }
  if (const Result<Selector> labels = Selector::Parse(options.namespaces_by_label); !labels) {
    return Fail(labels.error().With("CachesOptions::namespaces_by_label"));
  }
  return {};
}

Result<Shared<KindCache>> CachesState::Of(const TypeTable& table, const KindInfo& kind) {
  if (Result<void> fine = Check(options_); !fine) {
    return Fail(fine.error().With("cache of " + std::string(kind.resource)));
  }
  Shared<KindCache> kind_cache;
  std::stop_token stop;
  {
    const MutexLock lock(mutex_);
    if (shut_down_) {
      return Fail(
          Error(Code::kStopped, "the caches have been shut down").With("cache of " + std::string(kind.resource)));
    }
    for (KindCache* const known : caches_) {
      if (!known->Serves(table, kind)) continue;
      if (Shared<KindCache> live = Shared<KindCache>::TryAdd(known)) return live;
    }
    caches_.reserve(caches_.size() + 1);  // the destructor of a cache takes the lock, so nothing may fail after Make()
    // A list of a process on shards must not be older than what earlier owners have written.
    const bool fresh = division_ || HasWritten(kind);
    Result<Shared<KindCache>> made = KindCache::Make(Shared<CachesState>(this), table, kind, namespaces_, fresh);
    if (!made) return made;
    (*made)->Hold(held_, hold_number_);
    for (const KindIndexes& each : indexes_) {
      if ((*made)->Serves(each.table, each.kind)) (*made)->Inherit(each.indexes);
    }
    caches_.push_back(made->get());
    kind_cache = *std::move(made);
    stop = stop_;
  }
  if (started()) kind_cache->Start(stop);
  return kind_cache;
}

std::vector<Shared<KindCache>> CachesState::Live() {
  std::vector<Shared<KindCache>> live;
  for (KindCache* const kind_cache : caches_) {
    if (Shared<KindCache> held = Shared<KindCache>::TryAdd(kind_cache)) live.push_back(std::move(held));
  }
  return live;
}

void CachesState::Remove(KindCache* kind_cache) noexcept {
  const MutexLock lock(mutex_);
  std::erase(caches_, kind_cache);
}

void CachesState::Start(const std::stop_token& stop) {
  std::vector<Shared<KindCache>> live;  // released without the lock, as everywhere here
  {
    const MutexLock lock(mutex_);
    if (started_.exchange(true)) return;
    stop_ = stop;
    live = Live();
  }
  if (source_) source_->Start(stop);
  for (const Shared<KindCache>& kind_cache : live) kind_cache->Start(stop);
}

Result<void> CachesState::WaitForSync(const std::stop_token& stop) {
  if (may_change()) return WaitForChanging(stop);
  const Shared<Waiter> waiter = connection_.executor().MakeWaiter("sync of caches");
  CachesSync sync(Shared<CachesState>(this), waiter);
  for (;;) {
    if (std::optional<Result<void>> synced = sync.Poll(stop)) return *std::move(synced);
    const Result<void> waited = waiter->Wait(stop, sync.look_again());
    if (!waited && waited.error().code() != Code::kTimeout && !stop.stop_requested()) {
      return sync.EndedBy(waited.error());
    }
  }
}

Result<void> CachesState::WaitForChanging(const std::stop_token& stop) {
  const TimePoint deadline = Later(connection_.clock().Now(), options_.sync_timeout);
  if (Result<void> known = WaitForNamespaces(stop, options_.sync_timeout); !known) return known;
  std::vector<Shared<KindCache>> waited;  // of those that get new namespaces after they have synced
  while (true) {
    if (stop.stop_requested()) return Fail(Code::kCancelled, "sync of caches: a stop was requested");
    std::vector<Shared<KindCache>> live;
    {
      const MutexLock lock(mutex_);
      live = Live();
    }
    std::erase_if(live, [&](const Shared<KindCache>& kind_cache) {
      return kind_cache->HasSynced() &&
             (!kind_cache->changes() || std::ranges::find(waited, kind_cache) != waited.end());
    });
    if (live.empty()) return {};
    if (live.front()->changes()) waited.push_back(live.front());
    if (Result<void> synced = live.front()->WaitForSync(stop, deadline - connection_.clock().Now()); !synced) {
      return synced;
    }
  }
}

Shared<KindCache> CachesState::FirstUnsynced() {
  std::vector<Shared<KindCache>> live;
  {
    const MutexLock lock(mutex_);
    live = Live();
  }
  const auto found = std::ranges::find_if(live, [](const auto& kind_cache) { return !kind_cache->HasSynced(); });
  return found != live.end() ? *found : Shared<KindCache>();
}

void CachesState::Shutdown() {
  std::vector<Shared<KindCache>> live;
  {
    const MutexLock lock(mutex_);
    shut_down_ = true;
    live = Live();
  }
  if (source_) source_->Stop();
  for (const Shared<KindCache>& kind_cache : live) kind_cache->Stop();
  for (const Shared<KindCache>& kind_cache : live) {
    for (const Shared<cache::Informer>& informer : kind_cache->informers()) {
      // On a thread that must not block, Join() fails and this does not wait: the informers end by themselves.
      if (!informer->Join({})) return;
    }
  }
}

std::vector<cache::InformerStatus> CachesState::status() {
  std::vector<Shared<KindCache>> live;
  {
    const MutexLock lock(mutex_);
    live = Live();
  }
  std::vector<cache::InformerStatus> all;
  if (source_) all.push_back(source_->informer()->status());
  for (const Shared<KindCache>& kind_cache : live) {
    for (cache::InformerStatus& status : kind_cache->status()) all.push_back(std::move(status));
  }
  return all;
}

std::vector<cache::InformerStatus> CachesState::unsynced() {
  std::vector<Shared<KindCache>> live;
  {
    const MutexLock lock(mutex_);
    live = Live();
  }
  std::vector<cache::InformerStatus> all;
  if (!KnowsNamespaces()) all.push_back(source_->informer()->status());
  for (const Shared<KindCache>& kind_cache : live) {
    if (kind_cache->HasSynced()) continue;
    for (cache::InformerStatus& status : kind_cache->status()) {
      if (!status.synced) all.push_back(std::move(status));
    }
  }
  return all;
}

std::vector<Shared<KindCache>> CachesState::LiveOf(const KindInfo& kind) {
  std::vector<Shared<KindCache>> live;
  {
    const MutexLock lock(mutex_);
    live = Live();
  }
  std::erase_if(live, [&](const Shared<KindCache>& kind_cache) {
    return kind_cache->kind().group != kind.group || kind_cache->kind().resource != kind.resource;
  });
  return live;
}

bool CachesState::Remember(const Written& written) {
  {
    const MutexLock lock(written_mutex_);
    written_.emplace(written.kind.group, written.kind.resource);
  }
  bool shown = false;
  for (const Shared<KindCache>& kind_cache : LiveOf(written.kind)) shown |= kind_cache->Remember(written);
  if (!shown) NoteUnseen(written);
  return shown;
}

void CachesState::KeepIndex(const KindCache& kind_cache, IndexSpec index) {
  const MutexLock lock(mutex_);
  auto kept =
      std::ranges::find_if(indexes_, [&](const KindIndexes& each) { return kind_cache.Serves(each.table, each.kind); });
  if (kept == indexes_.end()) {
    indexes_.push_back({kind_cache.table(), kind_cache.kind()});
    kept = indexes_.end() - 1;
  }
  if (std::ranges::find(kept->indexes, index.name, &IndexSpec::name) != kept->indexes.end()) return;
  kept->indexes.push_back(std::move(index));
}

AnyRef CachesState::Look(const KindInfo& kind, const ObjectKey& key) {
  for (const Shared<KindCache>& kind_cache : LiveOf(kind)) {
    if (AnyRef object = kind_cache->Look(key)) return object;
  }
  return {};
}

}  // namespace controller

// ----------------------------------------------------------------------------------------------------- handles

CacheRegistration::CacheRegistration() noexcept = default;
CacheRegistration::CacheRegistration(Shared<controller::KindCache> kind_cache,
                                     Shared<controller::CacheHandler> handler) noexcept
    : cache_(std::move(kind_cache)), handler_(std::move(handler)) {}
CacheRegistration::CacheRegistration(CacheRegistration&&) noexcept = default;
CacheRegistration& CacheRegistration::operator=(CacheRegistration&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  cache_ = std::move(other.cache_);
  handler_ = std::move(other.handler_);
  return *this;
}
CacheRegistration::~CacheRegistration() { Remove(); }

void CacheRegistration::Remove() {
  if (!handler_ || detail::ForkedChild()) return;
  cache_->Forget(*handler_);
  handler_->Remove();
  handler_ = {};
  cache_ = {};
}

Result<void> CacheRegistration::status() const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return handler_ ? handler_->status() : Result<void>();
}

bool CacheRegistration::HasSynced() const noexcept {
  return !handler_ || (cache_->HasSynced() && handler_->HasSynced());
}

std::size_t CacheRegistration::Backlog() const noexcept { return handler_ ? handler_->Backlog() : 0; }

Result<void> CacheRegistration::WaitForSync(const std::stop_token& stop, Nanos limit) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return handler_ ? cache_->WaitForHandled(*handler_, stop, limit) : Result<void>();
}

AnyCache::AnyCache() noexcept = default;
AnyCache::AnyCache(Shared<controller::KindCache> kind_cache) noexcept : cache_(std::move(kind_cache)) {}
AnyCache::AnyCache(const AnyCache&) noexcept = default;
AnyCache::AnyCache(AnyCache&&) noexcept = default;
AnyCache& AnyCache::operator=(AnyCache other) noexcept {
  std::swap(cache_, other.cache_);
  return *this;
}
AnyCache::~AnyCache() = default;
const TypeTable& AnyCache::table() const noexcept { return cache_->table(); }
const KindInfo& AnyCache::kind() const noexcept { return cache_->kind(); }
std::string AnyCache::name() const { return cache_->name(); }
Result<AnyRef> AnyCache::Get(const ObjectKey& key) const { return cache_->Get(key); }
Result<std::vector<AnyRef>> AnyCache::List(const ListFilter& filter) const { return cache_->List(filter); }
Result<void> AnyCache::AddIndex(std::string_view name, const FieldPath& path) const {
  return cache_->AddIndex(name, path);
}
Result<void> AnyCache::AddIndex(std::string_view name, const cache::IndexFunction& function) const {
  return cache_->AddIndex(name, function);
}
CacheRegistration AnyCache::AddEventHandler(AnyHandler handler, const HandlerOptions& options) const {
  return cache_->AddEventHandler(std::move(handler), options);
}
bool AnyCache::HasSynced() const noexcept { return cache_->HasSynced(); }
Result<void> AnyCache::WaitForSync(std::stop_token stop) const { return cache_->WaitForSync(std::move(stop)); }
Result<void> AnyCache::WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop,
                                 Nanos limit) const {
  return cache_->WaitUntil(key, version, std::move(stop), limit);
}
Result<AnyRef> AnyCache::WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
                                 std::stop_token stop, Nanos limit) const {
  return cache_->WaitFor(key, predicate, std::move(stop), limit);
}
Result<std::string> AnyCache::ResourceVersion(std::string_view in_namespace) const {
  return cache_->ResourceVersion(in_namespace);
}
std::vector<cache::InformerStatus> AnyCache::status() const { return cache_->status(); }

Caches::Caches(const Connection& connection, CachesOptions options)
    : state_(MakeShared<controller::CachesState>(connection, std::move(options))) {}

Result<AnyCache> Caches::Of(const TypeTable& table, const KindInfo& kind) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  Result<Shared<controller::KindCache>> kind_cache = state_->Of(table, kind);
  if (!kind_cache) return Fail(std::move(kind_cache).error());
  return AnyCache(*std::move(kind_cache));
}
Result<Cache<Unstructured>> Caches::Of(const ResourceMapping& mapping) const {
  return Typed<Unstructured>(Of(Unstructured::kTable, client::KindOf(mapping)));
}
Result<Cache<PartialObjectMetadata>> Caches::MetadataOf(const ResourceMapping& mapping) const {
  return MetadataOf(client::KindOf(mapping));
}
Result<Cache<PartialObjectMetadata>> Caches::MetadataOf(const KindInfo& kind) const {
  return Typed<PartialObjectMetadata>(Of(PartialObjectMetadata::kTable, kind));
}

void Caches::Start(const std::stop_token& stop) const {
  if (!detail::ForkedChild()) state_->Start(stop);
}
Result<void> Caches::WaitForSync(const std::stop_token& stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->WaitForSync(stop);
}
void Caches::Shutdown() const {
  if (!detail::ForkedChild()) state_->Shutdown();
}
std::vector<cache::InformerStatus> Caches::status() const {
  if (detail::ForkedChild()) return {};
  return state_->status();
}
Result<void> Caches::AddNamespace(std::string_view name) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->AddNamespace(name);
}
Result<void> Caches::RemoveNamespace(std::string_view name, const std::stop_token& stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->RemoveNamespace(name, stop);
}
Result<void> Caches::SetNamespaces(const std::vector<std::string>& names, const std::stop_token& stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->SetNamespaces(names, stop);
}
std::vector<std::string> Caches::namespaces() const {
  return detail::ForkedChild() ? std::vector<std::string>() : state_->namespaces();
}
const Connection& Caches::connection() const noexcept { return state_->connection(); }

}  // namespace kgen
