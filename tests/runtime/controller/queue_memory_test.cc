// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue::Add when an allocation fails: it throws and leaves the queue as it was. And timers of the layer that find
// no memory while they run.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "client/request/connection_state.h"
#include "controller/election/elector_state.h"
#include "controller/serve/access_review.h"
#include "controller/serve/health_check.h"
#include "controller/serve/shared_call.h"
#include "kgen/controller/event_recorder.h"
#include "kgen/controller/work_queue.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/controller/clusters/live_allocations.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_executor.h"
#include "tests/support/poor_clock.h"

// ThreadSanitizer has an operator new of its own, in place of this one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGEN_TEST_WITHOUT_OWN_NEW 1
#endif
#endif

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
namespace {
// The number of allocations of this thread that succeed before one fails; negative: none fails.
thread_local std::int64_t until_one_fails = -1;
std::atomic<std::int64_t> live = 0;
}  // namespace
std::int64_t kgen::testing::LiveAllocations() noexcept { return live.load(); }

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  const bool fails = until_one_fails == 0 || kgen::testing::timer_runs;
  if (until_one_fails >= 0) --until_one_fails;
  if (fails) throw std::bad_alloc();
  live.fetch_add(1, std::memory_order_relaxed);
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  if (block != nullptr) live.fetch_sub(1, std::memory_order_relaxed);
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

namespace kgen {
namespace {

using namespace std::chrono_literals;

// Has no memory for the first tasks of workers.
class PoorExecutor final : public Executor {
 public:
  explicit PoorExecutor(int failures) : failures_(failures) {}
  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override { inner_->Post(strand, std::move(task)); }
  void Blocking(std::string name, Task work) override {
    if (failures_-- > 0) throw std::bad_alloc();
    inner_->Blocking(std::move(name), std::move(work));
  }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { inner_->BlockingOn(strand, std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }
  int failures() const noexcept { return failures_; }

 private:
  const Shared<testing::ManualExecutor> inner_ = MakeShared<testing::ManualExecutor>();
  int failures_;
};

TEST(QueueMemoryTest, AnItemWhoseWorkerCannotStartIsProcessedALittleLater) {
  const auto executor = MakeShared<PoorExecutor>(3);
  const WorkQueue<int> queue({.executor = executor});
  queue.Add(1);
  std::stop_source stop;
  const TimePoint start = executor->clock()->Now();
  Nanos after{};
  const Result<void> processed = queue.Process(2, stop.get_token(), [&](int) -> Result<Requeue> {
    after = executor->clock()->Now() - start;
    stop.request_stop();
    return Requeue::Done();
  });
  EXPECT_LT(executor->failures(), 0);
  EXPECT_EQ(after, std::chrono::milliseconds(300));
}

TEST(QueueMemoryTest, AFunctionThatThrowsIsCalledAgainThoughItsErrorFindsNoMemory) {
  const auto executor = MakeShared<testing::ManualExecutor>();
  const WorkQueue<int> queue({.executor = executor, .observer = NullObserver()});
  queue.Add(1);
  std::stop_source stop;
  int calls = 0;
  const Result<void> processed = queue.Process(1, stop.get_token(), [&](int) -> Result<Requeue> {
    if (++calls == 2) {
      stop.request_stop();
      return Requeue::Done();
    }
    const std::runtime_error thrown("a text that needs memory when it is copied into the error of the call");
    until_one_fails = 0;  // for that copy
    throw thrown;
  });
  EXPECT_EQ(std::exchange(until_one_fails, -1), -1);
  EXPECT_EQ(calls, 2);
}

// Adds `count` keys, each with a priority of its own, and fails every allocation of each addition once.
TEST(QueueMemoryTest, AddThrowsAndChangesNothingWithoutMemory) {
  constexpr int kKeys = 100;
  const auto executor = MakeShared<testing::ManualExecutor>();
  const WorkQueue<int> queue({.executor = executor});
  int thrown = 0;
  for (int key = 0; key < kKeys; ++key) {
    for (std::int64_t n = 0;; ++n) {
      until_one_fails = n;
      try {
        queue.Add(key, {.priority = key});
      } catch (const std::bad_alloc&) {
        ++thrown;
        ASSERT_EQ(queue.size(), static_cast<std::size_t>(key));
        ASSERT_EQ(queue.metrics().adds, static_cast<std::uint64_t>(key));
        continue;
      }
      until_one_fails = -1;
      break;
    }
  }
  // At least once for each item, and when the buckets, the bands and the heap of delayed items grew.
  EXPECT_GT(thrown, kKeys + 3);
  for (int taken = 1; taken <= kKeys; ++taken) {
    const auto item = queue.TryGet();
    ASSERT_TRUE(item);
    queue.Done(item->key);
  }
  EXPECT_FALSE(queue.TryGet());
}

// The first addition has already reserved what the later ones need.
TEST(QueueMemoryTest, AnItemThatIsQueuedMovesToTheDelayedOnesWithoutMemory) {
  const auto executor = MakeShared<testing::ManualExecutor>();
  const WorkQueue<int> queue({.executor = executor});
  for (int key = 0; key < 8; ++key) queue.Add(key);
  for (int key = 0; key < 8; ++key) {
    until_one_fails = 0;
    const auto item = queue.TryGet();
    if (item) queue.Add(item->key, {.after = Nanos::max()});  // without a timer
    if (item) queue.Done(item->key);
    EXPECT_EQ(std::exchange(until_one_fails, -1), 0);
  }
}

// Things with timers, none of which finds memory while it runs.
class PoorClockTest : public ::testing::Test {
 protected:
  ~PoorClockTest() override {
    transport_->EndAll();
    executor_->manual().Shutdown();
  }
  Connection MakeConnection() {
    return client::ConnectionState::Handle({transport_, executor_, NullObserver()}, {.host = "https://test"});
  }
  void Advance(Nanos duration) { executor_->manual().Advance(duration); }
  void ReplyBusy(int times) {
    for (int i = 0; i < times; ++i) transport_->Reply({.status = 500, .body = "busy"});
  }

  const Shared<testing::PoorClockExecutor> executor_ = MakeShared<testing::PoorClockExecutor>();
  const Shared<testing::FakeTransport> transport_ = MakeShared<testing::FakeTransport>();
};

TEST_F(PoorClockTest, ACandidateTriesAgainAndAgain) {
  ReplyBusy(1000);
  const auto elector = MakeShared<controller::ElectorState>(
      MakeConnection(), LeaderElectionOptions{.name = "shop", .namespace_ = "default", .identity = "a"});
  std::stop_source stop;
  const Timer end = executor_->manual().clock()->After(60s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(elector->Acquire(stop.get_token()).error().code(), Code::kCancelled);
  EXPECT_GT(transport_->size(), 10u);
  elector->Stop();
}

TEST_F(PoorClockTest, AnEventIsWrittenAfterAPauseAndItsSeriesEnds) {
  ReplyBusy(1);
  transport_->Reply({.status = 201, .body = "{}"});
  const EventRecorder recorder(MakeConnection(), {.controller = "shop.example.com/orders", .instance = "orders-0"});
  Unstructured pod;
  pod.apiVersion = "v1";
  pod.kind = "Pod";
  pod.metadata.name = "web-0";
  pod.metadata.namespace_ = "default";
  recorder.Event(pod, {.reason = "Started", .action = "Start", .note = "on node n1"});
  Advance(1min);
  EXPECT_EQ(transport_->size(), 2u);
  EXPECT_EQ(recorder.counts().written, 1u);
  Advance(1h);
  EXPECT_EQ(executor_->manual().manual_clock()->armed(), 0u) << "no series is left";
}

TEST_F(PoorClockTest, TheStopOfARecorderEndsAtItsLimit) {
  transport_->Hold();
  const EventRecorder recorder(MakeConnection(), {.controller = "shop.example.com/orders", .instance = "orders-0"});
  Unstructured pod;
  pod.apiVersion = "v1";
  pod.kind = "Pod";
  pod.metadata.name = "web-0";
  pod.metadata.namespace_ = "default";
  recorder.Event(pod, {.reason = "Started", .action = "Start", .note = "on node n1"});
  EXPECT_EQ(recorder.Stop(5s).error().code(), Code::kTimeout);
}

TEST_F(PoorClockTest, AReviewIsRepeatedAfterAPause) {
  ReplyBusy(1);
  transport_->Reply({.status = 201, .body = R"({"status":{"authenticated":false}})"});
  const auto review = MakeShared<controller::AccessReview>(MakeConnection());
  int status = 0;
  review->Review("Bearer abc", "get", "/metrics",
                 [&](const controller::AccessReview::Verdict& verdict) { status = verdict.status; });
  Advance(5s);
  EXPECT_EQ(status, 401);
}

TEST_F(PoorClockTest, ACheckRunsAgainAndOneThatHangsIsLate) {
  const auto running = MakeShared<controller::RunningWork>("the test");
  int runs = 0;
  const auto check = MakeShared<controller::HealthCheck>(
      "a",
      [&](const std::stop_token&) -> Result<controller::SharedCall::Text> {
        if (++runs < 3) return controller::SharedCall::Text();
        (void)executor_->MakeWaiter("hang")->Wait({}, executor_->clock()->Now() + 20s);
        return controller::SharedCall::Text();
      },
      executor_, running);
  check->Start();
  (void)check->Ask();
  Advance(5s);
  EXPECT_EQ(runs, 2);
  Nanos answered{};
  const TimePoint start = executor_->clock()->Now();
  const auto call = MakeShared<controller::SharedCall>(
      "b",
      [&](const std::stop_token&) -> Result<controller::SharedCall::Text> {
        (void)executor_->MakeWaiter("hang")->Wait({}, executor_->clock()->Now() + 20s);
        return controller::SharedCall::Text();
      },
      executor_, running);
  call->Call([&](const Result<controller::SharedCall::Text>& text) {
    EXPECT_EQ(text.error().code(), Code::kTimeout);
    answered = executor_->clock()->Now() - start;
  });
  Advance(1min);
  EXPECT_EQ(answered, 10s);
  check->Stop();
}

}  // namespace
}  // namespace kgen
#else
std::int64_t kgen::testing::LiveAllocations() noexcept { return 0; }
#endif
