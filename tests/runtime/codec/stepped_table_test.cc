// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/sharing/stepped_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>

namespace kgen {
namespace {

std::size_t moves = 0;  // of slots, everywhere

// An entry that counts how often entries are moved.
struct Slot {
  std::uint64_t key = 0;
  std::uint64_t number = 0;  // 0: free

  Slot() = default;
  Slot(std::uint64_t key, std::uint64_t number) : key(key), number(number) {}
  Slot(Slot&& other) noexcept : key(other.key), number(std::exchange(other.number, 0)) { ++moves; }
  Slot& operator=(Slot&& other) noexcept {
    key = other.key;
    number = std::exchange(other.number, 0);
    ++moves;
    return *this;
  }
  bool free() const noexcept { return number == 0; }
  std::uint64_t hash() const noexcept { return key; }
  const void* memory() const noexcept { return nullptr; }
};

using Table = codec::SteppedTable<Slot>;

std::uint64_t HashOf(std::uint64_t number) {
  std::uint64_t x = number + 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

bool Has(Table& table, std::uint64_t number, std::uint64_t (*hash)(std::uint64_t) = HashOf) {
  return table.Find(hash(number), [&](const Slot& slot) { return slot.number == number; }) != nullptr;
}

void RemoveAll(Table& table, const std::set<std::uint64_t>& dead) {
  table.StartLooking();
  while (!table.IsClean()) {
    table.Look(100, [&](const Slot& slot) { return dead.contains(slot.number); });
  }
}

TEST(SteppedTable, FindsWhatWasInsertedAndNotWhatWasRemoved) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    Table table;
    std::set<std::uint64_t> there, dead;
    std::uint64_t next = 1;
    for (int round = 0; round < 60; ++round) {
      for (unsigned i = random() % 2000; i > 0; --i, ++next) {
        table.Insert({HashOf(next), next});
        there.insert(next);
      }
      for (unsigned i = random() % 2000; i > 0 && !there.empty(); --i) {
        const auto found = there.lower_bound(random() % next);
        if (found != there.end()) dead.insert(*found);
      }
      table.Look(random() % 5000, [&](const Slot& slot) {
        if (!dead.contains(slot.number)) return false;
        there.erase(slot.number);
        return true;
      });
      ASSERT_EQ(table.size(), there.size());
      for (std::uint64_t number = 1; number < next; ++number) ASSERT_EQ(Has(table, number), there.contains(number));
    }
  }
}

TEST(SteppedTable, VisitsEveryEntryInOneRound) {
  Table table;
  std::set<std::uint64_t> all, seen;
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    table.Insert({HashOf(i), i});
    all.insert(i);
  }
  table.StartLooking();
  while (!table.IsClean()) {
    table.Look(64, [&](const Slot& slot) {
      seen.insert(slot.number);
      return false;
    });
  }
  EXPECT_EQ(seen, all);
}

TEST(SteppedTable, NoStepMovesMoreThanOneSegmentHowLargeTheTableMayBe) {
  Table table;
  std::size_t most = 0;
  const auto measure = [&](auto step) {
    const std::size_t before = moves;
    step();
    most = std::max(most, moves - before);
  };
  for (std::uint64_t i = 1; i <= 300'000; ++i) {
    measure([&] { table.Insert({HashOf(i), i}); });
  }
  while (table.size() > 0) {
    measure([&] { table.Look(32, [](const Slot&) { return true; }); });
  }
  EXPECT_LE(most, 2 * Table::kSegmentSlots);
}

TEST(SteppedTable, ShrinksAgain) {
  Table table;
  table.Insert({HashOf(1), 1});
  const std::size_t small = table.bytes();
  std::set<std::uint64_t> dead;
  for (std::uint64_t i = 2; i <= 100'000; ++i) {
    table.Insert({HashOf(i), i});
    dead.insert(i);
  }
  const std::size_t large = table.bytes();
  EXPECT_LT(large, 100'000 * sizeof(Slot) * 3);
  RemoveAll(table, dead);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_TRUE(Has(table, 1));
  EXPECT_LE(table.bytes(), small * 4);
}

TEST(SteppedTable, AcceptsSimilarHashes) {
  Table table;
  const auto hash = [](std::uint64_t number) -> std::uint64_t { return number % 3 << 62; };
  for (std::uint64_t i = 1; i <= 5000; ++i) table.Insert({hash(i), i});
  EXPECT_TRUE(Has(table, 4711, hash));
  EXPECT_FALSE(Has(table, 5001, hash));
  EXPECT_LT(table.bytes(), 5000 * sizeof(Slot) * 8);
  RemoveAll(table, [] {
    std::set<std::uint64_t> all;
    for (std::uint64_t i = 1; i <= 5000; ++i) all.insert(i);
    return all;
  }());
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace kgen
