// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HeldRanges: which hashes an informer has whole, while the ranges that it holds change.
//
//   Narrow(new) --> Informer::Hold(new) --> Told(number, new)        readable: all of these ranges, and what was held
//                                                                    before them and still is
//   Informer::held() reaches the number                              readable: the new ranges
//
// A read asks before and after it has looked at the store. If both answers are the same, then the informer was not told
// to drop the hash in between, so that what the store lacks does not exist.
#ifndef KGEN_SRC_CONTROLLER_CACHES_HELD_RANGES_H_
#define KGEN_SRC_CONTROLLER_CACHES_HELD_RANGES_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/client/shard_ranges.h"

namespace kgen::controller {

// Thread safety: all members from any thread; Narrow() and Told() by one thread at a time. The lock is held for a
// search in a few ranges.
class HeldRanges {
 public:
  // Before the informer is told to hold `ranges`: nothing else is readable from now on.
  void Narrow(const ShardRanges& ranges) {
    const MutexLock lock(mutex_);
    settled_ = settled_ & ranges;
    telling_ = ranges;
    ++changes_;
  }
  // The informer was told, and has given this number to it.
  void Told(std::uint64_t number, ShardRanges ranges) {
    const MutexLock lock(mutex_);
    told_.emplace_back(number, std::move(ranges));
    telling_.reset();
    last_ = number;
  }
  // Returns a number that changes whenever Narrow() was called, if an informer whose Informer::held() is `held` has all
  // of this hash; otherwise 0.
  std::uint64_t Readable(std::uint64_t hash, std::uint64_t held) const {
    const MutexLock lock(mutex_);
    Settle(held);
    return settled_.Contains(hash) ? changes_ + 1 : 0;
  }
  // The number of the last change that the informer was told of; 0: none.
  std::uint64_t last() const {
    const MutexLock lock(mutex_);
    return last_;
  }

 private:
  // What an earlier change brought is readable only as far as no later one takes it away.
  void Settle(std::uint64_t held) const KGEN_REQUIRES(mutex_) {
    while (!told_.empty() && told_.front().first <= held) {
      settled_ = std::move(told_.front().second);
      told_.pop_front();
      for (const auto& [number, ranges] : told_) settled_ = settled_ & ranges;
      if (telling_) settled_ = settled_ & *telling_;
    }
  }

  mutable Mutex mutex_;
  mutable ShardRanges settled_ KGEN_GUARDED_BY(mutex_);
  mutable std::deque<std::pair<std::uint64_t, ShardRanges>> told_ KGEN_GUARDED_BY(mutex_);
  std::optional<ShardRanges> telling_ KGEN_GUARDED_BY(mutex_);  // between Narrow() and Told()
  std::uint64_t changes_ KGEN_GUARDED_BY(mutex_) = 0, last_ KGEN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_HELD_RANGES_H_
