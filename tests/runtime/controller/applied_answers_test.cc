// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What is kept of the answers to applied objects.
#include "controller/caches/applied_answers.h"

#include <gtest/gtest.h>

#include <string>

namespace kgen::controller {
namespace {

TEST(AppliedAnswersTest, KeepsTheLastExchangeOfEachOwner) {
  AppliedAnswers answers;
  EXPECT_FALSE(answers.Has("a", "1"));
  answers.Add("a", "1");
  answers.Add("b", "2");
  EXPECT_TRUE(answers.Has("a", "1"));
  EXPECT_FALSE(answers.Has("a", "2"));
  EXPECT_TRUE(answers.Has("b", "2"));
  answers.Add("a", "2");
  EXPECT_FALSE(answers.Has("a", "1"));
  EXPECT_TRUE(answers.Has("a", "2"));
  EXPECT_EQ(answers.size(), 2u);
}

TEST(AppliedAnswersTest, ForgetsWhatWasNotAskedForWhenItIsFull) {
  AppliedAnswers answers(8);
  answers.Add("kept", "1");
  for (int i = 0; i < 1000; ++i) {
    answers.Add(std::to_string(i), "1");
    EXPECT_LE(answers.size(), 8u);
    EXPECT_TRUE(answers.Has("kept", "1"));
    EXPECT_TRUE(answers.Has(std::to_string(i), "1"));
  }
  EXPECT_FALSE(answers.Has("0", "1"));
  EXPECT_FALSE(answers.Has("900", "1"));
}

TEST(AppliedAnswersTest, AnOlderExchangeDoesNotComeBack) {
  AppliedAnswers answers(4);
  answers.Add("a", "old");
  answers.Add("b", "1");
  answers.Add("c", "1");  // "a" and "b" are the older ones now
  answers.Add("a", "new");
  EXPECT_FALSE(answers.Has("a", "old"));
  EXPECT_TRUE(answers.Has("a", "new"));
}

}  // namespace
}  // namespace kgen::controller
