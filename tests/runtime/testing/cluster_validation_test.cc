// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Objects are validated against the schemas of their CRDs. tests/runtime/validation has the checks themselves.
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
              HasSubstr("Gauge.shop.example \"g\" is invalid: [spec.count: Invalid value: 0: spec.count in "
                        "body should be greater than or equal to 1, spec.item: Invalid value: \"A\": "
                        "spec.item in body should match '^[a-z]+$']"));
}

TEST_F(ClusterTest, ACrdWithAPatternThatGoCannotReadIsRefused) {
  const auto crd = [](const char* pattern) {
    const json schema = {{"type", "object"}, {"properties", {{"spec", {{"type", "string"}, {"pattern", pattern}}}}}};
    return json{
        {"metadata", {{"name", "gauges.shop.example"}}},
        {"spec",
         {{"group", "shop.example"},
          {"scope", "Namespaced"},
          {"names", {{"plural", "gauges"}, {"kind", "Gauge"}}},
          {"versions",
           {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
  };
  Post(kCrds, crd("^(?=a)"));
  EXPECT_EQ(last_status_, 422);
  EXPECT_THAT(last_causes_, ElementsAre("spec.versions[0].schema.openAPIV3Schema FieldValueInvalid"));
  EXPECT_THAT(last_error_, HasSubstr("properties[spec].pattern: '^(?=a)' is not a pattern in the syntax of Go"));
  Post(kCrds, crd("^a"));
  EXPECT_EQ(last_status_, 201);
}

TEST_F(ClusterTest, TheMetadataOfACustomResourceIsChecked) {
  Post(kCrds, {{"metadata", {{"name", "gauges.shop.example"}}},
               {"spec",
                {{"group", "shop.example"},
                 {"scope", "Namespaced"},
                 {"names", {{"plural", "gauges"}, {"kind", "Gauge"}}},
                 {"versions",
                  {{{"name", "v1"},
                    {"served", true},
                    {"storage", true},
                    {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}}}}}});
  Post("/apis/shop.example/v1/namespaces/default/gauges", {{"metadata", {{"name", "g"}, {"labels", {{"a", "x y"}}}}}});
  EXPECT_EQ(last_status_, 422);
  EXPECT_THAT(last_causes_, ElementsAre("metadata.labels FieldValueInvalid"));
}

}  // namespace
}  // namespace kgen::testing
