// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Subresources through generated clients on a real kube-apiserver. No kubelet runs, so pods have no logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/authentication/v1/types.h>
#include <k8s/authorization/v1/types.h>
#include <k8s/certificates/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/policy/v1/types.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "kgen/client/subresources.h"
#include "kgen/core/conditions.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using k8s::authentication::v1::TokenRequest;
using k8s::authentication::v1::TokenRequestSpec;
using k8s::certificates::v1::CertificateSigningRequest;
using k8s::core::v1::Binding;
using k8s::core::v1::ObjectReference;
using k8s::core::v1::Pod;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class SubresourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    clientset_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    namespace_ = "subresource-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    Must(clientset_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    pods_.emplace(clientset_->CoreV1().Pods(namespace_));
  }

  void CreatePod() {
    Pod pod{.metadata = {.name = "web", .labels = {{"app", "web"}}}};
    pod.spec->automountServiceAccountToken = false;
    pod.spec->containers = {{.name = "web", .image = "nginx"}};
    pod.spec->containers[0].resources->requests["cpu"] = Quantity("100m");
    // The account of a new namespace comes from a controller, which does not run here.
    (void)clientset_->CoreV1().ServiceAccounts(namespace_).Create({.metadata = {.name = "default"}});
    Must(pods_->Create(pod));
  }
  Binding To(std::string_view node) {
    return {.metadata = {.name = "web"}, .target = ObjectReference{.name = node, .kind = "Node"}};
  }

  std::optional<k8s::Clientset> clientset_;
  std::optional<k8s::core::v1::PodsClient> pods_;
  std::string namespace_;
};

// Contract: generator OP-14; client TYP-8; controller 153.
TEST_F(SubresourceTest, EvictionDeletesAPodAndHonoursADryRun) {
  CreatePod();
  Must(Evict(*pods_, "web", {}, {.dry_run = true}));
  EXPECT_TRUE(pods_->Get("web"));
  Must(Evict(*pods_, "web", {.deleteOptions = meta::v1::DeleteOptions{.gracePeriodSeconds = 0}}));
  EXPECT_EQ(pods_->Get("web").error().code(), Code::kNotFound);
  EXPECT_EQ(Evict(*pods_, "web", {}).error().code(), Code::kNotFound);
}

TEST_F(SubresourceTest, EvictionIsRefusedByAPodDisruptionBudget) {
  CreatePod();
  Must(Bind(*pods_, To("made-up")));
  Pod running = Must(pods_->Get("web"));
  running.status->phase = "Running";
  SetCondition(running.status->conditions, {.status = "True", .type = "Ready"});
  Must(pods_->UpdateStatus(running));
  k8s::policy::v1::PodDisruptionBudget budget{.metadata = {.name = "web"}};
  budget.spec->minAvailable = IntOrString(1);
  budget.spec->selector->matchLabels = {{"app", "web"}};
  Must(clientset_->PolicyV1().PodDisruptionBudgets(namespace_).Create(budget));
  // No controller counts the pods here, so the server says to try again after ten seconds.
  const auto evicted = Evict(*pods_, "web", {}, {.timeout = 5s});
  ASSERT_FALSE(evicted.has_value());
  EXPECT_EQ(evicted.error().code(), Code::kTooManyRequests) << evicted.error();
}

// Contract: generator OP-14; controller 153.
TEST_F(SubresourceTest, BindingAssignsAPodToANodeOnce) {
  CreatePod();
  Must(Bind(*pods_, To("made-up")));
  const Pod bound = Must(pods_->Get("web"));
  EXPECT_EQ(bound.spec->nodeName, "made-up");
  const auto again = Bind(*pods_, To("other"));
  EXPECT_EQ(again.error().code(), Code::kConflict);
  EXPECT_THAT(again.error().ToString(), HasSubstr("already assigned to node \"made-up\""));
}

// Contract: generator OP-14; client TYP-9; controller 153.
TEST_F(SubresourceTest, TokenOfAServiceAccountLogsItIn) {
  const auto accounts = clientset_->CoreV1().ServiceAccounts(namespace_);
  Must(accounts.Create({.metadata = {.name = "robot"}}));
  const TokenRequest token = Must(CreateToken(accounts, "robot", {.spec = TokenRequestSpec{.expirationSeconds = 600}}));
  EXPECT_EQ(token.spec->expirationSeconds, 600);
  const auto review = Must(clientset_->AuthenticationV1().TokenReviews().Create(
      {.spec = k8s::authentication::v1::TokenReviewSpec{.token = token.status->token}}));
  EXPECT_EQ(review.status->user->username, "system:serviceaccount:" + namespace_ + ":robot");
  EXPECT_EQ(CreateToken(accounts, "robot", {.spec = TokenRequestSpec{.expirationSeconds = 1}}).error().code(),
            Code::kInvalid);
  EXPECT_EQ(CreateToken(accounts, "none", {}).error().code(), Code::kNotFound);
}

// Contract: generator OP-14; client TYP-9; controller 153.
TEST_F(SubresourceTest, ApprovalWritesTheConditionsAndNotTheRequest) {
  // openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=robot
  constexpr char kRequest[] =
      "-----BEGIN CERTIFICATE REQUEST-----\n"
      "MIHKMHICAQAwEDEOMAwGA1UEAwwFcm9ib3QwWTATBgcqhkjOPQIBBggqhkjOPQMB\n"
      "BwNCAATr4i04EdulHINDt4luPuQ7PO8KXdkwxHq3ZIk43HpvsPkikvWWyFx/QWn5\n"
      "rS7Dl+ffT1vMx2PIt0cIvDQnu8xZoAAwCgYIKoZIzj0EAwIDSAAwRQIhAMl5Vxjy\n"
      "TLsTsyHlgq9FdwrbWNs+0+Mg8Zv9XjuysMehAiAnsyPEuGZ1NMRRLHWua/gTNfBA\n"
      "DisRa1T6wlxvIApLwg==\n"
      "-----END CERTIFICATE REQUEST-----\n";
  const auto requests = clientset_->CertificatesV1().CertificateSigningRequests();
  CertificateSigningRequest request{.metadata = {.name = namespace_}};
  request.spec->request = Bytes::Of(kRequest);
  request.spec->signerName = "example.com/test";
  request.spec->usages = {"client auth"};
  request = Must(requests.Create(request));
  request.metadata.labels["a"] = "b";
  request.spec->signerName = "example.com/other";
  SetCondition(request.status->conditions,
               {.message = "by a test", .reason = "Test", .status = "True", .type = "Approved"});
  const CertificateSigningRequest approved = Must(requests.UpdateSubresource<"approval">(request));
  EXPECT_TRUE(IsConditionTrue(approved.status->conditions, "Approved"));
  EXPECT_EQ(approved.spec->signerName, "example.com/test");
  EXPECT_EQ(approved.metadata.labels.size(), 1u);
  Must(requests.Delete(namespace_));
}

// Contract: generator OP-14.
TEST_F(SubresourceTest, EphemeralContainersAreAddedToAPod) {
  CreatePod();
  Pod pod = Must(pods_->GetSubresource<"ephemeralcontainers">("web"));
  pod.spec->ephemeralContainers = {{.name = "debug", .image = "busybox", .terminationMessagePolicy = "File"}};
  const Pod debugged = Must(pods_->UpdateSubresource<"ephemeralcontainers">(pod));
  ASSERT_EQ(debugged.spec->ephemeralContainers.size(), 1u);
  EXPECT_EQ(debugged.spec->ephemeralContainers[0].name, "debug");
  const Pod patched = Must(pods_->PatchSubresource<"ephemeralcontainers">(
      "web", StrategicMergePatch(R"({"spec":{"ephemeralContainers":[{"name":"second","image":"busybox"}]}})")));
  EXPECT_EQ(patched.spec->ephemeralContainers.size(), 2u);
}

// Contract: generator OP-14.
TEST_F(SubresourceTest, ResizeChangesTheResourcesOfAPod) {
  CreatePod();
  Pod pod = Must(pods_->Get("web"));
  pod.spec->containers[0].resources->requests["cpu"] = Quantity("200m");
  const auto updated = pods_->Update(pod);
  ASSERT_FALSE(updated.has_value()) << "only the subresource may";
  EXPECT_EQ(updated.error().code(), Code::kInvalid);
  pod.spec->containers[0].image = "other";
  const Pod resized = Must(pods_->UpdateSubresource<"resize">(pod));
  EXPECT_EQ(resized.spec->containers[0].image, "nginx");
  EXPECT_EQ(resized.spec->containers[0].resources->requests.find("cpu")->second, Quantity("200m"));
}

// Contract: client TYP-4; controller 156.
TEST_F(SubresourceTest, ApplyStatusOwnsTheFieldsOfTheStatus) {
  CreatePod();
  Pod pod{.metadata = {.name = "web"}};
  pod.status->message = "applied";
  const Pod applied = Must(pods_->ApplyStatus(pod, {.field_manager = "me"}));
  EXPECT_EQ(applied.status->message, "applied");
  const auto mine = std::ranges::find_if(applied.metadata.managedFields, [](const meta::v1::ManagedFieldsEntry& entry) {
    return entry.manager == "me" && entry.subresource == "status" && entry.operation == "Apply";
  });
  EXPECT_NE(mine, applied.metadata.managedFields.end());
  pod.status->message = "taken";
  EXPECT_EQ(pods_->ApplyStatus(pod, {.field_manager = "other"}).error().code(), Code::kConflict);
  const Pod taken = Must(pods_->ApplyStatus(pod, {.field_manager = "other", .force = true}));
  EXPECT_EQ(taken.status->message, "taken");
}

// A server has no log of a pod without a node, and cannot reach the node of one that has.
// Contract: generator OP-15; client TYP-8.
TEST_F(SubresourceTest, LogsAreEmptyOrTheServersError) {
  EXPECT_EQ(Logs(*pods_, "web").error().code(), Code::kNotFound);
  EXPECT_EQ(StreamLogs(*pods_, "web").error().code(), Code::kNotFound);
  CreatePod();
  EXPECT_EQ(Must(Logs(*pods_, "web")), "");
  auto empty = Must(StreamLogs(*pods_, "web", {.follow = true, .since = 10s, .tail_lines = 3, .timestamps = true}));
  EXPECT_EQ(empty.Next().error().code(), Code::kStopped);
  const auto wrong = Logs(*pods_, "web", {.container = "sidecar"});
  EXPECT_EQ(wrong.error().code(), Code::kInvalid);
  EXPECT_THAT(wrong.error().ToString(), HasSubstr("container sidecar is not valid for pod web"));
  EXPECT_EQ(Logs(*pods_, "web", {.tail_lines = -1}).error().code(), Code::kInvalid);
  Must(Bind(*pods_, To("made-up")));
  EXPECT_FALSE(Logs(*pods_, "web"));
  EXPECT_FALSE(StreamLogs(*pods_, "web"));
}

// Contract: generator WK-01.
TEST_F(SubresourceTest, AccessReviewsTakeTypedFieldSelectors) {
  k8s::authorization::v1::ResourceAttributes attributes{.resource = "pods", .verb = "list"};
  attributes.fieldSelector->requirements = {{.key = "spec.nodeName", .operator_ = "In", .values = {"n1"}}};
  const auto review = Must(clientset_->AuthorizationV1().SelfSubjectAccessReviews().Create(
      {.spec = k8s::authorization::v1::SelfSubjectAccessReviewSpec{.resourceAttributes = attributes}}));
  EXPECT_EQ(review.spec->resourceAttributes->fieldSelector->requirements[0].key, "spec.nodeName");
  EXPECT_TRUE(review.status->allowed.value_or(false));
}

}  // namespace
}  // namespace kgen::integration
