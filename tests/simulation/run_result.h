// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_TESTS_SIMULATION_RUN_RESULT_H_
#define KGEN_TESTS_SIMULATION_RUN_RESULT_H_

#include <cstdint>
#include <exception>
#include <string>

#include "kgen/core/memory.h"
#include "kgen/testing/simulation.h"

namespace kgen::simulation {

struct RunResult {
  std::string failure;  // "" : passed
  testing::Trace trace;
  std::string log;  // what the program did, a line each
};

// Returns what is under way though everything has ended, or "". Requests whose answers were lost stay open at nobody,
// so these do not count.
inline std::string LeftUnderWay(testing::Simulation& simulation) {
  const auto left = simulation.census();
  if (left.blocking + left.timers + left.tasks == 0) return "";
  return std::to_string(left.blocking) + " blocking tasks, " + std::to_string(left.timers) + " timers and " +
         std::to_string(left.tasks) + " tasks are left: " + simulation.WhoWaits();
}

// Makes a Run, does it, and destroys it. Memory that it leaves behind breaks `law`.
template <typename Run>
RunResult Perform(const std::string& law, std::uint64_t seed, const testing::Trace& replay) {
  const std::int64_t before = LiveBlocks();
  RunResult result;
  {
    Run run(seed, replay);
    try {
      result = run.Go();
    } catch (const std::exception& error) {
      result.failure = std::string("thrown: ") + error.what();
    }
  }
  if (result.failure.empty() && LiveBlocks() != before) {
    result.failure = law + ": " + std::to_string(LiveBlocks() - before) + " blocks are left";
  }
  return result;
}

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_RUN_RESULT_H_
