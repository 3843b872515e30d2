// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/store/text_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kgen::cache {
namespace {

TEST(TextHashTest, DependsOnEveryByteAndOnTheLength) {
  std::set<std::uint64_t> seen;
  std::size_t texts = 0;
  for (std::size_t size = 0; size <= 70; ++size) {
    std::string text(size, 'a');
    seen.insert(TextHash(text));
    ++texts;
    for (std::size_t at = 0; at < size; ++at) {
      text[at] = 'b';
      seen.insert(TextHash(text));
      text[at] = 'a';
      ++texts;
    }
    seen.insert(TextHash(text, 1));
    ++texts;
  }
  EXPECT_EQ(seen.size(), texts);
}

// A map takes five bits of the hash for each level.
TEST(TextHashTest, SpreadsNamesThatDifferInANumberOverAllBits) {
  constexpr int kNames = 32 * 400;
  for (unsigned shift = 0; shift < 60; shift += 5) {
    std::vector<int> buckets(32);
    for (int i = 0; i < kNames; ++i) {
      ++buckets[TextHash("web-7d9f8c6b5-" + std::to_string(i), TextHash("default")) >> shift & 31];
    }
    const auto [least, most] = std::ranges::minmax(buckets);
    EXPECT_GT(least, 300) << shift;  // 400 are expected, with a standard deviation of 20
    EXPECT_LT(most, 500) << shift;
  }
}

}  // namespace
}  // namespace kgen::cache
