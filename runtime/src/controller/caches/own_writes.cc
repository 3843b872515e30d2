// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/own_writes.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "cache/store/store.h"
#include "cache/store/version_number.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/ref.h"

namespace kgen::controller {
namespace {

// How long a delete is kept of which only the time tells, in case the informer is about to receive the object.
constexpr Nanos kKeepUnseenDelete = std::chrono::minutes(10);

bool HasUid(const AnyRef& object, const String& uid) { return object && object.metadata()->uid == uid; }

std::uint64_t VersionOf(const AnyRef& object) {
  return cache::VersionNumber(object.metadata()->resourceVersion).value_or(0);
}

// Whether the write ended this object, and it does not look like that.
bool Outlives(const AnyRef& object, const OwnWrite& write) {
  if (!(write.deleted || write.finalized) || !HasUid(object, write.uid)) return false;
  if (!object.metadata()->deletionTimestamp.has_value()) return true;
  return write.finalized && !object.metadata()->finalizers.empty();
}

// Whether an object in a view is older than a write of its key from before the mark. Of the write there is only the
// newest state, perhaps from after the mark.
bool Contradicts(const AnyRef& object, std::uint64_t view_version, const OwnWrite& write, const OwnWrites::Mark& mark) {
  if (Outlives(object, write)) return true;
  if (view_version >= write.version) return false;
  const std::uint64_t version = VersionOf(object);
  // An object with another UID existed before the one that was written, so something has ended it.
  return version < (HasUid(object, write.uid) ? std::min(write.version, mark.newest) : write.version);
}

}  // namespace

std::uint64_t VersionOf(const cache::AnySnapshot& view) { return cache::VersionNumber(view.version()).value_or(0); }

bool Shows(const cache::AnySnapshot& view, std::uint64_t view_version, const ObjectKey& key, const OwnWrite& write) {
  const bool ends = write.deleted || write.finalized;
  const bool reached = view_version >= write.version;
  if (reached && !ends) return true;
  if (!reached && write.selected) return false;
  const AnyRef object = view.Get(key);
  if (!object) return true;
  return !Outlives(object, write) && (reached || VersionOf(object) >= write.version);
}

// Whether only the time tells when the write can be forgotten: a delete of unknown version, of an object that the
// informer has never had, may be in the past or in the future of the informer.
bool OwnWrites::NeedsTime(const OwnWrite& write) noexcept {
  const bool dated = write.version != 0 && write.of_uid;
  return write.deleted && !dated && !write.seen;
}

bool OwnWrites::Add(const ObjectKey& key, OwnWrite write, bool synced) {
  const MutexLock lock(mutex_);
  const cache::AnySnapshot view = store_->Snapshot();
  if (synced) LookForLoss(view);  // until then it may have a saved state, perhaps of another cluster
  const TimePoint now = write.at;
  write.seen = write.deleted && synced && HasUid(view.Get(key), write.uid);
  newest_ = std::max(newest_, write.version);
  if (write.selected && write.version != 0) {
    std::uint64_t& awaited = awaited_[key.namespace_];
    awaited = std::max(awaited, write.version);
    awaited_anywhere_ = std::max(awaited_anywhere_, awaited);
  }
  const auto found = writes_.find(key);
  if (found != writes_.end()) {
    // Answers of concurrent writes may come in another order than the server made them.
    const OwnWrite& known = found->second->second;
    if (known.uid == write.uid) {
      write.deleted = write.deleted || known.deleted;
      write.finalized = write.finalized || known.finalized;
      write.seen = write.seen || known.seen;
    } else if (known.version > write.version) {
      write.of_uid = false;
    }
    if (known.version >= write.version) {
      write.version = known.version;
      write.selected = known.selected;
    }
    OrderOf(known).erase(found->second);
    writes_.erase(found);
  }
  Order& order = OrderOf(write);
  writes_.emplace(key, order.emplace(order.end(), key, std::move(write)));
  if (synced) SettleLocked(view, now);
  const bool report = ForgetBeyondLimit();
  Count();
  return report;
}

void OwnWrites::PopFront(Order& order) {
  writes_.erase(order.front().first);
  order.pop_front();
}

bool OwnWrites::ForgetBeyondLimit() {
  if (writes_.size() <= limit_ / 2) reported_ = false;
  if (writes_.size() <= limit_) return false;
  PopFront(timed_.empty() ? dated_ : timed_);
  return !std::exchange(reported_, true);
}

void OwnWrites::Settle(const cache::AnySnapshot& view, TimePoint now) {
  const MutexLock lock(mutex_);
  SettleLocked(view, now);
  Count();
}

// No later view will be older than what is forgotten here. Each write is visited once more than it stays.
void OwnWrites::SettleLocked(const cache::AnySnapshot& view, TimePoint now) {
  const std::uint64_t version = VersionOf(view);
  const auto settled = [&](const Entry& entry) {
    return version >= entry.second.version && Shows(view, version, entry.first, entry.second);
  };
  while (!dated_.empty() && settled(dated_.front())) {
    const auto awaited = awaited_.find(dated_.front().first.namespace_);
    if (awaited != awaited_.end() && awaited->second <= version) awaited_.erase(awaited);
    PopFront(dated_);
  }
  while (!timed_.empty() && now - timed_.front().second.at >= kKeepUnseenDelete && settled(timed_.front())) {
    PopFront(timed_);
  }
  if (dated_.empty() && version >= newest_) awaited_.clear();
}

// The snapshot is taken under the lock, so versions that are compared here were current in this order.
std::uint64_t OwnWrites::Losses() {
  const MutexLock lock(mutex_);
  LookForLoss(store_->Snapshot());
  return losses_;
}

void OwnWrites::LookForLoss(const cache::AnySnapshot& now) {
  const std::uint64_t version = VersionOf(now);
  if (version >= std::exchange(highest_, version)) return;
  ++losses_;
  writes_.clear();
  dated_.clear();
  timed_.clear();
  awaited_.clear();
  awaited_anywhere_ = newest_ = 0;
  Count();
}

std::optional<OwnWrite> OwnWrites::Of(const ObjectKey& key) const {
  if (empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto found = writes_.find(key);
  if (found == writes_.end()) return std::nullopt;
  return found->second->second;
}

OwnWrites::Mark OwnWrites::Begin(std::string_view namespace_) {
  const MutexLock lock(mutex_);
  LookForLoss(store_->Snapshot());
  Mark mark{.namespace_ = namespace_, .awaited = awaited_anywhere_, .newest = newest_, .losses = losses_};
  if (!namespace_.empty()) {
    const auto found = awaited_.find(String(namespace_));
    mark.awaited = found != awaited_.end() ? found->second : 0;
  }
  return mark;
}

// Goes through the writes or through the objects, of which there are fewer.
bool OwnWrites::Show(const cache::AnySnapshot& view, const std::vector<AnyRef>& objects, const Mark& mark) const {
  const std::uint64_t version = VersionOf(view);
  if (version < mark.awaited) return false;
  const MutexLock lock(mutex_);
  visited_.fetch_add(std::min(writes_.size(), objects.size()), std::memory_order_relaxed);
  if (objects.size() < writes_.size()) {
    for (const AnyRef& object : objects) {  // not an algorithm: Clang's analysis does not see the lock in a lambda
      const auto found = writes_.find(ObjectKey(object.metadata()->namespace_, object.metadata()->name));
      if (found != writes_.end() && Contradicts(object, version, found->second->second, mark)) return false;
    }
    return true;
  }
  return std::ranges::none_of(writes_, [&](const auto& write) {
    if (!mark.namespace_.empty() && write.first.namespace_ != mark.namespace_) return false;
    const AnyRef object = view.Get(write.first);
    return object && Contradicts(object, version, write.second->second, mark);
  });
}

std::optional<OwnWrites::Entry> OwnWrites::FindMissing(const cache::AnySnapshot& view,
                                                       std::string_view namespace_) const {
  const std::uint64_t version = VersionOf(view);
  const MutexLock lock(mutex_);
  for (const Order* const order : {&dated_, &timed_}) {
    for (const auto& [key, write] : *order) {
      if (!namespace_.empty() && key.namespace_ != namespace_) continue;
      if (!Shows(view, version, key, write)) return Entry(key, write);
    }
  }
  return std::nullopt;
}

std::vector<OwnWrites::Entry> OwnWrites::Missing(const cache::AnySnapshot& view,
                                                 const std::function<bool(const ObjectKey&)>& of) const {
  const std::uint64_t version = VersionOf(view);
  std::vector<Entry> missing;
  const MutexLock lock(mutex_);
  for (const Order* const order : {&dated_, &timed_}) {
    for (const auto& [key, write] : *order) {
      if (of(key) && !Shows(view, version, key, write)) missing.emplace_back(key, write);
    }
  }
  return missing;
}

void OwnWrites::Forget(const std::function<bool(const ObjectKey&)>& of) {
  if (empty()) return;
  const MutexLock lock(mutex_);
  for (Order* const order : {&dated_, &timed_}) {
    for (auto at = order->begin(); at != order->end();) {
      const auto next = std::next(at);
      if (of(at->first)) {
        writes_.erase(at->first);
        order->erase(at);
      }
      at = next;
    }
  }
  // Nobody may wait for a version that the informer will not receive.
  awaited_anywhere_ = 0;
  for (auto at = awaited_.begin(); at != awaited_.end();) {
    if (of(ObjectKey(at->first, String()))) {
      at = awaited_.erase(at);
    } else {
      awaited_anywhere_ = std::max(awaited_anywhere_, at->second);
      ++at;
    }
  }
  Count();
}

}  // namespace kgen::controller
