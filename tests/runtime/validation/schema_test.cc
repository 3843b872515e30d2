// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The public interface: schemas from CRDs, and what happens to an object before its values are checked.
#include <string>
#include <thread>

#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/widget.h"
#include "tests/runtime/validation/faults.h"

namespace kgen::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string FailureOf(const json& crd, std::string_view version = "v1") {
  const auto schema = Schema::FromCrd(crd.is_string() ? crd.get<std::string>() : crd.dump(), version);
  return schema ? "" : schema.error().ToString();
}

TEST(SchemaTest, SaysWhyACrdCannotBeUsed) {
  const json object = {{"type", "object"}};
  EXPECT_THAT(FailureOf("{"), HasSubstr("the CustomResourceDefinition is not JSON"));
  EXPECT_THAT(FailureOf(std::string(300, '[') + std::string(300, ']')), HasSubstr("nested deeper than 256"));
  EXPECT_THAT(
      FailureOf({{"apiVersion", "v1"}, {"kind", "Pod"}}),
      HasSubstr(
          "expected a CustomResourceDefinition of apiextensions.k8s.io/v1, found apiVersion \"v1\" and kind \"Pod\""));
  EXPECT_THAT(FailureOf(json::array()), HasSubstr("found apiVersion \"\""));
  EXPECT_THAT(FailureOf(Crd(object), "v2"), HasSubstr("widgets.shop.example has no version \"v2\"; it has v1"));
  json bare = Crd(object);
  bare["spec"]["versions"][0].erase("schema");
  EXPECT_THAT(FailureOf(bare), HasSubstr("spec.versions[0].schema.openAPIV3Schema is missing"));
  bare["spec"].erase("versions");
  EXPECT_THAT(FailureOf(bare), HasSubstr("it has none"));
}

TEST(SchemaTest, SaysWhereASchemaIsWrong) {
  const auto failure = [](const json& spec) { return FailureOf(Crd({{"properties", {{"spec", spec}}}})); };
  EXPECT_THAT(
      failure({{"pattern", "(a"}}),
      HasSubstr("spec.versions[0].schema.openAPIV3Schema.properties[spec].pattern: '(a' is not a pattern in the "
                "syntax of Go: missing )"));
  EXPECT_THAT(failure({{"allOf", {{{"pattern", "(?=a)"}}}}}), HasSubstr("allOf[0].pattern: '(?=a)' is not a pattern"));
  EXPECT_THAT(failure({{"minimum", "1"}}), HasSubstr("properties[spec].minimum: expected a number, found string"));
  EXPECT_THAT(failure({{"maxLength", 1.5}}), HasSubstr("maxLength: expected an integer, found number"));
  EXPECT_THAT(failure({{"required", {1}}}), HasSubstr("required: expected a list of strings, found array"));
  EXPECT_THAT(failure({{"nullable", "yes"}}), HasSubstr("nullable: expected a boolean"));
  EXPECT_THAT(failure({{"type", {"string"}}}), HasSubstr("type: expected a string"));
  EXPECT_THAT(failure({{"enum", "a"}}), HasSubstr("enum: expected a list"));
  EXPECT_THAT(failure({{"items", json::array()}}), HasSubstr("items: expected an object, found array"));
  EXPECT_THAT(failure({{"properties", 1}}), HasSubstr("properties: expected an object"));
  EXPECT_THAT(failure({{"anyOf", json::object()}}), HasSubstr("anyOf: expected a list"));
  EXPECT_THAT(failure({{"x-kubernetes-validations", {1}}}),
              HasSubstr("x-kubernetes-validations: expected a list of rules"));
  EXPECT_EQ(failure({{"pattern", nullptr}, {"minimum", nullptr}, {"items", nullptr}}), "") << "null is absent";
}

TEST(SchemaTest, DropsUnknownMembersBeforeItChecks) {
  const json crd =
      Crd({{"type", "object"},
           {"properties",
            {{"spec", {{"type", "object"}, {"maxProperties", 1}, {"properties", {{"a", {{"type", "string"}}}}}}}}}});
  EXPECT_THAT(FaultsOf(crd, Widget({{"a", "x"}, {"b", 1}, {"c", 2}})), IsEmpty());
  json open = crd;
  open["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
      ["x-kubernetes-preserve-unknown-fields"] = true;
  EXPECT_THAT(FaultsOf(open, Widget({{"a", "x"}, {"b", 1}, {"c", 2}})),
              ElementsAre("spec: Too many: 3: must have at most 1 item"));
}

TEST(SchemaTest, SetsDefaultsBeforeItChecks) {
  const json crd = Crd({{"type", "object"},
                        {"properties",
                         {{"spec",
                           {{"type", "object"},
                            {"default", json::object()},
                            {"required", {"a", "b"}},
                            {"properties",
                             {{"a", {{"type", "string"}, {"default", "x"}}},
                              {"b", {{"type", "integer"}}},
                              {"c", {{"type", "integer"}, {"default", 7}, {"maximum", 5}}}}}}}}}});
  json bare = Widget({});
  bare.erase("spec");
  EXPECT_THAT(FaultsOf(crd, bare),
              ElementsAre("spec.c: Invalid value: 7: spec.c in body should be less than or equal to 5",
                          "spec.b: Required value"));
  EXPECT_THAT(FaultsOf(crd, Widget({{"a", nullptr}, {"b", nullptr}, {"c", 1}})), ElementsAre("spec.b: Required value"))
      << "a null is absent";
}

TEST(SchemaTest, ChecksApiVersionAndKindFirst) {
  const json crd = Crd({{"type", "object"}, {"required", {"spec"}}});
  json other = Widget({});
  other["kind"] = "Gadget";
  other["apiVersion"] = "shop.example/v2";
  other.erase("spec");
  EXPECT_THAT(FaultsOf(crd, other),
              ElementsAre("kind: Invalid value: \"Gadget\": must be Widget",
                          "apiVersion: Invalid value: \"shop.example/v2\": must be shop.example/v1"));
  EXPECT_THAT(FaultsOf(crd, json::object()), SizeIs(2));
  EXPECT_THAT(FaultsOf(crd, json::array()), ElementsAre("<nil>: Invalid value: \"\": must be an object"));
  EXPECT_THAT(Lines(SchemaOf(crd).Validate(Json("{")).errors),
              ElementsAre("<nil>: Invalid value: \"\": the object is not JSON, or not UTF-8"));
}

TEST(SchemaTest, ChecksMetadata) {
  const json crd = Crd({{"type", "object"}});
  const auto faults = [&](const json& metadata) {
    json object = Widget({});
    object["metadata"] = metadata;
    return FaultsOf(crd, object);
  };
  EXPECT_THAT(faults({{"generateName", "a-"}}), IsEmpty());
  EXPECT_THAT(faults({{"generateName", "A-"}, {"name", nullptr}}),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"A-xxxxx\": a lowercase RFC 1123 subdomain")));
  EXPECT_THAT(faults(json::object()), ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(faults(nullptr), ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(
      faults({{"name", "A"}}),
      ElementsAre("metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case "
                  "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
                  "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]"
                  "([-a-z0-9]*[a-z0-9])?)*')"));
  EXPECT_THAT(faults({{"name", "a"}, {"namespace", "a.b"}}),
              ElementsAre("metadata.namespace: Invalid value: \"a.b\": must not contain dots"));
  EXPECT_THAT(
      faults({{"name", "a"}, {"labels", {{"a/b/c", "x"}, {"k", "x y"}}}, {"annotations", {{"A.B/c", ""}, {"", ""}}}}),
      ElementsAre(HasSubstr("metadata.labels: Invalid value: \"a/b/c\": a valid label key must consist"),
                  HasSubstr("metadata.labels: Invalid value: \"x y\": a valid label must be an empty string"),
                  "metadata.annotations: Invalid value: \"\": name part must be non-empty",
                  HasSubstr("metadata.annotations: Invalid value: \"\": name part must consist")));
  EXPECT_THAT(faults({{"name", "a"}, {"finalizers", {"orphan", "foregroundDeletion", "x y"}}}),
              ElementsAre(HasSubstr("metadata.finalizers: Invalid value: \"x y\": name part must consist"),
                          HasSubstr("finalizer orphan and foregroundDeletion cannot be both set")));
  EXPECT_THAT(faults({{"name", "a"}, {"ownerReferences", {{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "b"}}}}}),
              ElementsAre("metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(faults({{"name", 5}}), ElementsAre("metadata.name: Invalid value: 5: must be a string"));
  EXPECT_THAT(faults({{"name", "a"}, {"labels", {{"a", 1}}}}),
              ElementsAre("metadata.labels: Invalid value: {\"a\":1}: must be an object of strings"));
}

TEST(SchemaTest, ChecksTheMetadataThatTheSchemaRestricts) {
  const json crd =
      Crd({{"type", "object"},
           {"properties",
            {{"metadata", {{"type", "object"}, {"properties", {{"name", {{"type", "string"}, {"maxLength", 3}}}}}}}}}});
  json object = Widget({});
  object["metadata"]["name"] = "abcd";
  EXPECT_THAT(FaultsOf(crd, object), ElementsAre("metadata.name: Too long: may not be more than 3 bytes"));
}

TEST(SchemaTest, ChecksTheReplicasOfAScale) {
  const json schema = {
      {"type", "object"},
      {"properties", {{"spec", {{"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}}}}}};
  const json crd = Crd(
      schema, {{"subresources", {{"scale", {{"specReplicasPath", ".spec.n"}, {"statusReplicasPath", ".status.n"}}}}}});
  EXPECT_THAT(FaultsOf(crd, Widget({{"n", 3}})), IsEmpty());
  EXPECT_THAT(FaultsOf(crd, Widget({{"n", -1}})),
              ElementsAre(".spec.n: Invalid value: -1: should be a non-negative integer"));
  EXPECT_THAT(FaultsOf(crd, Widget({{"n", 2147483648}})),
              ElementsAre(".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"));
  EXPECT_THAT(
      FaultsOf(crd, Widget({{"n", "x"}})),
      ElementsAre(HasSubstr("spec.n in body must be of type integer"),
                  ".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64"));
}

TEST(SchemaTest, ListsTheRulesThatApply) {
  const auto rule = [](const char* text) { return json::array({{{"rule", text}}}); };
  const json crd = Crd(
      {{"type", "object"},
       {"x-kubernetes-validations", rule("self.kind != ''")},
       {"properties",
        {{"spec",
          {{"type", "object"},
           {"properties",
            {{"a", {{"type", "string"}, {"x-kubernetes-validations", rule("self != ''")}}},
             {"list",
              {{"type", "array"}, {"items", {{"type", "integer"}, {"x-kubernetes-validations", rule("self > 0")}}}}},
             {"map",
              {{"type", "object"},
               {"additionalProperties", {{"type", "string"}, {"x-kubernetes-validations", rule("true")}}}}}}}}}}}});
  const auto unchecked = [&](const json& spec) { return SchemaOf(crd).Validate(Json(Widget(spec).dump())).unchecked; };
  EXPECT_THAT(unchecked(json::object()), ElementsAre(UncheckedRule{"", "self.kind != ''"}))
      << "the others have no value";
  EXPECT_THAT(unchecked({{"a", "x"}, {"list", {1, 2}}, {"map", {{"k", "v"}}}}),
              ElementsAre(UncheckedRule{"", "self.kind != ''"}, UncheckedRule{"spec.a", "self != ''"},
                          UncheckedRule{"spec.list[0]", "self > 0"}, UncheckedRule{"spec.list[1]", "self > 0"},
                          UncheckedRule{"spec.map[k]", "true"}));
}

TEST(SchemaTest, ATypedObjectIsValidatedWithItsUnknownMembers) {
  json crd =
      Crd({{"type", "object"},
           {"properties",
            {{"spec",
              {{"type", "object"},
               {"properties", {{"name", {{"type", "string"}}}, {"newer", {{"type", "integer"}, {"maximum", 1}}}}}}}}}});
  Unstructured object;
  object.apiVersion = "shop.example/v1";
  object.kind = "Widget";
  object.metadata.name = "a";
  ASSERT_TRUE(object.Set("spec.newer", Json("2")));
  EXPECT_THAT(Lines(Validate(object, SchemaOf(crd)).errors), ElementsAre(HasSubstr("spec.newer: Invalid value: 2")));
}

TEST(SchemaTest, CopiesAreUsedByManyThreads) {
  const Schema schema = SchemaOf(
      Crd({{"type", "object"},
           {"properties",
            {{"spec",
              {{"type", "object"},
               {"properties", {{"a", {{"type", "string"}, {"pattern", "^(a+)+$"}, {"format", "hostname"}}}}}}}}}}));
  const Json bad(Widget({{"a", "b_"}}).dump());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([schema, &bad] {
      for (int j = 0; j < 50; ++j) EXPECT_THAT(schema.Validate(bad).errors, SizeIs(2));
    });
  }
}

}  // namespace
}  // namespace kgen::validation
