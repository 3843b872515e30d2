// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/metrics.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "client/request/connection_state.h"
#include "client/request/request_counts.h"
#include "controller/metrics/informer_metrics.h"
#include "controller/metrics/metric_names.h"
#include "controller/metrics/process_metrics.h"
#include "core/memory/mutex.h"
#include "kgen/cache/factory.h"
#include "kgen/controller/caches.h"

namespace kgen {
namespace {

// The samples of a family have the same label names.
void NameNoCluster(std::vector<MetricFamily>& families) {
  const auto has = [](const MetricSample& sample) {
    return std::ranges::find(sample.labels, "cluster", &MetricLabel::name) != sample.labels.end();
  };
  std::set<std::string, std::less<>> named;
  for (const MetricFamily& family : families) {
    if (std::ranges::any_of(family.samples, has)) named.insert(family.name);
  }
  for (MetricFamily& family : families) {
    if (!named.contains(family.name)) continue;
    for (MetricSample& sample : family.samples) {
      if (!has(sample)) sample.labels.push_back({"cluster", ""});
    }
  }
}

}  // namespace

// One series. The labels and bounds never change.
struct Metrics::Series : SharedObject {
  Series(std::vector<MetricLabel> of, std::span<const double> upper)
      : labels(std::move(of)),
        bounds(upper.begin(), upper.end()),
        buckets(std::make_unique<std::atomic<std::uint64_t>[]>(bounds.size() + 1)) {}

  const std::vector<MetricLabel> labels;
  const std::vector<double> bounds;
  std::atomic<std::uint64_t> count{0};                          // of a counter
  std::atomic<double> value{0};                                 // of a gauge; the sum of a histogram
  const std::unique_ptr<std::atomic<std::uint64_t>[]> buckets;  // of a histogram
};

void Metrics::Counter::Add(std::uint64_t n) noexcept {
  if (series_) series_->count.fetch_add(n, std::memory_order_relaxed);
}

void Metrics::Gauge::Set(double value) noexcept {
  if (series_) series_->value.store(value, std::memory_order_relaxed);
}

void Metrics::Gauge::Add(double difference) noexcept {
  if (series_) series_->value.fetch_add(difference, std::memory_order_relaxed);
}

void Metrics::Histogram::Observe(double value) noexcept {
  if (!series_) return;
  // NaN is in the last bucket.
  const auto bound = std::ranges::partition_point(series_->bounds, [value](double b) { return !(value <= b); });
  series_->buckets[static_cast<std::size_t>(bound - series_->bounds.begin())].fetch_add(1, std::memory_order_relaxed);
  series_->value.fetch_add(value, std::memory_order_relaxed);
}

class Metrics::State final : public SharedObject {
 public:
  Result<Shared<Series>> Add(MetricFamily family, std::vector<MetricLabel> labels) {
    if (auto valid = controller::CheckFamily(family); !valid) return Fail(valid.error());
    if (auto sorted = controller::SortLabels(family, labels); !sorted) return Fail(sorted.error());
    const MutexLock lock(mutex_);
    const auto found = families_.find(family.name);
    if (found == families_.end()) {
      if (auto distinct = CheckParts(family); !distinct) return Fail(distinct.error());
      auto series = MakeShared<Series>(std::move(labels), family.bounds);
      std::string name = family.name;
      families_.emplace(std::move(name), Family{std::move(family), {series}});
      return series;
    }
    Family& existing = found->second;
    if (auto same = controller::CheckSame(existing.family, family); !same) return Fail(same.error());
    auto names = controller::CheckSameNames(family.name, existing.series.front()->labels, labels);
    if (!names) return Fail(names.error());
    for (const auto& series : existing.series) {
      if (series->labels == labels) return series;
    }
    existing.series.push_back(MakeShared<Series>(std::move(labels), family.bounds));
    return existing.series.back();
  }

  void AddCollector(Collector collector) {
    auto shared = std::make_shared<const Collector>(std::move(collector));
    const MutexLock lock(mutex_);
    collectors_.push_back(std::move(shared));
  }

  void AddProcess() {
    const MutexLock lock(mutex_);
    if (std::exchange(has_process_, true)) return;
    collectors_.push_back(std::make_shared<const Collector>(controller::ProcessFamilies));
  }

  void AddRequests(Shared<client::RequestCounts> requests) {
    const MutexLock lock(mutex_);
    if (std::ranges::find(requests_, requests) == requests_.end()) requests_.push_back(std::move(requests));
  }

  void AddInformers(controller::InformerSource source) {
    const MutexLock lock(mutex_);
    informers_.push_back(std::move(source));
  }

  std::vector<MetricFamily> Informers() {
    std::vector<controller::InformerSource> sources;
    {
      const MutexLock lock(mutex_);
      sources = informers_;
    }
    return controller::InformerFamilies(sources);
  }

  // Connections to the same host are one series.
  std::optional<MetricFamily> Requests() {
    MetricFamily family{.name = "rest_client_requests_total",
                        .help = "Number of HTTP requests, partitioned by status code, method, and host.",
                        .type = MetricType::kCounter};
    std::map<std::vector<MetricLabel>, double> totals;
    {
      const MutexLock lock(mutex_);
      if (requests_.empty()) return std::nullopt;
      for (const auto& requests : requests_) {
        for (const client::RequestCounts::Count& each : requests->Read()) {
          const std::string code = each.status == 0 ? "<error>" : std::to_string(each.status);
          totals[{{"code", code}, {"host", requests->host()}, {"method", each.method}}] +=
              static_cast<double>(each.requests);
        }
      }
    }
    for (const auto& [labels, total] : totals) family.samples.push_back({.labels = labels, .value = total});
    return family;
  }

  std::vector<std::shared_ptr<const Collector>> collectors() {
    const MutexLock lock(mutex_);
    return collectors_;
  }

  std::vector<MetricFamily> Read() {
    std::vector<MetricFamily> families;
    const MutexLock lock(mutex_);
    for (const auto& [name, family] : families_) {
      families.push_back(family.family);
      for (const auto& series : family.series) families.back().samples.push_back(SampleOf(family.family, *series));
    }
    return families;
  }

 private:
  struct Family {
    MetricFamily family;  // without samples
    std::vector<Shared<Series>> series;
  };

  static MetricSample SampleOf(const MetricFamily& family, const Series& series) {
    MetricSample sample{.labels = series.labels};
    if (family.type == MetricType::kCounter) {
      sample.value = static_cast<double>(series.count.load(std::memory_order_relaxed));
      return sample;
    }
    sample.value = series.value.load(std::memory_order_relaxed);
    if (family.type != MetricType::kHistogram) return sample;
    for (std::size_t i = 0; i <= series.bounds.size(); ++i) {
      sample.buckets.push_back(series.buckets[i].load(std::memory_order_relaxed));
    }
    return sample;
  }

  // Fails if a histogram and another family would write the same name.
  Result<void> CheckParts(const MetricFamily& added) KGEN_REQUIRES(mutex_) {
    for (const auto& [name, existing] : families_) {
      if (auto distinct = controller::CheckDistinct(existing.family, added); !distinct) return distinct;
    }
    return {};
  }

  Mutex mutex_;
  std::map<std::string, Family, std::less<>> families_ KGEN_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const Collector>> collectors_ KGEN_GUARDED_BY(mutex_);
  bool has_process_ KGEN_GUARDED_BY(mutex_) = false;
  std::vector<Shared<client::RequestCounts>> requests_ KGEN_GUARDED_BY(mutex_);
  std::vector<controller::InformerSource> informers_ KGEN_GUARDED_BY(mutex_);
};

Metrics::Metrics() : state_(MakeShared<State>()) {}

Result<Metrics::Counter> Metrics::AddCounter(std::string_view name, std::string_view help,
                                             std::vector<MetricLabel> labels) {
  auto series = state_->Add({std::string(name), std::string(help), MetricType::kCounter}, std::move(labels));
  if (!series) return Fail(std::move(series).error());
  return Counter(*std::move(series));
}

Result<Metrics::Gauge> Metrics::AddGauge(std::string_view name, std::string_view help,
                                         std::vector<MetricLabel> labels) {
  auto series = state_->Add({std::string(name), std::string(help), MetricType::kGauge}, std::move(labels));
  if (!series) return Fail(std::move(series).error());
  return Gauge(*std::move(series));
}

Result<Metrics::Histogram> Metrics::AddHistogram(std::string_view name, std::string_view help,
                                                 std::span<const double> bounds, std::vector<MetricLabel> labels) {
  auto series = state_->Add(
      {std::string(name), std::string(help), MetricType::kHistogram, std::vector(bounds.begin(), bounds.end())},
      std::move(labels));
  if (!series) return Fail(std::move(series).error());
  return Histogram(*std::move(series));
}

void Metrics::AddCollector(Collector collector) { state_->AddCollector(std::move(collector)); }

void Metrics::AddProcess() { state_->AddProcess(); }

void Metrics::AddRequestsOf(const Connection& connection) {
  state_->AddRequests(client::ConnectionState::Of(connection)->requests);
}

void Metrics::AddInformersOf(const SharedInformerFactory& factory, std::string_view manager) {
  state_->AddInformers({std::string(manager), factory.StatusReader()});
}

void Metrics::AddInformersOf(const Caches& caches, std::string_view manager) {
  state_->AddInformers({std::string(manager), [caches] { return caches.status(); }});
}

Result<std::vector<MetricFamily>> Metrics::Read() const {
  std::vector<MetricFamily> families = state_->Read();
  if (std::optional<MetricFamily> requests = state_->Requests()) families.push_back(*std::move(requests));
  std::vector<MetricFamily> informers = state_->Informers();
  std::move(informers.begin(), informers.end(), std::back_inserter(families));
  for (const auto& collector : state_->collectors()) {
    try {
      std::vector<MetricFamily> collected = (*collector)();
      std::move(collected.begin(), collected.end(), std::back_inserter(families));
    } catch (const std::exception& thrown) {
      return Fail(Code::kUserCode, std::string("a collector of metrics threw an exception: ") + thrown.what());
    } catch (...) {
      return Fail(Code::kUserCode, "a collector of metrics threw an exception that is not a std::exception");
    }
  }
  return families;
}

Result<std::string> Metrics::Text() const {
  Result<std::vector<MetricFamily>> families = Read();
  if (!families) return Fail(families.error());
  NameNoCluster(*families);
  return PrometheusText(*families);
}

std::span<const double> ReconcileTimeBounds() noexcept {
  static constexpr double kBounds[] = {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
                                       0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
                                       6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
  return kBounds;
}

}  // namespace kgen
