// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/queue_metrics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
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

// Formats a number independently of the locale.
std::string Number(double value) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 12);
  return {text, written.ptr};
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

class Text {
 public:
  void Family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
  }
  void Sample(const WorkQueueMetrics& queue, double value, std::string_view suffix = {},
              const std::string& label = {}) {
    const std::string name = Quoted(queue.name);
    text_.append(name_).append(suffix).append("{controller=").append(name).append(",name=").append(name);
    if (!label.empty()) text_.append(",").append(label);
    text_.append("} ").append(Number(value)).append("\n");
  }
  void Histogram(const WorkQueueMetrics& queue, const DurationHistogram& histogram) {
    std::uint64_t upto = 0;
    for (std::size_t i = 0; i <= DurationHistogram::kBounds; ++i) {
      upto += histogram.buckets[i];
      const std::string bound = i < DurationHistogram::kBounds ? Number(DurationHistogram::UpperBound(i)) : "+Inf";
      Sample(queue, static_cast<double>(upto), "_bucket", "le=\"" + bound + "\"");
    }
    Sample(queue, histogram.sum, "_sum");
    Sample(queue, static_cast<double>(upto), "_count");
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  std::string_view name_;
};

}  // namespace

double DurationHistogram::UpperBound(std::size_t bucket) noexcept {
  double bound = Seconds(kFirstBound);
  for (std::size_t i = 0; i < bucket; ++i) bound *= 10;
  return bound;
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

std::string PrometheusText(std::span<const WorkQueueMetrics> queues) {
  Text text;
  text.Family("workqueue_depth", "gauge", "Current depth of workqueue by workqueue and priority");
  for (const WorkQueueMetrics& queue : queues) {
    for (const auto& [priority, depth] : queue.depth) {
      text.Sample(queue, static_cast<double>(depth), {}, "priority=\"" + std::to_string(priority) + "\"");
    }
  }
  text.Family("workqueue_adds_total", "counter", "Total number of adds handled by workqueue");
  for (const WorkQueueMetrics& queue : queues) text.Sample(queue, static_cast<double>(queue.adds));
  text.Family("workqueue_queue_duration_seconds", "histogram",
              "How long in seconds an item stays in workqueue before being requested");
  for (const WorkQueueMetrics& queue : queues) text.Histogram(queue, queue.queue_duration);
  text.Family("workqueue_work_duration_seconds", "histogram",
              "How long in seconds processing an item from workqueue takes.");
  for (const WorkQueueMetrics& queue : queues) text.Histogram(queue, queue.work_duration);
  text.Family("workqueue_unfinished_work_seconds", "gauge",
              "How many seconds of work has been done that is in progress and has not been observed by work_duration.");
  for (const WorkQueueMetrics& queue : queues) text.Sample(queue, Seconds(queue.unfinished_work));
  text.Family("workqueue_longest_running_processor_seconds", "gauge",
              "How many seconds has the longest running processor for workqueue been running.");
  for (const WorkQueueMetrics& queue : queues) text.Sample(queue, Seconds(queue.longest_running));
  text.Family("workqueue_retries_total", "counter", "Total number of retries handled by workqueue");
  for (const WorkQueueMetrics& queue : queues) text.Sample(queue, static_cast<double>(queue.retries));
  return text.Take();
}

}  // namespace kgen
