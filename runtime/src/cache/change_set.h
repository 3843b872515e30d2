// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From drained deltas to one transaction of the store and the events of the handlers. [D13; INF CT-06 to CT-11]
#ifndef KGEN_RUNTIME_CACHE_CHANGE_SET_H_
#define KGEN_RUNTIME_CACHE_CHANGE_SET_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kgen/cache/delta_fifo.h"
#include "kgen/cache/events.h"
#include "kgen/cache/indexer.h"

namespace kgen::cache {

using KeySet = std::unordered_set<ObjectKey>;

// One drain. Each delta meets the state that the deltas before it left, whether or not the store holds that already; so
// `before` is right for several deltas of a key, and a Replace finds the deletions of keys that were only in the queue.
// [INF Q-12]
//
// Thread safety: on the informer's strand.
class ChangeSet {
 public:
  // `initial`: what is drained belongs to the initial population. `refused`: the keys whose newest state was refused,
  // kept up to date here.
  ChangeSet(AnySnapshot base, bool initial, bool wants_events, KeySet& refused);

  void Apply(Delta delta);
  bool replaced() const noexcept { return transaction_.replace; }

  bool has_transaction() const noexcept {
    return transaction_.replace || !transaction_.changes.empty() || !transaction_.version.empty();
  }
  Transaction TakeTransaction() { return std::move(transaction_); }
  std::vector<AnyEvent> TakeEvents() { return std::move(events_); }

 private:
  AnyRef Now(const ObjectKey& key) const;
  std::vector<AnyRef> All() const;
  void Put(const ObjectKey& key, AnyRef object);
  void Upsert(const ObjectKey& key, AnyRef object, Reason reason);
  void Delete(const ObjectKey& key, AnyRef final_state);
  void Refuse(const ObjectKey& key);
  void Replace(ListedObjects list, bool incomplete);
  void FindMissing(const std::unordered_map<ObjectKey, std::size_t>& listed, bool incomplete, Reason reason,
                   std::vector<Change>& content);
  void Sync();
  void TellUpsert(const ObjectKey& key, const AnyRef& before, const AnyRef& now, Reason reason);
  void Tell(AnyEvent::Type type, Reason reason, const ObjectKey& key, AnyRef before, AnyRef now,
            bool final_state_unknown = false);

  AnySnapshot base_;
  bool initial_;
  bool wants_events_;
  bool other_history_ = false;  // of the Replace that is being applied: an equal version is no equal object
  KeySet& refused_;
  std::unordered_map<ObjectKey, AnyRef> overlay_;  // changed since base_; null: deleted
  Transaction transaction_;
  String version_;  // of the state so far
  std::vector<AnyEvent> events_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_CHANGE_SET_H_
