// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/metrics/informer_metrics.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cache/store/version_number.h"
#include "kgen/core/clock.h"

namespace kgen::controller {
namespace {

double Seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

using Labels = std::vector<MetricLabel>;

// One family while its samples are collected. Samples with equal labels become one.
class Family {
 public:
  using Join = double (*)(double, double);
  static double Sum(double a, double b) { return a + b; }
  static double Most(double a, double b) { return std::max(a, b); }
  static double Least(double a, double b) { return std::min(a, b); }

  Family(std::string_view name, std::string_view help, MetricType type, Join join)
      : family_{.name = std::string(name), .help = std::string(help), .type = type}, join_(join) {}

  void Add(Labels labels, double value) {
    const auto [at, added] = samples_.try_emplace(std::move(labels), value);
    if (!added) at->second = join_(at->second, value);
  }
  MetricFamily Take() {
    for (const auto& [labels, value] : samples_) family_.samples.push_back({.labels = labels, .value = value});
    return std::move(family_);
  }

 private:
  MetricFamily family_;
  Join join_;
  std::map<Labels, double> samples_;
};

class FamilyBuilder {
 public:
  void Add(const std::string& manager, const cache::InformerStatus& status) {
    const Labels labels = {{"informer", status.name}, {"kind", status.kind}, {"manager", manager}};
    objects_.Add(labels, static_cast<double>(status.objects));
    object_bytes_.Add(labels, static_cast<double>(status.object_bytes));
    refused_.Add(labels, static_cast<double>(status.refused));
    synced_.Add(labels, status.synced ? 1 : 0);
    stale_.Add(labels, status.stale ? 1 : 0);
    failing_.Add(labels, status.failures);
    if (const std::optional<std::uint64_t> version = cache::VersionNumber(status.resource_version)) {
      version_.Add(labels, static_cast<double>(*version));
    }
    if (status.age) age_.Add(labels, Seconds(*status.age));
    lists_.Add(labels, static_cast<double>(status.lists));
    watches_.Add(labels, static_cast<double>(status.watches));
    events_.Add(labels, static_cast<double>(status.events));
    for (std::size_t i = 0; i < status.failure_counts.size(); ++i) {
      const auto count = static_cast<double>(status.failure_counts[i]);
      if (count > 0) failures_.Add(With(labels, {"code", std::string(ToString(static_cast<Code>(i)))}), count);
    }
    for (const cache::HandlerStatus& each : status.handlers) AddHandler(With(labels, {"handler", each.name}), each);
  }

  std::vector<MetricFamily> Take() {
    std::vector<MetricFamily> families;
    for (Family* each :
         {&objects_, &object_bytes_, &refused_, &synced_, &stale_, &failing_, &version_, &age_, &lists_, &watches_,
          &events_, &failures_, &backlog_, &backlog_bytes_, &backlog_age_, &calls_, &slow_calls_, &time_, &running_}) {
      families.push_back(each->Take());
    }
    return families;
  }

 private:
  static Labels With(Labels labels, MetricLabel more) {
    labels.push_back(std::move(more));
    return labels;
  }
  void AddHandler(const Labels& labels, const cache::HandlerStatus& handler) {
    backlog_.Add(labels, static_cast<double>(handler.backlog));
    backlog_bytes_.Add(labels, static_cast<double>(handler.backlog_bytes));
    backlog_age_.Add(labels, Seconds(handler.backlog_age));
    calls_.Add(labels, static_cast<double>(handler.calls));
    slow_calls_.Add(labels, static_cast<double>(handler.slow_calls));
    time_.Add(labels, Seconds(handler.time));
    running_.Add(labels, Seconds(handler.running));
  }

  static constexpr MetricType kGauge = MetricType::kGauge, kCounter = MetricType::kCounter;
  Family objects_{"kgen_informer_objects", "Objects in the cache", kGauge, Family::Sum};
  Family object_bytes_{"kgen_informer_object_bytes", "Bytes of the objects in the cache, estimated from a sample",
                       kGauge, Family::Sum};
  Family refused_{"kgen_informer_refused_objects", "Objects whose newest state could not be decoded", kGauge,
                  Family::Sum};
  Family synced_{"kgen_informer_synced", "1 if the cache has been complete once, else 0", kGauge, Family::Least};
  Family stale_{"kgen_informer_stale", "1 if the cache has a saved state that is not known to be current, else 0",
                kGauge, Family::Most};
  Family failing_{"kgen_informer_consecutive_failures", "Failures in a row that keep the cache from being current",
                  kGauge, Family::Most};
  Family version_{"kgen_informer_resource_version", "The resource version that the informer has reached", kGauge,
                  Family::Least};
  Family age_{"kgen_informer_age_seconds", "How long ago the cache was last known to be current", kGauge, Family::Most};
  Family lists_{"kgen_informer_lists_total", "Lists that were started", kCounter, Family::Sum};
  Family watches_{"kgen_informer_watches_total", "Watches that were opened", kCounter, Family::Sum};
  Family events_{"kgen_informer_events_total", "Events that watches have brought, without bookmarks", kCounter,
                 Family::Sum};
  Family failures_{"kgen_informer_failures_total", "Lists and watches that failed, by code", kCounter, Family::Sum};
  Family backlog_{"kgen_informer_handler_backlog", "Events that wait for the handler", kGauge, Family::Sum};
  Family backlog_bytes_{"kgen_informer_handler_backlog_bytes", "Bytes that only the waiting events keep in memory",
                        kGauge, Family::Sum};
  Family backlog_age_{"kgen_informer_handler_backlog_age_seconds", "For how long the oldest waiting event has waited",
                      kGauge, Family::Most};
  Family calls_{"kgen_informer_handler_calls_total", "Calls of the handler that have ended", kCounter, Family::Sum};
  Family slow_calls_{"kgen_informer_handler_slow_calls_total", "Calls of the handler that took more than 100 ms",
                     kCounter, Family::Sum};
  Family time_{"kgen_informer_handler_seconds_total", "How long all calls of the handler took together", kCounter,
               Family::Sum};
  Family running_{"kgen_informer_handler_running_seconds", "How long the running call has been running; 0 without one",
                  kGauge, Family::Most};
};

}  // namespace

std::vector<MetricFamily> InformerFamilies(const std::vector<InformerSource>& sources) {
  FamilyBuilder families;
  for (const InformerSource& source : sources) {
    for (const cache::InformerStatus& status : source.read()) families.Add(source.manager, status);
  }
  return families.Take();
}

}  // namespace kgen::controller
