// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ApplyIfChanged on a real kube-apiserver, which fills in defaults and records the fields of managers.
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/codec/decode.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/create_or_update.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::apps::v1::StatefulSet;
using k8s::core::v1::Service;
using k8s::core::v1::ServicePort;
using k8s::core::v1::ServiceSpec;

class ApplyIfChangedOnAServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    clientset_.emplace(Must(k8s::Clientset::New(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    Must(clientset_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    caches_.emplace(clientset_->connection(), CachesOptions());
    caches_->Start({});
  }
  void TearDown() override {
    if (clientset_) Must(clientset_->CoreV1().Namespaces().Delete(namespace_));
  }
  // ApplyIfChanged by a client whose requests fail. The read before it waits until the cache has what `client` wrote:
  // a client whose stop is requested would not wait.
  template <typename T>
  auto ApplyWithoutRequests(const CachedClient& client, const T& wanted) {
    Must(client.Get<T>({namespace_, std::string(wanted.metadata.name)}));
    stop_.request_stop();
    return ApplyIfChanged(client.With(stop_.get_token()), wanted);
  }

  const std::string namespace_ = "apply-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
  std::optional<k8s::Clientset> clientset_;
  std::optional<Caches> caches_;
  std::stop_source stop_;
};

TEST_F(ApplyIfChangedOnAServerTest, SendsNothingForAPortWhoseProtocolTheServerFilledIn) {
  const CachedClient client(*caches_, "shop");
  Service wanted{.metadata = {.name = "web", .namespace_ = namespace_},
                 .spec = ServiceSpec{
                     .ports = {ServicePort{.name = "http", .port = 80}, ServicePort{.name = "metrics", .port = 9090}},
                     .selector = {{"app", "web"}}}};
  EXPECT_EQ(Must(ApplyIfChanged(client, wanted)).operation, OperationResult::kCreated);
  const auto created = Must(client.Get<Service>({namespace_, "web"}));
  ASSERT_EQ(created->spec->ports[0].protocol, "TCP");
  const auto again = ApplyWithoutRequests(client, wanted);
  ASSERT_TRUE(again.has_value()) << again.error();
  EXPECT_EQ(again->operation, OperationResult::kUnchanged);
  // A change is sent.
  wanted.spec->ports[1].port = 9091;
  EXPECT_EQ(Must(ApplyIfChanged(client, wanted)).operation, OperationResult::kUpdated);
  const auto changed = Must(client.Get<Service>({namespace_, "web"}));
  EXPECT_EQ(changed->spec->ports[1].port, 9091);
}

// The server owns the templates as a whole for the manager, and adds volumeMode and status to each.
TEST_F(ApplyIfChangedOnAServerTest, SendsAStatefulSetWithVolumesOnce) {
  const CachedClient client(*caches_, "shop");
  const auto with_mode = [&](std::string_view mode) {
    const auto set = Decode<StatefulSet>(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web",
      "namespace":")" + namespace_ + R"("},"spec":{"serviceName":"web","replicas":1,
      "selector":{"matchLabels":{"app":"web"}},
      "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"web:1"}]}},
      "volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],)" +
                                         std::string(mode) + R"("resources":{"requests":{"storage":"1Gi"}}}}]}})");
    return Must(set);
  };
  StatefulSet wanted = with_mode("");
  EXPECT_EQ(Must(ApplyIfChanged(client, wanted)).operation, OperationResult::kCreated);
  const auto created = Must(client.Get<StatefulSet>({namespace_, "web"}));
  ASSERT_EQ(created->spec->volumeClaimTemplates[0].spec->volumeMode, "Filesystem");
  const auto again = ApplyWithoutRequests(client, wanted);
  ASSERT_TRUE(again.has_value()) << again.error();
  EXPECT_EQ(again->operation, OperationResult::kUnchanged);
  // As a controller of StatefulSets does.
  StatefulSet seen = *created;
  seen.status->replicas = 1;
  Must(client.UpdateStatus(seen));
  const auto beside = ApplyWithoutRequests(client, wanted);
  ASSERT_TRUE(beside.has_value()) << beside.error();
  // The manager applies a member that the server has added before.
  EXPECT_FALSE(ApplyWithoutRequests(client, with_mode(R"("volumeMode":"Filesystem",)")));
  wanted.spec->replicas = 2;
  EXPECT_EQ(Must(ApplyIfChanged(client, wanted)).operation, OperationResult::kUpdated);
  EXPECT_TRUE(ApplyWithoutRequests(client, wanted));
  // A process that has just started knows no answer.
  Caches others(clientset_->connection(), CachesOptions());
  others.Start({});
  const CachedClient restarted(others, "shop");
  EXPECT_FALSE(ApplyWithoutRequests(restarted, wanted));
  EXPECT_EQ(Must(ApplyIfChanged(restarted, wanted)).operation, OperationResult::kUnchanged);
  EXPECT_TRUE(ApplyWithoutRequests(restarted, wanted));
}

}  // namespace
}  // namespace kgen::integration
