// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches of a process that works on shards: which objects they hold, and whether they have caught up with what other
// processes have written.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "cache/store/store.h"
#include "cache/store/store_state.h"
#include "cache/store/version_number.h"
#include "controller/caches/kind_cache.h"
#include "core/observers/notify_observer.h"
#include "core/quoted.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

// For a cache to receive by its watch what others have written before. If that takes longer, because nothing happens to
// its own objects, a list is faster than the next bookmark.
constexpr Nanos kFollowLimit = std::chrono::seconds(1);
constexpr Nanos kReportLateEvery = std::chrono::seconds(30);  // that a cache does not catch up

std::string ResourceOf(const KindInfo& kind) {
  return kind.group.empty() ? std::string(kind.resource) : std::string(kind.resource) + "." + std::string(kind.group);
}

// Tells whether the namespaces of some objects are in ranges. Objects come sorted by namespace, more or less.
class InRanges {
 public:
  explicit InRanges(const ShardRanges& ranges) : ranges_(ranges) {}
  bool operator()(std::string_view in_namespace) {
    if (!known_ || last_ != in_namespace) {
      known_ = true;
      last_ = in_namespace;
      contained_ = ranges_.Contains(ShardHash(in_namespace));
    }
    return contained_;
  }

 private:
  const ShardRanges& ranges_;
  std::string last_{};
  bool known_ = false, contained_ = false;
};

}  // namespace

// ------------------------------------------------------------------------------------------------- the cache of a kind

void KindCache::Hold(const ShardRanges& ranges, std::uint64_t number) {
  const MutexLock lock(hold_mutex_);
  if (!divided_ || number <= hold_number_) return;
  hold_number_ = number;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) HoldIn(*part, ranges);
}

// Informer::Hold() only posts.
void KindCache::HoldIn(Part& part, const ShardRanges& ranges) {
  part.holds.Narrow(ranges);
  part.writes.Forget([&ranges](const ObjectKey& key) { return !ranges.Contains(ShardHash(key.namespace_)); });
  part.holds.Told(part.informer->Hold(ranges), ranges);
}

bool KindCache::HoldsAll(const Parts& parts) noexcept {
  return std::ranges::all_of(parts,
                             [](const Shared<Part>& part) { return part->informer->held() >= part->holds.last(); });
}

Result<void> KindCache::WaitUntilHeld(const std::stop_token& stop, TimePoint deadline) const {
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    Result<void> held = part->informer->WaitUntilHeld(part->holds.last(), stop, deadline);
    if (held) continue;
    std::string why = "cache of " + name();
    if (const std::optional<Error> last = part->informer->Progress().last_error) why += ": " + last->ToString();
    return Fail(held.error().With(why));
  }
  return {};
}

std::uint64_t KindCache::Readable(const Part& part, std::string_view in_namespace) {
  return part.holds.Readable(ShardHash(in_namespace), part.informer->held());
}

Error KindCache::NotHeld(std::string_view in_namespace) const {
  return {
      Code::kUnavailable,
      "namespace " + detail::Quoted(in_namespace) + " is in a shard that this process, " + state_->member() +
          ", does not hold, so that it knows nothing of its objects; read with CachedClient::Live(), or add the kind "
          "to ManagerOptions::shards_everywhere"};
}

Error KindCache::NotAllHeld() {
  return {
      Code::kInvalidArgument,
      "the objects of all namespaces are divided between several processes; name a namespace, set "
      "ListFilter::held_only for the objects of this process alone, read with CachedClient::Live(), or add the kind to "
      "ManagerOptions::shards_everywhere"};
}

std::vector<AnyRef> KindCache::Held(const ShardRanges& ranges) const {
  std::vector<AnyRef> objects;
  InRanges in(ranges);
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    for (AnyRef& object : part->informer->store()->Snapshot().List()) {
      if (!divided_ || in(object.metadata()->namespace_)) objects.push_back(std::move(object));
    }
  }
  return objects;
}

Result<void> KindCache::WaitUntilReached(std::string_view version, const std::stop_token& stop,
                                         TimePoint deadline) const {
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    const Nanos left = std::max(Nanos(), deadline - state_->connection().clock().Now());
    if (Result<void> reached = part->informer->WaitUntil(version, stop, left); !reached) return reached;
  }
  return {};
}

KindCache::Listing KindCache::ListAnew() const {
  Listing listing;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) listing.emplace_back(part->informer, part->informer->ListAnew());
  return listing;
}

std::optional<std::uint64_t> KindCache::Changed() const {
  std::uint64_t newest = 0;
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    const std::string changed = part->informer->store()->Snapshot().state().changed;
    const std::optional<std::uint64_t> number = cache::VersionNumber(changed);
    if (!changed.empty() && !number) return {};
    newest = std::max(newest, number.value_or(0));
  }
  return newest;
}

bool KindCache::ShowsOwnWrites(const ShardRanges& ranges, TimePoint deadline) {
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    const std::vector<OwnWrites::Entry> missing = part->writes.Missing(
        part->informer->store()->Snapshot(),
        [&](const ObjectKey& key) { return !divided_ || ranges.Contains(ShardHash(key.namespace_)); });
    if (missing.empty()) continue;
    const auto shows = [&](const cache::AnySnapshot& view) {
      return std::ranges::all_of(
          missing, [&](const auto& each) { return Shows(view, VersionOf(view), each.first, each.second); });
    };
    if (!part->informer->WaitFor("the last writes of " + name(), shows, {}, deadline)) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------- all caches of the process

void CachesState::Divide(Division division) { division_.emplace(std::move(division)); }

bool CachesState::Divides(const KindInfo& kind) const noexcept {
  if (!division_ || kind.scope == Scope::kCluster) return false;
  return std::ranges::none_of(division_->everywhere, [&](const TypeTable* table) {
    return table->kind->group == kind.group && table->kind->resource == kind.resource;
  });
}

void CachesState::Hold(const ShardRanges& ranges) {
  std::vector<Shared<KindCache>> live;
  std::uint64_t number = 0;
  {
    const MutexLock lock(mutex_);
    held_ = ranges;
    number = ++hold_number_;
    live = Live();
  }
  for (const Shared<KindCache>& kind_cache : live) kind_cache->Hold(ranges, number);
}

std::vector<Shared<KindCache>> CachesState::AllLive() {
  const MutexLock lock(mutex_);
  return Live();
}

Result<void> CachesState::WaitUntilHeld(const std::stop_token& stop) {
  const TimePoint deadline = Later(connection_.clock().Now(), options_.sync_timeout);
  for (const Shared<KindCache>& kind_cache : AllLive()) {
    if (!kind_cache->divided()) continue;
    if (Result<void> held = kind_cache->WaitUntilHeld(stop, deadline); !held) return held;
  }
  return {};
}

Result<void> CachesState::CatchUp(const ResourceVersions& versions, bool list_anew, const std::stop_token& stop) {
  const std::vector<Shared<KindCache>> live = AllLive();
  const TimePoint deadline = Later(connection_.clock().Now(), kFollowLimit);
  std::vector<std::pair<Shared<KindCache>, KindCache::Listing>> lists;
  for (const Shared<KindCache>& kind_cache : live) {
    bool behind = list_anew;
    const auto written = versions.find(ResourceOf(kind_cache->kind()));
    if (!behind && written != versions.end()) {
      Result<void> reached = kind_cache->WaitUntilReached(written->second, stop, deadline);
      if (!reached && stop.stop_requested()) return reached;
      behind = !reached;
    }
    if (behind) lists.emplace_back(kind_cache, kind_cache->ListAnew());
  }
  for (const auto& [kind_cache, listing] : lists) {
    for (const auto& [informer, number] : listing) {
      if (Result<void> listed = AwaitList(*kind_cache, *informer, number, stop); !listed) return listed;
    }
  }
  return {};
}

// As long as the server does not answer, the range has no owner, and somebody should know why.
Result<void> CachesState::AwaitList(const KindCache& kind_cache, cache::Informer& informer, std::uint64_t number,
                                    const std::stop_token& stop) {
  for (;;) {
    Result<void> listed = informer.WaitUntilHeld(number, stop, Later(connection_.clock().Now(), kReportLateEvery));
    if (listed || listed.error().code() != Code::kTimeout) return listed;
    std::string text = "a shard does not start before its " + kind_cache.name() + " are listed again";
    if (const std::optional<Error> last = informer.Progress().last_error) text += ": " + last->ToString();
    NotifyObserver(Shared<Observer>(&connection_.observer()), [&](Observer& o) {
      o.OnLogged({.source = "shards",
                  .key = member(),
                  .message = text,
                  .level = LogLevel::kWarning,
                  .component = LogComponent::kController});
    });
  }
}

std::optional<CachesState::ResourceVersions> CachesState::Versions(const ShardRanges& ranges, TimePoint deadline) {
  ResourceVersions versions;
  const auto raise = [&](const std::string& resource, std::uint64_t number) {
    std::string& version = versions[resource];
    if (cache::VersionNumber(version).value_or(0) < number) version = std::to_string(number);
  };
  for (const Shared<KindCache>& kind_cache : AllLive()) {
    if (!kind_cache->ShowsOwnWrites(ranges, deadline)) return {};
    const std::optional<std::uint64_t> changed = kind_cache->Changed();
    if (!changed) return {};
    if (*changed != 0) raise(ResourceOf(kind_cache->kind()), *changed);
  }
  const MutexLock lock(mutex_);
  for (const auto& [resource, number] : unseen_) raise(resource, number);
  return versions;
}

void CachesState::NoteUnseen(const Written& written) {
  if (!division_ || written.write.version == 0) return;
  const MutexLock lock(mutex_);
  std::uint64_t& newest = unseen_[ResourceOf(written.kind)];
  newest = std::max(newest, written.write.version);
}

}  // namespace kgen::controller
