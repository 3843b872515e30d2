// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/waiter.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "kgen/core/executor.h"
#include "kgen/core/stop.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;

class WaiterTest : public ::testing::Test {
 protected:
  Shared<Executor> pool_ = Must(MakeThreadPool());
  Shared<Waiter> waiter_ = pool_->MakeWaiter("the answer");
};

TEST_F(WaiterTest, RemembersANotificationBeforeTheWait) {
  waiter_->Notify();
  waiter_->Notify();
  EXPECT_TRUE(waiter_->Wait());
}

TEST_F(WaiterTest, ConsumesANotification) {
  waiter_->Notify();
  EXPECT_TRUE(waiter_->Wait());
  const auto again = waiter_->Wait({}, SystemClock()->Now() + 1ms);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kTimeout);
  EXPECT_NE(again.error().ToString().find("the answer"), std::string::npos);
}

TEST_F(WaiterTest, EndsWhenNotifiedFromAnotherThread) {
  std::jthread other([waiter = waiter_] { waiter->Notify(); });
  EXPECT_TRUE(waiter_->Wait());
}

TEST_F(WaiterTest, MayBeDroppedAsSoonAsTheWaitReturns) {
  const auto strand = pool_->MakeStrand("notifies");
  for (int i = 0; i < 10'000; ++i) {
    const Shared<Waiter> waiter = pool_->MakeWaiter("the answer");
    pool_->Post(strand, [&notified = *waiter] { notified.Notify(); });  // without a reference of its own
    ASSERT_TRUE(waiter->Wait());
  }
}

TEST_F(WaiterTest, EndsWithAStopRequestedBeforeOrDuringIt) {
  std::stop_source stop;
  std::jthread other([&] { stop.request_stop(); });
  for (int i = 0; i < 2; ++i) {
    const auto result = waiter_->Wait(stop.get_token());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::kCancelled);
  }
}

TEST_F(WaiterTest, CanBeUsedAgainAfterEveryKindOfEnd) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(waiter_->Wait(stop.get_token()));
  EXPECT_FALSE(waiter_->Wait({}, SystemClock()->Now()));
  waiter_->Notify();
  EXPECT_TRUE(waiter_->Wait());
}

TEST_F(WaiterTest, LooksAtStopAndDeadlineFirstAndKeepsTheNotification) {
  std::stop_source stop;
  stop.request_stop();
  waiter_->Notify();
  for (int i = 0; i < 2; ++i) {
    const auto stopped = waiter_->Wait(stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code(), Code::kCancelled);
    const auto late = waiter_->Wait({}, SystemClock()->Now());
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kTimeout);
  }
  EXPECT_TRUE(waiter_->Wait());
}

TEST(Wait, ReturnsAtOnceForATokenThatCanNeverStop) { Wait({}); }

TEST(Wait, ReturnsWhenTheStopIsRequested) {
  std::stop_source stop;
  std::jthread other([&] { stop.request_stop(); });
  Wait(stop.get_token());
  EXPECT_TRUE(stop.stop_requested());
}

}  // namespace
}  // namespace kgen
