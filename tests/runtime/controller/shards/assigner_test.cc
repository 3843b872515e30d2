// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the assigner decides: who is dead, who has left, and what the next map says.
#include "controller/shards/assigner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/runtime/controller/shards/assigner_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(ReadMembersTest, ReadsLeasesAndLeavesOutThoseOfNobody) {
  const auto members = ReadMembers(R"({"items":[
      {"metadata":{"name":"shop-a","uid":"u","resourceVersion":"7","annotations":
        {"kgen.dev/shard-member":"{\"by\":\"uid\",\"lineage\":\"x\",\"epoch\":3}"}},
       "spec":{"holderIdentity":"shop-a","leaseDurationSeconds":15}},
      {"metadata":{"name":"released"},"spec":{"holderIdentity":""}},
      {"metadata":{"name":"bare"},"spec":{"holderIdentity":"x","leaseDurationSeconds":-1}}]})");
  ASSERT_TRUE(members);
  ASSERT_THAT(*members, SizeIs(2));
  EXPECT_EQ(members->at(0).name, "shop-a");
  EXPECT_EQ(members->at(0).uid, "u");
  EXPECT_EQ(members->at(0).version, "7");
  EXPECT_EQ(members->at(0).duration, 15s);
  EXPECT_EQ(members->at(0).ack->epoch, 3u);
  EXPECT_FALSE(members->at(1).ack);
  EXPECT_EQ(members->at(1).duration, 0s);
}

TEST(ReadMembersTest, RefusesWhatIsNoList) {
  for (const char* text : {"", "[]", "{}", R"({"items":{}})", R"({"items":"x"})"}) {
    EXPECT_FALSE(ReadMembers(text)) << text;
  }
  EXPECT_TRUE(ReadMembers(R"({"items":null})"));
}

class AssignerTest : public ::testing::Test {
 protected:
  std::vector<std::string> Expired() {
    std::vector<std::string> names;
    for (const SeenMember& each : group_.assigner().Expired()) names.push_back(each.name);
    return names;
  }
  Group group_;
};

TEST_F(AssignerTest, MakesTheFirstMapAfterTheDurationOfALease) {
  group_.Add("a");
  EXPECT_FALSE(group_.Look());
  group_.now() += 14s;
  group_.Renew("a");
  EXPECT_FALSE(group_.Look());
  group_.now() += 1s;
  group_.Renew("a");
  EXPECT_TRUE(group_.Look());
  EXPECT_EQ(group_.map().epoch, 1u);
  EXPECT_EQ(group_.map().Of("a"), ShardRanges::All());
  EXPECT_TRUE(group_.map().ranges[0].list_anew);
}

TEST_F(AssignerTest, DividesTheFirstMapByASurveyAndForgetsItOnceAnOwnerHasCounted) {
  const auto low = [](const ShardRanges& ranges) {
    return ranges.Contains(1) + ranges.Contains(2) + ranges.Contains(3);
  };
  group_.Add("a");
  group_.Add("b");
  EXPECT_FALSE(group_.Look());
  EXPECT_TRUE(group_.assigner().NeedsSurvey());
  group_.assigner().SetSurvey({{1, 50}, {2, 50}, {3, 50}, {4, 50}}, TimePoint(60s));
  group_.now() += 15s;
  group_.RenewAll();
  ASSERT_TRUE(group_.Look());
  for (const char* name : {"a", "b"}) {
    const ShardRanges ranges = group_.map().Of(name);
    EXPECT_EQ(low(ranges) + ranges.Contains(4), 2) << name << " " << ranges.ToString();
  }
  // Another look, before anybody has counted, changes nothing.
  EXPECT_EQ(group_.Settle(), 0);
  EXPECT_FALSE(group_.assigner().NeedsSurvey());
  // Whoever has 1 has counted, and most of it is gone.
  const std::string owner = group_.map().Of("a").Contains(1) ? "a" : "b";
  group_.members().at(owner).ack->weights = {{1, 1}};
  EXPECT_GE(group_.Settle(), 1);
  EXPECT_EQ(low(group_.map().Of(owner)), 3) << group_.map().Of(owner).ToString();
}

TEST_F(AssignerTest, ForgetsASurveyAfterSomeTime) {
  group_.Add("a");
  group_.Add("b");
  group_.Look();
  group_.assigner().SetSurvey({{1, 50}, {2, 50}}, TimePoint(30s));
  group_.now() += 15s;
  group_.RenewAll();
  ASSERT_TRUE(group_.Look());
  const ShardRanges before = group_.map().Of("a");
  for (int n = 0; n < 4; ++n) {
    group_.now() += 5s;
    group_.Settle();
  }
  EXPECT_NE(group_.map().Of("a"), before) << "all hashes count alike";
}

TEST_F(AssignerTest, DropsADeadMemberOnlyAfterItsLeaseIsDeleted) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  const ShardRanges of_b = group_.map().Of("b");
  for (int n = 0; n < 15; ++n) {
    EXPECT_THAT(Expired(), IsEmpty());
    group_.now() += 1s;
    group_.Follow("a");
    group_.Look();
  }
  EXPECT_THAT(Expired(), ElementsAre("b"));
  EXPECT_TRUE(group_.map().Has("b"));  // others still wait for it
  EXPECT_EQ(group_.map().Of("a"), ShardRanges::All());
  group_.members().erase("b");
  group_.now() += 1s;
  EXPECT_TRUE(group_.Look());
  EXPECT_THAT(group_.map().members, ElementsAre("a"));
  for (const MapRange& range : group_.map().ranges) {
    EXPECT_EQ(range.list_anew, of_b.Contains(range.first)) << range.first;
  }
}

TEST_F(AssignerTest, WaitsForAMemberWhoseLeaseSomebodyElseHasDeleted) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  group_.members().erase("b");
  for (int n = 0; n < 15; ++n) {
    group_.Follow("a");
    group_.Look();
    EXPECT_TRUE(group_.map().Has("b")) << n;
    group_.now() += 1s;
  }
  group_.Follow("a");
  group_.Look();
  EXPECT_FALSE(group_.map().Has("b"));
}

TEST_F(AssignerTest, WaitsAgainForAMemberThatWasGoneBeforeItsTerm) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  group_.members().erase("b");
  group_.assigner().BeginTerm();
  group_.now() += 100s;
  group_.Look();
  EXPECT_TRUE(group_.map().Has("b"));
  group_.now() += 15s;
  group_.Follow("a");
  group_.Look();
  EXPECT_FALSE(group_.map().Has("b"));
}

TEST_F(AssignerTest, KnowsFromBeforeItsTermWhatItHasWatched) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  const SeenMember b = group_.members().at("b");
  group_.assigner().Watch(b, TimePoint(group_.now()));
  group_.now() += 15s;
  group_.assigner().Watch(b, TimePoint(group_.now()));
  group_.assigner().BeginTerm();
  group_.Follow("a");
  group_.Look();
  EXPECT_THAT(Expired(), ElementsAre("b"));
}

TEST_F(AssignerTest, DropsOneThatLeavesWhenItHasDrainedAndKeepsItsVersions) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  const ShardRanges of_b = group_.map().Of("b");
  group_.Leave("b");
  group_.Renew("b");
  EXPECT_TRUE(group_.Look());
  EXPECT_TRUE(group_.map().Has("b"));
  EXPECT_EQ(group_.map().Of("b"), ShardRanges());
  ShardAck& ack = *group_.members().at("b").ack;
  ack.epoch = group_.map().epoch;
  ack.working = {};
  ack.draining = of_b;
  group_.Renew("b");
  group_.Look();
  EXPECT_TRUE(group_.map().Has("b"));
  ack.draining = {};
  ack.versions = {{"pods", "9"}};
  group_.Renew("b");
  EXPECT_TRUE(group_.Look());
  EXPECT_FALSE(group_.map().Has("b"));
  EXPECT_EQ(group_.map().versions, (ShardVersions{{"pods", "9"}}));
  for (const MapRange& range : group_.map().ranges) EXPECT_FALSE(range.list_anew);
}

TEST_F(AssignerTest, ListsAnewWhatSomebodyHasLeftWithoutKnowing) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  const ShardRanges of_b = group_.map().Of("b");
  group_.Leave("b");
  group_.members().at("b").ack->unsure = of_b;
  group_.Renew("b");
  group_.Look();
  group_.members().at("b").ack->working = {};
  group_.Renew("b");
  ASSERT_TRUE(group_.Look());
  for (const MapRange& range : group_.map().ranges) {
    EXPECT_EQ(range.list_anew, of_b.Contains(range.first)) << range.first;
  }
  group_.Settle();
  EXPECT_TRUE(std::ranges::any_of(group_.map().ranges, &MapRange::list_anew));  // no reason for another map
  group_.Add("c");
  group_.Settle();
  EXPECT_TRUE(std::ranges::none_of(group_.map().ranges, &MapRange::list_anew));
}

TEST_F(AssignerTest, LetsNobodyJoinByTheCreationOfItsLeaseAlone) {
  group_.Add("a");
  group_.Begin();
  group_.Add("b");
  group_.members().at("b").ack->joining = true;
  group_.Follow("a");
  EXPECT_FALSE(group_.Look());
  group_.members().at("b").ack->joining = false;
  EXPECT_TRUE(group_.Look());
  EXPECT_THAT(group_.map().members, ElementsAre("a", "b"));
}

TEST_F(AssignerTest, BeginsALineageWithWhatMembersWorkOnWhenTheMapIsGone) {
  for (const char* name : {"a", "b", "c"}) group_.Add(name);
  group_.Begin();
  const ShardMap before = group_.map();
  group_.LoseMap();
  group_.RenewAll();
  EXPECT_FALSE(group_.Look());
  group_.now() += 15s;
  group_.RenewAll();
  EXPECT_TRUE(group_.Look());
  EXPECT_NE(group_.map().lineage, before.lineage);
  EXPECT_EQ(group_.map().epoch, 1u);
  EXPECT_THAT(group_.map().members, UnorderedElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(group_.map().Of(name), before.Of(name)) << name;
}

TEST_F(AssignerTest, WaitsWithALineageForAMemberThatHasNoLeaseAnyMore) {
  group_.Add("a");
  group_.Add("b");
  group_.Begin();
  group_.LoseMap();
  group_.Look();
  group_.now() += 10s;
  group_.members().erase("b");
  group_.Renew("a");
  EXPECT_FALSE(group_.Look());
  group_.now() += 14s;
  group_.Renew("a");
  EXPECT_FALSE(group_.Look());
  group_.now() += 1s;
  group_.Renew("a");
  EXPECT_TRUE(group_.Look());
}

TEST_F(AssignerTest, RaisesNoBeginningThatItsOwnerHasNotAcknowledged) {
  group_.Add("a");
  group_.Begin();
  for (int n = 0; n < 6; ++n) {
    group_.Add("m" + std::to_string(n));
    group_.Settle();
  }
  // Members follow every second map only; what they keep must not seem to have begun after that.
  for (int n = 0; n < 6; ++n) {
    const ShardMap before = group_.map();
    group_.Leave("m" + std::to_string(n));
    group_.Renew("m" + std::to_string(n));
    group_.now() += 1s;
    group_.RenewAll();
    group_.Look();
    for (const MapRange& now : group_.map().ranges) {
      for (const MapRange& old : before.ranges) {
        if (now.owner != old.owner || now.last < old.first || now.first > old.last) continue;
        const ShardAck& ack = *group_.members().at(now.owner).ack;
        EXPECT_LE(now.since, std::max(old.since, ack.epoch));
      }
    }
    group_.Settle();
  }
}

}  // namespace
}  // namespace kgen::controller
