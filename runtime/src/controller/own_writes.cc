// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/own_writes.h"

#include <algorithm>
#include <chrono>

#include "cache/store.h"
#include "cache/version_number.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/ref.h"

namespace kgen::controller {
namespace {

// A delete of unknown version, of an object that the informer has never had, may be in the past or in the future of the
// informer. It is kept for so long, in case the informer is about to receive the object.
constexpr Nanos kKeepUnseenDelete = std::chrono::minutes(10);

// Whether the write can be forgotten, given a view of the current state: no later view will be older than it.
bool IsSettled(const cache::AnySnapshot& view, std::uint64_t view_version, const ObjectKey& key, const OwnWrite& write,
               TimePoint now) {
  if (view_version < write.version || !Shows(view, view_version, key, write)) return false;
  const bool dated = write.version != 0 && write.of_uid;
  return !write.deleted || dated || write.seen || now - write.at >= kKeepUnseenDelete;
}

bool HasUid(const AnyRef& object, const String& uid) { return object && object.metadata()->uid == uid; }

}  // namespace

std::uint64_t VersionOf(const cache::AnySnapshot& view) { return cache::VersionNumber(view.version()).value_or(0); }

bool Shows(const cache::AnySnapshot& view, std::uint64_t view_version, const ObjectKey& key, const OwnWrite& write) {
  const bool ends = write.deleted || write.finalized;
  const bool reached = view_version >= write.version;
  if (reached && !ends) return true;
  if (!reached && write.selected) return false;
  const AnyRef object = view.Get(key);
  if (ends && HasUid(object, write.uid)) {
    if (!object.metadata()->deletionTimestamp.has_value()) return false;
    if (write.finalized && !object.metadata()->finalizers.empty()) return false;
  }
  if (reached || !object) return true;
  return cache::VersionNumber(object.metadata()->resourceVersion).value_or(0) >= write.version;
}

void OwnWrites::Add(const ObjectKey& key, OwnWrite write, bool synced) {
  const MutexLock lock(mutex_);
  const cache::AnySnapshot view = store_->Snapshot();
  LookForLoss(view);
  write.seen = write.deleted && synced && HasUid(view.Get(key), write.uid);
  const auto [found, is_new] = writes_.try_emplace(key, write);
  if (!is_new) {
    // Answers of concurrent writes may come in another order than the server made them.
    const OwnWrite& known = found->second;
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
    found->second = std::move(write);
  }
  const TimePoint now = found->second.at;
  if (synced && writes_.size() >= next_sweep_) Sweep(view, now);
  count_.store(writes_.size(), std::memory_order_release);
}

void OwnWrites::Sweep(const cache::AnySnapshot& view, TimePoint now) {
  const std::uint64_t version = VersionOf(view);
  std::erase_if(writes_, [&](const auto& entry) { return IsSettled(view, version, entry.first, entry.second, now); });
  next_sweep_ = std::max(kFirstSweep, 2 * writes_.size());
}

// The snapshot is taken under the lock, so versions that are compared here were current in this order.
std::uint64_t OwnWrites::Losses() {
  const MutexLock lock(mutex_);
  LookForLoss(store_->Snapshot());
  return losses_;
}

void OwnWrites::LookForLoss(const cache::AnySnapshot& now) {
  const std::uint64_t version = VersionOf(now);
  if (version < std::exchange(highest_, version)) {
    ++losses_;
    writes_.clear();
    count_.store(0, std::memory_order_release);
  }
}

std::optional<OwnWrite> OwnWrites::Of(const ObjectKey& key) const {
  if (empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto found = writes_.find(key);
  if (found == writes_.end()) return std::nullopt;
  return found->second;
}

std::vector<OwnWrites::Entry> OwnWrites::All(std::string_view namespace_) const {
  std::vector<Entry> all;
  if (empty()) return all;
  const MutexLock lock(mutex_);
  for (const auto& [key, write] : writes_) {
    if (namespace_.empty() || key.namespace_ == namespace_) all.emplace_back(key, write);
  }
  return all;
}

void OwnWrites::Settle(const std::vector<Entry>& shown, const cache::AnySnapshot& view, TimePoint now) {
  const std::uint64_t version = VersionOf(view);
  const MutexLock lock(mutex_);
  for (const auto& [key, write] : shown) {
    const auto found = writes_.find(key);
    if (found == writes_.end()) continue;
    // A newer write of the key is settled by itself.
    if (IsSettled(view, version, key, found->second, now)) writes_.erase(found);
  }
  count_.store(writes_.size(), std::memory_order_release);
}

}  // namespace kgen::controller
