// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KindCache: reads, those that wait for own writes, and what is remembered of writes.
#include <algorithm>
#include <chrono>
#include <utility>

#include "cache/store/store.h"
#include "controller/caches/kind_cache.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/metadata_table.h"
#include "core/observers/notify_observer.h"
#include "core/quoted.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

// How long a read waits for the writes of the clients of its caches.
constexpr Nanos kFreshLimit = 5s;

using detail::Quoted;

}  // namespace

// ------------------------------------------------------------------------------------------------------- reads

Result<AnyRef> KindCache::Get(const ObjectKey& key) const {
  const PartsView parts = parts_.Read();
  Result<Part*> part = PartOf(*parts, key);
  Result<void> synced = part ? CheckSynced(parts->Of(key.namespace_)) : Result<void>();
  if (!synced) part = Fail(std::move(synced).error());
  if (!part) return Fail(part.error().With("get " + name() + " " + key.str()));
  Result<AnyRef> object =
      ReadHeld(**part, key.namespace_, [&]() -> Result<AnyRef> { return (*part)->informer->store()->Look(key); });
  if (!object) return Fail(object.error().With("get " + name() + " " + key.str()));
  return object;
}

Result<std::vector<AnyRef>> KindCache::List(const ListFilter& filter) const {
  const PartsView parts = parts_.Read();
  const auto read = PartsOf(*parts, filter);
  Result<void> done = read ? CheckSynced(*read) : Fail(read.error());
  if (done) done = CheckIndex(filter.index);
  if (!done) return Fail(done.error().With("list " + name()));
  const auto select = [&]() -> Result<std::vector<AnyRef>> {
    std::vector<AnyRef> objects;
    for (const Shared<Part>& part : *read) {
      if (changes_ && !part->informer->HasSynced()) continue;
      Result<void> selected = Select(part->informer->store()->Snapshot(), filter, objects);
      if (!selected) return Fail(std::move(selected).error());
    }
    return objects;
  };
  Result<std::vector<AnyRef>> objects =
      filter.namespace_.empty() ? select() : ReadHeld(*read->front(), filter.namespace_, select);
  if (!objects) return Fail(objects.error().With("list " + name()));
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
  const PartsView parts = parts_.Read();
  const bool only = in_namespace.empty() && parts->size() == 1;
  const Part* const part = only ? parts->begin()->get() : parts->Find(in_namespace);
  Result<void> ready = part != nullptr ? Result<void>() : Fail(NotCached(*parts, in_namespace));
  if (ready) ready = CheckSynced(only ? parts->all() : parts->Of(in_namespace));
  if (!ready) return Fail(ready.error().With("resource version of the cache of " + name()));
  return std::string(part->informer->store()->Snapshot().version());
}

Result<AnyRef> KindCache::GetFresh(const ObjectKey& key, const std::stop_token& stop) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const PartsView parts = parts_.Read();
  const Result<Part*> found = PartOf(*parts, key);
  if (!found) return Fail(found.error().With("get " + name() + " " + key.str()));
  Part& part = **found;
  Result<void> ready = Await(part, stop);
  if (!ready) return Fail(ready.error().With("get " + name() + " " + key.str()));
  Result<AnyRef> object = ReadHeld(part, key.namespace_, [&] { return GetFrom(part, key, stop); });
  if (!object) return Fail(object.error().With("get " + name() + " " + key.str()));
  return object;
}

Result<AnyRef> KindCache::GetFrom(Part& part, const ObjectKey& key, const std::stop_token& stop) {
  if (part.writes.empty()) return part.informer->store()->Look(key);
  const std::uint64_t losses = part.writes.Losses();
  const std::optional<OwnWrite> write = part.writes.Of(key);
  if (!write) return part.informer->store()->Look(key);
  const auto shows = [&](const cache::AnySnapshot& view) { return Shows(view, VersionOf(view), key, *write); };
  const TimePoint deadline = Later(state_->connection().clock().Now(), kFreshLimit);
  Result<cache::AnySnapshot> view = Await(part, shows, losses, stop, deadline);
  if (!view && view.error().code() == Code::kTimeout) view = Fail(Behind(part, OwnWrites::Entry(key, *write)));
  if (!view && part.removed()) view = Fail(Removed(part));
  if (!view) return Fail(view.error());
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
  const PartsView parts = parts_.Read();
  const auto in = PartsOf(*parts, filter);
  if (!in) return Fail(in.error().With(doing));
  std::vector<Read> reads;
  const bool everywhere = changes_ && filter.namespace_.empty();  // what has not synced, or is removed, is left out
  if (Result<void> known = CheckIndex(filter.index); !known) return Fail(known.error().With(doing));
  for (const Shared<Part>& part : *in) {
    if (everywhere && (!part->informer->HasSynced() || part->removed())) continue;
    if (Result<void> ready = Await(*part, stop); !ready) {
      if (everywhere && part->removed()) continue;  // just now
      return Fail(ready.error().With(doing));
    }
    Read& read = reads.emplace_back(*part);
    if (!part->writes.empty()) read.mark = part->writes.Begin(filter.namespace_);
  }
  const TimePoint deadline = Later(state_->connection().clock().Now(), kFreshLimit);
  const auto select = [&]() -> Result<std::vector<AnyRef>> {
    std::vector<AnyRef> objects;
    for (const Read& read : reads) {
      Result<void> selected = read.mark ? SelectFresh(read.part, *read.mark, filter, stop, deadline, objects)
                                        : Select(read.part.informer->store()->Snapshot(), filter, objects);
      if (!selected && read.part.removed()) selected = everywhere ? Result<void>() : Fail(Removed(read.part));
      if (!selected) return Fail(std::move(selected).error());
    }
    return objects;
  };
  Result<std::vector<AnyRef>> objects =
      filter.namespace_.empty() ? select() : ReadHeld(*in->front(), filter.namespace_, select);
  if (!objects) return Fail(objects.error().With(doing));
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

bool KindCache::Remember(const Written& written) {
  const Shared<Part> part = PartToTell(written.key.namespace_);
  if (!part) return false;
  // If the shard leaves meanwhile, nobody in it writes any more.
  if (divided_ && Readable(*part, written.key.namespace_) == 0) return false;
  const bool synced = divided_ || part->informer->HasSynced();
  OwnWrite write = written.write;
  // Nothing tells whether an object was selected that is gone. OwnWrites may know it from an earlier write.
  write.selected = written.answer != nullptr && part->scope.labels.Matches(written.answer->labels) &&
                   part->scope.fields.Matches(written.body);
  write.at = state_->connection().clock().Now();
  if (!part->writes.Add(written.key, std::move(write), synced)) return true;
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
  return true;
}

AnyRef KindCache::Look(const ObjectKey& key) const {
  const PartsView parts = parts_.Read();
  const Part* const part = parts->Find(key.namespace_);
  if (part == nullptr || !part->informer->HasSynced()) return {};  // a saved object may be another one
  if (divided_ && Readable(*part, key.namespace_) == 0) return {};
  return part->informer->store()->Look(key);
}

std::size_t KindCache::remembered() const noexcept {
  std::size_t count = 0;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) count += part->writes.size();
  return count;
}

std::uint64_t KindCache::visited() const noexcept {
  std::uint64_t count = 0;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) count += part->writes.visited();
  return count;
}

}  // namespace kgen::controller
