// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What objects lose between the versions of a CRD.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/generator/load.h"

namespace kgen::generator {
namespace {

using test::Load;
using ::testing::HasSubstr;

struct VersionText {
  std::string_view name, schema;  // the schema of the kind, in flow style
  std::string_view more = "served: true, storage: false";
};

// A CRD of Orders. `conversion` is a line of its spec, or empty.
std::string Orders(const std::vector<VersionText>& versions, std::string_view conversion = "") {
  std::string out =
      "apiVersion: apiextensions.k8s.io/v1\n"
      "kind: CustomResourceDefinition\n"
      "metadata: {name: orders.shop.example.com}\n"
      "spec:\n"
      "  group: shop.example.com\n"
      "  scope: Namespaced\n"
      "  names: {kind: Order, plural: orders}\n";
  if (!conversion.empty()) out.append("  ").append(conversion).append("\n");
  out += "  versions:\n";
  for (const VersionText& version : versions) {
    out.append("  - {name: ").append(version.name).append(", ").append(version.more);
    out.append(", schema: {openAPIV3Schema: ").append(version.schema).append("}}\n");
  }
  return out;
}

std::string Spec(std::string_view properties, std::string_view more = "") {
  return "{type: object, properties: {spec: {type: object, " + std::string(more) + "properties: {" +
         std::string(properties) + "}}}}";
}

constexpr std::string_view kStored = "served: true, storage: true";

TEST(VersionsWithoutConversion, WarnOfTheFieldsThatAnotherVersionLacks) {
  const std::string v1 = Spec("size: {type: string}, both: {type: string}"),
                    v2 = Spec("both: {type: string}, hue: {type: string}");
  EXPECT_EQ(
      Load({Orders({{"v1", v1, kStored}, {"v2", v2}})}).Said(),
      "input.yaml:10:5 warning crd-conversion: objects of \"Order\" lose fields between v1 and v2, because the CRD "
      "has no conversion: v2 lacks spec.size; v1 lacks spec.hue | "
      "spec.versions[1].schema.openAPIV3Schema\n");
  EXPECT_THAT(Load({Orders({{"v1", v1, kStored}, {"v2", v2}}, "conversion: {strategy: None}")}).Said(),
              HasSubstr("v2 lacks spec.size; v1 lacks spec.hue"));
}

TEST(VersionsWithoutConversion, LookIntoListsAndMaps) {
  const std::string v1 = Spec(
      "lines: {type: array, items: {type: object, properties: {sku: {type: string}}}}, "
      "parts: {type: object, additionalProperties: {type: object, properties: {size: {type: string}}}}");
  const std::string v2 = Spec(
      "lines: {type: array, items: {type: object, properties: {id: {type: string}}}}, "
      "parts: {type: object, additionalProperties: {type: object}}");
  EXPECT_THAT(Load({Orders({{"v1", v1, kStored}, {"v2", v2}})}).Said(),
              HasSubstr("v2 lacks spec.lines[].sku, spec.parts[*].size; v1 lacks spec.lines[].id |"));
}

TEST(VersionsWithoutConversion, CompareAMapWithTheFieldsOfAnObject) {
  const std::string v1 = Spec("labels: {type: object, additionalProperties: {type: string}}");
  const std::string v2 = Spec("labels: {type: object, properties: {tier: {type: string}, rank: {type: integer}}}");
  EXPECT_THAT(Load({Orders({{"v1", v1, kStored}, {"v2", v2}})}).Said(),
              HasSubstr("v2 lacks spec.labels[*]; of another JSON type: spec.labels.rank |"));
  EXPECT_THAT(Load({Orders({{"v1", v2, kStored}, {"v2", v1}})}).Said(),
              HasSubstr("v1 lacks spec.labels[*]; of another JSON type: spec.labels.rank |"));
}

TEST(VersionsWithoutConversion, WarnOfTypesThatShareNoValue) {
  const std::string v1 = Spec("a: {type: string}, b: {type: integer}, c: {x-kubernetes-int-or-string: true}");
  const std::string v2 = Spec("a: {type: array, items: {type: string}}, b: {type: number}, c: {type: string}");
  EXPECT_THAT(Load({Orders({{"v1", v1, kStored}, {"v2", v2}})}).Said(),
              HasSubstr("no conversion: of another JSON type: spec.a |"));
}

TEST(VersionsWithoutConversion, NameFiveFieldsAndCountTheRest) {
  std::string many;
  for (char c = 'a'; c < 'h'; ++c) many.append(many.empty() ? "" : ", ").append(1, c).append(": {type: string}");
  EXPECT_THAT(Load({Orders({{"v1", Spec(many), kStored}, {"v2", Spec("")}})}).Said(),
              HasSubstr("v2 lacks spec.a, spec.b, spec.c, spec.d, spec.e and 2 more |"));
}

TEST(VersionsWithoutConversion, WarnOnceForEachPair) {
  const std::string a = Spec("a: {type: string}"), b = Spec("b: {type: string}"), c = Spec("c: {type: string}");
  const test::Loaded loaded = Load({Orders({{"v1", a, kStored}, {"v2", b}, {"v3", c}})});
  EXPECT_EQ(loaded.diagnostics.warning_count(), 3U) << loaded.Said();
}

// What is neither served nor stored has no objects. What is only stored still decides what is kept.
TEST(VersionsWithoutConversion, LookAtTheVersionsThatAreServedOrStored) {
  const std::string a = Spec("a: {type: string}"), b = Spec("b: {type: string}");
  EXPECT_EQ(Load({Orders({{"v1", a, "served: false, storage: false"}, {"v2", b, kStored}})}).Said(), "");
  EXPECT_THAT(Load({Orders({{"v1", a, "served: false, storage: true"}, {"v2", b}})}).Said(),
              HasSubstr("v2 lacks spec.a; v1 lacks spec.b"));
}

TEST(VersionsWithoutConversion, SayNothingWhereUnknownFieldsArePreserved) {
  const std::string v1 = Spec("a: {type: string}");
  const std::string open = Spec("b: {type: string}", "x-kubernetes-preserve-unknown-fields: true, ");
  EXPECT_THAT(Load({Orders({{"v1", v1, kStored}, {"v2", open}})}).Said(), HasSubstr(": v1 lacks spec.b |"));
  const std::string free = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
  EXPECT_EQ(Load({Orders({{"v1", v1, kStored}, {"v2", free}})}).Said(), "");
}

TEST(VersionsWithoutConversion, SayNothingOfDescriptionsAndLimits) {
  const std::string v1 = Spec("a: {type: string, description: old}");
  const std::string v2 = Spec("a: {type: string, maxLength: 3, description: new}");
  EXPECT_EQ(Load({Orders({{"v1", v1, kStored}, {"v2", v2}})}).Said(), "");
}

TEST(VersionsWithAWebhook, AreTheWebhooksConcern) {
  const std::string v1 = Spec("a: {type: string}"), v2 = Spec("b: {type: string}");
  const test::Loaded loaded = Load({Orders({{"v1", v1, kStored}, {"v2", v2}}, "conversion: {strategy: Webhook}")});
  EXPECT_EQ(loaded.Said(), "");
}

}  // namespace
}  // namespace kgen::generator
