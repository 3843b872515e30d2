// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Declarations of API documents and CRDs besides schemas, through generated clients on a real kube-apiserver: the scale
// subresource of a workload and of a custom resource, and selectable fields.
#include <acme/clientset.h>
#include <acme/shop/v1/types.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <string>

#include "kgen/client/crd.h"
#include "kgen/core/scale.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using acme::shop::v1::Order;
using acme::shop::v1::OrderSpec;
using autoscaling::v1::Scale;
using autoscaling::v1::ScaleSpec;
using k8s::apps::v1::Deployment;
using namespace std::chrono_literals;

class DeclaredTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    kubernetes_.emplace(*connection_);
    shop_.emplace(*connection_);
    namespace_ = "declared-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    Must(kubernetes_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
  }

  std::optional<Connection> connection_;
  std::optional<k8s::Clientset> kubernetes_;
  std::optional<acme::Clientset> shop_;
  std::string namespace_;
};

// Contract: generator OP-13; controller 153.
TEST_F(DeclaredTest, ScaleOfADeploymentIsReadWrittenAndGuardedByItsVersion) {
  const auto deployments = kubernetes_->AppsV1().Deployments(namespace_);
  Deployment web{.metadata = {.name = "web"}};
  web.spec->replicas = 1;
  web.spec->selector->matchLabels = {{"b", "c"}, {"app", "web"}};
  web.spec->selector->matchExpressions = {{.key = "tier", .operator_ = "In", .values = {"z", "a"}},
                                          {.key = "x", .operator_ = "Exists"},
                                          {.key = "l", .operator_ = "DoesNotExist"},
                                          {.key = "m", .operator_ = "NotIn", .values = {"q"}}};
  web.spec->template_->metadata->labels = {{"app", "web"}, {"b", "c"}, {"tier", "a"}, {"x", "1"}};
  web.spec->template_->spec->containers = {{.name = "web", .image = "nginx"}};
  Must(deployments.Create(web));

  Scale scale = Must(deployments.GetScale("web"));
  EXPECT_EQ(scale.metadata.name, "web");
  EXPECT_EQ(scale.spec->replicas, 1);
  EXPECT_EQ(scale.status->selector, "app=web,b=c,!l,m notin (q),tier in (a,z),x");
  scale.spec->replicas = 3;
  const Scale three = Must(deployments.UpdateScale("web", scale));
  EXPECT_EQ(three.spec->replicas, 3);
  web = Must(deployments.Get("web"));
  EXPECT_EQ(web.spec->replicas, 3);

  scale.spec->replicas = 4;  // with the version from before the update
  EXPECT_EQ(deployments.UpdateScale("web", scale).error().code(), Code::kConflict);
  const Scale none = Must(deployments.UpdateScale("web", {.spec = ScaleSpec{.replicas = 0}}));
  EXPECT_EQ(*none.spec->replicas, 0);
  web = Must(deployments.Get("web"));
  EXPECT_EQ(web.spec->replicas, 0);
  EXPECT_EQ(deployments.UpdateScale("web", {.spec = ScaleSpec{.replicas = -1}}).error().code(), Code::kInvalid);
  EXPECT_EQ(deployments.GetScale("none").error().code(), Code::kNotFound);
}

// Contract: generator CRD-20.
TEST_F(DeclaredTest, ScaleOfACustomResourceUsesItsDeclaredPaths) {
  Must(crd::Install(*shop_, acme::Manifests(), {.timeout = 60s}));
  const auto orders = shop_->ShopV1().Orders(namespace_);
  Must(orders.Create({.metadata = {.name = "first"}, .spec = OrderSpec{.item = "teapot", .quantity = 2}}));
  Order order = Must(orders.Get("first"));
  order.status->availableReplicas = 1;
  order.status->selector = "order=first";
  Must(orders.UpdateStatus(order));

  Scale scale = Must(orders.GetScale("first"));
  EXPECT_EQ(scale.spec->replicas, 1) << "the default of spec.packers";
  EXPECT_EQ(scale.status->replicas, 1);
  EXPECT_EQ(scale.status->selector, "order=first");
  scale.spec->replicas = 5;
  const Scale five = Must(orders.UpdateScale("first", scale));
  EXPECT_EQ(five.spec->replicas, 5);
  order = Must(orders.Get("first"));
  EXPECT_EQ(order.spec->packers, 5);
  EXPECT_EQ(orders.UpdateScale("first", scale).error().code(), Code::kConflict);
}

// Contract: generator CRD-23.
TEST_F(DeclaredTest, SelectableFieldsAreThoseThatTheServerAccepts) {
  Must(crd::Install(*shop_, acme::Manifests(), {.timeout = 60s}));
  const auto orders = shop_->ShopV1().Orders(namespace_);
  for (const char* item : {"teapot", "cup"}) {
    Must(orders.Create({.metadata = {.name = item}, .spec = OrderSpec{.item = item, .quantity = 1}}));
  }
  const std::string teapots = std::string(Order::SelectableFields::kSpecItem) + "=teapot";
  const acme::shop::v1::OrderList found = Must(orders.List({.field_selector = teapots}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].metadata.name, "teapot");
  EXPECT_EQ(orders.List({.field_selector = "spec.quantity=1"}).error().code(), Code::kInvalid);
}

// Contract: generator CRD-21.
TEST_F(DeclaredTest, PrinterColumnsAreWhatKubectlShows) {
  Must(crd::Install(*shop_, acme::Manifests(), {.timeout = 60s}));
  Must(shop_->ShopV1()
           .Orders(namespace_)
           .Create({.metadata = {.name = "first"}, .spec = OrderSpec{.item = "teapot", .quantity = 1}}));
  std::string heading = "NAME";
  for (const PrinterColumn& column : Order::kPrinterColumns) heading.append(" ").append(column.name);
  for (char& c : heading) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::istringstream shown(RealApiServer::Kubectl("get orders -n " + namespace_));
  std::string line, seen;
  std::getline(shown, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) seen += (seen.empty() ? "" : " ") + word;
  EXPECT_EQ(seen, heading);
}

}  // namespace
}  // namespace kgen::integration
