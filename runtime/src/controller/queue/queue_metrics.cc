// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/queue_metrics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>
#include <utility>

namespace kgen {
namespace {

constexpr Nanos kFirstBound{10};

constexpr auto kBoundsInNanos = [] {
  std::array<std::uint64_t, DurationHistogram::kBounds> bounds{};
  std::uint64_t bound = kFirstBound.count();
  for (std::uint64_t& each : bounds) each = std::exchange(bound, bound * 10);
  return bounds;
}();

// By the number of bits of a duration: the bucket of the shortest one with so many bits. The longest one is less than
// ten times as long, so its bucket is the same or the next.
constexpr auto kFirstBuckets = [] {
  std::array<std::uint8_t, 65> first{};
  for (std::size_t bits = 1; bits < first.size(); ++bits) {
    const auto found = std::ranges::lower_bound(kBoundsInNanos, std::uint64_t{1} << (bits - 1));
    first[bits] = static_cast<std::uint8_t>(found - kBoundsInNanos.begin());
  }
  return first;
}();

// Multiplies, because a division takes several times as long.
double Seconds(Nanos duration) { return static_cast<double>(duration.count()) * 1e-9; }

// The families of one queue. Each sample has the labels `controller` and `name`.
class QueueFamilies {
 public:
  explicit QueueFamilies(const std::string& queue) : labels_{{"controller", queue}, {"name", queue}} {}

  void Add(MetricType type, std::string_view name, std::string_view help, double value) {
    Begin(type, name, help).samples.push_back({.labels = labels_, .value = value});
  }
  void AddHistogram(std::string_view name, std::string_view help, const DurationHistogram& histogram) {
    MetricFamily& family = Begin(MetricType::kHistogram, name, help);
    for (std::size_t i = 0; i < DurationHistogram::kBounds; ++i) {
      family.bounds.push_back(DurationHistogram::UpperBound(i));
    }
    family.samples.push_back({.labels = labels_,
                              .value = histogram.sum,
                              .buckets = std::vector(histogram.buckets.begin(), histogram.buckets.end())});
  }
  void AddDepth(const WorkQueueMetrics& queue) {
    MetricFamily& family =
        Begin(MetricType::kGauge, "workqueue_depth", "Current depth of workqueue by workqueue and priority");
    for (const auto& [priority, depth] : queue.depth) {
      family.samples.push_back({.labels = labels_, .value = static_cast<double>(depth)});
      family.samples.back().labels.push_back({"priority", std::to_string(priority)});
    }
  }
  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  MetricFamily& Begin(MetricType type, std::string_view name, std::string_view help) {
    return families_.emplace_back(MetricFamily{std::string(name), std::string(help), type});
  }

  const std::vector<MetricLabel> labels_;
  std::vector<MetricFamily> families_;
};

}  // namespace

double DurationHistogram::UpperBound(std::size_t bucket) noexcept {
  static constexpr double kUpper[kBounds] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
  return kUpper[bucket];
}

void DurationHistogram::Observe(Nanos duration) noexcept {
  // May be negative, because times are read before the queue's lock is taken.
  duration = std::max(duration, Nanos::zero());
  const auto nanos = static_cast<std::uint64_t>(duration.count());
  std::size_t bucket = kFirstBuckets[std::bit_width(nanos)];
  if (bucket < kBounds && nanos > kBoundsInNanos[bucket]) ++bucket;
  ++buckets[bucket];
  sum += Seconds(duration);
}

std::uint64_t DurationHistogram::count() const noexcept {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

std::vector<MetricFamily> FamiliesOf(const WorkQueueMetrics& queue) {
  QueueFamilies families(queue.name);
  families.AddDepth(queue);
  families.Add(MetricType::kCounter, "workqueue_adds_total", "Total number of adds handled by workqueue",
               static_cast<double>(queue.adds));
  families.AddHistogram("workqueue_queue_duration_seconds",
                        "How long in seconds an item stays in workqueue before being requested", queue.queue_duration);
  families.AddHistogram("workqueue_work_duration_seconds",
                        "How long in seconds processing an item from workqueue takes.", queue.work_duration);
  families.Add(MetricType::kGauge, "workqueue_unfinished_work_seconds",
               "How many seconds of work has been done that is in progress and has not been observed by work_duration.",
               Seconds(queue.unfinished_work));
  families.Add(MetricType::kGauge, "workqueue_longest_running_processor_seconds",
               "How many seconds has the longest running processor for workqueue been running.",
               Seconds(queue.longest_running));
  families.Add(MetricType::kCounter, "workqueue_retries_total", "Total number of retries handled by workqueue",
               static_cast<double>(queue.retries));
  return families.Take();
}

}  // namespace kgen
