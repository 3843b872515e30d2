// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/memory/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace kgen {
namespace {

using detail::Heap;

constexpr std::size_t kPage = 4096;

// What a heap may keep of blocks that are all given back.
constexpr std::int64_t kKept = (Heap::kMostAtHand + 100) * Heap::kSpanBytes;

struct Filled {
  unsigned char* start;
  std::size_t size;
  unsigned char with;
};

Filled TakeFilled(Heap& heap, std::size_t size, unsigned char with) {
  auto* start = static_cast<unsigned char*>(heap.Take(size));
  std::memset(start, with, size);
  return {start, size, with};
}

bool IsIntact(const Filled& block) {
  return std::all_of(block.start, block.start + block.size, [&](unsigned char c) { return c == block.with; });
}

std::size_t ResidentPages(void* start, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(start) / kPage * kPage;
  std::vector<unsigned char> pages((reinterpret_cast<std::uintptr_t>(start) + bytes - first + kPage - 1) / kPage);
  if (::mincore(reinterpret_cast<void*>(first), bytes, pages.data()) != 0) return 0;  // no longer mapped
  return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto page) { return (page & 1) != 0; }));
}

TEST(Heap, RoundsSizesUpByAnEighthAtMost) {
  for (std::size_t bytes = 1; bytes <= Heap::kLargestInClass; ++bytes) {
    const std::size_t size = Heap::BlockSize(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_LE(size, std::max(bytes + 7, bytes + bytes / 8 + 1)) << bytes;
    ASSERT_EQ(size % 8, 0u);
    ASSERT_EQ(Heap::BlockSize(size), size);
  }
}

TEST(Heap, BlocksOfEverySizeAreAlignedAndDoNotOverlap) {
  static constinit Heap heap;
  std::mt19937 random(1);
  std::vector<Filled> blocks;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t size = i % 50 == 0 ? random() % 300'000 : random() % (i % 2 == 0 ? 200 : 20'000);
    blocks.push_back(TakeFilled(heap, size, static_cast<unsigned char>(i)));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().start) % 8, 0u);
    if (i % 3 != 0) continue;
    Filled& gone = blocks[random() % blocks.size()];
    ASSERT_TRUE(IsIntact(gone));
    heap.Give(gone.start);
    gone = blocks.back();
    blocks.pop_back();
  }
  for (const Filled& block : blocks) {
    ASSERT_TRUE(IsIntact(block));
    heap.Give(block.start);
  }
  EXPECT_EQ(heap.Use().blocks, 0);
  EXPECT_EQ(heap.Use().bytes, 0);
  EXPECT_EQ(heap.Use().allocations, 20'000);
}

TEST(Heap, ABlockFreedByOneThreadIsReusedByAnother) {
  static constinit Heap heap;
  std::vector<void*> blocks(10'000);
  std::int64_t after_first = 0;
  for (int round = 0; round < 20; ++round) {
    std::thread([&] {
      for (void*& block : blocks) block = heap.Take(200);
    }).join();
    if (round == 0) after_first = heap.Use().reserved;
    std::thread([&] {
      for (void* block : blocks) heap.Give(block);
    }).join();
  }
  EXPECT_EQ(heap.Use().blocks, 0);
  EXPECT_LE(heap.Use().reserved, after_first);
}

TEST(Heap, GivesFreeMemoryBackToTheSystem) {
  static constinit Heap heap;
  std::vector<Filled> blocks;
  for (int i = 0; i < 100'000; ++i) blocks.push_back(TakeFilled(heap, 100 + i % 7 * 100, 1));
  EXPECT_GT(heap.Use().reserved, 40'000'000);
  for (const Filled& block : blocks) heap.Give(block.start);
  EXPECT_LE(heap.Use().reserved, kKept);
  std::map<std::uintptr_t, std::size_t> spans;
  for (const Filled& block : blocks) {
    const std::uintptr_t span = reinterpret_cast<std::uintptr_t>(block.start) / Heap::kSpanBytes * Heap::kSpanBytes;
    if (!spans.contains(span)) spans[span] = ResidentPages(reinterpret_cast<void*>(span), Heap::kSpanBytes);
  }
  std::size_t resident = 0;
  for (const auto& [span, pages] : spans) resident += pages;
  EXPECT_GT(spans.size(), 500u);
  EXPECT_LE(resident * kPage, static_cast<std::size_t>(kKept));
}

// As objects go that are freed by hash: nearly all spans become free with the last blocks.
TEST(Heap, ReturnsNoMoreMemoryAtOnceThanWasFreed) {
  static constinit Heap heap;
  constexpr std::size_t kSize = 1024;
  constexpr std::size_t kTogether = 64;
  std::vector<void*> blocks(64'000);
  for (void*& block : blocks) block = heap.Take(kSize);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  std::int64_t most = 0;
  for (std::size_t i = 0; i < blocks.size(); i += kTogether) {
    const std::int64_t before = heap.Use().reserved;
    for (std::size_t k = 0; k < kTogether; ++k) heap.Give(blocks[i + k]);
    most = std::max(most, before - heap.Use().reserved);
  }
  EXPECT_LE(most, static_cast<std::int64_t>(kTogether * kSize / Heap::kFreedForEach * Heap::kSpanBytes));
  EXPECT_GT(heap.Use().reserved, 2 * kKept);
  const std::int64_t left = heap.Use().reserved;
  EXPECT_TRUE(heap.GiveBack(8));
  EXPECT_EQ(left - heap.Use().reserved, static_cast<std::int64_t>(8 * Heap::kSpanBytes));
  while (heap.GiveBack(8)) continue;
  EXPECT_LE(heap.Use().reserved, kKept);
  EXPECT_EQ(heap.Use().blocks, 0);
}

TEST(Heap, FillsUpTheFullestSpansSoThatOthersBecomeFree) {
  static constinit Heap heap;
  std::vector<void*> blocks(100'000);
  for (void*& block : blocks) block = heap.Take(256);
  const std::int64_t full = heap.Use().reserved;
  std::mt19937 random(1);
  for (int i = 0; i < 300'000; ++i) {
    void*& block = blocks[random() % blocks.size()];
    heap.Give(block);
    block = heap.Take(256);
  }
  EXPECT_LE(heap.Use().reserved, full + static_cast<std::int64_t>(Heap::kSpanBytes));
  for (void* block : blocks) heap.Give(block);
}

TEST(Heap, LargeBlocksHaveTheirOwnSpansAndAreReturnedWhole) {
  static constinit Heap heap;
  for (int round = 0; round < 3; ++round) {
    std::vector<Filled> blocks;
    for (std::size_t size = Heap::kLargestInClass + 1; size < 40u << 20; size = size * 3 / 2) {
      blocks.push_back(TakeFilled(heap, size, static_cast<unsigned char>(size)));
    }
    EXPECT_EQ(heap.Use().blocks, static_cast<std::int64_t>(blocks.size()));
    for (const Filled& block : blocks) {
      ASSERT_TRUE(IsIntact(block));
      heap.Give(block.start);
    }
    EXPECT_EQ(heap.Use().blocks, 0);
    EXPECT_EQ(heap.Use().bytes, 0);
    EXPECT_LE(heap.Use().reserved, static_cast<std::int64_t>(Heap::kMostAtHand * Heap::kSpanBytes));
    EXPECT_EQ(ResidentPages(blocks.back().start, blocks.back().size), 0u);
  }
}

TEST(Heap, ThrowsWhenMemoryRunsOut) {
  static constinit Heap heap;
  EXPECT_THROW(heap.Take(std::size_t{1} << 50), std::bad_alloc);
  EXPECT_THROW(heap.Take(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  EXPECT_EQ(heap.Use().blocks, 0);
  EXPECT_EQ(heap.Use().reserved, 0);
}

TEST(Heap, ServesSeveralThreadsAtOnce) {
  static constinit Heap heap;
  constexpr int kThreads = 4;
  constexpr std::size_t kSlots = 512;
  std::array<std::atomic<void*>, kSlots> slots{};
  std::vector<std::thread> threads;
  std::atomic<bool> intact{true};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 50'000; ++i) {
        const std::size_t size = 16 + random() % (i % 100 == 0 ? 100'000 : 400);
        auto* block = static_cast<std::size_t*>(heap.Take(size));
        block[0] = size;
        block[1] = ~size;
        auto* old = static_cast<std::size_t*>(slots[random() % kSlots].exchange(block));
        if (old == nullptr) continue;
        if (old[1] != ~old[0]) intact = false;
        heap.Give(old);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(intact);
  for (std::atomic<void*>& slot : slots) {
    if (void* block = slot.load(); block != nullptr) heap.Give(block);
  }
  EXPECT_EQ(heap.Use().blocks, 0);
  EXPECT_EQ(heap.Use().allocations, kThreads * 50'000);
}

}  // namespace
}  // namespace kgen
