// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/execution/system_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/execution/sleeper.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;

class SystemClockTest : public ::testing::Test {
 protected:
  Shared<Clock> clock_ = detail::MakeSystemClock();
  Shared<detail::Sleeper> sleeper_ = detail::MakeSleeper();

  void AwaitWake() { ASSERT_TRUE(sleeper_->SleepUntil(clock_->Now() + 30s)); }
};

TEST_F(SystemClockTest, FiresATimerNotBeforeItsTime) {
  const TimePoint when = clock_->Now() + 5ms;
  TimePoint fired;
  const Timer timer = clock_->At(when, TimerKind::kProgress, [&] {
    fired = clock_->Now();
    sleeper_->Wake();
  });
  AwaitWake();
  EXPECT_GE(fired, when);
}

TEST_F(SystemClockTest, FiresATimerOfThePastAtOnceButOnItsOwnThread) {
  std::thread::id thread;
  const Timer timer = clock_->At(TimePoint(), TimerKind::kProgress, [&] {
    thread = std::this_thread::get_id();
    sleeper_->Wake();
  });
  AwaitWake();
  EXPECT_NE(thread, std::this_thread::get_id());
}

// The state that Linux knows of a thread of this process: 'S' while it sleeps.
char StateOf(pid_t thread) {
  std::string line;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat"), line);
  const auto name_end = line.rfind(") ");
  return name_end == std::string::npos ? '?' : line[name_end + 2];
}

// Asleep twice in a row, some time apart: not just waiting for a lock on its way there. Half a minute at most.
bool FallsAsleep(pid_t thread, Clock& clock) {
  const Shared<detail::Sleeper> pause = detail::MakeSleeper();
  const TimePoint end = clock.Now() + 30s;
  for (int seen = 0; seen < 2; seen = StateOf(thread) == 'S' ? seen + 1 : 0) {
    if (clock.Now() >= end) return false;
    pause->SleepUntil(clock.Now() + 1ms);
  }
  return true;
}

TEST_F(SystemClockTest, WakesForATimerThatIsDueBeforeTheOneItSleepsFor) {
  const Timer far = clock_->After(1h, TimerKind::kProgress, [] {});
  pid_t thread = 0;
  const auto fires = [&] {
    const Timer near = clock_->At(TimePoint(), TimerKind::kProgress, [&] {
      thread = gettid();
      sleeper_->Wake();
    });
    return sleeper_->SleepUntil(clock_->Now() + 30s);
  };
  ASSERT_TRUE(fires());  // the clock's thread runs
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(FallsAsleep(thread, *clock_));
    ASSERT_TRUE(fires()) << "in round " << round;
  }
}

TEST_F(SystemClockTest, FiresInTheOrderOfTimeWhateverTheOrderOfSetting) {
  std::vector<int> order;
  std::vector<Timer> timers;
  // Set on the clock's own thread, so that none can fire before all are set.
  const Timer setter = clock_->At(TimePoint(), TimerKind::kProgress, [&] {
    const TimePoint now = clock_->Now();
    for (const int i : {3, 1, 2, 0}) {
      timers.push_back(clock_->At(now + i * 1us, TimerKind::kProgress, [&, i] { order.push_back(i); }));
    }
    timers.push_back(clock_->At(now + 4us, TimerKind::kProgress, [&] { sleeper_->Wake(); }));
  });
  AwaitWake();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(SystemClockTest, DoesNotFireACancelledTimerAndReleasesItsFunction) {
  const auto held = std::make_shared<int>();
  Timer timer = clock_->After(1h, TimerKind::kProgress, [held] { ADD_FAILURE(); });
  Timer dropped = clock_->After(1h, TimerKind::kProgress, [held] { ADD_FAILURE(); });
  EXPECT_EQ(held.use_count(), 3);
  timer.Cancel();
  dropped = {};
  EXPECT_EQ(held.use_count(), 1);
}

// Contract: design D11.
TEST_F(SystemClockTest, DropsItsTimersWhenItIsDestroyed) {
  const auto held = std::make_shared<int>();
  Timer timer = clock_->After(1h, TimerKind::kProgress, [held] { ADD_FAILURE(); });
  clock_ = {};
  EXPECT_EQ(held.use_count(), 1);
  timer.Cancel();  // harmless afterwards
}

// Contract: design D11.
TEST_F(SystemClockTest, CanBeDestroyedInATaskOfItsOwn) {
  auto clock = detail::MakeSystemClock();
  ASSERT_TRUE(clock);
  auto go = detail::MakeSleeper();
  const Timer timer = clock->At(TimePoint(), TimerKind::kProgress, [mine = clock, go, done = sleeper_]() mutable {
    go->SleepUntil(Waiter::kNoDeadline);
    mine = {};
    done->Wake();
  });
  clock = {};
  go->Wake();
  AwaitWake();
}

TEST_F(SystemClockTest, IsASingletonOfTheProcess) { EXPECT_EQ(SystemClock(), SystemClock()); }

}  // namespace
}  // namespace kgen
