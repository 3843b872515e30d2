// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One random program for two to five replicas of a manager that divide the ConfigMaps of six namespaces between them.
// Each replica runs on a machine of its own, with its own clock rate (they differ by 1.25 at most), which may be
// suspended, behind a network that loses, delays and refuses requests and answers, and cuts watches. Replicas come,
// leave in order, are suspended for long and come again as new members. A user changes `spec` of the objects all the
// time; the controller copies it to `done`, with a patch that has no resourceVersion.
//
// Some seeds have more: each ConfigMap owns a Secret, which the controller creates and repairs, and which the user
// deletes and spoils; the user deletes objects, half of which have a finalizer, and creates them again; there are
// Nodes, which are cluster-scoped and have a controller of their own, and settings that all replicas hold and all
// objects copy.
//
// The oracle checks:
//   M1  Calls for an object come with fences (Request::fence()) that never go back: no replica's write leaves its
//       machine, or takes effect, after a call of a later owner has begun.
//   M2  A call reads no object in a state that is older than what any earlier owner has written or read, or than what
//       its own replica was told to be written; also not what it owns, and not the settings.
//   M3  An object that exists is never read as null; objects of other namespaces are read or refused.
//   M4  When faults have ended, each object is reconciled after each change within a bound, and everything is owned:
//       `done` and the copy of the settings are right, each object has its Secret as it should be, and no deletion
//       waits for its finalizer.
//   M5  Replicas that are stopped end, without an error if nothing is wrong; after that nothing is left.
#ifndef KGEN_TESTS_SIMULATION_MANAGER_RUN_H_
#define KGEN_TESTS_SIMULATION_MANAGER_RUN_H_

#include <cstdint>

#include "kgen/testing/simulation.h"
#include "tests/simulation/run_result.h"

namespace kgen::simulation {

// Runs the program of that seed. With a replay, it makes those choices, and the first choice beyond their end.
RunResult RunManagers(std::uint64_t seed, const testing::Trace& replay = {});

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_MANAGER_RUN_H_
