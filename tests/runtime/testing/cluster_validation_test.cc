// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Validation of objects against the schema of a CRD. A kube-apiserver 1.36 gives the expected texts.
#include "testing/api_validation.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What is wrong with the value of a member "f" that has the schema, as "field: message".
std::vector<std::string> Faults(const json& schema, const json& value) {
  std::vector<std::string> lines;
  const json whole = {{"type", "object"}, {"properties", {{"f", schema}}}};
  for (const FieldFault& fault : ValidateObject({{"f", value}}, whole))
    lines.push_back(fault.field + ": " + fault.message);
  return lines;
}

TEST(ValidationTest, Types) {
  EXPECT_THAT(Faults({{"type", "string"}}, 5),
              ElementsAre("f: Invalid value: \"integer\": f in body must be of type string: \"integer\""));
  EXPECT_THAT(Faults({{"type", "integer"}}, 4.0), IsEmpty());
  EXPECT_THAT(Faults({{"type", "integer"}}, 1.5),
              ElementsAre("f: Invalid value: \"number\": f in body must be of type integer: \"number\""));
  EXPECT_THAT(Faults({{"type", "number"}}, 3), IsEmpty());
  EXPECT_THAT(Faults({{"x-kubernetes-int-or-string", true}}, json::object()),
              ElementsAre("f: Invalid value: \"object\": f in body must be of type integer,string: \"object\""));
  const json texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  EXPECT_THAT(Faults(texts, {nullptr, "a"}),
              ElementsAre("f[0]: Invalid value: \"null\": f[0] in body must be of type string: \"null\""));
  EXPECT_THAT(Faults({{"type", "array"}, {"items", {{"type", "string"}, {"nullable", true}}}}, {nullptr}), IsEmpty());
  EXPECT_THAT(Faults({{"type", "string"}, {"enum", {"a", "b"}}}, 3),
              ElementsAre("f: Invalid value: \"integer\": f in body must be of type string: \"integer\"",
                          "f: Unsupported value: 3: supported values: \"a\", \"b\""));
}

TEST(ValidationTest, LengthsAndPatternsOfStrings) {
  const json schema = {{"type", "string"}, {"minLength", 2}, {"maxLength", 5}, {"pattern", "^[a-z]+$"}};
  EXPECT_THAT(Faults(schema, "abc"), IsEmpty());
  EXPECT_THAT(Faults(schema, "A"), ElementsAre("f: Invalid value: \"A\": f in body should be at least 2 chars long"));
  EXPECT_THAT(Faults(schema, "abcdef"), ElementsAre("f: Too long: may not be more than 5 bytes"));
  EXPECT_THAT(Faults(schema, "ABC"), ElementsAre("f: Invalid value: \"ABC\": f in body should match '^[a-z]+$'"));
  EXPECT_THAT(Faults(schema, "ab\nc"), ElementsAre("f: Invalid value: \"ab\\nc\": f in body should match '^[a-z]+$'"));
  EXPECT_THAT(Faults({{"maxLength", 3}}, "\xC3\xA4\xC3\xB6\xC3\xBC"), IsEmpty()) << "counts characters";
  EXPECT_THAT(Faults({{"pattern", "b"}}, "abc"), IsEmpty()) << "not anchored";
  EXPECT_THAT(Faults({{"pattern", "("}}, "abc"), IsEmpty()) << "cannot be read";
  EXPECT_THAT(Faults({{"pattern", "^(a+)+$"}}, std::string(100'000, 'a') + "b"), ::testing::SizeIs(::testing::Le(1)));
}

TEST(ValidationTest, BoundsOfNumbers) {
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
  EXPECT_THAT(Faults({{"format", "int32"}}, 3000000000),
              ElementsAre("<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in f"));
  EXPECT_THAT(Faults({{"format", "int64"}}, 9223372036854775807), IsEmpty());
  EXPECT_THAT(Faults({{"format", "int64"}}, 9223372036854775808u), ::testing::SizeIs(1));
}

TEST(ValidationTest, CountsAndDuplicatesOfLists) {
  const json schema = {{"type", "array"}, {"minItems", 1}, {"maxItems", 2}, {"items", {{"type", "string"}}}};
  EXPECT_THAT(Faults(schema, {"a"}), IsEmpty());
  EXPECT_THAT(Faults(schema, json::array()),
              ElementsAre("f: Invalid value: 0: f in body should have at least 1 items"));
  EXPECT_THAT(Faults(schema, {"a", "b", "c"}), ElementsAre("f: Too many: 3: must have at most 2 items"));
  EXPECT_THAT(Faults(schema, json::array({1})),
              ElementsAre("f[0]: Invalid value: \"integer\": f[0] in body must be of type string: \"integer\""));
  EXPECT_THAT(Faults({{"x-kubernetes-list-type", "set"}}, {"a", "b", "a"}),
              ElementsAre("f[2]: Duplicate value: \"a\""));
  EXPECT_THAT(Faults({{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"k"}}},
                     json::array({{{"k", "a"}, {"v", 1}}, {{"k", "b"}}, {{"k", "a"}}})),
              ElementsAre("f[2]: Duplicate value: {\"k\":\"a\"}"));
}

TEST(ValidationTest, MembersOfObjects) {
  const json schema = {{"minProperties", 1}, {"maxProperties", 2}, {"additionalProperties", {{"maxLength", 3}}}};
  EXPECT_THAT(Faults(schema, json::object()),
              ElementsAre("f: Invalid value: 0: f in body should have at least 1 properties"));
  EXPECT_THAT(Faults(schema, {{"a", "1"}, {"b", "2"}, {"c", "3"}}),
              ElementsAre("f: Too many: 3: must have at most 2 items"));
  EXPECT_THAT(Faults(schema, {{"a", "1234"}}), ElementsAre("f.a: Too long: may not be more than 3 bytes"));
  EXPECT_THAT(Faults({{"x-kubernetes-embedded-resource", true}}, json::object()),
              ElementsAre("f.apiVersion: Required value", "f.kind: Required value"));
}

TEST(ValidationTest, CombinationsOfSchemas) {
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
  EXPECT_THAT(Faults({{"not", {{"enum", {"bad"}}}}}, "bad"),
              ElementsAre("<nil>: Invalid value: \"\": \"f\" must not validate the schema (not)"));
}

TEST(ValidationTest, Formats) {
  EXPECT_THAT(Faults({{"type", "string"}, {"format", "date-time"}}, "x"),
              ElementsAre("f: Invalid value: \"x\": f in body must be of type date-time: \"x\""));
  const std::pair<const char*, std::vector<const char*>> good[] = {
      {"date-time", {"2020-01-01T00:00:00Z", "2020-02-29T23:59:59.123+01:00"}},
      {"date", {"2020-02-29"}},
      {"duration", {"5m", "1h30m", "1.5s", "-2ms", "0", "3 days"}},
      {"uuid", {"ce9ad14d-745d-47f8-aa07-bdd704f5e95a"}},
      {"email", {"a@b.example"}},
      {"uri", {"https://a.example/b?c", "/a"}},
      {"ipv4", {"1.2.3.4"}},
      {"ipv6", {"::1", "fe80::1"}},
      {"cidr", {"10.0.0.0/8", "::/0"}},
      {"mac", {"01:02:03:0a:0B:0c", "01-02-03-04-05-06"}},
      {"hostname", {"a", "a-b.example"}},
      {"byte", {"", "YQ==", "YWI=", "YWJj"}},
      {"no-such", {"x"}}};
  for (const auto& [format, texts] : good) {
    for (const char* text : texts) EXPECT_TRUE(IsOfFormat(text, format)) << format << " " << text;
  }
  const std::pair<const char*, std::vector<const char*>> bad[] = {
      {"date-time", {"", "2020-01-01 00:00:00", "2020-02-30T00:00:00Z", "2020-01-01T24:00:00Z"}},
      {"date", {"2020-13-01", "2021-02-29", "20-1-1"}},
      {"duration", {"", "5x", "m"}},
      {"uuid", {"x"}},
      {"email", {"x"}},
      {"uri", {"x y", "a"}},
      {"ipv4", {"1.2.3", "::1"}},
      {"ipv6", {"1.2.3.4", "fe80::1%eth0"}},
      {"cidr", {"1.2.3.4", "1.2.3.4/33", "1.2.3.4/", "x/1"}},
      {"mac", {"x", "01:02-03:04:05:06"}},
      {"hostname", {"-a", "a_b", ""}},
      {"byte", {"***", "YQ=", "Y"}}};
  for (const auto& [format, texts] : bad) {
    for (const char* text : texts) EXPECT_FALSE(IsOfFormat(text, format)) << format << " " << text;
  }
}

TEST_F(ClusterTest, TheBoundsOfACrdAreChecked) {
  Must(cluster_.Add(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gauges.shop.example"},
    "spec": {"group": "shop.example", "scope": "Namespaced", "names": {"plural": "gauges", "kind": "Gauge"},
      "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
        "properties": {"spec": {"type": "object", "properties": {
          "count": {"type": "integer", "minimum": 1}, "item": {"type": "string", "pattern": "^[a-z]+$"}}}}}}}]}})"));
  Post("/apis/shop.example/v1/namespaces/default/gauges",
       {{"metadata", {{"name", "g"}}}, {"spec", {{"count", 0}, {"item", "A"}}}});
  EXPECT_EQ(last_status_, 422);
  EXPECT_THAT(last_causes_, ElementsAre("spec.count FieldValueInvalid", "spec.item FieldValueInvalid"));
  EXPECT_THAT(last_error_,
              ::testing::HasSubstr("Gauge.shop.example \"g\" is invalid: [spec.count: Invalid value: 0: spec.count in "
                                   "body should be greater than or equal to 1, spec.item: Invalid value: \"A\": "
                                   "spec.item in body should match '^[a-z]+$']"));
}

}  // namespace
}  // namespace kgen::testing
