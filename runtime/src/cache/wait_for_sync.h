// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WaitForSync(): waits until caches have synced, and explains why they have not.
#ifndef KGEN_SRC_CACHE_WAIT_FOR_SYNC_H_
#define KGEN_SRC_CACHE_WAIT_FOR_SYNC_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "cache/delivery/listener.h"
#include "cache/informer.h"
#include "kgen/cache/sync_options.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/waiter.h"

namespace kgen::cache {

class SyncState;

// A wait for caches that does not block. Thread safety: one thread at a time.
class SyncWatch {
 public:
  // `waker` is notified when something has changed, until this is destroyed.
  SyncWatch(const Shared<Clock>& clock, std::vector<Shared<Informer>> informers, SyncOptions options,
            const Shared<Waiter>& waker);
  SyncWatch(SyncWatch&&) noexcept;
  SyncWatch& operator=(SyncWatch&&) noexcept;
  ~SyncWatch();

  // Returns the result of WaitForSync(); nothing while it would wait. Then call it again when `waker` is notified,
  // `stop` is requested, or look_again() has passed.
  std::optional<Result<void>> Poll(const std::stop_token& stop);
  TimePoint look_again() const noexcept;
  // The error of a wait that ended with `ended`; or success, at the last moment.
  Result<void> EndedBy(const Error& ended) const;

 private:
  std::unique_ptr<SyncState> state_;
};

// Blocks. Returns the errors of SharedInformerFactory::WaitForCacheSync, with its message.
Result<void> WaitForSync(Executor& executor, std::stop_token stop, const std::vector<Shared<Informer>>& informers,
                         const SyncOptions& options);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_WAIT_FOR_SYNC_H_
