// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Namespaces: which exist, which requests need them, and how they are deleted.
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTeamConfigMaps[] = "/api/v1/namespaces/team/configmaps";

class NamespaceTest : public ClusterTest {
 protected:
  static json Namespace(std::string_view name) {
    return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
  }
  static json ConfigMap(std::string_view name) {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
  }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const json list = Get(path);
    for (const json& item : list["items"]) names.push_back(item["metadata"]["name"]);
    return names;
  }
};

TEST_F(NamespaceTest, TheStandardNamespacesExistFromTheStart) {
  EXPECT_THAT(Names("/api/v1/namespaces"), ElementsAre("default", "kube-node-lease", "kube-public", "kube-system"));
  const json got = Get("/api/v1/namespaces/default");
  EXPECT_EQ(got["status"]["phase"], "Active");
  EXPECT_EQ(got["spec"]["finalizers"], json({"kubernetes"}));
  EXPECT_EQ(got["metadata"]["labels"]["kubernetes.io/metadata.name"], "default");
}

TEST_F(NamespaceTest, TheServiceOfTheServerExistsFromTheStart) {
  EXPECT_THAT(Names("/api/v1/services"), ElementsAre("kubernetes"));
  const json got = Get("/api/v1/namespaces/default/services/kubernetes");
  EXPECT_EQ(got["spec"]["ports"][0]["port"], 443);
  EXPECT_EQ(got["metadata"]["labels"]["component"], "apiserver");
}

TEST_F(NamespaceTest, TwoClustersStartAlike) {
  Cluster other({.seed = 1});
  EXPECT_EQ(cluster_.List("namespaces"), other.List("namespaces"));
  EXPECT_EQ(cluster_.List("services"), other.List("services"));
  EXPECT_EQ(cluster_.resource_version(), other.resource_version());
}

TEST_F(NamespaceTest, RestoringBeforeTheFirstCopyReturnsToTheStart) {
  const auto start = cluster_.List("namespaces");
  ASSERT_TRUE(cluster_.Add(Namespace("team").dump()));
  cluster_.RestoreCopy();
  EXPECT_EQ(cluster_.List("namespaces"), start);
}

TEST_F(NamespaceTest, RefusesAnObjectWhoseNamespaceDoesNotExist) {
  Post(kTeamConfigMaps, ConfigMap("a"));
  EXPECT_EQ(last_status_, 404);
  EXPECT_EQ(last_code_, Code::kNotFound);
  EXPECT_THAT(last_error_, HasSubstr("namespaces \"team\" not found"));
  Send("PATCH", std::string(kTeamConfigMaps) + "/a", "fieldManager=me", ConfigMap("a"), "application/apply-patch+yaml");
  EXPECT_EQ(last_status_, 404);
  Send("PUT", "/apis/coordination.k8s.io/v1/namespaces/team/leases/a", "",
       {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"metadata", {{"name", "a"}}}});
  EXPECT_EQ(last_status_, 404);
  EXPECT_THAT(Names(kTeamConfigMaps), ElementsAre());
  EXPECT_EQ(last_status_, 200);

  Post("/api/v1/namespaces", Namespace("team"));
  EXPECT_EQ(last_status_, 201);
  Post(kTeamConfigMaps, ConfigMap("a"));
  EXPECT_EQ(last_status_, 201);
}

TEST_F(NamespaceTest, AddCreatesTheNamespaceOfAnObject) {
  ASSERT_TRUE(cluster_.Add(MinimalPod("team", "web")));
  EXPECT_EQ(Get("/api/v1/namespaces/team")["status"]["phase"], "Active");
  EXPECT_THAT(cluster_.Writes(), ElementsAre());
}

TEST_F(NamespaceTest, DeletingOneDeletesEverythingInIt) {
  for (const char* name : {"a", "b"}) ASSERT_TRUE(cluster_.Add(MinimalObject("v1", "ConfigMap", "team", name)));
  ASSERT_TRUE(cluster_.Add(MinimalPod("team", "web")));
  ASSERT_TRUE(cluster_.Add(MinimalPod("team-2", "web")));
  const auto namespaces = Watch("/api/v1/namespaces", "resourceVersion=" + std::to_string(cluster_.resource_version()));
  const json answer = Delete("/api/v1/namespaces/team");
  EXPECT_EQ(answer["status"]["phase"], "Terminating");
  cluster_.RunUntilIdle();
  EXPECT_THAT(namespaces->lines, ElementsAre("MODIFIED team", "DELETED team"));
  EXPECT_THAT(Names(kTeamConfigMaps), ElementsAre());
  EXPECT_THAT(Names("/api/v1/pods"), ElementsAre("web"));
  Get("/api/v1/namespaces/team");
  EXPECT_EQ(last_status_, 404);
}

TEST_F(NamespaceTest, AFinalizerInsideKeepsItTerminating) {
  json held = ConfigMap("a");
  held["metadata"]["namespace"] = "team";
  held["metadata"]["finalizers"] = {"example.com/hold"};
  ASSERT_TRUE(cluster_.Add(held.dump()));
  Delete("/api/v1/namespaces/team");
  EXPECT_EQ(Get("/api/v1/namespaces/team")["status"]["phase"], "Terminating");

  Post(kTeamConfigMaps, ConfigMap("b"));
  EXPECT_EQ(last_status_, 403);
  EXPECT_THAT(last_error_, HasSubstr("configmaps \"b\" is forbidden: unable to create new content in namespace team "
                                     "because it is being terminated"));
  EXPECT_THAT(last_causes_, ElementsAre("metadata.namespace NamespaceTerminating"));

  Send("PATCH", std::string(kTeamConfigMaps) + "/a", "", {{"metadata", {{"finalizers", nullptr}}}},
       "application/merge-patch+json");
  Get("/api/v1/namespaces/team");
  EXPECT_EQ(last_status_, 404);
}

TEST_F(NamespaceTest, AFinalizerOfTheNamespaceKeepsItTerminating) {
  json held = Namespace("team");
  held["metadata"]["finalizers"] = {"example.com/hold"};
  ASSERT_TRUE(cluster_.Add(held.dump()));
  ASSERT_TRUE(cluster_.Add(MinimalPod("team", "web")));
  Delete("/api/v1/namespaces/team");
  EXPECT_THAT(Names("/api/v1/pods"), ElementsAre());
  held = Get("/api/v1/namespaces/team");
  EXPECT_EQ(held["status"]["phase"], "Terminating");
  held["metadata"].erase("finalizers");
  Put("/api/v1/namespaces/team", held);
  EXPECT_EQ(last_status_, 200);
  Get("/api/v1/namespaces/team");
  EXPECT_EQ(last_status_, 404);
}

TEST_F(NamespaceTest, ARunningPodKeepsItForItsGracePeriod) {
  json pod = json::parse(MinimalPod("team", "web").json());
  pod["spec"]["nodeName"] = "node-1";
  ASSERT_TRUE(cluster_.Add(pod.dump()));
  Delete("/api/v1/namespaces/team");
  EXPECT_EQ(Get("/api/v1/namespaces/team")["status"]["phase"], "Terminating");
  cluster_.Advance(std::chrono::seconds(31));
  Get("/api/v1/namespaces/team");
  EXPECT_EQ(last_status_, 404);
}

TEST_F(NamespaceTest, AFinalizerOfAPodKeepsItLongerThanTheGracePeriod) {
  json pod = json::parse(MinimalPod("team", "web").json());
  pod["spec"]["nodeName"] = "node-1";
  pod["metadata"]["finalizers"] = {"example.com/hold"};
  ASSERT_TRUE(cluster_.Add(pod.dump()));
  Delete("/api/v1/namespaces/team");
  cluster_.Advance(std::chrono::seconds(31));
  EXPECT_EQ(Get("/api/v1/namespaces/team")["status"]["phase"], "Terminating");
  Send("PATCH", "/api/v1/namespaces/team/pods/web", "", {{"metadata", {{"finalizers", nullptr}}}},
       "application/merge-patch+json");
  Get("/api/v1/namespaces/team");
  EXPECT_EQ(last_status_, 404);
}

TEST_F(NamespaceTest, AnUpdateKeepsMembersThatTheServerSets) {
  Post("/api/v1/namespaces", Namespace("team"));
  Send("PATCH", "/api/v1/namespaces/team", "", {{"metadata", {{"labels", nullptr}}}, {"spec", nullptr}},
       "application/merge-patch+json");
  const json got = Get("/api/v1/namespaces/team");
  EXPECT_EQ(got["spec"]["finalizers"], json({"kubernetes"}));
  EXPECT_EQ(got["metadata"]["labels"]["kubernetes.io/metadata.name"], "team");
}

TEST_F(NamespaceTest, TheSystemsOwnCannotBeDeletedByARequest) {
  for (const std::string name : {"default", "kube-system", "kube-public"}) {
    Delete("/api/v1/namespaces/" + name);
    EXPECT_EQ(last_status_, 403);
    EXPECT_THAT(last_error_, HasSubstr("namespaces \"" + name + "\" is forbidden: this namespace may not be deleted"));
  }
  Delete("/api/v1/namespaces");
  EXPECT_EQ(last_status_, 405);
  Delete("/api/v1/namespaces/kube-node-lease");
  EXPECT_EQ(last_status_, 200);
  EXPECT_TRUE(cluster_.Delete("namespaces", "", "default"));  // a fixture may
}

}  // namespace
}  // namespace kgen::testing
