// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/cache_core.h"

#include <algorithm>
#include <chrono>

#include "cache/reflector/informer_options.h"
#include "cache/reflector/list_watch.h"
#include "cache/reflector/with_kind.h"
#include "cache/store/store.h"
#include "core/execution/fork_error.h"
#include "core/execution/jitter.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "kgen/client/options.h"
#include "kgen/core/unstructured.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

// How long a read waits for the writes of the clients of its caches.
constexpr Nanos kFreshLimit = 5s;

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// What the informers select that the options ask for, each namespace once.
Result<std::vector<CacheCore::Selection>> SelectionsOf(const KindInfo& kind, const CacheOptions& options) {
  const bool any = !options.namespaces.empty() || !options.of_namespaces.empty();
  if (kind.scope == Scope::kCluster && any) {
    return Fail(Code::kInvalidArgument, "the kind is cluster-scoped, so its options must not name namespaces");
  }
  std::map<std::string, CacheCore::Selection> selections;
  std::string others = options.field_selector;
  for (const NamespaceSelection& each : options.of_namespaces) {
    const auto [at, is_new] = selections.try_emplace(each.namespace_);
    if (!is_new)
      return Fail(Code::kInvalidArgument, "the options name namespace " + Quoted(each.namespace_) + " twice");
    at->second = {each.namespace_, each.label_selector, each.field_selector};
    others += (others.empty() ? "metadata.namespace!=" : ",metadata.namespace!=") + each.namespace_;
  }
  for (const std::string& name : options.namespaces) {
    selections.try_emplace(name, name, options.label_selector, options.field_selector);
  }
  if (selections.contains("")) {
    return Fail(Code::kInvalidArgument, "an empty namespace in the options; leave the list empty for all namespaces");
  }
  if (options.namespaces.empty()) selections.try_emplace("", "", options.label_selector, others);
  std::vector<CacheCore::Selection> all;
  for (auto& [name, selection] : selections) {
    Result<Selector> labels = Selector::Parse(selection.label_text);
    if (!labels) return Fail(labels.error().With("label selector " + Quoted(selection.label_text)));
    Result<FieldSelector> fields = FieldSelector::Parse(selection.field_text);
    if (!fields) return Fail(fields.error());
    selection.labels = *std::move(labels);
    selection.fields = *std::move(fields);
    all.push_back(std::move(selection));
  }
  return all;
}

Nanos WithJitter(Nanos resync, Clock& clock) {
  if (resync <= Nanos(0)) return Nanos(0);
  resync = std::min<Nanos>(resync, std::chrono::years(10));
  return Jitter(SeedFrom(clock)).Between(resync - resync / 10, resync + resync / 10);
}

}  // namespace

Result<Shared<CacheCore>> CacheCore::Make(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind,
                                          const CacheOptions& options, bool fresh) {
  const std::string doing = "cache of " + std::string(kind.resource);
  Result<std::vector<Selection>> selections = SelectionsOf(kind, options);
  if (!selections) return Fail(selections.error().With(doing));
  return MakeShared<CacheCore>(std::move(state), table, kind, options, *std::move(selections), fresh);
}

CacheCore::CacheCore(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind, CacheOptions options,
                     std::vector<Selection> selections, bool fresh)
    : state_(std::move(state)), table_(table), kind_(kind), options_(std::move(options)) {
  for (Selection& each : selections) {
    auto informer = MakeInformer(each, fresh);
    parts_.emplace_back(std::move(each), std::move(informer), options_.max_remembered_writes);
  }
}

CacheCore::~CacheCore() { state_->Remove(this); }

Shared<cache::InformerCore> CacheCore::MakeInformer(const Selection& selection, bool fresh) const {
  const Connection& connection = state_->connection();
  cache::InformerOptions options;
  options.resync = WithJitter(options_.resync, connection.clock());
  options.page_size = options_.page_size;
  options.streaming_list = options_.streaming_list;
  options.drop_managed_fields = options_.drop_managed_fields;
  options.first_list_newest = fresh;
  options.transform = options_.transform;
  if (&table_ == &Unstructured::kTable || &table_ == &PartialObjectMetadata::kTable) {
    options.transform = [&kind = kind_, own = options_.transform](AnyRef object) -> Result<AnyRef> {
      object = cache::WithKind(std::move(object), kind);
      return own ? own(std::move(object)) : object;
    };
  }
  const bool metadata = &table_ == &PartialObjectMetadata::kTable;
  cache::TweakListOptions select = [labels = selection.label_text, fields = selection.field_text](ListOptions& list) {
    list.label_selector = labels;
    list.field_selector = fields;
  };
  auto source = cache::MakeListWatch(connection, kind_, selection.namespace_, std::move(select),
                                     metadata ? cache::ObjectForm::kMetadata : cache::ObjectForm::kWhole);
  return MakeShared<cache::InformerCore>(connection, std::move(source), table_, std::move(options));
}

std::string CacheCore::name() const {
  std::string name(kind_.resource);
  if (&table_ == &PartialObjectMetadata::kTable) name += " (metadata)";
  return name;
}

bool CacheCore::Serves(const TypeTable& table, const KindInfo& kind) const noexcept {
  return &table_ == &table && kind_.group == kind.group && kind_.version == kind.version && kind_.kind == kind.kind &&
         kind_.resource == kind.resource && kind_.scope == kind.scope;
}

void CacheCore::Start(const std::stop_token& stop) const {
  for (const Part& part : parts_) part.informer->Start(stop);
}
void CacheCore::Stop() const {
  for (const Part& part : parts_) part.informer->Stop();
}

std::vector<Shared<cache::InformerCore>> CacheCore::informers() const {
  std::vector<Shared<cache::InformerCore>> informers;
  for (const Part& part : parts_) informers.push_back(part.informer);
  return informers;
}

std::vector<cache::InformerStatus> CacheCore::status() const {
  std::vector<cache::InformerStatus> status;
  for (const Part& part : parts_) status.push_back(part.informer->status());
  return status;
}

bool CacheCore::HasSynced() const noexcept {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.informer->HasSynced(); });
}

Result<void> CacheCore::WaitForSync(std::stop_token stop, Nanos limit) const {
  if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With("sync of " + name()));
  if (HasSynced()) return {};
  if (!state_->started()) {
    return Fail(Error(Code::kInvalidArgument, "the caches have not been started; start them, or the manager, first")
                    .With("cache of " + name()));
  }
  SyncOptions options;
  options.give_up_after = std::max(Nanos(1), std::min(limit, state_->sync_timeout()));
  Result<void> synced = detail::WaitForSync(state_->connection().executor(), std::move(stop), informers(), options);
  if (!synced)
    return Fail(synced.error().With("cache of kind " + std::string(kind_.kind) + " (" +
                                    GroupVersion{kind_.group, kind_.version}.str() + ")"));
  return synced;
}

// -------------------------------------------------------------------------------------------------- namespaces

const CacheCore::Part* CacheCore::Find(std::string_view in_namespace) const noexcept {
  const Part* others = nullptr;
  for (const Part& part : parts_) {
    if (part.namespace_ == in_namespace) return &part;
    if (part.namespace_.empty()) others = &part;
  }
  return others;
}
CacheCore::Part* CacheCore::Find(std::string_view in_namespace) noexcept {
  return const_cast<Part*>(std::as_const(*this).Find(in_namespace));
}

Error CacheCore::NotCached(std::string_view in_namespace) const {
  std::string text = "namespace " + Quoted(in_namespace) + " is not cached, only";
  for (const Part& part : parts_) {
    text.append(&part == &parts_.front() ? " " : ", ").append(Quoted(part.namespace_));
  }
  return {Code::kInvalidArgument, text + "; see CacheOptions::namespaces"};
}

Error CacheCore::Stopped() { return {Code::kStopped, "the cache has been stopped, so its state may be old"}; }

Result<void> CacheCore::CheckKey(const ObjectKey& key) const {
  if (kind_.scope == Scope::kCluster && !key.namespace_.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is cluster-scoped, and the key has a namespace");
  }
  if (kind_.scope == Scope::kNamespaced && key.namespace_.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is namespaced, and the key has no namespace");
  }
  if (Find(key.namespace_) == nullptr) return Fail(NotCached(key.namespace_));
  return {};
}

Result<void> CacheCore::CheckFilter(const ListFilter& filter) const {
  if (filter.index.empty() && !filter.value.empty()) {
    return Fail(Code::kInvalidArgument, "the filter has the value " + Quoted(filter.value) + " and names no index");
  }
  if (filter.namespace_.empty()) return {};
  return CheckKey({filter.namespace_, {}});
}

Result<void> CacheCore::CheckSynced() const {
  if (HasSynced()) return {};
  const bool stopped =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.informer->IsStopped(); });
  if (stopped) return Fail(Code::kStopped, "the cache was stopped before it had synced");
  return Fail(Code::kUnavailable, "the cache has not synced yet; use WaitForSync() first");
}

// ------------------------------------------------------------------------------------------------------- reads

Result<AnyRef> CacheCore::Get(const ObjectKey& key) const {
  Result<void> ready = CheckKey(key);
  if (ready) ready = CheckSynced();
  if (!ready) return Fail(ready.error().With("get " + name() + " " + key.str()));
  return Find(key.namespace_)->informer->store()->Look(key);
}

Result<std::vector<AnyRef>> CacheCore::List(const ListFilter& filter) const {
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

Result<void> CacheCore::Select(const cache::AnySnapshot& view, const ListFilter& filter,
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

Result<std::string> CacheCore::ResourceVersion(std::string_view in_namespace) const {
  const Part* const part = in_namespace.empty() && parts_.size() == 1 ? &parts_.front() : Find(in_namespace);
  Result<void> ready = part != nullptr ? Result<void>() : Fail(NotCached(in_namespace));
  if (ready) ready = CheckSynced();
  if (!ready) return Fail(ready.error().With("resource version of the cache of " + name()));
  return std::string(part->informer->store()->Snapshot().version());
}

Result<AnyRef> CacheCore::GetFresh(const ObjectKey& key, const std::stop_token& stop) {
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
Result<std::vector<AnyRef>> CacheCore::ListFresh(const ListFilter& filter, const std::stop_token& stop) {
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

Result<void> CacheCore::SelectFresh(Part& part, const OwnWrites::Mark& mark, const ListFilter& filter,
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
Result<cache::AnySnapshot> CacheCore::Await(Part& part, const std::function<bool(const cache::AnySnapshot&)>& shows,
                                            std::uint64_t losses, const std::stop_token& stop,
                                            TimePoint deadline) const {
  Result<cache::AnySnapshot> view = part.informer->WaitFor(
      "own writes of " + name(),
      [&](const cache::AnySnapshot& at) { return shows(at) || part.writes.Losses() != losses; }, stop, deadline);
  if (view) part.writes.Settle(*view, state_->connection().clock().Now());
  return view;
}

Error CacheCore::Behind(const Part& part, const std::optional<OwnWrites::Entry>& missing) const {
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

void CacheCore::Remember(const Written& written) {
  Part* const part = Find(written.key.namespace_);
  if (part == nullptr) return;
  OwnWrite write = written.write;
  // Nothing tells whether an object was selected that is gone. OwnWrites may know it from an earlier write.
  write.selected = written.answer != nullptr && part->selection.labels.Matches(written.answer->labels) &&
                   part->selection.fields.Matches(written.body);
  write.at = state_->connection().clock().Now();
  if (!part->writes.Add(written.key, std::move(write), part->informer->HasSynced())) return;
  NotifyObserver(Shared<Observer>(&state_->connection().observer()), [&](Observer& o) {
    const std::string cache = "cache of " + name();
    const std::string limit = std::to_string(options_.max_remembered_writes);
    o.OnLogged({.source = cache,
                .key = part->namespace_,
                .message = "more than " + limit +
                           " writes of its clients have not come back to the cache, and the oldest are forgotten: a "
                           "read may still show an object that one of them has deleted or taken out of the selection; "
                           "see CacheOptions::max_remembered_writes",
                .warning = true});
  });
}

AnyRef CacheCore::Look(const ObjectKey& key) const {
  const Part* const part = Find(key.namespace_);
  return part != nullptr ? part->informer->store()->Look(key) : AnyRef();
}

std::size_t CacheCore::remembered() const noexcept {
  std::size_t count = 0;
  for (const Part& part : parts_) count += part.writes.size();
  return count;
}

std::uint64_t CacheCore::visited() const noexcept {
  std::uint64_t count = 0;
  for (const Part& part : parts_) count += part.writes.visited();
  return count;
}

// --------------------------------------------------------------------------------------------- indexes, events

void CacheCore::Inherit(const std::vector<IndexSpec>& indexes) {
  for (const IndexSpec& index : indexes) {
    {
      const MutexLock lock(mutex_);
      indexes_.try_emplace(index.name, index.path);
    }
    // An earlier cache of the same type had it, and this one has no objects yet, so it cannot fail.
    (void)AddToInformers(index);
  }
}

Result<void> CacheCore::AddIndex(std::string_view name, const FieldPath& path) {
  return AddIndex({std::string(name), path.text(), [name = std::string(name), path](cache::InformerCore& informer) {
                     return informer.AddIndex(name, path);
                   }});
}
Result<void> CacheCore::AddIndex(std::string_view name, const cache::IndexFunction& function) {
  return AddIndex({std::string(name), "", [name = std::string(name), function](cache::InformerCore& informer) {
                     return informer.AddIndex(name, function);
                   }});
}

// The informers may visit all their objects, so no lock is held.
Result<void> CacheCore::AddIndex(IndexSpec index) {
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
Result<void> CacheCore::AddToInformers(const IndexSpec& index) {
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

Error CacheCore::NoIndex(const std::string& name) const {
  std::string text = "there is no index " + Quoted(name) +
                     "; add it with AddIndex() of the cache of this kind in this " + "form, " +
                     std::string(table_.name) + ", which has ";
  const MutexLock lock(mutex_);
  if (indexes_.empty()) text += "none";
  bool first = true;
  for (const auto& [known, path] : indexes_) text += (std::exchange(first, false) ? "" : ", ") + Quoted(known);
  return {Code::kInvalidArgument, std::move(text)};
}

CacheRegistration CacheCore::AddEventHandler(AnyHandler handler, const HandlerOptions& options) {
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
  return CacheRegistration(Shared<CacheCore>(this), std::move(parts));
}

Result<void> CacheCore::WaitUntil(const ObjectKey& key, std::string_view version, std::stop_token stop,
                                  Nanos limit) const {
  if (Result<void> ready = CheckKey(key); !ready) return Fail(ready.error().With("wait for " + name()));
  return Find(key.namespace_)->informer->WaitUntil(version, std::move(stop), limit);
}

Result<AnyRef> CacheCore::WaitFor(const ObjectKey& key, const std::function<bool(const AnyRef&)>& predicate,
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
