// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/delta_fifo.h"

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
      return "bookmark " + delta.version;
  }
  return "";
}

std::vector<std::string> Words(const std::vector<Delta>& deltas) {
  std::vector<std::string> words;
  for (const Delta& delta : deltas) words.push_back(Word(delta));
  return words;
}

std::vector<std::string> Chain(const DeltaFifo& fifo, std::string_view name) {
  std::vector<std::string> words;
  for (const Delta* delta : fifo.ChainOf(Key(name))) words.push_back(Word(*delta) + " " + delta->version);
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

TEST_F(DeltaFifoTest, GivesDeltasInTheOrderOfArrivalOverAllObjects_Q1_Q_07) {
  Add("a", "1");
  Add("b", "2");
  Update("a", "3");
  fifo_.Bookmark("4");
  Delete("b", "5");
  Update("a", "6");
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "added b", "updated a", "bookmark 4", "deleted b", "updated a"));
}

TEST_F(DeltaFifoTest, KeepsEveryDeltaOfAnObject_Q2_Q_07) {
  Add("a", "1");
  for (int i = 2; i < 100; ++i) Update("a", std::to_string(i));
  EXPECT_EQ(fifo_.Drain(1000).size(), 99u);
}

TEST_F(DeltaFifoTest, DropsASecondDeletionInARowButNotItsVersion_Q2) {
  Delete("a", "1");
  Delete("a", "2");
  Add("a", "3");
  Delete("a", "4");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a", "bookmark 2", "added a", "deleted a"));
}

TEST_F(DeltaFifoTest, QueuesADeletionOfAnObjectThatNobodyKnows_Q_08) {
  Delete("never-seen", "1");
  EXPECT_THAT(DrainAll(), ElementsAre("deleted never-seen"));
}

TEST_F(DeltaFifoTest, KeepsTheCertainOneOfTwoDeletions_Q3_Q_20) {
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

TEST_F(DeltaFifoTest, ChainsTheDeltasOfOneObject) {
  Add("a", "1");
  Add("b", "2");
  Update("a", "3");
  fifo_.Refuse(Key("a"), "4");
  EXPECT_THAT(Chain(fifo_, "a"), ElementsAre("added a 1", "updated a 3", "refused a 4"));
  EXPECT_THAT(Chain(fifo_, "b"), ElementsAre("added b 2"));
  EXPECT_THAT(Chain(fifo_, "c"), IsEmpty());
  fifo_.Drain(2);
  EXPECT_THAT(Chain(fifo_, "a"), ElementsAre("updated a 3", "refused a 4"));
  EXPECT_THAT(Chain(fifo_, "b"), IsEmpty());
}

TEST_F(DeltaFifoTest, EndsEveryChainAtAReplaceAndAtASync_Q4) {
  Delete("a", "1");
  fifo_.Replace({}, "2");
  EXPECT_THAT(Chain(fifo_, "a"), IsEmpty());
  Delete("a", "3");  // so this is no second deletion in a row
  EXPECT_THAT(Chain(fifo_, "a"), ElementsAre("deleted a 3"));
  fifo_.Resync();
  Delete("a", "4");
  EXPECT_THAT(Chain(fifo_, "a"), ElementsAre("deleted a 4"));
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a", "replaced 2"));
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a", "sync"));
  EXPECT_THAT(DrainAll(), ElementsAre("deleted a"));
}

TEST_F(DeltaFifoTest, MakesOneElementOfAReplaceWithTheListInItsOrder_Q_09) {
  fifo_.Replace({{Key("b"), Object("b", "1")}, {Key("a"), Object("a", "2")}}, "9");
  const std::vector<Delta> drained = fifo_.Drain(10);
  ASSERT_THAT(Words(drained), ElementsAre("replaced 9"));
  ASSERT_EQ(drained[0].list.size(), 2u);
  EXPECT_EQ(drained[0].list[0].key, Key("b"));
  EXPECT_EQ(drained[0].list[1].key, Key("a"));
}

TEST_F(DeltaFifoTest, QueuesAResyncEvenIfOthersWait_Q_10) {
  Add("a", "1");
  fifo_.Resync();
  fifo_.Resync();
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "sync"));
  EXPECT_THAT(DrainAll(), ElementsAre("sync"));
}

TEST_F(DeltaFifoTest, DrainsAtMostTheNumberAskedForAndAtLeastOne_Q5) {
  for (int i = 0; i < 10; ++i) Add(std::to_string(i), "1");
  EXPECT_EQ(fifo_.Drain(3).size(), 3u);
  EXPECT_EQ(fifo_.Drain(0).size(), 1u);
  EXPECT_EQ(fifo_.size(), 6u);
}

TEST_F(DeltaFifoTest, EndsADrainAfterASync_Q5) {
  Add("a", "1");
  fifo_.Resync();
  Add("b", "3");
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "sync"));
  EXPECT_THAT(DrainAll(), ElementsAre("added b"));
}

TEST_F(DeltaFifoTest, EndsADrainAfterAReplace_Q5) {
  Add("a", "1");
  fifo_.Replace({}, "2");
  Add("b", "3");
  EXPECT_THAT(DrainAll(), ElementsAre("added a", "replaced 2"));
  EXPECT_THAT(DrainAll(), ElementsAre("added b"));
}

TEST_F(DeltaFifoTest, IsPopulatedOnceTheFirstReplaceWasAppliedNotWhenItWasDrained_Q6_Q_03_Q_14) {
  EXPECT_FALSE(fifo_.initial_population_done());
  fifo_.Replace({{Key("a"), Object("a", "1")}}, "1");
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

TEST_F(DeltaFifoTest, IsPopulatedByAnEmptyReplaceLikeByAnyOther_Q6_Q_15) {
  fifo_.Replace({}, "1");
  EXPECT_FALSE(fifo_.initial_population_done());
  fifo_.Drain(1);
  fifo_.Applied();
  EXPECT_TRUE(fifo_.initial_population_done());
}

TEST_F(DeltaFifoTest, HasNoInitialPopulationIfADeltaComesFirst_Q6_Q_03) {
  Add("a", "1");
  EXPECT_TRUE(fifo_.initial_population_done());
}

TEST_F(DeltaFifoTest, IsNotPopulatedByABookmarkOrASync_Q6) {
  fifo_.Bookmark("1");
  fifo_.Resync();
  fifo_.Drain(10);
  fifo_.Applied();
  EXPECT_FALSE(fifo_.initial_population_done());
}

TEST_F(DeltaFifoTest, StaysPopulatedAfterALaterReplace_Q6_Q_05) {
  fifo_.Replace({}, "1");
  fifo_.Drain(1);
  fifo_.Applied();
  fifo_.Replace({}, "2");
  EXPECT_TRUE(fifo_.initial_population_done());
  EXPECT_FALSE(fifo_.in_initial_population());
}

TEST_F(DeltaFifoTest, HoldsOnToNothingThatWasDrained_Q7) {
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
