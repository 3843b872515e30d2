// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What becomes of the members of an object that is converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/runtime/controller/webhook/conversion_fixture.h"

namespace kgen {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ConversionMembersTest : public ConversionFixture {
 protected:
  ConversionMembersTest() { orders::DeclareOrders(Builder()); }
  json SpecOf(std::string_view to, const std::string& object) { return Parse(One(to, object))["spec"]; }
};

TEST_F(ConversionMembersTest, CarriesMembersThatAgreeAndThoseOfTheFunction) {
  EXPECT_EQ(
      One("v2", Object("v1",
                       R"({"item":"cup","quantity":3,"weight":"500m","lines":[{"item":"a","count":1}],)"
                       R"("named":{"x":{"count":2}},"tags":["t"],"extra":{"a":1.50}})",
                       R"(,"status":{"phase":"New","shipped":2})")),
      R"({"apiVersion":"shop.example/v2","kind":"Order","metadata":{"name":"first","namespace":"shop","uid":"u1"},)"
      R"("spec":{"item":"cup","amount":3,"weight":500,"lines":[{"item":"a","count":1}],)"
      R"("named":{"x":{"count":2}},"tags":["t"],"extra":{"a":1.50}},"status":{"phase":"New","shipped":2}})");
}

TEST_F(ConversionMembersTest, DropsMembersForWhichTheOtherVersionHasNoPlace) {
  EXPECT_EQ(SpecOf("v1", Object("v2", R"({"gift":{"text":"hi"},"codes":{"a":"b"},"amount":null,"tags":[]})")),
            (json{{"tags", json::array()}}));
  EXPECT_EQ(SpecOf("v1", Object("v2", R"({"lines":[{"item":"a","engraving":"x"},{"engraving":null}],)"
                                      R"("named":{"k":{"engraving":"y","count":1}}})")),
            (json{{"lines", {{{"item", "a"}}, json::object()}}, {"named", {{"k", {{"count", 1}}}}}}));
  EXPECT_EQ(Parse(One("v1", Object("v2", "{}", R"(,"status":{"checked":true,"phase":"x"})")))["status"],
            (json{{"phase", "x"}}));
}

TEST_F(ConversionMembersTest, DropsAValueThatDoesNotFitAndThatTheFunctionDoesNotAssign) {
  // v3 has no weight; a Quantity is no integer.
  EXPECT_EQ(SpecOf("v3", Object("v1", R"({"weight":"2","note":"n"})")), (json{{"note", "n"}}));
  EXPECT_EQ(SpecOf("v2", Object("v1", R"({"weight":"2"})")), (json{{"weight", 2000}}));
}

TEST_F(ConversionMembersTest, KeepsMembersThatNoVersionKnows) {
  const json spec = SpecOf(
      "v2",
      Object("v1", R"({"new":{"b":1.0,"a":[null]},"lines":[{"new":1}],"named":{"k":{"new":2}}})", R"(,"other":[1])"));
  EXPECT_EQ(
      spec,
      (json{{"new", {{"b", 1.0}, {"a", {nullptr}}}}, {"lines", {{{"new", 1}}}}, {"named", {{"k", {{"new", 2}}}}}}));
  EXPECT_THAT(One("v2", Object("v1", R"({"new":12345678901234567890})", R"(,"other":1.0)")),
              HasSubstr(R"("spec":{"new":12345678901234567890},"other":1.0})"));
}

TEST_F(ConversionMembersTest, KeepsAValueThatDoesNotFitItsOwnVersion) {
  EXPECT_EQ(SpecOf("v2", Object("v1", R"({"item":7,"quantity":"many"})")), (json{{"item", 7}, {"quantity", "many"}}));
}

TEST_F(ConversionMembersTest, KeepsNullsAndWhatIsEmptyWhereBothVersionsHaveTheMember) {
  const std::string spec = R"({"item":"","lines":[],"named":{},"tags":null,"extra":null,"note":null})";
  EXPECT_EQ(SpecOf("v2", Object("v1", spec)), Parse(spec));
  EXPECT_EQ(SpecOf("v1", Object("v2", spec)), Parse(spec));
  EXPECT_EQ(SpecOf("v2", Object("v1", R"({"lines":[null,{}],"tags":[null,"a"]})")),
            (json{{"lines", {nullptr, json::object()}}, {"tags", {nullptr, "a"}}}));
  EXPECT_EQ(SpecOf("v2", Object("v1", R"({"quantity":null,"legacy":null})")), json::object()) << "only v1 has them";
  EXPECT_EQ(Parse(One("v2", Object("v1", "null", R"(,"status":{})"))), Parse(Object("v2", "null", R"(,"status":{})")));
}

TEST_F(ConversionMembersTest, KeepsMetadataByteForByte) {
  const std::string metadata =
      R"(,"resourceVersion":"7","generation":1.0,"labels":{"b":"1","a":"2"},"annotations":{ "x" : "\u0041" },)"
      R"("managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{}}}],"deletionTimestamp":null,)"
      R"("creationTimestamp":"2026-11-22T08:00:00.0Z","ownerReferences":[{"uid":"1","new":1e0}],"unknown":{"a":1.0})";
  for (const std::string_view to : {"v2", "v3"}) {
    EXPECT_THAT(One(to, Object("v1", R"({"quantity":1})", "", metadata)), HasSubstr(metadata + "}"));
  }
}

TEST_F(ConversionMembersTest, TakesChangesOfLabelsAndAnnotationsFromTheFunction) {
  const json v2 = Parse(One("v2", Object("v1", R"({"legacy":"old"})", "", R"(,"labels":{"app":"shop"},"x":1)")));
  EXPECT_EQ(v2["metadata"]["labels"], (json{{"app", "shop"}, {"legacy", "old"}}));
  EXPECT_EQ(v2["metadata"]["x"], 1);
  const json v1 = Parse(One("v1", v2.dump()));
  EXPECT_EQ(v1["metadata"]["labels"], (json{{"app", "shop"}}));
  EXPECT_EQ(v1["spec"]["legacy"], "old");
}

TEST_F(ConversionMembersTest, IgnoresOtherChangesOfMetadata) {
  routes_ = MakeShared<controller::WebhookRoutes>();
  Builder().Spoke<orders::v1::Order>(
      [](const orders::v1::Order& from, orders::v2::Order& to) -> Result<void> {
        EXPECT_TRUE(from.metadata.managedFields.empty());
        to.metadata.name = "other";
        to.metadata.uid.reset();
        to.metadata.finalizers.push_back("f");
        to.metadata.labels.reset();
        to.metadata.annotations["a"] = "b";
        return {};
      },
      orders::ToV1);
  const std::string metadata = R"(,"managedFields":[{"manager":"m"}])";
  EXPECT_EQ(Parse(One("v2", Object("v1", "{}", "", metadata + R"(,"labels":{"x":"y"})"))),
            Parse(Object("v2", "{}", "", metadata + R"(,"annotations":{"a":"b"})")));
}

TEST_F(ConversionMembersTest, RefusesAnObjectWhoseMetadataCannotBeRead) {
  EXPECT_THAT(One("v2", R"({"apiVersion":"shop.example/v1","kind":"Order","metadata":7})"), HasSubstr("failed"));
  EXPECT_THAT(One("v2", R"({"apiVersion":"shop.example/v1","kind":"Order","metadata":{"name":7}})"),
              HasSubstr("failed"));
  EXPECT_EQ(Parse(One("v2", R"({"apiVersion":"shop.example/v1","kind":"Order","spec":{"quantity":1}})")),
            (json{{"apiVersion", "shop.example/v2"}, {"kind", "Order"}, {"spec", {{"amount", 1}}}}));
}

}  // namespace
}  // namespace kgen
