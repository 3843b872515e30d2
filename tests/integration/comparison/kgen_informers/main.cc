// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The small controller of docs/comparison.md with kgen's informers, listers and work queue.
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/informers.h>
#include <kgen/controller/work_queue.h>
#include <sample/clientset.h>
#include <sample/informers.h>
#include <sample/samplecontroller/v1alpha1/types.h>

#include <iostream>
#include <string>

using k8s::apps::v1::Deployment;
using k8s::apps::v1::DeploymentSpec;
using sample::samplecontroller::v1alpha1::Foo;

namespace {

Deployment DeploymentFor(const Foo& foo) {
  Deployment deployment{.metadata = {.name = foo.spec->deploymentName, .ownerReferences = {kgen::ControllerRef(foo)}},
                        .spec = DeploymentSpec{.replicas = foo.spec->replicas}};
  deployment.spec->selector->matchLabels = {{"app", "nginx"}, {"controller", foo.metadata.name}};
  deployment.spec->template_->metadata->labels = deployment.spec->selector->matchLabels;
  deployment.spec->template_->spec->containers = {{.name = "nginx", .image = "nginx:latest"}};
  return deployment;
}

void Run() {
  const auto connection = kgen::Must(kgen::Connection::Open(kgen::Must(kgen::rest::LoadConfig())));
  const k8s::Clientset kubernetes(connection);
  const sample::Clientset sample(connection);
  const std::stop_token stop = kgen::StopOnSignals();
  k8s::SharedInformerFactory kubernetes_informers(connection);
  sample::SharedInformerFactory sample_informers(connection);
  const auto deployments = kubernetes_informers.Apps().V1().Deployments();
  const auto foos = sample_informers.Samplecontroller().V1alpha1().Foos();

  const kgen::RateLimitingQueue queue({.name = "foos"});
  const auto of_foos = foos.Informer().AddEventHandler(kgen::Enqueue<Foo>(queue));
  const auto of_deployments = deployments.Informer().AddEventHandler(kgen::EnqueueOwner<Deployment, Foo>(queue));
  kubernetes_informers.Start(stop);
  sample_informers.Start(stop);
  kgen::Must(kgen::WaitForCacheSync(stop, deployments.Informer(), foos.Informer()));
  kgen::Must(queue.Process(2, stop, [&](const kgen::ObjectKey& key) -> kgen::Result<void> {
    const auto foo = foos.Lister().Get(key);
    if (!foo || foo->spec->deploymentName.empty()) return {};
    const auto client = kubernetes.AppsV1().Deployments(key.namespace_);
    const auto cached = deployments.Lister().Deployments(key.namespace_).Get(foo->spec->deploymentName);
    auto deployment = cached ? kgen::Result<Deployment>(*cached) : client.Create(DeploymentFor(*foo));
    if (!deployment) return deployment.error();
    if (!kgen::IsControlledBy(*deployment, *foo)) {
      return kgen::Error(kgen::Code::kConflict, std::string(cached->metadata.name) + " belongs to somebody else");
    }
    if (foo->spec->replicas.has_value() && foo->spec->replicas != deployment->spec->replicas) {
      deployment->spec->replicas = foo->spec->replicas;
      deployment = client.Update(*deployment);
      if (!deployment) return deployment.error();
    }
    if (*foo->status->availableReplicas == *deployment->status->availableReplicas) return {};
    Foo changed = *foo;
    changed.status->availableReplicas = *deployment->status->availableReplicas;
    return kgen::Discard(sample.SamplecontrollerV1alpha1().Foos(key.namespace_).UpdateStatus(changed));
  }));
}

}  // namespace

int main() try { Run(); } catch (const std::exception& error) {
  std::cerr << "kgen_informers: " << error.what() << '\n';
  return 1;
}
