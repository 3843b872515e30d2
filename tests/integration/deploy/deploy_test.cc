// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What deploys examples/operator: the bases in examples/operator/deploy, rendered by kustomize, which is a part of
// kubectl, and accepted by the in-memory cluster. Names and labels by which objects refer to each other are checked
// here, because no server checks them. Without kubectl these tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/rbac/v1/types.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kgen/codec/decode.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/map.h"
#include "kgen/testing/cluster.h"
#include "tests/integration/memory/kubectl.h"
#include "tests/support/paths.h"

namespace kgen::testing {
namespace {

using k8s::apps::v1::Deployment;
using k8s::core::v1::Container;
using k8s::core::v1::Service;
using k8s::core::v1::ServiceAccount;
using k8s::rbac::v1::ClusterRole;
using k8s::rbac::v1::ClusterRoleBinding;
using k8s::rbac::v1::Role;
using k8s::rbac::v1::RoleBinding;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

constexpr std::string_view kNamespace = "store-system";

// The output of a command, or "" with a failure of the test.
std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"),
                                                   [](FILE* open) { return pclose(open); });
  std::string out;
  char buffer[4096];
  if (pipe == nullptr) return ADD_FAILURE() << "no shell for " << command, out;
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) out.append(buffer, n);
  EXPECT_FALSE(out.empty()) << command;
  return out;
}

std::vector<std::pair<std::string, std::string>> PairsOf(const Map<String>& map) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : map) pairs.emplace_back(name, value);
  return pairs;
}

class DeployTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kubectl_ = FindKubectl();
    if (kubectl_.empty()) GTEST_SKIP() << "no kubectl: ./dev integration builds one, or put one into the PATH";
    Render("examples/operator/deploy");
    Render("examples/operator/deploy/monitoring");
    deployment_ = Only<Deployment>("Deployment");
    service_ = Only<Service>("Service");
    monitor_ = nlohmann::json::parse(OfKind("ServiceMonitor").at(0));
    ASSERT_EQ(deployment_.spec->template_->spec->containers.size(), 1U);
    container_ = deployment_.spec->template_->spec->containers[0];
  }

  // Adds the objects of a base as JSON texts to `objects_`.
  void Render(const std::string& base) {
    const auto stream = yaml::Parse(OutputOf(kubectl_ + " kustomize " + test_support::SourcePath(base)));
    ASSERT_TRUE(stream) << base;
    for (const yaml::Node& document : stream->documents()) objects_.push_back(yaml::ToJson(document));
  }

  std::vector<std::string> OfKind(std::string_view kind) const {
    std::vector<std::string> found;
    for (const std::string& object : objects_) {
      if (nlohmann::json::parse(object)["kind"] == kind) found.push_back(object);
    }
    return found;
  }
  template <typename T>
  T Only(std::string_view kind) const {
    const std::vector<std::string> found = OfKind(kind);
    EXPECT_EQ(found.size(), 1U) << kind;
    return found.empty() ? T{} : Must(Decode<T>(found.front()));
  }
  std::string kubectl_;
  std::vector<std::string> objects_;
  Deployment deployment_;
  Container container_;
  Service service_;
  nlohmann::json monitor_;
};

TEST_F(DeployTest, AServerAcceptsEveryObject) {
  Cluster cluster;
  for (const auto& [plural, kind, namespaced] :
       {std::tuple("clusterroles", "ClusterRole", false),
        std::tuple("clusterrolebindings", "ClusterRoleBinding", false), std::tuple("roles", "Role", true),
        std::tuple("rolebindings", "RoleBinding", true)}) {
    cluster.AddResource({.group = "rbac.authorization.k8s.io",
                         .version = "v1",
                         .plural = plural,
                         .singular = kind,
                         .kind = kind,
                         .list_kind = std::string(kind) + "List",
                         .namespaced = namespaced});
  }
  cluster.AddResource({.group = "monitoring.coreos.com",
                       .version = "v1",
                       .plural = "servicemonitors",
                       .singular = "servicemonitor",
                       .kind = "ServiceMonitor",
                       .list_kind = "ServiceMonitorList"});
  for (const std::string& object : objects_) {
    const auto added = cluster.Add(object);
    EXPECT_TRUE(added) << added.error() << '\n' << object;
  }
  EXPECT_TRUE(cluster.Get("deployments", kNamespace, "store-operator"));
  EXPECT_TRUE(cluster.Get("customresourcedefinitions", "", "stores.kv.example.com"));
}

TEST_F(DeployTest, EveryNamespacedObjectIsInOneNamespace) {
  for (const std::string& object : objects_) {
    const auto json = nlohmann::json::parse(object);
    const std::string kind = json["kind"];
    const bool cluster_wide =
        kind == "Namespace" || kind == "CustomResourceDefinition" || kind.starts_with("ClusterRole");
    EXPECT_EQ(json["metadata"].value("namespace", ""), cluster_wide ? "" : kNamespace) << object;
  }
  EXPECT_EQ(Only<k8s::core::v1::Namespace>("Namespace").metadata.name, kNamespace);
}

TEST_F(DeployTest, SelectorsSelectThePodsAndTheService) {
  const auto& pod = *deployment_.spec->template_;
  const auto& spread = pod.spec->topologySpreadConstraints;
  ASSERT_EQ(spread.size(), 1U);
  for (const Map<String>& selector :
       {deployment_.spec->selector->matchLabels, service_.spec->selector, spread[0].labelSelector->matchLabels}) {
    EXPECT_FALSE(selector.empty());
    EXPECT_THAT(PairsOf(pod.metadata->labels), IsSupersetOf(PairsOf(selector)));
  }
  const auto& selected = monitor_["spec"]["selector"]["matchLabels"];
  ASSERT_FALSE(selected.empty());
  for (const auto& [name, value] : selected.items())
    EXPECT_EQ(service_.metadata.labels[name], value.get<std::string>());
}

TEST_F(DeployTest, ThePodsHaveEveryRoleThroughTheirServiceAccount) {
  const auto account = Only<ServiceAccount>("ServiceAccount").metadata.name;
  EXPECT_EQ(deployment_.spec->template_->spec->serviceAccountName, account);
  std::vector<std::string> roles, bound;
  for (const std::string& role : OfKind("ClusterRole")) {
    roles.push_back("ClusterRole " + std::string(Must(Decode<ClusterRole>(role)).metadata.name));
  }
  for (const std::string& role : OfKind("Role")) {
    roles.push_back("Role " + std::string(Must(Decode<Role>(role)).metadata.name));
  }
  const auto add = [&](const auto& binding) {
    bound.push_back(std::string(binding.roleRef->kind) + ' ' + std::string(binding.roleRef->name));
    ASSERT_EQ(binding.subjects.size(), 1U);
    EXPECT_EQ(binding.subjects[0].kind, "ServiceAccount");
    EXPECT_EQ(binding.subjects[0].name, account);
    EXPECT_EQ(binding.subjects[0].namespace_, kNamespace);
  };
  for (const std::string& binding : OfKind("ClusterRoleBinding")) add(Must(Decode<ClusterRoleBinding>(binding)));
  for (const std::string& binding : OfKind("RoleBinding")) add(Must(Decode<RoleBinding>(binding)));
  EXPECT_THAT(bound, UnorderedElementsAreArray(roles));
  EXPECT_EQ(roles.size(), 3U) << "what it reads, what it writes, and its Lease";
}

TEST_F(DeployTest, PortsAreThoseThatTheProgramOpens) {
  std::vector<std::string> opened, declared;
  for (const auto& port : container_.ports) {
    declared.push_back("--" + std::string(port.name) + "=:" + std::to_string(*port.containerPort));
  }
  for (const auto& argument : container_.args) opened.emplace_back(argument);
  EXPECT_THAT(declared, UnorderedElementsAreArray(opened)) << "a port has the name of its flag";

  ASSERT_EQ(service_.spec->ports.size(), 1U);
  EXPECT_EQ(service_.spec->ports[0].targetPort, "metrics");
  ASSERT_EQ(monitor_["spec"]["endpoints"].size(), 1U);
  EXPECT_EQ(monitor_["spec"]["endpoints"][0]["port"], std::string(service_.spec->ports[0].name));
  EXPECT_EQ(container_.livenessProbe->httpGet->path, "/healthz");
  EXPECT_EQ(container_.livenessProbe->httpGet->port, "health");
  EXPECT_EQ(container_.readinessProbe->httpGet->path, "/readyz");
  EXPECT_EQ(container_.readinessProbe->httpGet->port, "health");
}

// --print-role opens no port and asks no server, but refuses arguments that the program does not know.
TEST_F(DeployTest, TheProgramKnowsTheArgumentsOfTheContainer) {
  std::string command = std::string(KGEN_PROGRAMS_DIR) + "/store_operator --print-role";
  for (const auto& argument : container_.args) command += ' ' + std::string(argument);
  EXPECT_THAT(OutputOf(command), StartsWith("apiVersion:"));
}

TEST_F(DeployTest, ThePodsMayDoNothingThatTheyDoNotNeed) {
  const auto& pod = *deployment_.spec->template_->spec;
  EXPECT_EQ(pod.securityContext->runAsNonRoot, true);
  EXPECT_EQ(pod.securityContext->seccompProfile->type, "RuntimeDefault");
  EXPECT_EQ(container_.securityContext->readOnlyRootFilesystem, true);
  EXPECT_EQ(container_.securityContext->allowPrivilegeEscalation, false);
  EXPECT_THAT(container_.securityContext->capabilities->drop, ElementsAre("ALL"));
}

TEST_F(DeployTest, OneReplicaTakesOverFromTheOther) { EXPECT_EQ(deployment_.spec->replicas, 2); }

}  // namespace
}  // namespace kgen::testing
