// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What Prometheus accepts: names, labels and bounds of metric families. Every function fails with kInvalidArgument, and
// the message says which name is wrong and why.
#ifndef KGEN_SRC_CONTROLLER_METRICS_METRIC_NAMES_H_
#define KGEN_SRC_CONTROLLER_METRICS_METRIC_NAMES_H_

#include <string_view>
#include <vector>

#include "kgen/controller/metrics.h"
#include "kgen/core/result.h"

namespace kgen::controller {

// The name, the help text and the bounds of a family.
Result<void> CheckFamily(const MetricFamily& family);
// Sorts the labels of a sample by name, and checks their names and values.
Result<void> SortLabels(const MetricFamily& family, std::vector<MetricLabel>& labels);
// Two families of the same name have the same type, help text and bounds.
Result<void> CheckSame(const MetricFamily& a, const MetricFamily& b);
// Two samples of a family, sorted, have labels of the same names.
Result<void> CheckSameNames(std::string_view family, const std::vector<MetricLabel>& a,
                            const std::vector<MetricLabel>& b);
// Two families of different names: neither has the name of a part of the other one, which is a histogram.
Result<void> CheckDistinct(const MetricFamily& a, const MetricFamily& b);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_METRICS_METRIC_NAMES_H_
