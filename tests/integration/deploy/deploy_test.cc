// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What deploys examples/operator and examples/cronjob: the bases in their folders deploy/, rendered by kustomize and
// accepted by the in-memory cluster. Names and labels by which objects refer to each other are checked here, because no
// server checks them. Kustomize is the program that ./dev integration builds, or else a part of kubectl. Without
// either, these tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <k8s/rbac/v1/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
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
using k8s::policy::v1::PodDisruptionBudget;
using k8s::rbac::v1::ClusterRole;
using k8s::rbac::v1::ClusterRoleBinding;
using k8s::rbac::v1::Role;
using k8s::rbac::v1::RoleBinding;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

struct Base {
  std::string folder;  // of the example
  std::string name;    // of its Deployment, and of all that has one name
  std::string in_namespace;
  std::string program;
  std::string crd;
};
void PrintTo(const Base& base, std::ostream* out) { *out << base.folder; }

const Base kOperator = {"operator", "store-operator", "store-system", "store_operator", "stores.kv.example.com"};
const Base kCronJob = {"cronjob", "cronjob-operator", "cronjobs", "cronjob_operator",
                       "cronjobs.batch.tutorial.kubebuilder.io"};

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

// The command that renders a folder, or "".
std::string FindKustomize() {
  if (const char* given = std::getenv("KGEN_TEST_KUSTOMIZE"); given != nullptr) return std::string(given) + " build";
  if (const std::string built = test_support::SourcePath("build/kustomize/kustomize"); std::filesystem::exists(built)) {
    return built + " build";
  }
  const std::string kubectl = FindKubectl();
  return kubectl.empty() ? "" : kubectl + " kustomize";
}

std::vector<std::pair<std::string, std::string>> PairsOf(const Map<String>& map) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : map) pairs.emplace_back(name, value);
  return pairs;
}

class DeployTest : public ::testing::TestWithParam<Base> {
 protected:
  void SetUp() override {
    kustomize_ = FindKustomize();
    if (kustomize_.empty()) GTEST_SKIP() << "no kustomize and no kubectl: ./dev integration builds both";
    Render("examples/" + GetParam().folder + "/deploy");
    deployment_ = Only<Deployment>("Deployment");
    for (const std::string& service : OfKind("Service")) {
      services_.push_back(Must(Decode<Service>(service)));
      if (services_.back().metadata.name == GetParam().name + "-metrics") service_ = services_.back();
    }
    ASSERT_EQ(deployment_.spec->template_->spec->containers.size(), 1U);
    container_ = deployment_.spec->template_->spec->containers[0];
  }

  // Adds the objects of a base as JSON texts to `objects_`.
  void Render(const std::string& base) {
    const auto stream = yaml::Parse(OutputOf(kustomize_ + " " + test_support::SourcePath(base)));
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
  std::string kustomize_;
  std::vector<std::string> objects_;
  Deployment deployment_;
  Container container_;
  std::vector<Service> services_;
  Service service_;  // of the metrics
};

TEST_P(DeployTest, AServerAcceptsEveryObject) {
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
  cluster.AddResource({.group = "policy",
                       .version = "v1",
                       .plural = "poddisruptionbudgets",
                       .singular = "poddisruptionbudget",
                       .kind = "PodDisruptionBudget",
                       .list_kind = "PodDisruptionBudgetList"});
  for (const std::string& object : objects_) {
    const auto added = cluster.Add(object);
    EXPECT_TRUE(added) << added.error() << '\n' << object;
  }
  EXPECT_TRUE(cluster.Get("deployments", GetParam().in_namespace, GetParam().name));
  EXPECT_TRUE(cluster.Get("customresourcedefinitions", "", GetParam().crd));
}

TEST_P(DeployTest, EveryNamespacedObjectIsInOneNamespace) {
  for (const std::string& object : objects_) {
    const auto json = nlohmann::json::parse(object);
    const std::string kind = json["kind"];
    const bool cluster_wide = kind == "Namespace" || kind == "CustomResourceDefinition" ||
                              kind.starts_with("ClusterRole") || kind.ends_with("WebhookConfiguration");
    EXPECT_EQ(json["metadata"].value("namespace", ""), cluster_wide ? "" : GetParam().in_namespace) << object;
  }
  EXPECT_EQ(Only<k8s::core::v1::Namespace>("Namespace").metadata.name, GetParam().in_namespace);
}

TEST_P(DeployTest, SelectorsSelectThePods) {
  const auto& pod = *deployment_.spec->template_;
  const auto& spread = pod.spec->topologySpreadConstraints;
  ASSERT_EQ(spread.size(), 1U);
  std::vector<Map<String>> selectors = {deployment_.spec->selector->matchLabels, spread[0].labelSelector->matchLabels};
  for (const Service& service : services_) selectors.push_back(service.spec->selector);
  for (const std::string& budget : OfKind("PodDisruptionBudget")) {
    const auto decoded = Must(Decode<PodDisruptionBudget>(budget));
    selectors.push_back(decoded.spec->selector->matchLabels);
  }
  for (const Map<String>& selector : selectors) {
    EXPECT_FALSE(selector.empty());
    EXPECT_THAT(PairsOf(pod.metadata->labels), IsSupersetOf(PairsOf(selector)));
  }
}

TEST_P(DeployTest, ThePodsHaveEveryRoleThroughTheirServiceAccount) {
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
    EXPECT_EQ(binding.subjects[0].namespace_, GetParam().in_namespace);
  };
  for (const std::string& binding : OfKind("ClusterRoleBinding")) add(Must(Decode<ClusterRoleBinding>(binding)));
  for (const std::string& binding : OfKind("RoleBinding")) add(Must(Decode<RoleBinding>(binding)));
  EXPECT_THAT(bound, UnorderedElementsAreArray(roles));
  EXPECT_EQ(roles.size(), 3U) << "what it reads, what it writes, and what is in its namespace";
}

TEST_P(DeployTest, PortsAreThoseThatTheProgramOpens) {
  std::vector<std::string> opened, declared;
  for (const auto& port : container_.ports) {
    declared.push_back("--" + std::string(port.name) + "=:" + std::to_string(*port.containerPort));
  }
  for (const auto& argument : container_.args) opened.emplace_back(argument);
  EXPECT_THAT(declared, UnorderedElementsAreArray(opened)) << "a port has the name of its flag";

  ASSERT_EQ(service_.spec->ports.size(), 1U);
  EXPECT_EQ(service_.spec->ports[0].targetPort, "metrics");
  EXPECT_EQ(container_.livenessProbe->httpGet->path, "/healthz");
  EXPECT_EQ(container_.livenessProbe->httpGet->port, "health");
  EXPECT_EQ(container_.readinessProbe->httpGet->path, "/readyz");
  EXPECT_EQ(container_.readinessProbe->httpGet->port, "health");
}

// --print-role opens no port and asks no server, but refuses arguments that the program does not know.
TEST_P(DeployTest, TheProgramKnowsTheArgumentsOfTheContainer) {
  std::string command = std::string(KGEN_PROGRAMS_DIR) + "/" + GetParam().program + " --print-role";
  for (const auto& argument : container_.args) command += ' ' + std::string(argument);
  EXPECT_THAT(OutputOf(command), StartsWith("apiVersion:"));
}

TEST_P(DeployTest, ThePodsMayDoNothingThatTheyDoNotNeed) {
  const auto& pod = *deployment_.spec->template_->spec;
  EXPECT_EQ(pod.securityContext->runAsNonRoot, true);
  EXPECT_EQ(pod.securityContext->seccompProfile->type, "RuntimeDefault");
  EXPECT_EQ(container_.securityContext->readOnlyRootFilesystem, true);
  EXPECT_EQ(container_.securityContext->allowPrivilegeEscalation, false);
  EXPECT_THAT(container_.securityContext->capabilities->drop, ElementsAre("ALL"));
}

TEST_P(DeployTest, OneReplicaTakesOverFromTheOther) { EXPECT_EQ(deployment_.spec->replicas, 2); }

INSTANTIATE_TEST_SUITE_P(Operator, DeployTest, ::testing::Values(kOperator));
INSTANTIATE_TEST_SUITE_P(CronJob, DeployTest, ::testing::Values(kCronJob));

class MonitoringDeployTest : public DeployTest {};

TEST_P(MonitoringDeployTest, TheServiceMonitorSelectsTheServiceAndItsPort) {
  Render("examples/operator/deploy/monitoring");
  const auto monitor = nlohmann::json::parse(OfKind("ServiceMonitor").at(0));
  EXPECT_EQ(monitor["metadata"]["namespace"], GetParam().in_namespace);
  const auto& selected = monitor["spec"]["selector"]["matchLabels"];
  ASSERT_FALSE(selected.empty());
  for (const auto& [name, value] : selected.items())
    EXPECT_EQ(service_.metadata.labels[name], value.get<std::string>());
  ASSERT_EQ(monitor["spec"]["endpoints"].size(), 1U);
  EXPECT_EQ(monitor["spec"]["endpoints"][0]["port"], std::string(service_.spec->ports[0].name));
}

INSTANTIATE_TEST_SUITE_P(Operator, MonitoringDeployTest, ::testing::Values(kOperator));

class WebhookDeployTest : public DeployTest {
 protected:
  // The clientConfig of each webhook and of the conversion.
  std::vector<nlohmann::json> Called() const {
    std::vector<nlohmann::json> called = {nlohmann::json::parse(
        OfKind("CustomResourceDefinition").at(0))["spec"]["conversion"]["webhook"]["clientConfig"]};
    for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
      const auto configuration = nlohmann::json::parse(OfKind(kind).at(0));
      for (const auto& webhook : configuration["webhooks"]) called.push_back(webhook["clientConfig"]);
    }
    return called;
  }
};

TEST_P(WebhookDeployTest, ServersCallThePodsThroughTheirService) {
  std::vector<std::string> paths;
  for (const auto& config : Called()) {
    const auto& target = config["service"];
    paths.push_back(target["path"]);
    EXPECT_EQ(target["namespace"], GetParam().in_namespace);
    const auto service = std::ranges::find(services_, target["name"].get<std::string>(),
                                           [](const Service& each) { return std::string(each.metadata.name); });
    ASSERT_NE(service, services_.end()) << config;
    ASSERT_EQ(service->spec->ports.size(), 1U);
    EXPECT_EQ(service->spec->ports[0].port, target.value("port", 443));
    EXPECT_EQ(service->spec->ports[0].targetPort, 9443);
    EXPECT_FALSE(config.contains("caBundle")) << "the replicas write it, and would be undone";
  }
  EXPECT_THAT(paths, UnorderedElementsAre("/convert", "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob",
                                          "/validate-batch-tutorial-kubebuilder-io-v1-cronjob"));
}

TEST_P(WebhookDeployTest, TheReplicasMayWriteTheCaBundleOfEverythingThatCallsThem) {
  std::vector<std::string> allowed, calling;
  for (const std::string& role : OfKind("ClusterRole")) {
    const auto decoded = Must(Decode<ClusterRole>(role));
    for (const auto& rule : decoded.rules) {
      if (std::ranges::find(rule.verbs, "patch") == rule.verbs.end()) continue;
      for (const auto& name : rule.resourceNames) {
        for (const auto& resource : rule.resources) allowed.push_back(std::string(resource) + '/' + std::string(name));
      }
    }
  }
  for (const std::string& object : objects_) {
    const auto json = nlohmann::json::parse(object);
    const std::string kind = json["kind"], name = json["metadata"]["name"];
    if (kind == "CustomResourceDefinition") calling.push_back("customresourcedefinitions/" + name);
    if (kind == "MutatingWebhookConfiguration") calling.push_back("mutatingwebhookconfigurations/" + name);
    if (kind == "ValidatingWebhookConfiguration") calling.push_back("validatingwebhookconfigurations/" + name);
  }
  EXPECT_THAT(allowed, UnorderedElementsAreArray(calling));
}

INSTANTIATE_TEST_SUITE_P(CronJob, WebhookDeployTest, ::testing::Values(kCronJob));

}  // namespace
}  // namespace kgen::testing
