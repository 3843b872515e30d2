// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/queue/delta_fifo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ObjectKey Key(std::string_view name) { return {"ns", name}; }

AnyRef Object(std::string_view name, std::string_view version) {
  Unstructured object;
  object.metadata.namespace_ = "ns";
  object.metadata.name = name;
  object.metadata.resourceVersion = version;
  return MakeRef(std::move(object));
}

// One drained delta in a word: "added a", "bookmark 7".
std::string Word(const Delta& delta) {
  const std::string name = delta.key.name.str();
  switch (delta.type) {
    case DeltaType::kAdded:
      return "added " + name;
    case DeltaType::kUpdated:
      return "updated " + name;
    case DeltaType::kDeleted:
      return std::string(delta.object ? "deleted " : "lost ") + name;
    case DeltaType::kRefused:
      return "refused " + name;
    case DeltaType::kReplaced:
      return "replaced " + delta.version;
    case DeltaType::kSync:
      return "sync";
    case DeltaType::kBookmark:
      return delta.held != 0 ? "held " + std::to_string(delta.held) : "bookmark " + delta.version;
    case DeltaType::kLeft:
      return "left " + std::to_string(delta.held);
  }
  return "";
}

std::vector<std::string> Words(const std::vector<Delta>& deltas) {
  std::vector<std::string> words;
  for (const Delta& delta : deltas) words.push_back(Word(delta));
  return words;
}

class DeltaFifoTest : public ::testing::Test {
 protected:
  void Add(std::string_view name, std::string version) { fifo_.Add(Key(name), Object(name, version), version); }
  void Update(std::string_view name, std::string version) { fifo_.Update(Key(name), Object(name, version), version); }
  void Delete(std::string_view name, std::string version) { fifo_.Delete(Key(name), Object(name, version), version); }
  std::vector<std::string> DrainAll() { return Words(fifo_.Drain(1000)); }

  DeltaFifo fifo_;
};

// Contract: informer Q-07; invariant Q1.
TEST_F(DeltaFifoTest, GivesDeltasInTheOrderOfArrivalOverAllObjects) {
  Add("a", "1");
  Add("b", "2");
  Update("a", "3");
  fifo_.Bookmark("4");
  Delete("b", "5");
  Update("a", "6");
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "added b", "updated a", "bookmark 4", "deleted b", "updated a"));
}

// Contract: informer Q-07; invariant Q2.
TEST_F(DeltaFifoTest, KeepsEveryDeltaOfAnObject) {
  Add("a", "1");
  for (int i = 2; i < 100; ++i) Update("a", std::to_string(i));
  EXPECT_EQ(fifo_.Drain(1000).size(), 99u);
}

// Contract: invariant Q2.
TEST_F(DeltaFifoTest, DropsASecondDeletionInARowButNotItsVersion) {
  Delete("a", "1");
  Delete("a", "2");
  Add("a", "3");
  Delete("a", "4");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a", "bookmark 2", "added a", "deleted a"));
}

// Contract: informer Q-08.
TEST_F(DeltaFifoTest, QueuesADeletionOfAnUnknownObject) {
  Delete("never-seen", "1");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted never-seen"));
}

// Contract: informer Q-20; invariant Q3.
TEST_F(DeltaFifoTest, KeepsTheDeletionWithTheFinalStateOfTwo) {
  fifo_.Delete(Key("a"), {}, "1");
  Delete("a", "2");
  Delete("b", "3");
  fifo_.Delete(Key("b"), {}, "4");
  const std::vector<Delta> drained = fifo_.Drain(10);
  EXPECT_THAT(Words(drained), ElementsAre("deleted a", "bookmark 2", "deleted b", "bookmark 4"));
  EXPECT_EQ(drained[0].object.metadata()->resourceVersion, "2");
  EXPECT_EQ(drained[2].object.metadata()->resourceVersion, "3");
}

TEST_F(DeltaFifoTest, DoesNotMergeADeletionWithOneThatWasDrained) {
  Delete("a", "1");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a"));
  Delete("a", "2");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a"));
}

// Contract: invariant Q4.
TEST_F(DeltaFifoTest, DoesNotMergeDeletionsAcrossAReplaceOrASync) {
  Delete("a", "1");
  fifo_.Replace({}, "2");
  Delete("a", "3");
  fifo_.Resync();
  Delete("a", "4");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a", "replaced 2"));
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a", "sync"));
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a"));
}

// Contract: informer Q-09.
TEST_F(DeltaFifoTest, QueuesAReplaceAsOneElementWithTheListInItsOrder) {
  ListedObjects list;
  list.Append({Key("b"), Object("b", "1")});
  list.Append({Key("a"), Object("a", "2")});
  fifo_.Replace(std::move(list), "9");
  const std::vector<Delta> drained = fifo_.Drain(10);
  ASSERT_THAT(Words(drained), ElementsAre("replaced 9"));
  ASSERT_EQ(drained[0].list.size(), 2u);
  EXPECT_EQ(drained[0].list[0].key, Key("b"));
  EXPECT_EQ(drained[0].list[1].key, Key("a"));
}

// Contract: informer Q-10.
TEST_F(DeltaFifoTest, QueuesAResyncEvenIfOthersWait) {
  Add("a", "1");
  fifo_.Resync();
  fifo_.Resync();
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "sync"));
  EXPECT_THAT(DrainAll(), ElementsAre("sync"));
}

// Contract: invariant Q5.
TEST_F(DeltaFifoTest, DrainsAtMostTheNumberAskedForAndAtLeastOne) {
  for (int i = 0; i < 10; ++i) Add(std::to_string(i), "1");
  EXPECT_EQ(fifo_.Drain(3).size(), 3u);
  EXPECT_EQ(fifo_.Drain(0).size(), 1u);
  EXPECT_EQ(fifo_.size(), 6u);
}

// Contract: invariant Q5.
TEST_F(DeltaFifoTest, EndsADrainAfterASync) {
  Add("a", "1");
  fifo_.Resync();
  Add("b", "3");
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "sync"));
  EXPECT_THAT(DrainAll(), ElementsAre("added b"));
}

// Contract: invariant Q5.
TEST_F(DeltaFifoTest, EndsADrainAfterAReplace) {
  Add("a", "1");
  fifo_.Replace({}, "2");
  Add("b", "3");
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "replaced 2"));
  EXPECT_THAT(DrainAll(), ElementsAre("added b"));
}

// Contract: informer; invariant Q6.
TEST_F(DeltaFifoTest, IsPopulatedOnceTheFirstReplaceWasAppliedNotWhenItWasDrained) {
  EXPECT_FALSE(fifo_.initial_population_done());
  ListedObjects list;
  list.Append({Key("a"), Object("a", "1")});
  fifo_.Replace(std::move(list), "1");
  Update("a", "2");
  EXPECT_TRUE(fifo_.in_initial_population());
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
  fifo_.Drain(1);
  EXPECT_FALSE(fifo_.initial_population_done());
  fifo_.Applied();
  EXPECT_TRUE(fifo_.initial_population_done());
  EXPECT_FALSE(fifo_.in_initial_population());
}

// Contract: informer Q-15; invariant Q6.
TEST_F(DeltaFifoTest, IsPopulatedByAnEmptyReplaceLikeByAnyOther) {
  fifo_.Replace({}, "1");
  EXPECT_FALSE(fifo_.initial_population_done());
  fifo_.Drain(1);
  fifo_.Applied();
  EXPECT_TRUE(fifo_.initial_population_done());
}

// Contract: informer Q-03; invariant Q6.
TEST_F(DeltaFifoTest, HasNoInitialPopulationIfADeltaComesFirst) {
  Add("a", "1");
  EXPECT_TRUE(fifo_.initial_population_done());
}

// Contract: invariant Q6.
TEST_F(DeltaFifoTest, IsNotPopulatedByABookmarkOrASync) {
  fifo_.Bookmark("1");
  fifo_.Resync();
  fifo_.Drain(10);
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
}

// Contract: invariant Q6.
TEST_F(DeltaFifoTest, IsNotPopulatedByASavedReplaceButByWhatCompletesIt) {
  fifo_.ReplaceSaved({}, "1", "cluster");
  Add("a", "2");
  fifo_.Bookmark("3");
  fifo_.Resync();
  while (!fifo_.empty()) fifo_.Drain(10);
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
  Add("b", "4");
  fifo_.Complete("5");
  Add("c", "6");
  EXPECT_THAT(Words(fifo_.Drain(1)), ElementsAre("added b"));
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
  EXPECT_THAT(Words(fifo_.Drain(1)), ElementsAre("bookmark 5"));
  EXPECT_FALSE(fifo_.initial_population_done());
  fifo_.Applied();
  EXPECT_TRUE(fifo_.initial_population_done());
}

// Contract: invariant Q6.
TEST_F(DeltaFifoTest, IsPopulatedByTheFirstReplaceAfterASavedOne) {
  fifo_.ReplaceSaved({}, "1", "cluster");
  fifo_.Replace({}, "2");
  const std::vector<Delta> saved = fifo_.Drain(10);
  EXPECT_THAT(Words(saved), ElementsAre("replaced 1"));
  EXPECT_TRUE(saved.front().saved);
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
  EXPECT_FALSE(fifo_.Drain(10).front().saved);
  fifo_.Applied();
  EXPECT_TRUE(fifo_.initial_population_done());
}

// Contract: informer Q-05; invariant Q6.
TEST_F(DeltaFifoTest, StaysPopulatedAfterALaterReplace) {
  fifo_.Replace({}, "1");
  fifo_.Drain(1);
  fifo_.Applied();
  fifo_.Replace({}, "2");
  EXPECT_TRUE(fifo_.initial_population_done());
  EXPECT_FALSE(fifo_.in_initial_population());
}

// Contract: invariant Q1; invariant Q4; invariant Q5.
TEST_F(DeltaFifoTest, KeepsTheOrderOfWhatLeavesAndWhatWasHeld) {
  Delete("a", "1");
  fifo_.Leave(ShardRanges{{0, 9}}, 2);
  fifo_.Held(3);
  Delete("a", "4");
  fifo_.Replace({}, "5", false, false, "", 6);
  const std::vector<Delta> first = fifo_.Drain(10);
  EXPECT_THAT(Words(first), ElementsAre("deleted a", "left 2"));
  EXPECT_EQ(*first.back().ranges, (ShardRanges{{0, 9}}));
  const std::vector<Delta> rest = fifo_.Drain(10);
  EXPECT_THAT(Words(rest), ElementsAre("held 3", "deleted a", "replaced 5"));
  EXPECT_EQ(rest.back().held, 6u);
}

// Contract: invariant Q6.
TEST_F(DeltaFifoTest, IsNotPopulatedByWhatLeaves) {
  fifo_.Leave({}, 1);
  fifo_.Held(2);
  while (!fifo_.empty()) fifo_.Drain(10);
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
}

// Contract: invariant Q7.
TEST_F(DeltaFifoTest, HoldsOnToNothingThatWasDrained) {
  Unstructured value;
  value.metadata.name = "a";
  const std::int64_t before = LiveBlocks();
  {
    fifo_.Add(Key("a"), MakeRef(Unstructured(value)), "1");
    EXPECT_GT(LiveBlocks(), before);
    fifo_.Drain(1);
  }
  EXPECT_EQ(LiveBlocks(), before);
}

}  // namespace
}  // namespace kgen::cache
