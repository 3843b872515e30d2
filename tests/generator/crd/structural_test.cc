// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// +kgen:schema: a part of a schema that the header writes itself.
#include "generator/crd/structural.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/generator/crd/headers.h"

namespace kgen::generator::crd {
namespace {

const Type kAny{.kind = TypeKind::kJson};

std::string Said(const std::string& schema, const Type& type = kAny) {
  Headers headers;
  headers.Crd({headers.Of("a", type, {"+kgen:schema=" + schema})});
  return headers.Said();
}

TEST(SchemaFragments, ReplaceTheSchemaOfTheirPlace) {
  Headers headers;
  const Type raw = headers.Alias(
      "Raw", kAny, {"Any object.", "+kgen:schema={type: object, x-kubernetes-preserve-unknown-fields: true}"});
  const std::string yaml = headers.Crd({headers.Of("a", List(raw), {"+kgen:preserveUnknownFields"}),
                                        headers.Of("b", kAny, {"+kgen:schema={type: integer}", "+nullable"})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml,
                  "            items:\n              description: Any object.\n              type: object\n"
                  "              x-kubernetes-preserve-unknown-fields: true\n"
                  "            type: array\n            x-kubernetes-preserve-unknown-fields: true\n"));
  EXPECT_TRUE(Has(yaml, "          b:\n            nullable: true\n            type: integer\n"));
}

TEST(SchemaFragments, AreStructural) {
  for (const char* schema :
       {"{type: object, properties: {a: {type: array, items: {type: string, pattern: \"^a\"}}}, required: [a]}",
        "{x-kubernetes-int-or-string: true, anyOf: [{type: integer},{type: string}]}",
        "{type: object, additionalProperties: {type: integer, minimum: 1, default: 2}}",
        "{type: string, oneOf: [{pattern: a},{not: {enum: [b]}}]}", "{x-kubernetes-preserve-unknown-fields: true}"})
    EXPECT_EQ(Said(schema), "") << schema;
}

TEST(SchemaFragments, ThatAServerRefusesAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"[a]", "it is no object"},
      {"{}", "the schema has no type"},
      {"{type: strin}", "the schema.type is \"strin\""},
      {"{type: object, $ref: x}", "has \"$ref\", which a CRD may not have"},
      {"{type: object, propertys: {}}", "did you mean properties?"},
      {"{type: object, properties: {a: {}}}", "the schema.properties.a has no type"},
      {"{type: array}", "is an array without items"},
      {"{type: string, items: {type: string}}", "has items, and its type is not array"},
      {"{type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}", "has both properties"},
      {"{type: object, additionalProperties: false}", "the schema.additionalProperties is not an object"},
      {"{type: string, allOf: [{type: string}]}", "has type, which may not be inside of allOf"},
      {"{type: string, maxLength: -1}", "the schema.maxLength is not a number from 0 on"},
      {"{type: string, pattern: \"(\"}", "the schema.pattern: a parenthesis"},
      {"{type: integer, default: a}", "the schema: the default is not of the type integer"},
      {"{type: array, items: {type: object}, x-kubernetes-list-type: map}", "needs both x-kubernetes-list-type map"},
      {"{type: integer, x-kubernetes-int-or-string: true}", "has a type beside x-kubernetes-int-or-string"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: false}", "may only be true"},
      {"{type: string, enum: a}", "the schema.enum is not a list"},
  };
  for (const auto& [schema, fault] : cases) EXPECT_TRUE(Has(Said(schema), fault)) << schema;
}

// What the struct reads must be what the server lets in.
TEST(SchemaFragments, FitTheTypeOfTheirMember) {
  EXPECT_TRUE(
      Has(Said("{type: integer}", {.kind = TypeKind::kString}), "it describes the type integer, and this is a text"));
  EXPECT_TRUE(Has(Said("{x-kubernetes-preserve-unknown-fields: true}", List(kAny)),
                  "it describes any value, and this is a list"));
  EXPECT_EQ(Said("{type: string, maxLength: 3}", {.kind = TypeKind::kString}), "");
  EXPECT_EQ(Said("{type: array, items: {type: string}}", List({.kind = TypeKind::kString})), "");
}

}  // namespace
}  // namespace kgen::generator::crd
