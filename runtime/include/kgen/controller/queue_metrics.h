// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueueMetrics: the metrics of a work queue, under the names that dashboards know from client-go and
// controller-runtime.
//
//   kgen::Metrics metrics;
//   metrics.AddCollector([orders] { return kgen::FamiliesOf(orders.metrics()); });
#ifndef KGEN_CONTROLLER_QUEUE_METRICS_H_
#define KGEN_CONTROLLER_QUEUE_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kgen/controller/metrics.h"
#include "kgen/core/clock.h"

namespace kgen {

// Counts durations in buckets, as a histogram of Prometheus does. Thread safety: as any value.
struct DurationHistogram {
  static constexpr std::size_t kBounds = 12;              // 10 ns, 100 ns, ..., 1000 s
  static double UpperBound(std::size_t bucket) noexcept;  // in seconds

  std::array<std::uint64_t, kBounds + 1> buckets{};  // not cumulative; the last one is without bound
  double sum = 0;                                    // in seconds

  void Observe(Nanos duration) noexcept;  // a negative one counts as zero
  std::uint64_t count() const noexcept;
};

// A snapshot of the metrics of a queue. The comments give the names of the metrics. The durations are zero unless
// WorkQueueOptions::measure_durations is set.
struct WorkQueueMetrics {
  std::string name{};  // the labels `name` and `controller`
  // workqueue_depth, by the label `priority`, highest first: kNormalPriority always, others while they have items. An
  // item that was added while it is being processed counts from the end of that on; client-go counts it at once.
  std::vector<std::pair<int, std::size_t>> depth{};
  std::uint64_t adds = 0;              // workqueue_adds_total: items that became ready
  std::uint64_t retries = 0;           // workqueue_retries_total: additions with a delay
  DurationHistogram queue_duration{};  // workqueue_queue_duration_seconds: from ready to handed out
  DurationHistogram work_duration{};   // workqueue_work_duration_seconds: from handed out to done
  Nanos unfinished_work{};             // workqueue_unfinished_work_seconds: the sum over running work
  Nanos longest_running{};             // workqueue_longest_running_processor_seconds
};

// Returns the metrics as families for PrometheusText() and Metrics::AddCollector(). Queues whose metrics appear in one
// text need different names.
std::vector<MetricFamily> FamiliesOf(const WorkQueueMetrics& queue);

}  // namespace kgen

#endif  // KGEN_CONTROLLER_QUEUE_METRICS_H_
