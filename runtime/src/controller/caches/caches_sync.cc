// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/caches_sync.h"

#include <algorithm>
#include <utility>

namespace kgen::controller {

CachesSync::CachesSync(Shared<CachesState> state, Shared<Waiter> waker)
    : state_(std::move(state)),
      waker_(std::move(waker)),
      deadline_(Later(state_->connection().clock().Now(), state_->options().sync_timeout)) {}

std::optional<Result<void>> CachesSync::Poll(const std::stop_token& stop) {
  if (state_->may_change()) {
    if (!blocking_) {
      blocking_ = detail::BlockingResult::Start(
          state_->connection().executor(), "sync of caches",
          [state = state_, stop] { return state->WaitForChanging(stop); }, waker_);
    }
    return blocking_->Get();
  }
  const Shared<Clock> clock = state_->connection().executor().clock();
  for (;;) {
    if (stop.stop_requested()) return Fail(Code::kCancelled, "sync of caches: a stop was requested");
    if (!current_) {
      current_ = state_->FirstUnsynced();
      if (!current_) return Result<void>();
      if (!state_->started()) return Fail(KindCache::NotStarted().With("cache of " + current_->name()));
      const Nanos left = deadline_ == Waiter::kNoDeadline ? kNoLimit : std::max(Nanos(1), deadline_ - clock->Now());
      watch_.emplace(clock, current_->informers(), SyncOptions{.give_up_after = left}, waker_);
    }
    const std::optional<Result<void>> synced = watch_->Poll(stop);
    if (!synced) return std::nullopt;
    if (!*synced) return Fail((*synced).error().With(current_->Description()));
    watch_.reset();
    current_ = {};
  }
}

Result<void> CachesSync::EndedBy(const Error& ended) const {
  if (!watch_) return Fail(ended);
  const Result<void> synced = watch_->EndedBy(ended);
  return Fail((synced ? ended : synced.error()).With(current_->Description()));
}

}  // namespace kgen::controller
