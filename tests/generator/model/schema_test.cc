// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The interpretation of schemas of CRDs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/generator/load.h"

namespace kgen::generator {
namespace {

using test::Load;
using test::Loaded;
using test::OrderCrd;
using test::PropertyShape;
using ::testing::HasSubstr;

std::string Of(const std::string& schema) { return PropertyShape("p: " + schema, "p"); }

// Contract: generator TY-01, TY-06.
TEST(SchemaMeaning, DecidesScalarsByTypeAndFormat) {
  const std::pair<const char*, const char*> cases[] = {
      {"{type: boolean}", "boolean"},
      {"{type: integer}", "int64"},
      {"{type: integer, format: int32}", "int32"},
      {"{type: integer, format: int64}", "int64"},
      {"{type: integer, format: uint32, minimum: 0}", "int64"},
      {"{type: number}", "number"},
      {"{type: number, format: float}", "number"},
      {"{type: string}", "string"},
      {"{type: string, format: uuid}", "string"},
      {"{type: string, format: date}", "string"},
      {"{type: string, format: date-time}", "time"},
      {"{type: string, format: datetime}", "time"},
      {"{type: string, format: byte}", "bytes"},
      {"{type: string, format: duration}", "duration"},
  };
  for (const auto& [schema, shape] : cases) EXPECT_EQ(Of(schema), shape) << schema;
}

// Contract: generator CRD-10, TY-07.
TEST(SchemaMeaning, KnowsIntOrStringInAllSpellings) {
  for (const char* schema : {"{x-kubernetes-int-or-string: true}",
                             "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}",
                             "{anyOf: [{type: string}, {type: integer}]}", "{oneOf: [{type: integer}, {type: string}]}",
                             "{allOf: [{anyOf: [{type: integer}, {type: string}]}], x-kubernetes-int-or-string: true}",
                             "{type: string, format: int-or-string}",
                             "{x-kubernetes-int-or-string: true, maxLength: 5, pattern: '^[0-9]+%?$'}"}) {
    EXPECT_EQ(Of(schema), "integer or string") << schema;
  }
  EXPECT_EQ(Of("{type: object, additionalProperties: {x-kubernetes-int-or-string: true}}"), "map(integer or string)");
  EXPECT_EQ(Of("{type: array, items: {x-kubernetes-int-or-string: true}}"), "list(integer or string)");
  EXPECT_EQ(Of("{x-kubernetes-preserve-unknown-fields: true, anyOf: [{type: boolean}, {type: string}]}"), "json");
}

// Contract: generator TY-08.
TEST(SchemaMeaning, TreatsIntOrStringWithTheQuantityPatternAsAQuantity) {
  const std::string schema =
      "{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true, pattern: "
      R"('^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'})";
  EXPECT_EQ(Of(schema), "quantity");
  const Loaded plain = Load({OrderCrd("p: " + schema)}, {.quantity_by_pattern = false});
  EXPECT_EQ(
      plain.api.types[plain.api.FindKind({"shop.example.com", "v1", "Order"})->type].schema.Find("p")->schema->kind,
      model::Kind::kIntOrString);
}

// Contract: generator TY-15.
TEST(SchemaMeaning, NestsContainers) {
  EXPECT_EQ(Of("{type: array, items: {type: array, items: {type: string}}}"), "list(list(string))");
  EXPECT_EQ(Of("{type: object, additionalProperties: {type: array, items: {type: integer}}}"), "map(list(int64))");
  EXPECT_EQ(Of("{type: array, items: {type: object, additionalProperties: {type: boolean}}}"), "list(map(boolean))");
  EXPECT_EQ(Of("{type: object, additionalProperties: {type: object, additionalProperties: {type: object, properties: "
               "{a: {type: string}}}}}"),
            "map(map({a: string}))");
}

// Contract: generator TY-19, TY-23.
TEST(SchemaMeaning, DistinguishesTheFiveShapesOfPreservedObjects) {
  EXPECT_EQ(Of("{x-kubernetes-preserve-unknown-fields: true}"), "json");
  EXPECT_EQ(Of("{type: object, x-kubernetes-preserve-unknown-fields: true}"), "json object");
  EXPECT_EQ(Of("{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}"),
            "{a: string}!");
  EXPECT_EQ(Of("{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: string}}"), "list(string)");
  EXPECT_EQ(Of("{type: object}"), "{}");
  EXPECT_EQ(Of("{type: object, additionalProperties: true}"), "json object");
  EXPECT_EQ(Of("{type: object, properties: null, required: null, enum: []}"), "{}");
}

// Contract: generator CRD-14.
TEST(SchemaMeaning, KeepsEveryObjectOpenWhenTheCrdPreservesAll) {
  std::string crd = OrderCrd("p: {type: object}\nq: {type: object, properties: {a: {type: string}}}");
  crd.replace(crd.find("  scope:"), 0, "  preserveUnknownFields: true\n");
  const Loaded loaded = Load({crd});
  const model::Schema& root = loaded.api.types[loaded.api.FindKind({"shop.example.com", "v1", "Order"})->type].schema;
  EXPECT_TRUE(root.preserve_unknown);
  EXPECT_EQ(test::Shape(loaded.api, *root.Find("p")->schema), "json object");
  EXPECT_EQ(test::Shape(loaded.api, *root.Find("q")->schema), "{a: string}!");
}

// Contract: generator CRD-11, CRD-12.
TEST(SchemaMeaning, GivesEmbeddedResourcesTheirThreeFields) {
  EXPECT_EQ(Of("{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}"),
            "json object");
  EXPECT_EQ(Of("{type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object}, spec: "
               "{type: string}}}"),
            "{apiVersion: string, kind: string, metadata: ->meta.k8s.io/v1 ObjectMeta, spec: string}");
}

// Contract: generator CRD-16.
TEST(SchemaMeaning, LeavesMetadataBelowTheRootAsTheSchemaHasIt) {
  EXPECT_EQ(Of("{type: object, properties: {metadata: {type: object}, spec: {type: string}}}"),
            "{metadata: {}, spec: string}");
}

// Contract: generator CRD-06.
TEST(SchemaMeaning, AlwaysPutsApiVersionKindAndMetadataIntoAKind) {
  const Loaded bare = Load({OrderCrd("spec: {type: string}")});
  const model::NamedType& type = bare.api.types[bare.api.FindKind({"shop.example.com", "v1", "Order"})->type];
  EXPECT_EQ(test::Shape(bare.api, type.schema),
            "{apiVersion: string, kind: string, metadata: ->meta.k8s.io/v1 ObjectMeta, spec: string}");
  const Loaded listed = Load(
      {OrderCrd("metadata: {type: object, properties: {name: {type: string, maxLength: 5}}}\nkind: {type: integer}")});
  const model::NamedType& other = listed.api.types[listed.api.FindKind({"shop.example.com", "v1", "Order"})->type];
  EXPECT_EQ(test::Shape(listed.api, other.schema),
            "{apiVersion: string, kind: string, metadata: ->meta.k8s.io/v1 ObjectMeta}");
  EXPECT_TRUE(listed.api.types[other.schema.Find("metadata")->schema->ref].runtime);
}

// Contract: generator TY-24.
TEST(SchemaMeaning, MarksRequiredAndNullableWithoutChangingTheKind) {
  EXPECT_EQ(Of("{type: object, required: [b], properties: {a: {type: string, nullable: true}, b: {type: integer}}}"),
            "{a: string?, b*: int64}");
  EXPECT_EQ(Of("{type: array, items: {type: string, nullable: true}}"), "list(string?)");
  EXPECT_EQ(Of("{type: [string, \"null\"]}"), "string?");
}

// Contract: generator CRD-26.
TEST(SchemaMeaning, WarnsOfARequiredPropertyThatIsNotDeclared) {
  const Loaded loaded = Load({OrderCrd("p:\n  type: object\n  required: [a, zz]\n  properties: {a: {type: string}}")});
  EXPECT_EQ(loaded.Said(),
            "input.yaml:18:27 warning required-unknown: the required property \"zz\" is not declared | " +
                std::string(test::kOrderPath) + ".p.required[1]\n");
}

// Contract: generator CRD-09.
TEST(SchemaMeaning, NeverTakesMembersFromBranchesOfACrd) {
  EXPECT_EQ(
      Of("{type: object, properties: {a: {type: string}}, oneOf: [{required: [a]}, {properties: {b: {minLength: 1}}}], "
         "not: {required: [c]}}"),
      "{a: string}");
}

// Contract: generator CRD-25, V1B-05.
TEST(SchemaMeaning, InfersAMissingTypeWhereItIsClear) {
  EXPECT_EQ(Of("{properties: {a: {type: string}}}"), "{a: string}");
  EXPECT_EQ(Of("{items: {type: string}}"), "list(string)");
  EXPECT_EQ(Of("{description: anything}"), "json");
  EXPECT_EQ(Of("{type: array}"), "list(json)");
  EXPECT_EQ(Of("{type: array, items: [{type: string}, {type: integer}]}"), "list(json)");
  EXPECT_EQ(Of("{type: array, items: {}}"), "list(json)");
}

// Contract: generator ENUM-01, ENUM-06, ENUM-08.
TEST(SchemaMeaning, CollectsKnownValuesOfEnums) {
  EXPECT_EQ(Of("{type: string, enum: [Always, '', 'a|b', Always]}"), "string of Always||a|b");
  EXPECT_EQ(Of("{type: integer, format: int32, enum: [301, -5]}"), "int32 of 301|-5");
  EXPECT_EQ(Of("{type: string, nullable: true, enum: [null, a]}"), "string? of a");
  EXPECT_EQ(Of("{type: string, enum: [null, a]}"), "string? of a");
  EXPECT_EQ(Of("{type: string, nullable: true, allOf: [{minLength: 1}, {enum: [a, b]}]}"), "string? of a|b");
  EXPECT_EQ(Of("{type: string, enum: [a], allOf: [{enum: [a, b]}]}"), "string of a");
  EXPECT_EQ(Of("{x-kubernetes-int-or-string: true, enum: [1, a]}"), "integer or string");
  EXPECT_EQ(Of("{type: array, items: {type: string, enum: [a, b]}}"), "list(string of a|b)");
}

// Contract: generator ENUM-10.
TEST(SchemaMeaning, RefusesEnumValuesThatContradictTheType) {
  const Loaded loaded = Load({OrderCrd("p:\n  type: integer\n  enum:\n  - 1\n  - \"2\"\n  - 1.5")});
  const std::string path = std::string(test::kOrderPath) + ".p.enum";
  EXPECT_EQ(loaded.Said(),
            "input.yaml:20:15 error enum-type: the enum of an integer holds the string \"2\" | " + path +
                "[1]\ninput.yaml:21:15 error enum-type: the enum of an integer holds the number \"1.5\" | " + path +
                "[2]\n");
}

// Contract: generator IN-10.
TEST(SchemaMeaning, WarnsOfUnquotedBooleansInAnEnumOfStrings) {
  const Loaded loaded = Load({OrderCrd("p:\n  type: string\n  enum: [on, auto, \"off\"]")});
  EXPECT_THAT(loaded.Said(),
              HasSubstr("input.yaml:18:20 warning yaml-boolean: the value on of a string's enum is a boolean"));
  const model::ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  EXPECT_EQ(test::Shape(loaded.api, *loaded.api.types[kind->type].schema.Find("p")->schema), "string of auto|off");
}

// Contract: generator IN-11.
TEST(SchemaMeaning, UsesTheSourceTextOfUnquotedPropertyNames) {
  const Loaded loaded = Load({OrderCrd("p:\n  type: object\n  required: [on]\n  properties:\n    on: {type: string}")});
  EXPECT_FALSE(loaded.diagnostics.has_errors());
  EXPECT_THAT(loaded.Said(), HasSubstr("input.yaml:20:15 warning yaml-key: the property name on is a string here"));
  const model::ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  EXPECT_EQ(test::Shape(loaded.api, *loaded.api.types[kind->type].schema.Find("p")->schema), "{on*: string}");
}

// A default must name the properties as their schema does.
TEST(SchemaMeaning, UsesTheSourceTextOfTheKeysOfADefault) {
  const Loaded loaded =
      Load({OrderCrd("p:\n  type: object\n  default: {on: [{1.50: x}], null: z}\n"
                     "  properties:\n    \"on\": {x-kubernetes-preserve-unknown-fields: true}")});
  EXPECT_FALSE(loaded.diagnostics.has_errors());
  EXPECT_THAT(loaded.Said(), HasSubstr("yaml-key: the key on is a string here, but kubectl reads it as \"true\""));
  EXPECT_THAT(loaded.Said(), HasSubstr("yaml-key: the key 1.50 is a string here, but kubectl reads it as \"1.5\""));
  EXPECT_THAT(loaded.Said(), HasSubstr("yaml-key: the key null is a string here, but kubectl refuses it"));
  ASSERT_EQ(loaded.api.manifests.size(), 1u);
  EXPECT_THAT(loaded.api.manifests[0].json, HasSubstr(R"("default":{"on":[{"1.50":"x"}],"null":"z"})"));
}

TEST(SchemaMeaning, TreatsASchemaWithoutTypeAsAnyJsonWhereAnotherTypeIsAllowed) {
  const std::pair<const char*, const char*> cases[] = {
      // The type that the other keywords suggest, unless something contradicts it.
      {"{items: {type: string}}", "list(string)"},
      {"{properties: {a: {type: string}}}", "{a: string}"},
      {"{additionalProperties: {type: string}}", "map(string)"},
      {"{items: {type: string}, oneOf: [{minItems: 1}, {type: array}]}", "list(string)"},
      {"{items: {type: string}, default: [], enum: [[], [a], null]}", "list(string)"},
      {"{properties: {a: {type: string}}, oneOf: [{required: [a]}, {type: object}]}", "{a: string}"},
      {"{properties: {a: {type: string}}, not: {type: string}}", "{a: string}"},
      {"{additionalProperties: {type: string}, nullable: true}", "map(string)?"},
      // Something does.
      {"{items: {type: string}, oneOf: [{type: string}, {type: array}]}", "json"},
      {"{items: {type: string}, anyOf: [{type: array}, {type: string}]}", "json"},
      {"{items: {type: string}, allOf: [{oneOf: [{type: array}, {type: string}]}]}", "json"},
      {"{items: {type: string}, anyOf: [{x-kubernetes-int-or-string: true}, {type: array}]}", "json"},
      {"{items: {type: string}, enum: [all, [a]]}", "json"},
      {"{items: {type: string}, default: all}", "json"},
      {"{items: {type: string}, properties: {a: {type: string}}}", "json"},
      {"{properties: {a: {type: string}}, oneOf: [{type: string}, {required: [a]}]}", "json"},
      {"{properties: {a: {type: string}}, anyOf: [{type: object}, {type: boolean}]}", "json"},
      {"{additionalProperties: {type: string}, oneOf: [{type: object}, {type: array}]}", "json"},
      {"{oneOf: [{type: string}, {type: array}]}", "json"},
      // A type decides, and so does int-or-string.
      {"{type: array, items: {type: string}, oneOf: [{type: string}, {type: array}]}", "list(string)"},
      {"{type: object, properties: {a: {type: string}}, anyOf: [{type: string}, {type: object}]}", "{a: string}"},
      {"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", "integer or string"},
  };
  for (const auto& [schema, shape] : cases) EXPECT_EQ(Of(schema), shape) << schema;
  EXPECT_EQ(Of("{type: array, items: {items: {type: string}, oneOf: [{type: string}, {type: array}]}}"), "list(json)");
}

TEST(SchemaMeaning, WarnsWhichTypeAFieldWithoutOneGets) {
  const std::pair<const char*, const char*> cases[] = {
      {"{description: x}", "the schema has no type; it is read as any JSON"},
      {"{items: {type: string}, oneOf: [{type: string}, {type: array}]}", "it is read as any JSON"},
      {"{items: {type: string}}", "it is read as list of string"},
      {"{additionalProperties: {type: array, items: {type: integer}}}", "it is read as map of list of 64-bit integer"},
      {"{properties: {a: {type: string}}}", "it is read as object"},
  };
  for (const auto& [schema, text] : cases) {
    EXPECT_THAT(Load({OrderCrd(std::string("p: ") + schema)}).Said(), HasSubstr(text)) << schema;
  }
}

// Contract: generator CRD-30, IN-23.
TEST(SchemaMeaning, RecognisesKeywordsByPositionOnly) {
  EXPECT_EQ(Of("{type: object, properties: {$ref: {type: string}, items: {type: string}, properties: {type: object}, "
               "x-kubernetes-int-or-string: {type: boolean}, type: {type: string}, enum: {type: array, items: {type: "
               "string}}}}"),
            "{$ref: string, enum: list(string), items: string, properties: {}, type: string, "
            "x-kubernetes-int-or-string: boolean}");
}

// Contract: generator CRD-08.
TEST(SchemaMeaning, RefusesReferencesInACrd) {
  EXPECT_THAT(Of("{$ref: '#/definitions/x'}"), HasSubstr("error crd-structural: a CRD's schema must not use $ref"));
  EXPECT_THAT(Of("{$ref: 'http://x/y'}"),
              HasSubstr("error reference-form: the reference \"http://x/y\" points outside of this document"));
}

// Contract: generator CRD-08.
TEST(SchemaMeaning, WarnsOfBrokenStructuralRules) {
  const std::pair<const char*, const char*> cases[] = {
      {"p: {description: x}", "the schema has no type"},
      {"p: {type: array}", "an array without items"},
      {"p: {type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}",
       "cannot both be set"},
      {"p: {type: array, items: {type: string}, uniqueItems: true}", "uniqueItems"},
      {"p: {type: object, x-kubernetes-preserve-unknown-fields: false}", "must be true or absent"},
      {"p: {type: string, x-kubernetes-embedded-resource: true}", "x-kubernetes-embedded-resource needs"},
      {"p: {x-kubernetes-int-or-string: true, x-kubernetes-preserve-unknown-fields: true}", "excludes other"},
  };
  for (const auto& [property, text] : cases) {
    const Loaded loaded = Load({OrderCrd(property)});
    EXPECT_THAT(loaded.Said(), HasSubstr("input.yaml:16:14 warning crd-structural: ")) << property;
    EXPECT_THAT(loaded.Said(), HasSubstr(text));
    EXPECT_FALSE(loaded.diagnostics.has_errors());
  }
}

TEST(SchemaMeaning, KeepsDescriptionsDefaultsFacetsAndRules) {
  const Loaded loaded = Load({OrderCrd(
      "p:\n  type: object\n  description: |\n    First.  \n\n    Second.\n"
      "  default: {b: 1, a: [x]}\n  properties:\n    q:\n      type: string\n      minLength: 1\n      pattern: "
      "'^\\w\"$'\n"
      "  x-kubernetes-validations:\n  - {rule: 'self.q != \"*/\"', message: none}")});
  ASSERT_EQ(loaded.Said(), "");
  const model::ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  const model::Field& field = *loaded.api.types[kind->type].schema.Find("p");
  EXPECT_THAT(field.description, ::testing::ElementsAre("First.", "", "Second."));
  EXPECT_EQ(field.schema->default_json, R"({"a":["x"],"b":1})");
  ASSERT_EQ(field.schema->validations.size(), 1u);
  EXPECT_EQ(field.schema->validations[0].rule, "self.q != \"*/\"");
  const model::Schema& q = *field.schema->Find("q")->schema;
  ASSERT_NE(q.facets, nullptr);
  EXPECT_EQ(q.facets->min_length, "1");
  EXPECT_EQ(q.facets->pattern, "^\\w\"$");
  EXPECT_EQ(field.origin.line, 16u);
  EXPECT_EQ(field.origin.column, 11u);
}

// Contract: generator ERR-12.
TEST(SchemaMeaning, ReportsKeysOfTheWrongKindAtTheirPosition) {
  const Loaded loaded = Load(
      {OrderCrd("p:\n  type: object\n  properties: []\n  required: name\n  enum: {}\n  nullable: maybe\n  type2: x")});
  const std::string path = std::string(" | ") + test::kOrderPath + ".p.";
  EXPECT_EQ(loaded.Said(),
            "input.yaml:18:25 error wrong-kind: expected a map, found a list" + path +
                "properties\ninput.yaml:19:23 error wrong-kind: expected a list, found a string \"name\"" + path +
                "required\ninput.yaml:20:19 error wrong-kind: expected a list, found a map" + path +
                "enum\ninput.yaml:21:23 error wrong-kind: expected a boolean, found a string \"maybe\"" + path +
                "nullable\n");
}

TEST(SchemaMeaning, SuggestsTheTypeThatWasMeant) {
  const Loaded loaded = Load({OrderCrd("p: {type: strin}")});
  ASSERT_EQ(loaded.diagnostics.error_count(), 1u);
  EXPECT_EQ(loaded.diagnostics.Sorted().back().hint, "did you mean \"string\"?");
}

// Contract: generator ENUM-06.
TEST(SchemaMeaning, LeavesOutIntegersThatNoTypeHolds) {
  const Loaded loaded =
      Load({OrderCrd("p: {type: integer, enum: [9223372036854775807, 9999999999999999999, -9223372036854775808]}")});
  EXPECT_EQ(loaded.Said(),
            "input.yaml:16:58 warning enum-range: the value \"9999999999999999999\" does not fit into 64 "
            "bits; it gets no constant | " +
                std::string(test::kOrderPath) + ".p.enum[1]\n");
  const model::ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  EXPECT_EQ(test::Shape(loaded.api, *loaded.api.types[kind->type].schema.Find("p")->schema),
            "int64 of 9223372036854775807|-9223372036854775808");
}

}  // namespace
}  // namespace kgen::generator
