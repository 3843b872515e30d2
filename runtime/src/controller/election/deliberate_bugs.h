// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bugs of leader election that can be built in on purpose, to prove that the simulation finds them. As in
// cache/store/deliberate_bugs.h: a normal build contains none.
#ifndef KGEN_SRC_CONTROLLER_ELECTION_DELIBERATE_BUGS_H_
#define KGEN_SRC_CONTROLLER_ELECTION_DELIBERATE_BUGS_H_

namespace kgen::controller {

enum class Bug : int {
  kNone = 0,
  kDeadlineFromAnswer = 1,   // the renew deadline counts from the answer to a renewal, not from its sending
  kIgnoresSuspend = 2,       // deadlines do not count the time for which the machine was suspended
  kReleasesWhenLost = 3,     // the Lease is released when leadership is lost, although work may still be running
  kTrustsTimeStamps = 4,     // a Lease expires by its renewTime and the own wall clock
  kExpiresAtFirstSight = 5,  // a Lease expires although it was not watched for its duration
};

#if !defined(KGEN_DELIBERATE_BUG)
constexpr bool Injected(Bug) noexcept { return false; }
#else
inline Bug injected_bug = Bug::kNone;  // set once, before any thread starts
inline void InjectBug(Bug bug) noexcept { injected_bug = bug; }
inline bool Injected(Bug bug) noexcept { return bug == injected_bug; }
#endif

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ELECTION_DELIBERATE_BUGS_H_
