// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The program of main.cc with kgen::Manager, which has the informers, the queue, the workers and the recorder of
// events. Its target is sample_controller_with_manager.
#include <k8s/apps/v1/types.h>
#include <kgen/client/config.h>
#include <kgen/controller/create_or_update.h>
#include <kgen/controller/manager.h>
#include <kgen/controller/terminal_error.h>
#include <kgen/core/stop.h>
#include <sample/samplecontroller/v1alpha1/types.h>

#include <exception>
#include <iostream>
#include <string>

#include "deployment.h"

using k8s::apps::v1::Deployment;
using sample::samplecontroller::v1alpha1::Foo;

namespace {

// Gives the Deployment of the Foo, which may be new, the number of replicas that the Foo asks for.
kgen::Result<void> Adjust(Deployment& deployment, const Foo& foo, const kgen::Request& request) {
  if (!kgen::IsControlledBy(deployment, foo)) {
    const std::string note = "The Deployment " + std::string(deployment.metadata.name) + " belongs to somebody else.";
    request.events().Event(
        foo, {.type = kgen::EventType::kWarning, .reason = "ErrResourceExists", .action = "Sync", .note = note});
    return kgen::Error(kgen::Code::kAlreadyExists, note);
  }
  if (foo.spec->replicas.has_value()) deployment.spec->replicas = foo.spec->replicas;
  return {};
}

kgen::Result<void> Reconcile(kgen::Request& request) {
  KGEN_TRY(const auto foo, request.Get<Foo>());
  if (!foo) return {};  // deleted
  if (foo->spec->deploymentName.empty()) {
    return kgen::TerminalError({kgen::Code::kInvalid, "spec.deploymentName is missing"});
  }

  // Sends nothing if the Deployment is as it should be.
  KGEN_TRY(const auto written, kgen::CreateOrUpdate(request.client(), NewDeployment(*foo), [&](Deployment& deployment) {
             return Adjust(deployment, *foo, request);
           }));

  Foo updated = *foo;
  updated.status->availableReplicas = *written.object.status->availableReplicas;
  if (const auto status = request.client().UpdateStatus(updated); !status) return status.error();
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
