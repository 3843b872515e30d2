// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <kgen/client/crd.h>
#include <kgen/core/conditions.h>
#include <kgen/testing/cluster.h>
#include <site/clientset.h>
#include <site/web/v1/types.h>

#include <stop_token>

using k8s::apps::v1::Deployment;
using site::web::v1::Website;
using site::web::v1::WebsiteSpec;

namespace {

// begin fixture
// The controller, on an API server in memory and in virtual time.
class WebsiteControllerTest : public ::testing::Test {
 protected:
  WebsiteControllerTest() {
    kgen::Must(kgen::crd::Install(cluster_.Connection(), site::Manifests()));
    kgen::Must(AddWebsiteController(manager_));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
  }
  ~WebsiteControllerTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }

  bool IsReady() {
    const Website site = kgen::Must(sites_.Get("home"));
    return kgen::IsConditionTrue(site.status->conditions, "Ready");
  }

  kgen::testing::Cluster cluster_{{.seed = 1}};
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "website-controller"}));
  const site::web::v1::WebsitesClient sites_ = site::Clientset(cluster_.Connection()).WebV1().Websites("default");
  const k8s::apps::v1::DeploymentsClient deployments_ =
      k8s::Clientset(cluster_.Connection()).AppsV1().Deployments("default");
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};
// end fixture

// begin test
TEST_F(WebsiteControllerTest, ASiteIsReadyWhenItsPodsAre) {
  kgen::Must(sites_.Create(Website{.metadata = {.name = "home"}, .spec = WebsiteSpec{.html = "Hello", .replicas = 2}}));
  cluster_.RunUntilIdle();
  Deployment servers = kgen::Must(deployments_.Get("home"));
  EXPECT_EQ(servers.spec->replicas, 2);
  EXPECT_FALSE(IsReady());

  servers.status->readyReplicas = 2;  // nobody runs pods here, so the test says that they run
  kgen::Must(deployments_.UpdateStatus(servers));
  cluster_.RunUntilIdle();
  EXPECT_TRUE(IsReady());
}
// end test

TEST_F(WebsiteControllerTest, ADeploymentThatSomebodyDeletesComesBack) {
  kgen::Must(sites_.Create(Website{.metadata = {.name = "home"}, .spec = WebsiteSpec{.html = "Hello"}}));
  cluster_.RunUntilIdle();
  kgen::Must(deployments_.Delete("home"));
  cluster_.RunUntilIdle();
  const Deployment again = kgen::Must(deployments_.Get("home"));
  EXPECT_EQ(again.spec->replicas, 1) << "the default of the API";
}

TEST_F(WebsiteControllerTest, TheApiRefusesASiteWithoutAPage) {
  const auto refused = sites_.Create(Website{.metadata = {.name = "home"}, .spec = WebsiteSpec{.replicas = 2}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), kgen::Code::kInvalid) << refused.error();
}

}  // namespace
