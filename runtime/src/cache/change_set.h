// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From drained deltas of single objects to one transaction of the store and the events of the handlers.
#ifndef KGEN_RUNTIME_CACHE_CHANGE_SET_H_
#define KGEN_RUNTIME_CACHE_CHANGE_SET_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/delta_fifo.h"
#include "cache/event_batch.h"
#include "cache/key_set.h"
#include "cache/store.h"
#include "kgen/cache/events.h"

namespace kgen::cache {

// One drain. Each delta meets the state that the deltas before it left, whether or not the store holds that already, so
// that `before` is right for several deltas of a key. A Replace or a Sync is no part of it, see cache/jobs.h.
//
// Thread safety: on the informer's strand.
class ChangeSet {
 public:
  // `base`: what the store holds. `refused`: the keys whose newest state was refused, kept up to date here.
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
  String version_;  // of the state so far
  EventBatch events_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_CHANGE_SET_H_
