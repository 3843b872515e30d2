// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventRecorder on real threads.
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "kgen/controller/event_recorder.h"
#include "kgen/core/executor.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;

struct CountedDrops : Observer {
  void OnEventDropped(const EventDropped& e) override { count += e.count; }
  std::atomic<std::size_t> count = 0;
};

TEST(EventRecorderThreads, CountsEveryEventOfManyThreadsThatRaceWithStop) {
  const auto pool = Must(MakeThreadPool());
  const auto drops = MakeShared<CountedDrops>();
  testing::Cluster cluster({.simulated = false, .observer = drops});
  cluster.AddResource({.group = "events.k8s.io",
                       .version = "v1",
                       .plural = "events",
                       .singular = "event",
                       .kind = "Event",
                       .list_kind = "EventList"});
  for (int round = 0; round < 20; ++round) {
    std::optional<EventRecorder> recorder(std::in_place, cluster.Connection(),
                                          EventRecorderOptions{.controller = "orders"});
    drops->count = 0;
    std::vector<Shared<Waiter>> ended;
    constexpr int kThreads = 4;
    constexpr int kEvents = 300;
    for (int thread = 0; thread < kThreads; ++thread) {
      const auto waiter = ended.emplace_back(pool->MakeWaiter("join"));
      pool->Blocking("record", [recorder = EventRecorder(*recorder), thread, waiter] {
        for (int i = 0; i < kEvents; ++i) {
          const k8s::core::v1::Pod pod{.metadata = {.name = "web-" + std::to_string(i % 7), .namespace_ = "default"}};
          recorder.Event(pod, {.reason = "Started", .action = "Start", .note = std::to_string(i % (thread + 10))});
          (void)recorder.counts();
        }
        waiter->Notify();
      });
    }
    if (round % 2 == 0) {
      for (const auto& waiter : ended) ASSERT_TRUE(waiter->Wait({}, pool->clock()->Now() + 60s));
    }
    const auto stopped = recorder->Stop();
    ASSERT_TRUE(stopped) << stopped;
    if (round % 2 == 1) {
      for (const auto& waiter : ended) ASSERT_TRUE(waiter->Wait({}, pool->clock()->Now() + 60s));
    }
    const EventCounts counts = recorder->counts();
    EXPECT_EQ(counts.recorded, static_cast<std::uint64_t>(kThreads * kEvents));
    EXPECT_EQ(counts.pending(), 0u);
    EXPECT_EQ(counts.dropped(), drops->count);
    EXPECT_EQ(counts.invalid + counts.refused + counts.unavailable, 0u);
    recorder.reset();
  }
}

}  // namespace
}  // namespace kgen
