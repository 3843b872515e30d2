// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/unknown_fields.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/blocks.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using sample::Port;
using sample::Sample;
using sample::Spec;
using UnknownFieldsTest = sample::CoreTest;
using JsonTest = sample::CoreTest;

std::string Listed(const UnknownFields& fields) {
  std::string all;
  for (const auto& field : fields) all += field.name + "=" + std::string(field.value.text()) + ";";
  return all;
}

UnknownFields Some() {
  UnknownFields fields;
  fields.Append("b", Json("1"));
  fields.Append("a", Json(kLong));
  fields.Append("b", Json("2"));
  fields.Append("c", Json("null"));
  return fields;
}

// Contract: design D6.
TEST_F(UnknownFieldsTest, KeepsOrderAndDuplicates) {
  EXPECT_EQ(Listed(Some()), "b=1;a=" + kLong + ";b=2;c=null;");
  const UnknownFields copy = Some();
  EXPECT_EQ(copy, Some());
}

TEST_F(UnknownFieldsTest, ReadsTheLastOfANameAsTheServerDoes) {
  const UnknownFields fields = Some();
  EXPECT_EQ(fields["b"].text(), "2");
  EXPECT_TRUE(fields["c"].is_null());
  EXPECT_TRUE(fields.contains("c"));
  EXPECT_FALSE(fields["none"].has_value());
  EXPECT_FALSE(UnknownFields().contains("x"));
}

TEST_F(UnknownFieldsTest, SetReplacesTheFirstFieldOfANameAndDropsTheOthers) {
  UnknownFields fields = Some();
  fields.Set("b", Json("3"));
  EXPECT_EQ(Listed(fields), "b=3;a=" + kLong + ";c=null;");
  fields.Set("d", Json("4"));
  EXPECT_EQ(Listed(fields), "b=3;a=" + kLong + ";c=null;d=4;");
  fields.Set(fields.begin()->name, Json("5"));
  EXPECT_EQ(fields["b"].text(), "5");
}

TEST_F(UnknownFieldsTest, RefusesValuesThatCannotBeWritten) {
  UnknownFields fields = Some();
  fields.Set("b", Json());
  fields.Append("x", Json());
  EXPECT_EQ(Listed(fields), "a=" + kLong + ";c=null;");
  Sample s;
  s.spec->unknown_fields.Set("x", Json());
  EXPECT_FALSE(s.spec.has_value());
}

TEST_F(UnknownFieldsTest, DistinguishesAnEmptyNameFromNone) {
  UnknownFields fields;
  fields.Append(String(), Json("5"));
  EXPECT_FALSE(fields.contains(""));
  fields.Set("", Json("6"));
  EXPECT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[""].text(), "6");
  UnknownFields named;
  named.Append("", Json("5"));
  named.Append("", Json("6"));
  EXPECT_NE(fields, named);
  EXPECT_EQ(fields.Erase(""), 1u);
  EXPECT_EQ(fields.size(), 1u);
}

TEST_F(UnknownFieldsTest, ErasesAllOfAName) {
  UnknownFields fields = Some();
  EXPECT_EQ(fields.Erase("b"), 2u);
  EXPECT_EQ(fields.Erase("b"), 0u);
  EXPECT_EQ(fields.Erase((fields.begin())->name), 1u);
  EXPECT_EQ(Listed(fields), "c=null;");
  EXPECT_EQ(fields.Erase("c"), 1u);
  EXPECT_TRUE(fields.empty());
  EXPECT_EQ(fields, UnknownFields());
}

TEST_F(UnknownFieldsTest, ComparesNamesAndValuesInAnyOrderAndTheLastOfAName) {
  UnknownFields a;
  a.Append("a", Json("1"));
  a.Append("b", Json("2"));
  UnknownFields b;
  b.Append("a", Json("7"));
  b.Append("b", Json("2.0"));
  b.Append("a", Json("1"));
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(Port{.unknown_fields = a}), Hash(Port{.unknown_fields = b}));
  EXPECT_EQ((Port{.unknown_fields = a}), (Port{.unknown_fields = b}));
  EXPECT_TRUE(SemanticEqual(Port{.unknown_fields = a}, Port{.unknown_fields = b}));
  b.Append("a", Json("3"));
  EXPECT_NE(a, b);
  EXPECT_NE((Port{.unknown_fields = a}), (Port{.unknown_fields = b}));
  EXPECT_NE(a, UnknownFields());
}

TEST_F(UnknownFieldsTest, ComparesManyFieldsInReverseOrderQuickly) {
  UnknownFields a;
  UnknownFields b;
  constexpr int kMany = 200'000;
  for (int i = 0; i < kMany; ++i) a.Append(std::to_string(i), Json("1"));
  for (int i = kMany; i-- > 0;) b.Append(std::to_string(i), Json("1"));
  EXPECT_EQ(a, b);
  EXPECT_EQ(Hash(Port{.unknown_fields = a}), Hash(Port{.unknown_fields = b}));
}

// Contract: design D6.
TEST_F(UnknownFieldsTest, MovesWithItsListElementThroughCopyMoveEraseAndSort) {
  List<Port> ports;
  for (const char* name : {"d", "a", "c", "b"}) {
    ports.push_back({.name = name});
    ports.back().unknown_fields.Append("tag", Json("\"" + std::string(name) + "\""));
    ports.back().unknown_fields.Append("tag", Json(kLong));
  }
  const List<Port> copy = ports;
  EXPECT_EQ(copy, ports);
  std::ranges::sort(ports, {}, [](const Port& p) { return p.name.view(); });
  ports.erase(ports.begin() + 1);
  ports.push_back(ports[0]);
  const List<Port> moved = std::move(ports);
  std::string order;
  for (const Port& port : moved) {
    EXPECT_EQ(port.unknown_fields.begin()->value.text(), "\"" + port.name.str() + "\"");
    EXPECT_EQ(port.unknown_fields.size(), 2u);
    order += port.name;
  }
  EXPECT_EQ(order, "acda");
  EXPECT_EQ(copy[0].name, "d") << "the copy did not follow";
}

TEST_F(UnknownFieldsTest, MakesAStructPresent) {
  Sample s;
  s.spec->unknown_fields.Set("new", Json("1"));
  EXPECT_TRUE(s.spec.has_value());
  s.spec->unknown_fields.Erase("new");
  EXPECT_FALSE(s.spec.has_value());
}

// Contract: design D6.
TEST_F(UnknownFieldsTest, DoesNotCountAFieldOfTheWrongTypeOnceItIsAssigned) {
  Spec mismatch;
  mismatch.unknown_fields.Append("replicas", Json("\"three\""));
  mismatch.unknown_fields.Append("other", Json("1"));
  Spec assigned;
  assigned.unknown_fields.Append("other", Json("1"));
  EXPECT_NE(mismatch, assigned);
  mismatch.replicas = 3;
  assigned.replicas = 3;
  EXPECT_EQ(mismatch, assigned) << "the two are written alike";
  EXPECT_EQ(Hash(mismatch), Hash(assigned));
  EXPECT_TRUE(detail::IsReplaced(*mismatch.unknown_fields.begin(), &mismatch, Spec::kTable));
  mismatch.replicas.reset();
  EXPECT_NE(mismatch, assigned) << "taken back, the mismatch is sent again";
  EXPECT_EQ(mismatch.unknown_fields["replicas"].text(), "\"three\"");
}

// ---- Json. ----

TEST_F(JsonTest, KeepsTheTextAsReceived) {
  const Json big(R"({"n":12345678901234567890123, "x":1.50})");
  EXPECT_EQ(big.text(), R"({"n":12345678901234567890123, "x":1.50})");
}

TEST_F(JsonTest, ComparesByValue) {
  const std::pair<const char*, const char*> same[] = {
      {R"({"a":1,"b":[true,null]})", " { \"b\" : [ true ,\tnull ] ,\n\"a\" : 1 } "},
      {R"("<a>&'\u2028")", R"("\u003ca\u003E\u0026'\u2028")"},
      {R"("a/b\"\\\b\f\n\r\t")", R"("a\/b\u0022\u005c\u0008\u000C\u000a\u000d\u0009")"},
      {"\"\xF0\x9F\x98\x80\"", R"("\ud83d\uDE00")"},
      {"\"\xEF\xBF\xBD\"", R"("\ud800")"},
      {R"({"\u0061":1})", R"({"a":1})"},
      {R"({"a":1,"b":2,"a":3})", R"({"b":2,"a":3})"},
      {R"({"a":{"x":1,"y":{}},"b":[]})", R"({"b":[],"a":{"y":{},"x":1}})"},
      {"1", "1.0"},
      {"100", "1e2"},
      {"1", "0.1E+1"},
      {"0", "-0.00e7"},
      {"0.1", "0.10"},
      {"0.1", "1e-1"},
      {"0.1", "0.1000000000000000055511151231257827"},
      {"12345678901234567890123", "12345678901234567890123.0"},
      {"1e400", "10e399"},
      {"1000000000000000000000000", "1e24"},
  };
  for (const auto& [a, b] : same) {
    EXPECT_EQ(Json(a), Json(b)) << a << ' ' << b;
    EXPECT_EQ(Json(b), Json(a)) << a << ' ' << b;
    EXPECT_EQ(Hash(Spec{.extra = Json(a)}), Hash(Spec{.extra = Json(b)})) << a << ' ' << b;
    EXPECT_EQ((Spec{.extra = Json(a)}), (Spec{.extra = Json(b)})) << a << ' ' << b;
    EXPECT_TRUE(SemanticEqual(Spec{.extra = Json(a)}, Spec{.extra = Json(b)})) << a << ' ' << b;
  }
}

TEST_F(JsonTest, DistinguishesDifferentValues) {
  const std::pair<const char*, const char*> different[] = {
      {"1", "\"1\""},
      {"1", "2"},
      {"1", "1.5"},
      {"9007199254740993", "9007199254740992"},
      {"12345678901234567890123", "12345678901234567890124"},
      {"true", "false"},
      {"null", "false"},
      {"[]", "{}"},
      {"[1,2]", "[2,1]"},
      {"[1]", "[1,1]"},
      {"[[]]", "[[],[]]"},
      {R"({"a":null})", "{}"},
      {R"({"a":1})", R"({"b":1})"},
      {R"({"a":1})", R"({"a":1,"b":1})"},
      {R"({"a":1,"a":2})", R"({"a":1})"},
      {R"("a")", R"("b")"},
      {R"("\u0000")", R"("")"},
      {"\"a", "\"a\""},
      {"01", "1"},
      {"1 2", "1 3"},
      {"{,}", "{}"},
      {"[1,]", "[1]"},
      {"[1}", "[1]"},
      {R"({"a":1,})", R"({"a":1})"},
      {R"({"a" 1})", R"({"a":1})"},
      {R"("\q")", R"("q")"},
      {"", "null"},
      {" ", ""},
      {"nul", "null"},
  };
  for (const auto& [a, b] : different) {
    EXPECT_NE(Json(a), Json(b)) << a << ' ' << b;
    EXPECT_NE(Json(b), Json(a)) << a << ' ' << b;
    EXPECT_EQ(Json(a), Json(a));
    EXPECT_FALSE(SemanticEqual(Spec{.extra = Json(a)}, Spec{.extra = Json(b)})) << a << ' ' << b;
  }
  EXPECT_NE(Hash(Spec{.extra = Json(R"({"a":1})")}), Hash(Spec{.extra = Json(R"({"a":2})")}));
}

TEST_F(JsonTest, ComparesLargeAndDeepValuesInALittleTime) {
  std::string forward = "{";
  std::string backward = "{";
  constexpr int kMany = 100'000;
  for (int i = 0; i < kMany; ++i) {
    forward += "\"" + std::to_string(i) + "\":1e5,";
    backward += "\"" + std::to_string(kMany - 1 - i) + "\":100000,";
  }
  forward.back() = backward.back() = '}';
  EXPECT_EQ(Json(forward), Json(backward));
  // Each level has its members in another order.
  std::string a = "0";
  std::string b = "0.0";
  for (int i = 0; i < 1000; ++i) {
    a = R"({"p":[1,2,3],"q":)" + a + "}";
    b = R"({"q":)" + b + R"(,"p":[1,2,3]})";
  }
  EXPECT_EQ(Json(a), Json(b));
  EXPECT_EQ(Hash(Spec{.extra = Json(a)}), Hash(Spec{.extra = Json(b)}));
  // This is too deep to be parsed, so it is compared as text only.
  std::string deep(2000, '[');
  deep.append(2000, ']');
  EXPECT_EQ(Json(deep), Json(deep));
  EXPECT_NE(Json(deep), Json(deep + " "));
}

TEST_F(JsonTest, KeepsUnsetAndNullApart) {
  EXPECT_FALSE(Json().has_value());
  EXPECT_FALSE(Json().is_null());
  EXPECT_TRUE(Json("null").has_value());
  EXPECT_TRUE(Json("null").is_null());
  EXPECT_NE(Json(), Json("null"));
}

TEST_F(JsonTest, ParsesOnDemandAndNeverThrows) {
  EXPECT_EQ(Json(R"({"a":[1]})").Parse<nlohmann::json>()["a"][0], 1);
  EXPECT_TRUE(Json().Parse<nlohmann::json>().is_discarded());
  EXPECT_TRUE(Json("{").Parse<nlohmann::json>().is_discarded());
  EXPECT_TRUE(Json("1 2").Parse<nlohmann::json>().is_discarded());
}

TEST_F(JsonTest, CanBeBuiltFromAValueThatIsNotUtf8) {
  EXPECT_EQ(Json::From(nlohmann::json{{"a", 1}}).text(), R"({"a":1})");
  EXPECT_EQ(Json::From(nlohmann::ordered_json{{"b", 1}, {"a", 2}}).text(), R"({"b":1,"a":2})");
  EXPECT_EQ(Json(R"({"b":1,"a":2})").Parse<nlohmann::ordered_json>().begin().key(), "b");
  EXPECT_EQ(Json::From(nlohmann::json(nullptr)).text(), "null");
  EXPECT_EQ(Json::From(nlohmann::json("\xFF")).text(), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace kgen
