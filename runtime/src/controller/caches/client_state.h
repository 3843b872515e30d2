// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the copies of a CachedClient share: the caches that its reads use, and what kinds are called on the server.
#ifndef KGEN_SRC_CONTROLLER_CACHES_CLIENT_STATE_H_
#define KGEN_SRC_CONTROLLER_CACHES_CLIENT_STATE_H_

#include <atomic>
#include <stop_token>
#include <utility>
#include <vector>

#include "controller/caches/kind_cache.h"
#include "core/memory/mutex.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/controller/caches.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/string.h"

namespace kgen::controller {

// Whether a write that failed with this error may have been stored, or be stored later.
bool MayBeStored(const Error& error) noexcept;

// The answers to the writes of one reconcile call.
//
// Thread safety: all members from any thread.
class WriteLog final : public SharedObject {
 public:
  struct Entry {
    String uid{};
    String version{};
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  void Add(const meta::v1::ObjectMeta& answer) {
    const MutexLock lock(mutex_);
    entries_.push_back({answer.uid, answer.resourceVersion});
  }
  // A write may have been stored, and no cache of this process will show it, or nobody knows its version.
  void SetUnsure() noexcept { unsure_.store(true, std::memory_order_relaxed); }
  bool unsure() const noexcept { return unsure_.load(std::memory_order_relaxed); }
  std::vector<Entry> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(entries_, {});
  }

 private:
  std::atomic<bool> unsure_{false};
  Mutex mutex_;
  std::vector<Entry> entries_ KGEN_GUARDED_BY(mutex_);
};

// Thread safety: all members from any thread.
class ClientState final : public SharedObject {
 public:
  explicit ClientState(const Connection& connection) : mapper_(connection) {}
  ~ClientState() override;

  const RestMapper& mapper() const noexcept { return mapper_; }
  // The cache of a kind, which has synced. Valid as long as this object. The first call for a kind makes it and blocks;
  // if that fails, nothing is kept.
  Result<KindCache*> Synced(const Caches& caches, const TypeTable& table, const KindInfo& kind,
                            const std::stop_token& stop);

 private:
  // An entry never changes and stays until the end, so reads take no lock. There are as many as kinds.
  struct Held {
    const TypeTable* table;
    const KindInfo* kind;
    Shared<KindCache> kind_cache;
    Held* next;
  };
  KindCache* Find(const TypeTable& table, const KindInfo& kind) const noexcept;
  KindCache* Keep(const TypeTable& table, const KindInfo& kind, Shared<KindCache> kind_cache);

  const RestMapper mapper_;
  Mutex mutex_;  // of those who add to the list
  std::atomic<Held*> first_{nullptr};
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_CLIENT_STATE_H_
