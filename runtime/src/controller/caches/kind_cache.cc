// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/kind_cache.h"

#include <algorithm>
#include <chrono>

#include "cache/resolve_options.h"
#include "cache/store/store.h"
#include "cache/wait_for_sync.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/metadata_table.h"
#include "core/observers/notify_observer.h"
#include "core/quoted.h"
#include "kgen/client/options.h"
#include "kgen/core/unstructured.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

// How long a read waits for the writes of the clients of its caches.
constexpr Nanos kFreshLimit = 5s;

using detail::Quoted;

// The scopes of a kind. Those for all kinds do not apply to cluster-scoped ones.
const std::vector<InformerScope>& ScopesOf(const KindInfo& kind, const CachesOptions& options) {
  static const std::vector<InformerScope> kAll;
  for (const auto& [table, scopes] : options.scopes_of) {
    const KindInfo* const named = table != nullptr ? table->kind : nullptr;
    if (named != nullptr && named->group == kind.group && named->resource == kind.resource) return scopes;
  }
  return kind.scope == Scope::kCluster ? kAll : options.scopes;
}

// What the informers of a kind select, by namespace. One without a namespace selects from those that no other names.
Result<std::vector<KindCache::PartScope>> Resolve(const KindInfo& kind, const std::vector<InformerScope>& scopes,
                                                  const InformerOptions& options) {
  std::map<std::string, cache::Selection> selections;
  std::string elsewhere;
  for (const InformerScope& each : scopes) {
    if (!selections.try_emplace(each.namespace_, cache::SelectionOf(each, options)).second) {
      return Fail(Code::kInvalidArgument, "the options have two scopes for " +
                                              (each.namespace_.empty() ? std::string("all namespaces")
                                                                       : "namespace " + Quoted(each.namespace_)));
    }
    if (!each.namespace_.empty()) {
      elsewhere += (elsewhere.empty() ? "metadata.namespace!=" : ",metadata.namespace!=") + each.namespace_;
    }
  }
  if (scopes.empty()) selections.try_emplace("", cache::SelectionOf({}, options));
  std::vector<KindCache::PartScope> all;
  for (auto& [name, selection] : selections) {
    if (name.empty() && !elsewhere.empty()) {
      selection.field_selector += (selection.field_selector.empty() ? "" : ",") + elsewhere;
    }
    if (Result<void> valid = cache::CheckSelection(kind, selection); !valid) return Fail(std::move(valid).error());
    Selector labels = *Selector::Parse(selection.label_selector);
    cache::FieldSelector fields = *cache::FieldSelector::Parse(selection.field_selector);
    all.push_back({std::move(selection), std::move(labels), std::move(fields)});
  }
  return all;
}

}  // namespace

Result<Shared<KindCache>> KindCache::Make(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                                          bool fresh) {
  const std::string doing = "cache of " + std::string(kind.resource);
  const CachesOptions& all = state->options();
  const InformerOptions& options = cache::OptionsOf(kind, all.defaults, all.of);
  Result<std::vector<PartScope>> scopes = Resolve(kind, ScopesOf(kind, all), options);
  if (!scopes) return Fail(scopes.error().With(doing));
  const auto settings = cache::SettingsOf(options, state->connection().clock());
  if (!settings) return Fail(settings.error().With(doing));
  return MakeShared<KindCache>(std::move(state), table, kind, *std::move(scopes), options, fresh);
}

KindCache::KindCache(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                     std::vector<PartScope> scopes, const InformerOptions& options, bool fresh)
    : state_(std::move(state)), table_(table), kind_(kind) {
  for (PartScope& each : scopes) {
    auto informer = MakeInformer(each.selection, options, fresh);
    parts_.emplace_back(std::move(each), std::move(informer), state_->options().max_remembered_writes);
  }
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
  for (const Part& part : parts_) part.informer->Start(stop);
}
void KindCache::Stop() const {
  for (const Part& part : parts_) part.informer->Stop();
}

std::vector<Shared<cache::Informer>> KindCache::informers() const {
  std::vector<Shared<cache::Informer>> informers;
  for (const Part& part : parts_) informers.push_back(part.informer);
  return informers;
}

std::vector<cache::InformerStatus> KindCache::status() const {
  std::vector<cache::InformerStatus> status;
  for (const Part& part : parts_) status.push_back(part.informer->status());
  return status;
}

bool KindCache::HasSynced() const noexcept {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.informer->HasSynced(); });
}

Result<void> KindCache::WaitForSync(std::stop_token stop, Nanos limit) const {
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With("sync of " + name()));
  if (HasSynced()) return {};
  if (!state_->started()) {
    return Fail(Error(Code::kInvalidArgument, "the caches have not been started; start them, or the manager, first")
                    .With("cache of " + name()));
  }
  SyncOptions options;
  options.give_up_after = std::max(Nanos(1), std::min(limit, state_->options().sync_timeout));
  Result<void> synced = cache::WaitForSync(state_->connection().executor(), std::move(stop), informers(), options);
  if (!synced)
    return Fail(synced.error().With("cache of kind " + std::string(kind_.kind) + " (" +
                                    GroupVersion{kind_.group, kind_.version}.str() + ")"));
  return synced;
}

// -------------------------------------------------------------------------------------------------- namespaces

const KindCache::Part* KindCache::Find(std::string_view in_namespace) const noexcept {
  const Part* others = nullptr;
  for (const Part& part : parts_) {
    if (part.namespace_name() == in_namespace) return &part;
    if (part.namespace_name().empty()) others = &part;
  }
  return others;
}
KindCache::Part* KindCache::Find(std::string_view in_namespace) noexcept {
  return const_cast<Part*>(std::as_const(*this).Find(in_namespace));
}

Error KindCache::NotCached(std::string_view in_namespace) const {
  std::string text = "namespace " + Quoted(in_namespace) + " is not cached, only";
  for (const Part& part : parts_) {
    text.append(&part == &parts_.front() ? " " : ", ").append(Quoted(part.namespace_name()));
  }
  return {Code::kInvalidArgument, text + "; see CachesOptions::scopes"};
}

Error KindCache::Stopped() { return {Code::kStopped, "the cache has been stopped, so its state may be old"}; }

Result<void> KindCache::CheckKey(const ObjectKey& key) const {
  if (kind_.scope == Scope::kCluster && !key.namespace_.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is cluster-scoped, and the key has a namespace");
  }
  if (kind_.scope == Scope::kNamespaced && key.namespace_.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is namespaced, and the key has no namespace");
  }
  if (Find(key.namespace_) == nullptr) return Fail(NotCached(key.namespace_));
  return {};
}

Result<void> KindCache::CheckFilter(const ListFilter& filter) const {
  if (filter.index.empty() && !filter.value.empty()) {
    return Fail(Code::kInvalidArgument, "the filter has the value " + Quoted(filter.value) + " and names no index");
  }
  if (filter.namespace_.empty()) return {};
  return CheckKey({filter.namespace_, {}});
}

Result<void> KindCache::CheckSynced() const {
  if (HasSynced()) return {};
  const bool stopped =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.informer->IsStopped(); });
  if (stopped) return Fail(Code::kStopped, "the cache was stopped before it had synced");
  return Fail(Code::kUnavailable, "the cache has not synced yet; use WaitForSync() first");
}

// ------------------------------------------------------------------------------------------------------- reads

Result<AnyRef> KindCache::Get(const ObjectKey& key) const {
  Result<void> ready = CheckKey(key);
  if (ready) ready = CheckSynced();
  if (!ready) return Fail(ready.error().With("get " + name() + " " + key.str()));
  return Find(key.namespace_)->informer->store()->Look(key);
}

Result<std::vector<AnyRef>> KindCache::List(const ListFilter& filter) const {
  std::vector<AnyRef> objects;
  Result<void> done = CheckFilter(filter);
  if (done) done = CheckSynced();
  for (const Part& part : parts_) {
    if (!done) break;
    if (!filter.namespace_.empty() && Find(filter.namespace_) != &part) continue;
    done = Select(part.informer->store()->Snapshot(), filter, objects);
  }
  if (!done) return Fail(done.error().With("list " + name()));
  return objects;
}

Result<void> KindCache::Select(const cache::AnySnapshot& view, const ListFilter& filter,
                               std::vector<AnyRef>& objects) const {
  std::vector<AnyRef> found;
  if (!filter.index.empty()) {
    if (!view.HasIndex(filter.index)) {
      return Fail(NoIndex(filter.index));
    }
    found = view.ByIndex(filter.index, filter.value);
  } else {
    found = view.InNamespace(filter.namespace_);
  }
  if (!filter.index.empty() && !filter.namespace_.empty()) {
    std::erase_if(found, [&](const AnyRef& object) { return object.metadata()->namespace_ != filter.namespace_; });
  }
  if (!filter.labels.is_everything() && !detail::KeepsMetadata(table_, "labels")) {
    return Fail(Code::kInvalidArgument, std::string("the filter selects by labels, but ") + table_.name +
                                            " has none; add metadata.labels to the members of the projection");
  }
  if (!filter.labels.is_everything()) {
    std::erase_if(found, [&](const AnyRef& object) { return !filter.labels.Matches(object.metadata()->labels); });
  }
  if (objects.empty()) {
    objects = std::move(found);
  } else {
    objects.insert(objects.end(), found.begin(), found.end());
  }
  return {};
}

Result<std::string> KindCache::ResourceVersion(std::string_view in_namespace) const {
  const Part* const part = in_namespace.empty() && parts_.size() == 1 ? &parts_.front() : Find(in_namespace);
  Result<void> ready = part != nullptr ? Result<void>() : Fail(NotCached(in_namespace));
  if (ready) ready = CheckSynced();
  if (!ready) return Fail(ready.error().With("resource version of the cache of " + name()));
  return std::string(part->informer->store()->Snapshot().version());
}

Result<AnyRef> KindCache::GetFresh(const ObjectKey& key, const std::stop_token& stop) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (Result<void> ready = CheckKey(key); !ready) return Fail(ready.error().With("get " + name() + " " + key.str()));
  Part& part = *Find(key.namespace_);
  if (part.informer->IsStopped()) return Fail(Stopped().With("get " + name() + " " + key.str()));
  if (part.writes.empty()) return part.informer->store()->Look(key);
  const std::uint64_t losses = part.writes.Losses();
  const std::optional<OwnWrite> write = part.writes.Of(key);
  if (!write) return part.informer->store()->Look(key);
  const auto shows = [&](const cache::AnySnapshot& view) { return Shows(view, VersionOf(view), key, *write); };
  const TimePoint deadline = Later(state_->connection().clock().Now(), kFreshLimit);
  Result<cache::AnySnapshot> view = Await(part, shows, losses, stop, deadline);
  if (!view && view.error().code() == Code::kTimeout) view = Fail(Behind(part, OwnWrites::Entry(key, *write)));
  if (!view) return Fail(view.error().With("get " + name() + " " + key.str()));
  return view->Get(key);
}

// What is waited for in all namespaces is collected first, so that later writes do not count.
Result<std::vector<AnyRef>> KindCache::ListFresh(const ListFilter& filter, const std::stop_token& stop) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  struct Read {
    Part& part;
    std::optional<OwnWrites::Mark> mark{};
  };
  const std::string doing = "list " + name();
  if (Result<void> ready = CheckFilter(filter); !ready) return Fail(ready.error().With(doing));
  std::vector<Read> reads;
  for (Part& part : parts_) {
    if (!filter.namespace_.empty() && Find(filter.namespace_) != &part) continue;
    if (part.informer->IsStopped()) return Fail(Stopped().With(doing));
    Read& read = reads.emplace_back(part);
    if (!part.writes.empty()) read.mark = part.writes.Begin(filter.namespace_);
  }
  const TimePoint deadline = Later(state_->connection().clock().Now(), kFreshLimit);
  std::vector<AnyRef> objects;
  for (const Read& read : reads) {
    Result<void> selected = read.mark ? SelectFresh(read.part, *read.mark, filter, stop, deadline, objects)
                                      : Select(read.part.informer->store()->Snapshot(), filter, objects);
    if (!selected) return Fail(selected.error().With(doing));
  }
  return objects;
}

Result<void> KindCache::SelectFresh(Part& part, const OwnWrites::Mark& mark, const ListFilter& filter,
                                    const std::stop_token& stop, TimePoint deadline,
                                    std::vector<AnyRef>& objects) const {
  std::vector<AnyRef> found;
  Result<void> selected;
  const auto shows = [&](const cache::AnySnapshot& view) {
    if (VersionOf(view) < mark.awaited) return false;
    found.clear();
    selected = Select(view, filter, found);
    return !selected || part.writes.Show(view, found, mark);
  };
  Result<cache::AnySnapshot> view = Await(part, shows, mark.losses, stop, deadline);
  if (!view && view.error().code() == Code::kTimeout) {
    return Fail(Behind(part, part.writes.FindMissing(part.informer->store()->Snapshot(), filter.namespace_)));
  }
  if (!view) return Fail(view.error());
  if (part.writes.Losses() != mark.losses) {  // this view may have ended the wait without being selected from
    found.clear();
    selected = Select(*view, filter, found);
  }
  if (!selected) return selected;
  objects.insert(objects.end(), found.begin(), found.end());
  return {};
}

// Returns a view for which `shows` is true, or one after a loss.
Result<cache::AnySnapshot> KindCache::Await(Part& part, const std::function<bool(const cache::AnySnapshot&)>& shows,
                                            std::uint64_t losses, const std::stop_token& stop,
                                            TimePoint deadline) const {
  Result<cache::AnySnapshot> view = part.informer->WaitFor(
      "own writes of " + name(),
      [&](const cache::AnySnapshot& at) { return shows(at) || part.writes.Losses() != losses; }, stop, deadline);
  if (view) part.writes.Settle(*view, state_->connection().clock().Now());
  return view;
}

Error KindCache::Behind(const Part& part, const std::optional<OwnWrites::Entry>& missing) const {
  std::string text = "after " + net::DurationText(kFreshLimit) + " the cache is still older than what its client has ";
  if (missing) {
    const auto& [key, write] = *missing;
    text += (write.deleted ? "deleted: " : "written: ") + key.str();
    if (write.version != 0) text += " at resource version " + std::to_string(write.version);
    if (write.deleted && !write.uid.empty()) text += " with uid " + write.uid.str();
  } else {
    text += "written";
  }
  return {Code::kTimeout, text + "; the cache is at " + Quoted(part.informer->store()->Snapshot().version())};
}

// ------------------------------------------------------------------------------------------------------ writes

void KindCache::Remember(const Written& written) {
  Part* const part = Find(written.key.namespace_);
  if (part == nullptr) return;
  OwnWrite write = written.write;
  // Nothing tells whether an object was selected that is gone. OwnWrites may know it from an earlier write.
  write.selected = written.answer != nullptr && part->scope.labels.Matches(written.answer->labels) &&
                   part->scope.fields.Matches(written.body);
  write.at = state_->connection().clock().Now();
  if (!part->writes.Add(written.key, std::move(write), part->informer->HasSynced())) return;
  NotifyObserver(Shared<Observer>(&state_->connection().observer()), [&](Observer& o) {
    const std::string cache = "cache of " + name();
    const std::string limit = std::to_string(state_->options().max_remembered_writes);
    o.OnLogged({.source = cache,
                .key = part->namespace_name(),
                .message = "more than " + limit +
                           " writes of its clients have not come back to the cache, and the oldest are forgotten: a "
                           "read may still show an object that one of them has deleted or taken out of the selection; "
                           "see CachesOptions::max_remembered_writes",
                .level = LogLevel::kWarning,
                .component = LogComponent::kInformer});
  });
}

AnyRef KindCache::Look(const ObjectKey& key) const {
  const Part* const part = Find(key.namespace_);
  if (part == nullptr || !part->informer->HasSynced()) return {};  // a saved object may be another one
  return part->informer->store()->Look(key);
}

std::size_t KindCache::remembered() const noexcept {
  std::size_t count = 0;
  for (const Part& part : parts_) count += part.writes.size();
  return count;
}

std::uint64_t KindCache::visited() const noexcept {
  std::uint64_t count = 0;
  for (const Part& part : parts_) count += part.writes.visited();
  return count;
}

// --------------------------------------------------------------------------------------------- indexes, events

void KindCache::Inherit(const std::vector<IndexSpec>& indexes) {
  for (const IndexSpec& index : indexes) {
    {
      const MutexLock lock(mutex_);
      indexes_.try_emplace(index.name, index.path);
    }
    // An earlier cache of the same type had it, and this one has no objects yet, so it cannot fail.
    (void)AddToInformers(index);
  }
}

Result<void> KindCache::AddIndex(std::string_view name, const FieldPath& path) {
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
  state_->KeepIndex(*this, std::move(index));
  return {};
}

// An informer that has the index already got it from a call with the same path, perhaps from one that is running.
Result<void> KindCache::AddToInformers(const IndexSpec& index) {
  for (const Part& part : parts_) {
    const auto has = [&] { return part.informer->store()->Snapshot().HasIndex(index.name); };
    if (has()) continue;
    Result<void> added = index.add(*part.informer);
    if (added || has()) continue;
    if (&part == &parts_.front()) {  // no informer has it, so the name is free again
      const MutexLock lock(mutex_);
      indexes_.erase(index.name);
    }
    return Fail(added.error().With("cache of " + name()));
  }
  return {};
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
  struct Box final : SharedObject {
    explicit Box(AnyHandler to) : handler(std::move(to)) {}
    AnyHandler handler;
  };
  std::vector<Registration> parts;
  if (parts_.size() == 1) {
    parts.push_back(parts_.front().informer->AddEventHandler(std::move(handler), options));
  } else {
    const auto box = MakeShared<Box>(std::move(handler));
    for (const Part& part : parts_) {
      parts.push_back(part.informer->AddEventHandler([box](const AnyEvent& event) { box->handler(event); }, options));
    }
  }
  return CacheRegistration(Shared<KindCache>(this), std::move(parts));
}

Result<void> KindCache::WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop,
                                  Nanos limit) const {
  if (Result<void> ready = CheckKey(key); !ready) return Fail(ready.error().With("wait for " + name()));
  return Find(key.namespace_)->informer->WaitUntil(version, std::move(stop), limit);
}

Result<AnyRef> KindCache::WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
                                  std::stop_token stop, Nanos limit) const {
  const std::string doing = "wait for " + name() + " " + key.str();
  if (Result<void> ready = CheckKey(key); !ready) return Fail(ready.error().With(doing));
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(doing));
  const TimePoint deadline = Later(state_->connection().clock().Now(), limit);
  if (Result<void> synced = WaitForSync(stop, limit); !synced) return Fail(synced.error().With(doing));
  const Result<cache::AnySnapshot> view =
      Find(key.namespace_)
          ->informer->WaitFor(
              doing, [&](const cache::AnySnapshot& at) { return predicate(at.Get(key)); }, std::move(stop), deadline);
  if (view) return view->Get(key);
  if (view.error().code() != Code::kTimeout) return Fail(view.error().With(doing));
  return Fail(Error(Code::kTimeout, "the object was not as awaited within " + net::DurationText(limit)).With(doing));
}

}  // namespace kgen::controller
