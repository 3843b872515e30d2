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

// Four hashes close to each other.
class CloseHashesTest : public AssignerTest {
 protected:
  static int Held(const ShardRanges& ranges) {
    int held = 0;
    for (std::uint64_t hash = 1; hash <= 4; ++hash) held += ranges.Contains(hash) ? 1 : 0;
    return held;
  }
  // Makes the first map for a and b, by a survey.
  void Begin() {
    group_.Add("a");
    group_.Add("b");
    EXPECT_FALSE(group_.Look());
    EXPECT_TRUE(group_.assigner().NeedsSurvey());
    group_.assigner().Survey({{1, 50}, {2, 50}, {3, 50}, {4, 50}}, TimePoint());
    group_.now() += 15s;
    group_.RenewAll();
    EXPECT_TRUE(group_.Look());
    EXPECT_EQ(group_.Settle(), 0);
    EXPECT_FALSE(group_.assigner().NeedsSurvey());
  }
  // The members say what they have: 50 for each hash.
  void Count() {
    for (auto& [name, member] : group_.members()) {
      member.ack->weights.clear();
      for (std::uint64_t hash = 1; hash <= 4; ++hash) {
        if (group_.map().Of(name).Contains(hash)) member.ack->weights.push_back({hash, 50});
      }
    }
  }
};

TEST_F(CloseHashesTest, TheFirstMapDividesByASurveyAsLongAsNobodyHasCounted) {
  Begin();
  EXPECT_EQ(Held(group_.map().Of("a")), 2);
  EXPECT_EQ(Held(group_.map().Of("b")), 2);
  for (int n = 0; n < 30; ++n) {
    group_.now() += 5s;
    EXPECT_EQ(group_.Settle(), 0);
  }
}

TEST_F(CloseHashesTest, WhatOwnersCountReplacesTheSurvey) {
  Begin();
  Count();
  SeenMember& owner = group_.members().at(group_.map().Of("a").Contains(1) ? "a" : "b");
  ASSERT_EQ(owner.ack->weights.size(), 2u);
  for (ShardWeight& each : owner.ack->weights) each.load = 1;
  EXPECT_GE(group_.Settle(), 1);
  EXPECT_EQ(Held(group_.map().Of(owner.name)), 3);
}

TEST_F(CloseHashesTest, ForgetsALoadThatNobodySaysAnyMore) {
  Begin();
  Count();
  EXPECT_EQ(group_.Settle(), 0);
  SeenMember& owner = group_.members().at(group_.map().Of("a").Contains(1) ? "a" : "b");
  owner.ack->weights = {{1, 50}};
  for (int n = 0; n < 11; ++n) {
    group_.now() += 2s;
    EXPECT_EQ(group_.Settle(), 0) << n;
  }
  group_.now() += 30s;
  EXPECT_GE(group_.Settle(), 1);
  EXPECT_EQ(Held(group_.map().Of(owner.name)), 3);
}

TEST_F(CloseHashesTest, DividesWhatADeadMemberHadByWhatItHasSaid) {
  Begin();
  group_.Add("c");
  Count();
  group_.Settle();
  group_.Add("d");
  Count();
  group_.Settle();
  ASSERT_EQ(Held(group_.map().Of("d")), 1);
  Count();
  group_.Settle();
  group_.members().erase("d");
  group_.members().erase("c");
  group_.now() += 60s;
  group_.RenewAll();
  Count();
  group_.Look();
  for (const char* name : {"a", "b"}) EXPECT_EQ(Held(group_.map().Of(name)), 2) << name;
}

TEST_F(CloseHashesTest, MovesNothingForBalanceWhileAMemberCounts) {
  Begin();
  Count();
  SeenMember& owner = group_.members().at(group_.map().Of("a").Contains(1) ? "a" : "b");
  for (ShardWeight& each : owner.ack->weights) each.load = 1;
  SeenMember& other = group_.members().at(owner.name == "a" ? "b" : "a");
  other.ack->counting = true;
  EXPECT_EQ(group_.Settle(), 0);
  other.ack->counting = false;
  EXPECT_GE(group_.Settle(), 1);
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
