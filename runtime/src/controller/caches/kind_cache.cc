// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/kind_cache.h"

#include <algorithm>

#include "cache/resolve_options.h"
#include "cache/store/store.h"
#include "cache/wait_for_sync.h"
#include "core/quoted.h"
#include "kgen/client/options.h"
#include "kgen/core/unstructured.h"
#include "net/duration_text.h"

namespace kgen::controller {

using detail::Quoted;

Result<Shared<KindCache>> KindCache::Make(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                                          const Namespaces& namespaces, bool fresh) {
  const std::string doing = "cache of " + std::string(kind.resource);
  const CachesOptions& all = state->options();
  const InformerOptions& options = cache::OptionsOf(kind, all.defaults, all.of);
  const std::vector<InformerScope>* const own = OwnScopes(kind, all);
  const bool changes = own == nullptr && MayChange(all);
  const std::vector<InformerScope>& of_options = own != nullptr ? *own : all.scopes;
  Result<std::vector<PartScope>> scopes = ResolveScopes(kind, of_options, options);
  // What is wrong in a scope that comes later is an error now, even if there are no namespaces yet.
  if (scopes && changes) scopes = ResolveScopes(kind, {{}}, options);
  if (scopes && changes) scopes = ResolveScopes(kind, namespaces.scopes, options);
  if (scopes && !changes && of_options.empty()) scopes = ResolveScopes(kind, {{}}, options);
  if (!scopes) return Fail(scopes.error().With(doing));
  const auto settings = cache::SettingsOf(options, state->connection().clock());
  if (!settings) return Fail(settings.error().With(doing));
  const std::uint64_t follows = changes ? namespaces.revision : 0;
  return MakeShared<KindCache>(std::move(state), table, kind, *std::move(scopes), changes, follows, fresh);
}

KindCache::KindCache(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                     std::vector<PartScope> scopes, bool changes, std::uint64_t follows, bool fresh)
    : state_(std::move(state)),
      table_(table),
      kind_(kind),
      changes_(changes),
      divided_(state_->Divides(kind)),
      parts_(FirstParts(std::move(scopes), fresh), changes),
      followed_(follows) {}

Shared<const Parts> KindCache::FirstParts(std::vector<PartScope> scopes, bool fresh) const {
  std::vector<Shared<Part>> parts;
  for (PartScope& each : scopes) parts.push_back(MakePart(std::move(each), 0, fresh));
  return MakeShared<Parts>(std::move(parts));
}

Shared<Part> KindCache::MakePart(PartScope scope, std::uint64_t order, bool fresh) const {
  const CachesOptions& all = state_->options();
  auto informer = MakeInformer(scope.selection, cache::OptionsOf(kind_, all.defaults, all.of), fresh);
  return MakeShared<Part>(std::move(scope), std::move(informer), all.max_remembered_writes, order, leaving_);
}

KindCache::~KindCache() {
  Stop();
  state_->Remove(this);
}

// Every informer takes settings of its own, because they differ in the period of resyncs.
Shared<cache::Informer> KindCache::MakeInformer(const cache::Selection& selection, const InformerOptions& options,
                                                bool fresh) const {
  const Connection& connection = state_->connection();
  cache::InformerSettings settings = *cache::SettingsOf(options, connection.clock());  // Make() has checked them
  settings.first_list_newest = fresh;
  if (divided_) settings.shard_by = ShardBy::kNamespace;
  settings.saved = cache::SavedOf(options, connection, table_, kind_, selection);
  if (&table_ == &PartialObjectMetadata::kTable || &table_ == &Unstructured::kTable) {
    settings.transform = cache::AddingKind([&kind = kind_]() -> const KindInfo& { return kind; }, options.transform);
  }
  auto source = cache::MakeListWatch(connection, kind_, selection, cache::FormOf(table_));
  return MakeShared<cache::Informer>(connection, std::move(source), table_, std::move(settings));
}

std::string KindCache::name() const {
  std::string name(kind_.resource);
  if (const cache::ObjectForm form = cache::FormOf(table_); !form.name.empty()) {
    name.append(" (").append(form.name).append(")");
  }
  return name;
}

bool KindCache::Serves(const TypeTable& table, const KindInfo& kind) const noexcept {
  return &table_ == &table && kind_.group == kind.group && kind_.version == kind.version && kind_.kind == kind.kind &&
         kind_.resource == kind.resource && kind_.scope == kind.scope;
}

void KindCache::Start(const std::stop_token& stop) const {
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) part->informer->Start(stop);
}
void KindCache::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  for (const Shared<cache::Informer>& informer : informers()) informer->Stop();
}

std::vector<Shared<cache::Informer>> KindCache::informers() const {
  std::vector<Shared<cache::Informer>> informers;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) informers.push_back(part->informer);
  for (const Shared<Part>& part : leaving_->all()) informers.push_back(part->informer);
  return informers;
}

std::vector<cache::InformerStatus> KindCache::status() const {
  std::vector<cache::InformerStatus> status;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    status.push_back(part->informer->status());
    if (divided_) status.back().synced = part->informer->held() >= part->holds.last();
  }
  return status;
}

bool KindCache::HasSynced() const noexcept {
  if (ready_.load(std::memory_order_acquire)) return true;
  if (changes_ && !state_->KnowsNamespaces()) return false;
  const PartsView parts = parts_.Read();
  if (divided_) return HoldsAll(*parts);
  const bool synced = std::ranges::all_of(*parts, [](const Shared<Part>& part) { return part->informer->HasSynced(); });
  if (synced && changes_) ready_.store(true, std::memory_order_release);
  return synced;
}

Result<void> KindCache::WaitForSync(std::stop_token stop, Nanos limit) const {
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With("sync of " + name()));
  if (!changes_ && HasSynced()) return {};
  if (!state_->started()) {
    return Fail(NotStarted().With("cache of " + name()));
  }
  limit = std::min(limit, state_->options().sync_timeout);
  if (changes_) return WaitForEach(stop, Later(state_->connection().clock().Now(), limit));
  if (divided_) return WaitUntilHeld(stop, Later(state_->connection().clock().Now(), limit));
  SyncOptions options;
  options.give_up_after = std::max(Nanos(1), limit);
  Result<void> synced = cache::WaitForSync(state_->connection().executor(), std::move(stop), informers(), options);
  if (!synced) return Fail(synced.error().With(Description()));
  return synced;
}

Error KindCache::NotStarted() {
  return {Code::kInvalidArgument, "the caches have not been started; start them, or the manager, first"};
}

std::string KindCache::Description() const {
  return "cache of kind " + std::string(kind_.kind) + " (" + GroupVersion{kind_.group, kind_.version}.str() + ")";
}

// -------------------------------------------------------------------------------------------------- namespaces

Error KindCache::NotCached(const Parts& parts, std::string_view in_namespace) const {
  std::string text = "namespace " + Quoted(in_namespace) +
                     (parts.empty() ? " is not cached, and no other is" : " is not cached, only");
  std::string_view before = " ";
  for (const Shared<Part>& part : parts)
    text.append(std::exchange(before, ", ")).append(Quoted(part->namespace_name()));
  return {Code::kInvalidArgument, text + (changes_ ? "; see Caches::AddNamespace()" : "; see CachesOptions::scopes")};
}

Error KindCache::Stopped() { return {Code::kStopped, "the cache has been stopped, so its state may be old"}; }

Result<Part*> KindCache::PartOf(const Parts& parts, const ObjectKey& key) const {
  if (kind_.scope == Scope::kCluster && !key.namespace_.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is cluster-scoped, and the key has a namespace");
  }
  if (kind_.scope == Scope::kNamespaced && key.namespace_.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is namespaced, and the key has no namespace");
  }
  Part* const part = parts.Find(key.namespace_);
  if (part == nullptr) return Fail(NotCached(parts, key.namespace_));
  return part;
}

Result<std::span<const Shared<Part>>> KindCache::PartsOf(const Parts& parts, const ListFilter& filter) const {
  if (filter.index.empty() && !filter.value.empty()) {
    return Fail(Code::kInvalidArgument, "the filter has the value " + Quoted(filter.value) + " and names no index");
  }
  if (filter.namespace_.empty() && divided_ && !filter.held_only) return Fail(NotAllHeld());
  if (filter.namespace_.empty()) return parts.all();
  if (const Result<Part*> part = PartOf(parts, {filter.namespace_, {}}); !part) return Fail(part.error());
  return parts.Of(filter.namespace_);
}

// If namespaces come and go, each is read as soon as it has synced. What a divided cache has is checked for each
// namespace.
Result<void> KindCache::CheckSynced(std::span<const Shared<Part>> in) const {
  if (divided_) return {};
  const bool one = changes_ && in.size() == 1;
  if (one ? in.front()->informer->HasSynced() : HasSynced()) return {};
  if (std::ranges::any_of(in, [](const Shared<Part>& part) { return part->informer->IsStopped(); }))
    return Fail(Code::kStopped, "the cache was stopped before it had synced");
  return Fail(Code::kUnavailable, "the cache has not synced yet; use WaitForSync() first");
}

// --------------------------------------------------------------------------------------------- indexes, events

void KindCache::Inherit(const std::vector<IndexSpec>& indexes) {
  for (const IndexSpec& index : indexes) {
    {
      const MutexLock lock(mutex_);
      indexes_.try_emplace(index.name, index.path);
      specs_.push_back(index);
    }
    // An earlier cache of the same type had it, and this one has no objects yet, so it cannot fail.
    (void)AddToInformers(index);
  }
}

Result<void> KindCache::AddIndex(std::string_view name, const FieldPath& path) {
  if (Result<ResolvedPath> valid = ResolvedPath::Resolve(path, table_); !valid) {  // there may be no informer to ask
    return Fail(valid.error().With("index " + Quoted(name)).With("cache of " + this->name()));
  }
  return AddIndex({std::string(name), path.text(), [name = std::string(name), path](cache::Informer& informer) {
                     return informer.AddIndex(name, path);
                   }});
}
Result<void> KindCache::AddIndex(std::string_view name, const cache::IndexFunction& function) {
  return AddIndex({std::string(name), "", [name = std::string(name), function](cache::Informer& informer) {
                     return informer.AddIndex(name, function);
                   }});
}

// The informers may visit all their objects, so no lock is held.
Result<void> KindCache::AddIndex(IndexSpec index) {
  {
    const MutexLock lock(mutex_);
    const auto [found, is_new] = indexes_.try_emplace(index.name, index.path);
    if (!is_new && (index.path.empty() || found->second != index.path)) {
      const std::string by = found->second.empty() ? "a function" : "the path " + Quoted(found->second);
      return Fail(Code::kInvalidArgument, "cache of " + name() + ": index " + Quoted(index.name) + " exists, by " + by);
    }
  }
  if (Result<void> added = AddToInformers(index); !added) return added;
  {
    const MutexLock lock(mutex_);
    if (std::ranges::find(specs_, index.name, &IndexSpec::name) == specs_.end()) specs_.push_back(index);
  }
  // Informers may have been made meanwhile. Whichever is made from now on gets it from specs_.
  if (Result<void> added = changes_ ? AddToInformers(index) : Result<void>(); !added) return added;
  state_->KeepIndex(*this, std::move(index));
  return {};
}

// An informer that has the index already got it from a call with the same path, perhaps from one that is running.
Result<void> KindCache::AddToInformers(const IndexSpec& index) {
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    const auto has = [&] { return part->informer->store()->Snapshot().HasIndex(index.name); };
    if (has()) continue;
    Result<void> added = index.add(*part->informer);
    if (added || has()) continue;
    if (part == *parts->begin()) {  // no informer has it, so the name is free again
      const MutexLock lock(mutex_);
      indexes_.erase(index.name);
    }
    return Fail(added.error().With("cache of " + name()));
  }
  return {};
}

Result<void> KindCache::CheckIndex(const std::string& name) const {
  if (name.empty()) return {};
  {
    const MutexLock lock(mutex_);
    if (indexes_.contains(name)) return {};
  }
  return Fail(NoIndex(name));
}

Error KindCache::NoIndex(const std::string& name) const {
  std::string text = "there is no index " + Quoted(name) +
                     "; add it with AddIndex() of the cache of this kind in this " + "form, " +
                     std::string(table_.name) + ", which has ";
  const MutexLock lock(mutex_);
  if (indexes_.empty()) text += "none";
  bool first = true;
  for (const auto& [known, path] : indexes_) text += (std::exchange(first, false) ? "" : ", ") + Quoted(known);
  return {Code::kInvalidArgument, std::move(text)};
}

CacheRegistration KindCache::AddEventHandler(AnyHandler handler, const HandlerOptions& options) {
  const auto added = MakeShared<CacheHandler>(std::move(handler), options, state_->connection().executor());
  if (changes_) {  // before the parts are read: what comes later finds the handler
    const MutexLock lock(mutex_);
    handlers_.push_back(added);
  }
  const PartsView parts = parts_.Read();
  if (!changes_ && parts->size() == 1) {
    added->AttachToOnly(*parts->begin());
  } else {
    for (const Shared<Part>& part : *parts) added->Attach(part);
  }
  return CacheRegistration(Shared<KindCache>(this), added);
}

void KindCache::Forget(const CacheHandler& handler) {
  Shared<CacheHandler> dropped;  // without the lock
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(handlers_, &handler, &Shared<CacheHandler>::get);
  if (found == handlers_.end()) return;
  dropped = std::move(*found);
  handlers_.erase(found);
}

Result<void> KindCache::WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop,
                                  Nanos limit) const {
  const PartsView parts = parts_.Read();
  const Result<Part*> part = PartOf(*parts, key);
  if (!part) return Fail(part.error().With("wait for " + name()));
  Result<void> waited = (*part)->informer->WaitUntil(version, std::move(stop), limit);
  if (!waited && (*part)->removed()) waited = Fail(Removed(**part).With("wait for " + name()));
  return waited;
}

Result<AnyRef> KindCache::WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
                                  std::stop_token stop, Nanos limit) const {
  const std::string doing = "wait for " + name() + " " + key.str();
  const PartsView parts = parts_.Read();
  const Result<Part*> part = PartOf(*parts, key);
  if (!part) return Fail(part.error().With(doing));
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(doing));
  const TimePoint deadline = Later(state_->connection().clock().Now(), limit);
  Result<void> synced = changes_ ? WaitForPart(**part, stop, limit) : WaitForSync(stop, limit);
  if (!synced) return Fail(synced.error().With(doing));
  const auto wait = [&]() -> Result<cache::AnySnapshot> {
    return (*part)->informer->WaitFor(
        doing, [&](const cache::AnySnapshot& at) { return predicate(at.Get(key)); }, stop, deadline);
  };
  const Result<cache::AnySnapshot> view = ReadHeld(**part, key.namespace_, wait);
  if (view) return view->Get(key);
  if ((*part)->removed()) return Fail(Removed(**part).With(doing));
  if (view.error().code() != Code::kTimeout) return Fail(view.error().With(doing));
  return Fail(Error(Code::kTimeout, "the object was not as awaited within " + net::DurationText(limit)).With(doing));
}

}  // namespace kgen::controller
