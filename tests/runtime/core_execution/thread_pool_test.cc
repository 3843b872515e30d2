// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/execution/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/execution/sleeper.h"
#include "kgen/core/executor.h"
#include "kgen/core/memory.h"
#include "kgen/core/observer.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Nothing in these tests takes long; this only ends a test that would hang.
TimePoint Soon() { return SystemClock()->Now() + 30s; }

// Looks again and again until `done`, at most half a minute.
template <typename F>
bool Eventually(F done) {
  const Shared<detail::Sleeper> pause = detail::MakeSleeper();
  for (const TimePoint end = Soon(); SystemClock()->Now() < end; pause->SleepUntil(SystemClock()->Now() + 1ms)) {
    if (done()) return true;
  }
  return false;
}

class ThreadPoolTest : public ::testing::Test {
 protected:
  Shared<Executor> pool_ = Must(MakeThreadPool({.threads = 4, .max_threads = 12, .idle = 10ms}));
};

TEST_F(ThreadPoolTest, RunsTheTasksOfAStrandInTheOrderOfPosting) {
  const auto strand = pool_->MakeStrand("numbers");
  const auto waiter = pool_->MakeWaiter("all of them");
  std::vector<int> order;  // without a lock: what one task wrote the next one sees
  for (int i = 0; i < 1000; ++i) pool_->Post(strand, [&, i] { order.push_back(i); });
  pool_->Post(strand, [&] { waiter->Notify(); });
  ASSERT_TRUE(waiter->Wait({}, Soon()));
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(ThreadPoolTest, KeepsTheOrderOfAStrandAcrossPostedAndBlockingTasks) {
  const auto strand = pool_->MakeStrand("mixed");
  const auto waiter = pool_->MakeWaiter("all of them");
  std::vector<int> order;
  std::vector<bool> posted;
  for (int i = 0; i < 300; ++i) {
    auto task = [&, i] {
      order.push_back(i);
      posted.push_back(pool_->InPostedTask());
    };
    i % 3 == 0 ? pool_->BlockingOn(strand, task) : pool_->Post(strand, task);
  }
  pool_->Post(strand, [&] { waiter->Notify(); });
  ASSERT_TRUE(waiter->Wait({}, Soon()));
  ASSERT_EQ(order.size(), 300u);
  for (std::size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(order[i], static_cast<int>(i));
    EXPECT_EQ(posted[i], i % 3 != 0);
  }
}

TEST_F(ThreadPoolTest, RunsManyStrandsPostedFromManyThreads) {
  constexpr int kStrands = 20, kThreads = 4, kEach = 500;
  struct Counter {
    Shared<Strand> strand;
    int count = 0;
  };
  std::vector<Counter> counters(kStrands);
  for (Counter& counter : counters) counter.strand = pool_->MakeStrand("counter");
  std::atomic<int> left = kStrands * kThreads * kEach;
  const auto waiter = pool_->MakeWaiter("all of them");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach * kStrands; ++i) {
          Counter& counter = counters[static_cast<std::size_t>(i % kStrands)];
          pool_->Post(counter.strand, [&] {
            ++counter.count;
            if (--left == 0) waiter->Notify();
          });
        }
      });
    }
  }
  ASSERT_TRUE(waiter->Wait({}, Soon()));
  for (const Counter& counter : counters) EXPECT_EQ(counter.count, kThreads * kEach);
}

TEST_F(ThreadPoolTest, GivesEachBlockingTaskAThreadAndEndsItWhenIdle) {
  const auto go = pool_->MakeWaiter("go");
  std::vector<Shared<Waiter>> gates;
  std::atomic<int> inside = 0, ended = 0;
  for (int i = 0; i < 8; ++i) {
    gates.push_back(pool_->MakeWaiter("gate"));
    pool_->Blocking("task", [&, gate = gates.back()] {
      if (++inside == 8) go->Notify();
      EXPECT_TRUE(gate->Wait({}, Soon()));
      ++ended;
    });
  }
  ASSERT_TRUE(go->Wait({}, Soon()));
  EXPECT_EQ(detail::CensusOf(*pool_).blocking, 8u);
  for (auto& gate : gates) gate->Notify();
  EXPECT_TRUE(Eventually([&] { return detail::CensusOf(*pool_).blocking == 0; }));
  EXPECT_EQ(ended, 8);
}

TEST_F(ThreadPoolTest, StartsFewThreadsForManyBlockingTasksThatDoNotBlock) {
  const auto pool = Must(MakeThreadPool({.threads = 1}));
  constexpr int kTasks = 400;
  const auto done = pool->MakeWaiter("all of them");
  std::atomic<int> left = kTasks;
  for (int i = 0; i < kTasks; ++i) {
    pool->Blocking("busy", [&] {
      for (const TimePoint end = SystemClock()->Now() + 100us; SystemClock()->Now() < end;) {
      }
      if (--left == 0) done->Notify();
    });
  }
  ASSERT_TRUE(done->Wait({}, Soon()));
  EXPECT_LT(detail::CensusOf(*pool).blocking, 20u);
}

TEST_F(ThreadPoolTest, StartsThreadsBesideTasksThatBlockWithoutTellingThePool) {
  constexpr int kTasks = 8;
  std::atomic<int> inside = 0;
  const Shared<detail::Sleeper> gates[kTasks] = {detail::MakeSleeper(), detail::MakeSleeper(), detail::MakeSleeper(),
                                                 detail::MakeSleeper(), detail::MakeSleeper(), detail::MakeSleeper(),
                                                 detail::MakeSleeper(), detail::MakeSleeper()};
  for (const Shared<detail::Sleeper>& gate : gates) {
    pool_->Blocking("blocked", [&inside, gate] {
      ++inside;
      gate->SleepUntil(Soon());
    });
  }
  EXPECT_TRUE(Eventually([&] { return inside == kTasks; }));
  for (const Shared<detail::Sleeper>& gate : gates) gate->Wake();
}

TEST_F(ThreadPoolTest, CostsNoThreadBeforeTheFirstTask) {
  EXPECT_EQ(detail::CensusOf(*pool_).posted, 0u);
  EXPECT_EQ(detail::CensusOf(*pool_).blocking, 0u);
}

struct LimitCounter : Observer {
  void OnLimiterWaited(const LimiterWaited& event) override {
    EXPECT_EQ(event.what, "executor threads");
    ++reports;
    reported->Notify();
  }
  void OnHandlerFailed(const HandlerFailed& event) override {
    failed = std::string(event.informer) + ": " + std::string(event.what);
    reported->Notify();
  }
  Shared<Waiter> reported;
  std::atomic<int> reports = 0;
  std::string failed;
};

TEST_F(ThreadPoolTest, ReportsTheLimitOfThreadsOnceAndRunsTheRestLater) {
  const auto observer = MakeShared<LimitCounter>();
  observer->reported = pool_->MakeWaiter("the report");
  pool_->ReportTo(observer);
  std::vector<Shared<Waiter>> gates;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 20; ++i) {  // 12 threads less 4 for posted work: 8
    gates.push_back(pool_->MakeWaiter("gate"));
    pool_->Blocking("task", [&, gate = gates.back()] {
      EXPECT_TRUE(gate->Wait({}, Soon()));
      ++ended;
    });
  }
  ASSERT_TRUE(observer->reported->Wait({}, Soon()));
  EXPECT_EQ(detail::CensusOf(*pool_).blocking, 8u);
  for (auto& each : gates) each->Notify();
  EXPECT_TRUE(Eventually([&] { return ended == 20; }));
  EXPECT_EQ(observer->reports, 1);
}

// Contract: design D9.
TEST_F(ThreadPoolTest, RunsShortWorkWhileBlockingTasksHoldEveryThreadAndEndsItsThreads) {
  const auto full = pool_->MakeWaiter("every thread is taken");
  std::vector<Shared<Waiter>> gates;
  std::atomic<int> inside = 0, ended = 0;
  for (int i = 0; i < 20; ++i) {
    gates.push_back(pool_->MakeWaiter("gate"));
    pool_->Blocking("task", [&, gate = gates.back()] {
      if (++inside == 8) full->Notify();
      EXPECT_TRUE(gate->Wait({}, Soon()));
      ++ended;
    });
  }
  ASSERT_TRUE(full->Wait({}, Soon()));
  const auto read = pool_->MakeWaiter("the files");
  std::atomic<int> files = 0;
  for (int i = 0; i < 20; ++i) {
    pool_->BlockingShort("file", [&] {
      EXPECT_FALSE(pool_->InPostedTask());
      if (++files == 20) read->Notify();
    });
  }
  EXPECT_TRUE(read->Wait({}, Soon()));
  EXPECT_EQ(ended, 0);
  EXPECT_LE(detail::CensusOf(*pool_).brief, 2u);
  for (auto& each : gates) each->Notify();
  EXPECT_TRUE(Eventually([&] { return ended == 20; }));
  EXPECT_TRUE(Eventually([&] { return detail::CensusOf(*pool_).brief == 0; }));
}

TEST_F(ThreadPoolTest, RefusesToBlockInAPostedTask) {
  const auto waiter = pool_->MakeWaiter("a wait in the wrong place");
  const auto done = pool_->MakeWaiter("done");
  Result<void> result;
  bool in_posted = false;
  pool_->Post(pool_->MakeStrand("s"), [&] {
    in_posted = pool_->InPostedTask();
    result = waiter->Wait();
    done->Notify();
  });
  ASSERT_TRUE(done->Wait({}, Soon()));
  EXPECT_TRUE(in_posted);
  EXPECT_FALSE(pool_->InPostedTask());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
}

// Contract: design D9.
TEST_F(ThreadPoolTest, RefusesToBlockOnTheClocksThread) {
  const auto waiter = pool_->MakeWaiter("a wait in the wrong place");
  const auto done = pool_->MakeWaiter("done");
  Result<void> result;
  bool in_posted = false;
  const Timer timer = pool_->clock()->After(Nanos(0), TimerKind::kProgress, [&] {
    in_posted = pool_->InPostedTask();
    result = waiter->Wait({}, Soon());
    done->Notify();
  });
  ASSERT_TRUE(done->Wait({}, Soon()));
  EXPECT_TRUE(in_posted);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
}

// What Free() left for later: blocks that go in another order than they came in free their spans with the last of them.
TEST_F(ThreadPoolTest, GivesFreeMemoryBackToTheSystemWhenAThreadHasNothingToDo) {
  constexpr std::int64_t kMayStay = std::int64_t{100} * (64 << 10);
  const std::int64_t before = GetHeapUse().reserved;
  std::vector<void*> blocks(64'000);
  for (void*& block : blocks) block = detail::Allocate(1024);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  for (void* block : blocks) detail::Free(block);
  pool_->Post(pool_->MakeStrand("work"), [] {});
  EXPECT_TRUE(Eventually([&] { return GetHeapUse().reserved <= before + kMayStay; }));
}

TEST_F(ThreadPoolTest, ReportsATaskThatThrowsAndContinues) {
  const auto observer = MakeShared<LimitCounter>();
  observer->reported = pool_->MakeWaiter("the report");
  pool_->ReportTo(observer);
  const auto strand = pool_->MakeStrand("bad luck");
  pool_->Post(strand, [] { throw std::runtime_error("oops"); });
  ASSERT_TRUE(observer->reported->Wait({}, Soon()));
  EXPECT_EQ(observer->failed, "bad luck: oops");
  const auto done = pool_->MakeWaiter("done");
  pool_->Post(strand, [&] { done->Notify(); });
  EXPECT_TRUE(done->Wait({}, Soon()));
}

TEST_F(ThreadPoolTest, NotifiesEveryObserverThatHasNotBeenRemoved) {
  const auto first = MakeShared<LimitCounter>();
  const auto second = MakeShared<LimitCounter>();
  const auto gone = MakeShared<LimitCounter>();
  for (const auto& each : {gone, first, second}) {
    each->reported = pool_->MakeWaiter("the report");
    pool_->ReportTo(each);
  }
  pool_->StopReportingTo(*gone);
  pool_->StopReportingTo(*gone);  // already removed: does nothing
  pool_->Post(pool_->MakeStrand("bad luck"), [] { throw std::runtime_error("oops"); });
  EXPECT_TRUE(first->reported->Wait({}, Soon()));
  EXPECT_TRUE(second->reported->Wait({}, Soon()));
  EXPECT_EQ(gone->failed, "");
}

// Contract: design D11.
TEST_F(ThreadPoolTest, DestroysUnrunTasksAtTheEndEvenThoseThatHoldTheirOwnStrand) {
  const auto alive = std::make_shared<int>();
  const auto started = pool_->MakeWaiter("started");
  const auto blocked = pool_->MakeWaiter("for ever");
  Result<void> result;
  auto strand = pool_->MakeStrand("s");
  pool_->BlockingOn(strand, [&, alive] {
    started->Notify();
    result = blocked->Wait();
  });
  for (int i = 0; i < 10; ++i) pool_->Post(strand, [strand, alive] { ADD_FAILURE() << "ran after the end"; });
  ASSERT_TRUE(started->Wait({}, Soon()));
  strand = {};
  pool_ = {};  // ends the wait inside the task, and joins
  EXPECT_EQ(alive.use_count(), 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kCancelled);
}

// Contract: design D11.
TEST_F(ThreadPoolTest, CanBeDestroyedOnOneOfItsOwnThreads) {
  const auto other = Must(MakeThreadPool());
  for (const bool blocking : {true, false}) {
    auto pool = Must(MakeThreadPool({.threads = 2}));
    const auto done = other->MakeWaiter("done");
    const auto go = pool->MakeWaiter("go");
    auto task = [mine = pool, done, go]() mutable {
      mine = {};
      done->Notify();
    };
    if (blocking) {
      pool->Blocking("last", [task = std::move(task), go]() mutable {
        (void)go->Wait({}, Soon());
        task();
      });
    } else {
      const auto strand = pool->MakeStrand("s");
      pool->Post(strand, std::move(task));
    }
    go->Notify();
    pool = {};
    EXPECT_TRUE(done->Wait({}, Soon()));
  }
}

TEST(DefaultExecutor, IsASingleton) { EXPECT_EQ(DefaultExecutor(), DefaultExecutor()); }

TEST(ThreadPoolOptions, AreRefusedOutOfTheirRangeByName) {
  const auto refusal = [](const ExecutorOptions& options) {
    const Result<Shared<Executor>> made = MakeThreadPool(options);
    EXPECT_TRUE(made || made.error().code() == Code::kInvalidArgument);
    return made ? "none" : made.error().message();
  };
  for (const int threads : {0, -1}) {
    EXPECT_THAT(refusal({.threads = threads}), HasSubstr("ExecutorOptions::threads is " + std::to_string(threads)));
  }
  EXPECT_THAT(refusal({.threads = 4, .max_threads = 4}), HasSubstr("ExecutorOptions::max_threads is 4"));
  for (const int most : {1, 0, -1}) {
    EXPECT_THAT(refusal({.max_threads = most}), HasSubstr("ExecutorOptions::max_threads is " + std::to_string(most)));
  }
  EXPECT_THAT(refusal({.idle = -1ns}), HasSubstr("ExecutorOptions::idle is -1 ns"));
  EXPECT_EQ(refusal({.threads = 4, .max_threads = 5, .idle = 0ns}), "none");
  EXPECT_EQ(refusal({.max_threads = 2, .idle = kNever}), "none");
}

TEST(ThreadPoolOptions, LeaveAThreadForBlockingWorkHoweverManyCoresThereAre) {
  EXPECT_EQ(detail::BlockingLimitOf(*Must(MakeThreadPool({.max_threads = 2}))), 1);
  EXPECT_EQ(detail::BlockingLimitOf(*Must(MakeThreadPool({.threads = 3, .max_threads = 10}))), 7);
}

TEST(ThreadPoolOptions, KeepAThreadThatIsIdleForEver) {
  const Shared<Executor> pool = Must(MakeThreadPool({.threads = 1, .max_threads = 2, .idle = kNever}));
  const auto waiter = pool->MakeWaiter("the work");
  int calls = 0;
  for (int i = 0; i < 100; ++i) {
    pool->Blocking("work", [&] {
      thread_local int of_this_thread = 0;
      calls = ++of_this_thread;
      waiter->Notify();
    });
    ASSERT_TRUE(waiter->Wait({}, Soon()));
  }
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace kgen
