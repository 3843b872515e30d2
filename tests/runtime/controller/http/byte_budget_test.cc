// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/http/byte_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace kgen::controller {
namespace {

using Share = ByteBudget::Share;

class ByteBudgetTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kLimit = 100;

  ByteBudgetTest() {
    budget_->OnRoom([this] { ++told_; });
  }
  Shared<Share> Claim(std::size_t most) { return MakeShared<Share>(budget_, most); }

  const Shared<ByteBudget> budget_ = MakeShared<ByteBudget>(kLimit);
  int told_ = 0;
};

TEST_F(ByteBudgetTest, GivesWhatThereIsAndTakesItBack) {
  const auto a = Claim(60);
  EXPECT_TRUE(a->Grow(10));
  EXPECT_TRUE(a->Grow(60));
  EXPECT_EQ(budget_->held(), 60u);
  EXPECT_TRUE(a->Grow(5));  // it holds more already
  EXPECT_EQ(budget_->held(), 60u);
  a->Set(7);  // its answer
  EXPECT_EQ(budget_->held(), 7u);
  auto b = Claim(90);
  EXPECT_TRUE(b->Grow(90));
  b = {};
  EXPECT_EQ(budget_->held(), 7u);
  EXPECT_EQ(told_, 0);  // nobody was short
}

TEST_F(ByteBudgetTest, TellsOfRoomOnlyIfAShareWasShort) {
  const auto a = Claim(80), b = Claim(50);
  EXPECT_TRUE(a->Grow(80));
  a->Set(80);
  EXPECT_FALSE(b->Grow(30));
  EXPECT_EQ(told_, 0);
  a->Set(0);
  EXPECT_EQ(told_, 1);
  EXPECT_TRUE(b->Grow(30));
  b->Set(0);
  EXPECT_EQ(told_, 1);
}

TEST_F(ByteBudgetTest, TwoHalfReadRequestsNeverWaitForEachOther) {
  const auto a = Claim(100), b = Claim(100);
  EXPECT_TRUE(a->Grow(40));
  EXPECT_FALSE(b->Grow(1));  // then neither could become complete
  EXPECT_TRUE(a->Grow(100));
  a->Set(100);
  EXPECT_FALSE(b->Grow(1));  // there is nothing left
  a->Set(0);
  EXPECT_TRUE(b->Grow(100));
}

TEST_F(ByteBudgetTest, ALargeRequestThatArrivesSlowlyKeepsNoSmallOneOut) {
  const auto large = Claim(100);
  EXPECT_TRUE(large->Grow(50));
  std::vector<Shared<Share>> small;
  for (int i = 0; i < 10; ++i) {
    small.push_back(Claim(5));
    EXPECT_TRUE(small.back()->Grow(5)) << i;
    small.back()->Set(5);
  }
  EXPECT_EQ(budget_->held(), kLimit);
  EXPECT_FALSE(large->Grow(51));
  EXPECT_FALSE(Claim(1)->Grow(1));
  small.pop_back();
  EXPECT_EQ(told_, 1);
  EXPECT_TRUE(large->Grow(51));
}

TEST_F(ByteBudgetTest, AnAnswerMayExceedTheBudgetAndKeepsOthersWaiting) {
  const auto a = Claim(10), b = Claim(10);
  a->Set(500);
  EXPECT_FALSE(b->Grow(1));
  a->Set(99);
  EXPECT_TRUE(b->Grow(1));
  EXPECT_FALSE(b->Grow(2));
}

TEST_F(ByteBudgetTest, ARequestNeedsNoMoreThanTheBudget) {
  const auto a = Claim(1000);
  EXPECT_TRUE(a->Grow(1000));
  EXPECT_EQ(budget_->held(), kLimit);
}

TEST_F(ByteBudgetTest, CallsNobodyAfterItsUserIsGone) {
  const auto a = Claim(100), b = Claim(100);
  EXPECT_TRUE(a->Grow(100));
  EXPECT_FALSE(b->Grow(100));
  budget_->OnRoom({});
  a->Set(0);
  EXPECT_EQ(told_, 0);
}

// Whatever arrives in whatever pieces: the budget holds, and all requests become complete.
TEST_F(ByteBudgetTest, RandomRequestsAllBecomeComplete) {
  struct Request {
    Shared<Share> share;
    std::size_t most = 0, read = 0;
  };
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(1, most)(random); };
    std::vector<Request> requests;
    for (int i = 0; i < 12; ++i) {
      const std::size_t most = random() % 3 == 0 ? kLimit : up_to(kLimit / 4);
      requests.push_back({Claim(most), most, 0});
    }
    while (!requests.empty()) {
      std::ranges::shuffle(requests, random);
      bool moved = false;
      for (Request& each : requests) {
        const std::size_t next = std::min(each.most, each.read + up_to(20));
        if (!each.share->Grow(next)) continue;
        moved = true;
        each.read = next;
        ASSERT_LE(budget_->held(), kLimit);
        if (each.read == each.most) each.share->Set(each.most);
        break;
      }
      const bool any = std::erase_if(requests, [](const Request& each) { return each.read == each.most; }) > 0;
      ASSERT_TRUE(moved || any) << "all wait, seed " << seed;
    }
    ASSERT_EQ(budget_->held(), 0u);
  }
}

}  // namespace
}  // namespace kgen::controller
