// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The model of the built-in API, from the project's own facts (openapi/kubernetes-1.36).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/generator/load.h"
#include "tests/support/paths.h"

namespace kgen::generator {
namespace {

using model::ApiKind;

class Kubernetes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    loaded_ = new test::Loaded;
    loaded_->api = commands::LoadApi({test_support::SourcePath("openapi/kubernetes-1.36")}, loaded_->diagnostics);
  }
  static void TearDownTestSuite() {
    delete loaded_;
    loaded_ = nullptr;
  }

  const model::Api& api() const { return loaded_->api; }

  const model::Resource& ResourceOf(std::string_view group, std::string_view kind) const {
    const ApiKind* found = api().FindKind({std::string(group), "v1", std::string(kind)});
    static const model::Resource kNone;
    EXPECT_NE(found, nullptr) << kind;
    EXPECT_TRUE(found == nullptr || found->resource.has_value()) << kind;
    return found == nullptr || !found->resource ? kNone : *found->resource;
  }

  // The shape of a field, below named types: "Pod.spec.containers".
  std::string FieldShape(std::string_view group, std::string_view type, std::string_view field) const {
    const model::TypeId id = api().FindType(group, "v1", type);
    if (id == model::kNoType) return "no type";
    const model::Field* found = api().types[id].schema.Find(field);
    return found == nullptr ? "no field" : test::Shape(api(), *found->schema);
  }

  static std::string VerbsOf(const model::Resource& resource) {
    std::string out;
    for (const std::string_view verb : resource.verbs.Names()) out += (out.empty() ? "" : " ") + std::string(verb);
    return out;
  }

  static test::Loaded* loaded_;
};

test::Loaded* Kubernetes::loaded_ = nullptr;

TEST_F(Kubernetes, LoadsWithoutDiagnostics) { EXPECT_EQ(loaded_->Said(), ""); }

TEST_F(Kubernetes, HasItsGroupsVersionsAndServedKinds) {
  std::string served;
  for (const model::Group& group : api().groups) {
    for (const model::Version& version : group.versions) {
      std::size_t count = 0;
      for (const ApiKind& kind : version.kinds) count += kind.resource ? 1 : 0;
      if (count != 0) served += group.name + "/" + version.name + " " + std::to_string(count) + "\n";
    }
  }
  EXPECT_EQ(served,
            "/v1 17\nadmissionregistration.k8s.io/v1 6\napiextensions.k8s.io/v1 1\napiregistration.k8s.io/v1 1\n"
            "apps/v1 5\nauthentication.k8s.io/v1 2\nauthorization.k8s.io/v1 4\nautoscaling/v2 1\nautoscaling/v1 1\n"
            "batch/v1 2\ncertificates.k8s.io/v1 1\ncoordination.k8s.io/v1 1\ndiscovery.k8s.io/v1 1\n"
            "events.k8s.io/v1 1\nflowcontrol.apiserver.k8s.io/v1 2\nnetworking.k8s.io/v1 5\nnode.k8s.io/v1 1\n"
            "policy/v1 1\nrbac.authorization.k8s.io/v1 4\nresource.k8s.io/v1 4\nscheduling.k8s.io/v1 1\n"
            "storage.k8s.io/v1 6\n");
}

// Contract: generator OP-04, OP-06.
TEST_F(Kubernetes, HasScopesAndPluralsFromThePaths) {
  EXPECT_EQ(ResourceOf("", "Endpoints").plural, "endpoints");
  EXPECT_EQ(ResourceOf("", "ComponentStatus").plural, "componentstatuses");
  EXPECT_EQ(ResourceOf("", "Pod").scope, model::Scope::kNamespaced);
  for (const char* kind : {"Node", "Namespace", "PersistentVolume", "ComponentStatus"}) {
    EXPECT_EQ(ResourceOf("", kind).scope, model::Scope::kCluster) << kind;
  }
}

// Contract: generator OP-10.
TEST_F(Kubernetes, HasOnlyTheVerbsThatExist) {
  EXPECT_EQ(VerbsOf(ResourceOf("", "Pod")), "create update delete deletecollection get list watch patch");
  EXPECT_EQ(VerbsOf(ResourceOf("", "Binding")), "create");
  EXPECT_EQ(VerbsOf(ResourceOf("", "ComponentStatus")), "get list");
  EXPECT_EQ(VerbsOf(ResourceOf("", "Namespace")), "create update delete get list watch patch");
}

// Contract: generator OP-12, OP-14.
TEST_F(Kubernetes, HasItsSubresources) {
  const model::Resource& pod = ResourceOf("", "Pod");
  std::string names;
  for (const model::Subresource& subresource : pod.subresources) names += subresource.name + " ";
  EXPECT_EQ(names, "attach binding ephemeralcontainers eviction exec log portforward proxy resize status ");
  EXPECT_EQ(pod.Find("eviction")->body_gvk, (model::GroupVersionKind{"policy", "v1", "Eviction"}));
  EXPECT_EQ(pod.Find("resize")->body_gvk, (model::GroupVersionKind{"", "v1", "Pod"}));
  EXPECT_EQ(ResourceOf("", "ServiceAccount").Find("token")->body_gvk,
            (model::GroupVersionKind{"authentication.k8s.io", "v1", "TokenRequest"}));
  EXPECT_TRUE(pod.Find("log")->text);
  EXPECT_FALSE(pod.Find("eviction")->text || pod.Find("resize")->text || pod.Find("status")->text);
  EXPECT_EQ(ResourceOf("", "ConfigMap").Find("status"), nullptr);
}

// Contract: generator WK-02, WK-21.
TEST_F(Kubernetes, MapsWellKnownFieldsToTheirTypes) {
  EXPECT_EQ(FieldShape("", "Secret", "data"), "map(bytes)");
  EXPECT_EQ(FieldShape("", "Secret", "stringData"), "map(string)");
  EXPECT_EQ(FieldShape("", "ResourceRequirements", "limits"), "map(quantity)");
  EXPECT_EQ(FieldShape("", "ServicePort", "targetPort"), "integer or string");
  EXPECT_EQ(FieldShape("", "Event", "eventTime"), "time with microseconds");
  EXPECT_EQ(FieldShape("", "Event", "lastTimestamp"), "time");
  EXPECT_EQ(FieldShape("", "Pod", "metadata"), "->meta.k8s.io/v1 ObjectMeta");
  EXPECT_EQ(FieldShape("apps", "ControllerRevision", "data"), "json object");
  EXPECT_EQ(FieldShape("apps", "DeploymentSpec", "selector"), "->meta.k8s.io/v1 LabelSelector");
  EXPECT_EQ(FieldShape("authorization.k8s.io", "FieldSelectorAttributes", "requirements"),
            "list(->meta.k8s.io/v1 FieldSelectorRequirement)");
  EXPECT_EQ(FieldShape("policy", "Eviction", "deleteOptions"), "->meta.k8s.io/v1 DeleteOptions");
  EXPECT_EQ(FieldShape("", "ContainerPort", "containerPort"), "int32");
}

// Contract: generator IN-23, REF-07.
TEST_F(Kubernetes, HasTheSchemaOfSchemas) {
  EXPECT_EQ(FieldShape("apiextensions.k8s.io", "JSONSchemaProps", "$ref"), "string");
  EXPECT_EQ(FieldShape("apiextensions.k8s.io", "JSONSchemaProps", "properties"),
            "map(->apiextensions.k8s.io/v1 JSONSchemaProps)");
  EXPECT_EQ(FieldShape("apiextensions.k8s.io", "JSONSchemaProps", "not"), "->apiextensions.k8s.io/v1 JSONSchemaProps");
  EXPECT_EQ(FieldShape("apiextensions.k8s.io", "JSONSchemaProps", "default"), "json");
  EXPECT_EQ(FieldShape("apiextensions.k8s.io", "CustomResourceSubresources", "status"),
            "->apiextensions.k8s.io/v1 CustomResourceSubresourceStatus");
  EXPECT_EQ(FieldShape("apiextensions.k8s.io", "JSONSchemaProps", "description"), "string");
}

// Contract: generator OA-01.
TEST_F(Kubernetes, IsTheSameFromFactsAsFromTheFullDocuments) {
  const auto folder = test_support::SharedPath("corpus/openapi/live-1.36.1");
  if (!folder) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  test::Loaded full;
  std::vector<std::string> documents;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().filename().native().starts_with("api")) documents.push_back(entry.path().native());
  }
  ASSERT_EQ(documents.size(), 22u);
  full.api = commands::LoadApi(documents, full.diagnostics);
  ASSERT_EQ(full.Said(), "");
  const auto dump = [](const model::Api& api) {
    std::string out;
    for (const model::NamedType& type : api.types) {
      out += type.group + "/" + type.version + " " + type.name + " " + test::Shape(api, type.schema) + "\n";
    }
    for (const model::Group& group : api.groups) {
      for (const model::Version& version : group.versions) {
        for (const ApiKind& kind : version.kinds) {
          out += model::Describe(kind.gvk) + " " + (kind.resource ? VerbsOf(*kind.resource) : std::string()) + "\n";
        }
      }
    }
    return out;
  };
  EXPECT_EQ(dump(full.api), dump(api()));
}

}  // namespace
}  // namespace kgen::generator
