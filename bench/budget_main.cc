// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_budget: see bench/budget.h.
#include "bench/budget.h"

int main(int argc, char** argv) {
  kgen::bench::Budget budget;
  kgen::bench::AddCodecRows(budget);
  kgen::bench::AddFirstSyncRows(budget);
  kgen::bench::AddUpdateRows(budget);
  kgen::bench::AddQueueRows(budget);
  kgen::bench::AddWarmRows(budget);
  kgen::bench::AddBuildRows(budget);
  return budget.Main(argc, argv);
}
