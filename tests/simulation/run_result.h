// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_TESTS_SIMULATION_RUN_RESULT_H_
#define KGEN_TESTS_SIMULATION_RUN_RESULT_H_

#include <string>

#include "kgen/testing/simulation.h"

namespace kgen::simulation {

struct RunResult {
  std::string failure;  // "" : passed
  testing::Trace trace;
  std::string log;  // what the program did, a line each
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_RUN_RESULT_H_
