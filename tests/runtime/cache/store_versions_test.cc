// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which objects a store and its snapshots keep alive, and what a transaction touches.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/store/store.h"
#include "cache/store/store_difference.h"
#include "cache/store/store_replacement.h"
#include "cache/store/store_state.h"
#include "kgen/core/memory.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/ref.h"
#include "kgen/core/unstructured.h"
#include "tests/support/replace_all.h"

namespace kgen::cache {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

std::string NameOf(int i) { return "an-object-with-a-long-name-" + std::to_string(i); }
AnyRef Make(int i, int color) {
  PartialObjectMetadata object{
      .metadata = {.name = NameOf(i), .namespace_ = "a-namespace-of-some-length-" + std::to_string(i % 3)}};
  object.metadata.labels["color"] = "a-color-with-a-long-name-" + std::to_string(color);
  return MakeRef(std::move(object)).any();
}
ObjectKey KeyOf(const AnyRef& object) { return {object.metadata()->namespace_, object.metadata()->name}; }
Change Put(const AnyRef& object) { return {KeyOf(object), object, false}; }
void ByColorOf(const AnyRef& object, IndexSink& sink) { sink.Add(object.metadata()->labels["color"]); }
// Two objects have each value, and only one of them while the other does not exist.
void ByPairOf(const AnyRef& object, IndexSink& sink) {
  const std::string name = object.metadata()->name;
  sink.Add("the-pair-with-the-number-" + std::to_string(std::stoi(name.substr(name.rfind('-') + 1)) / 2));
}

// How many references there are to an object.
std::uint32_t CountOf(const AnyRef& object) {
  return (static_cast<const detail::ObjectBlock*>(object.object()) - 1)->refs.load(std::memory_order_relaxed);
}

// Every object of a snapshot, each index checked against the objects.
std::map<ObjectKey, const void*> Contents(const AnySnapshot& view) {
  std::map<ObjectKey, const void*> contents;
  for (const AnyRef& object : view.List()) contents.emplace(KeyOf(object), object.object());
  for (const Index& index : view.state().indexes) {
    std::map<ObjectKey, const void*> indexed;
    index.values.ForEach([&](const ValueLeaf& value) {
      EXPECT_NE(value.size(), 0u);
      value.ForEach([&](const ObjectLeaf& leaf) {
        EXPECT_TRUE(indexed.emplace(KeyOf(leaf.object()), leaf.object().object()).second);
      });
    });
    EXPECT_EQ(indexed, contents) << index.definition->name;
  }
  return contents;
}

TEST(StoreVersionsTest, ChangesNoReferenceCountOfAnotherObject) {
  auto store = MakeShared<Store>();
  ASSERT_TRUE(store->AddIndex("color", ByColorOf));
  std::vector<AnyRef> objects;
  Transaction all{.changes = {}, .version = "1"};
  for (int i = 0; i < 5'000; ++i) {
    objects.push_back(Make(i, i % 7));
    all.changes.push_back(Put(objects.back()));
  }
  ReplaceAll(*store, std::move(all));
  const AnySnapshot held = store->Snapshot();
  const std::uint32_t in_store = CountOf(objects[0]);
  for (int i = 0; i < 50; ++i) store->Apply({{Put(Make(i, i % 7))}, "2"});
  for (int i = 50; i < 100; ++i) store->Apply({{{KeyOf(objects[static_cast<std::size_t>(i)]), {}, false}}, "3"});
  for (int i = 0; i < 100; ++i) store->Apply({{Put(Make(10'000 + i, i % 7))}, "4"});
  for (const AnyRef& object : objects) ASSERT_EQ(CountOf(object), in_store);
}

// AddIndex() uses this number to decide whether to catch up concurrently with the writer.
TEST(StoreVersionsTest, CountsTheChangesOfAllTransactions) {
  auto store = MakeShared<Store>();
  for (int i = 0; i < 5; ++i) store->Apply({{Put(Make(2 * i, 1)), Put(Make(2 * i + 1, 1))}, "1"});
  EXPECT_EQ(store->Snapshot().state().changes, 10u);
  ASSERT_TRUE(store->AddIndex("color", ByColorOf));
  EXPECT_EQ(store->Snapshot().state().changes, 10u);
}

// Random transactions, replacements, differences, indexes and snapshots.
class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  unsigned Roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }

  void Apply() {
    Transaction transaction;
    for (unsigned n = Roll(12) == 0 ? 60 : Roll(4); n > 0; --n) transaction.changes.push_back(AnyChange());
    store_->Apply(std::move(transaction));
  }
  void Replace() {
    Store::Replacement next(*store_);
    for (unsigned n = Roll(80); n > 0; --n) {
      const AnyRef object = Make(static_cast<int>(Roll(80)), static_cast<int>(Roll(5)));
      objects_.push_back(object);
      next.Put(Put(object));
    }
    if (Roll(4) == 0) return;  // given up
    for (std::size_t units = 10; !next.Publish("", units); units = 10) {
    }
  }
  void Differ() {
    const AnySnapshot base = store_->Snapshot();
    Store::Difference next(*store_);
    bool added = false;
    for (unsigned n = Roll(40); n > 0; --n) {
      next.Put(AnyChange());
      if (indexes_ < 5 && Roll(60) == 0) {
        AddIndex();
        added = true;
      }
      if (Roll(5) == 0) FreeSome();
      if (Roll(5) == 0) Drop();
    }
    if (Roll(4) == 0) return;  // given up
    const auto before = Contents(store_->Snapshot());
    ASSERT_EQ(next.Publish("7"), !added);
    if (added) {
      ASSERT_EQ(Contents(store_->Snapshot()), before);
    }
  }
  void AddIndex() {
    const std::string number = std::to_string(indexes_++);
    if (indexes_ % 2 == 0) {
      ASSERT_TRUE(store_->AddIndex("color " + number, ByColorOf));
    } else {
      ASSERT_TRUE(store_->AddIndex("pair " + number, ByPairOf));
    }
  }
  void Hold() {
    AnySnapshot view = store_->Snapshot();
    auto contents = Contents(view);
    held_.emplace_back(std::move(view), std::move(contents));
  }
  void Drop() {
    if (held_.empty()) return;
    std::swap(held_[Roll(static_cast<unsigned>(held_.size()))], held_.back());
    if (Roll(2) == 0) store_->Drop(std::move(held_.back().first));
    held_.pop_back();
  }
  void FreeSome() {
    std::size_t units = Roll(30);
    store_->FreeSome(units);
  }

  // What no snapshot has is free, and nothing else.
  void Check() {
    std::size_t units = kAll;
    ASSERT_TRUE(store_->FreeSome(units));
    std::set<const void*> reachable;
    for (const auto& [view, contents] : held_) {
      ASSERT_EQ(Contents(view), contents);
      for (const auto& [key, object] : contents) reachable.insert(object);
    }
    for (const auto& [key, object] : Contents(store_->Snapshot())) reachable.insert(object);
    std::erase_if(objects_, [&](const AnyRef& object) {
      if (reachable.contains(object.object())) return false;
      EXPECT_EQ(CountOf(object), 1u) << object.metadata()->name;
      return true;
    });
    for (const AnyRef& object : objects_) ASSERT_GT(CountOf(object), 1u);
  }
  void Finish() {
    while (!held_.empty()) {
      Drop();
      Check();
    }
    store_ = nullptr;
    for (const AnyRef& object : objects_) ASSERT_EQ(CountOf(object), 1u);
  }

 private:
  Change AnyChange() {
    const AnyRef object = Make(static_cast<int>(Roll(80)), static_cast<int>(Roll(5)));
    if (Roll(3) == 0) return {KeyOf(object), {}, Roll(4) == 0};
    objects_.push_back(object);
    return {KeyOf(object), object, Roll(8) == 0};
  }

  std::mt19937 random_;
  Shared<Store> store_ = MakeShared<Store>();
  int indexes_ = 0;
  std::vector<AnyRef> objects_;
  std::vector<std::pair<AnySnapshot, std::map<ObjectKey, const void*>>> held_;
};

TEST(StoreVersionsTest, KeepsExactlyTheObjectsOfItsSnapshotsAlive) {
  const std::int64_t before = LiveBlocks();
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    for (int step = 0; step < 150; ++step) {
      const unsigned what = random.Roll(40);
      if (what == 0) random.Replace();
      if (what == 1 && step < 100) random.AddIndex();
      if (what > 1 && what < 6) random.Differ();
      if (what >= 6) random.Apply();
      if (random.Roll(4) == 0) random.Hold();
      if (random.Roll(5) == 0) random.Drop();
      if (random.Roll(4) == 0) random.FreeSome();
      if (random.Roll(8) == 0) random.Check();
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    random.Finish();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_EQ(LiveBlocks(), before);
}

TEST(StoreVersionsTest, FreesObjectsThatOnlyAnOldSnapshotHoldsWhenItIsDropped) {
  constexpr int kObjects = 500;
  // An index shares the text of a value with the first object that had it, which will be gone.
  constexpr std::int64_t kNamespaces = 3;
  auto store = MakeShared<Store>();
  for (int i = 0; i < kObjects; ++i) store->Apply({{Put(Make(i, i % 7))}, "1"});
  const std::int64_t one = LiveBlocks();
  AnySnapshot old = store->Snapshot();
  auto contents = Contents(old);
  for (int step = 0; step < 100'000; ++step) {
    const int i = step * 7 % kObjects;
    store->Apply({{Put(Make(i, i % 7))}, "2"});
    ASSERT_LE(LiveBlocks(), 3 * one);
  }
  EXPECT_EQ(Contents(old), contents);
  EXPECT_GT(LiveBlocks(), one + one / 2);
  contents.clear();
  old = AnySnapshot();
  EXPECT_EQ(LiveBlocks(), one + kNamespaces);
}

TEST(StoreVersionsTest, SnapshotsCanBeDroppedOnManyThreadsDuringWrites) {
  const std::int64_t before = LiveBlocks();
  {
    auto store = MakeShared<Store>();
    std::atomic<bool> stop = false;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> readers;
    for (unsigned seed = 0; seed < 3; ++seed) {
      readers.emplace_back([&, seed] {
        std::mt19937 random(seed);
        std::vector<std::pair<AnySnapshot, std::size_t>> held(8);
        while (!stop) {
          auto& [view, size] = held[random() % held.size()];
          std::size_t objects = 0, indexed = 0;
          if (view.size() > 0) {
            objects = view.List().size();
            for (int n = 0; n < 3; ++n)
              indexed += view.InNamespace("a-namespace-of-some-length-" + std::to_string(n)).size();
          }
          if (objects != size || indexed != size) ++wrong;
          view = store->Snapshot();
          size = view.size();
          if (random() % 8 == 0) {
            store->Drop(std::exchange(view, AnySnapshot()));
            size = 0;
          }
        }
      });
    }
    std::mt19937 random(5);
    for (int step = 0; step < 1500; ++step) {
      Transaction transaction;
      for (unsigned n = random() % 5; n > 0; --n) {
        const AnyRef object = Make(static_cast<int>(random() % 100), static_cast<int>(random() % 5));
        const bool remove = random() % 3 == 0;
        transaction.changes.push_back({KeyOf(object), remove ? AnyRef() : object, false});
      }
      store->Apply(std::move(transaction));
      if (step % 100 == 0) {
        Store::Replacement next(*store);
        for (int i = 0; i < 50; ++i) next.Put(Put(Make(i, i % 5)));
        for (std::size_t units = 20; !next.Publish("", units); units = 20) {
        }
      }
      if (step % 300 == 0) {
        EXPECT_TRUE(store->AddIndex("color " + std::to_string(step), ByColorOf));
      }
      std::size_t units = 10;
      store->FreeSome(units);
    }
    stop = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_EQ(LiveBlocks(), before);
}

}  // namespace
}  // namespace kgen::cache
