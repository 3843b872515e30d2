// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bugs that can be built in on purpose, to prove that the simulation finds them. A normal build contains none:
// Injected() is then constant false, and the compiler drops the branch.
//
//   -DKGEN_DELIBERATE_BUG=3    bug 3 is in
//   -DKGEN_DELIBERATE_BUG=0    the program chooses: InjectBug(Bug::kRewatchFromNothing), before it starts anything
//
// Define it only in the simulation's own build: all files of the cache must agree on it.
#ifndef KGEN_SRC_CACHE_STORE_DELIBERATE_BUGS_H_
#define KGEN_SRC_CACHE_STORE_DELIBERATE_BUGS_H_

namespace kgen::cache {

enum class Bug : int {
  kNone = 0,
  kVersionBeforeEndMarker = 1,  // reflector: a resource version taken from a streamed event before the end marker
  kReplaceForgetsQueued = 2,    // controller loop: a Replace does not see a key that is only in the queue
  kRewatchFromNothing = 3,      // reflector: after a 410 it watches from "" instead of listing
  kIndexValueKept = 4,          // store: an index value that an object no longer has is not removed
  kReplayAfterRemoval = 5,      // listener: a handler that is removed during its replay still gets the rest of it
  kIgnoresReplacedHistory = 6,  // reflector: never checks whether the server's history was replaced
  kMergeKeepsOldState = 7,      // listener: a merged update does not get the newest state
  kResumesElsewhere = 8,        // reflector: a saved state of another cluster counts as one of this cluster
  kTrustsEqualVersions = 9,     // reflector: equal versions in another cluster count as equal objects
  kWaitsForNoBookmark = 10,     // reflector: a resumed watch makes a saved state current
  kForgetsRefused = 11,         // informer: a saved state counts as complete although objects were refused
  kTakesTornTail = 12,          // reader of saved caches: elements without a commit count
  kSavesNoDeletions = 13,       // writer of saved caches: leaves out what was deleted
  kHeldBeforeTheList = 14,      // reflector: more ranges count as held before they were listed
  kGoesOnWithItsList = 15,      // reflector: a list that may have what has left goes on
  kTakesWhatHasLeft = 16,       // reflector: goes on to take what is outside of its ranges
  kTellsLeftAsDeleted = 17,     // informer: handlers are told that what leaves was deleted
  kKeepsItsWatch = 18,          // reflector: the watch goes on although there are more ranges
};

#if !defined(KGEN_DELIBERATE_BUG)
constexpr bool Injected(Bug) noexcept { return false; }
#elif KGEN_DELIBERATE_BUG > 0
constexpr bool Injected(Bug bug) noexcept { return static_cast<int>(bug) == KGEN_DELIBERATE_BUG; }
#else
inline Bug injected_bug = Bug::kNone;  // set once, before any thread starts
inline void InjectBug(Bug bug) noexcept { injected_bug = bug; }
inline bool Injected(Bug bug) noexcept { return bug == injected_bug; }
#endif

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_DELIBERATE_BUGS_H_
