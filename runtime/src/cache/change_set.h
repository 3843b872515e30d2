// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ChangeSet: turns drained deltas of single objects into one transaction of the store and the events for the handlers.
#ifndef KGEN_SRC_CACHE_CHANGE_SET_H_
#define KGEN_SRC_CACHE_CHANGE_SET_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/delivery/event_batch.h"
#include "cache/queue/delta_fifo.h"
#include "cache/store/key_set.h"
#include "cache/store/store.h"
#include "kgen/cache/events.h"

namespace kgen::cache {

// The deltas of one Drain(). Each delta is applied to the state that the deltas before it left, whether or not the
// store already holds that state, so `before` is correct when a key has several deltas. Replace, Sync and Leave are
// handled in cache/stepped_jobs.h instead.
//
// Thread safety: on the informer's strand.
class ChangeSet {
 public:
  // `base` is the content of the store. `refused` is the set of keys whose newest state was refused; Apply() updates
  // it.
  ChangeSet(AnySnapshot base, bool wants_events, KeySet& refused);

  void Apply(Delta delta);

  bool has_transaction() const noexcept { return !transaction_.changes.empty() || !transaction_.version.empty(); }
  Transaction TakeTransaction() { return std::move(transaction_); }
  std::vector<AnyEvent> TakeEvents() { return events_.Take(); }

 private:
  AnyRef Now(const ObjectKey& key) const;
  void Put(const ObjectKey& key, AnyRef object);
  void Upsert(const ObjectKey& key, AnyRef object);
  void Delete(const ObjectKey& key, AnyRef final_state);
  void Refuse(const ObjectKey& key);

  const AnySnapshot base_;
  const bool wants_events_;
  KeySet& refused_;
  std::unordered_map<ObjectKey, AnyRef> overlay_;  // changed since base_; null: deleted
  Transaction transaction_;
  String version_;  // of the last delta applied
  EventBatch events_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_CHANGE_SET_H_
