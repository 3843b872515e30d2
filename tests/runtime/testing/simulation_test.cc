// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/testing/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Code CodeOf(const Result<void>& result) { return result ? Code::kInternal : result.error().code(); }

class SimulationTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Simulation simulation_{GetParam()};
  Shared<Executor> executor_ = simulation_.executor();
  Shared<Clock> clock_ = simulation_.clock();
};

// A program with a bit of everything, and a log of what it did.
std::vector<std::string> RunProgram(Simulation& simulation) {
  std::vector<std::string> log;
  const auto executor = simulation.executor();
  const auto waiter = executor->MakeWaiter("the third");
  std::vector<Shared<Strand>> strands;
  for (int s = 0; s < 3; ++s) strands.push_back(executor->MakeStrand("strand " + std::to_string(s)));
  std::vector<Timer> timers;
  for (int i = 0; i < 4; ++i) {
    for (int s = 0; s < 3; ++s)
      executor->Post(strands[s], [&log, i, s] { log.push_back("post " + std::to_string(s * 10 + i)); });
    timers.push_back(simulation.clock()->After(1ms * (i / 2), TimerKind::kProgress, [&, i] {
      executor->Post(strands[0], [&, i] { log.push_back("timer " + std::to_string(i)); });
    }));
    executor->Blocking("task", [&, i] {
      if (i == 3) (void)waiter->Wait();
      log.push_back("task " + std::to_string(i) + " " + std::to_string(simulation.Choose(5)));
      if (i == 2) waiter->Notify();
    });
    executor->BlockingOn(strands[1], [&, i] { log.push_back("on " + std::to_string(i)); });
  }
  EXPECT_TRUE(simulation.RunUntilIdle());
  return log;
}

// Contract: invariant S1.
TEST_P(SimulationTest, RunsOneThingAtATime) {
  std::atomic<int> running = 0;
  int done =
      0;  // no lock and no atomic: only the order of the baton keeps this right, which the thread sanitizer checks
  const auto alone = [&](auto&& inside) {
    EXPECT_EQ(running.exchange(1), 0);
    inside();
    EXPECT_EQ(running.exchange(0), 1);
    ++done;
  };
  std::vector<Shared<Waiter>> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.push_back(executor_->MakeWaiter("a turn"));
    executor_->Blocking("task", [&, i] {
      alone([] {});
      EXPECT_TRUE(waiters[static_cast<std::size_t>(i)]->Wait());
      alone([] {});
    });
    executor_->Post(executor_->MakeStrand("s"),
                    [&, i] { alone([&] { waiters[static_cast<std::size_t>(i)]->Notify(); }); });
  }
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_EQ(done, 30);
}

// Contract: invariant S2.
TEST_P(SimulationTest, KeepsTheOrderOfEachStrandAcrossPostedAndBlockingTasks) {
  std::vector<std::vector<int>> orders(3);
  for (auto& order : orders) {
    const auto strand = executor_->MakeStrand("s");
    for (int i = 0; i < 6; ++i) {
      if (i % 2 == 0) {
        executor_->Post(strand, [&order, i] { order.push_back(i); });
      } else {
        executor_->BlockingOn(strand, [&, i, pause = executor_->MakeWaiter("pause")] {
          (void)pause->Wait({}, clock_->Now() + 1ms);
          order.push_back(i);
        });
      }
    }
  }
  EXPECT_TRUE(simulation_.Advance(10ms));
  for (const auto& order : orders) EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5));
}

// Contract: invariant S3.
TEST_P(SimulationTest, AdvancesTimeOnlyWhenNothingCanRunAndThenToTheEarliestTimer) {
  std::vector<Nanos> fired;
  std::vector<Timer> timers;
  const auto strand = executor_->MakeStrand("s");
  for (const Nanos when : {Nanos(3ms), Nanos(1ms), Nanos(2ms), Nanos(1ms)}) {
    timers.push_back(clock_->After(when, TimerKind::kProgress, [&, when] {
      EXPECT_EQ(clock_->Now().time_since_epoch(), when);
      fired.push_back(when);
      // Work that the timer brought is done before the next moment.
      for (int i = 0; i < 5; ++i)
        executor_->Post(strand, [&, when] { EXPECT_EQ(clock_->Now().time_since_epoch(), when); });
    }));
  }
  for (int i = 0; i < 5; ++i) executor_->Post(strand, [&] { EXPECT_EQ(clock_->Now(), TimePoint()); });
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_THAT(fired, ElementsAre(1ms, 1ms, 2ms, 3ms));
}

// Contract: invariant S4.
TEST_P(SimulationTest, IsIdleWhenOnlyHousekeepingIsLeft) {
  int pings = 0, retries = 0;
  Timer retry = clock_->After(5s, TimerKind::kProgress, [&] { ++retries; });
  Timer ping;
  Task again = [&] {
    ++pings;
    ping = clock_->After(2s, TimerKind::kHousekeeping, [&] { again(); });
  };
  ping = clock_->After(2s, TimerKind::kHousekeeping, [&] { again(); });
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_EQ(retries, 1);
  EXPECT_EQ(pings, 2);  // those that time passed on its way
  EXPECT_EQ(clock_->Now().time_since_epoch(), 5s);
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_EQ(pings, 2);
}

// Contract: invariant S4.
TEST_P(SimulationTest, DoesNotWakeABlockedTaskEvenIfItHasADeadline) {
  const auto waiter = executor_->MakeWaiter("an answer");
  auto wait = simulation_.Spawn([&] { return waiter->Wait({}, clock_->Now() + 5s); });
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_FALSE(wait.done());
  EXPECT_THAT(simulation_.WhoWaits(), HasSubstr("spawned waits for an answer until 5 s"));
  EXPECT_TRUE(simulation_.Advance(5s));
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(CodeOf(wait.result()), Code::kTimeout);
}

// Contract: invariant S5.
TEST_P(SimulationTest, GivesTheSameTraceForTheSameSeedAndTheSameRunForTheSameTrace) {
  const auto log = RunProgram(simulation_);
  EXPECT_EQ(log.size(), 24u);
  Simulation same(GetParam());
  const auto ballast = std::make_unique<char[]>(4096 * (GetParam() % 7 + 1));  // so that addresses differ
  EXPECT_EQ(RunProgram(same), log);
  EXPECT_EQ(same.trace(), simulation_.trace());
  Simulation replay(simulation_.trace());
  EXPECT_EQ(RunProgram(replay), log);
  EXPECT_EQ(replay.trace(), simulation_.trace());
}

// Contract: invariant S5.
TEST_P(SimulationTest, MakesTheFirstChoiceBeyondTheEndOfATrace) {
  Simulation shortened{Trace{2, 1}};
  EXPECT_EQ(shortened.Choose(3), 2u);
  EXPECT_EQ(shortened.Choose(3), 1u);
  EXPECT_EQ(shortened.Choose(3), 0u);
  EXPECT_EQ(RunProgram(shortened).size(), 24u);
}

// Contract: invariant S6.
TEST_P(SimulationTest, StepsWhenTheTestsOwnThreadWaits) {
  const auto waiter = executor_->MakeWaiter("an answer");
  bool asked = false;
  executor_->Blocking("task", [&] { asked = true; });
  const Timer timer = clock_->After(3s, TimerKind::kProgress, [&] { waiter->Notify(); });
  EXPECT_TRUE(waiter->Wait());
  EXPECT_TRUE(asked);
  EXPECT_EQ(clock_->Now().time_since_epoch(), 3s);
}

// Contract: invariant S6.
TEST_P(SimulationTest, EndsAWaitOfTheTestsOwnThreadAtItsDeadline) {
  const auto waiter = executor_->MakeWaiter("an answer");
  EXPECT_EQ(CodeOf(waiter->Wait({}, clock_->Now() + 9h)), Code::kTimeout);
  EXPECT_EQ(clock_->Now().time_since_epoch(), 9h);
  waiter->Notify();
  EXPECT_TRUE(waiter->Wait());  // and is not confused afterwards
}

// Contract: invariant S6.
TEST_P(SimulationTest, ReportsWhoWaitsForWhatWhenNothingCanRun) {
  const auto mine = executor_->MakeWaiter("the sync");
  const auto theirs = executor_->MakeWaiter("a lock");
  auto task = simulation_.Spawn([theirs] { return theirs->Wait(); });
  const auto result = mine->Wait();
  ASSERT_EQ(CodeOf(result), Code::kDeadlock);
  EXPECT_THAT(result.error().ToString(),
              HasSubstr("the test's own thread waits for the sync; spawned waits for a lock"));
}

// Contract: invariant S6.
TEST_P(SimulationTest, LetsHousekeepingEndAWaitButNotRunForever) {
  const auto freed = executor_->MakeWaiter("what the watch deadline brings");
  Timer deadline = clock_->After(10min, TimerKind::kHousekeeping, [&] { freed->Notify(); });
  EXPECT_TRUE(freed->Wait());

  Timer resync;
  Task again = [&] { resync = clock_->After(10s, TimerKind::kHousekeeping, [&] { again(); }); };
  again();
  EXPECT_EQ(CodeOf(executor_->MakeWaiter("nothing")->Wait()), Code::kDeadlock);
}

// Contract: invariant S6.
TEST_P(SimulationTest, WaitsForProgressHoweverFarAway) {
  const auto waiter = executor_->MakeWaiter("a retry after two hours");
  const Timer timer = clock_->After(2h, TimerKind::kProgress, [&] { waiter->Notify(); });
  EXPECT_TRUE(waiter->Wait());
  EXPECT_EQ(clock_->Now().time_since_epoch(), 2h);
}

TEST_P(SimulationTest, EndsAWaitByAStop) {
  std::stop_source stop;
  const auto waiter = executor_->MakeWaiter("an answer");
  auto task = simulation_.Spawn([&] { return waiter->Wait(stop.get_token()); });
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_FALSE(task.done());
  executor_->Blocking("stopper", [&] { stop.request_stop(); });
  EXPECT_EQ(CodeOf(executor_->MakeWaiter("the stop")->Wait(stop.get_token())), Code::kCancelled);
  EXPECT_TRUE(simulation_.RunUntilIdle());
  ASSERT_TRUE(task.done());
  EXPECT_EQ(CodeOf(task.result()), Code::kCancelled);
}

TEST_P(SimulationTest, LetsOthersRunBetweenTheWaitsOfATaskThatPolls) {
  bool ready = false;
  int polls = 0;
  auto poller = simulation_.Spawn([&] {
    const auto waiter = executor_->MakeWaiter("a moment");
    while (!ready) {
      (void)waiter->Wait({}, clock_->Now());
      ++polls;
    }
    return polls;
  });
  executor_->Post(executor_->MakeStrand("s"), [&] { ready = true; });
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_TRUE(poller.done());
}

TEST_P(SimulationTest, RefusesToBlockInAPostedTaskAndToRunFromInside) {
  const auto waiter = executor_->MakeWaiter("x");
  Code in_posted = Code::kInternal, run_in_posted = Code::kInternal, run_in_blocking = Code::kInternal;
  executor_->Post(executor_->MakeStrand("s"), [&] {
    EXPECT_TRUE(executor_->InPostedTask());
    in_posted = CodeOf(waiter->Wait());
    run_in_posted = CodeOf(Discard(simulation_.RunUntilIdle()));
  });
  executor_->Blocking("b", [&] {
    EXPECT_FALSE(executor_->InPostedTask());
    run_in_blocking = CodeOf(Discard(simulation_.RunUntilIdle()));
  });
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_EQ(in_posted, Code::kInvalidArgument);
  EXPECT_EQ(run_in_posted, Code::kInvalidArgument);
  EXPECT_EQ(run_in_blocking, Code::kInvalidArgument);
}

TEST_P(SimulationTest, CountsRunningWork) {
  const auto waiter = executor_->MakeWaiter("x");
  Timer timer = clock_->After(1s, TimerKind::kHousekeeping, [] {});
  executor_->Blocking("b", [&] { (void)waiter->Wait(); });
  EXPECT_EQ(simulation_.census().tasks, 1u);
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_EQ(simulation_.census().blocking, 1u);
  EXPECT_EQ(simulation_.census().timers, 1u);
  EXPECT_EQ(simulation_.census().tasks, 0u);
  waiter->Notify();
  timer.Cancel();
  EXPECT_TRUE(simulation_.RunUntilIdle());
  EXPECT_EQ(simulation_.census().blocking, 0u);
  EXPECT_EQ(simulation_.census().timers, 0u);
}

TEST_P(SimulationTest, ReportsItsLastStepsWhenItNeverEnds) {
  const auto strand = executor_->MakeStrand("busy bee");
  Task again = [&] { executor_->Post(strand, [&] { again(); }); };
  again();
  const auto run = simulation_.RunUntilIdle(1000);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code(), Code::kDeadlock);
  EXPECT_THAT(run.error().message(), HasSubstr("busy bee, busy bee"));
}

TEST_P(SimulationTest, ThrowsAnExceptionOfABlockingTaskOnTheTestsOwnThread) {
  executor_->Blocking("b", [] { throw std::runtime_error("oops"); });
  EXPECT_THROW((void)simulation_.RunUntilIdle(), std::runtime_error);
  EXPECT_TRUE(simulation_.RunUntilIdle());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, ::testing::Range<std::uint64_t>(0, 200));

// Contract: design D11.
TEST(SimulationEnd, ReleasesBlockedTasksAndDropsTheRest) {
  const auto held = std::make_shared<int>();
  Result<void> first, second;
  Shared<Executor> executor;
  Shared<Waiter> late;
  Timer timer;
  {
    Simulation simulation(1);
    executor = simulation.executor();
    const auto strand = executor->MakeStrand("s");
    executor->BlockingOn(strand, [&, held, waiter = executor->MakeWaiter("x")] {
      first = waiter->Wait();
      executor->Post(executor->MakeStrand("after"), [held] { ADD_FAILURE(); });
      second = waiter->Wait({}, TimePoint(1h));
    });
    (void)simulation.RunUntilIdle();
    executor->Post(strand, [strand, held] { ADD_FAILURE(); });
    executor->Blocking("b", [held] { ADD_FAILURE(); });
    timer = simulation.clock()->After(1s, TimerKind::kProgress, [held] { ADD_FAILURE(); });
    late = executor->MakeWaiter("too late");
  }
  EXPECT_EQ(CodeOf(first), Code::kCancelled);
  EXPECT_EQ(CodeOf(second), Code::kCancelled);
  EXPECT_EQ(held.use_count(), 1);
  // What is left over from it is harmless.
  executor->Blocking("b", [] { ADD_FAILURE(); });
  EXPECT_EQ(CodeOf(late->Wait()), Code::kCancelled);
  timer.Cancel();
}

TEST(SimulationSeeds, ExploreManyOrders) {
  std::set<std::vector<std::string>> logs;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Simulation simulation(seed);
    logs.insert(RunProgram(simulation));
  }
  EXPECT_GT(logs.size(), 190u);
}

// Contract: invariant S5.
TEST(SimulationSeeds, AreTheSameOnEveryMachine) {
  Simulation simulation(42);
  std::vector<std::uint32_t> choices;
  for (int i = 0; i < 8; ++i) choices.push_back(simulation.Choose(100));
  EXPECT_THAT(choices, ElementsAre(15, 27, 34, 3, 86, 21, 80, 33));
}

}  // namespace
}  // namespace kgen::testing
