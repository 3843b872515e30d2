// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What `./dev bench [NAME...]` runs: measurements that are looked at, not judged. Each prints its lines.
#ifndef KGEN_BENCH_COMPARISONS_H_
#define KGEN_BENCH_COMPARISONS_H_

namespace kgen::bench {

void CompareListerReads();   // lister_storm
void MeasureLongestTasks();  // longest_task

}  // namespace kgen::bench

#endif  // KGEN_BENCH_COMPARISONS_H_
