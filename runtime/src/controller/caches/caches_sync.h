// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CachesSync: a wait for all caches of a process that does not block.
#ifndef KGEN_SRC_CONTROLLER_CACHES_CACHES_SYNC_H_
#define KGEN_SRC_CONTROLLER_CACHES_CACHES_SYNC_H_

#include <optional>
#include <stop_token>

#include "cache/wait_for_sync.h"
#include "controller/caches/kind_cache.h"
#include "core/execution/blocking_result.h"
#include "kgen/core/waiter.h"

namespace kgen::controller {

// Caches whose first user appears meanwhile count, too. Thread safety: one thread at a time.
class CachesSync {
 public:
  // `waker` is notified when something has changed, until this is destroyed.
  CachesSync(Shared<CachesState> state, Shared<Waiter> waker);

  // Returns the result of Caches::WaitForSync(); nothing while it would wait. Then call it again when `waker` is
  // notified, `stop` is requested, or look_again() has passed.
  std::optional<Result<void>> Poll(const std::stop_token& stop);
  TimePoint look_again() const noexcept { return watch_ ? watch_->look_again() : Waiter::kNoDeadline; }
  // The error of a wait that ended with `ended`; or success, at the last moment.
  Result<void> EndedBy(const Error& ended) const;

 private:
  const Shared<CachesState> state_;
  const Shared<Waiter> waker_;
  const TimePoint deadline_;
  // With namespaces that may change, of which each has a wait of its own, a thread waits.
  Shared<detail::BlockingResult> blocking_{};
  Shared<KindCache> current_{};  // the one that `watch_` watches
  std::optional<cache::SyncWatch> watch_{};
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_CACHES_SYNC_H_
