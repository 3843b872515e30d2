// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What is wrong with values and objects, as lines "field: message".
#ifndef KGEN_TESTS_RUNTIME_VALIDATION_FAULTS_H_
#define KGEN_TESTS_RUNTIME_VALIDATION_FAULTS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kgen/core/field_errors.h"
#include "kgen/validation/validate.h"
#include "validation/node.h"
#include "validation/structure_check.h"
#include "validation/value_check.h"

namespace kgen::validation {

using nlohmann::json;

inline std::vector<std::string> Lines(const FieldErrors& errors) {
  std::vector<std::string> lines;
  for (const FieldError& error : errors) lines.push_back(error.ToString());
  return lines;
}

// What is wrong with the value of a member "f" that has the schema. The value is not completed before.
inline std::vector<std::string> Faults(const json& schema, const json& value) {
  const auto node = Compile({{"type", "object"}, {"properties", {{"f", schema}}}}, "schema");
  if (!node) return {node.error().ToString()};
  const json object = {{"f", value}};
  FieldErrors errors;
  CheckValue(object, **node, "", errors);
  CheckEmbedded(object, **node, "", errors);
  CheckLists(object, **node, "", errors);
  return Lines(errors);
}

// A CRD of widgets.shop.example with that schema for v1, and what else a version has.
inline json Crd(const json& schema, const json& more = json::object()) {
  json version = {{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}};
  version.update(more);
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "widgets.shop.example"}}},
          {"spec",
           {{"group", "shop.example"},
            {"scope", "Namespaced"},
            {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
            {"versions", json::array({version})}}}};
}

inline Schema SchemaOf(const json& crd) {
  auto schema = Schema::FromCrd(crd.dump(), "v1");
  EXPECT_TRUE(schema) << schema.error();
  return *std::move(schema);
}

// A Widget with that spec.
inline json Widget(const json& spec) {
  return {{"apiVersion", "shop.example/v1"}, {"kind", "Widget"}, {"metadata", {{"name", "a"}}}, {"spec", spec}};
}

// What is wrong with the object.
inline std::vector<std::string> FaultsOf(const json& crd, const json& object) {
  return Lines(SchemaOf(crd).Validate(Json(object.dump())).errors);
}

}  // namespace kgen::validation

#endif  // KGEN_TESTS_RUNTIME_VALIDATION_FAULTS_H_
