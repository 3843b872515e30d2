// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The program of main.cc with kgen::Manager, which has the informers, the queue, the workers and the recorder of
// events. Its target is sample_controller_with_manager.
#include <k8s/apps/v1/types.h>
#include <kgen/client/config.h>
#include <kgen/controller/manager.h>
#include <kgen/core/stop.h>
#include <sample/samplecontroller/v1alpha1/types.h>

#include <exception>
#include <iostream>
#include <string>

#include "deployment.h"
#include "kgen/controller/terminal_error.h"

using k8s::apps::v1::Deployment;
using sample::samplecontroller::v1alpha1::Foo;

namespace {

kgen::Result<void> Reconcile(kgen::Request& request) {
  KGEN_TRY(const auto foo, request.Get<Foo>());
  if (!foo) return {};  // deleted
  if (foo->spec->deploymentName.empty()) {
    return kgen::TerminalError({kgen::Code::kInvalid, "spec.deploymentName is missing"});
  }

  const kgen::CachedClient& client = request.client();
  KGEN_TRY(const auto cached, client.Get<Deployment>({foo->metadata.namespace_, foo->spec->deploymentName}));
  Deployment deployment;
  if (cached) {
    deployment = *cached;
  } else {
    KGEN_TRY(deployment, client.Create(NewDeployment(*foo)));
  }
  if (!kgen::IsControlledBy(deployment, *foo)) {
    const std::string note = "The Deployment " + std::string(deployment.metadata.name) + " belongs to somebody else.";
    request.events().Event(
        *foo, {.type = kgen::EventType::kWarning, .reason = "ErrResourceExists", .action = "Sync", .note = note});
    return kgen::Error(kgen::Code::kAlreadyExists, note);
  }
  if (foo->spec->replicas.has_value() && foo->spec->replicas != deployment.spec->replicas) {
    KGEN_TRY(deployment, client.Update(NewDeployment(*foo)));
  }

  Foo updated = *foo;
  updated.status->availableReplicas = *deployment.status->availableReplicas;
  if (const auto status = client.UpdateStatus(updated); !status) return status.error();
  request.events().Event(*foo, {.reason = "Synced", .action = "Sync", .note = "The Deployment is as the Foo asks."});
  return {};
}

}  // namespace

int main() try {
  const auto manager = kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), {.name = kName}));
  kgen::Must(manager.Control<Foo>(kName).Owns<Deployment>().MaxConcurrentReconciles(2).Reconcile(Reconcile));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "sample_controller_with_manager: " << error.what() << '\n';
  return 1;
}
