// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The subresources of generated clients: which clients have them, and their effect on the in-memory server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/authentication/v1/types.h>
#include <k8s/authorization/v1/types.h>
#include <k8s/certificates/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/policy/v1/types.h>

#include <chrono>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/client/subresources.h"
#include "kgen/core/conditions.h"
#include "kgen/testing/cluster.h"
#include "kgen/testing/matchers.h"

namespace {

using k8s::authentication::v1::TokenRequest;
using k8s::authentication::v1::TokenRequestSpec;
using k8s::certificates::v1::CertificateSigningRequest;
using k8s::core::v1::Binding;
using k8s::core::v1::ObjectReference;
using k8s::core::v1::Pod;
using k8s::policy::v1::Eviction;
using kgen::Code;
using kgen::Must;
using kgen::testing::Cluster;
using kgen::testing::HasActions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Client>
concept Evicts = requires(const Client& client, const Eviction& eviction) {
  { Evict(client, "", eviction) } -> std::same_as<kgen::Result<void>>;
};
template <typename Client>
concept Binds = requires(const Client& client, const Binding& binding) { Bind(client, binding); };
template <typename Client>
concept CreatesTokens = requires(const Client& client, const TokenRequest& request) {
  { CreateToken(client, "", request) } -> std::same_as<kgen::Result<TokenRequest>>;
};
template <typename Client>
concept ReadsLogs = requires(const Client& client) { Logs(client, ""); };
template <typename Client>
concept Finalizes = requires(const Client& client, const k8s::core::v1::Namespace& object) {
  client.template UpdateSubresource<"finalize">(object);
};
template <typename Client, typename T>
concept Approves =
    requires(const Client& client, const T& object) { client.template UpdateSubresource<"approval">(object); };

using Core = decltype(std::declval<k8s::Clientset>().CoreV1());
using Pods = decltype(std::declval<Core>().Pods(""));
using Services = decltype(std::declval<Core>().Services(""));

// Contract: generator OP-14.
TEST(SubresourcesOfTheBuiltInApi, ExistWhereTheApiHasThem) {
  EXPECT_TRUE(Evicts<Pods> && Binds<Pods> && ReadsLogs<Pods>);
  EXPECT_TRUE(CreatesTokens<decltype(std::declval<Core>().ServiceAccounts(""))>);
  EXPECT_TRUE(Finalizes<decltype(std::declval<Core>().Namespaces())>);
  using Requests = decltype(std::declval<k8s::Clientset>().CertificatesV1().CertificateSigningRequests());
  EXPECT_TRUE((Approves<Requests, CertificateSigningRequest>));
}

// Contract: generator OP-10.
TEST(SubresourcesOfTheBuiltInApi, DoNotCompileElsewhere) {
  EXPECT_FALSE(Evicts<Services> || Binds<Services> || ReadsLogs<Services> || CreatesTokens<Pods> || Finalizes<Pods>);
  EXPECT_FALSE((Approves<Pods, Pod>));
}

// Contract: generator WK-01.
TEST(TypesOfTheBuiltInApi, NameTheRequirementsOfAFieldSelector) {
  k8s::authorization::v1::FieldSelectorAttributes attributes;
  attributes.requirements = {{.key = "spec.nodeName", .operator_ = "In", .values = {"n1"}}};
  EXPECT_EQ(attributes.requirements[0].values[0], "n1");
}

class SubresourcesOfTheClusterTest : public ::testing::Test {
 protected:
  void SetUp() override { Must(cluster_.Add(kgen::testing::MinimalPod("default", "web"))); }
  std::string PodJson() { return Must(cluster_.Get("pods", "default", "web")); }

  Cluster cluster_;
  const k8s::Clientset clientset_{cluster_.Connection()};
  const k8s::core::v1::PodsClient pods_ = clientset_.CoreV1().Pods("default");
};

// Contract: client FAKE-15.
TEST_F(SubresourcesOfTheClusterTest, EvictionDeletesThePod) {
  Must(Evict(pods_, "web", {}));
  EXPECT_EQ(pods_.Get("web").error().code(), Code::kNotFound);
  EXPECT_EQ(Evict(pods_, "web", {}).error().code(), Code::kNotFound);
  EXPECT_THAT(cluster_.Writes(), HasActions({"create pods/eviction default/web", "create pods/eviction default/web"}));
}

TEST_F(SubresourcesOfTheClusterTest, EvictionHonoursADryRunAndPreconditions) {
  Must(Evict(pods_, "web", {}, {.dry_run = true}));
  Must(Evict(pods_, "web", {.deleteOptions = kgen::meta::v1::DeleteOptions{.dryRun = {"All"}}}));
  const kgen::meta::v1::DeleteOptions other{.preconditions = kgen::meta::v1::Preconditions{.uid = "another"}};
  EXPECT_EQ(Evict(pods_, "web", {.deleteOptions = other}).error().code(), Code::kConflict);
  EXPECT_EQ(Evict(pods_, "web", {.metadata = {.name = "db"}}).error().code(), Code::kInvalid);
  EXPECT_TRUE(pods_.Get("web"));
}

TEST_F(SubresourcesOfTheClusterTest, EvictionGivesARunningPodItsGracePeriod) {
  Must(Bind(pods_, {.metadata = {.name = "web"}, .target = ObjectReference{.name = "n1"}}));
  Must(Evict(pods_, "web", {.deleteOptions = kgen::meta::v1::DeleteOptions{.gracePeriodSeconds = 20}}));
  EXPECT_EQ(Must(pods_.Get("web")).metadata.deletionGracePeriodSeconds, 20);
  cluster_.Advance(std::chrono::seconds(21));
  EXPECT_EQ(pods_.Get("web").error().code(), Code::kNotFound);
}

TEST_F(SubresourcesOfTheClusterTest, BindingGivesThePodItsNodeOnce) {
  const Binding binding{.metadata = {.name = "web"}, .target = ObjectReference{.name = "n1", .kind = "Node"}};
  Must(Bind(pods_, binding, {.dry_run = true}));
  EXPECT_THAT(PodJson(), ::testing::Not(HasSubstr("nodeName")));
  Must(Bind(pods_, binding));
  const Pod bound = Must(pods_.Get("web"));
  EXPECT_EQ(bound.spec->nodeName, "n1");
  const auto again = Bind(pods_, binding);
  EXPECT_EQ(again.error().code(), Code::kConflict);
  EXPECT_THAT(again.error().ToString(), HasSubstr("already assigned to node \"n1\""));
  EXPECT_EQ(Bind(pods_, {.metadata = {.name = "web"}}).error().code(), Code::kInvalid);
  EXPECT_EQ(Bind(pods_, {.metadata = {.name = "db"}, .target = ObjectReference{.name = "n1"}}).error().code(),
            Code::kNotFound);
}

TEST_F(SubresourcesOfTheClusterTest, TokenExpiresWhenTheRequestSays) {
  const auto accounts = clientset_.CoreV1().ServiceAccounts("default");
  Must(accounts.Create({.metadata = {.name = "robot"}}));
  const TokenRequest hour = Must(CreateToken(accounts, "robot", {}));
  const TokenRequest minutes =
      Must(CreateToken(accounts, "robot", {.spec = TokenRequestSpec{.expirationSeconds = 600}}));
  EXPECT_FALSE(hour.status->token.empty());
  EXPECT_NE(hour.status->token, minutes.status->token);
  EXPECT_EQ(hour.spec->expirationSeconds, 3600);
  EXPECT_EQ(hour.status->expirationTimestamp.value() - minutes.status->expirationTimestamp.value(),
            std::chrono::minutes(50));
  EXPECT_EQ(CreateToken(accounts, "robot", {.spec = TokenRequestSpec{.expirationSeconds = 599}}).error().code(),
            Code::kInvalid);
  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(CreateToken(accounts, "robot", {.spec = TokenRequestSpec{.expirationSeconds = kForever}}).error().code(),
            Code::kInvalid);
  EXPECT_EQ(CreateToken(accounts, "none", {}).error().code(), Code::kNotFound);
}

TEST_F(SubresourcesOfTheClusterTest, ApprovalChangesTheConditionsAndNotTheRequest) {
  const auto requests = clientset_.CertificatesV1().CertificateSigningRequests();
  CertificateSigningRequest request{.metadata = {.name = "node"}};
  request.spec->signerName = "example.com/test";
  request = Must(requests.Create(request));
  request.spec->signerName = "example.com/other";
  request.metadata.labels["a"] = "b";
  request.status->certificate = kgen::Bytes::Of("forged");
  kgen::SetCondition(request.status->conditions, {.status = "True", .type = "Approved"});
  Must(requests.UpdateSubresource<"approval">(request));
  const CertificateSigningRequest after = Must(requests.Get("node"));
  EXPECT_TRUE(kgen::IsConditionTrue(after.status->conditions, "Approved"));
  EXPECT_EQ(after.spec->signerName, "example.com/test");
  EXPECT_EQ(after.metadata.labels.size(), 1u) << "as on a real server";
  EXPECT_FALSE(after.status->certificate.has_value());
  EXPECT_EQ(requests.UpdateSubresource<"approval">(request).error().code(), Code::kConflict)
      << "from before the approval";
}

TEST_F(SubresourcesOfTheClusterTest, EphemeralContainersAndResizeChangeTheirFieldsAlone) {
  Pod pod = Must(pods_.GetSubresource<"ephemeralcontainers">("web"));
  const std::string image(pod.spec->containers[0].image);
  pod.spec->containers[0].image = "other";
  pod.spec->containers[0].resources->limits["cpu"] = kgen::Quantity("2");
  pod.spec->ephemeralContainers = {{.name = "debug", .image = "busybox"}};
  pod.metadata.labels["a"] = "b";
  pod.metadata.resourceVersion = "";
  const Pod debugged = Must(pods_.UpdateSubresource<"ephemeralcontainers">(pod));
  EXPECT_EQ(debugged.spec->ephemeralContainers[0].name, "debug");
  EXPECT_EQ(debugged.spec->containers[0].image, image);
  EXPECT_TRUE(debugged.spec->containers[0].resources->limits.empty());
  EXPECT_TRUE(debugged.metadata.labels.empty());

  pod.spec->ephemeralContainers.clear();
  const Pod resized = Must(pods_.UpdateSubresource<"resize">(pod));
  EXPECT_EQ(resized.spec->containers[0].resources->limits.find("cpu")->second, kgen::Quantity("2"));
  EXPECT_EQ(resized.spec->containers[0].image, image);
  EXPECT_EQ(resized.spec->ephemeralContainers.size(), 1u);
  const Pod patched = Must(pods_.PatchSubresource<"resize">(
      "web",
      kgen::StrategicMergePatch(R"({"spec":{"containers":[{"name":")" + std::string(resized.spec->containers[0].name) +
                                R"(","image":"x","resources":{"limits":{"cpu":"3"}}}]}})")));
  EXPECT_EQ(patched.spec->containers[0].resources->limits.find("cpu")->second, kgen::Quantity("3"));
  EXPECT_EQ(patched.spec->containers[0].image, image);
}

// Contract: client TYP-4.
TEST_F(SubresourcesOfTheClusterTest, ApplyStatusChangesTheStatusAloneAndNotesItsManager) {
  Pod pod{.metadata = {.name = "web"}};
  pod.metadata.labels["a"] = "b";
  pod.status->phase = "Running";
  const Pod applied = Must(pods_.ApplyStatus(pod, {.field_manager = "me"}));
  EXPECT_EQ(applied.status->phase, "Running");
  EXPECT_TRUE(applied.metadata.labels.empty());
  ASSERT_EQ(applied.metadata.managedFields.size(), 1u);
  EXPECT_EQ(applied.metadata.managedFields[0].manager, "me");
  EXPECT_EQ(applied.metadata.managedFields[0].subresource, "status");
  pod.metadata.name = "none";
  EXPECT_EQ(pods_.ApplyStatus(pod, {.field_manager = "me"}).error().code(), Code::kNotFound);
  EXPECT_EQ(pods_.ApplyStatus(pod, {}).error().code(), Code::kInvalid) << "there is no field manager";
}

TEST_F(SubresourcesOfTheClusterTest, AStatusThatDoesNotDifferChangesNothingAlsoWithoutManagedFields) {
  Pod pod = Must(pods_.Get("web"));
  pod.metadata.managedFields = {};
  pod.status->phase = "Running";
  Must(pods_.ApplyStatus(Pod{.metadata = {.name = "web"}, .status = pod.status}, {.field_manager = "me"}));
  pod = Must(pods_.Get("web"));
  ASSERT_FALSE(pod.metadata.managedFields.empty());
  pod.metadata.managedFields = {};
  const Pod same = Must(pods_.UpdateStatus(pod));
  EXPECT_EQ(same.metadata.resourceVersion, pod.metadata.resourceVersion);
  EXPECT_FALSE(same.metadata.managedFields.empty());
}

TEST_F(SubresourcesOfTheClusterTest, LogsAreWhatTheTestHasSet) {
  EXPECT_EQ(Must(Logs(pods_, "web")), "");
  cluster_.SetLog("default", "web", "one\ntwo\nthree\n");
  EXPECT_EQ(Must(Logs(pods_, "web")), "one\ntwo\nthree\n");
  EXPECT_EQ(Must(Logs(pods_, "web", {.tail_lines = 2})), "two\nthree\n");
  EXPECT_EQ(Must(Logs(pods_, "web", {.tail_lines = 0})), "");
  EXPECT_EQ(Must(Logs(pods_, "web", {.tail_lines = 9, .limit_bytes = 5})), "one\nt");
  EXPECT_EQ(Logs(pods_, "web", {.tail_lines = -1}).error().code(), Code::kInvalid);
  EXPECT_EQ(Logs(pods_, "none").error().code(), Code::kNotFound);
  const auto wrong = Logs(pods_, "web", {.container = "sidecar"});
  EXPECT_EQ(wrong.error().code(), Code::kInvalid);
  EXPECT_THAT(wrong.error().ToString(), HasSubstr("container sidecar is not valid for pod web"));
}

TEST_F(SubresourcesOfTheClusterTest, LogsOfSeveralContainersNeedAName) {
  Pod pod = kgen::testing::MinimalPod("default", "two");
  pod.spec->containers = {{.name = "a", .image = "x"}, {.name = "b", .image = "x"}};
  Must(cluster_.Add(pod));
  EXPECT_THAT(Logs(pods_, "two").error().ToString(), HasSubstr("choose one of: [a b]"));
  EXPECT_TRUE(Logs(pods_, "two", {.container = "b"}));
}

TEST_F(SubresourcesOfTheClusterTest, LogsAreStreamedLineByLine) {
  cluster_.SetLog("default", "web", "one\ntwo");
  auto log = Must(StreamLogs(pods_, "web", {.follow = true}));
  std::vector<std::string> lines;
  kgen::Result<std::string> line = log.Next();
  for (; line; line = log.Next()) lines.push_back(*line);
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  EXPECT_EQ(line.error().code(), Code::kStopped);
}

}  // namespace
