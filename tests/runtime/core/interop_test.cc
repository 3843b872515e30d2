// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Uses of a String together with std::string and std::string_view that must compile, and some that must not.
#include <algorithm>
#include <concepts>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using namespace std::string_literals;
using namespace std::string_view_literals;
using InteropTest = sample::CoreTest;

// ---- Into the standard's types. ----

std::size_t SizeOfView(std::string_view text) { return text.size(); }
std::size_t SizeOfString(const std::string& text) { return text.size(); }

TEST_F(InteropTest, PassesToViewsAndStrings) {
  const String s = kLong;
  EXPECT_EQ(SizeOfView(s), kLong.size());
  EXPECT_EQ(SizeOfString(s), kLong.size());
  std::string x(s);
  EXPECT_EQ(x, kLong);
  x = s;
  EXPECT_EQ(x, kLong);
  x += s;
  x.append(s);
  EXPECT_EQ(x, kLong + kLong + kLong);
  EXPECT_EQ(x.find(s), 0u);
  EXPECT_TRUE(x.starts_with(s));
  std::string implicit = s;
  EXPECT_EQ(implicit, kLong);
  std::string_view view = s;
  EXPECT_EQ(view, kLong);
}

TEST_F(InteropTest, ConvertsInContainersAndVariantsOfStrings) {
  const String s = "8080";
  std::vector<std::string> v;
  v.push_back(s);
  EXPECT_EQ(v[0], "8080");
  std::optional<std::string> o;
  o = s;
  EXPECT_EQ(*o, "8080");
  std::variant<std::string, int> one_of = s;
  EXPECT_EQ(std::get<std::string>(one_of), "8080");
  const std::filesystem::path path = std::filesystem::path("/dir") / std::filesystem::path(s);
  EXPECT_EQ(path, "/dir/8080");
  EXPECT_EQ(std::stoi(s), 8080);
}

TEST_F(InteropTest, IsAKeyAndFindsKeys) {
  const String s = "k";
  std::map<std::string, int> plain{{"k", 1}};
  EXPECT_EQ(plain.find(s)->second, 1);
  EXPECT_EQ(plain[s], 1);
  const std::map<std::string, int, std::less<>> transparent{{"k", 2}};
  EXPECT_EQ(transparent.find(s)->second, 2);
  std::map<String, int> own{{"k", 3}};
  EXPECT_EQ(own.find("k")->second, 3);
  std::unordered_map<String, int> hashed{{"k", 4}};
  EXPECT_EQ(hashed.find(s)->second, 4);
  const std::set<std::string_view> views{"k"};
  EXPECT_TRUE(views.contains(s));
}

// ---- Comparison, both ways round, with everything that is text. ----

template <typename A, typename B>
concept Compares = requires(const A& a, const B& b) {
  { a == b } -> std::same_as<bool>;
  { b == a } -> std::same_as<bool>;
  { a != b } -> std::same_as<bool>;
  { a < b } -> std::same_as<bool>;
  { b < a } -> std::same_as<bool>;
  { a <=> b } -> std::same_as<std::strong_ordering>;
  { b <=> a } -> std::same_as<std::strong_ordering>;
};
static_assert(Compares<String, String>);
static_assert(Compares<String, std::string>);
static_assert(Compares<String, std::string_view>);
static_assert(Compares<String, const char*>);
static_assert(Compares<String, char[4]>);
static_assert(std::totally_ordered<String>);

// ---- From text, by itself. ----

template <typename From>
concept BecomesString = std::convertible_to<From, String> && std::is_assignable_v<String&, From>;
static_assert(BecomesString<const char*>);
static_assert(BecomesString<const char (&)[4]>);
static_assert(BecomesString<std::string>);
static_assert(BecomesString<const std::string&>);
static_assert(BecomesString<std::string_view>);
static_assert(!std::convertible_to<int, String>);
static_assert(!std::constructible_from<String, std::nullptr_t>);

// ---- Joining gives std::string. ----

template <typename A, typename B>
concept Joins = requires(const A& a, const B& b) {
  { a + b } -> std::same_as<std::string>;
  { b + a } -> std::same_as<std::string>;
};
static_assert(Joins<String, String>);
static_assert(Joins<String, const char*>);
static_assert(Joins<String, char[4]>);
static_assert(Joins<String, std::string>);
static_assert(Joins<String, std::string_view>);

TEST_F(InteropTest, JoinsInOrder) {
  const String s = "b";
  EXPECT_EQ("a" + s + "c", "abc");
  EXPECT_EQ("a"s + s, "ab");
  EXPECT_EQ(s + s, "bb");
}

TEST_F(InteropTest, WritesItselfToAStream) {
  std::ostringstream out;
  out << String("text") << '|' << String();
  EXPECT_EQ(out.str(), "text|");
}

TEST_F(InteropTest, IsFoundInARangeByAView) {
  const std::vector<String> v{"a", "b"};
  EXPECT_EQ(std::ranges::find(v, "b"sv) - v.begin(), 1);
  const List<String> list{"a", "b"};
  EXPECT_EQ(std::ranges::find(list, "b"sv) - list.begin(), 1);
  EXPECT_EQ(std::ranges::find(list, "z"sv), list.end());
}
static_assert(std::common_reference_with<const String&, const std::string_view&>);

TEST_F(InteropTest, ComparesAnOptionalStringWithALiteral) {
  EXPECT_TRUE(String("x") == "x");
  EXPECT_FALSE(String() == "x");
  EXPECT_TRUE(String("xyz").starts_with("xy"));
  const std::optional<String> standard = "x";
  EXPECT_TRUE(standard == "x");
}

// ---- Conditionals and overloads. ----

template <typename A, typename B>
concept CommonInConditional = requires(bool b, const A& x, const B& y) { b ? x : y; };

TEST_F(InteropTest, MixesWithALiteralInAConditional) {
  const String s = "s";
  const auto either = [&](bool own) { return own ? s : "literal"; };
  static_assert(std::same_as<decltype(either(true)), String>);
  EXPECT_EQ(either(true), "s");
  EXPECT_EQ(either(false), "literal");
}
static_assert(CommonInConditional<String, char[8]>);
static_assert(CommonInConditional<String, const char*>);
static_assert(!CommonInConditional<String, std::string>);       // say s.str()
static_assert(!CommonInConditional<String, std::string_view>);  // say s.view()

struct ViewOrLiteral {
  static int F(std::string_view) { return 1; }
  static int F(const char*) { return 2; }
};
struct ViewOrBool {
  static int F(std::string_view) { return 1; }
  static int F(bool) { return 2; }
};
struct ViewOrString {
  static int F(std::string_view) { return 1; }
  static int F(const std::string&) { return 2; }
};
template <typename Overloads>
concept Chooses = requires(const String& s) { Overloads::F(s); };
static_assert(Chooses<ViewOrLiteral> && Chooses<ViewOrBool>);
static_assert(!Chooses<ViewOrString>);  // ambiguous: say s.view() or s.str()

TEST_F(InteropTest, ChoosesTheViewOverload) {
  const String s = "s";
  EXPECT_EQ(ViewOrLiteral::F(s), 1);
  EXPECT_EQ(ViewOrBool::F(s), 1);
}

// No NUL is stored, so nothing may promise one.
template <typename T>
concept HasCStr = requires(const T& t) { t.c_str(); };
static_assert(HasCStr<std::string> && !HasCStr<String>);

// ---- Optional scalars: presence is asked of numbers by themselves, of bool never. ----

template <typename T>
concept AsksPresence = requires(const T& t) { t ? 1 : 0; };
static_assert(!AsksPresence<Optional<bool>>);
static_assert(AsksPresence<Optional<std::int32_t>> && AsksPresence<Optional<std::int64_t>>);
static_assert(AsksPresence<Optional<double>> && AsksPresence<Optional<sample::Node>>);
static_assert(!std::convertible_to<Optional<std::int32_t>, std::int32_t>);

// `{}` is a present struct and kAbsent an absent one; there is no third way to leave it open.
static_assert(!std::is_default_constructible_v<Optional<sample::Node>> ||
              std::is_constructible_v<Optional<sample::Node>, std::initializer_list<detail::Nothing>>);
static_assert(std::is_nothrow_move_constructible_v<sample::Sample> &&
              std::is_nothrow_move_assignable_v<sample::Sample>);
static_assert(std::is_copy_constructible_v<sample::Sample> && std::is_copy_assignable_v<sample::Sample>);

}  // namespace
}  // namespace kgen
