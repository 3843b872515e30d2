// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/try.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kgen {
namespace {

Result<int> Half(int of) {
  if (of % 2 != 0) return Fail(Code::kInvalidArgument, std::to_string(of) + " is odd");
  return of / 2;
}

Result<std::string> Quarter(int of) {
  KGEN_TRY(const int half, Half(of));
  KGEN_TRY(const auto quarter, Half(half));
  return std::to_string(quarter);
}

TEST(Try, GoesOnWithTheValueOrReturnsTheError) {
  EXPECT_EQ(Must(Quarter(8)), "2");
  EXPECT_EQ(Quarter(6).error().message(), "3 is odd");
  EXPECT_EQ(Quarter(5).error().message(), "5 is odd");
  EXPECT_EQ(Quarter(5).error().code(), Code::kInvalidArgument);
}

TEST(Try, AssignsToAVariableThatExists) {
  int value = 1;
  const auto set = [&](int of) -> Result<void> {
    KGEN_TRY(value, Half(of));
    return {};
  };
  EXPECT_FALSE(set(3).has_value());
  EXPECT_EQ(value, 1);
  EXPECT_TRUE(set(4).has_value());
  EXPECT_EQ(value, 2);
}

TEST(Try, EvaluatesTheExpressionOnceAndMovesOutOfATemporaryOnly) {
  int calls = 0;
  const auto make = [&]() -> Result<std::unique_ptr<int>> { return ++calls, std::make_unique<int>(7); };
  const auto take = [&](Result<std::string>& kept) -> Result<std::string> {
    KGEN_TRY(const std::unique_ptr<int> seven, make());
    KGEN_TRY(const std::string copy, kept);
    return copy + std::to_string(*seven);
  };
  Result<std::string> kept = std::string("a text that is longer than a small string");
  EXPECT_EQ(Must(take(kept)), *kept + "7");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(*kept, "a text that is longer than a small string");
}

TEST(Try, TakesCommasInTheExpressionAndReturnsFromTheNearestLambda) {
  const auto outer = []() -> Result<int> {
    const auto inner = []() -> Result<std::size_t> {
      KGEN_TRY(const auto sizes, Result<std::map<std::string, int>>({{"a", 1}, {"b", 2}}));
      KGEN_TRY(const int half, Half(static_cast<int>(sizes.size()) + 1));
      return static_cast<std::size_t>(half);
    };
    return inner().has_value() ? 1 : 0;
  };
  EXPECT_EQ(Must(outer()), 0);
}

}  // namespace
}  // namespace kgen
