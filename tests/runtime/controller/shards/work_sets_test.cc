// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/work_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

const ShardRanges kLowHalf = {{0, 99}};
const ShardRanges kHighHalf = {{100, 199}};
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
  Begin(kLowHalf);
  EXPECT_EQ(sets_.working(), kLowHalf);
  EXPECT_FALSE(sets_.calls_under_way());
  sets_.Assign({}, {}, At(1s));
  EXPECT_EQ(sets_.working(), ShardRanges());
  EXPECT_EQ(sets_.draining(), kLowHalf);
  const auto drain = sets_.BeginDrain();
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->ranges, kLowHalf);
  EXPECT_FALSE(sets_.BeginDrain());
  EXPECT_EQ(sets_.EndDrain(drain->id, ShardVersions{{"pods", "7"}}), kLowHalf);
  EXPECT_EQ(sets_.draining(), ShardRanges());
  EXPECT_EQ(sets_.versions(), (ShardVersions{{"pods", "7"}}));
  EXPECT_FALSE(sets_.calls_under_way());
}

TEST_F(WorkSetsTest, DrainsWhatComesBackInTheSameStep) {
  Begin(kLowHalf);
  sets_.Assign(kLowHalf, {}, At(1s));  // its own again, but not without a break
  EXPECT_EQ(sets_.draining(), kLowHalf);
  EXPECT_FALSE(sets_.BeginPrepare());  // not before it is drained
  const auto drain = sets_.BeginDrain();
  sets_.EndDrain(drain->id, ShardVersions());
  EXPECT_EQ(sets_.BeginPrepare(), kLowHalf);
}

TEST_F(WorkSetsTest, KeepsWhatItHasWithoutABreak) {
  Begin(kLowHalf);
  sets_.Assign(kLowHalf | kHighHalf, kLowHalf, At(1s));
  EXPECT_EQ(sets_.working(), kLowHalf);
  EXPECT_EQ(sets_.draining(), ShardRanges());
  EXPECT_EQ(sets_.BeginPrepare(), kHighHalf);
}

TEST_F(WorkSetsTest, DropsWhatWasPreparedForNothing) {
  sets_.Assign(kLowHalf | kHighHalf, {}, At(0s));
  sets_.BeginPrepare();
  sets_.Assign(kHighHalf, {}, At(1s));
  EXPECT_TRUE(sets_.ShouldStopPreparing());
  EXPECT_FALSE(sets_.BeginDrain());  // while it is being prepared
  sets_.EndPrepare(true);
  EXPECT_EQ(sets_.Ready(), kHighHalf);
  const auto drain = sets_.BeginDrain();
  ASSERT_TRUE(drain);
  EXPECT_EQ(drain->ranges, kLowHalf);
  EXPECT_EQ(sets_.draining(), ShardRanges());  // others need not wait for what was never started
  EXPECT_EQ(sets_.EndDrain(drain->id, {}), ShardRanges());
  EXPECT_EQ(sets_.unsure(), ShardRanges());
}

TEST_F(WorkSetsTest, PreparesAgainAfterAFailure) {
  sets_.Assign(kLowHalf, {}, At(0s));
  sets_.BeginPrepare();
  sets_.EndPrepare(false);
  EXPECT_TRUE(sets_.Ready().empty());
  EXPECT_EQ(sets_.BeginPrepare(), kLowHalf);
}

TEST_F(WorkSetsTest, DrainsAfterTheCallThatStarts) {
  sets_.Assign(kLowHalf, {}, At(0s));
  sets_.BeginPrepare();
  sets_.EndPrepare(true);
  sets_.BeginStart(kLowHalf);
  sets_.Assign({}, {}, At(1s));
  EXPECT_EQ(sets_.draining(), kLowHalf);
  EXPECT_FALSE(sets_.BeginDrain());
  sets_.EndStart();
  EXPECT_TRUE(sets_.BeginDrain());
}

TEST_F(WorkSetsTest, RefusesWritesAfterTheLimitAndWaitsNoLongerAfterTheNext) {
  Begin(kLowHalf);
  sets_.Assign({}, {}, At(100s));
  const auto drain = sets_.BeginDrain();
  EXPECT_EQ(sets_.NextExpiry(), At(130s));
  EXPECT_EQ(sets_.Expire(At(129s)), ShardRanges());
  EXPECT_EQ(sets_.Expire(At(130s)), kLowHalf);
  EXPECT_EQ(sets_.draining(), kLowHalf);
  EXPECT_EQ(sets_.NextExpiry(), At(140s));
  EXPECT_EQ(sets_.Expire(At(140s)), ShardRanges());
  EXPECT_EQ(sets_.draining(), ShardRanges());
  EXPECT_EQ(sets_.unsure(), kLowHalf);
  EXPECT_EQ(sets_.NextExpiry(), std::nullopt);
  sets_.Assign(kLowHalf, {}, At(150s));
  EXPECT_FALSE(sets_.BeginPrepare());  // its call of Drain() has not returned
  sets_.EndDrain(drain->id, ShardVersions());
  EXPECT_EQ(sets_.BeginPrepare(), kLowHalf);
}

TEST_F(WorkSetsTest, IsUnsureOfWhatWasDrainedWithoutVersionsUntilItStartsAgain) {
  Begin(kLowHalf);
  sets_.Assign({}, {}, At(1s));
  sets_.EndDrain(sets_.BeginDrain()->id, {});
  EXPECT_EQ(sets_.unsure(), kLowHalf);
  Begin({{0, 49}});
  EXPECT_EQ(sets_.unsure(), ShardRanges({{50, 99}}));
}

}  // namespace
}  // namespace kgen::controller
