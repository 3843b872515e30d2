// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// GetScale and UpdateScale of generated clients: which clients have them, and their effect on the in-memory server.
#include <acme/clientset.h>
#include <acme/shop/v1/types.h>
#include <gtest/gtest.h>
#include <hostile/clientset.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/client/async_client.h"
#include "kgen/client/crd.h"
#include "kgen/core/scale.h"
#include "kgen/testing/cluster.h"
#include "kgen/testing/matchers.h"

namespace {

using acme::shop::v1::Order;
using acme::shop::v1::OrderSpec;
using kgen::Code;
using kgen::Must;
using kgen::autoscaling::v1::Scale;
using kgen::autoscaling::v1::ScaleSpec;
using kgen::testing::Cluster;
using kgen::testing::HasActions;

template <typename Client>
concept Reads = requires(const Client& client, kgen::Callback<Scale> done) {
  { client.GetScale("") } -> std::same_as<kgen::Result<Scale>>;
  client.Async().GetScale("", std::move(done), kgen::GetOptions{});
};
template <typename Client>
concept ReadsAtAll = requires(const Client& client) { client.GetScale(""); };
template <typename Client>
concept Writes = requires(const Client& client, const Scale& scale, kgen::Callback<Scale> done) {
  { client.UpdateScale("", scale) } -> std::same_as<kgen::Result<Scale>>;
  client.Async().UpdateScale("", scale, std::move(done), kgen::UpdateOptions{});
};
template <typename Client>
concept WritesAtAll = requires(const Client& client, const Scale& scale) { client.UpdateScale("", scale); };

template <typename Client>
constexpr bool kScales = Reads<Client> && Writes<Client>;
template <typename Client>
constexpr bool kHasNoScale = !ReadsAtAll<Client> && !WritesAtAll<Client>;

using Core = decltype(std::declval<k8s::Clientset>().CoreV1());
using Apps = decltype(std::declval<k8s::Clientset>().AppsV1());

// Contract: generator OP-13.
TEST(ScaleOfTheBuiltInApi, ExistsWhereTheApiHasAScalePath) {
  EXPECT_TRUE(kScales<decltype(std::declval<Core>().ReplicationControllers(""))>);
  EXPECT_TRUE(kScales<decltype(std::declval<Apps>().Deployments(""))>);
  EXPECT_TRUE(kScales<decltype(std::declval<Apps>().ReplicaSets(""))>);
  EXPECT_TRUE(kScales<decltype(std::declval<Apps>().StatefulSets(""))>);
}

// Contract: generator OP-13.
TEST(ScaleOfTheBuiltInApi, DoesNotCompileElsewhere) {
  EXPECT_TRUE(kHasNoScale<decltype(std::declval<Core>().Pods(""))>);
  EXPECT_TRUE(kHasNoScale<decltype(std::declval<Core>().Nodes())>);
  EXPECT_TRUE(kHasNoScale<decltype(std::declval<Apps>().DaemonSets(""))>);
  EXPECT_TRUE(kHasNoScale<decltype(std::declval<k8s::Clientset>().CoordinationV1().Leases(""))>);
}

// Contract: generator CRD-20.
TEST(ScaleOfACustomResource, ExistsWhereTheCrdDeclaresIt) {
  EXPECT_TRUE(kScales<decltype(std::declval<acme::Clientset>().ShopV1().Orders(""))>);
  EXPECT_TRUE(kHasNoScale<decltype(std::declval<hostile::Clientset>().CoreStrimziV1beta1().Events(""))>);
}

// Contract: generator OP-13.
TEST(ScaleOfADeployment, ChangesItsReplicas) {
  Cluster cluster;
  const auto deployments = k8s::Clientset(cluster.Connection()).AppsV1().Deployments("default");
  k8s::apps::v1::Deployment web = kgen::testing::MinimalObject("apps/v1", "Deployment", "default", "web");
  web.spec->replicas = 1;
  web.spec->selector->matchLabels["app"] = "web";
  Must(deployments.Create(web));

  Scale scale = Must(deployments.GetScale("web"));
  EXPECT_EQ(scale.spec->replicas, 1);
  EXPECT_EQ(scale.status->selector, "app=web");
  scale.spec->replicas = 3;
  const Scale scaled = Must(deployments.UpdateScale("web", scale));
  EXPECT_EQ(scaled.spec->replicas, 3);
  web = Must(deployments.Get("web"));
  EXPECT_EQ(web.spec->replicas, 3);

  scale.spec->replicas = 4;  // with the version from before the update
  EXPECT_EQ(deployments.UpdateScale("web", scale).error().code(), Code::kConflict);
  EXPECT_EQ(deployments.GetScale("none").error().code(), Code::kNotFound);
  EXPECT_THAT(cluster.Writes(), HasActions({"create deployments default/web", "update deployments/scale default/web",
                                            "update deployments/scale default/web"}));
}

// Contract: generator CRD-20.
TEST(ScaleOfACustomResource, UsesTheDeclaredPaths) {
  Cluster cluster;
  const acme::Clientset clientset(cluster.Connection());
  Must(kgen::crd::Install(clientset, acme::Manifests()));
  const auto orders = clientset.ShopV1().Orders("default");
  Must(
      orders.Create({.metadata = {.name = "first"}, .spec = OrderSpec{.item = "teapot", .packers = 1, .quantity = 2}}));
  Order order = Must(orders.Get("first"));
  order.status->availableReplicas = 1;
  order.status->selector = "order=first";
  Must(orders.UpdateStatus(order));

  std::optional<kgen::Result<Scale>> scaled;
  orders.Async().UpdateScale("first", {.spec = ScaleSpec{.replicas = 5}},
                             [&](kgen::Result<Scale> result) { scaled = std::move(result); });
  cluster.RunUntilIdle();
  ASSERT_TRUE(scaled.has_value());
  const Scale scale = Must(*std::move(scaled));
  EXPECT_EQ(scale.spec->replicas, 5);
  EXPECT_EQ(scale.status->replicas, 1);
  EXPECT_EQ(scale.status->selector, "order=first");
  order = Must(orders.Get("first"));
  EXPECT_EQ(order.spec->packers, 5);
  EXPECT_EQ(order.spec->item, "teapot");
}

}  // namespace
