// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks of values. A kube-apiserver 1.36 gives the expected texts; tests/integration/validation asks one.
#include <limits>
#include <utility>

#include "tests/runtime/validation/faults.h"

namespace kgen::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ValuesTest, Types) {
  EXPECT_THAT(Faults({{"type", "string"}}, 5),
              ElementsAre("f: Invalid value: \"integer\": f in body must be of type string: \"integer\""));
  EXPECT_THAT(Faults({{"type", "integer"}}, 4.0), IsEmpty());
  EXPECT_THAT(Faults({{"type", "integer"}}, 1.5),
              ElementsAre("f: Invalid value: \"number\": f in body must be of type integer: \"number\"",
                          "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in f"));
  EXPECT_THAT(Faults({{"type", "number"}}, 3), IsEmpty());
  EXPECT_THAT(Faults({{"type", "boolean"}}, true), IsEmpty());
  EXPECT_THAT(Faults({{"type", "object"}}, json::array()),
              ElementsAre("f: Invalid value: \"array\": f in body must be of type object: \"array\""));
  EXPECT_THAT(Faults({{"x-kubernetes-int-or-string", true}}, json::object()),
              ElementsAre("f: Invalid value: \"object\": f in body must be of type integer,string: \"object\""));
  EXPECT_THAT(Faults({{"x-kubernetes-int-or-string", true}}, "5%"), IsEmpty());
  EXPECT_THAT(Faults({{"type", "string"}, {"enum", {"a", "b"}}}, 3),
              ElementsAre("f: Invalid value: \"integer\": f in body must be of type string: \"integer\"",
                          "f: Unsupported value: 3: supported values: \"a\", \"b\""));
}

TEST(ValuesTest, TypesBesideFormats) {
  EXPECT_THAT(Faults({{"type", "integer"}, {"format", "int32"}}, true),
              ElementsAre("f: Invalid value: \"\": f in body must be of type int32: \"\""));
  EXPECT_THAT(Faults({{"type", "integer"}, {"format", "int32"}}, "5"),
              ElementsAre("f: Invalid value: \"string\": f in body must be of type integer: \"string\""));
  EXPECT_THAT(Faults({{"type", "string"}, {"format", "date"}}, 5),
              ElementsAre("f: Invalid value: \"int64\": f in body must be of type date: \"int64\""));
  EXPECT_THAT(Faults({{"type", "string"}, {"format", "date"}}, json::array()), IsEmpty()) << "as on a server";
  EXPECT_THAT(Faults({{"type", "string"}, {"format", "made-up"}}, json::array()), SizeIs(1)) << "no format at all";
}

TEST(ValuesTest, Nulls) {
  const json texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  EXPECT_THAT(Faults(texts, {nullptr, "a"}),
              ElementsAre("f[0]: Invalid value: \"null\": f[0] in body must be of type string: \"null\""));
  EXPECT_THAT(Faults({{"type", "string"}, {"nullable", true}}, nullptr), IsEmpty());
  EXPECT_THAT(Faults({{"type", "string"}, {"nullable", true}, {"enum", {"a", nullptr}}}, nullptr),
              ElementsAre("f: Unsupported value: null: supported values: \"a\", \"null\""))
      << "an enum allows null nowhere";
}

TEST(ValuesTest, LengthsAndPatternsOfStrings) {
  const json schema = {{"type", "string"}, {"minLength", 2}, {"maxLength", 5}, {"pattern", "^[a-z]+$"}};
  EXPECT_THAT(Faults(schema, "abc"), IsEmpty());
  EXPECT_THAT(Faults(schema, "A"), ElementsAre("f: Invalid value: \"A\": f in body should be at least 2 chars long"));
  EXPECT_THAT(Faults(schema, "abcdef"), ElementsAre("f: Too long: may not be more than 5 bytes"));
  EXPECT_THAT(Faults(schema, "ABC"), ElementsAre("f: Invalid value: \"ABC\": f in body should match '^[a-z]+$'"));
  EXPECT_THAT(Faults(schema, "ab\nc"), ElementsAre("f: Invalid value: \"ab\\nc\": f in body should match '^[a-z]+$'"));
  EXPECT_THAT(Faults({{"maxLength", 3}}, "\xC3\xA4\xC3\xB6\xC3\xBC"), IsEmpty()) << "counts characters";
  EXPECT_THAT(Faults({{"pattern", "b"}}, "abc"), IsEmpty()) << "not anchored";
}

TEST(ValuesTest, BoundsOfNumbers) {
  const json schema = {{"type", "integer"}, {"minimum", 1}, {"maximum", 10}, {"multipleOf", 2}};
  EXPECT_THAT(Faults(schema, 10), IsEmpty());
  EXPECT_THAT(Faults(schema, 0), ElementsAre("f: Invalid value: 0: f in body should be greater than or equal to 1"));
  EXPECT_THAT(Faults(schema, 12), ElementsAre("f: Invalid value: 12: f in body should be less than or equal to 10"));
  EXPECT_THAT(Faults(schema, 3), ElementsAre("f: Invalid value: 3: f in body should be a multiple of 2"));
  json exclusive = schema;
  exclusive["exclusiveMinimum"] = exclusive["exclusiveMaximum"] = true;
  EXPECT_THAT(Faults(exclusive, 10), ElementsAre("f: Invalid value: 10: f in body should be less than 10"));
  exclusive["minimum"] = 2;
  EXPECT_THAT(Faults(exclusive, 2), ElementsAre("f: Invalid value: 2: f in body should be greater than 2"));
  EXPECT_THAT(Faults({{"type", "number"}, {"minimum", 0.5}}, 0.1),
              ElementsAre("f: Invalid value: 0.1: f in body should be greater than or equal to 0.5"));
  EXPECT_THAT(Faults({{"type", "number"}, {"maximum", 2.5}}, 3),
              ElementsAre("f: Invalid value: 3: f in body should be less than or equal to 2"))
      << "for an integer, a server cuts the bound";
  EXPECT_THAT(Faults({{"type", "number"}, {"multipleOf", 0.1}}, 0.3), IsEmpty());
  EXPECT_THAT(Faults({{"type", "number"}, {"multipleOf", 0.5}}, 3),
              ElementsAre("f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0"))
      << "which is cut to 0";
}

TEST(ValuesTest, RangesOfFormats) {
  EXPECT_THAT(Faults({{"type", "integer"}, {"format", "int32"}}, 3000000000),
              ElementsAre("<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in f"));
  EXPECT_THAT(Faults({{"type", "integer"}, {"format", "int64"}}, std::numeric_limits<std::int64_t>::max()), IsEmpty());
  EXPECT_THAT(Faults({{"type", "integer"}, {"format", "int64"}}, 9223372036854775808u),
              ElementsAre(HasSubstr("must be of type int64: \"float64\""), HasSubstr("Checked value must be")));
  EXPECT_THAT(Faults({{"type", "number"}, {"format", "float"}}, 1e39),
              ElementsAre("<nil>: Invalid value: \"\": Checked value must be of type number with format float in f"));
  EXPECT_THAT(Faults({{"type", "number"}, {"format", "double"}}, 1e39), IsEmpty());
  EXPECT_THAT(
      Faults({{"type", "integer"}, {"format", "int32"}, {"maximum", 4294967295}}, 1),
      ElementsAre("<nil>: Invalid value: \"\": Maximum boundary value must be of type integer with format int32 "
                  "in f"))
      << "a server complains of the schema each time";
}

TEST(ValuesTest, CountsAndDuplicatesOfLists) {
  const json schema = {{"type", "array"}, {"minItems", 1}, {"maxItems", 2}, {"items", {{"type", "string"}}}};
  EXPECT_THAT(Faults(schema, {"a"}), IsEmpty());
  EXPECT_THAT(Faults(schema, json::array()),
              ElementsAre("f: Invalid value: 0: f in body should have at least 1 items"));
  EXPECT_THAT(Faults(schema, {"a", "b", "c"}), ElementsAre("f: Too many: 3: must have at most 2 items"));
  EXPECT_THAT(Faults(schema, json::array({1})),
              ElementsAre("f[0]: Invalid value: \"integer\": f[0] in body must be of type string: \"integer\""));
  EXPECT_THAT(Faults({{"x-kubernetes-list-type", "set"}}, {"a", "b", "a", "a"}),
              ElementsAre("f[2]: Duplicate value: \"a\""))
      << "each value once";
  const json keyed = {{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"k"}}};
  EXPECT_THAT(Faults(keyed, json::array({{{"k", "a"}, {"v", 1}}, {{"k", "b"}}, {{"k", "a"}}})),
              ElementsAre("f[2]: Duplicate value: {\"k\":\"a\"}"));
  EXPECT_THAT(Faults(keyed, json::array({{{"k", "<a&b>"}}, {{"k", "<a&b>"}}})),
              ElementsAre("f[1]: Duplicate value: {\"k\":\"\\u003ca\\u0026b\\u003e\"}"))
      << "as Go writes JSON";
  EXPECT_THAT(Faults(keyed, json::array({{{"v", 1}}, {{"v", 2}}})), ElementsAre("f[1]: Duplicate value: {}"))
      << "entries without keys are alike";
  EXPECT_THAT(Faults(keyed, json::array({json::object(), 5})),
              ElementsAre("f[1]: Invalid value: 5: must be an object for an array of list-type map"));
}

TEST(ValuesTest, MembersOfObjects) {
  const json schema = {{"minProperties", 1}, {"maxProperties", 2}, {"additionalProperties", {{"maxLength", 3}}}};
  EXPECT_THAT(Faults(schema, json::object()),
              ElementsAre("f: Invalid value: 0: f in body should have at least 1 properties"));
  EXPECT_THAT(Faults(schema, {{"a", "1"}, {"b", "2"}, {"c", "3"}}),
              ElementsAre("f: Too many: 3: must have at most 2 items"));
  EXPECT_THAT(Faults(schema, {{"a", "1234"}}), ElementsAre("f.a: Too long: may not be more than 3 bytes"));
  EXPECT_THAT(Faults({{"required", {"b", "a"}}}, json::object()),
              ElementsAre("f.b: Required value", "f.a: Required value"));
}

// Values have dots before the names of a map, and sets and keyed lists have brackets around them, as on a server.
TEST(ValuesTest, PathsThroughMaps) {
  const json set = {{"type", "array"}, {"x-kubernetes-list-type", "set"}, {"items", {{"type", "integer"}}}};
  EXPECT_THAT(Faults({{"additionalProperties", set}}, {{"a.b", {1, 1, "x"}}}),
              ElementsAre(HasSubstr("f.a.b[2]: Invalid value: \"string\""), "f[a.b][1]: Duplicate value: 1"));
}

TEST(ValuesTest, CombinationsOfSchemas) {
  const json a = {{"required", {"a"}}}, b = {{"required", {"b"}}};
  const json any = {{"anyOf", {a, b}}}, one = {{"oneOf", {a, b}}};
  EXPECT_THAT(Faults(any, {{"a", 1}, {"b", 1}}), IsEmpty());
  EXPECT_THAT(Faults(any, json::object()),
              ElementsAre("<nil>: Invalid value: \"\": \"f\" must validate at least one schema (anyOf)",
                          "f.a: Required value"));
  EXPECT_THAT(Faults(one, {{"b", 1}}), IsEmpty());
  EXPECT_THAT(
      Faults(one, json::object()),
      ElementsAre("<nil>: Invalid value: \"\": \"f\" must validate one and only one schema (oneOf). Found none valid",
                  "f.a: Required value"));
  EXPECT_THAT(
      Faults(one, {{"a", 1}, {"b", 1}}),
      ElementsAre("<nil>: Invalid value: \"\": \"f\" must validate one and only one schema (oneOf). Found 2 valid "
                  "alternatives"));
  EXPECT_THAT(Faults({{"allOf", {{{"minLength", 3}}, {{"maxLength", 4}}}}}, "a"),
              ElementsAre("f: Invalid value: \"a\": f in body should be at least 3 chars long",
                          "<nil>: Invalid value: \"\": \"f\" must validate all the schemas (allOf)"));
  EXPECT_THAT(Faults({{"allOf", {{{"minLength", 3}}}}}, "a"),
              ::testing::Contains(EndsWith("must validate all the schemas (allOf). None validated")));
  EXPECT_THAT(Faults({{"not", {{"enum", {"bad"}}}}}, "bad"),
              ElementsAre("<nil>: Invalid value: \"\": \"f\" must not validate the schema (not)"));
}

// The schema that has checked more of the value than the other ones says what is wrong.
TEST(ValuesTest, AnAnyOfReportsTheSchemaThatComesFurthest) {
  const json near = {{"properties", {{"a", {{"type", "integer"}, {"maximum", 5}}}, {"b", {{"type", "string"}}}}}};
  const json far = {{"required", {"c"}}};
  const json value = {{"a", 9}, {"b", "x"}};
  for (const json& order : {json{far, near}, json{near, far}}) {
    EXPECT_THAT(Faults({{"anyOf", order}}, value),
                ElementsAre(HasSubstr("(anyOf)"), HasSubstr("f.a: Invalid value: 9: f.a in body should be less")));
  }
}

TEST(ValuesTest, TheSameFaultIsReportedOnce) {
  EXPECT_THAT(Faults({{"minLength", 3}, {"allOf", {{{"minLength", 3}}}}}, "a"),
              ElementsAre("f: Invalid value: \"a\": f in body should be at least 3 chars long",
                          HasSubstr("must validate all the schemas (allOf)")));
}

TEST(ValuesTest, Enums) {
  EXPECT_THAT(Faults({{"enum", {1, 2}}}, 2.0), IsEmpty());
  EXPECT_THAT(Faults({{"enum", {1.5}}}, 1), SizeIs(1));
  EXPECT_THAT(
      Faults({{"enum", {"a", 5, {{"k", "v"}}}}}, {{"k", "w"}}),
      ElementsAre("f: Unsupported value: {\"k\":\"w\"}: supported values: \"a\", \"5\", \"{\\\"k\\\":\\\"v\\\"}\""));
  EXPECT_THAT(Faults({{"enum", {{{"k", "v"}}}}}, {{"k", "v"}}), IsEmpty());
}

TEST(ValuesTest, EmbeddedResources) {
  const json schema = {{"type", "object"}, {"x-kubernetes-embedded-resource", true}};
  EXPECT_THAT(Faults(schema, json::object()), ElementsAre("f.apiVersion: Required value", "f.kind: Required value"));
  const auto with = [](const json& more) {
    json resource = {{"apiVersion", "v1"}, {"kind", "Pod"}};
    resource.update(more);
    return resource;
  };
  EXPECT_THAT(Faults(schema, with(json::object())), IsEmpty());
  EXPECT_THAT(Faults(schema, with({{"kind", "4you"}})),
              ElementsAre(HasSubstr("f.kind: Invalid value: \"4you\": may have mixed case")));
  EXPECT_THAT(Faults(schema, with({{"apiVersion", "a/b/c"}})),
              ElementsAre("f.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"));
  EXPECT_THAT(Faults(schema, with({{"metadata", {{"name", "a/b"}, {"labels", {{"a", "-"}}}}}})),
              ElementsAre("f.metadata.name: Invalid value: \"a/b\": may not contain '/'",
                          HasSubstr("f.metadata.labels: Invalid value: \"-\": a valid label must be")));
  EXPECT_THAT(Faults(schema, with({{"metadata", {{"name", "A_b"}}}})), IsEmpty()) << "any part of a path";
}

// A list of n entries costs n checks: RE2 and the maps of keys are the only things that could cost more.
TEST(ValuesTest, AListOfManyEntriesIsCheckedOnce) {
  const json schema = {
      {"type", "array"},
      {"x-kubernetes-list-type", "map"},
      {"x-kubernetes-list-map-keys", {"name"}},
      {"items", {{"type", "object"}, {"properties", {{"name", {{"type", "string"}, {"pattern", "^a"}}}}}}}};
  json list = json::array();
  for (int i = 0; i < 10'000; ++i) list.push_back({{"name", "b" + std::to_string(i)}});
  list.push_back({{"name", "b0"}});
  const auto faults = Faults(schema, list);
  ASSERT_THAT(faults, SizeIs(10'002));
  EXPECT_EQ(faults.back(), "f[10000]: Duplicate value: {\"name\":\"b0\"}");
  EXPECT_EQ(faults[9'999], "f[9999].name: Invalid value: \"b9999\": f[9999].name in body should match '^a'");
}

}  // namespace
}  // namespace kgen::validation
