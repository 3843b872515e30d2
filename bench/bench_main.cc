// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_bench: see bench/comparisons.h.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/comparisons.h"
#include "bench/replay/pod_server.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "soak") return kgen::bench::SoakMain({argv + 2, argv + argc});
  if (!arguments.empty() && arguments[0] == "scale") return kgen::bench::ScaleMain({argv + 2, argv + argc});
  if (!arguments.empty() && arguments[0] == kgen::bench::kScaleClientFlag)
    return kgen::bench::ScaleClientMain({argv + 2, argv + argc});
  if (!arguments.empty() && arguments[0] == kgen::bench::kPodServerFlag)
    return kgen::bench::ServePods({argv + 2, argv + argc});
  if (!arguments.empty() && arguments[0] == kgen::bench::kWarmStartFlag)
    return kgen::bench::WarmStartMain({argv + 2, argv + argc});
  const auto wanted = [&](const char* name) {
    return arguments.empty() || std::find(arguments.begin(), arguments.end(), name) != arguments.end();
  };
  if (wanted("lister_storm")) kgen::bench::CompareListerReads();
  if (wanted("longest_task")) kgen::bench::MeasureLongestTasks();
  if (wanted("warm_start")) kgen::bench::MeasureWarmStarts();
  if (wanted("pod_lookup")) kgen::bench::MeasurePodLookups();
  if (wanted("event_cost")) kgen::bench::MeasureEventCosts();
  return 0;
}
