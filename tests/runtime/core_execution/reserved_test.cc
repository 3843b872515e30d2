// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What was reserved works while no thread gets any memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "cache/reflector/strand_timer.h"
#include "core/execution/sleeper.h"
#include "kgen/core/executor.h"

// ThreadSanitizer has an operator new of its own, in place of this one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGEN_TEST_WITHOUT_OWN_NEW 1
#endif
#endif

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
namespace {
std::atomic<bool> no_memory{false};  // for all threads
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (no_memory.load(std::memory_order_relaxed)) throw std::bad_alloc();
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace kgen {
namespace {

using namespace std::chrono_literals;

class ReservedTest : public ::testing::Test {
 protected:
  ~ReservedTest() override { no_memory = false; }
  // Sleeps until woken, at most half a minute.
  bool Woken() {
    const bool woken = sleeper_->SleepUntil(SystemClock()->Now() + 30s);
    no_memory = false;
    return woken;
  }

  const Shared<detail::Sleeper> sleeper_ = detail::MakeSleeper();
  const Shared<Executor> pool_ = Must(MakeThreadPool({.threads = 2, .max_threads = 4}));
  const Shared<Strand> strand_ = pool_->MakeStrand("reserved");
};

TEST_F(ReservedTest, AStrandTimerFiresWithoutMemory) {
  cache::StrandTimer timer(pool_, strand_);
  no_memory = true;
  timer.After(1ms, TimerKind::kProgress, [this] { sleeper_->Wake(); });
  EXPECT_TRUE(Woken());
}

TEST_F(ReservedTest, AStrandTimerIsArmedAgainAndAgainWithoutMemory) {
  cache::StrandTimer timer(pool_, strand_);
  int fired = 0;
  Task arm = [&] {
    timer.After(0ms, TimerKind::kProgress, [&] {
      if (++fired == 100) return sleeper_->Wake();
      arm();
    });
  };
  no_memory = true;
  arm();
  EXPECT_TRUE(Woken());
  EXPECT_EQ(fired, 100);
}

TEST_F(ReservedTest, AReservedPostRunsWithoutMemoryAndTheNewestTaskReplacesAWaitingOne) {
  const Shared<ReservedPost> block = pool_->ReservePost(strand_), post = pool_->ReservePost(strand_);
  const Shared<detail::Sleeper> gate = detail::MakeSleeper();
  int first = 0, second = 0;
  no_memory = true;
  block->Post([&] { gate->SleepUntil(TimePoint::max()); });
  post->Post([&] { ++first; });
  post->Post([&] {
    ++second;
    sleeper_->Wake();
  });
  gate->Wake();
  EXPECT_TRUE(Woken());
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST_F(ReservedTest, APostThatCannotBeMadeLeavesItsStrandAlive) {
  no_memory = true;
  EXPECT_THROW(pool_->Post(strand_, [] {}), std::bad_alloc);
  EXPECT_THROW(pool_->BlockingOn(strand_, [] {}), std::bad_alloc);
  no_memory = false;
  pool_->Post(strand_, [this] { sleeper_->Wake(); });
  EXPECT_TRUE(Woken());
}

TEST_F(ReservedTest, ADestroyedTimerHoldsNothing) {
  struct Counted : SharedObject {
    explicit Counted(std::atomic<int>& n) : count(n) { ++count; }
    ~Counted() override { --count; }
    std::atomic<int>& count;
  };
  std::atomic<int> alive = 0;
  {
    const Shared<ReservedTimer> timer = pool_->clock()->ReserveTimer();
    timer->Set(SystemClock()->Now() + 1h, TimerKind::kHousekeeping, [held = MakeShared<Counted>(alive)] {});
    timer->Set(SystemClock()->Now() + 2h, TimerKind::kHousekeeping, [held = MakeShared<Counted>(alive)] {});
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace kgen
#endif
