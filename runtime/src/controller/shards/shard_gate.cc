// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/shard_gate.h"

#include <algorithm>

#include "controller/shards/deliberate_bugs.h"

namespace kgen::controller {

TimePoint ShardTime(Clock& clock) noexcept {
  return Injected(ShardBug::kIgnoresSuspend) ? clock.Now() : clock.NowWithSuspend();
}

ShardGate::ShardGate(Shared<Clock> clock, const std::string& lease)
    : clock_(std::move(clock)),
      refusal_(Code::kCancelled, "not sent, because the shard of the object does not belong to the member " + lease) {}

Result<void> ShardGate::MaySend(std::uint64_t hash) noexcept {
  const MutexLock lock(mutex_);
  if (!closed_ && open_.Contains(hash) && ShardTime(*clock_) < until_) return {};
  return Fail(refusal_);
}

bool ShardGate::Owns(std::uint64_t hash) const noexcept {
  const MutexLock lock(mutex_);
  return !closed_ && owned_.Contains(hash) && ShardTime(*clock_) < until_;
}

ShardRanges ShardGate::owned() const {
  const MutexLock lock(mutex_);
  return closed_ ? ShardRanges() : owned_;
}

Nanos ShardGate::time_left() const noexcept {
  const MutexLock lock(mutex_);
  return closed_ || until_ == TimePoint::min() ? Nanos() : std::max(Nanos(), until_ - ShardTime(*clock_));
}

void ShardGate::Extend(TimePoint until) noexcept {
  const MutexLock lock(mutex_);
  until_ = until;
}

void ShardGate::Open(const ShardRanges& ranges) {
  const MutexLock lock(mutex_);
  owned_ |= ranges;
  open_ |= ranges;
}

void ShardGate::Withdraw(const ShardRanges& ranges) {
  const MutexLock lock(mutex_);
  owned_ -= ranges;
}

void ShardGate::Shut(const ShardRanges& ranges) {
  const MutexLock lock(mutex_);
  owned_ -= ranges;
  open_ -= ranges;
}

void ShardGate::Close() noexcept {
  const MutexLock lock(mutex_);
  closed_ = true;
}

}  // namespace kgen::controller
