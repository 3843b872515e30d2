// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The measurements without limits, which `./dev bench [NAME...]` runs. Each prints its results.
#ifndef KGEN_BENCH_COMPARISONS_H_
#define KGEN_BENCH_COMPARISONS_H_

#include <string>
#include <string_view>
#include <vector>

namespace kgen::bench {

void CompareListerReads();   // lister_storm
void MeasureLongestTasks();  // longest_task
void MeasureWarmStarts();    // warm_start
void MeasurePodLookups();    // pod_lookup
void MeasureEventCosts();    // event_cost: what docs/scale.md counts with

// `./dev bench soak`. Arguments: pods=N updates=N timed=N (how many of them at 5,000 a second) relists=N csv=FILE.
// Returns the exit code.
int SoakMain(const std::vector<std::string>& arguments);
// With this as the first argument, the program is one of the processes of warm_start. Returns the exit code.
inline constexpr std::string_view kWarmStartFlag = "--warm-start";
int WarmStartMain(const std::vector<std::string>& arguments);
// `./dev bench scale`: see bench/scale.cc. Returns the exit code.
int ScaleMain(const std::vector<std::string>& arguments);
// With this as the first argument, the program is one of the clients of scale. Returns the exit code.
inline constexpr std::string_view kScaleClientFlag = "--scale-client";
int ScaleClientMain(const std::vector<std::string>& arguments);
// With this as the first argument, the program is the server of soak and scale.
inline constexpr std::string_view kPodServerFlag = "--pod-server";

}  // namespace kgen::bench

#endif  // KGEN_BENCH_COMPARISONS_H_
