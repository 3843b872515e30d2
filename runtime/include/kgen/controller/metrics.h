// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Metrics: the counters, gauges and histograms of a process, and their text for Prometheus.
//
//   Metrics::Counter, ::Gauge, ::Histogram --+
//                                            +--> Metrics::Text() --> /metrics (kgen/controller/endpoint.h)
//   collectors, for example of queues ------+
//
//   kgen::Metrics metrics;
//   auto orders = kgen::Must(metrics.AddCounter("shop_orders_total", "Orders by result", {{"result", "paid"}}));
//   orders.Add();
//   metrics.AddCollector([queue] { return kgen::FamiliesOf(queue.metrics()); });
//   std::string body = kgen::Must(metrics.Text());
//
// A series appears in the text, with the value 0, as soon as it was added. Do not make labels from the names of
// objects: every value is a series that stays for as long as the process runs.
#ifndef KGEN_CONTROLLER_METRICS_H_
#define KGEN_CONTROLLER_METRICS_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

class Caches;
class Connection;
class SharedInformerFactory;

// A label of a series.
struct MetricLabel {
  std::string name;  // "controller"
  std::string value;
  friend auto operator<=>(const MetricLabel&, const MetricLabel&) = default;
};

// The types of Prometheus that a family may have.
enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

// The current value of one series.
struct MetricSample {
  std::vector<MetricLabel> labels{};  // in any order
  double value = 0;                   // of a histogram: the sum of what was observed
  // How many values each bucket of a histogram holds, not cumulative. One more than the family has bounds.
  std::vector<std::uint64_t> buckets{};
};

// All series of one name. They have the same label names.
struct MetricFamily {
  std::string name;    // "workqueue_depth"
  std::string help{};  // what it counts, for people
  MetricType type = MetricType::kGauge;
  std::vector<double> bounds{};  // of a histogram: the upper bounds of its buckets, ascending, without infinity
  std::vector<MetricSample> samples{};
};

// Returns the families in Prometheus' text format, version 0.0.4, sorted by name, and the samples of each by their
// labels. Families of the same name are written as one.
// Errors: kInvalidArgument  a name or a label that Prometheus does not accept, two samples with the same labels, or two
//                           families that contradict each other
Result<std::string> PrometheusText(std::span<const MetricFamily> families);

// Returns the bounds that controller-runtime uses for controller_runtime_reconcile_time_seconds: 5 ms to 60 s.
std::span<const double> ReconcileTimeBounds() noexcept;

// A registry of metrics. It is a handle: copies share the registry.
//
// Thread safety: all members from any thread, as all members of the series. None blocks, except for a short lock in the
// functions that add something; changing a series takes no lock.
// Ownership: a series keeps its memory alive, so that it can be used after the registry is gone. A default-constructed
// one counts nothing.
class Metrics {
 public:
  class Counter;
  class Gauge;
  class Histogram;
  // Returns the current values. Text() calls it on its own thread, several threads at once, and without a lock. It may
  // throw, which makes Text() fail.
  using Collector = std::function<std::vector<MetricFamily>()>;

  Metrics();
  // Copied even where it could be moved, so that a handle is never empty.
  Metrics(const Metrics&) = default;
  Metrics& operator=(const Metrics&) = default;
  ~Metrics() = default;

  // Adds a series with the value 0 to the family `name`, and the family if there is none. The series that exists
  // already with these labels is returned again.
  // Errors: kInvalidArgument  a name or a label that Prometheus does not accept; bounds that do not ascend or are not
  //                           finite; a family of that name, or of a name of its histogram's parts (x_bucket, x_sum,
  //                           x_count), that has another type, help, names of labels or bounds
  Result<Counter> AddCounter(std::string_view name, std::string_view help, std::vector<MetricLabel> labels = {});
  Result<Gauge> AddGauge(std::string_view name, std::string_view help, std::vector<MetricLabel> labels = {});
  Result<Histogram> AddHistogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                                 std::vector<MetricLabel> labels = {});

  // Adds a collector, for values that are kept elsewhere. It stays for as long as the registry, and so must everything
  // that it refers to.
  void AddCollector(Collector collector);

  // Adds rest_client_requests_total, which counts the attempts of `connection` by host, method and code ("<error>"
  // without a response). A manager calls it. Does not keep the connection open; calling it twice counts nothing twice.
  void AddRequestsOf(const Connection& connection);

  // Adds what Prometheus' client libraries tell of the process, read from /proc at each scrape
  // (process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds, ...), and kgen_build_info with the
  // version of kgen and of the compiler. A manager calls it; calling it twice counts nothing twice.
  void AddProcess();

  // Adds the metrics of the informers of a factory or of caches, also of those that they make later: kgen_informer_*
  // (docs/reference/metrics.md). A manager adds its own, with its name. `manager` is the label of that name; informers
  // that have all labels in common are one series, with the sums of their counts, so add each factory once. What is
  // added stays in memory as long as the registry, and shows its last state after it was stopped.
  void AddInformersOf(const SharedInformerFactory& factory, std::string_view manager = {});
  void AddInformersOf(const Caches& caches, std::string_view manager = {});

  // Returns the current values of all series. Blocks for as long as the collectors do. Errors: kUserCode  a collector
  // threw an exception
  Result<std::vector<MetricFamily>> Read() const;
  // Returns everything in the format of PrometheusText(). Blocks as Read() does. If some series of a family have the
  // label `cluster` (kgen/controller/clusters.h), the others get it with the value "", which Prometheus treats as none.
  // Errors: kUserCode         a collector threw an exception
  //         kInvalidArgument  what the collectors return contradicts each other or the series, see PrometheusText()
  Result<std::string> Text() const;

 private:
  class State;
  struct Series;
  Shared<State> state_;
};

// A number that only grows.
class Metrics::Counter {
 public:
  Counter() noexcept = default;
  void Add(std::uint64_t n = 1) noexcept;  // lets the number grow by n

 private:
  friend class Metrics;
  explicit Counter(Shared<Series> series) noexcept : series_(std::move(series)) {}
  Shared<Series> series_;
};

// A number that goes up and down.
class Metrics::Gauge {
 public:
  Gauge() noexcept = default;
  void Set(double value) noexcept;       // replaces the number
  void Add(double difference) noexcept;  // may be negative

 private:
  friend class Metrics;
  explicit Gauge(Shared<Series> series) noexcept : series_(std::move(series)) {}
  Shared<Series> series_;
};

// The distribution of many values. The values that are observed while Text() reads the series may be in the sum and not
// yet in a bucket.
class Metrics::Histogram {
 public:
  Histogram() noexcept = default;
  void Observe(double value) noexcept;  // adds a value to the distribution
  void Observe(Nanos duration) noexcept { Observe(std::chrono::duration<double>(duration).count()); }  // in seconds

 private:
  friend class Metrics;
  explicit Histogram(Shared<Series> series) noexcept : series_(std::move(series)) {}
  Shared<Series> series_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_METRICS_H_
