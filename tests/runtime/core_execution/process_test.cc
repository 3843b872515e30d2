// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Behaviour of a whole process: signals, and its exit while work is running. Each test forks through a death test.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/stop.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::ExitedWithCode;

// Bodies of processes; each ends its process.

[[noreturn]] void StopBySignal() {
  const std::stop_token stop = StopOnSignals();
  if (!(stop == StopOnSignals()) || stop.stop_requested()) std::exit(1);
  raise(SIGTERM);
  Wait(stop);
  std::exit(7);
}

[[noreturn]] void GetASecondSignalInsideAStopCallback() {
  const std::stop_token stop = StopOnSignals();
  const std::stop_callback callback(stop, [] {
    raise(SIGINT);
    std::exit(1);
  });
  raise(SIGTERM);
  for (;;) pause();
}

[[noreturn]] void ExitWhileWorkIsUnderWay() {
  const auto executor = DefaultExecutor();
  const auto ready = executor->MakeWaiter("ready");
  const auto strand = executor->MakeStrand("busy");
  executor->Blocking("for ever", [executor, ready] {
    ready->Notify();
    (void)executor->MakeWaiter("for ever")->Wait();
  });
  static Timer timer =
      executor->clock()->After(0ms, TimerKind::kHousekeeping, [executor, strand] { executor->Post(strand, [] {}); });
  if (!ready->Wait()) std::exit(1);
  std::exit(3);
}

[[noreturn]] void Observe() {
  const Error error(Code::kUnavailable, "connection refused\nreally");
  const ObjectKey key = ObjectKey::Namespaced("default", "web-0");
  StderrObserver()->OnListOrWatchFailed({.informer = "pods", .error = &error, .attempt = 3, .retry_in = 1600ms});
  StderrObserver()->OnFieldRefused(
      {.informer = "pods", .key = &key, .path = "spec.replicas", .message = "not a number"});
  std::exit(0);
}

void DropAPoolOnItsOwnThread() {
  static std::atomic<int> gone = 0;
  const int before = gone;
  std::atomic<bool> go = false;
  Shared<Executor> executor = Must(MakeThreadPool());
  executor->Blocking("last", [&go, held = executor]() mutable {
    go.wait(false);
    held = {};
    ++gone;
    gone.notify_one();
  });
  executor = {};
  go = true;
  go.notify_one();
  gone.wait(before);
}

[[noreturn]] void DropAPoolDuringTheExit() {
  std::atexit([] { DropAPoolOnItsOwnThread(); });  // runs after the handler that the next line registers
  DropAPoolOnItsOwnThread();
  std::exit(4);
}

class ProcessDeathTest : public ::testing::Test {
 protected:
  ProcessDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProcessDeathTest, APoolMayBeDroppedByItsOwnThreadDuringTheExit) {
  EXPECT_EXIT(DropAPoolDuringTheExit(), ExitedWithCode(4), "^$");  // TSan would write of a leaked thread
}

// Contract: controller 22.
TEST_F(ProcessDeathTest, TheFirstSignalStopsTheToken) { EXPECT_EXIT(StopBySignal(), ExitedWithCode(7), ""); }

// Contract: controller 22.
TEST_F(ProcessDeathTest, TheSecondSignalExitsWith128PlusItsNumberEvenFromInsideAStopCallback) {
  EXPECT_EXIT(GetASecondSignalInsideAStopCallback(), ExitedWithCode(128 + SIGINT), "");
}

// Contract: design D11.
TEST_F(ProcessDeathTest, ExitsCleanlyWhileWorkIsStillRunning) {
  EXPECT_EXIT(ExitWhileWorkIsUnderWay(), ExitedWithCode(3), "");
}

TEST_F(ProcessDeathTest, TheObserverWritesOneLineForEachEvent) {
  EXPECT_EXIT(Observe(), ExitedWithCode(0),
              "^20[0-9-]{8}T[0-9:]{8}\\.[0-9]{3}Z WARNING kgen: pods: list failed: connection refused really "
              "\\(Unavailable\\); next attempt in 1.6 s after 3 failures in a row\n"
              "20[0-9-]{8}T[0-9:]{8}\\.[0-9]{3}Z WARNING kgen: pods default/web-0: field spec.replicas has the wrong "
              "type and reads as absent: not a number\n");
}

}  // namespace
}  // namespace kgen
