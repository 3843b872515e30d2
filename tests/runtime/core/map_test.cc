// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/map.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/blocks.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using sample::Node;
using sample::Sample;
using sample::Spec;
using MapTest = sample::CoreTest;

template <typename T>
std::vector<std::string> Keys(const Map<T>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// Makes a map as the decoder does: packed, without an order table.
Map<String> Packed(std::initializer_list<std::pair<std::string, std::string>> items) {
  Map<String> map;
  detail::MapBlock* block = detail::NewPackedMap(items.size(), kTypeOf<String>);
  for (const auto& [key, value] : items) {
    void* entry = detail::AppendEntry(block, kTypeOf<String>);
    detail::KeyOf(entry) = key;
    *static_cast<String*>(detail::ValueOf(entry)) = value;
  }
  detail::MapOf(&map) = detail::SortPackedMap(block, kTypeOf<String>);
  return map;
}

// Contract: design D5.
TEST_F(MapTest, IsAbsentByDefaultAndReadsAsEmpty) {
  const Map<String> map;
  EXPECT_FALSE(map.has_value());
  EXPECT_EQ(map["a"], "");
  EXPECT_FALSE(map["a"].has_value());
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.find("a"), map.end());
  for (const auto& [key, value] : map) FAIL() << key << value;
}

// Contract: design D5.
TEST_F(MapTest, KeepsAbsentAndEmptyApart) {
  Map<String> map;
  map.emplace();
  EXPECT_TRUE(map.has_value());
  EXPECT_NE(map, Map<String>());
  map["a"] = "b";
  map.clear();
  EXPECT_TRUE(map.has_value());
  EXPECT_TRUE(Map<String>(map).has_value());
  map.reset();
  EXPECT_EQ(map, Map<String>());
}

TEST_F(MapTest, IteratesInByteOrderOfTheKeysWhateverTheOrderOfInsertion) {
  Map<String> map{{"b", "2"}, {"a", "1"}, {"B", "0"}};
  map["\xC3\xA9"] = "3";
  EXPECT_EQ(Keys(map), (std::vector<std::string>{"B", "a", "b", "\xC3\xA9"}));
}

TEST_F(MapTest, KeepsTheLastOfTwoItemsWithTheSameKey) {
  const Map<String> map{{"a", "1"}, {"a", "2"}};
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(map["a"], "2");
}

// Contract: design D5.
TEST_F(MapTest, AssignsOneEntryToAnotherInOneStatement) {
  Map<String> labels{{"a", kLong}};
  labels["c"] = labels["a"];
  EXPECT_EQ(labels["c"], kLong);
  for (int i = 0; i < 100; ++i) labels["k" + std::to_string(i)] = labels["a"];
  EXPECT_EQ(labels.size(), 102u);
  EXPECT_EQ(labels["k99"], kLong);
  labels["new"] = labels["missing"];
  EXPECT_FALSE(labels["new"].has_value());
}

// Contract: design D5.
TEST_F(MapTest, KeepsReferencesValidWhileOthersAreInsertedAndErased) {
  Map<String> labels = Packed({{"a", kLong}, {"m", "middle"}, {"z", "last"}});
  String& a = labels["a"];
  String& m = labels["m"];
  for (int i = 0; i < 200; ++i) labels[std::to_string(i)] = kLong;
  for (int i = 0; i < 200; i += 2) labels.erase(std::to_string(i));
  labels.erase("z");
  EXPECT_EQ(&a, &labels["a"]);
  EXPECT_EQ(&m, &labels["m"]);
  EXPECT_EQ(a, kLong);
  a = "changed";
  EXPECT_EQ(std::as_const(labels)["a"], "changed");
}

// Contract: design D5.
TEST_F(MapTest, CountsATextEntryThatWasNeverAssignedAsAbsent) {
  Sample s;
  EXPECT_EQ(s.metadata.labels["app"], "");
  EXPECT_EQ(s.metadata.labels.size(), 1u) << "size() and iteration show it";
  EXPECT_FALSE(s.metadata.labels.has_value()) << "the map is there only because somebody looked";
  EXPECT_EQ(s, Sample());
  EXPECT_EQ(Hash(s), Hash(Sample()));
  s.metadata.labels["app"] = "";
  EXPECT_TRUE(s.metadata.labels.has_value());
  EXPECT_NE(s, Sample());
}

// Contract: design D5.
TEST_F(MapTest, SkipsAnEntryThatWasOnlyReadInComparisons) {
  Map<String> a{{"b", "2"}};
  const Map<String> b = a;
  EXPECT_EQ(a["a"], "");
  EXPECT_EQ(a["c"], "");
  EXPECT_EQ(a, b);
  EXPECT_EQ(Map<String>(a).size(), 1u) << "copies leave out what does not count";
}

// Contract: design D5.
TEST_F(MapTest, CountsAStructEntryOnlyOnceAMemberIsSet) {
  Spec spec;
  EXPECT_EQ(spec.nodes["a"].child->name, "");
  EXPECT_EQ(spec, Spec());
  spec.nodes["a"].child->name = "x";
  EXPECT_NE(spec, Spec());
  spec.nodes["a"].child->name.reset();
  EXPECT_EQ(spec, Spec());
  spec.nodes.insert_or_assign("a", Node());
  EXPECT_TRUE(spec.nodes.has_value()) << "an empty struct that was put there is there";
}

// Contract: design D5.
TEST_F(MapTest, CountsAListEntryOnlyOnceItIsPresent) {
  Spec spec;
  EXPECT_TRUE(spec.lists["a"].empty());
  EXPECT_EQ(spec, Spec());
  spec.lists["a"].emplace();
  EXPECT_NE(spec, Spec());
}

TEST_F(MapTest, NeverCountsAnEntryOfUnsetText) {
  Map<Quantity> limits;
  limits.insert_or_assign("cpu", Quantity());
  EXPECT_FALSE(detail::MapEntryCounts(detail::MapOf(&limits), 0, kTypeOf<Quantity>));
  EXPECT_EQ(limits, Map<Quantity>().emplace());
}

TEST_F(MapTest, CountsAScalarEntryAlwaysBecauseItHasNoUnsetState) {
  Map<std::int32_t> weights;
  weights["a"] = 0;
  EXPECT_TRUE(weights.has_value());
  EXPECT_EQ(Map<std::int32_t>(weights).size(), 1u);
}

TEST_F(MapTest, ReadingAScalarCreatesNoEntryAndAssigningDoes) {
  Map<std::int32_t> weights;
  EXPECT_EQ(weights["a"], 0);
  EXPECT_TRUE(weights.empty());
  weights["a"] = 3;
  weights["b"] = weights["a"];
  weights["b"] += 2;
  ++weights["c"];
  EXPECT_EQ(weights["a"], 3);
  EXPECT_EQ(weights["b"], 5);
  EXPECT_EQ(weights["c"], 1);
  EXPECT_EQ(weights.size(), 3u);
  Map<bool> flags;
  if (flags["on"]) ADD_FAILURE();
  EXPECT_FALSE(flags.has_value());
  flags["on"] = true;
  EXPECT_TRUE(flags["on"]);
}

TEST_F(MapTest, DoesNotCountATextEntryThatWasReset) {
  Map<String> labels = Packed({{"a", "1"}, {"b", "2"}});
  labels["a"].reset();
  EXPECT_EQ(labels, (Map<String>{{"b", "2"}}));
  EXPECT_EQ(Map<String>(labels), (Map<String>{{"b", "2"}}));
}

TEST_F(MapTest, StaysAsAnEmptyMapWhenTheLastRealEntryIsErased) {
  Map<String> map;
  map["a"] = "1";
  const Map<String> copy = map;
  map.erase("a");
  EXPECT_TRUE(map.has_value());
  Map<String> other = copy;
  other.erase("a");
  EXPECT_EQ(map, other);
  Map<String> looked;
  EXPECT_EQ(looked["a"], "");
  looked.erase("a");
  EXPECT_FALSE(looked.has_value());
  EXPECT_EQ(looked["a"], "");
  looked.clear();
  EXPECT_FALSE(looked.has_value());
}

TEST_F(MapTest, ErasesByKeyAndByIterator) {
  Map<String> map = Packed({{"a", "1"}, {"b", kLong}, {"c", "3"}});
  EXPECT_EQ(map.erase("x"), 0u);
  EXPECT_EQ(map.erase("b"), 1u);
  EXPECT_EQ(Keys(map), (std::vector<std::string>{"a", "c"}));
  auto next = map.erase(map.begin());
  EXPECT_EQ(next->first, "c");
  map.erase(next);
  EXPECT_TRUE(map.empty());
  map["b"] = "again";
  EXPECT_EQ(map["b"], "again");
}

TEST_F(MapTest, ErasesByAViewOfItsOwnKey) {
  Map<String> map{{kLong, "1"}};
  const std::string_view key = map.begin()->first;
  EXPECT_EQ(map.erase(key), 1u);
  EXPECT_TRUE(map.empty());
}

TEST_F(MapTest, FindsKeysInSmallAndLargeMaps) {
  for (const int n : {1, 15, 16, 17, 18, 100}) {
    Map<std::int32_t> map;
    for (int i = 0; i < n; ++i) map.insert_or_assign("key" + std::to_string(i * 2), i);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(std::as_const(map)["key" + std::to_string(i * 2)], i);
      EXPECT_FALSE(map.contains("key" + std::to_string(i * 2 + 1)));
      EXPECT_EQ(map.find("key" + std::to_string(i * 2))->second, i);
    }
    EXPECT_EQ(map.count("key"), 0u);
  }
}

TEST_F(MapTest, HasRandomAccessIterators) {
  Map<String> map{{"a", "1"}, {"b", "2"}, {"c", "3"}};
  EXPECT_EQ((map.begin() + 2)->first, "c");
  EXPECT_EQ(map.end() - map.begin(), 3);
  EXPECT_EQ(map.begin()[1].second, "2");
  const auto found = std::find_if(map.begin(), map.end(), [](const auto& entry) { return entry.second == "2"; });
  EXPECT_EQ(found->first, "b");
  Map<String>::const_iterator it = map.begin();
  EXPECT_EQ(it->first, "a");
  map.begin()->second = "changed";
  EXPECT_EQ(map["a"], "changed");
}

// Contract: design D5.
TEST_F(MapTest, CopiesDeeply) {
  Map<Node> a;
  a["x"].child->name = kLong;
  Map<Node> b = a;
  b["x"].child->name = "b";
  EXPECT_EQ(a["x"].child->name, kLong);
}

TEST_F(MapTest, CanBeAssignedFromAMapInsideOfIt) {
  Map<Node> map;
  map["a"].named["b"].name = "inner";
  map = map["a"].named;
  EXPECT_EQ(map["b"].name, "inner");
}

// ---- The decoder's side. ----

TEST_F(MapTest, SortsPackedEntriesAndKeepsTheLastOfADuplicate) {
  const Map<String> map =
      Packed({{"b", "1"}, {"a", kLong}, {"b", kLong}, {"c", "3"}, {"b", "last"}, {"a", "also last"}});
  EXPECT_EQ(Keys(map), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(map["b"], "last");
  EXPECT_EQ(map["a"], "also last");
  EXPECT_EQ(Packed({{"a", "1"}, {"a", "2"}})["a"], "2");
  EXPECT_TRUE(Packed({}).has_value());
}

TEST_F(MapTest, TakesEntriesFromScratchMemoryInAnyOrder) {
  for (const bool sorted : {true, false}) {
    alignas(8) char scratch[3 * detail::EntrySize(kTypeOf<String>)];
    const char* const keys[] = {sorted ? "a" : "z", "m", sorted ? "z" : "a"};
    for (int i = 0; i < 3; ++i) {
      ::new (scratch + i * detail::EntrySize(kTypeOf<String>)) MapEntry<String>{keys[i], String(kLong)};
    }
    Map<String> map;
    detail::MapOf(&map) = detail::NewPackedMapFrom(scratch, 3, kTypeOf<String>);
    EXPECT_EQ(Keys(map), (std::vector<std::string>{"a", "m", "z"}));
    EXPECT_EQ(map["m"], kLong);
  }
}

TEST_F(MapTest, EqualsAPackedMapWithTheSameEntries) {
  Map<String> changed;
  changed["b"] = "2";
  changed["a"] = "1";
  EXPECT_EQ(changed, Packed({{"a", "1"}, {"b", "2"}}));
  EXPECT_NE(changed, Packed({{"a", "1"}}));
  EXPECT_NE(changed, Packed({{"a", "1"}, {"b", "3"}}));
  EXPECT_NE(changed, Packed({{"a", "1"}, {"c", "2"}}));
}

// ---- Against std::map. ----

TEST_F(MapTest, ErasesARangeOfPositions) {
  Map<String> map{{"a", "1"}, {"b", kLong}, {"c", "3"}, {"d", "4"}};
  const auto next = map.erase(std::next(map.begin()), std::prev(map.end()));
  EXPECT_EQ(next->first, "d");
  EXPECT_EQ(Keys(map), (std::vector<std::string>{"a", "d"}));
  map.erase(map.begin(), map.end());
  EXPECT_TRUE(map.empty());
  EXPECT_TRUE(map.has_value()) << "an emptied map stays present";
}

TEST_F(MapTest, ErasesWhatAPredicateSelectsAndCountsIt) {
  Map<String> map{{"a", "keep"}, {"b", kLong}, {"c", "keep"}, {"d", kLong}};
  EXPECT_EQ(erase_if(map, [](const auto& entry) { return entry.second == kLong; }), 2u);
  EXPECT_EQ(Keys(map), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(erase_if(map, [](const auto& entry) { return entry.first == "a"; }), 1u);
  EXPECT_EQ(erase_if(map, [](const auto&) { return true; }), 1u);
  EXPECT_TRUE(map.has_value());
  Map<std::int32_t> absent;
  EXPECT_EQ(erase_if(absent, [](const auto&) { return true; }), 0u);
  EXPECT_FALSE(absent.has_value());
}

class MapModelTest : public MapTest, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(MapModelTest, BehavesAsAStdMapAndItsReferencesStay) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  Map<String> map = Packed({{"key-3", "3"}, {"key-1", kLong}, {"key-7", "7"}});
  std::map<std::string, std::string> model{{"key-1", kLong}, {"key-3", "3"}, {"key-7", "7"}};
  std::map<std::string, const String*> addresses;
  for (auto& [key, value] : map) addresses[key] = &value;
  for (int step = 0; step < 1000; ++step) {
    const std::string key = (below(2) == 0 ? "key-" : kLong) + std::to_string(below(25));
    const std::string text = std::to_string(step) + (below(2) == 0 ? kLong : "");
    switch (below(8)) {
      case 0:
      case 1:
        map[key] = text;
        model[key] = text;
        break;
      case 2:
        map.insert_or_assign(key, text);
        model[key] = text;
        break;
      case 3:
      case 4:
        EXPECT_EQ(map.erase(key), model.erase(key));
        addresses.erase(key);
        break;
      case 5:
        if (!model.empty()) {
          const std::size_t i = below(model.size());
          auto it = std::next(model.begin(), static_cast<std::ptrdiff_t>(i));
          addresses.erase(it->first);
          model.erase(it);
          map.erase(map.begin() + static_cast<std::ptrdiff_t>(i));
        }
        break;
      case 6:
        EXPECT_EQ(map.contains(key), model.contains(key));
        EXPECT_EQ(std::as_const(map)[key], model.contains(key) ? model[key] : "");
        break;
      default:
        if (below(20) == 0) {
          map.clear();
          model.clear();
          addresses.clear();
        } else if (below(5) == 0) {
          map = Map<String>(map);
          addresses.clear();
        }
    }
    if (map.contains(key) && !addresses.contains(key)) addresses[key] = &map.find(key)->second;
    ASSERT_EQ(map.size(), model.size()) << "step " << step;
    auto expected = model.begin();
    for (const auto& [k, v] : map) {
      ASSERT_EQ(k, expected->first) << "step " << step;
      ASSERT_EQ(v, expected->second) << "step " << step;
      ++expected;
    }
    for (const auto& [k, address] : addresses)
      ASSERT_EQ(&map.find(k)->second, address) << k << " moved in step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MapModelTest, ::testing::Range(0u, 30u));

}  // namespace
}  // namespace kgen
