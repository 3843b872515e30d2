// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How ranges are balanced: by load, with few moves. The properties hold for random groups.
#include "controller/shards/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/runtime/controller/shards/assigner_fixture.h"

namespace kgen::controller {
namespace {

std::string Name(int n) { return "m" + std::string(n < 10 ? "0" : "") + std::to_string(n); }

TEST(ShardLoadTest, CountsAllHashesAlikeWithoutWeights) {
  const ShardLoad load({});
  EXPECT_NEAR(load.Of(0, UINT64_MAX), 1, 1e-12);
  EXPECT_NEAR(load.Of(0, UINT64_MAX / 4), 0.25, 1e-12);
  EXPECT_NEAR(static_cast<double>(*load.Cut(0, UINT64_MAX, 0.5)), 9.2e18, 1e17);
}

TEST(ShardLoadTest, CutsBetweenHashesThatHaveALoad) {
  const ShardLoad load({{100, 3}, {200, 1}});
  EXPECT_NEAR(load.Of(0, UINT64_MAX), 1, 1e-12);
  EXPECT_NEAR(load.Of(100, 100), 0.7425, 1e-9);
  EXPECT_NEAR(load.largest(), 0.7425, 1e-9);
  EXPECT_EQ(load.Cut(50, 1000, 0.5), std::nullopt);
  EXPECT_EQ(load.Cut(50, 1000, 0.8), 150u);
  EXPECT_EQ(load.Cut(150, 1000, 0.8), 1000u);
  EXPECT_EQ(load.FirstEnd(50, 1000), 150u);
  EXPECT_EQ(load.FirstEnd(50, 120), 120u);
  EXPECT_EQ(load.FirstEnd(151, 1000), 1000u);
}

TEST(DivideTest, LeavesEverythingToNobodyWithoutMembers) {
  const auto shares = Divide({{.first = 0, .last = UINT64_MAX, .owner = "gone"}}, {}, ShardLoad({}));
  ASSERT_EQ(shares.size(), 1u);
  EXPECT_EQ(shares[0].owner, "");
}

TEST(DivideTest, GivesAHashThatIsHeavierThanTheAverageToOneMember) {
  std::vector<ShardWeight> weights = {{ShardHash("big"), 70}};
  for (int n = 0; n < 30; ++n) weights.push_back({ShardHash("team-" + Name(n)), 1});
  Group group(weights);
  for (int n = 0; n < 4; ++n) group.Add(Name(n));
  group.Begin();
  ASSERT_TRUE(group.has_map());
  EXPECT_LE(group.LargestLoad(), group.Limit());
  int busy = 0;
  for (const std::string& name : group.map().members) busy += group.LoadOf(name) > 0.05 ? 1 : 0;
  EXPECT_EQ(busy, 4);  // the three others share the rest
}

struct Case {
  const char* name;
  std::vector<ShardWeight> (*weights)(std::mt19937_64& random);
  // In a rolling update: the load of all moves, and of what moves more than twice. Heavy hashes cannot be divided so
  // that a member gives exactly what it got last.
  double moved = 2;
  double moved_often = 0;
};
std::vector<ShardWeight> None(std::mt19937_64&) { return {}; }
std::vector<ShardWeight> Teams(std::mt19937_64&) {
  std::vector<ShardWeight> weights;
  for (int n = 0; n < 100; ++n) weights.push_back({ShardHash("team-" + Name(n).substr(1)), 1});
  return weights;
}
std::vector<ShardWeight> Random(std::mt19937_64& random) {
  std::vector<ShardWeight> weights;
  for (std::uint64_t n = 20 + random() % 230; n > 0; --n) {
    weights.push_back({random(), std::pow(2.0, static_cast<double>(random() % 8))});
  }
  return weights;
}

// The load of the hashes that have moved 0, 1, 2, ... times from map to map.
std::vector<double> LoadByMoves(const std::vector<ShardMap>& maps, const ShardLoad& load) {
  std::vector<std::uint64_t> firsts;
  for (const ShardMap& map : maps) {
    for (const MapRange& range : map.ranges) firsts.push_back(range.first);
  }
  std::ranges::sort(firsts);
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  std::vector<double> loads(1);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    std::size_t moves = 0;
    std::string owner;
    for (const ShardMap& map : maps) {
      const auto after = std::ranges::upper_bound(map.ranges, firsts[i], {}, &MapRange::first);
      const std::string& now = std::prev(after)->owner;
      if (!owner.empty() && owner != now) ++moves;
      owner = now;
    }
    if (moves >= loads.size()) loads.resize(moves + 1);
    loads[moves] += load.Of(firsts[i], i + 1 < firsts.size() ? firsts[i + 1] - 1 : UINT64_MAX);
  }
  return loads;
}

class DividePropertyTest : public ::testing::TestWithParam<Case> {};

// Members join and leave at random, and now and then one dies.
TEST_P(DividePropertyTest, BalancesAndMovesLittleAsMembersComeAndGo) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    std::mt19937_64 random(seed);
    Group group(GetParam().weights(random));
    int next = 0;
    for (std::uint64_t n = 2 + random() % 4; n > 0; --n) group.Add(Name(next++));
    group.Begin();
    ASSERT_TRUE(group.has_map());
    for (int step = 0; step < 30; ++step) {
      const ShardMap before = group.map();
      const auto n = static_cast<double>(before.members.size());
      const bool joins = n < 2 || (n < 12 && random() % 2 == 0);
      double share = 1 / (n + 1);
      if (joins) {
        group.Add(Name(next++));
      } else {
        const std::string name = before.members[random() % before.members.size()];
        share = group.LoadOf(name);
        group.Leave(name);
      }
      group.Settle();
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step) + " of " +
                   std::to_string(before.members.size()) + (joins ? " joins\n" : " leaves\n") + ToText(before) + "\n" +
                   ToText(group.map()));
      ASSERT_EQ(group.map().members.size() + 1, before.members.size() + (joins ? 2 : 0));
      EXPECT_LE(group.LargestLoad(), group.Limit());
      // A hash cannot be divided, so that two more may move.
      EXPECT_LE(Moved(before, group.map(), group.load()), 1.1 * share + 2 * group.load().largest() + 1e-6);
      EXPECT_LE(group.map().ranges.size(), 16 * group.map().members.size());
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Replicas of a new version come one by one, and after each an old one leaves.
TEST_P(DividePropertyTest, MovesHardlyAnythingMoreThanTwiceInARollingUpdate) {
  for (int count = 2; count <= 12; ++count) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      std::mt19937_64 random(seed);
      Group group(GetParam().weights(random));
      int next = 0;
      for (int n = 0; n < count; ++n) group.Add(Name(next++));
      group.Begin();
      std::vector<ShardMap> maps = {group.map()};
      std::vector<std::string> old = group.map().members;
      if (seed > 0) std::ranges::shuffle(old, random);
      for (const std::string& leaves : old) {
        group.Add(Name(next++));
        group.Settle();
        maps.push_back(group.map());
        group.Leave(leaves);
        group.Settle();
        maps.push_back(group.map());
      }
      std::string texts;
      for (const ShardMap& map : maps) texts += ToText(map) + "\n";
      const std::vector<double> by_moves = LoadByMoves(maps, group.load());
      double sum = 0, often = 0;
      for (std::size_t moves = 0; moves < by_moves.size(); ++moves) {
        sum += static_cast<double>(moves) * by_moves[moves];
        if (moves > 2) often += by_moves[moves];
      }
      EXPECT_LE(sum, GetParam().moved) << count << " members, seed " << seed << "\n" << texts;
      EXPECT_LE(often, GetParam().moved_often) << count << " members, seed " << seed << "\n" << texts;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, DividePropertyTest,
                         ::testing::Values(Case{"None", None}, Case{"Teams", Teams, 2, 0.1},
                                           Case{"Random", Random, 2.5, 0.35}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kgen::controller
