// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/cache_core.h"

#include <algorithm>
#include <chrono>

#include "cache/informer_options.h"
#include "cache/list_watch.h"
#include "cache/store.h"
#include "cache/with_kind.h"
#include "client/text.h"
#include "core/jitter.h"
#include "kgen/client/options.h"
#include "kgen/core/unstructured.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

// How long a read waits for the writes of this process.
constexpr Nanos kFreshLimit = 5s;

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// The namespaces that the options ask for, each once.
Result<std::vector<std::string>> NamespacesOf(const KindInfo& kind, const CacheOptions& options) {
  std::vector<std::string> namespaces = options.namespaces;
  if (kind.scope == Scope::kCluster && !namespaces.empty()) {
    return Fail(Code::kInvalidArgument, "the kind is cluster-scoped, so its options must not name namespaces");
  }
  if (std::find(namespaces.begin(), namespaces.end(), "") != namespaces.end()) {
    return Fail(Code::kInvalidArgument, "an empty namespace in the options; leave the list empty for all namespaces");
  }
  std::sort(namespaces.begin(), namespaces.end());
  namespaces.erase(std::unique(namespaces.begin(), namespaces.end()), namespaces.end());
  if (namespaces.empty()) namespaces.emplace_back();
  return namespaces;
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
  CacheOptions own = options;
  Result<std::vector<std::string>> namespaces = NamespacesOf(kind, options);
  if (!namespaces) return Fail(namespaces.error().With(doing));
  own.namespaces = *std::move(namespaces);
  Result<Selector> labels = Selector::Parse(own.label_selector);
  if (!labels) return Fail(labels.error().With("label selector " + Quoted(own.label_selector)).With(doing));
  Result<FieldSelector> fields = FieldSelector::Parse(own.field_selector);
  if (!fields) return Fail(fields.error().With(doing));
  return MakeShared<CacheCore>(std::move(state), table, kind, std::move(own), *std::move(labels), *std::move(fields),
                               fresh);
}

CacheCore::CacheCore(Shared<CachesState> state, const TypeTable& table, const KindInfo& kind, CacheOptions options,
                     Selector labels, FieldSelector fields, bool fresh)
    : state_(std::move(state)),
      table_(table),
      kind_(kind),
      options_(std::move(options)),
      labels_(std::move(labels)),
      fields_(std::move(fields)) {
  for (const std::string& in : options_.namespaces) parts_.emplace_back(in, MakeInformer(in, fresh));
}

CacheCore::~CacheCore() { state_->Remove(this); }

Shared<cache::InformerCore> CacheCore::MakeInformer(const std::string& in_namespace, bool fresh) const {
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
  cache::TweakListOptions select = [labels = options_.label_selector,
                                    fields = options_.field_selector](ListOptions& list) {
    list.label_selector = labels;
    list.field_selector = fields;
  };
  auto source = cache::MakeListWatch(connection, kind_, in_namespace, std::move(select),
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
  if (HasSynced()) return {};
  if (!state_->started()) {
    return Fail(Error(Code::kInvalidArgument, "the caches have not been started; start them, or the manager, first")
                    .With("cache of " + name()));
  }
  SyncOptions options;
  options.give_up_after = std::max(Nanos(1), std::min(limit, state_->sync_timeout()));
  return detail::WaitForSync(state_->connection().executor(), std::move(stop), informers(), options);
}

// -------------------------------------------------------------------------------------------------- namespaces

const CacheCore::Part* CacheCore::Find(std::string_view in_namespace) const noexcept {
  if (parts_.front().namespace_.empty()) return &parts_.front();
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.namespace_ == in_namespace; });
  return found != parts_.end() ? &*found : nullptr;
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
      return Fail(Code::kInvalidArgument, "there is no index " + Quoted(filter.index) + "; add it with AddIndex()");
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

Result<AnyRef> CacheCore::GetFresh(const ObjectKey& key, const std::stop_token& stop) {
  if (Result<void> ready = CheckKey(key); !ready) return Fail(ready.error().With("get " + name() + " " + key.str()));
  Part& part = *Find(key.namespace_);
  if (part.informer->IsStopped()) return Fail(Stopped().With("get " + name() + " " + key.str()));
  if (part.writes.empty()) return part.informer->store()->Look(key);
  const std::uint64_t losses = part.writes.Losses();
  const std::optional<OwnWrite> write = part.writes.Of(key);
  if (!write) return part.informer->store()->Look(key);
  const TimePoint deadline = Later(state_->connection().clock().Now(), kFreshLimit);
  Result<cache::AnySnapshot> view = Await(part, {{key, *write}}, losses, stop, deadline);
  if (!view) return Fail(view.error().With("get " + name() + " " + key.str()));
  return view->Get(key);
}

// The writes of all namespaces are collected first, so that later ones do not count.
Result<std::vector<AnyRef>> CacheCore::ListFresh(const ListFilter& filter, const std::stop_token& stop) {
  struct Read {
    Part& part;
    std::uint64_t losses = 0;
    std::vector<OwnWrites::Entry> writes{};
  };
  const std::string doing = "list " + name();
  if (Result<void> ready = CheckFilter(filter); !ready) return Fail(ready.error().With(doing));
  std::vector<Read> reads;
  for (Part& part : parts_) {
    if (!filter.namespace_.empty() && Find(filter.namespace_) != &part) continue;
    if (part.informer->IsStopped()) return Fail(Stopped().With(doing));
    Read& read = reads.emplace_back(part);
    if (part.writes.empty()) continue;
    read.losses = part.writes.Losses();
    read.writes = part.writes.All(filter.namespace_);
  }
  const TimePoint deadline = Later(state_->connection().clock().Now(), kFreshLimit);
  std::vector<AnyRef> objects;
  for (const Read& read : reads) {
    Result<cache::AnySnapshot> view = read.writes.empty()
                                          ? Result<cache::AnySnapshot>(read.part.informer->store()->Snapshot())
                                          : Await(read.part, read.writes, read.losses, stop, deadline);
    if (!view) return Fail(view.error().With(doing));
    if (Result<void> selected = Select(*view, filter, objects); !selected) return Fail(selected.error().With(doing));
  }
  return objects;
}

// Returns a view that shows all of the writes.
Result<cache::AnySnapshot> CacheCore::Await(Part& part, const std::vector<OwnWrites::Entry>& writes,
                                            std::uint64_t losses, const std::stop_token& stop,
                                            TimePoint deadline) const {
  const auto shows_all = [&](const cache::AnySnapshot& view) {
    const std::uint64_t version = VersionOf(view);
    return std::all_of(writes.begin(), writes.end(),
                       [&](const auto& entry) { return Shows(view, version, entry.first, entry.second); });
  };
  Result<cache::AnySnapshot> view = part.informer->WaitFor(
      "own writes of " + name(),
      [&](const cache::AnySnapshot& at) { return shows_all(at) || part.writes.Losses() != losses; }, stop, deadline);
  if (view) {
    part.writes.Settle(writes, *view, state_->connection().clock().Now());
  } else if (view.error().code() == Code::kTimeout) {
    return Fail(Behind(part, writes));
  }
  return view;
}

Error CacheCore::Behind(const Part& part, const std::vector<OwnWrites::Entry>& writes) const {
  const cache::AnySnapshot view = part.informer->store()->Snapshot();
  const std::uint64_t version = VersionOf(view);
  std::string text =
      "after " + client::DurationText(kFreshLimit) + " the cache is still older than what this process has ";
  const auto missing = std::find_if(writes.begin(), writes.end(), [&](const auto& entry) {
    return !Shows(view, version, entry.first, entry.second);
  });
  const auto& [key, write] = missing != writes.end() ? *missing : writes.front();
  text += (write.deleted ? "deleted: " : "written: ") + key.str();
  if (write.version != 0) text += " at resource version " + std::to_string(write.version);
  if (write.deleted && !write.uid.empty()) text += " with uid " + write.uid.str();
  return {Code::kTimeout, text + "; the cache is at " + Quoted(view.version())};
}

// ------------------------------------------------------------------------------------------------------ writes

void CacheCore::Remember(const Written& written) {
  Part* const part = Find(written.key.namespace_);
  if (part == nullptr) return;
  OwnWrite write = written.write;
  // Nothing tells whether an object was selected that is gone. OwnWrites may know it from an earlier write.
  write.selected =
      written.answer != nullptr && labels_.Matches(written.answer->labels) && fields_.Matches(written.body);
  write.at = state_->connection().clock().Now();
  part->writes.Add(written.key, std::move(write), part->informer->HasSynced());
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

// --------------------------------------------------------------------------------------------- indexes, events

Result<void> CacheCore::AddIndex(std::string_view name, const FieldPath& path) {
  return AddIndexes(name, &path, [&](cache::InformerCore& informer) { return informer.AddIndex(name, path); });
}
Result<void> CacheCore::AddIndex(std::string_view name, const cache::IndexFunction& function) {
  return AddIndexes(name, nullptr, [&](cache::InformerCore& informer) { return informer.AddIndex(name, function); });
}

// The informers may visit all their objects, so no lock is held. An informer that has the index already got it from a
// call with the same path, perhaps from one that is running.
Result<void> CacheCore::AddIndexes(std::string_view name, const FieldPath* path,
                                   const std::function<Result<void>(cache::InformerCore&)>& add) {
  const std::string text = path != nullptr ? path->text() : std::string();
  {
    const MutexLock lock(mutex_);
    const auto [found, is_new] = indexes_.try_emplace(std::string(name), text);
    if (!is_new && (text.empty() || found->second != text)) {
      const std::string by = found->second.empty() ? "a function" : "the path " + Quoted(found->second);
      return Fail(Code::kInvalidArgument, "cache of " + this->name() + ": index " + Quoted(name) + " exists, by " + by);
    }
  }
  for (const Part& part : parts_) {
    const auto has = [&] { return part.informer->store()->Snapshot().HasIndex(name); };
    if (has()) continue;
    Result<void> added = add(*part.informer);
    if (added || has()) continue;
    if (&part == &parts_.front()) {  // no informer has it, so the name is free again
      const MutexLock lock(mutex_);
      indexes_.erase(std::string(name));
    }
    return Fail(added.error().With("cache of " + this->name()));
  }
  return {};
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
  const TimePoint deadline = Later(state_->connection().clock().Now(), limit);
  if (Result<void> synced = WaitForSync(stop, limit); !synced) return Fail(synced.error().With(doing));
  const Result<cache::AnySnapshot> view =
      Find(key.namespace_)
          ->informer->WaitFor(
              doing, [&](const cache::AnySnapshot& at) { return predicate(at.Get(key)); }, std::move(stop), deadline);
  if (view) return view->Get(key);
  if (view.error().code() != Code::kTimeout) return Fail(view.error().With(doing));
  return Fail(Error(Code::kTimeout, "the object was not as awaited within " + client::DurationText(limit)).With(doing));
}

}  // namespace kgen::controller
