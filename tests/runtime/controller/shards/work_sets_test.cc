// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/work_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

const ShardRanges kLow = {{0, 99}};
const ShardRanges kHigh = {{100, 199}};
constexpr TimePoint At(Nanos since) { return TimePoint(since); }

class WorkSetsTest : public ::testing::Test {
 protected:
  // The work on these ranges goes on.
  void Begin(const ShardRanges& ranges) {
    sets_.Assign(ranges, {}, At(0s));
    EXPECT_EQ(sets_.BeginPrepare(), ranges);
    sets_.EndPrepare(true);
    EXPECT_EQ(sets_.Ready(), ranges);
    sets_.BeginStart(ranges);
    sets_.EndStart();
  }
  WorkSets sets_{{.refuse = 30s, .give_up = 10s}};
};

TEST_F(WorkSetsTest, PreparesThenStartsThenDrains) {
  Begin(kLow);
  EXPECT_EQ(sets_.working(), kLow);
  EXPECT_FALSE(sets_.calls_under_way());
  sets_.Assign({}, {}, At(1s));
  EXPECT_EQ(sets_.working(), ShardRanges());
  EXPECT_EQ(sets_.draining(), kLow);
  const auto drain = sets_.BeginDrain();
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->ranges, kLow);
  EXPECT_FALSE(sets_.BeginDrain());
  EXPECT_EQ(sets_.EndDrain(drain->id, ShardVersions{{"pods", "7"}}), kLow);
  EXPECT_EQ(sets_.draining(), ShardRanges());
  EXPECT_EQ(sets_.versions(), (ShardVersions{{"pods", "7"}}));
  EXPECT_FALSE(sets_.calls_under_way());
}

TEST_F(WorkSetsTest, DrainsWhatComesBackInTheSameStep) {
  Begin(kLow);
  sets_.Assign(kLow, {}, At(1s));  // its own again, but not without a break
  EXPECT_EQ(sets_.draining(), kLow);
  EXPECT_FALSE(sets_.BeginPrepare());  // not before it is drained
  const auto drain = sets_.BeginDrain();
  sets_.EndDrain(drain->id, ShardVersions());
  EXPECT_EQ(sets_.BeginPrepare(), kLow);
}

TEST_F(WorkSetsTest, KeepsWhatItHasWithoutABreak) {
  Begin(kLow);
  sets_.Assign(kLow | kHigh, kLow, At(1s));
  EXPECT_EQ(sets_.working(), kLow);
  EXPECT_EQ(sets_.draining(), ShardRanges());
  EXPECT_EQ(sets_.BeginPrepare(), kHigh);
}

TEST_F(WorkSetsTest, DropsWhatWasPreparedForNothing) {
  sets_.Assign(kLow | kHigh, {}, At(0s));
  sets_.BeginPrepare();
  sets_.Assign(kHigh, {}, At(1s));
  EXPECT_TRUE(sets_.ShouldStopPreparing());
  EXPECT_FALSE(sets_.BeginDrain());  // while it is being prepared
  sets_.EndPrepare(true);
  EXPECT_EQ(sets_.Ready(), kHigh);
  const auto drain = sets_.BeginDrain();
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->ranges, kLow);
  EXPECT_EQ(sets_.draining(), ShardRanges());  // others need not wait for what was never started
  EXPECT_EQ(sets_.EndDrain(drain->id, {}), ShardRanges());
  EXPECT_EQ(sets_.unsure(), ShardRanges());
}

TEST_F(WorkSetsTest, PreparesAgainAfterAFailure) {
  sets_.Assign(kLow, {}, At(0s));
  sets_.BeginPrepare();
  sets_.EndPrepare(false);
  EXPECT_TRUE(sets_.Ready().empty());
  EXPECT_EQ(sets_.BeginPrepare(), kLow);
}

TEST_F(WorkSetsTest, DrainsAfterTheCallThatStarts) {
  sets_.Assign(kLow, {}, At(0s));
  sets_.BeginPrepare();
  sets_.EndPrepare(true);
  sets_.BeginStart(kLow);
  sets_.Assign({}, {}, At(1s));
  EXPECT_EQ(sets_.draining(), kLow);
  EXPECT_FALSE(sets_.BeginDrain());
  sets_.EndStart();
  EXPECT_TRUE(sets_.BeginDrain());
}

TEST_F(WorkSetsTest, RefusesWritesAfterTheLimitAndWaitsNoLongerAfterTheNext) {
  Begin(kLow);
  sets_.Assign({}, {}, At(100s));
  const auto drain = sets_.BeginDrain();
  EXPECT_EQ(sets_.NextExpiry(), At(130s));
  EXPECT_EQ(sets_.Expire(At(129s)), ShardRanges());
  EXPECT_EQ(sets_.Expire(At(130s)), kLow);
  EXPECT_EQ(sets_.draining(), kLow);
  EXPECT_EQ(sets_.NextExpiry(), At(140s));
  EXPECT_EQ(sets_.Expire(At(140s)), ShardRanges());
  EXPECT_EQ(sets_.draining(), ShardRanges());
  EXPECT_EQ(sets_.unsure(), kLow);
  EXPECT_EQ(sets_.NextExpiry(), std::nullopt);
  sets_.Assign(kLow, {}, At(150s));
  EXPECT_FALSE(sets_.BeginPrepare());  // its call of Drain() has not returned
  sets_.EndDrain(drain->id, ShardVersions());
  EXPECT_EQ(sets_.BeginPrepare(), kLow);
}

TEST_F(WorkSetsTest, IsUnsureOfWhatWasDrainedWithoutVersionsUntilItStartsAgain) {
  Begin(kLow);
  sets_.Assign({}, {}, At(1s));
  sets_.EndDrain(sets_.BeginDrain()->id, {});
  EXPECT_EQ(sets_.unsure(), kLow);
  Begin({{0, 49}});
  EXPECT_EQ(sets_.unsure(), ShardRanges({{50, 99}}));
}

}  // namespace
}  // namespace kgen::controller
