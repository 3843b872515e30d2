// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/spare_buffers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kgen::net {
namespace {

std::string Buffer(std::size_t bytes) { return std::string(bytes, 'x'); }

TEST(SpareBuffers, GivesTheMemoryOfABufferAgainWithoutItsText) {
  const auto spares = MakeShared<SpareBuffers>();
  std::string buffer = Buffer(50'000);
  const char* memory = buffer.data();
  spares->Keep(std::move(buffer));
  const std::string again = spares->Take();
  EXPECT_EQ(again.data(), memory);
  EXPECT_TRUE(again.empty());
  EXPECT_LT(spares->Take().capacity(), 100u) << "there was only one";
}

TEST(SpareBuffers, KeepsFewBuffersAndNoneThatIsSmallOrVeryLarge) {
  const auto spares = MakeShared<SpareBuffers>();
  spares->Keep(Buffer(100));
  spares->Keep(Buffer(1'000'000));
  EXPECT_LT(spares->Take().capacity(), 100u);
  for (int i = 0; i < 10; ++i) spares->Keep(Buffer(50'000));
  int kept = 0;
  for (int i = 0; i < 10; ++i) kept += spares->Take().capacity() >= 50'000;
  EXPECT_EQ(kept, 4);
}

}  // namespace
}  // namespace kgen::net
