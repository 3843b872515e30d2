// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bugs of shards that can be built in on purpose, to prove that the simulation finds them. As in
// cache/store/deliberate_bugs.h: a normal build contains none.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_DELIBERATE_BUGS_H_
#define KGEN_SRC_CONTROLLER_SHARDS_DELIBERATE_BUGS_H_

namespace kgen::controller {

enum class ShardBug : int {
  kNone = 0,
  kNoFence = 1,   // a member that is not heard of for two retry periods is dropped, without waiting for its Lease
  kStaleMap = 2,  // an assigner writes the map without a resourceVersion, and without looking who holds it
  kAcksBeforeDrain = 3,    // the acknowledgement does not list the ranges that are draining
  kStartsWithoutAcks = 4,  // work starts without the acknowledgements of the others
  kIgnoresSuspend = 5,     // deadlines do not count the time for which the machine was suspended
  kForgetsVersions = 6,    // the map does not keep the versions of members that have left
};

#if !defined(KGEN_DELIBERATE_BUG)
constexpr bool Injected(ShardBug) noexcept { return false; }
#else
inline ShardBug injected_shard_bug = ShardBug::kNone;  // set once, before any thread starts
inline void InjectBug(ShardBug bug) noexcept { injected_shard_bug = bug; }
inline bool Injected(ShardBug bug) noexcept { return bug == injected_shard_bug; }
#endif

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_DELIBERATE_BUGS_H_
