// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The scale subresource of the in-memory server, request by request. A kube-apiserver 1.36 gives the expected
// responses.
#include "kgen/testing/matchers.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDeployments[] = "/apis/apps/v1/namespaces/default/deployments";
constexpr char kRings[] = "/apis/ring.example/v1/namespaces/default/rings";

class ScaleTest : public ClusterTest {
 protected:
  json PostDeployment() {
    json deployment = json::parse(MinimalObject("apps/v1", "Deployment", "default", "web").json());
    deployment["spec"] = {{"replicas", 1}, {"selector", {{"matchLabels", {{"app", "web"}}}}}};
    return Post(kDeployments, deployment);
  }
  // v1 can be scaled, v2 cannot.
  void PostRing(const json& spec, const json& status = {}) {
    Post(kCrds, json::parse(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
      "metadata": {"name": "rings.ring.example"}, "spec": {"group": "ring.example", "scope": "Namespaced",
      "names": {"plural": "rings", "kind": "Ring"}, "versions": [
        {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}, "scale": {
          "specReplicasPath": ".spec.shards", "statusReplicasPath": ".status.sizes.now", "labelSelectorPath": ".spec.labels"}},
          "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}},
        {"name": "v2", "served": true, "storage": false,
          "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})"));
    json ring = {{"apiVersion", "ring.example/v1"}, {"kind", "Ring"}, {"metadata", {{"name", "a"}}}, {"spec", spec}};
    if (!status.is_null()) ring["status"] = status;
    ring["metadata"]["namespace"] = "default";
    Must(cluster_.Add(ring.dump()));
  }
  static json ScaleTo(std::string_view name, const json& replicas) {
    return {{"apiVersion", "autoscaling/v1"},
            {"kind", "Scale"},
            {"metadata", {{"name", name}}},
            {"spec", {{"replicas", replicas}}}};
  }
};

// Contract: generator OP-13.
TEST_F(ScaleTest, OfAWorkloadReadsAndWritesItsReplicas) {
  const json before = PostDeployment();
  json scale = Get(std::string(kDeployments) + "/web/scale");
  json expected = ScaleTo("web", 1);
  for (const char* key : {"namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    expected["metadata"][key] = before["metadata"][key];
  }
  expected["status"] = {{"replicas", 0}, {"selector", "app=web"}};
  EXPECT_EQ(scale, expected);
  scale["spec"]["replicas"] = 3;
  const json scaled = Put(std::string(kDeployments) + "/web/scale", scale);
  EXPECT_EQ(scaled["spec"]["replicas"], 3);
  const json after = Get(std::string(kDeployments) + "/web");
  EXPECT_EQ(after["spec"]["replicas"], 3);
  EXPECT_EQ(after["metadata"]["generation"], 2);
  EXPECT_EQ(after["metadata"]["resourceVersion"], scaled["metadata"]["resourceVersion"]);
  EXPECT_THAT(cluster_.Writes(),
              HasActions({"create deployments default/web", "update deployments/scale default/web"}));
}

// Contract: generator OP-13.
TEST_F(ScaleTest, ExistsForTheFourScalableWorkloads) {
  for (const auto& [api_version, kind, path] :
       {std::tuple("v1", "ReplicationController", "/api/v1/namespaces/default/replicationcontrollers"),
        std::tuple("apps/v1", "Deployment", kDeployments),
        std::tuple("apps/v1", "ReplicaSet", "/apis/apps/v1/namespaces/default/replicasets"),
        std::tuple("apps/v1", "StatefulSet", "/apis/apps/v1/namespaces/default/statefulsets")}) {
    json object = json::parse(MinimalObject(api_version, kind, "default", "a").json());
    object["spec"]["replicas"] = 2;
    object["status"]["replicas"] = 1;
    Must(cluster_.Add(object.dump()));
    const json scale = Get(std::string(path) + "/a/scale");
    EXPECT_EQ(scale["spec"]["replicas"], 2) << kind;
    EXPECT_EQ(scale["status"]["replicas"], 1) << kind;
  }
}

TEST_F(ScaleTest, DoesNotExistForOtherResources) {
  Post(kPods, Pod("a"));
  Get(std::string(kPods) + "/a/scale");
  EXPECT_EQ(last_status_, 404);
  Put("/apis/apps/v1/namespaces/default/daemonsets/a/scale", ScaleTo("a", 1));
  EXPECT_EQ(last_status_, 404);
  Get(std::string(kDeployments) + "/none/scale");
  EXPECT_THAT(last_error_, HasSubstr("deployments.apps \"none\" not found"));
  Put(std::string(kDeployments) + "/none/scale", ScaleTo("none", 1));
  EXPECT_THAT(last_error_, HasSubstr("deployments.apps \"none\" not found"));
  PostDeployment();
  Post(std::string(kDeployments) + "/web/scale", ScaleTo("web", 1));
  EXPECT_EQ(last_status_, 405);
  Delete(std::string(kDeployments) + "/web/scale");
  EXPECT_EQ(last_status_, 405);
}

TEST_F(ScaleTest, IsRefusedWhenTheObjectHasChangedSince) {
  PostDeployment();
  const std::string path = std::string(kDeployments) + "/web/scale";
  json stale = Get(path);
  Put(path, ScaleTo("web", 2));  // without a version: the write wins
  EXPECT_EQ(last_status_, 200);
  stale["spec"]["replicas"] = 3;
  Put(path, stale);
  EXPECT_EQ(last_code_, Code::kConflict);
  EXPECT_THAT(last_error_, HasSubstr("the object has been modified"));
  json foreign = ScaleTo("web", 3);
  foreign["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111";
  Put(path, foreign);
  EXPECT_EQ(last_code_, Code::kConflict);
  EXPECT_EQ(Get(path)["spec"]["replicas"], 2);
}

TEST_F(ScaleTest, IsRefusedWhenItIsNotAScaleOfTheObject) {
  PostDeployment();
  const std::string path = std::string(kDeployments) + "/web/scale";
  const auto refused = [&](const json& scale) {
    Put(path, scale);
    return last_status_;
  };
  EXPECT_EQ(refused(ScaleTo("other", 1)), 400);
  EXPECT_EQ(refused(ScaleTo("", 1)), 400);
  EXPECT_EQ(refused(ScaleTo("web", "1")), 400);
  EXPECT_EQ(refused(ScaleTo("web", 3'000'000'000)), 400);
  json scale = ScaleTo("web", 1);
  scale["metadata"]["namespace"] = "other";
  EXPECT_EQ(refused(scale), 400);
  scale = ScaleTo("web", 1);
  scale["kind"] = "Deployment";
  EXPECT_EQ(refused(scale), 400);
  EXPECT_EQ(refused(ScaleTo("web", -1)), 422);
  EXPECT_THAT(last_error_, HasSubstr("Scale.autoscaling \"web\" is invalid: spec.replicas"));
  EXPECT_EQ(Get(path)["spec"]["replicas"], 1);
}

TEST_F(ScaleTest, OmitsZeroDesiredReplicas) {
  PostDeployment();
  json scale = ScaleTo("web", 0);
  scale.erase("spec");
  EXPECT_EQ(Put(std::string(kDeployments) + "/web/scale", scale)["spec"], json::object());
  EXPECT_EQ(Get(std::string(kDeployments) + "/web")["spec"]["replicas"], 0);
}

TEST_F(ScaleTest, IsPatched) {
  PostDeployment();
  const std::string path = std::string(kDeployments) + "/web/scale";
  Send("PATCH", path, "", {{"spec", {{"replicas", 5}}}}, "application/merge-patch+json");
  EXPECT_EQ(Get(std::string(kDeployments) + "/web")["spec"]["replicas"], 5);
  const json patch = {{{"op", "replace"}, {"path", "/spec/replicas"}, {"value", 6}}};
  EXPECT_EQ(Send("PATCH", path, "", patch, "application/json-patch+json")["spec"]["replicas"], 6);
}

TEST_F(ScaleTest, GivesSelectorsAsText) {
  const auto selector_of = [&](const char* name, const char* kind, const char* path, const json& selector) {
    json object = json::parse(MinimalObject(kind[0] == 'D' ? "apps/v1" : "v1", kind, "default", name).json());
    object["spec"]["selector"] = selector;
    Must(cluster_.Add(object.dump()));
    return Get(std::string(path) + "/" + name + "/scale")["status"].value("selector", "none");
  };
  EXPECT_EQ(selector_of("a", "Deployment", kDeployments,
                        json::parse(R"({"matchLabels": {"b": "c", "app": "web"}, "matchExpressions": [
                          {"key": "tier", "operator": "In", "values": ["z", "a"]}, {"key": "x", "operator": "Exists"},
                          {"key": "l", "operator": "DoesNotExist"}, {"key": "m", "operator": "NotIn", "values": ["q"]}]})")),
            "app=web,b=c,!l,m notin (q),tier in (a,z),x");
  EXPECT_EQ(selector_of("b", "Deployment", kDeployments, json::object()), "none");
  EXPECT_EQ(selector_of("c", "ReplicationController", "/api/v1/namespaces/default/replicationcontrollers",
                        {{"b", "c"}, {"app", "web"}}),
            "app=web,b=c");
}

// Contract: generator CRD-20.
TEST_F(ScaleTest, OfACustomResourceUsesThePathsOfItsVersion) {
  PostRing({{"shards", 2}, {"labels", "app=ring"}}, {{"sizes", {{"now", 1}}}});
  json scale = Get(std::string(kRings) + "/a/scale");
  EXPECT_EQ(scale["spec"]["replicas"], 2);
  EXPECT_EQ(scale["status"], (json{{"replicas", 1}, {"selector", "app=ring"}}));
  scale["spec"]["replicas"] = 4;
  scale["status"]["replicas"] = 9;
  EXPECT_EQ(Put(std::string(kRings) + "/a/scale", scale)["status"]["replicas"], 1);
  const json ring = Get(std::string(kRings) + "/a");
  EXPECT_EQ(ring["spec"], (json{{"shards", 4}, {"labels", "app=ring"}}));
  EXPECT_EQ(ring["status"]["sizes"]["now"], 1);
  EXPECT_EQ(ring["kind"], "Ring");
  Put(std::string(kRings) + "/a/scale", ScaleTo("a", -1));
  EXPECT_THAT(last_causes_, ElementsAre(".spec.shards FieldValueInvalid"));
  Get("/apis/ring.example/v2/namespaces/default/rings/a");
  EXPECT_EQ(last_status_, 200);
  Get("/apis/ring.example/v2/namespaces/default/rings/a/scale");
  EXPECT_EQ(last_status_, 404);
  EXPECT_THAT(Get("/apis/ring.example/v1").dump(), HasSubstr("rings/scale"));
  EXPECT_THAT(Get("/apis/ring.example/v2").dump(), Not(HasSubstr("rings/scale")));
}

TEST_F(ScaleTest, OfACustomResourceWithoutANumberCanOnlyBeWritten) {
  PostRing(json::object());
  Get(std::string(kRings) + "/a/scale");
  EXPECT_EQ(last_status_, 500);
  EXPECT_THAT(last_error_, HasSubstr("the spec replicas field \".spec.shards\" does not exist"));
  EXPECT_EQ(Put(std::string(kRings) + "/a/scale", ScaleTo("a", 3))["spec"]["replicas"], 3);
  EXPECT_EQ(Get(std::string(kRings) + "/a")["spec"]["shards"], 3);
}

TEST_F(ScaleTest, SurvivesAnObjectWithoutTheField) {
  PostRing(json::object());
  Must(cluster_.Corrupt("rings", "default", "a",
                        R"({"metadata":{"name":"a","namespace":"default"},"spec":{"shards":"many"}})"));
  EXPECT_EQ(Get(std::string(kRings) + "/a/scale")["spec"], json::object());
  Must(cluster_.Corrupt("rings", "default", "a", R"({"metadata":{"name":"a","namespace":"default"},"spec":7})"));
  Put(std::string(kRings) + "/a/scale", ScaleTo("a", 3));
  EXPECT_EQ(last_status_, 400);
  Must(cluster_.Corrupt("rings", "default", "a", "no JSON"));
  Put(std::string(kRings) + "/a/scale", ScaleTo("a", 3));
  EXPECT_EQ(last_status_, 400);
  Get(std::string(kRings) + "/a/scale");
  EXPECT_EQ(last_status_, 500);
}

}  // namespace
}  // namespace kgen::testing
