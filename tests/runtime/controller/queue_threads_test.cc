// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue on real threads: stops, drains, and handles that go while calls run. Each test repeats what it races.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "kgen/controller/work_queue.h"
#include "kgen/core/executor.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;

class QueueThreadsTest : public ::testing::Test {
 protected:
  // Runs `work` on a thread of its own; Join() waits for all of them.
  template <typename F>
  void Start(F work) {
    const auto& ended = ended_.emplace_back(pool_->MakeWaiter("join"));
    pool_->Blocking("test", [work = std::move(work), ended] {
      work();
      ended->Notify();
    });
  }
  void Join() {
    for (const Shared<Waiter>& ended : ended_) {
      ASSERT_TRUE(ended->Wait({}, pool_->clock()->Now() + 60s)) << "a call hangs";
    }
    ended_.clear();
  }

  Shared<Executor> pool_ = Must(MakeThreadPool());
  std::vector<Shared<Waiter>> ended_;
};

TEST_F(QueueThreadsTest, DestroysTheFunctionBeforeProcessReturns) {
  for (int round = 0; round < 2000; ++round) {
    const auto alive = std::make_shared<int>();
    const WorkQueue<int> queue({.executor = pool_});
    for (int i = 0; i < 3; ++i) queue.Add(i);
    const auto processed = queue.Process(3, {}, [alive, queue](const int&) -> Result<void> {
      queue.ShutDown();
      return {};
    });
    ASSERT_TRUE(processed) << processed;
    ASSERT_EQ(alive.use_count(), 1) << "round " << round;
  }
}

TEST_F(QueueThreadsTest, ReturnsWhenACallDropsTheLastHandle) {
  for (int round = 0; round < 500; ++round) {
    auto queue = std::make_unique<WorkQueue<int>>(WorkQueueOptions{.executor = pool_});
    queue->Add(1);
    const auto processed = queue->Process(2, {}, [&](const int&) -> Result<void> {
      queue.reset();
      return {};
    });
    ASSERT_TRUE(processed) << processed;
    ASSERT_FALSE(queue);
  }
}

TEST_F(QueueThreadsTest, RunsNoCallOnceAStoppedProcessHasReturned) {
  for (int round = 0; round < 200; ++round) {
    const WorkQueue<int> queue({.executor = pool_, .observer = MakeShared<Observer>()});
    std::stop_source stop;
    std::atomic<int> running = 0;
    std::atomic<bool> returned = false;
    Start([&] {
      for (int i = 0; !returned; ++i) queue.Add(i % 100, {.after = Nanos(i % 3 * 1000)});
    });
    const auto processed = queue.Process(4, stop.get_token(), [&](const int& key) -> Result<void> {
      ++running;
      EXPECT_FALSE(returned);
      if (key == 50) stop.request_stop();
      --running;
      if (key % 10 == 0) return Fail(Code::kConflict, "again");
      return {};
    });
    EXPECT_EQ(running, 0);
    returned = true;
    EXPECT_TRUE(processed) << processed;
    EXPECT_EQ(queue.size(), 0u);
    Join();
  }
}

TEST_F(QueueThreadsTest, DrainsEveryItemThatWasReady) {
  constexpr int kItems = 200;
  for (int round = 0; round < 200; ++round) {
    const WorkQueue<int> queue({.executor = pool_});
    std::stop_source stop;
    std::atomic<int> calls = 0;
    for (int i = 0; i < kItems; ++i) queue.Add(i);
    Start([&] {
      const auto processed = queue.Process(3, stop.get_token(),
                                           [&](const int& key) -> Result<void> {
                                             ++calls;
                                             queue.Done(key);  // has no effect
                                             if (key == 20) stop.request_stop();
                                             return {};
                                           },
                                           {.drain = true});
      EXPECT_TRUE(processed || processed.error().code() == Code::kStopped) << processed;
    });
    // A loop beside it takes a part.
    Start([&] {
      while (const auto item = queue.Get()) {
        ++calls;
        if (item->key == 20) stop.request_stop();
        queue.Done(item->key);
        queue.Done(item->key);  // has no effect
      }
    });
    Join();
    ASSERT_EQ(calls, kItems) << "round " << round;
  }
}

TEST_F(QueueThreadsTest, EndsEveryBlockedCallByAShutDown) {
  for (int round = 0; round < 200; ++round) {
    const WorkQueue<int> queue({.executor = pool_});
    queue.Add(1);
    ASSERT_TRUE(queue.TryGet());
    for (int i = 0; i < 3; ++i) Start([&] { EXPECT_EQ(queue.Get().error().code(), Code::kStopped); });
    Start([&] {
      const auto processed = queue.Process(2, {}, [](const int&) { return Result<void>(); });
      EXPECT_TRUE(processed || processed.error().code() == Code::kStopped) << processed;
    });
    Start([&] { EXPECT_TRUE(queue.ShutDownWithDrain()); });
    queue.ShutDown();
    Join();
  }
}

// One thread for blocking work, and a queue that never runs empty.
TEST_F(QueueThreadsTest, LetsQueuesTakeTurnsWhenThereAreTooFewThreads) {
  const Shared<Executor> narrow = Must(MakeThreadPool({.threads = 1, .max_threads = 4}));
  const WorkQueue<int> busy({.name = "busy", .executor = narrow}), quiet({.name = "quiet", .executor = narrow});
  std::stop_source stop;
  const auto run = [&](const WorkQueue<int>& queue, auto reconcile) {
    const auto& ended = ended_.emplace_back(pool_->MakeWaiter("join"));
    narrow->Blocking("test", [&queue, &stop, reconcile, ended] {
      const auto processed = queue.Process(1, stop.get_token(), reconcile);
      EXPECT_TRUE(processed) << processed;
      ended->Notify();
    });
  };
  std::atomic<int> calls = 0;
  busy.Add(1);
  run(busy, [&](const int&) -> Result<Requeue> { return ++calls, Requeue::After(0s); });
  while (calls < 100) std::this_thread::yield();
  quiet.Add(2);
  run(quiet, [&](const int&) -> Result<void> { return stop.request_stop(), Result<void>(); });
  Join();
}

}  // namespace
}  // namespace kgen
