// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <site/clientset.h>
#include <site/web/v1/types.h>

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "docs/start/programs/website/controller.h"
#include "kgen/client/crd.h"
#include "kgen/testing/cluster.h"

using k8s::apps::v1::Deployment;
using site::web::v1::Website;
using site::web::v1::WebsiteSpec;
using std::chrono_literals::operator""min;

namespace guides {
namespace {

class WebsiteFaultsTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void TearDown() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }
  void Start() {
    kgen::Must(kgen::crd::Install(cluster_.Connection(), site::Manifests()));
    kgen::Must(AddWebsiteController(manager_));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "website-controller"}));
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

// begin faults
TEST_P(WebsiteFaultsTest, ReachesTheSameStateWhateverFailsOnTheWay) {
  cluster_.Inject({.verb = "list", .resource = "websites", .times = 2, .status = 500});
  cluster_.Inject({.verb = "patch", .resource = "deployments", .times = 3, .status = 503});
  cluster_.Inject({.verb = "update", .resource = "websites", .status = 409, .reason = "Conflict"});
  Start();
  kgen::Must(cluster_.Add(Website{.metadata = {.name = "home", .namespace_ = "default"},
                                  .spec = WebsiteSpec{.html = "Hello", .replicas = 3}}));
  cluster_.CutWatches();
  cluster_.RunUntilIdle();

  const auto servers = kgen::Must(kgen::Decode<Deployment>(kgen::Must(cluster_.Get("deployments", "default", "home"))));
  EXPECT_EQ(servers.spec->replicas, 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WebsiteFaultsTest, ::testing::Range<std::uint64_t>(1, 21));
// end faults

// begin writes
TEST_P(WebsiteFaultsTest, WritesNothingWhenNothingHasChanged) {
  Start();
  kgen::Must(cluster_.Add(Website{.metadata = {.name = "home", .namespace_ = "default"},
                                  .spec = WebsiteSpec{.html = "Hello", .replicas = 3}}));
  cluster_.RunUntilIdle();
  cluster_.ClearWrites();
  cluster_.Restart();      // every informer lists again
  cluster_.Advance(1min);  // virtual: this takes no time
  EXPECT_THAT(cluster_.Writes(), kgen::testing::HasActions({}));
}
// end writes

}  // namespace
}  // namespace guides
