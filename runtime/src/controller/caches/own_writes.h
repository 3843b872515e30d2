// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OwnWrites: what the clients of some caches have written and an informer may not have received yet.
//
//   CachedClient --a write succeeded--> OwnWrites <--Of(), Begin()-- reads of a CachedClient, which wait until a view
//   shows the writes
//
// A write is kept until the informer has passed its resource version, and at most a limit of them are kept. A read
// visits as many writes as it returns objects at most; what it needs to know of all the others are two numbers.
#ifndef KGEN_SRC_CONTROLLER_CACHES_OWN_WRITES_H_
#define KGEN_SRC_CONTROLLER_CACHES_OWN_WRITES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/cache/snapshot.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
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
  // The writes that a List() waits for: those before its call.
  struct Mark {
    std::string_view namespace_{};  // "": all
    std::uint64_t awaited = 0;      // the newest version that the informer will receive, of one namespace or of all
    std::uint64_t newest = 0;       // of any write
    std::uint64_t losses = 0;       // as Losses()
  };

  // `store` is the informer's. Of more than `limit` writes, the oldest are forgotten.
  OwnWrites(Shared<cache::Store> store, std::size_t limit) noexcept
      : store_(std::move(store)), limit_(std::max<std::size_t>(limit, 1)) {}

  // `synced`: the informer has, so that what the store lacks does not exist. Returns whether writes begin to be
  // forgotten: once, until fewer than half of the limit are left.
  bool Add(const ObjectKey& key, OwnWrite write, bool synced);
  // The write of a key that the informer may not show yet.
  std::optional<OwnWrite> Of(const ObjectKey& key) const;
  // Begins a read of one namespace, or of all if `namespace_` is "".
  Mark Begin(std::string_view namespace_);
  // Whether no write from before the mark contradicts `objects`: what `view` has in the namespace and the read selects.
  // An object that the read does not select cannot contradict, because once `awaited` is reached, all that is missing
  // are ends of objects.
  bool Show(const cache::AnySnapshot& view, const std::vector<AnyRef>& objects, const Mark& mark) const;
  // A write of the namespace that the view does not show; for messages, visits all.
  std::optional<Entry> FindMissing(const cache::AnySnapshot& view, std::string_view namespace_) const;
  // The writes of the keys that `of` accepts and that the view does not show; visits all.
  std::vector<Entry> Missing(const cache::AnySnapshot& view, const std::function<bool(const ObjectKey&)>& of) const;
  // Forgets the writes of the keys that `of` accepts, because the informer will not have them any more.
  void Forget(const std::function<bool(const ObjectKey&)>& of);
  // Forgets writes that will not be needed any more, given a view that a read has waited for.
  void Settle(const cache::AnySnapshot& view, TimePoint now);
  // How often the server has lost its newest state, as by the restore of a backup. Writes from before are lost as well,
  // and forgotten: whoever waits for them must not go on.
  std::uint64_t Losses();
  bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  std::size_t size() const noexcept { return count_.load(std::memory_order_acquire); }
  // How many writes Show() has looked at, since the beginning.
  std::uint64_t visited() const noexcept { return visited_.load(std::memory_order_relaxed); }

 private:
  // The entries in the order in which they can be forgotten.
  using Order = std::list<Entry>;

  Order& OrderOf(const OwnWrite& write) KGEN_REQUIRES(mutex_) { return NeedsTime(write) ? timed_ : dated_; }
  static bool NeedsTime(const OwnWrite& write) noexcept;
  void SettleLocked(const cache::AnySnapshot& view, TimePoint now) KGEN_REQUIRES(mutex_);
  bool ForgetBeyondLimit() KGEN_REQUIRES(mutex_);
  void PopFront(Order& order) KGEN_REQUIRES(mutex_);
  void LookForLoss(const cache::AnySnapshot& now) KGEN_REQUIRES(mutex_);
  void Count() KGEN_REQUIRES(mutex_) { count_.store(writes_.size(), std::memory_order_release); }

  const Shared<cache::Store> store_;
  const std::size_t limit_;
  mutable Mutex mutex_;
  Order dated_ KGEN_GUARDED_BY(mutex_);  // until the informer passes their version or shows them; oldest first
  Order timed_ KGEN_GUARDED_BY(mutex_);  // until some time has passed; oldest first
  std::unordered_map<ObjectKey, Order::iterator> writes_ KGEN_GUARDED_BY(mutex_);
  // The newest version of each namespace that the informer selects.
  std::unordered_map<String, std::uint64_t> awaited_ KGEN_GUARDED_BY(mutex_);
  std::uint64_t awaited_anywhere_ KGEN_GUARDED_BY(mutex_) = 0;
  std::uint64_t newest_ KGEN_GUARDED_BY(mutex_) = 0;
  std::uint64_t highest_ KGEN_GUARDED_BY(mutex_) = 0;  // version that the store was seen at
  std::uint64_t losses_ KGEN_GUARDED_BY(mutex_) = 0;
  bool reported_ KGEN_GUARDED_BY(mutex_) = false;  // that the limit was reached
  std::atomic<std::size_t> count_{0};              // of writes_: reads look at nothing else as long as it is 0
  mutable std::atomic<std::uint64_t> visited_{0};
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_OWN_WRITES_H_
