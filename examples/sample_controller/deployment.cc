// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "deployment.h"

#include <kgen/controller/owners.h>

using k8s::apps::v1::Deployment;
using k8s::apps::v1::DeploymentSpec;
using sample::samplecontroller::v1alpha1::Foo;

Deployment NewDeployment(const Foo& foo) {
  Deployment deployment{.metadata = {.name = foo.spec->deploymentName,
                                     .namespace_ = foo.metadata.namespace_,
                                     .ownerReferences = {kgen::ControllerRef(foo)}},
                        .spec = DeploymentSpec{.replicas = foo.spec->replicas}};
  const kgen::Map<kgen::String> labels = {{"app", "nginx"}, {"controller", foo.metadata.name}};
  deployment.spec->selector->matchLabels = labels;
  deployment.spec->template_->metadata->labels = labels;
  deployment.spec->template_->spec->containers = {{.name = "nginx", .image = "nginx:latest"}};
  return deployment;
}
