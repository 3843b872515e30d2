// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Heap, locks, executor, clock, waiters and signals in a forked child.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/core/executor.h"
#include "kgen/core/map.h"
#include "kgen/core/stop.h"
#include "kgen/core/string.h"
#include "tests/runtime/fork/forked.h"
#include "tests/support/signal.h"

// Where the leak checker is: the objects of a child are left alone, and threads that held others do not exist.
// NOLINTBEGIN(bugprone-reserved-identifier): the leak checker calls the function by this name
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return kgen::detail::ForkedChild() ? 1 : 0; }
// NOLINTEND(bugprone-reserved-identifier)

namespace kgen::test_support {
namespace {

using namespace std::chrono_literals;
using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

// Starts the threads of pool and clock, so that later children are forked ones.
void UseKgen() {
  const auto executor = DefaultExecutor();
  const auto waiter = executor->MakeWaiter("a timer");
  const Timer timer = executor->clock()->After(0ms, TimerKind::kProgress, [waiter] { waiter->Notify(); });
  Must(waiter->Wait());
  executor->Blocking("notify", [waiter] { waiter->Notify(); });
  Must(waiter->Wait());
}

// Takes and frees blocks of every size.
std::string UseValues() {
  Map<String> map;
  for (std::size_t size = 1; size < 40'000; size += size / 8 + 1) map[std::to_string(size)] = std::string(size, 'x');
  const Map<String> copy = map;
  map.clear();
  return copy == map ? "the copy is empty" : "success";
}

// ------------------------------------------------------------------------------------------------------------- values

TEST(ForkedHeap, WorksWhileOtherThreadsOfTheParentAllocate) {
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> busy;
    for (int i = 0; i < 3; ++i) {
      busy.emplace_back([&] {
        while (!stop.load()) UseValues();
      });
    }
    for (int i = 0; i < 100 && !::testing::Test::HasFailure(); ++i) {
      const Ending child = InChild(UseValues);
      EXPECT_EQ(child.said, "success") << "signal " << child.signal;
    }
    stop = true;
  }
  EXPECT_EQ(UseValues(), "success");
}

TEST(ForkedHeap, WorksInAChildOfAChild) {
  UseKgen();
  const Ending child = InChild([] { return InChild(UseValues).said; });
  EXPECT_EQ(child.said, "success") << "signal " << child.signal;
}

// -------------------------------------------------------------------------------------------------------------- locks

// A task that stops when one thread moves it for the n-th time: executor and clock move tasks while they hold a lock.
struct StopsInAMove {
  struct State {
    int stop_at = 0;
    int moves = 0;
    Signal signal{};
    bool stopped = false, go = false;
  };
  static inline thread_local State* here = nullptr;  // of the thread that is to stop

  StopsInAMove() noexcept = default;
  StopsInAMove(StopsInAMove&&) noexcept {
    State* const state = here;
    if (state == nullptr || ++state->moves != state->stop_at) return;
    state->signal.Change([&] { state->stopped = true; });
    state->signal.WaitFor([&] { return state->go; });
  }
  void operator()() const noexcept {}
};

// Calls `test` while another thread is stopped in each move of a task that `give` hands over.
void AtEachMove(const std::function<void(StopsInAMove)>& give, const std::function<void()>& test) {
  bool more = true;
  for (int n = 1; more && !::testing::Test::HasFailure(); ++n) {
    StopsInAMove::State state;
    state.stop_at = n;
    bool ended = false;
    {
      const std::jthread giver([&] {
        StopsInAMove::here = &state;
        give(StopsInAMove());
        state.signal.Change([&] { ended = true; });
      });
      ASSERT_TRUE(state.signal.WaitFor([&] { return state.stopped || ended; }));
      more = state.signal.Look([&] { return state.stopped; });
      if (more) test();
      state.signal.Change([&] { state.go = true; });
    }
    if (!more) {
      EXPECT_GT(n, 2) << "no move was stopped";
    }
  }
}

std::string UseExecutor(Executor& executor, const Shared<Strand>& strand) {
  executor.Post(strand, [] {});
  executor.BlockingOn(strand, [] {});
  executor.Blocking("work", [] {});
  executor.BlockingShort("work", [] {});
  executor.ReportTo({});
  const auto waiter = executor.MakeWaiter("forever");
  waiter->Notify();
  return Text(waiter->Wait());
}

TEST(ForkedExecutor, DoesNotWaitForALockThatAThreadOfTheParentHeld) {
  UseKgen();
  const auto executor = Must(MakeThreadPool());
  const auto strand = executor->MakeStrand("strand");
  const auto test = [&] {
    const Ending child = InChild([&] { return UseExecutor(*executor, strand); });
    EXPECT_THAT(child.said, HasSubstr(kForked)) << "signal " << child.signal;
  };
  AtEachMove([&](StopsInAMove task) { executor->Blocking("task", std::move(task)); }, test);
  AtEachMove([&](StopsInAMove task) { executor->Post(strand, std::move(task)); }, test);
}

TEST(ForkedClock, DoesNotWaitForALockThatAThreadOfTheParentHeld) {
  UseKgen();
  const auto clock = SystemClock();
  Timer before = clock->After(1h, TimerKind::kProgress, [] {});
  const auto test = [&] {
    const Ending child = InChild([&] {
      const TimePoint now = clock->Now();
      const Timer timer = clock->After(0ms, TimerKind::kProgress, [] {});
      before.Cancel();
      return timer || clock->Now() < now ? "a timer" : "success";
    });
    EXPECT_EQ(child.said, "success") << "signal " << child.signal;
  };
  AtEachMove([&](StopsInAMove task) { (void)clock->After(1h, TimerKind::kProgress, std::move(task)); }, test);
}

TEST(ForkedMutex, IsNotWaitedFor) {
  UseKgen();
  Mutex mutex;
  Signal signal;
  bool held = false, go = false;
  const std::jthread holder([&] {
    const MutexLock lock(mutex);
    signal.Change([&] { held = true; });
    signal.WaitFor([&] { return go; });
  });
  ASSERT_TRUE(signal.WaitFor([&] { return held; }));
  const Ending child = InChild([&] {
    const MutexLock lock(mutex);
    return "success";
  });
  signal.Change([&] { go = true; });
  EXPECT_EQ(child.said, "success") << "signal " << child.signal;
}

// ------------------------------------------------------------------------------------------------------------- waiting

TEST(ForkedWaiter, FailsAtOnceWithAStopTokenThatAnotherThreadIsStopping) {
  UseKgen();
  const auto waiter = DefaultExecutor()->MakeWaiter("forever");
  Signal signal;
  bool stopping = false, go = false;
  std::stop_source stop;
  const std::stop_callback callback(stop.get_token(), [&] {
    signal.Change([&] { stopping = true; });
    signal.WaitFor([&] { return go; });
  });
  const std::jthread stopper([&] { stop.request_stop(); });
  ASSERT_TRUE(signal.WaitFor([&] { return stopping; }));
  const Ending child = InChild([&] { return Text(waiter->Wait(stop.get_token(), SystemClock()->Now() + 1h)); });
  signal.Change([&] { go = true; });
  EXPECT_THAT(child.said, HasSubstr(kForked)) << "signal " << child.signal;
}

TEST(ForkedWaiter, WaitForAStopReturnsAtOnce) {
  UseKgen();
  const std::stop_source stop;
  const Ending child = InChild([&] {
    Wait(stop.get_token());
    return "success";
  });
  EXPECT_EQ(child.said, "success") << "signal " << child.signal;
}

TEST(ForkedExecutor, MakesNoPoolThatWorks) {
  UseKgen();
  const Ending child = InChild([] {
    const auto executor = Must(MakeThreadPool());
    return UseExecutor(*executor, executor->MakeStrand("strand"));
  });
  EXPECT_THAT(child.said, HasSubstr(kForked)) << "signal " << child.signal;
}

TEST(ForkedExecutor, SaysWhatToDo) {
  UseKgen();
  const Ending child = InChild([] { return UseExecutor(*DefaultExecutor(), DefaultExecutor()->MakeStrand("strand")); });
  EXPECT_EQ(child.said,
            "this process was forked after kgen had started threads, which do not exist here; call exec, or fork "
            "before the first use of kgen (InvalidArgument)");
}

// ------------------------------------------------------------------------------------------------------ ends of a
// child

TEST(ForkedExecutor, IsLeftAloneWhenItsLastHandleGoes) {
  UseKgen();
  auto executor = Must(MakeThreadPool());
  const auto waiter = executor->MakeWaiter("work");
  executor->Blocking("notify", [waiter] { waiter->Notify(); });
  Must(waiter->Wait());
  const Ending child = InChild([&] {
    executor = {};
    return "success";
  });
  EXPECT_EQ(child.said, "success") << "signal " << child.signal;
  executor->Blocking("notify", [waiter] { waiter->Notify(); });
  EXPECT_TRUE(waiter->Wait());
}

TEST(ForkedChild, RunsItsExitHandlersAndEnds) {
  UseKgen();
  const Ending child = InChild([]() -> std::string { std::exit(3); });
  EXPECT_EQ(child.exit_code, 3) << "signal " << child.signal;
}

TEST(ForkedChild, EndsWhenTheTaskThatForkedReturnsAndRunsNoOther) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer crashes when the only thread of a forked child ends";
  UseKgen();
  const auto executor = DefaultExecutor();
  for (const bool posted : {false, true}) {
    const auto strand = executor->MakeStrand("strand");
    const auto waiter = executor->MakeWaiter("the second task");
    std::atomic<pid_t> child{0};
    const pid_t parent = ::getpid();
    const auto forks = [&child] {
      const pid_t forked = ::fork();
      if (forked == 0) ::alarm(kChildSeconds);
      child = forked;
    };
    const auto second = [waiter, parent] {
      if (::getpid() != parent) ::_exit(9);
      waiter->Notify();
    };
    const auto give = [&](auto task) {
      posted ? executor->Post(strand, std::move(task)) : executor->BlockingOn(strand, std::move(task));
    };
    give(forks);
    give(second);
    Must(waiter->Wait());
    const Ending ending = WaitFor(child);
    EXPECT_EQ(ending.exit_code, 0) << "signal " << ending.signal << ", posted: " << posted;
  }
}

// ------------------------------------------------------------------------------------------------------------- signals

[[noreturn]] void SendASignalToAChild() {
  const std::stop_token stop = StopOnSignals();
  const Ending child = InChild([]() -> std::string {
    Wait(StopOnSignals());  // returns at once: the signal has its default action
    ::raise(SIGTERM);
    for (;;) ::pause();
  });
  if (child.signal != SIGTERM) std::exit(1);
  // A signal to the parent stops its token. Had the child's signal stopped it too, this would be the second.
  if (stop.stop_requested()) std::exit(2);
  ::raise(SIGTERM);
  Wait(stop);
  std::exit(7);
}

TEST(ForkedSignalsDeathTest, ASignalEndsTheChildAndDoesNotStopTheParent) {
  if (kThreadSanitizer) GTEST_SKIP() << "a handler of ThreadSanitizer is in between, and does not end the child";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(SendASignalToAChild(), ExitedWithCode(7), "");
}

// ------------------------------------------------------------------------------------------------- before the first
// use

[[noreturn]] void ForkBeforeTheFirstUse() {
  const auto use = [] {
    const auto executor = DefaultExecutor();
    const auto waiter = executor->MakeWaiter("a timer");
    const Timer timer = executor->clock()->After(0ms, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    return Text(waiter->Wait()) + ", " + UseValues();
  };
  const String before(std::string(100, 'x'));  // values are no use that counts
  const Ending child = InChild([&] { return String(before) == before ? use() : std::string("another value"); });
  if (child.said != "success, success") std::exit(1);
  if (use() != "success, success") std::exit(2);
  if (InChild(use).said == "success, success") std::exit(3);
  std::exit(7);
}

TEST(ForkBeforeUseDeathTest, LeavesParentAndChildAsTheyAre) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ForkBeforeTheFirstUse(), ExitedWithCode(7), "");
}

TEST(ForkedChild, IsNotWhatASpawnedProgramLeavesBehind) {
  UseKgen();
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  ASSERT_EQ(::posix_spawnp(&child, name, nullptr, nullptr, arguments, environ), 0);
  EXPECT_EQ(WaitFor(child).exit_code, 0);
  child = ::vfork();  // NOLINT(bugprone-unsafe-functions,clang-analyzer-security.insecureAPI.vfork): the case
  if (child == 0) {
    ::execvp(name, arguments);
    ::_exit(1);
  }
  EXPECT_EQ(WaitFor(child).exit_code, 0);
  EXPECT_EQ(std::system("true"), 0);
  EXPECT_FALSE(detail::ForkedChild());
}

}  // namespace
}  // namespace kgen::test_support
