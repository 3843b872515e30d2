// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cost of a transaction of the store, in allocated blocks: it shows on any machine whether work is proportional to
// the changes or to the whole store. And transactions that run out of memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/store/store.h"
#include "kgen/core/memory.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"
#include "tests/support/replace_all.h"

// ThreadSanitizer has an operator new of its own, in place of ours. Without ours only blocks of the process heap are
// counted, and none can be refused; these tests have one thread.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGEN_TEST_WITHOUT_OWN_NEW 1
#endif
#endif

namespace {
std::atomic<std::int64_t> taken = 0;
[[maybe_unused]] std::atomic<std::int64_t> until_none_is_left = -1;  // so many more are given; less than 0: any number
}  // namespace

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  taken.fetch_add(1, std::memory_order_relaxed);
  if (until_none_is_left.load(std::memory_order_relaxed) >= 0 && until_none_is_left.fetch_sub(1) == 0) {
    throw std::bad_alloc();
  }
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace kgen::cache {
namespace {

constexpr int kObjects = 5'000;
constexpr int kShared = 10;  // values that many objects have

AnyRef Make(int i, std::string_view mood = "") {
  PartialObjectMetadata object{.metadata = {.name = "object-" + std::to_string(i), .namespace_ = "default"}};
  object.metadata.labels["own"] = "a-value-of-its-own-" + std::to_string(i);
  object.metadata.labels["shared"] = "value-" + std::to_string(i % kShared);
  object.metadata.labels["mood"] = mood;
  return MakeRef(std::move(object)).any();
}
Change Put(AnyRef object) {
  return {{object.metadata()->namespace_, object.metadata()->name}, std::move(object), false};
}
Transaction All() {
  Transaction all{.changes = {}, .version = "1"};
  for (int i = 0; i < kObjects; ++i) all.changes.push_back(Put(Make(i)));
  return all;
}
IndexFunction ByLabel(std::string label) {
  return [label = std::move(label)](const AnyRef& object, IndexSink& sink) {
    if (object.metadata()->labels["mood"] == "bad") throw std::runtime_error("no");
    sink.Add(object.metadata()->labels[label]);
  };
}
std::int64_t Taken() { return taken + GetHeapUse().allocations; }
std::int64_t TakenBy(Store& store, Transaction transaction) {
  const std::int64_t before = Taken();
  store.Apply(std::move(transaction));
  return Taken() - before;
}

TEST(StoreCostTest, ChangesAnObjectThatTheIndexFunctionThrowsForWithoutVisitingEveryValue) {
  auto store = MakeShared<Store>();
  ASSERT_TRUE(store->AddIndex("own", ByLabel("own")));
  ReplaceAll(*store, All());
  store->Apply({{Put(Make(7, "bad"))}, "2"});
  EXPECT_LT(TakenBy(*store, {{Put(Make(7, "bad"))}, "3"}), 100);
  EXPECT_LT(TakenBy(*store, {{Put(Make(7))}, "4"}), 100);
  EXPECT_EQ(store->Snapshot().IndexValues("own").size(), static_cast<std::size_t>(kObjects));
}

// The sets of objects are filled in place. A version of the set for each object would be a dozen blocks for each.
TEST(StoreCostTest, MakesNoVersionOfASetOfObjectsForEachObjectOfAList) {
  auto store = MakeShared<Store>();
  ASSERT_TRUE(store->AddIndex("shared", ByLabel("shared")));
  Transaction all = All();
  const std::int64_t before = Taken();
  ReplaceAll(*store, std::move(all));
  EXPECT_LT(Taken() - before, 6 * kObjects);
  EXPECT_EQ(store->Snapshot().ByIndex("shared", "value-3").size(), static_cast<std::size_t>(kObjects / kShared));
}

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
// Wherever it fails, its changes are undone. Index functions belong to the user, so their exceptions are reported.
TEST(StoreCostTest, DoesNotChangeTheStoreWhenATransactionRunsOutOfMemory) {
  const std::int64_t before = LiveBlocks();
  int failed = 0;
  for (std::int64_t given = 0;; ++given) {
    auto store = MakeShared<Store>();
    ASSERT_TRUE(store->AddIndex("shared", ByLabel("shared")));
    Transaction some{.changes = {}, .version = "1"};
    for (int i = 0; i < 100; ++i) some.changes.push_back(Put(Make(i)));
    ReplaceAll(*store, std::move(some));
    const std::int64_t blocks = LiveBlocks();
    const std::vector<ObjectKey> keys = store->Snapshot().Keys();
    Transaction changes{.changes = {}, .version = "a version that is too long to stand in a string"};
    for (int i = 90; i < 110; ++i) changes.changes.push_back(Put(Make(i)));
    changes.changes.push_back({{"default", "another"}, Make(1), false});  // reported as a fault, which allocates memory
    for (int i = 0; i < 95; i += 2) changes.changes.push_back({keys[static_cast<std::size_t>(i)], {}, false});
    changes.changes.push_back({{"default", "another"}, Make(1), false});
    until_none_is_left = given;
    bool threw = false;
    try {
      store->Apply(std::move(changes));
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    const bool enough = until_none_is_left.exchange(-1) >= 0;
    if (enough) break;
    if (!threw) continue;
    ++failed;
    changes = {};
    ASSERT_EQ(LiveBlocks(), blocks) << given;
    ASSERT_EQ(store->Snapshot().Keys(), keys) << given;
    ASSERT_EQ(store->Snapshot().version(), "1") << given;
    store->Apply({{Put(Make(1'000))}, "2"});
    ASSERT_EQ(store->Snapshot().ByIndex("shared", "value-0").size(), 11u) << given;
  }
  EXPECT_GT(failed, 5);
  EXPECT_EQ(LiveBlocks(), before);
}
#endif

}  // namespace
}  // namespace kgen::cache
