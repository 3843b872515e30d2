// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Markers on named types, on elements of lists and maps, and the markers of Kubernetes' declarative validation.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/generator/crd/headers.h"

namespace kgen::generator::crd {
namespace {

const Type kText{.kind = TypeKind::kString};

TEST(NamedTypes, HaveTheirMarkersWhereverTheyAreNamed) {
  Headers headers;
  const Type name = headers.Alias("Name", kText, {"How it is called.", "+kgen:minLength=1", "+kgen:maxLength=9"});
  const std::string yaml = headers.Crd({headers.Of("a", name), headers.Of("b", List(name), {"Names."}),
                                        headers.Of("c", Map(name)), headers.Of("d", name, {"Own words."})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml, "          a:\n            description: How it is called.\n            maxLength: 9\n"));
  EXPECT_TRUE(Has(yaml,
                  "          b:\n            description: Names.\n            items:\n"
                  "              description: How it is called.\n              maxLength: 9\n"));
  EXPECT_TRUE(Has(yaml,
                  "            additionalProperties:\n              description: How it is called.\n"
                  "              maxLength: 9\n"));
  EXPECT_TRUE(Has(yaml, "          d:\n            description: Own words.\n            maxLength: 9\n"));
}

TEST(NamedTypes, MayBeKeyedListsAndOtherNamedTypes) {
  Headers headers;
  headers.Add("Line", {}, {headers.Of("item", kText, {"+required"})});
  const Type lines = headers.Alias("Lines", List(Object("Line")), {"+listType=map", "+listMapKey=item"});
  const Type twice = headers.Alias("MostLines", lines, {"+kgen:maxItems=3"});
  const std::string yaml = headers.Crd({headers.Of("all", Map(twice))});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml,
                  "              maxItems: 3\n              type: array\n              x-kubernetes-list-map-keys:\n"
                  "              - item\n              x-kubernetes-list-type: map\n"));
}

// As in controller-gen: a limit at the place must not widen the limit of the type.
TEST(NamedTypes, KeepTheirLimitsBesideThoseOfThePlace) {
  Headers headers;
  const Type name = headers.Alias("Name", kText, {"+kgen:maxLength=63", "+kgen:minLength=1"});
  const std::string yaml = headers.Crd({headers.Of("a", name, {"+kgen:maxLength=253", "+kgen:minLength=1"}),
                                        headers.Of("b", List(name), {"+kgen:items:maxLength=9"})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml,
                  "          a:\n            allOf:\n            - maxLength: 253\n            - maxLength: 63\n"
                  "            minLength: 1\n"));
  EXPECT_TRUE(Has(yaml,
                  "            items:\n              allOf:\n              - maxLength: 9\n"
                  "              - maxLength: 63\n"));
}

TEST(NamedTypes, BindDefaultsWithAllTheirLimits) {
  Headers headers;
  const Type name = headers.Alias("Name", kText, {"+kgen:maxLength=3"});
  headers.Crd({headers.Of("a", name, {"+kgen:maxLength=9", "+kgen:default=abcd"})});
  EXPECT_TRUE(Has(headers.Said(), "the default is above maxLength"));
}

TEST(NamedTypes, HaveRulesBeforeThoseOfThePlace) {
  Headers headers;
  const Type name = headers.Alias("Name", kText, {"+kgen:XValidation:rule=\"self != 'a'\""});
  const std::string yaml = headers.Crd({headers.Of("a", name, {"+kgen:XValidation:rule=\"self != 'b'\""})});
  EXPECT_TRUE(Has(yaml, "            - rule: self != 'a'\n            - rule: self != 'b'\n"));
}

TEST(Elements, HaveMarkersAtAnyDepth) {
  Headers headers;
  const std::string yaml =
      headers.Crd({headers.Of("grid", List(List(kText)), {"+kgen:items:items:maxLength=3"}),
                   headers.Of("map", Map(List(kText)), {"+kgen:values:maxItems=2", "+kgen:values:items:pattern=a"}),
                   headers.Of("each", Map(kText), {"+k8s:eachVal=+k8s:maxLength=4"}),
                   headers.Of("all", List(kText), {"+k8s:eachVal=+k8s:minLength=5"})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml, "              items:\n                maxLength: 3\n"));
  EXPECT_TRUE(Has(yaml,
                  "            additionalProperties:\n              items:\n                pattern: a\n"
                  "                type: string\n              maxItems: 2\n"));
  EXPECT_TRUE(Has(yaml, "            additionalProperties:\n              maxLength: 4\n"));
  EXPECT_TRUE(Has(yaml, "            items:\n              minLength: 5\n"));
}

TEST(Elements, OfWhatHasNoneAreErrors) {
  Headers headers;
  headers.Crd({headers.Of("a", kText, {"+kgen:items:maxLength=1"}),
               headers.Of("b", List(kText), {"+kgen:values:maxLength=1"}),
               headers.Of("c", List(kText), {"+kgen:items:items:maxLength=1"}),
               headers.Of("d", kText, {"+k8s:eachVal=+k8s:maxLength=1"})});
  EXPECT_TRUE(Has(headers.Said(), "items: is for the elements of lists, and this is a text"));
  EXPECT_TRUE(Has(headers.Said(), "values: is for the values of maps, and this is a list"));
  EXPECT_TRUE(Has(headers.Said(), "eachVal is for lists and maps, and this is a text"));
}

TEST(DeclarativeValidation, IsMappedToKeywordsAndRules) {
  Headers headers;
  headers.Add(
      "Spec", {},
      {headers.Of("a-b", kText, {"+k8s:immutable"}), headers.Of("c", kText, {"+k8s:immutable", "+k8s:required"})});
  const std::string yaml =
      headers.Crd({headers.Of("spec", Object("Spec")), headers.Of("id", kText, {"+k8s:format=k8s-uuid"})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml, "                - message: field is immutable\n                  rule: self == oldSelf\n"));
  EXPECT_TRUE(Has(yaml,
                  "            x-kubernetes-validations:\n            - message: field a-b is immutable once set\n"
                  "              rule: '!has(oldSelf.a__dash__b) || has(self.a__dash__b)'\n"));
  EXPECT_EQ(yaml.find("field c is immutable once set"), std::string::npos) << "it cannot be removed";
  EXPECT_TRUE(Has(yaml, "            format: uuid\n"));
}

// The rules of the struct Spec with these members.
std::string RulesOfSpec(Headers& headers, std::vector<Member> members) {
  headers.Add("Spec", {}, std::move(members));
  const std::string yaml = headers.Crd({headers.Of("spec", Object("Spec"))});
  const std::size_t at = yaml.find("x-kubernetes-validations");
  return at == std::string::npos ? "" : yaml.substr(at, yaml.find("\n        ", yaml.find("        served", at)) - at);
}

TEST(DeclarativeValidation, OfUnionsAndForbiddenMembersAreRulesOfTheirObject) {
  Headers plain;
  std::string rules =
      RulesOfSpec(plain, {plain.Of("a", kText, {"+k8s:unionMember"}), plain.Of("b-c", kText, {"+k8s:unionMember"}),
                          plain.Of("d", kText, {"+k8s:zeroOrOneOfMember"}),
                          plain.Of("e", kText, {"+k8s:zeroOrOneOfMember"}), plain.Of("f", kText, {"+k8s:forbidden"})});
  EXPECT_EQ(plain.Said(), "");
  EXPECT_TRUE(Has(rules, "rule: (has(self.a)?1:0)+(has(self.b__dash__c)?1:0) == 1\n"));
  EXPECT_TRUE(Has(rules, "message: exactly one of the fields in [a b-c] must be set\n"));
  EXPECT_TRUE(Has(rules, "rule: (has(self.d)?1:0)+(has(self.e)?1:0) <= 1\n"));
  EXPECT_TRUE(Has(rules, "rule: '!has(self.f)'\n"));

  Headers chosen;
  rules = RulesOfSpec(
      chosen, {chosen.Of("type", kText, {"+k8s:unionDiscriminator", "+required"}),
               chosen.Of("configMap", kText, {"+k8s:unionMember"}), chosen.Of("secret", kText, {"+k8s:unionMember"})});
  EXPECT_EQ(chosen.Said(), "");
  EXPECT_TRUE(Has(rules, "rule: (has(self.type) && self.type == 'ConfigMap') == has(self.configMap)\n"));
  EXPECT_TRUE(Has(rules, "message: field secret must be set if type is Secret, and only then\n"));

  Headers wrong;
  RulesOfSpec(wrong,
              {wrong.Of("a", kText, {"+k8s:forbidden", "+required"}), wrong.Of("b", kText, {"+k8s:unionDiscriminator"}),
               wrong.Of("c", kText, {"+k8s:zeroOrOneOfMember", "+required"})});
  EXPECT_TRUE(Has(wrong.Said(), "+k8s:forbidden: the member \"a\" is required"));
  EXPECT_TRUE(Has(wrong.Said(), "+k8s:unionDiscriminator: no member has +k8s:unionMember"));
  EXPECT_TRUE(Has(wrong.Said(), "+k8s:zeroOrOneOfMember: the member \"c\" is required"));
}

TEST(DeclarativeValidation, OfUniqueListsAndKeysIsMapped) {
  Headers headers;
  const std::string yaml = headers.Crd(
      {headers.Of("unique", List(kText), {"+k8s:unique=set"}),
       headers.Of("labels", Map(kText), {"+k8s:eachKey=+k8s:maxLength=63", "+k8s:eachKey=+k8s:minLength=2"})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml, "            x-kubernetes-list-type: set\n"));
  EXPECT_TRUE(Has(yaml, "              rule: self.all(key, key.size() <= 63)\n"));
  EXPECT_TRUE(Has(yaml, "              rule: self.all(key, key.size() >= 2)\n"));
}

TEST(DeclarativeValidation, ThatACrdCannotSayNamesTheWayOut) {
  Headers headers;
  headers.Crd({headers.Of("a", List(kText), {"+k8s:unique=atomic", "+k8s:item(name: \"x\")=+k8s:required"}),
               headers.Of("b", List(kText), {"+k8s:listType=atomic", "+k8s:unique=set"}),
               headers.Of("c", List(kText), {"+k8s:eachKey=+k8s:maxLength=3", "+k8s:subfield(x)=+k8s:required"}),
               headers.Of("d", Map(kText), {"+k8s:eachKey=+kgen:pattern=a", "+k8s:unionMember(union: \"u\")"}),
               headers.Of("e", Map(kText), {"+k8s:eachKey=+kgen:items:maxLength=1"})});
  EXPECT_TRUE(Has(headers.Said(), "a list is unique as a set or as a map"));
  EXPECT_TRUE(Has(headers.Said(), "write a rule on the list"));
  EXPECT_TRUE(Has(headers.Said(), "the marker +k8s:unique has another value at"));
  EXPECT_TRUE(Has(headers.Said(), "eachKey is for maps, and this is a list"));
  EXPECT_TRUE(Has(headers.Said(), "write the inner marker above that member of the struct"));
  EXPECT_TRUE(Has(headers.Said(), "of keys, a CRD knows minLength and maxLength"));
  EXPECT_TRUE(Has(headers.Said(), "write +kgen:exactlyOneOf=a;b above the struct for each"));
  EXPECT_TRUE(Has(headers.Said(), "keys have no elements"));
}

TEST(MembersOfOneObject, ExcludeOrNeedEachOther) {
  Headers headers;
  headers.Add("Spec", {"+kgen:exactlyOneOf=a;b", "+kgen:atMostOneOf=a;c", "+kgen:atLeastOneOf=b;c"},
              {headers.Of("a", kText), headers.Of("b", kText), headers.Of("c", kText)});
  const std::string yaml = headers.Crd({headers.Of("spec", Object("Spec"))});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml,
                  "            - message: at most one of the fields in [a c] may be set\n"
                  "              rule: (has(self.a)?1:0)+(has(self.c)?1:0) <= 1\n"
                  "            - message: exactly one of the fields in [a b] must be set\n"
                  "              rule: (has(self.a)?1:0)+(has(self.b)?1:0) == 1\n"
                  "            - message: at least one of the fields in [b c] must be set\n"
                  "              rule: has(self.b)||has(self.c)\n"));
  Headers wrong;
  wrong.Add("Spec", {"+kgen:exactlyOneOf=a;d"}, {wrong.Of("a", kText, {"+required"})});
  wrong.Crd({wrong.Of("spec", Object("Spec"))});
  EXPECT_TRUE(Has(wrong.Said(), "the member \"a\" is required"));
  EXPECT_TRUE(Has(wrong.Said(), "\"Spec\" has no member \"d\""));
}

TEST(Formats, MayBeNoneAndAreThoseOfAServer) {
  Headers headers;
  const std::string yaml = headers.Crd({headers.Of("plain", {.kind = TypeKind::kInt64}, {"+kgen:format=\"\""}),
                                        headers.Of("upper", kText, {"+kubebuilder:validation:Format=UUID"})});
  EXPECT_TRUE(Has(yaml, "          plain:\n            type: integer\n")) << "Go's int";
  EXPECT_TRUE(Has(yaml, "            format: UUID\n")) << "as controller-gen writes it";
  EXPECT_TRUE(Has(headers.Said(), "warning: +kubebuilder:validation:Format: a server ignores the format \"UUID\""));
}

TEST(Kinds, TakeTheirGroupAndVersionFromTheNamespace) {
  Headers headers;
  headers.description().namespaces["acme::shop"] = {
      .comment = {.text = {}, .markers = {{"+groupName=shop.example.com", {}}}}};
  headers.description().namespaces["acme::shop::v1"] = {.comment = {.text = {}, .markers = {{"+versionName=v1", {}}}}};
  headers.Add("Order", {"+kgen:resource"}, {headers.Of("metadata", {.kind = TypeKind::kObjectMeta})});
  EXPECT_TRUE(Has(headers.Yaml(), "  name: orders.shop.example.com\n"));
  EXPECT_EQ(headers.Said(), "");
}

TEST(Kinds, AreWrittenAsControllerGenDoes) {
  Headers headers;
  headers.Add(
      "Order",
      {"+kgen:resource:group=shop.example.com,version=v1,shortName=z;a,categories=c;b",
       "+kgen:printcolumn:name=A,type=string,jsonPath=.wait,priority=0", "+kgen:selectablefield:jsonPath=.wait"},
      {headers.Of("metadata", {.kind = TypeKind::kObjectMeta}), headers.Of("wait", {.kind = TypeKind::kDuration})});
  const std::string yaml = headers.Yaml();
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml, "    categories:\n    - c\n    - b\n"));
  EXPECT_TRUE(Has(yaml, "    shortNames:\n    - z\n    - a\n"));
  EXPECT_EQ(yaml.find("priority"), std::string::npos);
  EXPECT_TRUE(Has(yaml, "    selectableFields:\n    - jsonPath: .wait\n"));
}

}  // namespace
}  // namespace kgen::generator::crd
