// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The small controller of docs/comparison.md with kgen::Manager.
#include <k8s/apps/v1/types.h>
#include <kgen/client/config.h>
#include <kgen/controller/manager.h>
#include <kgen/core/stop.h>
#include <sample/samplecontroller/v1alpha1/types.h>

#include <iostream>
#include <string>

using k8s::apps::v1::Deployment;
using k8s::apps::v1::DeploymentSpec;
using sample::samplecontroller::v1alpha1::Foo;

namespace {

Deployment DeploymentFor(const Foo& foo) {
  Deployment deployment{.metadata = {.name = foo.spec->deploymentName,
                                     .namespace_ = foo.metadata.namespace_,
                                     .ownerReferences = {kgen::ControllerRef(foo)}},
                        .spec = DeploymentSpec{.replicas = foo.spec->replicas}};
  deployment.spec->selector->matchLabels = {{"app", "nginx"}, {"controller", foo.metadata.name}};
  deployment.spec->template_->metadata->labels = deployment.spec->selector->matchLabels;
  deployment.spec->template_->spec->containers = {{.name = "nginx", .image = "nginx:latest"}};
  return deployment;
}

kgen::Result<void> Reconcile(kgen::Request& request) {
  const kgen::CachedClient& client = request.client();
  KGEN_TRY(const auto foo, request.Get<Foo>());
  if (!foo || foo->spec->deploymentName.empty()) return {};
  Deployment deployment = DeploymentFor(*foo);
  KGEN_TRY(const auto cached, client.Get<Deployment>({request.key().namespace_, deployment.metadata.name}));
  if (cached && !kgen::IsControlledBy(*cached, *foo)) {
    return kgen::Error(kgen::Code::kConflict, std::string(deployment.metadata.name) + " belongs to somebody else");
  }
  KGEN_TRY(const auto applied, client.Apply(deployment, {.force = true}));  // takes over what others set
  if (*foo->status->availableReplicas == *applied.status->availableReplicas) return {};
  Foo changed = *foo;
  changed.status->availableReplicas = *applied.status->availableReplicas;
  return kgen::Discard(client.UpdateStatus(changed));
}

}  // namespace

int main() try {
  const auto manager = kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), {.name = "foos"}));
  kgen::Must(manager.Control<Foo>("foos").Owns<Deployment>().MaxConcurrentReconciles(2).Reconcile(Reconcile));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "kgen_manager: " << error.what() << '\n';
  return 1;
}
