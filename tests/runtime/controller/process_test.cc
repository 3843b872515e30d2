// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue::Process and Get: workers, retries, stops and drains, over many schedules of the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/controller/terminal_error.h"
#include "kgen/controller/work_queue.h"
#include "kgen/testing/simulation.h"
#include "tests/support/manual_executor.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct Failures : Observer {
  void OnReconcileFailed(const ReconcileFailed& e) override {
    told.push_back(std::string(e.queue) + " " + std::string(e.key) + " #" + std::to_string(e.attempt) + ": " +
                   e.error->message() + (e.terminal ? " (terminal)" : ""));
    delays.push_back(e.retry_in);
  }
  void OnRecovered(const Recovered& e) override { recovered.emplace_back(e.key); }
  std::vector<std::string> told, recovered;
  std::vector<Nanos> delays;
};

// Lives as long as the queue that it belongs to.
struct Witness final : RateLimiter {
  explicit Witness(std::shared_ptr<int> token) : alive(std::move(token)) {}
  Nanos When(int, TimePoint) noexcept override { return {}; }
  const std::shared_ptr<int> alive;
};

class ProcessTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  using Queue = WorkQueue<std::string>;
  using Processed = testing::TaskResult<Result<void>>;

  template <typename F>
  Processed Process(int workers, F reconcile, ProcessOptions options = {}) {
    return simulation_.Spawn([queue = queue_, workers, stop = stop_.get_token(), reconcile, options] {
      return queue.Process(workers, stop, reconcile, options);
    });
  }
  void Run() { ASSERT_TRUE(simulation_.RunUntilIdle()); }
  // Ends Process() and checks that it returned.
  void Stop(const Processed& processed) {
    stop_.request_stop();
    Run();
    ASSERT_TRUE(processed.done());
    EXPECT_TRUE(processed.result()) << processed.result();
  }
  void Pause(Nanos duration = 1ms) {
    const auto waiter = simulation_.executor()->MakeWaiter("pause");
    const Timer timer = simulation_.clock()->After(duration, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    (void)waiter->Wait();
  }

  std::vector<std::string> calls_;
  testing::Simulation simulation_{GetParam()};  // after what the reconcile functions write to
  std::stop_source stop_;
  Shared<Failures> failures_ = MakeShared<Failures>();
  Queue queue_{
      {.name = "orders", .executor = simulation_.executor(), .observer = failures_, .measure_durations = true}};
};

// Contract: controller 62, 263.
TEST_P(ProcessTest, CallsTheFunctionForEachKeyAndHoldsNoThreadWhileIdle) {
  const auto processed = Process(3, [&](const std::string& key) -> Result<void> {
    calls_.push_back(key);
    return {};
  });
  Run();
  EXPECT_EQ(simulation_.census().blocking, 1u);  // Process() itself
  queue_.Add("a");
  queue_.Add("b");
  Run();
  EXPECT_THAT(calls_, UnorderedElementsAre("a", "b"));
  EXPECT_EQ(simulation_.census().blocking, 1u);
  Stop(processed);
  EXPECT_TRUE(queue_.ShuttingDown());
  EXPECT_EQ(simulation_.census().blocking, 0u);
  EXPECT_EQ(simulation_.census().timers, 0u);
}

TEST_P(ProcessTest, ATerminalErrorIsNotTriedAgainBeforeTheNextAddAndIsNoRecovery) {
  const auto processed = Process(1, [&](const std::string& key) -> Result<void> {
    calls_.push_back(key);
    if (calls_.size() == 1 || calls_.size() == 3) return Error(Code::kServer, "not now");
    if (calls_.size() == 2) return TerminalError({Code::kInvalid, "never"});
    return {};
  });
  queue_.Add("a");
  Run();
  EXPECT_THAT(failures_->told, ElementsAre("orders a #1: not now", "orders a #2: never (terminal)"));
  EXPECT_THAT(failures_->recovered, ElementsAre());
  EXPECT_EQ(queue_.NumRequeues("a"), 0);
  queue_.Add("a");
  Run();
  EXPECT_THAT(calls_, ElementsAre("a", "a", "a", "a"));
  EXPECT_THAT(failures_->recovered, ElementsAre("a"));
  Stop(processed);
}

TEST_P(ProcessTest, RunsAsManyCallsAtOnceAsItHasWorkersAndNeverTwoForOneKey) {
  std::set<std::string> running;
  std::size_t most = 0;
  const auto processed = Process(3, [&](const std::string& key) -> Result<void> {
    EXPECT_TRUE(running.insert(key).second) << key << " at two workers";
    most = std::max(most, running.size());
    if (calls_.size() < 50) queue_.Add(key);
    Pause();
    calls_.push_back(key);
    running.erase(key);
    return {};
  });
  for (int i = 0; i < 10; ++i) queue_.Add(std::to_string(i));
  ASSERT_TRUE(simulation_.Advance(100ms));
  EXPECT_EQ(most, 3u);
  EXPECT_GE(calls_.size(), 50u);
  Stop(processed);
}

// Contract: controller 63, 263.
TEST_P(ProcessTest, RetriesAnErrorAfterTheDelayOfTheRateLimiterAndReportsIt) {
  std::vector<TimePoint> times;
  const auto processed = Process(1, [&](const std::string&) -> Result<void> {
    times.push_back(simulation_.clock()->Now());
    if (times.size() < 4) return Fail(Code::kConflict, "the object has been modified");
    return {};
  });
  queue_.Add("a");
  Run();
  ASSERT_EQ(times.size(), 4u);
  EXPECT_EQ(times[1] - times[0], 5ms);
  EXPECT_EQ(times[2] - times[1], 10ms);
  EXPECT_EQ(times[3] - times[2], 20ms);
  EXPECT_EQ(queue_.NumRequeues("a"), 0);
  EXPECT_THAT(failures_->told,
              ElementsAre("orders a #1: the object has been modified", "orders a #2: the object has been modified",
                          "orders a #3: the object has been modified"));
  EXPECT_THAT(failures_->delays, ElementsAre(5ms, 10ms, 20ms));
  EXPECT_EQ(queue_.metrics().retries, 3u);
  Stop(processed);
}

// Contract: controller 57.
TEST_P(ProcessTest, TakesAnExceptionForAnErrorOfThatItemAlone) {
  const auto processed = Process(2, [&](const std::string& key) -> Result<void> {
    calls_.push_back(key);
    if (calls_.size() == 1) throw std::out_of_range("no such line");
    if (calls_.size() == 2) throw 7;
    return {};
  });
  queue_.Add("a");
  Run();
  EXPECT_THAT(calls_, ElementsAre("a", "a", "a"));
  ASSERT_EQ(failures_->told.size(), 2u);
  EXPECT_THAT(failures_->told[0], HasSubstr("the function threw: no such line"));
  EXPECT_THAT(failures_->told[1], HasSubstr("threw something that is not a std::exception"));
  Stop(processed);
}

// Contract: controller 65.
TEST_P(ProcessTest, RunsAnItemAgainAfterTheTimeThatTheFunctionAsksForAndForgetsItsFailures) {
  std::vector<TimePoint> times;
  const auto processed = Process(1, [&](const std::string&) -> Result<Requeue> {
    times.push_back(simulation_.clock()->Now());
    if (times.size() == 1) return Fail(Code::kConflict, "first");
    return Requeue{.after = 10min};
  });
  queue_.AddAfter("never", Nanos::max());
  queue_.Add("a");
  Run();  // does not wait for what repeats forever
  EXPECT_EQ(times.size(), 2u);
  EXPECT_EQ(queue_.NumRequeues("a"), 0);
  ASSERT_TRUE(simulation_.Advance(25min));
  ASSERT_EQ(times.size(), 4u);
  EXPECT_EQ(times[3] - times[2], 10min);
  Stop(processed);
}

TEST_P(ProcessTest, RunsAnItemAgainAtOnceAfterZeroAndNotAfterNever) {
  const auto processed = Process(1, [&](const std::string& key) -> Result<Requeue> {
    calls_.push_back(key);
    if (key == "never") return Requeue::After(kNever);
    return calls_.size() < 3 ? Requeue::After(0s) : Requeue::Done();
  });
  queue_.Add("zero");
  Run();
  queue_.Add("never");
  ASSERT_TRUE(simulation_.Advance(1000h));
  EXPECT_THAT(calls_, ElementsAre("zero", "zero", "zero", "never"));
  Stop(processed);
}

TEST_P(ProcessTest, TakesANegativeDelayForAnErrorOfTheCall) {
  const auto processed = Process(1, [&](const std::string& key) -> Result<Requeue> {
    calls_.push_back(key);
    return calls_.size() == 1 ? Requeue::After(-1s) : Requeue::Done();
  });
  queue_.Add("a");
  Run();
  EXPECT_THAT(calls_, ElementsAre("a", "a"));
  EXPECT_THAT(failures_->told, ElementsAre(HasSubstr("orders a #1: Requeue::after is -1s")));
  EXPECT_EQ(failures_->delays.at(0), 5ms);
  Stop(processed);
}

// Contract: controller 68.
TEST_P(ProcessTest, KeepsThePriorityOfARetriedItemUnlessTheFunctionNamesAnother) {
  int calls = 0;
  const auto processed = Process(1, [&](const std::string& key) -> Result<Requeue> {
    calls_.push_back(key);
    if (key != "a") return Requeue{};
    if (++calls == 1) return Fail(Code::kConflict, "again");
    return Requeue{.after = calls == 2 ? std::optional<Nanos>(5ms) : std::nullopt, .priority = 9};
  });
  queue_.Add("a", {.priority = kLowPriority});
  for (int round = 0; round < 2; ++round) {
    // Becomes ready together with the item.
    queue_.Add("x", {.after = 5ms, .priority = 3});
    ASSERT_TRUE(simulation_.Advance(5ms));
  }
  EXPECT_THAT(calls_, ElementsAre("a", "x", "a", "a", "x"));
  Stop(processed);
}

// Contract: controller 52.
TEST_P(ProcessTest, FinishesTheRunningCallsAndDropsTheRestWhenItIsStopped) {
  const auto processed = Process(2, [&](const std::string& key) -> Result<void> {
    Pause(1s);
    calls_.push_back(key);
    return {};
  });
  for (int i = 0; i < 5; ++i) queue_.Add(std::to_string(i));
  queue_.AddAfter("late", 2s);
  ASSERT_TRUE(simulation_.Advance(500ms));
  stop_.request_stop();
  ASSERT_TRUE(simulation_.Advance(1ms));
  EXPECT_FALSE(processed.done());
  EXPECT_TRUE(queue_.ShuttingDown());
  Run();
  ASSERT_TRUE(processed.done());
  EXPECT_TRUE(processed.result()) << processed.result();
  EXPECT_THAT(calls_, UnorderedElementsAre("0", "1"));
}

// Contract: controller 52.
TEST_P(ProcessTest, StartsNoCallOnceAStopIsRequested) {
  const auto processed = Process(1, [&](const std::string& key) -> Result<void> {
    calls_.push_back(key);
    stop_.request_stop();
    return {};
  });
  for (int i = 0; i < 5; ++i) queue_.Add(std::to_string(i));
  Run();
  EXPECT_THAT(calls_, ElementsAre("0"));
  Stop(processed);
}

// Contract: controller 79.
TEST_P(ProcessTest, EndsADrainFromElsewhereWhenItIsStopped) {
  const auto processed = Process(1, [&](const std::string& key) -> Result<void> {
    Pause(1s);
    calls_.push_back(key);
    return {};
  });
  for (int i = 0; i < 5; ++i) queue_.Add(std::to_string(i));
  ASSERT_TRUE(simulation_.Advance(500ms));
  const auto drained = simulation_.Spawn([&] { return queue_.ShutDownWithDrain(); });
  ASSERT_TRUE(simulation_.Advance(1s));
  EXPECT_FALSE(processed.done());
  Stop(processed);
  EXPECT_THAT(calls_, ElementsAre("0", "1"));
  ASSERT_TRUE(drained.done());
  EXPECT_TRUE(drained.result()) << drained.result();
}

TEST_P(ProcessTest, LeavesTheKeyOfARunningCallToItsWorkerWhoeverCallsDone) {
  const auto processed = Process(2, [&](const std::string& key) -> Result<void> {
    calls_.push_back(key);
    queue_.Done(key);
    if (calls_.size() == 1) queue_.Add(key);
    EXPECT_FALSE(queue_.TryGet()) << "handed out twice";
    queue_.Forget(key);
    Pause();
    EXPECT_EQ(key, "a");
    return {};
  });
  queue_.Add("a");
  Run();
  EXPECT_THAT(calls_, ElementsAre("a", "a"));
  EXPECT_EQ(queue_.metrics().work_duration.count(), 2u);
  Stop(processed);
}

TEST_P(ProcessTest, CountsHowLongEachItemWaitedForTheWorkerAndHowLongItTook) {
  int tries = 0;
  const auto processed = Process(1, [&](const std::string& key) -> Result<void> {
    Pause(1s);
    if (key == "b" && ++tries == 1) return Fail(Code::kConflict, "again");
    return {};
  });
  for (const char* key : {"a", "b", "c"}) queue_.Add(key);
  Run();
  const WorkQueueMetrics metrics = queue_.metrics();
  EXPECT_DOUBLE_EQ(metrics.work_duration.sum, 4);
  EXPECT_NEAR(metrics.queue_duration.sum, 0 + 1 + 2 + 1, 0.01);  // the last one comes back after 5 ms of back-off
  Stop(processed);
}

// Contract: controller 79.
TEST_P(ProcessTest, FinishesWhatIsReadyWhenItIsStoppedWithADrain) {
  const auto processed = Process(2,
                                 [&](const std::string& key) -> Result<void> {
                                   Pause(1s);
                                   calls_.push_back(key);
                                   return Fail(Code::kConflict, "again");
                                 },
                                 {.drain = true});
  for (int i = 0; i < 5; ++i) queue_.Add(std::to_string(i));
  queue_.AddAfter("late", 2s);
  ASSERT_TRUE(simulation_.Advance(500ms));
  queue_.Add("0");  // held back, and so part of what is ready
  stop_.request_stop();
  ASSERT_TRUE(simulation_.Advance(1ms));
  queue_.Add("ignored");
  Run();
  ASSERT_TRUE(processed.done());
  EXPECT_TRUE(processed.result()) << processed.result();
  EXPECT_THAT(calls_, UnorderedElementsAre("0", "1", "2", "3", "4", "0"));
  EXPECT_EQ(simulation_.census().timers, 0u);
}

TEST_P(ProcessTest, EndsWhenTheQueueIsShutDownFromElsewhere) {
  const auto processed = Process(1, [&](const std::string&) -> Result<void> {
    queue_.ShutDown();
    return {};
  });
  queue_.Add("a");
  Run();
  ASSERT_TRUE(processed.done());
  EXPECT_TRUE(processed.result()) << processed.result();
  EXPECT_EQ(queue_.Process(1, {}, [](const std::string&) { return Result<void>(); }).error().code(), Code::kStopped);
}

TEST_P(ProcessTest, DestroysTheFunctionBeforeItReturns) {
  const auto alive = std::make_shared<int>();
  const auto processed = Process(1, [alive](const std::string&) { return Result<void>(); });
  queue_.Add("a");
  Run();
  Stop(processed);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_P(ProcessTest, DestroysAFunctionThatHoldsTheQueueAndThenTheQueue) {
  const auto alive = std::make_shared<int>();
  const auto processed = [&] {
    const Queue queue({.executor = simulation_.executor(), .rate_limiter = MakeShared<Witness>(alive)});
    auto result = simulation_.Spawn([queue, stop = stop_.get_token()] {
      return queue.Process(1, stop, [queue](const std::string&) { return Result<void>(); });
    });
    queue.Add("a");
    return result;
  }();
  Run();
  EXPECT_EQ(alive.use_count(), 2);
  Stop(processed);
  EXPECT_EQ(alive.use_count(), 1);
}

// Contract: controller 50.
TEST_P(ProcessTest, RefusesNoWorkersAndASecondCall) {
  const auto nothing = [](const std::string&) { return Result<void>(); };
  EXPECT_EQ(queue_.Process(0, {}, nothing).error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(queue_.ShuttingDown());
  const auto processed = Process(1, nothing);
  Run();
  const Result<void> second = queue_.Process(1, {}, nothing);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().ToString(), HasSubstr("process work queue orders: another Process() of this queue runs"));
  Stop(processed);
}

TEST_P(ProcessTest, ReportsThatNothingCanHappenAnyMore) {
  const Result<void> processed = queue_.Process(1, {}, [](const std::string&) { return Result<void>(); });
  EXPECT_EQ(processed.error().code(), Code::kDeadlock);
  EXPECT_TRUE(queue_.ShuttingDown());
}

TEST_P(ProcessTest, ShutsDownAndDestroysTheFunctionEvenIfADrainCannotEnd) {
  const auto alive = std::make_shared<int>();
  queue_.Add("a");
  ASSERT_TRUE(queue_.TryGet());  // and never done
  stop_.request_stop();
  const auto processed =
      queue_.Process(1, stop_.get_token(), [alive](const std::string&) { return Result<void>(); }, {.drain = true});
  ASSERT_FALSE(processed);
  EXPECT_EQ(processed.error().code(), Code::kDeadlock);
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_TRUE(queue_.ShutDownWithDrain()) << "the queue still drains";
}

TEST_P(ProcessTest, LetsTheLastCallDestroyTheFunctionThatItCouldNotWaitFor) {
  const auto alive = std::make_shared<int>();
  const auto blocked = simulation_.executor()->MakeWaiter("for ever");
  queue_.Add("a");
  queue_.Add("b");
  const auto processed = queue_.Process(1, {}, [this, queue = queue_, alive, blocked](const std::string& key) {
    calls_.push_back(key);
    return blocked->Wait();
  });
  ASSERT_FALSE(processed);
  EXPECT_EQ(processed.error().code(), Code::kDeadlock);
  EXPECT_EQ(alive.use_count(), 2);
  EXPECT_FALSE(queue_.Process(1, {}, [](const std::string&) { return Result<void>(); }));
  blocked->Notify();
  Run();
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_THAT(calls_, ElementsAre("a"));
}

TEST_P(ProcessTest, KeepsTheQueueForABlockedCallWhoseHandleGoes) {
  enum class Call : std::uint8_t { kGet, kProcess, kDrain };
  for (const Call call : {Call::kGet, Call::kProcess, Call::kDrain}) {
    const auto alive = std::make_shared<int>();
    std::optional<Queue> queue(
        WorkQueueOptions{.executor = simulation_.executor(), .rate_limiter = MakeShared<Witness>(alive)});
    queue->Add("a");
    const auto taken = queue->TryGet();
    const auto blocked = simulation_.Spawn([&]() -> Result<void> {
      if (call == Call::kGet) return Discard(queue->Get());
      if (call == Call::kDrain) return queue->ShutDownWithDrain();
      return queue->Process(1, {}, [](const std::string&) { return Result<void>(); });
    });
    Run();
    ASSERT_FALSE(blocked.done());
    queue.reset();
    EXPECT_EQ(alive.use_count(), 2);
    Run();
    ASSERT_TRUE(blocked.done());
    EXPECT_EQ(blocked.result().has_value(), call != Call::kGet);
    EXPECT_EQ(alive.use_count(), 1);
  }
}

// Contract: controller 78.
TEST_P(ProcessTest, EndsEveryBlockedGetWhenItIsShutDown) {
  std::vector<testing::TaskResult<Result<Queue::Item>>> gets;
  for (int i = 0; i < 3; ++i) gets.push_back(simulation_.Spawn([&] { return queue_.Get(); }));
  Run();
  for (const auto& get : gets) EXPECT_FALSE(get.done());
  queue_.Add("a");
  Run();
  EXPECT_EQ(std::count_if(gets.begin(), gets.end(), [](const auto& get) { return get.done(); }), 1);
  queue_.ShutDown();
  Run();
  int stopped = 0;
  for (const auto& get : gets) {
    ASSERT_TRUE(get.done());
    stopped += !get.result() && get.result().error().code() == Code::kStopped;
  }
  EXPECT_EQ(stopped, 2);
}

TEST_P(ProcessTest, PassesAnItemOnWhenTheGetThatWasWokenForItIsStopped) {
  for (int round = 0; round < 20; ++round) {
    std::stop_source stop;
    auto stopped = simulation_.Spawn([&] { return queue_.Get(stop.get_token()); });
    Run();
    auto waiting = simulation_.Spawn([&] { return queue_.Get(); });
    Run();
    queue_.Add("a");
    stop.request_stop();
    Run();
    ASSERT_TRUE(stopped.done());
    if (!stopped.result()) {
      EXPECT_EQ(stopped.result().error().code(), Code::kCancelled);
      ASSERT_TRUE(waiting.done()) << "nobody took the item";
    }
    queue_.Done("a");
    queue_.Add("a");  // for the other one, if it still waits
    Run();
    ASSERT_TRUE(waiting.done());
    queue_.Done("a");
    if (const auto left = queue_.TryGet()) queue_.Done("a");
  }
}

// Contract: controller 79.
TEST_P(ProcessTest, WaitsInADrainUntilTheItemsThatWereHandedOutAreDone) {
  queue_.Add("a");
  queue_.Add("b");
  ASSERT_TRUE(queue_.TryGet());
  auto drained = simulation_.Spawn([&] { return queue_.ShutDownWithDrain(); });
  Run();
  EXPECT_FALSE(drained.done());
  EXPECT_EQ(queue_.Get()->key, "b");
  EXPECT_EQ(queue_.Get().error().code(), Code::kStopped);
  queue_.Done("a");
  Run();
  EXPECT_FALSE(drained.done());
  queue_.Done("b");
  Run();
  ASSERT_TRUE(drained.done());
  EXPECT_TRUE(drained.result()) << drained.result();
}

TEST_P(ProcessTest, EndsADrainByAShutDownOrAStop) {
  queue_.Add("a");
  std::stop_source stop;
  auto stopped = simulation_.Spawn([&] { return queue_.ShutDownWithDrain(stop.get_token()); });
  auto drained = simulation_.Spawn([&] { return queue_.ShutDownWithDrain(); });
  Run();
  stop.request_stop();
  Run();
  ASSERT_TRUE(stopped.done());
  EXPECT_EQ(stopped.result().error().code(), Code::kCancelled);
  EXPECT_FALSE(drained.done());
  queue_.ShutDown();
  Run();
  ASSERT_TRUE(drained.done());
  EXPECT_TRUE(drained.result()) << drained.result();
}

TEST_P(ProcessTest, LosesNoAdditionAndStartsNothingEarly) {
  constexpr std::uint32_t kKeys = 5;
  struct State {
    bool running = false;
    bool wanted = false;  // added since the last start of a call
    TimePoint not_before = TimePoint::max();
  };
  std::map<std::string, State> states;
  const auto reconcile = [&](const std::string& key) -> Result<void> {
    State& state = states[key];
    EXPECT_FALSE(std::exchange(state.running, true)) << key << " at two workers";
    EXPECT_TRUE(state.wanted) << key << " without an addition";
    EXPECT_LE(state.not_before, simulation_.clock()->Now()) << key << " is early";
    state = {.running = true};
    Pause(Nanos(simulation_.Choose(3)) * 1'000'000);
    state.running = false;
    if (simulation_.Choose(4) > 0) return {};
    state.wanted = true;
    state.not_before = simulation_.clock()->Now();
    return Fail(Code::kConflict, "again");
  };
  const auto processed = Process(2, reconcile);
  std::vector<testing::TaskResult<bool>> adders;
  for (int adder = 0; adder < 3; ++adder) {
    adders.push_back(simulation_.Spawn([&] {
      for (int i = 0; i < 30; ++i) {
        const std::string key = std::to_string(simulation_.Choose(kKeys));
        const Nanos after(simulation_.Choose(3) * 1'000'000);
        State& state = states[key];
        state.wanted = true;
        state.not_before = std::min(state.not_before, simulation_.clock()->Now() + after);
        queue_.Add(key, {.after = after, .priority = static_cast<int>(simulation_.Choose(3))});
        if (simulation_.Choose(2) == 0) Pause();
      }
      return true;
    }));
  }
  Run();
  for (const auto& [key, state] : states) EXPECT_FALSE(state.wanted) << "an addition of " << key << " was lost";
  Stop(processed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ProcessTest, ::testing::Range<std::uint64_t>(1, 21));

TEST(ProcessOnAPostedTaskTest, RefusesToBlock) {
  const auto executor = MakeShared<testing::ManualExecutor>();
  const RateLimitingQueue queue({.executor = executor});
  std::optional<Result<void>> processed;
  executor->Post(executor->MakeStrand("test"),
                 [&] { processed = queue.Process(1, {}, [](const ObjectKey&) { return Result<void>(); }); });
  executor->Run();
  ASSERT_TRUE(processed);
  EXPECT_EQ(processed->error().code(), Code::kInvalidArgument);
}

TEST(ProcessOnAPoolTest, HandsEveryAdditionToOneOfItsWorkers) {
  constexpr int kKeys = 50;
  const auto pool = Must(MakeThreadPool());
  const WorkQueue<int> queue({.executor = pool});
  std::stop_source stop;
  std::array<std::atomic<int>, kKeys> running{};
  std::array<std::atomic<int>, kKeys> asked{};
  std::array<std::atomic<int>, kKeys> seen{};
  const auto finished = pool->MakeWaiter("finished");
  pool->Blocking("process", [&, waiter = finished] {
    const Result<void> processed = queue.Process(4, stop.get_token(), [&](const int& key) -> Result<void> {
      const auto i = static_cast<std::size_t>(key);
      EXPECT_EQ(running[i].fetch_add(1), 0);
      seen[i] = asked[i].load();
      running[i].fetch_sub(1);
      if (key % 7 == 0 && seen[i] % 100 == 0) return Fail(Code::kConflict, "again");
      return {};
    });
    EXPECT_TRUE(processed) << processed;
    waiter->Notify();
  });
  const auto added = pool->MakeWaiter("added");
  std::atomic<int> adders = 3;
  for (int adder = 0; adder < 3; ++adder) {
    pool->Blocking("add", [&, adder, waiter = added] {
      for (int i = 0; i < 2000; ++i) {
        const int key = (i * 7 + adder) % kKeys;
        ++asked[static_cast<std::size_t>(key)];
        queue.Add(key, {.after = Nanos(i % 5 * 1000), .priority = i % 3});
      }
      if (--adders == 0) waiter->Notify();
    });
  }
  EXPECT_TRUE(added->Wait());
  const auto quiet = [&] {
    for (std::size_t i = 0; i < kKeys; ++i) {
      if (seen[i] != asked[i]) return false;
    }
    return true;
  };
  const auto pause = pool->MakeWaiter("pause");
  for (int i = 0; i < 5000 && !quiet(); ++i) (void)pause->Wait({}, pool->clock()->Now() + 2ms);
  EXPECT_TRUE(quiet()) << "an addition was lost";
  stop.request_stop();
  EXPECT_TRUE(finished->Wait());
}

}  // namespace
}  // namespace kgen
