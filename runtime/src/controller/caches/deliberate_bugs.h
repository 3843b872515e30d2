// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bugs of managers that work on shards, which can be built in on purpose, to prove that the simulation finds them. As
// in cache/store/deliberate_bugs.h: a normal build contains none.
#ifndef KGEN_SRC_CONTROLLER_CACHES_DELIBERATE_BUGS_H_
#define KGEN_SRC_CONTROLLER_CACHES_DELIBERATE_BUGS_H_

namespace kgen::controller {

enum class ManagerBug : int {
  kNone = 0,
  kNoFence = 1,         // calls write without the guard of their shard
  kEndsDrainEarly = 2,  // a range is given up before the calls under way have ended
  kReadsAnywhere = 3,   // a read outside of what the process holds finds nothing, instead of failing
  kNoReplay = 4,        // a range starts without adding the objects in it
  kStartsBehind = 5,    // a range starts before the caches have what earlier owners have written
};

#if !defined(KGEN_DELIBERATE_BUG)
constexpr bool Injected(ManagerBug) noexcept { return false; }
#else
inline ManagerBug injected_manager_bug = ManagerBug::kNone;  // set once, before any thread starts
inline void InjectBug(ManagerBug bug) noexcept { injected_manager_bug = bug; }
inline bool Injected(ManagerBug bug) noexcept { return bug == injected_manager_bug; }
#endif

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_DELIBERATE_BUGS_H_
