// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The whole built-in API on a real kube-apiserver: each kind through its own client, and the server's JSON compared
// with what the decoded object encodes to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <k8s/admissionregistration/v1/types.h>
#include <k8s/apiextensions/v1/types.h>
#include <k8s/apiregistration/v1/types.h>
#include <k8s/apps/v1/types.h>
#include <k8s/authentication/v1/types.h>
#include <k8s/authorization/v1/types.h>
#include <k8s/autoscaling/v1/types.h>
#include <k8s/autoscaling/v2/types.h>
#include <k8s/batch/v1/types.h>
#include <k8s/certificates/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/discovery/v1/types.h>
#include <k8s/events/v1/types.h>
#include <k8s/flowcontrol/v1/types.h>
#include <k8s/networking/v1/types.h>
#include <k8s/node/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <k8s/rbac/v1/types.h>
#include <k8s/resource/v1/types.h>
#include <k8s/scheduling/v1/types.h>
#include <k8s/storage/v1/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/discovery.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/codec/yaml.h"
#include "tests/integration/eventually.h"
#include "tests/integration/kind_key.h"
#include "tests/integration/real_api_server.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

constexpr std::string_view kNamespace = "every-kind";

// A resource of the built-in API, behind its typed client: objects are JSON outside, and of their own type inside.
struct Resource {
  const KindInfo* kind = nullptr;
  std::function<Result<std::string>(const std::string& json)> create;
  std::function<Result<std::string>(const std::string& name)> get;
  std::function<Result<std::string>(const std::string& json)> label;     // an update
  std::function<Result<std::string>(const std::string& name)> annotate;  // a patch
  std::function<Result<bool>(const std::string& json)> lists;            // is an equal object in the list?
  std::function<Result<std::size_t>()> list;                             // how many there are
  std::function<Result<void>(const std::string& name)> erase;

  std::string Path(const std::string& name = "") const {
    std::string path = kind->group.empty() ? "/api/" : "/apis/" + std::string(kind->group) + '/';
    path += kind->version;
    if (kind->scope == Scope::kNamespaced) path += "/namespaces/" + std::string(kNamespace);
    path += '/' + std::string(kind->resource);
    return name.empty() ? path : path + '/' + name;
  }
};

template <typename T>
Result<std::string> Encoded(const Result<T>& object) {
  if (!object) return Fail(object.error());
  return Encode(*object);
}

template <typename T, typename L, Verbs verbs, typename... Subresources>
Resource Erase(const ResourceClient<T, L, verbs, Subresources...>& client) {
  Resource r;
  r.kind = T::kTable.kind;
  if constexpr (ResourceHasVerb<verbs, Verbs::kCreate>)
    r.create = [client](const std::string& json) { return Encoded(client.Create(Must(Decode<T>(json)))); };
  if constexpr (ResourceHasVerb<verbs, Verbs::kGet>)
    r.get = [client](const std::string& name) { return Encoded(client.Get(name)); };
  if constexpr (ResourceHasVerb<verbs, Verbs::kUpdate>)
    r.label = [client](const std::string& json) {
      T object = Must(Decode<T>(json));
      object.metadata.labels["updated"] = "yes";
      return Encoded(client.Update(object));
    };
  if constexpr (ResourceHasVerb<verbs, Verbs::kPatch>)
    r.annotate = [client](const std::string& name) {
      return Encoded(client.Patch(name, MergePatch(R"({"metadata":{"annotations":{"patched":"yes"}}})")));
    };
  if constexpr (ResourceHasVerb<verbs, Verbs::kList>) {
    r.list = [client]() -> Result<std::size_t> {
      const auto list = client.List();
      if (!list) return Fail(list.error());
      return list->items.size();
    };
    r.lists = [client](const std::string& json) -> Result<bool> {
      const T object = Must(Decode<T>(json));
      const auto list = client.List();
      if (!list) return Fail(list.error());
      for (const T& one : *list)
        if (one == object) return true;
      return false;
    };
  }
  if constexpr (ResourceHasVerb<verbs, Verbs::kDelete>)
    r.erase = [client](const std::string& name) { return client.Delete(name); };
  return r;
}

std::vector<Resource> CoreResources(const k8s::core::v1::Client& c) {
  return {Erase(c.Bindings(kNamespace)),
          Erase(c.ComponentStatuses()),
          Erase(c.ConfigMaps(kNamespace)),
          Erase(c.Endpoints(kNamespace)),
          Erase(c.Events(kNamespace)),
          Erase(c.LimitRanges(kNamespace)),
          Erase(c.Namespaces()),
          Erase(c.Nodes()),
          Erase(c.PersistentVolumeClaims(kNamespace)),
          Erase(c.PersistentVolumes()),
          Erase(c.PodTemplates(kNamespace)),
          Erase(c.Pods(kNamespace)),
          Erase(c.ReplicationControllers(kNamespace)),
          Erase(c.ResourceQuotas(kNamespace)),
          Erase(c.Secrets(kNamespace)),
          Erase(c.ServiceAccounts(kNamespace)),
          Erase(c.Services(kNamespace))};
}

std::vector<Resource> WorkloadResources(const k8s::Clientset& c) {
  return {Erase(c.AppsV1().ControllerRevisions(kNamespace)),
          Erase(c.AppsV1().DaemonSets(kNamespace)),
          Erase(c.AppsV1().Deployments(kNamespace)),
          Erase(c.AppsV1().ReplicaSets(kNamespace)),
          Erase(c.AppsV1().StatefulSets(kNamespace)),
          Erase(c.AutoscalingV1().HorizontalPodAutoscalers(kNamespace)),
          Erase(c.AutoscalingV2().HorizontalPodAutoscalers(kNamespace)),
          Erase(c.BatchV1().CronJobs(kNamespace)),
          Erase(c.BatchV1().Jobs(kNamespace)),
          Erase(c.CoordinationV1().Leases(kNamespace)),
          Erase(c.DiscoveryV1().EndpointSlices(kNamespace)),
          Erase(c.EventsV1().Events(kNamespace)),
          Erase(c.NetworkingV1().IPAddresses()),
          Erase(c.NetworkingV1().IngressClasses()),
          Erase(c.NetworkingV1().Ingresses(kNamespace)),
          Erase(c.NetworkingV1().NetworkPolicies(kNamespace)),
          Erase(c.NetworkingV1().ServiceCIDRs()),
          Erase(c.NodeV1().RuntimeClasses()),
          Erase(c.PolicyV1().PodDisruptionBudgets(kNamespace)),
          Erase(c.ResourceV1().DeviceClasses()),
          Erase(c.ResourceV1().ResourceClaimTemplates(kNamespace)),
          Erase(c.ResourceV1().ResourceClaims(kNamespace)),
          Erase(c.ResourceV1().ResourceSlices()),
          Erase(c.SchedulingV1().PriorityClasses()),
          Erase(c.StorageV1().CSIDrivers()),
          Erase(c.StorageV1().CSINodes()),
          Erase(c.StorageV1().CSIStorageCapacities(kNamespace)),
          Erase(c.StorageV1().StorageClasses()),
          Erase(c.StorageV1().VolumeAttachments()),
          Erase(c.StorageV1().VolumeAttributesClasses())};
}

std::vector<Resource> AdministrationResources(const k8s::Clientset& c) {
  return {Erase(c.AdmissionregistrationV1().MutatingAdmissionPolicies()),
          Erase(c.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()),
          Erase(c.AdmissionregistrationV1().MutatingWebhookConfigurations()),
          Erase(c.AdmissionregistrationV1().ValidatingAdmissionPolicies()),
          Erase(c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()),
          Erase(c.AdmissionregistrationV1().ValidatingWebhookConfigurations()),
          Erase(c.ApiextensionsV1().CustomResourceDefinitions()),
          Erase(c.ApiregistrationV1().APIServices()),
          Erase(c.AuthenticationV1().SelfSubjectReviews()),
          Erase(c.AuthenticationV1().TokenReviews()),
          Erase(c.AuthorizationV1().LocalSubjectAccessReviews(kNamespace)),
          Erase(c.AuthorizationV1().SelfSubjectAccessReviews()),
          Erase(c.AuthorizationV1().SelfSubjectRulesReviews()),
          Erase(c.AuthorizationV1().SubjectAccessReviews()),
          Erase(c.CertificatesV1().CertificateSigningRequests()),
          Erase(c.FlowcontrolV1().FlowSchemas()),
          Erase(c.FlowcontrolV1().PriorityLevelConfigurations()),
          Erase(c.RbacV1().ClusterRoleBindings()),
          Erase(c.RbacV1().ClusterRoles()),
          Erase(c.RbacV1().RoleBindings(kNamespace)),
          Erase(c.RbacV1().Roles(kNamespace))};
}

class EveryKindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    const Connection connection =
        Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}))));
    clients_.emplace(connection);
    for (auto& part :
         {CoreResources(clients_->CoreV1()), WorkloadResources(*clients_), AdministrationResources(*clients_)})
      for (const Resource& r : part) resources_[KindKey(r.kind->group, r.kind->version, r.kind->kind)] = r;
    RealApiServer::Kubectl("create namespace " + std::string(kNamespace));
  }

  // What the server stores, by value, is what our object of it encodes to. Controllers of the server write the status
  // of some kinds meanwhile, so both are read until they are of one version.
  static void ExpectServersJson(const Resource& resource, const std::string& name) {
    std::string ours, raw;
    Eventually(
        [&] {
          ours = Must(resource.get(name));
          raw = RealApiServer::Kubectl("get --raw " + resource.Path(name));
          raw.erase(0, raw.find('{'));  // kubectl prints the server's warnings first
          return CanonicalJson(ours) == CanonicalJson(raw);
        },
        std::chrono::seconds(5));
    EXPECT_EQ(CanonicalJson(ours), CanonicalJson(raw));
  }

  static void CreateReadUpdatePatch(const Resource& resource, const std::string& name, const std::string& json) {
    const auto created = resource.create(json);
    ASSERT_TRUE(created.has_value()) << created.error();
    if (!resource.get) return;
    ExpectServersJson(resource, name);
    Result<std::string> written = Fail(Code::kConflict, "");
    Eventually([&] {
      written = resource.label(Must(resource.get(name)));
      return written.has_value() || written.error().code() != Code::kConflict;
    });
    ASSERT_TRUE(written.has_value()) << written.error();
    written = resource.annotate(name);
    ASSERT_TRUE(written.has_value()) << written.error();
    EXPECT_THAT(*written, ::testing::AllOf(::testing::HasSubstr("updated"), ::testing::HasSubstr("patched")));
    ExpectServersJson(resource, name);
    EXPECT_TRUE(Eventually([&] { return Must(resource.lists(Must(resource.get(name)))); }, std::chrono::seconds(5)));
  }

  std::optional<k8s::Clientset> clients_;
  std::map<std::string, Resource> resources_;
};

TEST_F(EveryKindTest, HasAClientForEachResourceThatTheServerServes) {
  std::set<std::string> served;
  for (const ApiResource& resource : Must(Discover(clients_->connection())).resources)
    if (!resource.resource.group.ends_with(".example.com"))  // custom resources of other tests
      served.insert(KindKey(resource.kind.group, resource.kind.version, resource.kind.kind));
  std::set<std::string> known;
  for (const auto& [key, resource] : resources_) known.insert(key);
  EXPECT_EQ(known, served);
}

// Covers kinds that cannot be created too, which have no object in every_kind.yaml.
TEST_F(EveryKindTest, IsListedWhereTheServerListsIt) {
  std::set<std::string> served, listed;
  for (const ApiResource& resource : Must(Discover(clients_->connection())).resources)
    if (!resource.resource.group.ends_with(".example.com") &&
        std::ranges::find(resource.verbs, "list") != resource.verbs.end())
      served.insert(KindKey(resource.kind.group, resource.kind.version, resource.kind.kind));
  for (const auto& [key, resource] : resources_) {
    if (!resource.list) continue;
    const Result<std::size_t> list = resource.list();
    EXPECT_TRUE(list.has_value()) << key << ": " << list.error();
    listed.insert(key);
  }
  EXPECT_EQ(listed, served);
}

TEST_F(EveryKindTest, IsCreatedReadUpdatedPatchedListedAndDeletedAsTheServersOwnJson) {
  std::string text = test_support::ReadFile(test_support::SourcePath("tests/integration/every_kind.yaml"));
  for (std::size_t at; (at = text.find("{ns}")) != std::string::npos;) text.replace(at, 4, kNamespace);
  const auto objects = yaml::Parse(text);
  ASSERT_TRUE(objects.has_value()) << objects.error().message;

  std::set<std::string> done;
  std::vector<std::pair<const Resource*, std::string>> created;
  for (const yaml::Node& object : objects->documents()) {
    const std::string key =
        std::string(object.Find("apiVersion")->text()) + ' ' + std::string(object.Find("kind")->text());
    SCOPED_TRACE(key);
    ASSERT_TRUE(resources_.contains(key));
    const Resource& resource = resources_[key];
    const yaml::Node* metadata = object.Find("metadata");
    const yaml::Node* name = metadata != nullptr ? metadata->Find("name") : nullptr;
    CreateReadUpdatePatch(resource, name != nullptr ? std::string(name->text()) : "", yaml::ToJson(object));
    if (resource.erase) created.emplace_back(&resource, std::string(name->text()));
    done.insert(key);
  }
  for (const auto& [key, resource] : resources_) {
    EXPECT_TRUE(!resource.create || done.contains(key)) << "no object of " << key << " in every_kind.yaml";
  }

  for (const auto& [resource, name] : created) {
    SCOPED_TRACE(resource->Path(name));
    const auto erased = resource->erase(name);
    EXPECT_TRUE(erased.has_value()) << erased.error();
    // Some stay for a finalizer, whose controller does not run here.
    const auto read = resource->get(name);
    if (read) {
      EXPECT_THAT(*read, ::testing::HasSubstr("deletionTimestamp"));
    } else {
      EXPECT_EQ(read.error().code(), Code::kNotFound) << read.error();
    }
  }
}

}  // namespace
}  // namespace kgen::integration
