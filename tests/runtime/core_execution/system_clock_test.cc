// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/system_clock.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/sleeper.h"

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

TEST_F(SystemClockTest, DoesNotFireACancelledTimerAndLetsGoOfWhatItHeld) {
  const auto held = std::make_shared<int>();
  Timer timer = clock_->After(1h, TimerKind::kProgress, [held] { ADD_FAILURE(); });
  Timer dropped = clock_->After(1h, TimerKind::kProgress, [held] { ADD_FAILURE(); });
  EXPECT_EQ(held.use_count(), 3);
  timer.Cancel();
  dropped = {};
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(SystemClockTest, DropsItsTimersWhenItGoes_D11) {
  const auto held = std::make_shared<int>();
  Timer timer = clock_->After(1h, TimerKind::kProgress, [held] { ADD_FAILURE(); });
  clock_ = {};
  EXPECT_EQ(held.use_count(), 1);
  timer.Cancel();  // harmless afterwards
}

TEST_F(SystemClockTest, MayGoInATaskOfItsOwn_D11) {
  auto clock = detail::MakeSystemClock();
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

TEST_F(SystemClockTest, IsOneForTheProcess) { EXPECT_EQ(SystemClock(), SystemClock()); }

}  // namespace
}  // namespace kgen
