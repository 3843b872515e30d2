// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One random program against one informer: writes, faults of server and network, handlers that are added and removed,
// user code that throws, and an oracle that knows every state that the server ever had.
//
// The oracle checks:
//   O1  A snapshot of the store with version v holds exactly what the server held at v, and v never goes back. At any
//       moment, also while the next version is built.
//   O2  Indexes of a snapshot agree with its objects.
//   O3  A handler's events fold into a state without a contradiction: nothing is added twice, updated from another
//       version than the last one delivered, or delivered after the handler was removed or the informer joined;
//       versions of an object only grow.
//   O4  The store holds a change before a handler receives it.
//   O5  When WaitForCacheSync succeeds the store is a state of the server, and so is the view of each handler waited
//       for. A handler has not synced while it still receives initial events.
//   O6  At rest the cache equals the server by resource version and canonical JSON, each handler's view equals the
//       cache, the count of refused objects is right, and versions have followed the bookmarks.
//   O7  After the stop no blocking task, timer, task, watch, request or block is left.
//   O8  Events have the versions of the server's changes in their order; unchanged objects are delivered only after a
//       resync or a list, and as often as requested.
//   O9  Requests do not come in storms (50 in a second), and no list is repeated without a delay.
//   O10 Once every fault is over and the server has restarted, the cache is current within 65 seconds, plus the delay
//       with which changes are applied: the longest delay of an informer (30 s) before it asks, one more where its
//       watch then gets a 410 for the second time without progress, and the longest delay of a probe (5 s).
//   O11 When the server returns to an older copy of its data, all this holds for the copy and its successors, although
//       versions go back; see InformerRun::MayWrite() for the case that cannot be noticed.
//   O12 All this holds for the objects of a shard, whose ranges change at random times, whether the server filters or
//       not. The store has the objects of the ranges that were asked for last or, until it has reached them, of what it
//       had before, or of what is in both. An object that leaves is told once, as left, and never as deleted. When
//       Informer::held() has reached a call, the store has a state of those ranges that is as new as was promised.
#ifndef KGEN_TESTS_SIMULATION_INFORMER_RUN_H_
#define KGEN_TESTS_SIMULATION_INFORMER_RUN_H_

#include <cstdint>

#include "kgen/testing/simulation.h"
#include "tests/simulation/run_result.h"

namespace kgen::simulation {

// Runs the program of that seed. With a replay, it makes those choices, and the first choice beyond their end.
RunResult RunInformer(std::uint64_t seed, const testing::Trace& replay = {});

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_INFORMER_RUN_H_
