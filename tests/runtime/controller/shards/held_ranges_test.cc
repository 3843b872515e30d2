// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HeldRanges: what of an informer is readable while its ranges change.
#include "controller/caches/held_ranges.h"

#include <gtest/gtest.h>

namespace kgen::controller {
namespace {

const ShardRanges kLow{{0, 99}}, kHigh{{100, 199}}, kBoth{{0, 199}};

void Hold(HeldRanges& held, std::uint64_t number, const ShardRanges& ranges) {
  held.Narrow(ranges);
  held.Told(number, ranges);
}

TEST(HeldRangesTest, NothingIsReadableBeforeTheInformerHasIt) {
  HeldRanges held;
  EXPECT_EQ(held.Readable(5, 0), 0u);
  Hold(held, 1, kLow);
  EXPECT_EQ(held.Readable(5, 0), 0u);
  EXPECT_NE(held.Readable(5, 1), 0u);
  EXPECT_EQ(held.Readable(150, 1), 0u);
  EXPECT_EQ(held.last(), 1u);
}

TEST(HeldRangesTest, WhatIsHeldStaysReadableWhileMoreIsAdded) {
  HeldRanges held;
  Hold(held, 1, kLow);
  Hold(held, 2, kBoth);
  EXPECT_NE(held.Readable(5, 1), 0u);
  EXPECT_EQ(held.Readable(150, 1), 0u);
  EXPECT_NE(held.Readable(150, 2), 0u);
}

TEST(HeldRangesTest, WhatIsTakenAwayIsUnreadableAtOnce) {
  HeldRanges held;
  Hold(held, 1, kBoth);
  ASSERT_NE(held.Readable(150, 1), 0u);
  held.Narrow(kLow);
  EXPECT_EQ(held.Readable(150, 1), 0u);
  EXPECT_NE(held.Readable(5, 1), 0u);
}

TEST(HeldRangesTest, WhatComesBackIsUnreadableUntilItIsListed) {
  HeldRanges held;
  Hold(held, 1, kBoth);
  ASSERT_NE(held.Readable(150, 1), 0u);
  Hold(held, 2, kLow);
  Hold(held, 3, kBoth);
  EXPECT_EQ(held.Readable(150, 1), 0u);
  EXPECT_EQ(held.Readable(150, 2), 0u);
  EXPECT_NE(held.Readable(150, 3), 0u);
}

TEST(HeldRangesTest, AnAdditionThatCompletesBringsNothingThatIsBeingTakenAway) {
  HeldRanges held;
  Hold(held, 1, kBoth);
  held.Narrow(kHigh);  // the informer has not been told yet
  EXPECT_EQ(held.Readable(5, 1), 0u);
  held.Told(2, kHigh);
  EXPECT_EQ(held.Readable(5, 1), 0u);
  EXPECT_NE(held.Readable(150, 1), 0u);
  EXPECT_NE(held.Readable(150, 2), 0u);
}

TEST(HeldRangesTest, TheAnswerDiffersAfterAnyChange) {
  HeldRanges held;
  Hold(held, 1, kBoth);
  const std::uint64_t before = held.Readable(5, 1);
  EXPECT_EQ(held.Readable(5, 1), before);
  Hold(held, 2, kLow);
  EXPECT_NE(held.Readable(5, 2), before);  // it may have been away, and come back
}

}  // namespace
}  // namespace kgen::controller
