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

TEST_F(UnknownFieldsTest, KeepsOrderAndDuplicates_D6) {
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

TEST_F(UnknownFieldsTest, SetsInPlaceOfTheFirstAndDropsTheOthersOfThatName) {
  UnknownFields fields = Some();
  fields.Set("b", Json("3"));
  EXPECT_EQ(Listed(fields), "b=3;a=" + kLong + ";c=null;");
  fields.Set("d", Json("4"));
  EXPECT_EQ(Listed(fields), "b=3;a=" + kLong + ";c=null;d=4;");
  fields.Set(fields.begin()->name, Json("5"));
  EXPECT_EQ(fields["b"].text(), "5");
}

TEST_F(UnknownFieldsTest, HoldsNoValueThatNobodyCouldWrite) {
  UnknownFields fields = Some();
  fields.Set("b", Json());
  fields.Append("x", Json());
  EXPECT_EQ(Listed(fields), "a=" + kLong + ";c=null;");
  Sample s;
  s.spec->unknown_fields.Set("x", Json());
  EXPECT_FALSE(s.spec.has_value());
}

TEST_F(UnknownFieldsTest, TellsAnEmptyNameFromNone) {
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

TEST_F(UnknownFieldsTest, ComparesInOrderByNameAndText) {
  UnknownFields a;
  a.Append("a", Json("1"));
  a.Append("b", Json("2"));
  UnknownFields b;
  b.Append("b", Json("2"));
  b.Append("a", Json("1"));
  EXPECT_NE(a, b);
  UnknownFields c;
  c.Append("a", Json("1.0"));
  c.Append("b", Json("2"));
  EXPECT_NE(a, c);
}

TEST_F(UnknownFieldsTest, TravelsWithItsListElementThroughCopyMoveEraseAndSort_D6) {
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

TEST_F(UnknownFieldsTest, DoesNotCountAMisfitOnceTheUserAssignedTheFieldOfThatName_D6) {
  Spec misfit;
  misfit.unknown_fields.Append("replicas", Json("\"three\""));
  misfit.unknown_fields.Append("other", Json("1"));
  Spec assigned;
  assigned.unknown_fields.Append("other", Json("1"));
  EXPECT_NE(misfit, assigned);
  misfit.replicas = 3;
  assigned.replicas = 3;
  EXPECT_EQ(misfit, assigned) << "the two are written alike";
  EXPECT_EQ(Hash(misfit), Hash(assigned));
  EXPECT_TRUE(detail::IsReplaced(*misfit.unknown_fields.begin(), &misfit, Spec::kTable));
  misfit.replicas.reset();
  EXPECT_NE(misfit, assigned) << "taken back, the misfit is sent again";
  EXPECT_EQ(misfit.unknown_fields["replicas"].text(), "\"three\"");
}

// ---- Json. ----

TEST_F(JsonTest, KeepsTheTextAsItCame) {
  const Json big(R"({"n":12345678901234567890123, "x":1.50})");
  EXPECT_EQ(big.text(), R"({"n":12345678901234567890123, "x":1.50})");
  EXPECT_NE(Json("1.0"), Json("1"));
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

TEST_F(JsonTest, IsMadeFromAValueEvenFromOneThatIsNotUtf8) {
  EXPECT_EQ(Json::From(nlohmann::json{{"a", 1}}).text(), R"({"a":1})");
  EXPECT_EQ(Json::From(nlohmann::ordered_json{{"b", 1}, {"a", 2}}).text(), R"({"b":1,"a":2})");
  EXPECT_EQ(Json(R"({"b":1,"a":2})").Parse<nlohmann::ordered_json>().begin().key(), "b");
  EXPECT_EQ(Json::From(nlohmann::json(nullptr)).text(), "null");
  EXPECT_EQ(Json::From(nlohmann::json("\xFF")).text(), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace kgen
