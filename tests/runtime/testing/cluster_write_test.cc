// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/testing/matchers.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ClusterTest, GivesACreatedObjectItsMetadata) {
  const json pod = Post(kPods, Pod("a"));
  EXPECT_EQ(last_status_, 201);
  EXPECT_EQ(pod["metadata"]["uid"].get<std::string>().size(), 36u);
  EXPECT_EQ(pod["metadata"]["creationTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(pod["metadata"]["generation"], 1);
  EXPECT_EQ(pod["metadata"]["resourceVersion"], std::to_string(cluster_.resource_version()));
  EXPECT_EQ(Get(std::string(kPods) + "/a"), pod);
}

// Contract: controller 114.
TEST_F(ClusterTest, CountsGenerationsOnlyOfKindsForWhichAServerDoes) {
  const auto generations = [&](const std::string& path, json object, const char* member) {
    object["metadata"]["generation"] = 7;  // the server decides
    object = Post(path, object);
    const int created = object["metadata"].value("generation", 0);
    object[member] = {{"a", "b"}};
    object["metadata"]["generation"] = 7;
    return json::array({created, Put(path + "/a", object)["metadata"].value("generation", 0)});
  };
  const auto object = [](const char* version, const char* kind) {
    return json{{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", "a"}, {"namespace", "default"}}}};
  };
  EXPECT_EQ(generations("/api/v1/namespaces/default/podtemplates", object("v1", "PodTemplate"), "template"),
            json::array({1, 2}));
  EXPECT_EQ(generations("/api/v1/namespaces/default/configmaps", object("v1", "ConfigMap"), "data"),
            json::array({0, 0}));
  EXPECT_EQ(generations("/api/v1/namespaces/default/secrets", object("v1", "Secret"), "stringData"),
            json::array({0, 0}));
  EXPECT_EQ(generations("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                        object("coordination.k8s.io/v1", "Lease"), "spec"),
            json::array({0, 0}));
}

TEST_F(ClusterTest, CreatesANameFromGenerateName) {
  json pod = Pod("x");
  pod["metadata"].erase("name");
  pod["metadata"]["generateName"] = "web-";
  const std::string first = Post(kPods, pod)["metadata"]["name"], second = Post(kPods, pod)["metadata"]["name"];
  EXPECT_EQ(first.size(), 9u);
  EXPECT_EQ(first.substr(0, 4), "web-");
  EXPECT_NE(first, second);
}

TEST_F(ClusterTest, RefusesASecondObjectOfTheSameName) {
  Post(kPods, Pod("a"));
  Post(kPods, Pod("a"));
  EXPECT_EQ(last_code_, Code::kAlreadyExists);
  EXPECT_THAT(last_error_, HasSubstr("pods \"a\" already exists"));
}

TEST_F(ClusterTest, RefusesAnythingButAnObjectOfTheResource) {
  Send("POST", kPods, "", json("text"));
  EXPECT_EQ(last_status_, 400);
  json pod = Pod("a");
  pod["kind"] = "Service";
  Post(kPods, pod);
  EXPECT_EQ(last_status_, 400);
  pod = Pod("a");
  pod["metadata"]["namespace"] = "other";
  Post(kPods, pod);
  EXPECT_EQ(last_status_, 400);
  Post(kPods, Pod("Not_A_Name"));
  EXPECT_EQ(last_code_, Code::kInvalid);
  EXPECT_THAT(last_causes_, ElementsAre("metadata.name FieldValueInvalid"));
  Send("POST", kPods, "", Pod("a"), "application/cbor");
  EXPECT_EQ(last_code_, Code::kUnsupportedMedia);
  EXPECT_THAT(cluster_.List("pods"), IsEmpty());
}

TEST_F(ClusterTest, RefusesAnUpdateOfAnOldVersion) {
  json pod = Post(kPods, Pod("a"));
  json next = pod;
  next["metadata"]["labels"]["x"] = "1";
  next = Put(std::string(kPods) + "/a", next);
  EXPECT_NE(next["metadata"]["resourceVersion"], pod["metadata"]["resourceVersion"]);
  Put(std::string(kPods) + "/a", pod);
  EXPECT_EQ(last_code_, Code::kConflict);
  EXPECT_THAT(last_error_, HasSubstr("the object has been modified"));
  pod["metadata"].erase("resourceVersion");  // unconditional
  Put(std::string(kPods) + "/a", pod);
  EXPECT_EQ(last_status_, 200);
}

TEST_F(ClusterTest, SendsNoEventForAnUpdateThatChangesNothing) {
  const json pod = Post(kPods, Pod("a"));
  const auto watch = Watch(kPods, "resourceVersion=" + std::to_string(cluster_.resource_version()));
  EXPECT_EQ(Put(std::string(kPods) + "/a", pod), pod);
  cluster_.RunUntilIdle();
  EXPECT_THAT(watch->lines, IsEmpty());
}

TEST_F(ClusterTest, UpdatesStatusAndTheRestSeparately) {
  json pod = Post(kPods, Pod("a"));
  pod["status"]["phase"] = "Running";
  pod["spec"]["nodeName"] = "n1";
  json stored = Put(std::string(kPods) + "/a", pod);
  EXPECT_EQ(stored["status"]["phase"], "Pending");
  EXPECT_EQ(stored["spec"]["nodeName"], "n1");
  EXPECT_EQ(stored["metadata"]["generation"], 2);
  stored["status"]["phase"] = "Running";
  stored["spec"]["nodeName"] = "n2";
  stored = Put(std::string(kPods) + "/a/status", stored);
  EXPECT_EQ(stored["status"]["phase"], "Running");
  EXPECT_EQ(stored["spec"]["nodeName"], "n1");
  EXPECT_EQ(stored["metadata"]["generation"], 2);
}

TEST_F(ClusterTest, AppliesMergePatchesAndJsonPatches) {
  Post(kPods, Pod("a", {{"x", "1"}, {"y", "2"}}));
  const std::string path = std::string(kPods) + "/a";
  json pod = Send("PATCH", path, "", {{"metadata", {{"labels", {{"x", nullptr}, {"z", "3"}}}}}},
                  "application/merge-patch+json");
  EXPECT_EQ(pod["metadata"]["labels"], (json{{"y", "2"}, {"z", "3"}}));
  const json add = {{{"op", "add"}, {"path", "/metadata/labels/w"}, {"value", "4"}}};
  pod = Send("PATCH", path, "", add, "application/json-patch+json");
  EXPECT_EQ(pod["metadata"]["labels"]["w"], "4");
  const json test = {{{"op", "test"}, {"path", "/metadata/labels/w"}, {"value", "5"}}};
  Send("PATCH", path, "", test, "application/json-patch+json");
  EXPECT_EQ(last_code_, Code::kInvalid);
  Send("PATCH", path + "b", "", add, "application/json-patch+json");
  EXPECT_EQ(last_code_, Code::kNotFound);
}

TEST_F(ClusterTest, CreatesByApplyAndNotesTheManager) {
  const std::string path = std::string(kPods) + "/a";
  Send("PATCH", path, "", Pod("a"), "application/apply-patch+yaml");
  EXPECT_EQ(last_status_, 400);  // no manager
  json pod = Send("PATCH", path, "fieldManager=me", Pod("a"), "application/apply-patch+yaml");
  EXPECT_EQ(last_status_, 201);
  EXPECT_EQ(pod["metadata"]["managedFields"][0]["manager"], "me");
  const json again = Send("PATCH", path, "fieldManager=me", Pod("a"), "application/apply-patch+yaml");
  EXPECT_EQ(again, pod);
}

TEST_F(ClusterTest, KeepsAnObjectUntilItsLastFinalizerIsRemoved) {
  json pod = Pod("a");
  pod["metadata"]["finalizers"] = {"example.com/hold"};
  Post(kPods, pod);
  const auto watch = Watch(kPods, "");
  json marked = Delete(std::string(kPods) + "/a");
  EXPECT_TRUE(marked["metadata"].contains("deletionTimestamp"));
  marked["metadata"].erase("finalizers");
  Put(std::string(kPods) + "/a", marked);
  EXPECT_EQ(last_status_, 200);
  Get(std::string(kPods) + "/a");
  EXPECT_EQ(last_code_, Code::kNotFound);
  cluster_.RunUntilIdle();
  EXPECT_THAT(watch->lines, ElementsAre("ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a"));
}

TEST_F(ClusterTest, ChecksThePreconditionsOfADeletion) {
  const json pod = Post(kPods, Pod("a"));
  Delete(std::string(kPods) + "/a", {{"preconditions", {{"uid", "another"}}}});
  EXPECT_EQ(last_code_, Code::kConflict);
  Delete(std::string(kPods) + "/a", {{"preconditions", {{"resourceVersion", "1"}}}});
  EXPECT_EQ(last_code_, Code::kConflict);
  Delete(std::string(kPods) + "/a", {{"preconditions", {{"uid", pod["metadata"]["uid"]}}}});
  EXPECT_EQ(last_status_, 200);
}

TEST_F(ClusterTest, GivesARunningPodItsGracePeriod) {
  json pod = Pod("a");
  pod["spec"]["nodeName"] = "n1";
  Post(kPods, pod);
  const json marked = Delete(std::string(kPods) + "/a");
  EXPECT_EQ(marked["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_TRUE(cluster_.Get("pods", "default", "a"));
  cluster_.Advance(30s);
  EXPECT_FALSE(cluster_.Get("pods", "default", "a"));
}

TEST_F(ClusterTest, KeepsAPodThatIsUpdatedWhileItTerminates) {
  json pod = Pod("a");
  pod["spec"]["nodeName"] = "n1";
  Post(kPods, pod);
  Delete(std::string(kPods) + "/a");
  Send("PATCH", std::string(kPods) + "/a/status", "", {{"status", {{"phase", "Failed"}}}},
       "application/merge-patch+json");
  EXPECT_EQ(last_status_, 200);
  EXPECT_TRUE(cluster_.Get("pods", "default", "a"));
  cluster_.Advance(30s);
  EXPECT_FALSE(cluster_.Get("pods", "default", "a"));
}

TEST_F(ClusterTest, RefusesANewFinalizerOnAnObjectThatIsBeingDeleted) {
  json pod = Pod("a");
  pod["metadata"]["finalizers"] = {"example.com/hold"};
  Post(kPods, pod);
  json marked = Delete(std::string(kPods) + "/a");
  marked["metadata"]["finalizers"].push_back("example.com/more");
  Put(std::string(kPods) + "/a", marked);
  EXPECT_THAT(last_causes_, ElementsAre("metadata.finalizers FieldValueForbidden"));
}

TEST_F(ClusterTest, CreatesALeaseByUpdateAndReplacesItOnlyByVersion) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  json lease = json::parse(MinimalObject("coordination.k8s.io/v1", "Lease", "default", "leader").json());
  const json created = Put(leases + "/leader", lease);
  EXPECT_EQ(last_status_, 201);
  lease["spec"]["holderIdentity"] = "me";
  Put(leases + "/leader", lease);
  EXPECT_THAT(last_causes_, ElementsAre("metadata.resourceVersion FieldValueInvalid"));
  lease["metadata"]["resourceVersion"] = created["metadata"]["resourceVersion"];
  Put(leases + "/leader", lease);
  EXPECT_EQ(last_status_, 200);
  Must(cluster_.Delete("leases", "default", "leader"));
  lease["metadata"]["uid"] = created["metadata"]["uid"];
  Put(leases + "/leader", lease);
  EXPECT_EQ(last_status_, 409) << "an update of the deleted lease must not create another one";
}

TEST_F(ClusterTest, CountsANodeWithoutUnschedulableAsSchedulable) {
  Post("/api/v1/nodes", json::parse(MinimalObject("v1", "Node", "", "n1").json()));
  EXPECT_EQ(Get("/api/v1/nodes", "fieldSelector=spec.unschedulable%3Dfalse")["items"].size(), 1u);
  EXPECT_EQ(Get("/api/v1/nodes", "fieldSelector=spec.unschedulable%3Dtrue")["items"].size(), 0u);
}

TEST_F(ClusterTest, FollowsTheDirectivesAndKeysOfAStrategicPatch) {
  json pod = Pod("a");
  pod["metadata"]["finalizers"] = {"example.com/a"};
  pod["spec"]["containers"] = json::parse(R"([{"name":"one","image":"1"},{"name":"two","image":"2"}])");
  Post(kPods, pod);
  const char* patch = R"({"metadata":{"finalizers":["example.com/b"]},"spec":{
    "$setElementOrder/containers":[{"name":"two"},{"name":"three"}],
    "containers":[{"name":"one","$patch":"delete"},{"name":"two","image":"3"},{"name":"three","image":"4"}]},
    "status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  const json after =
      Send("PATCH", std::string(kPods) + "/a", "", json::parse(patch), "application/strategic-merge-patch+json");
  EXPECT_EQ(after["spec"], json::parse(R"({"containers":[{"name":"two","image":"3"},{"name":"three","image":"4"}]})"));
  EXPECT_EQ(after["metadata"]["finalizers"], json::parse(R"(["example.com/a","example.com/b"])"));
  const std::string status = std::string(kPods) + "/a/status";
  for (const char* conditions : {R"([{"type":"Ready","status":"False"},{"type":"Other","status":"True"}])",
                                 R"([{"type":"Ready","status":"True"}])"}) {
    Send("PATCH", status, "", {{"status", {{"conditions", json::parse(conditions)}}}},
         "application/strategic-merge-patch+json");
  }
  EXPECT_EQ(Get(status)["status"]["conditions"],
            json::parse(R"([{"type":"Ready","status":"True"},{"type":"Other","status":"True"}])"));
}

TEST_F(ClusterTest, RefusesToApplyUnderAnotherNameOrTheStatusOfAMissingObject) {
  constexpr char kApply[] = "application/apply-patch+yaml";
  Send("PATCH", std::string(kPods) + "/a", "fieldManager=me", Pod("b"), kApply);
  EXPECT_EQ(last_status_, 400);
  Send("PATCH", std::string(kPods) + "/a/status", "fieldManager=me", Pod("a"), kApply);
  EXPECT_EQ(last_status_, 404);
  EXPECT_THAT(cluster_.List("pods"), IsEmpty());
}

TEST_F(ClusterTest, DeletesACollectionBySelector) {
  for (const char* name : {"a", "b", "c"}) Post(kPods, Pod(name, {{"odd", name[0] == 'b' ? "no" : "yes"}}));
  const json list = Send("DELETE", kPods, "labelSelector=odd%3Dyes");
  EXPECT_EQ(list["items"].size(), 2u);
  EXPECT_EQ(cluster_.List("pods").size(), 1u);
}

TEST_F(ClusterTest, StoresNothingInADryRun) {
  const json pod = Send("POST", kPods, "dryRun=All", Pod("a"));
  EXPECT_EQ(last_status_, 201);
  EXPECT_EQ(pod["metadata"]["name"], "a");
  EXPECT_THAT(cluster_.List("pods"), IsEmpty());
}

TEST_F(ClusterTest, DeletesNothingInADryRunByQueryOrBody) {
  Post(kPods, Pod("a"));
  const json in_body = {{"dryRun", {"All"}}};
  Delete(std::string(kPods) + "/a", in_body);
  EXPECT_EQ(last_status_, 200);
  Delete(kPods, in_body);
  EXPECT_EQ(last_status_, 200);
  Send("DELETE", kPods, "dryRun=All");
  EXPECT_EQ(last_status_, 200);
  EXPECT_EQ(cluster_.List("pods").size(), 1u);
  Delete(kPods, {{"preconditions", {{"uid", "another"}}}});
  EXPECT_EQ(last_code_, Code::kConflict);
  EXPECT_EQ(cluster_.List("pods").size(), 1u);
}

// Contract: controller 264.
TEST_F(ClusterTest, RemembersTheWritesOfClients) {
  Post(kPods, Pod("a"));
  Put(std::string(kPods) + "/a/status", Pod("a"));
  Delete(std::string(kPods) + "/a");
  Post("/api/v1/namespaces", json::parse(MinimalObject("v1", "Namespace", "", "shop").json()));
  Must(cluster_.Add(MinimalPod("default", "not-told")));
  Get(kPods);
  EXPECT_THAT(cluster_.Writes(), HasActions({"create pods default/a", "update pods/status default/a",
                                             "delete pods default/a", "create namespaces shop"}));
  cluster_.ClearWrites();
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
}

// --- Custom resources

json Crd() {
  return json::parse(R"({
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "orders.shop.example"},
    "spec": {"group": "shop.example", "scope": "Namespaced",
      "names": {"plural": "orders", "singular": "order", "kind": "Order", "listKind": "OrderList", "shortNames": ["ord"]},
      "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}, "scale": {
          "specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"}},
        "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {"spec": {"type": "object",
          "required": ["item"], "properties": {"item": {"type": "string", "enum": ["tea", "coffee"]}, "count": {"type": "integer"},
          "when": {"x-kubernetes-int-or-string": true}, "notes": {"type": "array", "items": {"type": "string"}}}}}}}},
        {"name": "v2", "served": true, "storage": false, "selectableFields": [{"jsonPath": ".spec.item"}], "schema": {"openAPIV3Schema": {"type": "object"}}}]}})");
}
json Order(const json& spec) {
  return {{"apiVersion", "shop.example/v1"}, {"kind", "Order"}, {"metadata", {{"name", "first"}}}, {"spec", spec}};
}
constexpr char kOrders[] = "/apis/shop.example/v1/namespaces/default/orders";

TEST_F(ClusterTest, ServesAResourceOnceItsDefinitionExists) {
  Get(kOrders);
  EXPECT_EQ(last_status_, 404);
  Post(kCrds, Crd());
  const json crd = Get(std::string(kCrds) + "/orders.shop.example");
  EXPECT_EQ(crd["status"]["conditions"][1]["type"], "Established");
  EXPECT_EQ(crd["status"]["storedVersions"], json::array({"v1"}));
  Post(kOrders, Order({{"item", "tea"}, {"count", 2}}));
  EXPECT_EQ(last_status_, 201) << last_error_;
  const json list = Get(kOrders);
  EXPECT_EQ(list["kind"], "OrderList");
  EXPECT_EQ(list["items"][0]["kind"], "Order");  // unlike in lists of built-in kinds
  EXPECT_EQ(Get("/apis/shop.example/v2/namespaces/default/orders/first")["apiVersion"], "shop.example/v2");
  EXPECT_EQ(Get(std::string(kOrders) + "/first/scale")["spec"]["replicas"], 2);
}

TEST_F(ClusterTest, ReportsViolationsOfTheSchema) {
  Post(kCrds, Crd());
  Post(kOrders, Order({{"item", "beer"}, {"count", "many"}, {"when", true}, {"notes", {"fine", 7}}}));
  EXPECT_EQ(last_code_, Code::kInvalid);
  EXPECT_THAT(last_causes_, ElementsAre("spec.count FieldValueTypeInvalid", "spec.item FieldValueNotSupported",
                                        "spec.notes[1] FieldValueTypeInvalid", "spec.when FieldValueTypeInvalid",
                                        ".spec.count FieldValueInvalid"));
  Post(kOrders, Order(json::object()));
  EXPECT_THAT(last_causes_, ElementsAre("spec.item FieldValueRequired"));
  EXPECT_THAT(cluster_.List("orders"), IsEmpty());
}

TEST_F(ClusterTest, PrunesUnknownFieldsAndSetsDefaultsBeforeValidation) {
  json crd = Crd();
  json& spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
  spec["required"] = {"item", "count"};
  spec["properties"]["count"]["default"] = 1;
  spec["properties"]["packing"] = json::parse(R"({"type":"object","default":{},"properties":{"paper":{"type":"string",
    "default":"brown"}}})");
  spec["properties"]["free"] = json::parse(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})");
  spec["properties"]["labels"] = json::parse(R"({"type":"object","additionalProperties":{"type":"string"}})");
  Post(kCrds, crd);
  const json order = Post(kOrders, Order(json::parse(R"({"item":"tea","unknown":1,"count":null,"free":{"a":{"b":1}},
    "labels":{"x":"y"}})")));
  EXPECT_EQ(last_status_, 201) << last_error_;
  EXPECT_EQ(order["spec"], json::parse(R"({"item":"tea","count":1,"free":{"a":{"b":1}},"labels":{"x":"y"},
    "packing":{"paper":"brown"}})"));
}

TEST_F(ClusterTest, RefusesADefinitionThatItCouldNotServe) {
  json crd = Crd();
  crd.erase("spec");
  Post(kCrds, crd);
  EXPECT_THAT(last_causes_, ElementsAre("spec.group FieldValueRequired", "spec.names.plural FieldValueRequired",
                                        "spec.names.kind FieldValueRequired", "spec.versions FieldValueRequired"));
  crd = Crd();
  crd["spec"]["versions"] = {"v1", {{"name", "v2"}, {"served", "yes"}}};
  Post(kCrds, crd);
  EXPECT_EQ(last_code_, Code::kInvalid);
  EXPECT_EQ(last_causes_.size(), 7u);
  EXPECT_THAT(cluster_.List("customresourcedefinitions"), IsEmpty());
}

TEST_F(ClusterTest, RefusesMalformedRequests) {
  json crd = Crd();
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"spec"};
  Post(kCrds, crd);
  Post(kOrders, Order({{"item", "tea"}}));
  EXPECT_GE(last_status_, 400);
}

TEST_F(ClusterTest, RequiresAVersionForTheUpdateOfACustomResource) {
  Post(kCrds, Crd());
  json order = Post(kOrders, Order({{"item", "tea"}}));
  order["metadata"].erase("resourceVersion");
  Put(std::string(kOrders) + "/first", order);
  EXPECT_EQ(last_code_, Code::kInvalid);
}

TEST_F(ClusterTest, SelectsByTheFieldsThatAVersionDeclares) {
  Post(kCrds, Crd());
  Post(kOrders, Order({{"item", "tea"}}));
  const std::string v2 = "/apis/shop.example/v2/namespaces/default/orders";
  EXPECT_EQ(Get(v2, "fieldSelector=spec.item%3Dtea")["items"].size(), 1u);
  EXPECT_EQ(Get(v2, "fieldSelector=spec.item%21%3Dtea")["items"].size(), 0u);
  EXPECT_EQ(Get(v2, "fieldSelector=metadata.name%3Dfirst")["items"].size(), 1u);
  Get(v2, "fieldSelector=spec.count%3D1");
  EXPECT_THAT(last_error_, HasSubstr("field label not supported: spec.count"));
  Get(kOrders, "fieldSelector=spec.item%3Dtea");
  EXPECT_THAT(last_error_, HasSubstr("field label not supported: spec.item"));
}

TEST_F(ClusterTest, DeletesTheObjectsOfADeletedDefinition) {
  Post(kCrds, Crd());
  Post(kOrders, Order({{"item", "tea"}}));
  const auto watch = Watch(kOrders, "");
  Delete(std::string(kCrds) + "/orders.shop.example");
  cluster_.RunUntilIdle();
  EXPECT_THAT(watch->lines, ElementsAre("ADDED first", "DELETED first"));
  EXPECT_TRUE(watch->end.has_value());
  Get(kOrders);
  EXPECT_EQ(last_status_, 404);
}

TEST_F(ClusterTest, ServesDiscovery) {
  Post(kCrds, Crd());
  EXPECT_EQ(Get("/api")["versions"], json::array({"v1"}));
  EXPECT_THAT(Get("/apis").dump(), HasSubstr("\"shop.example/v1\""));
  const json resources = Get("/apis/shop.example/v1")["resources"];
  ASSERT_EQ(resources.size(), 3u);
  EXPECT_EQ(resources[0]["name"], "orders");
  EXPECT_EQ(resources[0]["shortNames"], json::array({"ord"}));
  EXPECT_EQ(resources[1]["name"], "orders/status");
  EXPECT_EQ(resources[2]["kind"], "Scale");
  EXPECT_EQ(Get("/readyz"), "ok");
  EXPECT_EQ(Get("/version")["major"], "1");
  EXPECT_TRUE(Get("/openapi/v3")["paths"].contains("apis/shop.example/v1"));
  EXPECT_FALSE(Get("/openapi/v3/apis/shop.example/v1")["paths"].empty());
  Get("/nowhere");
  EXPECT_EQ(last_status_, 404);
}

}  // namespace
}  // namespace kgen::testing
