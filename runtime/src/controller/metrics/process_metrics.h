// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What Prometheus' client libraries tell of every process, under their names.
#ifndef KGEN_SRC_CONTROLLER_METRICS_PROCESS_METRICS_H_
#define KGEN_SRC_CONTROLLER_METRICS_PROCESS_METRICS_H_

#include <optional>
#include <vector>

#include "kgen/controller/metrics.h"

namespace kgen::controller {

// Reads /proc of this process: any thread, for some ten microseconds. What cannot be read is left out.
std::vector<MetricFamily> ProcessFamilies();

// process_resident_memory_bytes alone; nothing if it cannot be read.
std::optional<double> ResidentBytes();

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_METRICS_PROCESS_METRICS_H_
