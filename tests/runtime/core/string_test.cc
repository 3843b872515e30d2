// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/string.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using StringTest = sample::CoreTest;

TEST_F(StringTest, IsUnsetByDefaultAndReadsAsEmpty) {
  const String s;
  EXPECT_FALSE(s.has_value());
  EXPECT_EQ(s.view(), "");
  EXPECT_TRUE(s.empty());
  EXPECT_EQ(s, "");
  EXPECT_EQ(s[0], '\0');
  EXPECT_EQ(s.front(), '\0');
  EXPECT_EQ(s.back(), '\0');
}

TEST_F(StringTest, KeepsEmptyTextApartFromUnset) {
  String s = "";
  EXPECT_TRUE(s.has_value());
  EXPECT_EQ(s.value_or("-"), "");
  s.reset();
  EXPECT_FALSE(s.has_value());
  EXPECT_EQ(s.value_or("-"), "-");
}

TEST_F(StringTest, HoldsTextOfEveryLengthAroundTheInlineLimit) {
  for (std::size_t n = 0; n < 40; ++n) {
    const std::string text(n, 'x');
    const std::int64_t before = LiveBlocks();
    const String s = text;
    EXPECT_EQ(s.view(), text);
    EXPECT_EQ(s.size(), n);
    EXPECT_EQ(LiveBlocks() - before, n > 15 ? 1 : 0);
  }
}

TEST_F(StringTest, HoldsNulBytes) {
  const std::string_view text("a\0b", 3);
  EXPECT_EQ(String(text).view(), text);
}

TEST_F(StringTest, SharesLongTextBetweenCopiesAndFreesItWithTheLast) {
  const std::int64_t before = LiveBlocks();
  String a = kLong;
  {
    const String b = a;
    EXPECT_EQ(a.data(), b.data());
    EXPECT_EQ(LiveBlocks() - before, 1);
  }
  EXPECT_EQ(a, kLong);
  a.reset();
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(StringTest, LeavesAMovedFromStringUnset) {
  String a = kLong;
  const String b = std::move(a);
  EXPECT_FALSE(a.has_value());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): the case
  EXPECT_EQ(b, kLong);
}

TEST_F(StringTest, CanBeAssignedFromAViewOfItself) {
  String s = kLong;
  s = s.substr(7);
  EXPECT_EQ(s, kLong.substr(7));
  s = s.view();
  EXPECT_EQ(s, kLong.substr(7));
  String& same = s;
  s = same;
  EXPECT_EQ(s, kLong.substr(7));
}

TEST_F(StringTest, GivesEmptyTextForASubstringThatStartsPastTheEnd) {
  const String s = "abc";
  EXPECT_EQ(s.substr(1), "bc");
  EXPECT_EQ(s.substr(1, 1), "b");
  EXPECT_EQ(s.substr(3), "");
  EXPECT_EQ(s.substr(99), "");
}

TEST_F(StringTest, SearchesLikeAView) {
  const String s = "a.b.c";
  EXPECT_TRUE(s.starts_with("a."));
  EXPECT_TRUE(s.ends_with(".c"));
  EXPECT_TRUE(s.contains('b'));
  EXPECT_TRUE(s.contains("b.c"));
  EXPECT_EQ(s.find('.'), 1u);
  EXPECT_EQ(s.find(".", 2), 3u);
  EXPECT_EQ(s.rfind('.'), 3u);
  EXPECT_EQ(s.find("z"), String::npos);
  EXPECT_LT(s.compare("b"), 0);
}

TEST_F(StringTest, ComparesUnsetEqualToEmptyText) {
  EXPECT_EQ(String(), String(""));
  EXPECT_LT(String(), String("a"));
}

TEST_F(StringTest, HashesLikeItsText) { EXPECT_EQ(std::hash<String>()(String(kLong)), std::hash<String>()(kLong)); }

TEST_F(StringTest, CanBeAConstantWhenUnset) {
  static constinit String unset;
  EXPECT_FALSE(unset.has_value());
}

}  // namespace
}  // namespace kgen
