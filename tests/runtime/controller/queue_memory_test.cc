// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue::Add when an allocation fails: it throws and leaves the queue as it was.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/controller/work_queue.h"
#include "tests/support/manual_executor.h"

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
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (until_one_fails >= 0 && until_one_fails-- == 0) throw std::bad_alloc();
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace kgen {
namespace {

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

}  // namespace
}  // namespace kgen
#endif
