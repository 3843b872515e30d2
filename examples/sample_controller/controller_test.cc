// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the controller of main.cc on the in-memory API server, in virtual time, and with each seed in another order.
#include "controller.h"

#include <gtest/gtest.h>
#include <k8s/events/v1/client.h>
#include <k8s/events/v1/types.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using k8s::apps::v1::Deployment;
using kgen::testing::HasActions;
using sample::samplecontroller::v1alpha1::Foo;
using sample::samplecontroller::v1alpha1::FooSpec;
using ::testing::Contains;
using namespace std::chrono_literals;

namespace {

class FooControllerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  FooControllerTest() {
    kgen::Must(kgen::crd::Install(cluster_.Connection(), sample::Manifests()));
    cluster_.AddResource({.group = "events.k8s.io",
                          .version = "v1",
                          .plural = "events",
                          .singular = "event",
                          .kind = "Event",
                          .list_kind = "EventList"});
    cluster_.ClearWrites();
    kubernetes_informers_.Start(stop_.get_token());
    sample_informers_.Start(stop_.get_token());
    running_ = cluster_.simulation().Spawn([this] { return controller_.Run(2, stop_.get_token()); });
  }
  ~FooControllerTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }

  void Add(const std::string& name, const FooSpec& spec) {
    kgen::Must(cluster_.Add(Foo{.metadata = {.name = name, .namespace_ = "default"}, .spec = spec}));
  }
  Foo GetFoo(const std::string& name) { return kgen::Must(kgen::Decode<Foo>(Get("foos", name))); }
  Deployment GetDeployment(const std::string& name) {
    return kgen::Must(kgen::Decode<Deployment>(Get("deployments", name)));
  }
  std::string Get(std::string_view resource, const std::string& name) {
    return kgen::Must(cluster_.Get(resource, "default", name));
  }
  std::int32_t Available(const std::string& foo_name) {
    const Foo foo = GetFoo(foo_name);
    return foo.status->availableReplicas.value_or(-1);
  }
  std::int32_t Replicas(const std::string& deployment_name) {
    const Deployment deployment = GetDeployment(deployment_name);
    return deployment.spec->replicas.value_or(-1);
  }
  std::vector<std::string> EventReasons() {
    std::vector<std::string> reasons;
    for (const auto& event : kgen::Must(k8s::events::v1::Client(connection_).Events("default").List())) {
      reasons.push_back(event.reason.str());
    }
    return reasons;
  }
  // Sets the available replicas as the Deployment's own controller would.
  void SetAvailable(const std::string& name, std::int32_t replicas) {
    Deployment deployment = GetDeployment(name);
    deployment.status->availableReplicas = replicas;
    kgen::Must(cluster_.Update(deployment));
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  const kgen::Connection connection_ = cluster_.Connection();
  k8s::SharedInformerFactory kubernetes_informers_{connection_};
  sample::SharedInformerFactory sample_informers_{connection_};
  const Controller controller_{connection_, kubernetes_informers_, sample_informers_};
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

TEST_P(FooControllerTest, CreatesTheDeploymentAndReportsItsAvailableReplicas) {
  Add("first", {.deploymentName = "web", .replicas = 3});
  cluster_.RunUntilIdle();
  const Deployment deployment = GetDeployment("web");
  EXPECT_EQ(deployment.spec->replicas, 3);
  EXPECT_TRUE(kgen::IsControlledBy(deployment, GetFoo("first")));
  EXPECT_EQ(Available("first"), 0);
  EXPECT_THAT(EventReasons(), Contains("Synced"));

  SetAvailable("web", 2);
  cluster_.RunUntilIdle();
  EXPECT_EQ(Available("first"), 2);
}

TEST_P(FooControllerTest, KeepsTheNumberOfReplicasAndTheDeploymentItself) {
  Add("first", {.deploymentName = "web", .replicas = 3});
  cluster_.RunUntilIdle();
  Deployment deployment = GetDeployment("web");
  deployment.spec->replicas = 5;
  kgen::Must(cluster_.Update(deployment));
  cluster_.RunUntilIdle();
  EXPECT_EQ(Replicas("web"), 3);

  kgen::Must(cluster_.Delete("deployments", "default", "web"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(Replicas("web"), 3);
}

TEST_P(FooControllerTest, LeavesTheDeploymentOfSomebodyElseAloneUntilItIsGone) {
  kgen::Must(cluster_.Add(Deployment{.metadata = {.name = "taken", .namespace_ = "default"}}));
  cluster_.RunUntilIdle();
  Add("second", {.deploymentName = "taken", .replicas = 2});
  cluster_.Advance(10s);  // it tries again and again, so it is never idle
  EXPECT_TRUE(GetDeployment("taken").metadata.ownerReferences.empty());
  EXPECT_THAT(EventReasons(), Contains("ErrResourceExists"));

  kgen::Must(cluster_.Delete("deployments", "default", "taken"));
  cluster_.RunUntilIdle();
  EXPECT_TRUE(kgen::IsControlledBy(GetDeployment("taken"), GetFoo("second")));
}

TEST_P(FooControllerTest, DoesNothingForAFooWithoutADeploymentName) {
  Add("fourth", {.replicas = 1});
  cluster_.RunUntilIdle();
  EXPECT_THAT(cluster_.Writes(), HasActions({}));
}

TEST_P(FooControllerTest, ReachesTheSameStateWhateverFailsOnTheWay) {
  for (const char* resource : {"foos", "deployments"}) {
    cluster_.Inject({.verb = "list", .resource = resource, .times = 2, .status = 500});
    cluster_.Inject({.verb = "watch", .resource = resource, .status = 410, .reason = "Expired"});
    cluster_.Inject({.verb = "create", .resource = resource, .times = 2, .status = 429, .retry_after_seconds = 1});
    cluster_.Inject({.verb = "update", .resource = resource, .times = 3, .status = 409, .reason = "Conflict"});
  }
  Add("first", {.deploymentName = "web", .replicas = 1});
  cluster_.CutWatches();
  cluster_.RunUntilIdle();

  // The controller sees none of these changes, but only what they lead to.
  cluster_.Inject({.verb = "watch", .refuse = true});
  cluster_.CutWatches();
  Foo foo = GetFoo("first");
  foo.spec->replicas = 3;
  kgen::Must(cluster_.Update(foo));
  SetAvailable("web", 1);
  Add("gone", {.deploymentName = "never"});
  kgen::Must(cluster_.Delete("foos", "default", "gone"));
  cluster_.Compact();
  cluster_.RunUntilIdle();

  EXPECT_EQ(Replicas("web"), 3);
  EXPECT_EQ(Available("first"), 1);
  EXPECT_EQ(cluster_.List("deployments").size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FooControllerTest, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
