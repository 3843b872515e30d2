// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What /debug plots, in virtual time.
#include "controller/debug/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kgen/testing/simulation.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::SizeIs;

class HistoryTest : public ::testing::Test {
 protected:
  ~HistoryTest() override { history_->Stop(); }
  RateLimitingQueue Queue(std::string name) {
    return RateLimitingQueue({.name = std::move(name), .executor = simulation_.executor(), .measure_durations = true});
  }
  void Advance(Nanos duration) { ASSERT_TRUE(simulation_.Advance(duration)); }
  // One item, which takes so long.
  void Process(const RateLimitingQueue& queue, Nanos duration) {
    queue.Add(ObjectKey("default", "a"));
    simulation_.Spawn([this, queue, duration]() -> Result<void> {
      const auto item = Must(queue.Get());
      const auto waiter = simulation_.executor()->MakeWaiter("pause");
      const Timer timer = simulation_.clock()->After(duration, TimerKind::kProgress, [waiter] { waiter->Notify(); });
      (void)waiter->Wait();
      queue.Done(item.key);
      return {};
    });
  }
  const std::vector<float>& Samples(const std::vector<DebugPlot>& plots, std::size_t plot, std::size_t line = 0) {
    return plots.at(plot).lines.at(line).samples;
  }
  // The newest ones that are numbers.
  std::vector<float> Known(const std::vector<float>& samples) {
    std::vector<float> known;
    for (const float each : samples) {
      if (!std::isnan(each)) known.push_back(each);
    }
    return known;
  }

  testing::Simulation simulation_{1};
  const Shared<History> history_ = MakeShared<History>(simulation_.executor());
};

TEST_F(HistoryTest, SamplesDepthRateAndDurationEveryFiveSeconds) {
  const RateLimitingQueue queue = Queue("orders");
  history_->Add("orders", queue);
  history_->Start();
  Advance(1s);
  Process(queue, 2s);
  Advance(7s);
  queue.Add(ObjectKey("default", "b"));
  queue.Add(ObjectKey("default", "c"));
  Advance(5s);
  const std::vector<DebugPlot> plots = history_->Plots();
  EXPECT_THAT(Known(Samples(plots, 0)), ElementsAre(0, 0, 2));
  EXPECT_THAT(Known(Samples(plots, 1)), ElementsAre(0.2F, 0));
  EXPECT_THAT(Known(Samples(plots, 2)), ElementsAre(2));
  EXPECT_THAT(Known(Samples(plots, 3)), ::testing::AllOf(SizeIs(3), Each(Gt(1e5))));
  EXPECT_EQ(plots[0].step, 5s);
}

TEST_F(HistoryTest, HasTheRatesOfTheLastMinute) {
  const RateLimitingQueue queue = Queue("orders");
  history_->Add("orders", queue);
  EXPECT_EQ(history_->RatesOf("orders").adds, std::nullopt);
  history_->Start();
  Advance(1s);
  Process(queue, 2s);
  queue.Add(ObjectKey("default", "b"));
  queue.Add(ObjectKey("default", "c"));
  Advance(1min);
  EXPECT_NEAR(history_->RatesOf("orders").adds.value(), 3.0 / 60, 1e-6);
  EXPECT_NEAR(history_->RatesOf("orders").calls.value(), 1.0 / 60, 1e-6);
  Advance(1min);
  EXPECT_EQ(history_->RatesOf("orders").adds, 0);
  EXPECT_EQ(history_->RatesOf("another").adds, std::nullopt);
}

TEST_F(HistoryTest, KeepsTenMinutesOfEachPlot) {
  const RateLimitingQueue queue = Queue("orders");
  history_->Add("orders", queue);
  history_->Start();
  Advance(20min);
  queue.Add(ObjectKey("default", "b"));
  Advance(10min - 5s);
  EXPECT_THAT(Samples(history_->Plots(), 0), SizeIs(History::kSamples));
  EXPECT_EQ(Samples(history_->Plots(), 0).front(), 0);
  EXPECT_EQ(Samples(history_->Plots(), 0)[1], 1);
  Advance(5s);
  EXPECT_THAT(Samples(history_->Plots(), 0), Each(1));
}

TEST_F(HistoryTest, AControllerThatComesLaterHasNoSamplesBefore) {
  history_->Start();
  Advance(20s);
  history_->Add("orders", Queue("orders"));
  Advance(10s);
  EXPECT_THAT(Known(Samples(history_->Plots(), 0)), ElementsAre(0, 0));
  EXPECT_THAT(Known(Samples(history_->Plots(), 3)), SizeIs(7));
}

TEST_F(HistoryTest, SaysHowManyControllersAreNotPlotted) {
  for (std::size_t i = 0; i < History::kMostControllers + 3; ++i) {
    EXPECT_EQ(history_->Plots().front().note, "");
    history_->Add("orders", Queue("orders"));
    if (i >= History::kMostControllers) break;
  }
  history_->Add("orders", Queue("orders"));
  history_->Add("orders", Queue("orders"));
  EXPECT_THAT(history_->Plots().front().lines, SizeIs(History::kMostControllers));
  EXPECT_EQ(history_->Plots().front().note, "3 more controllers are not plotted");
}

TEST_F(HistoryTest, TakesNoSampleAfterItsEnd) {
  history_->Start();
  Advance(6s);
  history_->Stop();
  Advance(1min);
  EXPECT_THAT(Known(Samples(history_->Plots(), 3)), SizeIs(2));
}

}  // namespace
}  // namespace kgen::controller
