// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <string>

#include "kgen/controller/metrics.h"
#include "tests/docs/guides/guide.h"

using k8s::core::v1::ConfigMap;

namespace guides {
namespace {

// begin metrics
struct MapMetrics {
  kgen::Metrics::Counter checked{};
  kgen::Metrics::Gauge entries{};
};

// `counts` outlives the manager.
kgen::Result<void> AddCountingController(const kgen::Manager& manager, MapMetrics& counts) {
  kgen::Metrics metrics = manager.metrics();  // a handle; /metrics shows what is added here
  KGEN_TRY(counts.checked, metrics.AddCounter("shop_maps_checked_total", "ConfigMaps that were checked."));
  KGEN_TRY(counts.entries, metrics.AddGauge("shop_last_map_entries", "Entries of the last one."));
  return kgen::Discard(
      manager.Control<ConfigMap>("maps").Reconcile([&counts](kgen::Request& request) -> kgen::Result<void> {
        KGEN_TRY(const auto map, request.Get<ConfigMap>());
        if (!map) return {};
        counts.checked.Add();
        counts.entries.Set(static_cast<double>(map->data.size()));
        return {};
      }));
}
// end metrics

using MetricsGuide = Guide;

TEST_F(MetricsGuide, ShowsTheProgramsOwnMetrics) {
  MapMetrics counts;
  kgen::Must(AddCountingController(manager_, counts));
  kgen::Must(cluster_.Add(R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "2"},
      "metadata": {"namespace": "default", "name": "settings"}})"));
  Run();
  const std::string text = kgen::Must(manager_.metrics().Text());
  EXPECT_THAT(text, ::testing::HasSubstr("\nshop_maps_checked_total 1\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\nshop_last_map_entries 2\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("controller_runtime_reconcile_total"));
  Stop();  // before `counts` is gone
}

}  // namespace
}  // namespace guides
