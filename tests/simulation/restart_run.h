// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One random program against several processes, one after the other, whose informer saves its cache and starts from it:
// writes, faults of server, network and disk, crashes of the process and of the machine in any operation on files,
// damaged files, servers that return to an older copy of their data, and other servers at the same address.
//
// The oracle checks, beside O1, O3 to O5, O7 and O8 of informer_run.h for each process:
//   R1  A process that has synced holds what the server holds in this history, and not a state of a server that is no
//       longer there; without servers that are behind, not a state from before the process began.
//   R2  A wait for which the saved state counts ends with a state that the server once had, and each handler waited for
//       has that state, too.
//   R3  A saved state that is recent, complete and of this cluster is resumed without a list, if the server still has
//       the events since then.
//   R4  At rest the cache equals the server, each handler's view equals the cache, and the count of refused objects is
//       right, within 15 minutes after the last fault.
//   R5  After the rest, and a save, the file has that state.
#ifndef KGEN_TESTS_SIMULATION_RESTART_RUN_H_
#define KGEN_TESTS_SIMULATION_RESTART_RUN_H_

#include <cstdint>

#include "kgen/testing/simulation.h"
#include "tests/simulation/run_result.h"

namespace kgen::simulation {

// Runs the program of that seed. With a replay, it makes those choices, and the first choice beyond their end.
RunResult RunRestarts(std::uint64_t seed, const testing::Trace& replay = {});

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_RESTART_RUN_H_
