// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/queue/listed_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kgen/core/memory.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using ::testing::ElementsAre;

ObjectKey KeyOf(std::string_view name) { return {"ns", name}; }
AnyRef ObjectAt(std::string_view name, std::string_view version) {
  return MakeRef(PartialObjectMetadata{.metadata = {.name = name, .namespace_ = "ns", .resourceVersion = version}});
}
std::vector<std::string> Text(const ListedObjects& list) {
  std::vector<std::string> text;
  for (std::size_t slot = 0; slot < list.slots(); ++slot) {
    const ListedObject& item = list[slot];
    if (item.key.name.empty()) continue;
    text.push_back(item.key.name.str() + "@" +
                   (item.object ? item.object.metadata()->resourceVersion.str() : std::string("refused")) +
                   (item.stale ? " stale" : ""));
  }
  return text;
}

TEST(ListedObjects, KeepsEveryAppendedItemInItsOrder) {
  ListedObjects list;
  list.Append({KeyOf("b"), ObjectAt("b", "1")});
  list.Append({KeyOf("a"), {}});
  list.Append({KeyOf("b"), ObjectAt("b", "2")});
  EXPECT_THAT(Text(list), ElementsAre("b@1", "a@refused", "b@2"));
  EXPECT_EQ(list.size(), 3u);
}

TEST(ListedObjects, ReplacesAnObjectInPlaceAndMarksItWhenTheNewStateWasRefused) {
  ListedObjects list;
  list.Upsert(KeyOf("a"), ObjectAt("a", "1"));
  list.Upsert(KeyOf("b"), ObjectAt("b", "1"));
  list.Upsert(KeyOf("a"), ObjectAt("a", "2"));
  list.Upsert(KeyOf("b"), {});
  EXPECT_THAT(Text(list), ElementsAre("a@2", "b@1 stale"));
  list.Upsert(KeyOf("b"), ObjectAt("b", "3"));
  EXPECT_THAT(Text(list), ElementsAre("a@2", "b@3"));
  EXPECT_EQ(list.size(), 2u);
}

TEST(ListedObjects, LeavesAnEmptySlotWhereAnObjectWasRemoved) {
  ListedObjects list;
  list.Remove(KeyOf("nobody"));
  list.Upsert(KeyOf("a"), ObjectAt("a", "1"));
  list.Upsert(KeyOf("b"), ObjectAt("b", "1"));
  list.Remove(KeyOf("a"));
  list.Remove(KeyOf("a"));
  EXPECT_THAT(Text(list), ElementsAre("b@1"));
  EXPECT_EQ(list.size(), 1u);
  EXPECT_EQ(list.slots(), 2u);
  list.Upsert(KeyOf("a"), ObjectAt("a", "2"));
  EXPECT_THAT(Text(list), ElementsAre("b@1", "a@2"));
}

TEST(ListedObjects, NeverMovesAnItemWhileItGrows) {
  ListedObjects list;
  list.Upsert(KeyOf("first"), ObjectAt("first", "1"));
  const ListedObject* const first = &list[0];
  for (int i = 0; i < 5000; ++i) list.Upsert(KeyOf(std::to_string(i)), ObjectAt("x", "1"));
  EXPECT_EQ(&list[0], first);
  list.Upsert(KeyOf("first"), ObjectAt("first", "2"));
  EXPECT_EQ(list.size(), 5001u);
}

TEST(ListedObjects, FreesAtMostTheNumberOfItemsAskedForAtATime) {
  const std::int64_t before = LiveBlocks();
  ListedObjects list;
  for (int i = 0; i < 2000; ++i) list.Upsert(KeyOf(std::to_string(i)), ObjectAt("x", "1"));
  std::int64_t left = LiveBlocks() - before;
  EXPECT_GE(left, 2000);
  int steps = 1;
  for (std::size_t units = 100; !list.FreeSome(units); units = 100, ++steps) {
    const std::int64_t now = LiveBlocks() - before;
    EXPECT_LE(left - now, 100 * (left / 2000 + 1) + 1);  // the last one is the memory of several items
    left = now;
  }
  EXPECT_GE(steps, 20);
  EXPECT_EQ(LiveBlocks(), before);
}

// Not with malloc, which would keep the memory of a list of a million objects for ever.
TEST(ListedObjects, KeepsItsItemsOnTheHeapThatReturnsFreeMemory) {
  const std::int64_t before = GetHeapUse().bytes;
  ListedObjects list;
  for (int i = 0; i < 2000; ++i) list.Append({KeyOf("a"), {}});
  EXPECT_GE(GetHeapUse().bytes - before, 2000 * std::int64_t{sizeof(ListedObject)});
}

}  // namespace
}  // namespace kgen::cache
