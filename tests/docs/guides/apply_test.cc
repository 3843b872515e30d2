// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>

#include <cstdint>

#include "kgen/controller/create_or_update.h"
#include "tests/docs/guides/guide.h"

using k8s::apps::v1::Deployment;

namespace guides {
namespace {

// begin apply
// Sets the number of replicas, and owns that member alone: what others have set stays as it is.
kgen::Result<Deployment> Scale(const k8s::apps::v1::DeploymentsClient& deployments, std::string_view name,
                               std::int32_t replicas) {
  Deployment wanted{.metadata = {.name = name}};
  wanted.spec->replicas = replicas;
  return deployments.Apply(wanted, {.field_manager = "scaler"});
}
// end apply

// begin controller
// In a controller: sends nothing if the cluster has it already.
kgen::Result<void> KeepScaled(const kgen::CachedClient& client, const kgen::ObjectKey& key, std::int32_t replicas) {
  Deployment wanted{.metadata = {.name = key.name, .namespace_ = key.namespace_}};
  wanted.spec->replicas = replicas;
  return kgen::Discard(kgen::ApplyIfChanged(client, wanted, {.force = true}));
}
// end controller

using ApplyGuide = Guide;

TEST_F(ApplyGuide, SetsOneMemberAndKeepsTheOthers) {
  kgen::Must(cluster_.Add(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"namespace": "default", "name": "web"}, "spec": {"paused": true}})"));
  const auto deployments = k8s::Clientset(cluster_.Connection()).AppsV1().Deployments("default");
  const Deployment scaled = kgen::Must(Scale(deployments, "web", 3));
  EXPECT_EQ(scaled.spec->replicas, 3);
  EXPECT_EQ(scaled.spec->paused, true);
}

TEST_F(ApplyGuide, AControllerSendsOnlyWhatChangesSomething) {
  kgen::Must(manager_.Add("scaler", [this](const std::stop_token&) -> kgen::Result<void> {
    for (int i = 0; i < 3; ++i) {
      if (auto done = KeepScaled(manager_.client(), {"default", "web"}, 2); !done) return done;
    }
    return {};
  }));
  Run();
  EXPECT_THAT(cluster_.Writes(), kgen::testing::HasActions({"patch deployments default/web"}));
}

}  // namespace
}  // namespace guides
