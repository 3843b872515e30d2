// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardGate: for which hashes a member may write now. ShardGuard is the guard for one hash.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_SHARD_GATE_H_
#define KGEN_SRC_CONTROLLER_SHARDS_SHARD_GATE_H_

#include <string>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/controller/shards.h"
#include "kgen/core/clock.h"
#include "kgen/net/transport.h"

namespace kgen::controller {

// The clock of promises to other machines.
TimePoint ShardTime(Clock& clock) noexcept;

// Thread safety: all members from any thread. The lock is held for a search in a few ranges.
class ShardGate final : public SharedObject {
 public:
  ShardGate(Shared<Clock> clock, const std::string& lease);

  Result<void> MaySend(std::uint64_t hash) noexcept;
  bool Owns(std::uint64_t hash) const noexcept;
  ShardRanges owned() const;
  Nanos time_left() const noexcept;

  void Extend(TimePoint until) noexcept;     // the renew deadline, of ShardTime()
  void Open(const ShardRanges& ranges);      // work on these begins
  void Withdraw(const ShardRanges& ranges);  // no new call for these, but writes
  void Shut(const ShardRanges& ranges);      // no write for these
  void Close() noexcept;                     // nothing ever again

 private:
  const Shared<Clock> clock_;
  const Error refusal_;
  mutable Mutex mutex_;
  ShardRanges owned_ KGEN_GUARDED_BY(mutex_), open_ KGEN_GUARDED_BY(mutex_);
  TimePoint until_ KGEN_GUARDED_BY(mutex_) = TimePoint::min();
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

class ShardGuard final : public SendGuard {
 public:
  ShardGuard(Shared<ShardGate> gate, std::uint64_t hash) : gate_(std::move(gate)), hash_(hash) {}
  Result<void> MaySend() noexcept override { return gate_->MaySend(hash_); }
  Nanos TimeLeft() noexcept override { return gate_->time_left(); }

 private:
  const Shared<ShardGate> gate_;
  const std::uint64_t hash_;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_SHARD_GATE_H_
