// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_bench: see bench/comparisons.h.
#include "bench/comparisons.h"

int main() {
  kgen::bench::CompareListerReads();
  return 0;
}
