// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventBatch: collects the events of applied changes for the handlers.
#ifndef KGEN_SRC_CACHE_DELIVERY_EVENT_BATCH_H_
#define KGEN_SRC_CACHE_DELIVERY_EVENT_BATCH_H_

#include <utility>
#include <vector>

#include "kgen/cache/events.h"

namespace kgen::cache {

// True if `a` and `b` are different objects of one name: the object was deleted and created again. False if either has
// no UID.
bool IsAnotherIncarnation(const AnyRef& a, const AnyRef& b);

// Thread safety: as a standard container.
class EventBatch {
 public:
  // Adds an addition or an update or, if `now` is another incarnation than `before`, a deletion and an addition.
  // `before` may be null. The reason is kResync for an object whose version did not change. With `other_history`, equal
  // versions do not imply equal objects, so the reason is kResync only if `now` is the very same object as `before`.
  void Upsert(const ObjectKey& key, const AnyRef& before, const AnyRef& now, Reason reason, const String& version,
              bool other_history = false);
  void Delete(const ObjectKey& key, AnyRef before, Reason reason, const String& version, bool final_state_unknown);
  // Adds that the object is no longer held, although it was not deleted.
  void Leave(const ObjectKey& key, AnyRef before, const String& version);
  // Adds an update with the unchanged object, because its resync period has passed.
  void Resync(const ObjectKey& key, const AnyRef& object, const String& version);

  // Takes the last event back if its reason is kResync.
  void DropResync() {
    if (!events_.empty() && events_.back().reason == Reason::kResync) events_.pop_back();
  }

  std::vector<AnyEvent> Take() { return std::exchange(events_, {}); }

 private:
  std::vector<AnyEvent> events_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_DELIVERY_EVENT_BATCH_H_
