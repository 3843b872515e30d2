// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <thread>

#include "tests/support/signal.h"

namespace kgen::net {
namespace {

using test_support::Signal;

TEST(EventLoop, RunsEverythingOnOneThreadEvenWhileItStops) {
  const auto loop = EventLoop::Make();
  std::set<std::thread::id> threads;  // of the loop's thread; read after Stop()
  std::function<void(int)> chain = [&](int left) {
    threads.insert(std::this_thread::get_id());
    EXPECT_TRUE(loop->InLoop());
    if (left == 0) return;
    EXPECT_TRUE(loop->Post([&chain, left] { chain(left - 1); }));
  };
  EXPECT_TRUE(loop->Post([&] { chain(20000); }));
  loop->Stop();
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
  EXPECT_FALSE(loop->InLoop());
}

TEST(EventLoop, AcceptsNothingAfterItHasStopped) {
  const auto loop = EventLoop::Make();
  EXPECT_TRUE(loop->Post([] {}));
  loop->Stop();
  EXPECT_FALSE(loop->Post([] { ADD_FAILURE() << "ran after the stop"; }));
  loop->Stop();
}

TEST(EventLoop, StopsEvenIfItNeverRan) { EventLoop::Make()->Stop(); }

TEST(EventLoop, EndsItsUsersAndTimersWhenItStops) {
  struct Ended final : EventLoop::User {
    void OnLoopStop() noexcept override { ++count; }
    int count = 0;
  } user;
  const auto loop = EventLoop::Make();
  Timer timer;
  loop->Post([&] {
    loop->Register(&user);
    timer = loop->After(std::chrono::hours(1), [] { ADD_FAILURE() << "an hour has passed"; });
  });
  loop->Stop();
  EXPECT_EQ(user.count, 1);
}

TEST(EventLoop, RunsATimerOnceAndNeverACancelledOne) {
  const auto loop = EventLoop::Make();
  Signal signal;
  int fired = 0;
  Timer kept, cancelled;
  loop->Post([&] {
    cancelled = loop->After(Nanos(0), [] { ADD_FAILURE() << "was cancelled"; });
    cancelled.Cancel();
    kept = loop->After(std::chrono::milliseconds(1), [&] { signal.Change([&] { ++fired; }); });
  });
  EXPECT_TRUE(signal.WaitFor([&] { return fired == 1; }));
  loop->Stop();
  EXPECT_EQ(fired, 1);
}

TEST(EventLoop, WritesAddressesAsInAUrl) {
  EXPECT_EQ((Address{"127.0.0.1", 80}.ToString()), "127.0.0.1:80");
  EXPECT_EQ((Address{"::1", 6443}.ToString()), "[::1]:6443");
  EXPECT_TRUE(IsIpAddress("10.0.0.1"));
  EXPECT_TRUE(IsIpAddress("fe80::1"));
  EXPECT_FALSE(IsIpAddress("10.0.0"));
  EXPECT_FALSE(IsIpAddress("localhost"));
}

}  // namespace
}  // namespace kgen::net
