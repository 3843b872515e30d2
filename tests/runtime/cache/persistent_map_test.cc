// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/store/persistent_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/runtime/cache/map_history.h"

namespace kgen::cache {
namespace {

// A pair of numbers whose hash is chosen by the test, so that collisions can be had at any depth.
class PairLeaf {
 public:
  using Key = int;
  PairLeaf(int key, int value, std::uint64_t hash) : key_(key), value_(value), hash_(hash) {}
  std::uint64_t hash() const { return hash_; }
  bool Is(int key) const { return key_ == key; }
  int key() const { return key_; }
  int value() const { return value_; }
  void set_value(int value) { value_ = value; }

 private:
  int key_, value_;
  std::uint64_t hash_;
};
using Map = PersistentMap<PairLeaf>;
using History = MapHistory<PairLeaf>;

// How keys are spread: well, in 16 buckets that differ in high bits only, or all in one.
enum class Spread { kWell, kHighBits, kNone };
std::uint64_t HashOf(int key, Spread spread) {
  switch (spread) {
    case Spread::kWell:
      return static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u;
    case Spread::kHighBits:
      return static_cast<std::uint64_t>(key % 16) << 55;
    case Spread::kNone:
      return 42;
  }
  return 0;
}

std::map<int, int> Contents(const Map& map) {
  std::map<int, int> contents;
  map.ForEach([&](const PairLeaf& leaf) { contents.emplace(leaf.key(), leaf.value()); });
  return contents;
}

class PersistentMapTest : public ::testing::TestWithParam<Spread> {};

TEST_P(PersistentMapTest, AgreesWithAnOrdinaryMapOverARandomHistory) {
  std::mt19937 random(7);
  Map map;
  std::map<int, int> model;
  for (int step = 0; step < 4000; ++step) {
    const int key = static_cast<int>(random() % 300);
    const std::uint64_t hash = HashOf(key, GetParam());
    if (random() % 3 != 0) {
      map.Set(PairLeaf(key, step, hash));
      model[key] = step;
    } else {
      EXPECT_EQ(map.Erase(key, hash), model.erase(key) == 1);
    }
    ASSERT_EQ(map.size(), model.size());
    const int asked = static_cast<int>(random() % 300);
    const PairLeaf* found = map.Find(asked, HashOf(asked, GetParam()));
    ASSERT_EQ(found != nullptr, model.contains(asked));
    if (found != nullptr) {
      ASSERT_EQ(found->value(), model[asked]);
    }
  }
  EXPECT_EQ(Contents(map), model);
}

TEST_P(PersistentMapTest, NeverChangesEarlierVersions) {
  std::mt19937 random(11);
  History history;
  std::vector<std::pair<History::Held, std::map<int, int>>> versions;
  std::map<int, int> model;
  for (int step = 0; step < 1500; ++step) {
    const int key = static_cast<int>(random() % 100);
    const std::uint64_t hash = HashOf(key, GetParam());
    if (random() % 2 == 0) {
      history.Set(PairLeaf(key, step, hash));
      model[key] = step;
    } else {
      history.Erase(key, hash);
      model.erase(key);
    }
    if (step % 50 == 0) versions.emplace_back(history.Commit(), model);
  }
  for (const auto& [version, contents] : versions) EXPECT_EQ(Contents(version->map), contents);
}

TEST_P(PersistentMapTest, IsEmptyAfterEveryKeyWasErased) {
  Map map;
  for (int key = 0; key < 200; ++key) map.Set(PairLeaf(key, key, HashOf(key, GetParam())));
  for (int key = 0; key < 200; ++key) EXPECT_TRUE(map.Erase(key, HashOf(key, GetParam())));
  EXPECT_TRUE(map.empty());
  EXPECT_TRUE(Contents(map).empty());
}

TEST_P(PersistentMapTest, WritesALeafInPlaceAndInNoEarlierVersion) {
  std::mt19937 random(13);
  History history;
  std::vector<std::pair<History::Held, std::map<int, int>>> versions;
  std::map<int, int> model;
  for (int step = 0; step < 1500; ++step) {
    const int key = static_cast<int>(random() % 100);
    const std::uint64_t hash = HashOf(key, GetParam());
    PairLeaf* const leaf = history.map().FindToWrite(key, hash, history.edit());
    ASSERT_EQ(leaf != nullptr, model.contains(key));
    if (leaf == nullptr) {
      history.Set(PairLeaf(key, step, hash));
    } else {
      leaf->set_value(step);
    }
    model[key] = step;
    if (random() % 3 == 0) {
      const int gone = static_cast<int>(random() % 100);
      history.Erase(gone, HashOf(gone, GetParam()));
      model.erase(gone);
    }
    if (step % 50 == 0) versions.emplace_back(history.Commit(), model);
  }
  EXPECT_EQ(Contents(history.map()), model);
  for (const auto& [version, contents] : versions) EXPECT_EQ(Contents(version->map), contents);
}

TEST_P(PersistentMapTest, ShowsEveryLeafThatAnotherVersionDoesNotHave) {
  std::mt19937 random(17);
  History history;
  std::vector<History::Held> versions{history.Commit()};
  for (int step = 0; step < 600; ++step) {
    const int key = static_cast<int>(random() % 100);
    const std::uint64_t hash = HashOf(key, GetParam());
    if (random() % 3 != 0) {
      history.Set(PairLeaf(key, step, hash));
    } else {
      history.Erase(key, hash);
    }
    versions.push_back(history.Commit());
  }
  for (int pair = 0; pair < 2000; ++pair) {
    const Map& one = versions[random() % versions.size()]->map;
    const Map& other = versions[random() % versions.size()]->map;
    std::map<int, int> shown;
    one.ForEachNotShared(other, [&](const PairLeaf& leaf) {
      ASSERT_TRUE(shown.emplace(leaf.key(), leaf.value()).second) << leaf.key();
    });
    const std::map<int, int> contents = Contents(one), others = Contents(other);
    for (const auto& [key, value] : shown) ASSERT_EQ(contents.at(key), value);
    for (const auto& [key, value] : contents) {
      const auto found = others.find(key);
      if (found == others.end() || found->second != value) {
        ASSERT_TRUE(shown.contains(key)) << key;
      }
    }
  }
}

TEST(PersistentMapCostTest, VisitsFewLeavesBetweenTwoVersionsThatAreOneChangeApart) {
  History history;
  for (int key = 0; key < 10'000; ++key) history.Set(PairLeaf(key, 0, HashOf(key, Spread::kWell)));
  const History::Held before = history.Commit();
  const Map& map = before->map;
  history.Set(PairLeaf(77, 1, HashOf(77, Spread::kWell)));
  const Map& changed = history.map();
  int shown = 0;
  changed.ForEachNotShared(map, [&](const PairLeaf&) { ++shown; });
  EXPECT_GE(shown, 1);
  EXPECT_LT(shown, 100);
  map.ForEachNotShared(map, [&](const PairLeaf&) { ADD_FAILURE() << "all of it is shared"; });
}

// A leaf that counts how often one was copied.
class CountedLeaf {
 public:
  using Key = int;
  explicit CountedLeaf(int key) : key_(key) {}
  CountedLeaf(const CountedLeaf& other) : key_(other.key_) { ++copies; }
  CountedLeaf(CountedLeaf&&) = default;
  CountedLeaf& operator=(CountedLeaf&&) = default;
  std::uint64_t hash() const { return HashOf(key_, Spread::kWell); }
  bool Is(int key) const { return key_ == key; }
  int key() const { return key_; }
  static inline int copies = 0;

 private:
  int key_;
};

TEST(PersistentMapCostTest, CopiesNoLeafWhileOneVersionAloneIsFilled) {
  PersistentMap<CountedLeaf> map;
  CountedLeaf::copies = 0;
  for (int key = 0; key < 10'000; ++key) {
    map.Set(CountedLeaf(key));
    ASSERT_NE(map.FindToWrite(key / 2, HashOf(key / 2, Spread::kWell)), nullptr);
  }
  EXPECT_EQ(CountedLeaf::copies, 0);
}

INSTANTIATE_TEST_SUITE_P(Spreads, PersistentMapTest,
                         ::testing::Values(Spread::kWell, Spread::kHighBits, Spread::kNone));

}  // namespace
}  // namespace kgen::cache
