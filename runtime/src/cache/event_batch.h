// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Events on their way to the handlers.
#ifndef KGEN_RUNTIME_CACHE_EVENT_BATCH_H_
#define KGEN_RUNTIME_CACHE_EVENT_BATCH_H_

#include <utility>
#include <vector>

#include "kgen/cache/events.h"

namespace kgen::cache {

// True for an object that was deleted and made again under the same name. Objects without a UID say nothing.
bool IsAnotherIncarnation(const AnyRef& a, const AnyRef& b);

// Thread safety: as a standard container.
class EventBatch {
 public:
  // An addition or an update; of another incarnation, a deletion and an addition. `before` may be null. The reason is
  // kResync for an object whose version did not change; with `other_history`, in which an equal version does not mean
  // an equal object, only for the very same object.
  void Upsert(const ObjectKey& key, const AnyRef& before, const AnyRef& now, Reason reason, const String& version,
              bool other_history = false);
  void Delete(const ObjectKey& key, AnyRef before, Reason reason, const String& version, bool final_state_unknown);
  // As it is, because a period has passed.
  void Resync(const ObjectKey& key, const AnyRef& object, const String& version);

  std::vector<AnyEvent> Take() { return std::exchange(events_, {}); }

 private:
  std::vector<AnyEvent> events_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_EVENT_BATCH_H_
