// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One random program for two to four replicas that divide six cells (hashes with an object each) between them. Each
// replica runs on a machine of its own, with its own clock rate (they differ by 1.25 at most), which may be suspended;
// behind a network that loses, delays and refuses requests and answers. Replicas come, leave in order, are killed and
// come again as new members, the assigner included; Leases are deleted by hand. While a replica owns a cell, a worker
// writes the object of the cell, again and again, through the guard of the cell.
//
// The oracle checks:
//   S1  When work on a cell starts, no other member's guard lets its writes through; and no write for a cell leaves a
//       machine after another member has started it. (A write that had left before may arrive later, within its
//       timeout.)
//   S2  Who starts a cell without having to list anew is told of a version that is not older than the last write for it
//       that has reached the server before.
//   S3  When faults have ended, every cell is owned within a bound, and then each hand-over takes at most 1.5 retry
//       periods after a replica has begun to leave, and the Lease's duration and 2.5 retry periods after a kill.
//   S4  The epoch of a map grows by one with each write, and its ranges have owners that are members.
//   S5  Replicas that are stopped end, without an error if nothing is wrong; after that no blocking task, timer, task
//       or block is left.
#ifndef KGEN_TESTS_SIMULATION_SHARD_RUN_H_
#define KGEN_TESTS_SIMULATION_SHARD_RUN_H_

#include <cstdint>

#include "kgen/testing/simulation.h"
#include "tests/simulation/run_result.h"

namespace kgen::simulation {

// Runs the program of that seed. With a replay, it makes those choices, and the first choice beyond their end.
RunResult RunShards(std::uint64_t seed, const testing::Trace& replay = {});

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_SHARD_RUN_H_
