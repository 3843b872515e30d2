// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OwnWrites: what this process has written and an informer may not have received yet.
//
//   Client --a write succeeded--> OwnWrites <--Of(), All()-- reads of a Client, which wait until a view shows the
//   writes
//
// A write is kept until the informer has passed its resource version, so memory is bounded by the writes that the
// informer is behind, and not by the number of objects.
#ifndef KGEN_RUNTIME_CONTROLLER_OWN_WRITES_H_
#define KGEN_RUNTIME_CONTROLLER_OWN_WRITES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "kgen/cache/snapshot.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/shared.h"
#include "kgen/core/string.h"

namespace kgen::controller {

// The last write of one key.
struct OwnWrite {
  std::uint64_t version = 0;  // of the answer; 0: unknown, as servers do not say it for objects that are gone
  String uid{};
  // False if the informer does not select the written object. Then no event may follow, and the object counts as
  // absent.
  bool selected = true;
  bool deleted = false;    // by a delete; the object may remain with a deletionTimestamp
  bool finalized = false;  // the last finalizer was removed from an object that is being deleted
  bool of_uid = true;      // `version` is one of the object with that uid
  bool seen = false;       // of a delete: the informer has had the object
  TimePoint at{};
};

// Whether a state of the informer is not older than the write of that key.
bool Shows(const cache::AnySnapshot& view, std::uint64_t view_version, const ObjectKey& key, const OwnWrite& write);

// The version of a view as a number; 0 before the first list.
std::uint64_t VersionOf(const cache::AnySnapshot& view);

// Thread safety: all members from any thread. Nothing blocks.
class OwnWrites {
 public:
  using Entry = std::pair<ObjectKey, OwnWrite>;

  explicit OwnWrites(Shared<cache::Store> store) noexcept : store_(std::move(store)) {}  // of the informer

  // `synced`: the informer has, so that what the store lacks does not exist.
  void Add(const ObjectKey& key, OwnWrite write, bool synced);
  // The write of a key that the informer may not show yet.
  std::optional<OwnWrite> Of(const ObjectKey& key) const;
  // Those of a namespace; "": all.
  std::vector<Entry> All(std::string_view namespace_) const;
  // Forgets those of `shown` that will not be needed any more, given a view that shows them.
  void Settle(const std::vector<Entry>& shown, const cache::AnySnapshot& view, TimePoint now);
  // How often the server has lost its newest state, as by the restore of a backup. Writes from before are lost as well,
  // and forgotten: whoever waits for them must not go on.
  std::uint64_t Losses();
  bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  static constexpr std::size_t kFirstSweep = 64;
  void Sweep(const cache::AnySnapshot& view, TimePoint now) KGEN_REQUIRES(mutex_);

  void LookForLoss(const cache::AnySnapshot& now) KGEN_REQUIRES(mutex_);

  const Shared<cache::Store> store_;
  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, OwnWrite> writes_ KGEN_GUARDED_BY(mutex_);
  std::size_t next_sweep_ KGEN_GUARDED_BY(mutex_) = kFirstSweep;
  std::uint64_t highest_ KGEN_GUARDED_BY(mutex_) = 0;  // version that the store was seen at
  std::uint64_t losses_ KGEN_GUARDED_BY(mutex_) = 0;
  std::atomic<std::size_t> count_{0};  // of writes_: reads look at nothing else as long as it is 0
};

}  // namespace kgen::controller

#endif  // KGEN_RUNTIME_CONTROLLER_OWN_WRITES_H_
