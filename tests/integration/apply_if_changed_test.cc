// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ApplyIfChanged on a real kube-apiserver, which fills in defaults and records the fields of managers.
#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <stop_token>
#include <string>

#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/create_or_update.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::Service;
using k8s::core::v1::ServicePort;
using k8s::core::v1::ServiceSpec;

TEST(ApplyIfChangedOnAServerTest, SendsNothingForAPortWhoseProtocolTheServerFilledIn) {
  if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
  const k8s::Clientset clientset =
      Must(k8s::Clientset::New(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}))));
  const std::string in_namespace = "apply-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
  Must(clientset.CoreV1().Namespaces().Create({.metadata = {.name = in_namespace}}));
  Caches caches(clientset.connection(), CachesOptions());
  caches.Start({});
  const CachedClient client(caches, "shop");
  Service wanted{.metadata = {.name = "web", .namespace_ = in_namespace},
                 .spec = ServiceSpec{
                     .ports = {ServicePort{.name = "http", .port = 80}, ServicePort{.name = "metrics", .port = 9090}},
                     .selector = {{"app", "web"}}}};
  EXPECT_EQ(Must(ApplyIfChanged(client, wanted)).operation, OperationResult::kCreated);
  const auto created = Must(client.Get<Service>({in_namespace, "web"}));
  ASSERT_EQ(created->spec->ports[0].protocol, "TCP");
  // A request of this client would fail.
  std::stop_source stop;
  stop.request_stop();
  const auto again = ApplyIfChanged(client.With(stop.get_token()), wanted);
  ASSERT_TRUE(again.has_value()) << again.error();
  EXPECT_EQ(again->operation, OperationResult::kUnchanged);
  // A change is sent.
  wanted.spec->ports[1].port = 9091;
  EXPECT_EQ(Must(ApplyIfChanged(client, wanted)).operation, OperationResult::kUpdated);
  const auto changed = Must(client.Get<Service>({in_namespace, "web"}));
  EXPECT_EQ(changed->spec->ports[1].port, 9091);
  Must(clientset.CoreV1().Namespaces().Delete(in_namespace));
}

}  // namespace
}  // namespace kgen::integration
