// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Versions of a persistent map share nodes, and each frees exactly what only it holds, as soon as possible.
#include "cache/store/version.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "cache/store/persistent_map.h"
#include "kgen/core/memory.h"
#include "tests/runtime/cache/map_history.h"

namespace kgen::cache {
namespace {

// A leaf that owns something on the heap, and counts what lives and how often one was copied.
class OwningLeaf {
 public:
  using Key = int;
  OwningLeaf(int key, int value, std::uint64_t hash) : thing_(new Thing{key, value}), hash_(hash) { ++alive; }
  OwningLeaf(const OwningLeaf&) = delete;
  OwningLeaf(OwningLeaf&& other) noexcept : thing_(std::exchange(other.thing_, nullptr)), hash_(other.hash_) {}
  OwningLeaf& operator=(OwningLeaf&&) = delete;
  ~OwningLeaf() {
    if (thing_ == nullptr) return;
    delete thing_;
    --alive;
  }
  std::uint64_t hash() const { return hash_; }
  bool Is(int key) const { return thing_->key == key; }
  int key() const { return thing_->key; }
  int value() const { return thing_->value; }
  const void* identity() const { return thing_; }
  static inline std::atomic<int> alive = 0;

 private:
  struct Thing {
    int key, value;
  };
  Thing* thing_;
  std::uint64_t hash_;
};
using History = MapHistory<OwningLeaf>;
using Model = std::map<int, int>;

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

Model Contents(const History::Map& map) {
  Model contents;
  map.ForEach([&](const OwningLeaf& leaf) { contents.emplace(leaf.key(), leaf.value()); });
  return contents;
}

// How many blocks such a map has when it is the only version.
std::int64_t BlocksOf(const Model& model, Spread spread) {
  const std::int64_t before = LiveBlocks();
  History::Map map;
  for (const auto& [key, value] : model) map.Set(OwningLeaf(key, value, HashOf(key, spread)));
  return LiveBlocks() - before;
}

// Random versions, alive as long as chance will have it.
class Versions {
 public:
  Versions(Spread spread, unsigned seed, int keys) : spread_(spread), random_(seed), keys_(keys) {}

  unsigned Roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }

  // A transaction of a few changes, which may undo each other.
  void Write(int changes) {
    for (int i = 0; i < changes; ++i) {
      const int key = static_cast<int>(Roll(static_cast<unsigned>(keys_)));
      if (Roll(5) < 3) {
        history_.Set(OwningLeaf(key, ++value_, HashOf(key, spread_)));
        next_[key] = value_;
      } else {
        EXPECT_EQ(history_.Erase(key, HashOf(key, spread_)), next_.erase(key) == 1);
      }
    }
  }
  void Commit() {
    held_.push_back({history_.Commit(), next_});
    current_ = next_;
  }
  void Abandon() {
    history_.Abandon();
    next_ = current_;
  }
  // The newest version stays in the history, so all but one of these have one holder.
  void DropSome() {
    while (held_.size() > 1 && Roll(4) != 0) {
      const std::size_t at = Roll(static_cast<unsigned>(held_.size() - 1));
      if (Roll(2) == 0) leaving_.push_back(std::move(held_[at].first));
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  void FreeSome() {
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
      std::size_t units = Roll(6);
      if (leaving_[i]->FreeSome(units)) leaving_.erase(leaving_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  }
  void DropAllButTheNewest() {
    while (held_.size() > 1)
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(Roll(static_cast<unsigned>(held_.size() - 1))));
    leaving_.clear();
  }
  void Replace() {
    history_.Replace();
    next_.clear();
    current_.clear();
    Write(keys_);
    Commit();
  }
  bool nothing_is_leaving() const { return leaving_.empty(); }
  const Model& current() const { return current_; }

  void CheckContents() const {
    for (const auto& [version, model] : held_) ASSERT_EQ(Contents(version->map), model);
  }
  // Each leaf that a version has lives, and no other.
  void CheckLeaves() const {
    std::set<const void*> reachable;
    for (const auto& [version, model] : held_)
      version->map.ForEach([&](const OwningLeaf& leaf) { reachable.insert(leaf.identity()); });
    ASSERT_EQ(OwningLeaf::alive, static_cast<int>(reachable.size()));
  }

 private:
  const Spread spread_;
  std::mt19937 random_;
  const int keys_;
  int value_ = 0;
  History history_;
  Model current_, next_;
  std::vector<std::pair<History::Held, Model>> held_;
  std::deque<History::Held> leaving_;
};

class VersionTest : public ::testing::TestWithParam<Spread> {};

TEST_P(VersionTest, KeepsExactlyTheLiveObjectsInWhateverOrderVersionsAreDropped) {
  const std::int64_t before = LiveBlocks();
  for (unsigned seed = 0; seed < 12; ++seed) {
    Versions versions(GetParam(), seed, seed % 2 == 0 ? 60 : 400);
    for (int step = 0; step < 300; ++step) {
      versions.Write(static_cast<int>(versions.Roll(step % 10 == 0 ? 200 : 6)));
      if (versions.Roll(8) == 0) {
        versions.Abandon();
      } else {
        versions.Commit();
      }
      if (versions.Roll(40) == 0) versions.Replace();
      if (versions.Roll(3) == 0) versions.DropSome();
      versions.FreeSome();
      if (step % 10 == 0) versions.CheckContents();
      if (versions.nothing_is_leaving()) versions.CheckLeaves();
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    versions.DropAllButTheNewest();
    versions.CheckContents();
    versions.CheckLeaves();
  }
  EXPECT_EQ(OwningLeaf::alive, 0);
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_P(VersionTest, HasNoMoreNodesThanANewMapOnceAllOtherVersionsAreDropped) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::int64_t before = LiveBlocks();
    Versions versions(GetParam(), seed, 300);
    for (int step = 0; step < 200; ++step) {
      versions.Write(static_cast<int>(versions.Roll(5)));
      versions.Commit();
      if (versions.Roll(5) == 0) versions.DropSome();
    }
    versions.DropAllButTheNewest();
    EXPECT_EQ(LiveBlocks() - before, BlocksOf(versions.current(), GetParam())) << seed;
  }
}

TEST_P(VersionTest, KeepsThePreviousVersionIntactWhenTheNextIsAbandoned) {
  History history;
  Model model;
  for (int key = 0; key < 200; ++key) {
    history.Set(OwningLeaf(key, key, HashOf(key, GetParam())));
    model[key] = key;
  }
  const History::Held held = history.Commit();
  const std::int64_t blocks = LiveBlocks();
  for (int round = 0; round < 20; ++round) {
    for (int key = round; key < 200; key += 3) {
      history.Erase(key, HashOf(key, GetParam()));
      history.Set(OwningLeaf(key + 1, -1, HashOf(key + 1, GetParam())));
      history.Set(OwningLeaf(key + 1, -2, HashOf(key + 1, GetParam())));
    }
    history.Abandon();
    ASSERT_EQ(LiveBlocks(), blocks);
    ASSERT_EQ(OwningLeaf::alive, 200);
    ASSERT_EQ(Contents(held->map), model);
  }
}

TEST_P(VersionTest, VersionsCanBeDroppedOnManyThreadsAtOnce) {
  const std::int64_t before = LiveBlocks();
  {
    std::mutex lock;
    std::vector<std::pair<History::Held, Model>> held;
    std::atomic<bool> stop = false;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> readers;
    for (unsigned i = 0; i < 3; ++i) {
      readers.emplace_back([&, i] {
        std::mt19937 random(i);
        for (;;) {
          std::pair<History::Held, Model> mine;
          {
            const std::lock_guard guard(lock);
            if (held.empty() && stop) return;
            if (held.size() > (stop ? 0 : 20)) {
              std::swap(held[random() % held.size()], held.back());
              mine = std::move(held.back());
              held.pop_back();
            }
          }
          if (mine.first && Contents(mine.first->map) != mine.second) ++wrong;
        }
      });
    }
    History history;
    Model model;
    std::mt19937 random(99);
    for (int step = 0; step < 1500; ++step) {
      for (unsigned changes = random() % 4; changes > 0; --changes) {
        const int key = static_cast<int>(random() % 120);
        if (random() % 3 != 0) {
          history.Set(OwningLeaf(key, step, HashOf(key, GetParam())));
          model[key] = step;
        } else {
          history.Erase(key, HashOf(key, GetParam()));
          model.erase(key);
        }
      }
      const History::Held version = history.Commit();
      const std::lock_guard guard(lock);
      held.emplace_back(version, model);
    }
    stop = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(OwningLeaf::alive, static_cast<int>(model.size()));
    EXPECT_EQ(LiveBlocks() - before, BlocksOf(model, GetParam()));
  }
  EXPECT_EQ(OwningLeaf::alive, 0);
  EXPECT_EQ(LiveBlocks(), before);
}

INSTANTIATE_TEST_SUITE_P(Spreads, VersionTest, ::testing::Values(Spread::kWell, Spread::kHighBits, Spread::kNone));

TEST(VersionCostTest, FreesTheRemainsOfLaterVersionsAtOnceWhileAnOldOneIsHeld) {
  constexpr int kKeys = 2'000;
  History history;
  Model model;
  for (int key = 0; key < kKeys; ++key) history.Set(OwningLeaf(key, 0, HashOf(key, Spread::kWell)));
  History::Held old = history.Commit();
  const std::int64_t one = LiveBlocks();
  for (int step = 0; step < 100'000; ++step) {
    const int key = step * 7 % kKeys;
    history.Set(OwningLeaf(key, step, HashOf(key, Spread::kWell)));
    history.Commit();
    ASSERT_LE(OwningLeaf::alive, 2 * kKeys);
    ASSERT_LE(LiveBlocks(), 2 * one + kKeys + 16);
  }
  EXPECT_EQ(Contents(old->map).size(), static_cast<std::size_t>(kKeys));
  EXPECT_EQ(OwningLeaf::alive, 2 * kKeys);
  old = nullptr;
  EXPECT_EQ(OwningLeaf::alive, kKeys);
  EXPECT_EQ(LiveBlocks(), one);
}

TEST(VersionCostTest, FreesAVersionInStepsOfBoundedSize) {
  constexpr int kKeys = 10'000;
  History history;
  for (int key = 0; key < kKeys; ++key) history.Set(OwningLeaf(key, 0, HashOf(key, Spread::kWell)));
  History::Held old = history.Commit();
  history.Replace();
  int steps = 0;
  for (bool done = false; !done; ++steps) {
    const int before = OwningLeaf::alive;
    std::size_t units = 100;
    done = old->FreeSome(units);
    ASSERT_LE(before - OwningLeaf::alive, 100 + 32);
  }
  EXPECT_GE(steps, kKeys / 132);
  EXPECT_EQ(OwningLeaf::alive, 0);
}

}  // namespace
}  // namespace kgen::cache
