// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue without workers: what it hands out, when, and in which order. On an executor whose time the test moves.
#include "kgen/controller/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/manual_executor.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class WorkQueueTest : public ::testing::Test {
 protected:
  using Queue = WorkQueue<std::string>;

  Queue Make(WorkQueueOptions options = {}) {
    options.name = "orders";
    options.executor = executor_;
    return Queue(std::move(options));
  }
  // Everything that is ready, in order.
  static std::vector<std::string> TakeAll(const Queue& queue) {
    std::vector<std::string> keys;
    while (const auto item = queue.TryGet()) {
      keys.push_back(item->key);
      queue.Done(item->key);
    }
    return keys;
  }

  Shared<testing::ManualExecutor> executor_ = MakeShared<testing::ManualExecutor>();
  Queue queue_ = Make({.measure_durations = true});
};

// Contract: controller 72.
TEST_F(WorkQueueTest, HandsOutAKeyOnceHoweverOftenItWasAdded) {
  queue_.Add("a");
  queue_.Add("b");
  queue_.Add("a");
  EXPECT_EQ(queue_.size(), 2u);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a", "b"));
  EXPECT_EQ(queue_.size(), 0u);
}

// Contract: controller 46.
TEST_F(WorkQueueTest, HandsOutAKeyThatWasAddedDuringItsProcessingOnceMoreAfterDone) {
  queue_.Add("a");
  ASSERT_EQ(queue_.TryGet()->key, "a");
  queue_.Add("a");
  queue_.Add("a");
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_FALSE(queue_.TryGet());
  queue_.Done("a");
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
}

TEST_F(WorkQueueTest, IgnoresDoneOfAKeyThatIsNotBeingProcessed) {
  queue_.Done("a");
  queue_.Add("a");
  queue_.Done("a");
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
  queue_.Done("a");
  EXPECT_FALSE(queue_.TryGet());
}

// Contract: controller 72.
TEST_F(WorkQueueTest, KeepsTheHigherPriorityOfTwoAdditions) {
  queue_.Add("a", {.priority = 5});
  queue_.Add("a", {.priority = 1});
  EXPECT_EQ(queue_.TryGet()->priority, 5);
  queue_.Done("a");
  queue_.Add("a", {.priority = 1});
  queue_.Add("a", {.priority = 5});
  EXPECT_EQ(queue_.TryGet()->priority, 5);
  // Additions during processing combine as well.
  queue_.Add("a", {.priority = 2});
  queue_.Add("a", {.priority = 3});
  queue_.Done("a");
  EXPECT_EQ(queue_.TryGet()->priority, 3);
}

// Contract: controller 73.
TEST_F(WorkQueueTest, HandsOutTheHighestPriorityFirstAndEachPriorityInOrder) {
  queue_.Add("low 1", {.priority = kLowPriority});
  queue_.Add("normal 1");
  queue_.Add("high 1", {.priority = 7});
  queue_.Add("low 2", {.priority = kLowPriority});
  queue_.Add("normal 2");
  queue_.Add("high 2", {.priority = 7});
  EXPECT_THAT(TakeAll(queue_), ElementsAre("high 1", "high 2", "normal 1", "normal 2", "low 1", "low 2"));
}

// Contract: controller 74.
TEST_F(WorkQueueTest, PutsAnItemWhosePriorityIsRaisedAtTheEndOfTheHigherOne) {
  queue_.Add("a", {.priority = kLowPriority});
  queue_.Add("b");
  queue_.Add("c");
  queue_.Add("a");
  EXPECT_THAT(TakeAll(queue_), ElementsAre("b", "c", "a"));
}

TEST_F(WorkQueueTest, HandsOutTheLongestWaitingItemEverySixteenthTime) {
  queue_.Add("old", {.priority = kLowPriority});
  std::vector<std::string> taken;
  for (int i = 0; i < 40 && !std::count(taken.begin(), taken.end(), "old"); ++i) {
    queue_.Add("new");
    taken.push_back(queue_.TryGet()->key);
    queue_.Done(taken.back());
  }
  EXPECT_EQ(taken.size(), 16u);
  EXPECT_EQ(taken.back(), "old");
}

// Contract: controller 71, 109.
TEST_F(WorkQueueTest, IsFirstInFirstOutWithoutPriorities) {
  const Queue queue = Make({.priorities = false});
  queue.Add("a", {.priority = kLowPriority});
  queue.Add("b", {.priority = 7});
  queue.Add("c");
  EXPECT_THAT(TakeAll(queue), ElementsAre("a", "b", "c"));
}

// Contract: controller 75.
TEST_F(WorkQueueTest, NeitherCountsNorHandsOutAnItemBeforeItsTime) {
  queue_.AddAfter("a", 2s);
  queue_.AddAfter("b", 1s);
  executor_->Advance(1s - 1ns);
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_FALSE(queue_.TryGet());
  executor_->Advance(1ns);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("b"));
  executor_->Advance(1s);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
}

// Contract: controller 74.
TEST_F(WorkQueueTest, GivesAnItemItsPlaceWhenItBecomesReady) {
  queue_.AddAfter("late", 1s);
  queue_.Add("a", {.after = 1s, .priority = 7});
  queue_.Add("b", {.priority = 7});
  queue_.Add("c");
  executor_->Advance(1s);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("b", "a", "c", "late"));
}

// Contract: controller 72.
TEST_F(WorkQueueTest, KeepsTheEarlierTimeOfTwoDelayedAdditions) {
  queue_.AddAfter("a", 1s);
  queue_.AddAfter("a", 5s);
  queue_.AddAfter("b", 5s);
  queue_.AddAfter("b", 2s);
  executor_->Advance(1s);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
  executor_->Advance(1s);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("b"));
  executor_->Advance(1h);
  EXPECT_FALSE(queue_.TryGet());
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

// Contract: controller 76.
TEST_F(WorkQueueTest, HandsOutADelayedItemAtOnceThatIsAddedAgainWithoutADelayAndCountsItOnce) {
  queue_.AddAfter("a", 1h);
  queue_.Add("a");
  EXPECT_EQ(queue_.metrics().adds, 1u);
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
  executor_->Advance(2h);
  EXPECT_FALSE(queue_.TryGet());
  EXPECT_EQ(queue_.metrics().adds, 1u);
}

TEST_F(WorkQueueTest, HoldsBackADelayedItemThatBecomesReadyDuringItsProcessing) {
  queue_.Add("a");
  ASSERT_TRUE(queue_.TryGet());
  queue_.AddAfter("a", 1s);
  executor_->Advance(2s);
  EXPECT_FALSE(queue_.TryGet());
  queue_.Done("a");
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
}

TEST_F(WorkQueueTest, TakesADelayOfZeroOrLessAsNoneAndTheLongestOneAsNever) {
  queue_.AddAfter("a", 0s);
  queue_.AddAfter("b", -1s);
  queue_.AddAfter("c", Nanos::max());
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a", "b"));
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  executor_->Advance(24h);
  EXPECT_FALSE(queue_.TryGet());
  queue_.AddAfter("c", 1s);
  executor_->Advance(1s);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("c"));
}

TEST_F(WorkQueueTest, MakesThousandsOfItemsReadyInShortTasks) {
  for (int i = 0; i < 2000; ++i) queue_.AddAfter(std::to_string(i), 1s);
  executor_->manual_clock()->MoveTo(executor_->clock()->Now() + 1s);
  EXPECT_EQ(queue_.size(), 0u);  // the timer only posts
  executor_->Run();
  ASSERT_EQ(queue_.size(), 2000u);
  const std::vector<std::string> taken = TakeAll(queue_);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(taken[static_cast<std::size_t>(i)], std::to_string(i));
}

// Contract: controller 77, 81.
TEST_F(WorkQueueTest, DelaysAnItemTwiceAsLongAfterEachFailureUntilItIsForgotten) {
  for (const Nanos expected : {5ms, 10ms, 20ms, 40ms}) {
    queue_.AddRateLimited("a");
    executor_->Advance(expected - 1ns);
    EXPECT_FALSE(queue_.TryGet());
    executor_->Advance(1ns);
    EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
  }
  EXPECT_EQ(queue_.NumRequeues("a"), 4);
  EXPECT_EQ(queue_.NumRequeues("b"), 0);
  queue_.Forget("a");
  EXPECT_EQ(queue_.NumRequeues("a"), 0);
  queue_.AddRateLimited("a");
  executor_->Advance(5ms);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
}

TEST_F(WorkQueueTest, KeepsAQueuedItemThatIsForgotten) {
  queue_.AddRateLimited("a");
  queue_.Forget("a");
  queue_.Add("b");
  queue_.Forget("b");
  executor_->Advance(5ms);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("b", "a"));
}

// Contract: controller 82.
TEST_F(WorkQueueTest, WaitsForTheShorterOfADelayAndTheRateLimit) {
  queue_.Add("a", {.after = 1ms, .rate_limited = true});
  queue_.Add("b", {.after = 1h, .rate_limited = true});
  executor_->Advance(1ms);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a"));
  executor_->Advance(4ms);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("b"));
}

TEST_F(WorkQueueTest, TakesAZeroDelayForNoneAndOneOfNeverForTheNextAddition) {
  queue_.Add("zero", {.after = 0s, .rate_limited = true});
  queue_.Add("never", {.after = kNever});
  executor_->Advance(1000h);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("zero"));
  queue_.Add("never");
  EXPECT_THAT(TakeAll(queue_), ElementsAre("never"));
}

TEST_F(WorkQueueTest, ReportsANegativeDelayAndTakesItForZero) {
  struct Told final : Observer {
    void OnLogged(const Logged& e) override {
      EXPECT_EQ(e.level, LogLevel::kWarning);
      lines.push_back(std::string(e.source) + " " + std::string(e.key) + ": " + std::string(e.message));
    }
    std::vector<std::string> lines;
  };
  const auto told = MakeShared<Told>();
  const Queue queue = Make({.observer = told});
  queue.Add("a", {.after = -1s});
  queue.Add("b", {.after = -1s, .rate_limited = true});
  EXPECT_THAT(TakeAll(queue), ElementsAre("a", "b"));
  EXPECT_THAT(told->lines, ElementsAre(HasSubstr("orders a: the option `after` of an addition is -1s"), _));
}

// Contract: controller 81.
TEST_F(WorkQueueTest, LimitsTheRetriesOfAllItemsTogetherOnlyWithoutPriorities) {
  const Queue fifo = Make({.priorities = false});
  for (int i = 0; i < 101; ++i) {
    queue_.AddRateLimited(std::to_string(i));
    fifo.AddRateLimited(std::to_string(i));
  }
  executor_->Advance(5ms);
  EXPECT_EQ(queue_.size(), 101u);
  EXPECT_EQ(fifo.size(), 100u);
  executor_->Advance(95ms);
  EXPECT_EQ(fifo.size(), 101u);
}

// Contract: controller 82.
TEST_F(WorkQueueTest, CountsTheFailuresOfEachItemAlone) {
  for (const char* key : {"a", "b", "c"}) queue_.AddRateLimited(key);
  executor_->Advance(5ms);
  EXPECT_THAT(TakeAll(queue_), ElementsAre("a", "b", "c"));
}

// Contract: controller 78.
TEST_F(WorkQueueTest, DropsItsItemsAndIgnoresAdditionsAfterShutDown) {
  queue_.Add("taken");
  ASSERT_TRUE(queue_.TryGet());
  queue_.Add("taken");
  queue_.Add("a");
  queue_.AddAfter("b", 1s);
  queue_.AddRateLimited("c");
  queue_.ShutDown();
  EXPECT_TRUE(queue_.ShuttingDown());
  queue_.Add("d");
  queue_.AddRateLimited("e");
  queue_.Done("taken");
  executor_->Advance(1h);
  EXPECT_FALSE(queue_.TryGet());
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  EXPECT_EQ(queue_.Get().error().code(), Code::kStopped);
}

TEST_F(WorkQueueTest, IsShutDownWhenItsLastHandleGoes) {
  {
    const Queue queue = Make();
    const Queue copy = queue;
    copy.AddAfter("a", 1h);
    EXPECT_EQ(executor_->manual_clock()->armed(), 1u);
  }
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

TEST_F(WorkQueueTest, MeasuresDurationsOnlyIfItsOptionsSaySo) {
  for (const bool measured : {false, true}) {
    SCOPED_TRACE(measured);
    const Queue queue = Make({.measure_durations = measured});
    EXPECT_EQ(queue.metrics().adds, 0u);  // asking changes nothing
    queue.Add("a");
    queue.Add("b");
    executor_->Advance(1s);
    ASSERT_EQ(queue.TryGet()->key, "a");
    ASSERT_EQ(queue.TryGet()->key, "b");
    executor_->Advance(2s);
    queue.Done("a");
    const WorkQueueMetrics metrics = queue.metrics();
    EXPECT_EQ(metrics.adds, 2u);
    EXPECT_EQ(metrics.queue_duration.count(), measured ? 2u : 0u);
    EXPECT_EQ(metrics.queue_duration.sum, measured ? 2 : 0);
    EXPECT_EQ(metrics.work_duration.sum, measured ? 2 : 0);
    EXPECT_EQ(metrics.unfinished_work, measured ? 2s : 0s);
    EXPECT_EQ(metrics.longest_running, measured ? 2s : 0s);
  }
}

// Contract: controller 84.
TEST_F(WorkQueueTest, CountsWhatDashboardsShow) {
  queue_.Add("a", {.priority = kLowPriority});
  queue_.Add("b");
  queue_.Add("c");
  queue_.Add("c");
  queue_.AddRateLimited("d");
  executor_->Advance(2s);
  ASSERT_EQ(queue_.TryGet()->key, "b");
  executor_->Advance(1s);
  ASSERT_EQ(queue_.TryGet()->key, "c");
  executor_->Advance(3s);
  WorkQueueMetrics metrics = queue_.metrics();
  EXPECT_EQ(metrics.name, "orders");
  EXPECT_THAT(metrics.depth, ElementsAre(Pair(0, 1u), Pair(kLowPriority, 1u)));
  EXPECT_EQ(metrics.adds, 4u);
  EXPECT_EQ(metrics.retries, 1u);
  EXPECT_EQ(metrics.queue_duration.count(), 2u);
  EXPECT_DOUBLE_EQ(metrics.queue_duration.sum, 5);
  EXPECT_EQ(metrics.unfinished_work, 7s);
  EXPECT_EQ(metrics.longest_running, 4s);
  EXPECT_EQ(metrics.work_duration.count(), 0u);
  queue_.Done("b");
  queue_.Done("c");
  metrics = queue_.metrics();
  EXPECT_DOUBLE_EQ(metrics.work_duration.sum, 7);
  EXPECT_EQ(metrics.work_duration.buckets[9], 1u + 1u);  // above 1 s, at most 10 s
  EXPECT_EQ(metrics.unfinished_work, 0s);
}

TEST_F(WorkQueueTest, ShowsTheDepthOfTheNormalPriorityEvenIfItIsZero) {
  EXPECT_THAT(queue_.metrics().depth, ElementsAre(Pair(0, 0u)));
  queue_.Add("a", {.priority = kLowPriority});
  queue_.Add("b", {.priority = 7});
  EXPECT_THAT(queue_.metrics().depth, ElementsAre(Pair(7, 1u), Pair(0, 0u), Pair(kLowPriority, 1u)));
  EXPECT_THAT(Must(PrometheusText(FamiliesOf(queue_.metrics()))),
              ::testing::HasSubstr("workqueue_depth{controller=\"orders\",name=\"orders\",priority=\"0\"} 0\n"));
}

TEST_F(WorkQueueTest, HandsOutManyPrioritiesInOrderAndShowsOnlyThoseWithItems) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 15; ++i) queue_.Add(std::to_string(i), {.priority = 1 + i * 7 % 15});
    EXPECT_EQ(queue_.metrics().depth.size(), 16u);
    std::vector<int> priorities;
    for (int i = 0; i < 15; ++i) {
      const auto item = queue_.TryGet();
      ASSERT_TRUE(item);
      queue_.Done(item->key);
      priorities.push_back(item->priority);
    }
    EXPECT_THAT(priorities, ElementsAre(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
    EXPECT_THAT(queue_.metrics().depth, ElementsAre(Pair(0, 0u)));
    queue_.Add("the sixteenth");
    queue_.Done(queue_.TryGet()->key);
  }
}

TEST(ObjectKeyQueueTest, TellsKeysOfEveryLengthApartAndFindsEqualOnesInOtherMemory) {
  const RateLimitingQueue queue({.executor = MakeShared<testing::ManualExecutor>()});
  const auto key = [](std::size_t of_namespace, std::size_t of_name, std::size_t changed) {
    std::string text(of_namespace + of_name, 'a');
    if (changed < text.size()) text[changed] = 'b';
    return ObjectKey(text.substr(0, of_namespace), text.substr(of_namespace));
  };
  std::size_t expected = 0;
  for (std::size_t of_namespace = 0; of_namespace <= 40; of_namespace += of_namespace < 20 ? 1 : 4) {
    for (std::size_t of_name = 1; of_name <= 40; of_name += of_name < 20 ? 1 : 4) {
      for (std::size_t changed = 0; changed <= of_namespace + of_name; ++changed) {
        queue.Add(key(of_namespace, of_name, changed));
        queue.Add(key(of_namespace, of_name, changed));
        ASSERT_EQ(queue.size(), ++expected);
      }
    }
  }
}

TEST(DurationHistogramTest, CountsADurationInTheFirstBucketWhoseBoundItDoesNotExceed) {
  Nanos bound{10};
  for (std::size_t bucket = 0; bucket < DurationHistogram::kBounds; ++bucket, bound *= 10) {
    DurationHistogram histogram;
    histogram.Observe(bound / 10 + Nanos(1));
    histogram.Observe(bound / 2);
    histogram.Observe(bound);
    EXPECT_EQ(histogram.buckets[bucket], 3u) << bound.count();
    histogram.Observe(bound + Nanos(1));
    EXPECT_EQ(histogram.buckets[bucket + 1], 1u) << bound.count();
  }
}

TEST(DurationHistogramTest, AddsUpTheLongestDurationsAndTakesANegativeOneForZero) {
  DurationHistogram histogram;
  histogram.Observe(-1h);
  EXPECT_EQ(histogram.buckets[0], 1u);
  EXPECT_EQ(histogram.sum, 0);
  histogram.Observe(Nanos::max());
  histogram.Observe(Nanos::max());
  EXPECT_DOUBLE_EQ(histogram.sum, 2 * std::chrono::duration<double>(Nanos::max()).count());
  EXPECT_EQ(histogram.count(), 3u);
}

// Contract: controller 209.
TEST_F(WorkQueueTest, WritesItsMetricsUnderTheNamesThatDashboardsKnow) {
  queue_.Add("a");
  queue_.Add("b", {.priority = kLowPriority});
  ASSERT_TRUE(queue_.TryGet());
  executor_->Advance(2s);
  const std::string text = Must(PrometheusText(FamiliesOf(queue_.metrics())));
  for (const char* line : {
           "# TYPE workqueue_depth gauge\nworkqueue_depth{controller=\"orders\",name=\"orders\",priority=\"-100\"} 1\n"
           "workqueue_depth{controller=\"orders\",name=\"orders\",priority=\"0\"} 0\n",
           "# TYPE workqueue_adds_total counter\nworkqueue_adds_total{controller=\"orders\",name=\"orders\"} 2\n",
           "# TYPE workqueue_queue_duration_seconds histogram\nworkqueue_queue_duration_seconds_bucket{controller="
           "\"orders\",name=\"orders\",le=\"1e-08\"} 1\n",
           "workqueue_queue_duration_seconds_bucket{controller=\"orders\",name=\"orders\",le=\"+Inf\"} 1\n",
           "workqueue_queue_duration_seconds_count{controller=\"orders\",name=\"orders\"} 1\n",
           "workqueue_work_duration_seconds_sum{controller=\"orders\",name=\"orders\"} 0\n",
           "workqueue_unfinished_work_seconds{controller=\"orders\",name=\"orders\"} 2\n",
           "workqueue_longest_running_processor_seconds{controller=\"orders\",name=\"orders\"} 2\n",
           "workqueue_retries_total{controller=\"orders\",name=\"orders\"} 0\n",
       }) {
    EXPECT_THAT(text, ::testing::HasSubstr(line));
  }
}

// Contract: controller 214.
TEST(WorkQueueOfKeysTest, TakesAnyKeyThatCanBeComparedAndHashed) {
  const auto executor = MakeShared<testing::ManualExecutor>();
  const WorkQueue<int> numbers({.executor = executor});
  for (int i = 0; i < 1000; ++i) numbers.Add(i * 4096);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(numbers.TryGet()->key, i * 4096);
  const RateLimitingQueue objects({.executor = executor});
  objects.Add({"default", "web-0"});
  EXPECT_EQ(objects.TryGet()->key, ObjectKey("default", "web-0"));
}

}  // namespace
}  // namespace kgen
