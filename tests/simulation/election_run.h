// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One random program for two to four managers that compete for one Lease. Each runs on a machine of its own, whose
// clock has its own rate (they differ by 1.25 at most) and whose wall clock is wrong, and which may be suspended; and
// behind a network that loses, delays and refuses requests and answers. While a manager leads, its workers write as
// fast as they like, through the guard of the elector, and faster when its renew deadline is near. A manager that lost
// the Lease, or released it, begins again with a new identity, as a restarted process.
//
// The oracle checks:
//   E1  No write leaves a machine after the renew deadline of its manager: by its own clock that counts suspended time,
//       from when its last successful renewal left the machine.
//   E2  In the time of the simulation, no write of one term leaves after one of a later term.
//   E3  Within two lease durations and some seconds after the last fault, some manager leads.
//   E4  No Lease is released while a worker of its manager is running.
//   E5  After the stop no blocking task, timer, task, request or block is left.
#ifndef KGEN_TESTS_SIMULATION_ELECTION_RUN_H_
#define KGEN_TESTS_SIMULATION_ELECTION_RUN_H_

#include <cstdint>

#include "kgen/testing/simulation.h"
#include "tests/simulation/run_result.h"

namespace kgen::simulation {

// Runs the program of that seed. With a replay, it makes those choices, and the first choice beyond their end.
RunResult RunElection(std::uint64_t seed, const testing::Trace& replay = {});

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_ELECTION_RUN_H_
