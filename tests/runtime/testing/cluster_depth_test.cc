// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bodies that nest deeply are refused, whatever they are for: the server walks what it stores by recursion.
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kDeep = 100'000;
constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kOne[] = "/api/v1/namespaces/default/configmaps/a";

std::string Nested(int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += R"({"x":)";
  return text + "1" + std::string(static_cast<std::size_t>(levels), '}');
}

std::string ConfigMap(int levels) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"more":)" + Nested(levels) + "}";
}

class ClusterDepthTest : public ClusterTest {
 protected:
  std::string Refusal(std::string method, std::string path, std::string body, std::string type = "application/json") {
    ApiRequest request{.method = std::move(method), .path = std::move(path), .what = "test"};
    if (type.starts_with("application/apply")) request.query = "fieldManager=me";
    request.content_type = std::move(type);
    request.body = std::move(body);
    const auto answer = connection_.Call(std::move(request));
    return answer ? "it was accepted" : answer.error().ToString();
  }
};

TEST_F(ClusterDepthTest, RefusesDeepBodiesOfEveryWrite) {
  EXPECT_THAT(Refusal("POST", kConfigMaps, ConfigMap(kDeep)), HasSubstr("at most 256 levels"));
  EXPECT_THAT(Refusal("POST", kConfigMaps, ConfigMap(kDeep), "application/yaml"), HasSubstr("is not YAML"));
  ASSERT_TRUE(cluster_.Add(ConfigMap(1)));
  EXPECT_THAT(Refusal("PUT", kOne, ConfigMap(kDeep)), HasSubstr("at most 256 levels"));
  EXPECT_THAT(Refusal("PATCH", kOne, ConfigMap(kDeep), "application/apply-patch+yaml"), HasSubstr("is not YAML"));
  for (const char* type : {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    EXPECT_THAT(Refusal("PATCH", kOne, ConfigMap(kDeep), type), HasSubstr("at most 256 levels"));
  }
  EXPECT_THAT(Refusal("PATCH", kOne, R"([{"op":"add","path":"/more","value":)" + Nested(kDeep) + "}]",
                      "application/json-patch+json"),
              HasSubstr("at most 256 levels"));
  EXPECT_THAT(Refusal("DELETE", kOne, Nested(kDeep)), HasSubstr("is not a DeleteOptions"));
  EXPECT_FALSE(cluster_.Add(ConfigMap(kDeep)));
  EXPECT_FALSE(cluster_.Update(ConfigMap(kDeep)));
}

TEST_F(ClusterDepthTest, TakesADeepBodyWithinTheLimit) {
  ASSERT_TRUE(cluster_.Add(ConfigMap(254)));
  EXPECT_EQ(Refusal("PATCH", kOne, ConfigMap(254), "application/merge-patch+json"), "it was accepted");
}

TEST_F(ClusterDepthTest, RefusesAJsonPatchWhoseStepsBuildADeepObject) {
  ASSERT_TRUE(cluster_.Add(ConfigMap(1)));
  std::string patch = "[";
  std::string path = "/more";
  for (int i = 0; i < 10; ++i) {
    patch += (i == 0 ? "" : ",") + std::string(R"({"op":"add","path":")") + path + R"(","value":)" + Nested(200) + "}";
    for (int level = 0; level < 200; ++level) path += "/x";
  }
  EXPECT_THAT(Refusal("PATCH", kOne, patch + "]", "application/json-patch+json"),
              HasSubstr("nested deeper than 256 levels"));
}

TEST_F(ClusterDepthTest, BoundsTheCopiesAndTheOperationsOfAJsonPatch) {
  ASSERT_TRUE(cluster_.Add(ConfigMap(1)));
  // Each step doubles the object.
  std::string doubling = R"([{"op":"add","path":"/data","value":{"a":")" + std::string(1000, 'x') + "\"}}";
  for (int i = 0; i < 40; ++i) {
    doubling += R"(,{"op":"copy","from":"/data","path":"/data/)" + std::to_string(i) + "\"}";
  }
  EXPECT_THAT(Refusal("PATCH", kOne, doubling + "]", "application/json-patch+json"),
              HasSubstr("the copies of the patch exceed the limit of 3145728 bytes"));
  std::string many = "[";
  for (int i = 0; i < 10'001; ++i) many += i == 0 ? "{}" : ",{}";
  EXPECT_THAT(Refusal("PATCH", kOne, many + "]", "application/json-patch+json"),
              HasSubstr("The allowed maximum operations in a JSON patch is 10000, got 10001"));
}

TEST_F(ClusterDepthTest, RefusesADeepSchema) {
  const std::string crd =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"orders.x.dev"},)"
      R"("spec":{"group":"x.dev","scope":"Namespaced","names":{"kind":"Order","plural":"orders"},"versions":[{)"
      R"("name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)" +
      Nested(kDeep) + "}}]}}";
  EXPECT_THAT(Refusal("POST", kCrds, crd), HasSubstr("at most 256 levels"));
}

TEST_F(ClusterDepthTest, ServesAndDeletesAnObjectThatATestHasCorruptedWithDeepNesting) {
  ASSERT_TRUE(cluster_.Add(ConfigMap(1)));
  ASSERT_TRUE(cluster_.Corrupt("configmaps", "default", "a", ConfigMap(kDeep)));
  EXPECT_EQ(Must(cluster_.Get("configmaps", "default", "a")).size(), ConfigMap(kDeep).size());
  EXPECT_TRUE(cluster_.Delete("configmaps", "default", "a"));
}

}  // namespace
}  // namespace kgen::testing
