// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/list.h"

#include <algorithm>
#include <concepts>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using sample::Node;
using sample::Port;
using sample::Spec;
using ListTest = sample::CoreTest;

// Nothing is cut in silence.
static_assert(std::constructible_from<List<std::int64_t>, std::vector<std::int32_t>>);
static_assert(!std::constructible_from<List<std::int32_t>, std::vector<std::int64_t>>);
static_assert(!std::constructible_from<List<std::int32_t>, std::vector<double>>);
static_assert(!std::constructible_from<List<bool>, std::vector<const char*>>);
static_assert(std::constructible_from<List<String>, std::vector<std::string_view>>);

// Contract: design D5.
TEST_F(ListTest, IsAbsentByDefaultAndIteratesAsEmpty) {
  const List<Port> list;
  EXPECT_FALSE(list.has_value());
  EXPECT_TRUE(list.empty());
  for (const Port& port : list) FAIL() << port.name;
}

// Contract: design D5.
TEST_F(ListTest, KeepsAbsentAndEmptyApart) {
  List<String> list;
  list.emplace();
  EXPECT_TRUE(list.has_value());
  EXPECT_TRUE(list.empty());
  EXPECT_NE(list, List<String>());
  list.push_back("a");
  list.clear();
  EXPECT_TRUE(list.has_value()) << "clear() keeps it present";
  list.reset();
  EXPECT_EQ(list, List<String>());
  list = {};
  EXPECT_FALSE(list.has_value());
  List<String> copy = List<String>().emplace();
  EXPECT_TRUE(copy.has_value());
  EXPECT_TRUE(List<String>(copy).has_value()) << "an empty list is copied as an empty list";
}

// Contract: design D5.
TEST_F(ListTest, ReadsTheEmptyElementPastTheEndOfAConstList) {
  const List<Port> list{{.name = "a"}};
  EXPECT_EQ(list[0].name, "a");
  EXPECT_EQ(list[1].name, "");
  EXPECT_EQ(list[99].containerPort, kAbsent);
  EXPECT_EQ(List<Port>(list).size(), 1u);
  const List<std::int64_t> numbers;
  EXPECT_EQ(numbers[0], 0);
  EXPECT_EQ(numbers.front(), 0);
  EXPECT_EQ(numbers.back(), 0);
}

TEST_F(ListTest, ThrowsOnNonConstAccessPastTheEnd) {
  List<Port> list;
  EXPECT_THROW(list[0].name = "x", std::out_of_range);
  EXPECT_THROW(list.front(), std::out_of_range);
  EXPECT_THROW(list.back(), std::out_of_range);
  EXPECT_THROW((void)std::as_const(list).at(0), std::out_of_range);
  EXPECT_FALSE(list.has_value()) << "looking never changes the wire";
}

// Contract: design D5.
TEST_F(ListTest, PushesBackAnElementOfItself) {
  List<String> list{kLong};
  for (int i = 0; i < 100; ++i) list.push_back(list[0]);
  EXPECT_EQ(list.size(), 101u);
  EXPECT_TRUE(std::ranges::all_of(list, [](const String& s) { return s == kLong; }));
  for (int i = 0; i < 100; ++i) list.emplace_back(list[0]);
  EXPECT_EQ(list.size(), 201u);
  list.insert(list.begin(), list[200]);
  EXPECT_EQ(list.front(), kLong);
}

// Contract: design D5.
TEST_F(ListTest, CopiesDeeply) {
  List<Node> a;
  a.push_back({.name = kLong});
  a[0].child->name = kLong;
  List<Node> b = a;
  b[0].child->name = "b";
  EXPECT_EQ(a[0].child->name, kLong);
  EXPECT_EQ(b.capacity(), b.size()) << "copies have the exact size";
}

TEST_F(ListTest, BecomesPresentWhenAssignedAnyRangeEvenAnEmptyOne) {
  const std::vector<std::string> some{"a", kLong};
  const List<String> list(some);
  EXPECT_EQ(list, (List<String>{"a", kLong}));
  EXPECT_TRUE(List<String>(std::vector<std::string>()).has_value());
}

TEST_F(ListTest, AcceptsVectorsAndSpansByAssignmentAndInInitializers) {
  const std::vector<std::string> some{"a", kLong};
  List<String> list;
  list = some;
  EXPECT_EQ(list, (List<String>{"a", kLong}));
  list = std::span(some).subspan(1);
  EXPECT_EQ(list, (List<String>{kLong}));
  list = std::vector<std::string>();
  EXPECT_TRUE(list.has_value());
  EXPECT_TRUE(list.empty());
  const Spec spec{.args = some};
  EXPECT_EQ(spec.args.size(), 2u);
  static_assert(!std::convertible_to<std::string, List<std::int32_t>>, "text is no list of numbers");
}

TEST_F(ListTest, ErasesAPositionAndARange) {
  List<String> list{"a", "b", kLong, "d", "e"};
  String* next = list.erase(list.begin() + 1);
  EXPECT_EQ(*next, kLong);
  next = list.erase(list.begin() + 1, list.begin() + 3);
  EXPECT_EQ(*next, "e");
  EXPECT_EQ(list, (List<String>{"a", "e"}));
  EXPECT_EQ(list.erase(list.begin(), list.begin()), list.begin());
  list.erase(list.begin(), list.end());
  EXPECT_TRUE(list.has_value()) << "an emptied list stays present";
}

TEST_F(ListTest, ErasesWhatAPredicateSelectsAndCountsIt) {
  List<Port> ports{
      {.name = "a", .containerPort = 1}, {.name = kLong}, {.name = "b", .containerPort = 2}, {.name = "c"}};
  EXPECT_EQ(erase_if(ports, [](const Port& port) { return !port.containerPort.has_value(); }), 2u);
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0].name, "a");
  EXPECT_EQ(ports[1].name, "b");
  EXPECT_EQ(erase_if(ports, [](const Port&) { return false; }), 0u);
  EXPECT_EQ(erase_if(ports, [](const Port&) { return true; }), 2u);
  EXPECT_TRUE(ports.has_value());
  List<Port> absent;
  EXPECT_EQ(erase_if(absent, [](const Port&) { return true; }), 0u);
  EXPECT_FALSE(absent.has_value());
}

TEST_F(ListTest, ErasesEqualElements) {
  List<String> list{"a", kLong, "a", "b"};
  EXPECT_EQ(erase(list, "a"), 2u);
  EXPECT_EQ(list, (List<String>{kLong, "b"}));
  EXPECT_EQ(erase(list, kLong), 1u);
}

TEST_F(ListTest, KeepsAnElementOfUnsetTextApartFromEmptyText) {
  EXPECT_NE((List<String>{String()}), (List<String>{""}));
}

TEST_F(ListTest, CanBeAssignedFromAnElementOfANestedList) {
  List<Node> list;
  list.push_back({.name = "a"});
  list[0].children.push_back({.name = "b"});
  list = list[0].children;
  EXPECT_EQ(list[0].name, "b");
  list[0].children.push_back({.name = "c"});
  list = std::move(list[0].children);
  EXPECT_EQ(list[0].name, "c");
}

TEST_F(ListTest, SortsAndErasesWithTheStandardAlgorithms) {
  List<Port> ports{{.name = "c"}, {.name = "a"}, {.name = kLong}, {.name = "b"}};
  std::ranges::sort(ports, {}, [](const Port& p) { return p.name.view(); });
  EXPECT_EQ(ports[0].name, "a");
  EXPECT_EQ(ports[3].name, kLong);
  ports.erase(std::remove_if(ports.begin(), ports.end(), [](const Port& p) { return p.name == "b"; }), ports.end());
  EXPECT_EQ(ports.size(), 3u);
}

TEST_F(ListTest, SwapsAndResizes) {
  List<String> a{"a"};
  List<String> b;
  a.swap(b);
  EXPECT_FALSE(a.has_value());
  b.resize(3);
  EXPECT_EQ(b.size(), 3u);
  EXPECT_FALSE(b[2].has_value());
  b.resize(1);
  EXPECT_EQ(b, (List<String>{"a"}));
  List<String> untouched;
  untouched.reserve(0);
  untouched.resize(0);
  EXPECT_FALSE(untouched.has_value());
}

TEST_F(ListTest, RefusesMoreElementsThanItCanCount) {
  EXPECT_THROW(detail::NewList(std::size_t{1} << 32, kTypeOf<String>), std::length_error);
}

// ---- Against std::vector. ----

class ListModelTest : public ListTest, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(ListModelTest, BehavesAsAVector) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  List<String> list;
  std::vector<std::string> model;
  list.emplace();
  for (int step = 0; step < 600; ++step) {
    const std::string text = below(2) == 0 ? std::to_string(step) : kLong + std::to_string(step);
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        list.push_back(text);
        model.push_back(text);
        break;
      case 3:
        if (model.empty()) break;
        list.push_back(list[below(1)]);
        model.push_back(model[0]);
        break;
      case 4: {
        const std::size_t at = below(model.size() + 1);
        EXPECT_EQ(*list.insert(list.begin() + at, text), text);
        model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), text);
        break;
      }
      case 5: {
        if (model.empty()) break;
        const std::size_t at = below(model.size());
        const std::size_t n = below(std::min<std::size_t>(model.size() - at, 4) + 1);
        EXPECT_EQ(list.erase(list.begin() + at, list.begin() + at + n) - list.begin(), static_cast<std::ptrdiff_t>(at));
        const auto first = model.begin() + static_cast<std::ptrdiff_t>(at);
        model.erase(first, first + static_cast<std::ptrdiff_t>(n));
        break;
      }
      case 6:
        if (model.empty()) break;
        list.pop_back();
        model.pop_back();
        break;
      case 7:
        if (model.empty()) break;
        list[model.size() / 2] = text;
        model[model.size() / 2] = text;
        break;
      case 8:
        list = List<String>(list);
        break;
      default:
        list.resize(below(20));
        model.resize(list.size());
    }
    ASSERT_EQ(list.size(), model.size());
    ASSERT_TRUE(std::equal(list.begin(), list.end(), model.begin(), model.end())) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListModelTest, ::testing::Range(0u, 20u));

}  // namespace
}  // namespace kgen
