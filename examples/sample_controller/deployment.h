// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What both versions of the controller make of a Foo.
#ifndef KGEN_EXAMPLES_SAMPLE_CONTROLLER_DEPLOYMENT_H_
#define KGEN_EXAMPLES_SAMPLE_CONTROLLER_DEPLOYMENT_H_

#include <k8s/apps/v1/types.h>
#include <sample/samplecontroller/v1alpha1/types.h>

// The manager of the fields that the controller writes, and the source of its events.
inline constexpr const char* kName = "sample-controller";

// The Deployment that the Foo asks for, with the Foo as its controller.
k8s::apps::v1::Deployment NewDeployment(const sample::samplecontroller::v1alpha1::Foo& foo);

#endif  // KGEN_EXAMPLES_SAMPLE_CONTROLLER_DEPLOYMENT_H_
