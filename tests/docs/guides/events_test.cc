// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <k8s/events/v1/client.h>
#include <k8s/events/v1/types.h>

#include "tests/docs/guides/guide.h"

using k8s::core::v1::ConfigMap;

namespace guides {
namespace {

// begin event
kgen::Result<void> CheckCurrency(kgen::Request& request) {
  KGEN_TRY(const auto map, request.Get<ConfigMap>());
  if (!map || map->data.contains("currency")) return {};
  request.events().Event(*map, {.type = kgen::EventType::kWarning,
                                .reason = "NoCurrency",
                                .action = "Check",
                                .note = "data.currency is missing; prices cannot be shown"});
  return {};
}
// end event

using EventsGuide = Guide;

TEST_F(EventsGuide, WritesAnEventThatDescribeShows) {
  cluster_.AddResource({.group = "events.k8s.io",
                        .version = "v1",
                        .plural = "events",
                        .singular = "event",
                        .kind = "Event",
                        .list_kind = "EventList"});
  kgen::Must(manager_.Control<ConfigMap>("currencies").Reconcile(CheckCurrency));
  kgen::Must(cluster_.Add(kgen::testing::MinimalObject("v1", "ConfigMap", "default", "shop")));
  Run();
  const auto events = kgen::Must(k8s::events::v1::Client(cluster_.Connection()).Events("default").List());
  ASSERT_EQ(events.items.size(), 1U);
  EXPECT_EQ(events.items[0].reason, "NoCurrency");
}

}  // namespace
}  // namespace guides
