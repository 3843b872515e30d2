// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The texts of maps and acknowledgements, and the two rules of safety.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "controller/shards/shard_map.h"
#include "controller/shards/shard_rules.h"

namespace kgen::controller {
namespace {

constexpr std::uint64_t kEnd = UINT64_MAX;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

// The member a has the hashes below 100, b those from there on.
ShardMap Map(std::uint64_t epoch = 7) {
  return {.lineage = "uid/1",
          .epoch = epoch,
          .members = {"a", "b"},
          .versions = {{"pods", "40"}},
          .ranges = {{0, 99, "a", 3, false}, {100, kEnd, "b", 7, false}}};
}
ShardAck Follows(std::uint64_t epoch) { return {.lineage = "uid/1", .epoch = epoch}; }

TEST(ShardMapTest, IsTheSameAfterItsTextWasRead) {
  ShardMap map = Map();
  map.by = ShardBy::kUid;
  map.ranges.insert(map.ranges.begin() + 1, {100, 199, "", 5, true});
  map.ranges.back().first = 200;
  const std::optional<ShardMap> read = ParseMap(ToText(map));
  ASSERT_TRUE(read) << ToText(map);
  EXPECT_EQ(read->lineage, map.lineage);
  EXPECT_EQ(read->epoch, map.epoch);
  EXPECT_EQ(read->by, map.by);
  EXPECT_EQ(read->members, map.members);
  EXPECT_EQ(read->versions, map.versions);
  EXPECT_EQ(read->ranges, map.ranges);
  EXPECT_EQ(read->Of("b"), ShardRanges({{200, kEnd}}));
}

TEST(ShardMapTest, IsNotReadWhenItIsDamaged) {
  const std::string good = ToText(Map());
  ASSERT_TRUE(ParseMap(good));
  const auto with = [&](std::string_view old, std::string_view changed) {
    std::string text = good;
    text.replace(text.find(old), old.size(), changed);
    return text;
  };
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() - 1),
        with("0000000000000000 0", "0000000000000001 0"), with("0000000000000064 1", "0000000000000064 2"),
        with("0000000000000064", "0000000000000000"), with("\"epoch\":7", "\"epoch\":0"),
        with("\"epoch\":7", "\"epoch\":-7"), with("\"uid/1\"", "\"\""), with(" 7 v", " 7 x"), with(" 7 v", " v"),
        with("\"namespace\"", "\"name\""), with("\"a\"", "1"), std::string(3000, '[')}) {
    EXPECT_FALSE(ParseMap(text)) << text;
  }
}

TEST(ShardMapTest, TakesLessThan200KibWith64MembersOfManyRanges) {
  ShardMap map{.lineage = std::string(36, 'u') + "/123456789", .epoch = 1'000'000};
  for (int n = 0; n < 64; ++n)
    map.members.push_back("orders-controller-7f9c6d5b8-" + std::to_string(n) + std::string(40, 'x'));
  for (std::uint64_t n = 0; n < 64 * 64; ++n) {
    if (n > 0) map.ranges.back().last = (n << 52) - 1;
    map.ranges.push_back({n << 52, kEnd, map.members[n % 64], 1'000'000, true});
  }
  EXPECT_THAT(ToText(map), SizeIs(Le(std::size_t{200} << 10)));
  EXPECT_EQ(ParseMap(ToText(map))->ranges, map.ranges);
}

TEST(ShardAckTest, IsTheSameAfterItsTextWasRead) {
  const ShardAck ack{.lineage = "uid/1",
                     .epoch = 9,
                     .by = ShardBy::kUid,
                     .leaving = true,
                     .working = {{0, 9}},
                     .draining = {{20, 29}},
                     .unsure = {{40, kEnd}},
                     .versions = {{"pods", "17"}},
                     .weights = {{3, 2.5}, {8, 1}},
                     .counting = true};
  const std::optional<ShardAck> read = ParseAck(ToText(ack));
  ASSERT_TRUE(read);
  EXPECT_EQ(ToText(*read), ToText(ack));
  EXPECT_EQ(read->working, ack.working);
  EXPECT_EQ(read->draining, ack.draining);
  EXPECT_EQ(read->unsure, ack.unsure);
  EXPECT_TRUE(read->leaving);
  EXPECT_TRUE(read->counting);
  ASSERT_THAT(read->weights, SizeIs(2));
  EXPECT_EQ(read->weights[0].load, 2.5);
}

TEST(ShardAckTest, HasTheLargestWeightsOnlyAndNoneThatIsNoLoad) {
  ShardAck ack{.lineage = "x", .epoch = 1};
  for (std::uint64_t n = 0; n < 1000; ++n) ack.weights.push_back({n, static_cast<double>(n)});
  ack.weights.push_back({5000, -1});
  ack.weights.push_back({5001, std::numeric_limits<double>::infinity()});
  ack.weights.push_back({5002, std::numeric_limits<double>::quiet_NaN()});
  const std::vector<ShardWeight> weights = ParseAck(ToText(ack))->weights;
  ASSERT_THAT(weights, SizeIs(kMostWeights));
  EXPECT_EQ(weights.front().hash, 1000 - kMostWeights);
  EXPECT_EQ(weights.back().hash, 999u);
}

TEST(ShardAckTest, IsNotReadWhenItsRangesAreDamaged) {
  EXPECT_TRUE(ParseAck(R"({"by":"uid","epoch":1,"lineage":"x"})"));
  EXPECT_FALSE(ParseAck(R"({"by":"uid","epoch":1,"lineage":"x","draining":"all"})"));
  EXPECT_FALSE(ParseAck(R"({"epoch":1,"lineage":"x"})"));
  EXPECT_FALSE(ParseAck("null"));
}

TEST(ShardVersionsTest, AreTheNewestOfEachResourceOrUnknown) {
  ShardVersions versions = {{"pods", "9"}, {"jobs", "5"}, {"odd", "x1"}};
  Merge(versions, {{"pods", "10"}, {"jobs", "4"}, {"odd", "x2"}, {"new", "1"}});
  EXPECT_EQ(versions, (ShardVersions{{"pods", "10"}, {"jobs", "5"}, {"odd", ""}, {"new", "1"}}));
}

TEST(KeptTest, IsWhatWasOwnedWithoutABreak) {
  EXPECT_EQ(Kept(Map(), "a", "uid/1", 6), ShardRanges({{0, 99}}));
  EXPECT_EQ(Kept(Map(), "b", "uid/1", 6), ShardRanges());  // its own only since 7, so somebody else had it meanwhile
  EXPECT_EQ(Kept(Map(), "b", "uid/1", 7), ShardRanges({{100, kEnd}}));
}

TEST(KeptTest, CountsFromTheBeginningOfAnotherLineage) {
  ShardMap map = Map(2);
  map.ranges[0].since = 1;
  map.ranges[1].since = 2;
  EXPECT_EQ(Kept(map, "a", "older", 900), ShardRanges({{0, 99}}));
  EXPECT_EQ(Kept(map, "b", "older", 900), ShardRanges());
}

TEST(MayStartTest, WaitsUntilEverybodyFollowsTheMapThatGaveTheRange) {
  const ShardRanges all = ShardRanges::All();
  EXPECT_THAT(MayStart(Map(), "b", all, {}, {}).waits_for, ElementsAre("a"));
  EXPECT_TRUE(MayStart(Map(), "b", all, {{"a", Follows(6)}}, {}).ranges.empty());
  EXPECT_EQ(MayStart(Map(), "b", all, {{"a", Follows(7)}}, {}).ranges, ShardRanges({{100, kEnd}}));
  EXPECT_EQ(MayStart(Map(), "a", all, {{"b", Follows(3)}}, {}).ranges, ShardRanges({{0, 99}}));
  ShardAck of_another = Follows(7);
  of_another.lineage = "uid/0";
  EXPECT_TRUE(MayStart(Map(), "b", all, {{"a", of_another}}, {}).ranges.empty());
}

TEST(MayStartTest, WaitsForNobodyThatIsNotInTheMap) {
  EXPECT_EQ(MayStart(Map(), "b", ShardRanges::All(), {{"a", Follows(7)}, {"c", Follows(1)}}, {}).ranges,
            ShardRanges({{100, kEnd}}));
}

TEST(MayStartTest, StartsWhatIsNotDrainingAnyMore) {
  ShardAck draining = Follows(8);
  draining.draining = {{150, 199}};
  const Startable what = MayStart(Map(), "b", ShardRanges({{120, 300}}), {{"a", draining}}, {});
  EXPECT_EQ(what.ranges, ShardRanges({{120, 149}, {200, 300}}));
  EXPECT_THAT(what.waits_for, ElementsAre("a"));
}

TEST(MayStartTest, KnowsTheNewestVersionOfAllWhoMayHaveWritten) {
  ShardAck a = Follows(7);
  a.versions = {{"pods", "50"}, {"jobs", "3"}};
  const Startable what = MayStart(Map(), "b", ShardRanges::All(), {{"a", a}}, {.versions = {{"jobs", "60"}}});
  EXPECT_EQ(what.from.versions, (ShardVersions{{"pods", "50"}, {"jobs", "60"}}));
  EXPECT_FALSE(what.from.list_anew);
}

TEST(MayStartTest, ListsAnewWhatSomebodyLeftWithoutAVersion) {
  ShardMap map = Map();
  map.ranges[1].list_anew = true;
  EXPECT_TRUE(MayStart(map, "b", ShardRanges::All(), {{"a", Follows(7)}}, {}).from.list_anew);
  ShardAck unsure = Follows(7);
  unsure.unsure = {{150, 160}};
  EXPECT_TRUE(MayStart(Map(), "b", ShardRanges::All(), {{"a", unsure}}, {}).from.list_anew);
  EXPECT_FALSE(MayStart(Map(), "b", ShardRanges({{200, 300}}), {{"a", unsure}}, {}).from.list_anew);
  EXPECT_TRUE(MayStart(Map(), "b", ShardRanges::All(), {{"a", Follows(7)}}, unsure).from.list_anew);
  ShardAck incomparable = Follows(7);
  incomparable.versions = {{"pods", "x"}};
  EXPECT_TRUE(MayStart(Map(), "b", ShardRanges::All(), {{"a", incomparable}}, {}).from.list_anew);
}

TEST(MayStartTest, StartsNothingOfOthers) {
  EXPECT_THAT(MayStart(Map(), "b", ShardRanges({{0, 99}}), {{"a", Follows(7)}}, {}).ranges.ranges(), IsEmpty());
}

}  // namespace
}  // namespace kgen::controller
