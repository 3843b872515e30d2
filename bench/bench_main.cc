// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_bench: see bench/comparisons.h.
#include "bench/comparisons.h"

#include <cstring>

int main(int argc, char** argv) {
  const auto wanted = [&](const char* name) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], name) == 0) return true;
    }
    return argc == 1;
  };
  if (wanted("lister_storm")) kgen::bench::CompareListerReads();
  if (wanted("longest_task")) kgen::bench::MeasureLongestTasks();
  return 0;
}
