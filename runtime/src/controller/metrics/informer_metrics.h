// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The metrics of informers, made of their status at each scrape.
#ifndef KGEN_SRC_CONTROLLER_METRICS_INFORMER_METRICS_H_
#define KGEN_SRC_CONTROLLER_METRICS_INFORMER_METRICS_H_

#include <string>
#include <vector>

#include "kgen/cache/informer_status.h"
#include "kgen/controller/metrics.h"
#include "kgen/core/function.h"

namespace kgen::controller {

// Some informers that have one value of the label `manager`.
struct InformerSource {
  std::string manager;
  Function<std::vector<cache::InformerStatus>()> read;
};

// Returns the families kgen_informer_* (docs/reference/metrics.md). Informers with the same labels, such as two that
// keep objects of one kind in different forms, are one series: counts are sums, and of a state the worst is shown. A
// series is absent where an informer has no value yet.
std::vector<MetricFamily> InformerFamilies(const std::vector<InformerSource>& sources);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_METRICS_INFORMER_METRICS_H_
