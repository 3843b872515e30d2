// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardHash() and ShardRanges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "kgen/client/shard_ranges.h"

namespace kgen {
namespace {

constexpr std::uint64_t kEnd = UINT64_MAX;
using ::testing::HasSubstr;

TEST(ShardHashTest, IsFnv1aAsServersComputeIt) {
  // The vectors of the authors of the hash.
  EXPECT_EQ(ShardHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(ShardHash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(ShardHash("foobar"), 0x85944171f73967e8u);
}

TEST(ShardHashTest, PutsNamesThatDifferInTheirEndIntoOneEighth) {
  for (int n = 0; n < 100; ++n) {
    const std::string name = std::string("team-") + static_cast<char>('0' + n / 10) + static_cast<char>('0' + n % 10);
    EXPECT_EQ(ShardHash(name) >> 61, ShardHash("team-00") >> 61) << name;
  }
}

TEST(ShardRangesTest, JoinsWhatOverlapsOrTouches) {
  EXPECT_EQ(ShardRanges({{5, 9}, {0, 4}, {20, 30}, {25, 26}}), ShardRanges({{0, 9}, {20, 30}}));
  EXPECT_EQ(ShardRanges({{kEnd, kEnd}, {0, kEnd - 1}}), ShardRanges::All());
  EXPECT_TRUE(ShardRanges({{7, 6}}).empty());
}

TEST(ShardRangesTest, WorksAsASetOfHashes) {
  std::mt19937_64 random(1);
  const auto some = [&] {
    std::vector<ShardRange> ranges;
    for (std::uint64_t n = random() % 5; n > 0; --n) {
      const std::uint64_t first = random() % 40;
      ranges.push_back({first, first + random() % 10});
    }
    if (random() % 4 == 0) ranges.push_back({kEnd - random() % 10, kEnd});
    return ShardRanges(ranges);
  };
  for (int round = 0; round < 2000; ++round) {
    const ShardRanges a = some(), b = some();
    for (std::uint64_t at = 0; at < 80; ++at) {
      const std::uint64_t hash = at < 60 ? at : kEnd - (at - 60);
      EXPECT_EQ((a | b).Contains(hash), a.Contains(hash) || b.Contains(hash));
      EXPECT_EQ((a & b).Contains(hash), a.Contains(hash) && b.Contains(hash));
      EXPECT_EQ((a - b).Contains(hash), a.Contains(hash) && !b.Contains(hash));
    }
    EXPECT_EQ((a - b) | (a & b), a);
    EXPECT_EQ(a.Contains(b), (a | b) == a);
    EXPECT_EQ(a.Overlaps(b), !(a & b).empty());
    ASSERT_EQ(ShardRanges::Parse(a.ToString()).value(), a) << a;
    ASSERT_FALSE(::testing::Test::HasFailure()) << a << " and " << b;
  }
}

TEST(ShardRangesTest, HasTextsWithSixteenDigitsAndSeventeenForTheEnd) {
  EXPECT_EQ(ShardRanges::All().ToString(), "0000000000000000-10000000000000000");
  EXPECT_EQ(ShardRanges({{0, 0x7fffffffffffffff}, {0xc000000000000000, 0xc00000000000000f}}).ToString(),
            "0000000000000000-8000000000000000,c000000000000000-c000000000000010");
  EXPECT_EQ(ShardRanges().ToString(), "");
}

TEST(ShardRangesTest, RefusesDamagedTexts) {
  for (const char* text :
       {"0", "0000000000000000", "0000000000000000-", "0000000000000000-0000000000000000",
        "0000000000000000-20000000000000000", "0000000000000000-8000000000000000,", "00000000000000g0-8000000000000000",
        "8000000000000000-0000000000000001", "0000000000000000-8000000000000000 "}) {
    const Result<ShardRanges> ranges = ShardRanges::Parse(text);
    ASSERT_FALSE(ranges) << text;
    EXPECT_EQ(ranges.error().code(), Code::kDecode);
  }
}

TEST(ShardRangesTest, SelectsAsServersReadIt) {
  EXPECT_EQ(ShardRanges({{0, 0x7fffffffffffffff}}).Selector(ShardBy::kNamespace).value(),
            "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')");
  EXPECT_EQ(ShardRanges({{0, 15}, {0xf000000000000000, kEnd}}).Selector(ShardBy::kUid).value(),
            "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000010') || "
            "shardRange(object.metadata.uid, '0xf000000000000000', '0x10000000000000000')");
}

TEST(ShardRangesTest, HasNoSelectorForNothingBecauseThatWouldSelectEverything) {
  const Result<std::string> none = ShardRanges().Selector(ShardBy::kUid);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(none.error().ToString(), HasSubstr("there is no range"));
}

}  // namespace
}  // namespace kgen
