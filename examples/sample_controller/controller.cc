// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <string>

#include "deployment.h"

using k8s::apps::v1::Deployment;
using sample::samplecontroller::v1alpha1::Foo;

Controller::Controller(const kgen::Connection& connection, const k8s::SharedInformerFactory& kubernetes_informers,
                       const sample::SharedInformerFactory& sample_informers)
    : kubernetes_(connection),
      sample_(connection),
      deployments_(kubernetes_informers.Apps().V1().Deployments()),
      foos_(sample_informers.Samplecontroller().V1alpha1().Foos()),
      events_(connection, {.controller = kName}),
      queue_({.name = "foos", .executor = connection.shared_executor()}) {
  registrations_.push_back(foos_.Informer().AddEventHandler(kgen::Enqueue<Foo>(queue_)));
  registrations_.push_back(deployments_.Informer().AddEventHandler(kgen::EnqueueOwner<Deployment, Foo>(queue_)));
}

kgen::Result<void> Controller::Run(int workers, std::stop_token stop) const {
  if (auto synced = kgen::WaitForCacheSync(stop, deployments_.Informer(), foos_.Informer()); !synced) return synced;
  auto processed = queue_.Process(workers, stop, [this](const kgen::ObjectKey& key) { return Sync(key); });
  auto recorded = events_.Stop();
  return processed ? recorded : processed;
}

kgen::Result<void> Controller::Sync(const kgen::ObjectKey& key) const {
  const auto foo = foos_.Lister().Get(key);
  if (!foo) return {};  // deleted in the meantime
  if (foo->spec->deploymentName.empty()) {
    // Only a change of the Foo can help, so this is no error, after which the queue would try again.
    sample_.connection().observer().OnLogged({.source = "foos",
                                              .key = key.str(),
                                              .message = "spec.deploymentName is missing",
                                              .level = kgen::LogLevel::kWarning});
    return {};
  }
  auto deployment = FindOrCreate(*foo);
  if (!deployment) return kgen::Fail(deployment.error());
  if (foo->spec->replicas.has_value() && foo->spec->replicas != deployment->spec->replicas) {
    deployment = kubernetes_.AppsV1().Deployments(key.namespace_).Update(NewDeployment(*foo), {.field_manager = kName});
    if (!deployment) return kgen::Fail(deployment.error());
  }
  if (auto updated = UpdateStatus(*foo, *deployment); !updated) return updated;
  events_.Event(*foo, {.reason = "Synced", .action = "Sync", .note = "The Deployment is as the Foo asks."});
  return {};
}

kgen::Result<Deployment> Controller::FindOrCreate(const Foo& foo) const {
  const auto& in_namespace = foo.metadata.namespace_;
  const auto cached = deployments_.Lister().Deployments(in_namespace).Get(foo.spec->deploymentName);
  if (!cached) {
    return kubernetes_.AppsV1().Deployments(in_namespace).Create(NewDeployment(foo), {.field_manager = kName});
  }
  if (!kgen::IsControlledBy(*cached, foo)) {
    const std::string note = "The Deployment " + std::string(cached->metadata.name) + " belongs to somebody else.";
    events_.Event(foo,
                  {.type = kgen::EventType::kWarning, .reason = "ErrResourceExists", .action = "Sync", .note = note});
    // An error makes the queue try again: nothing tells us when that Deployment goes away.
    return kgen::Error(kgen::Code::kAlreadyExists, note);
  }
  return *cached;
}

kgen::Result<void> Controller::UpdateStatus(const Foo& foo, const Deployment& deployment) const {
  Foo updated = foo;  // the cached object is const
  updated.status->availableReplicas = deployment.status->availableReplicas.value_or(0);
  return kgen::Discard(
      sample_.SamplecontrollerV1alpha1().Foos(foo.metadata.namespace_).UpdateStatus(updated, {.field_manager = kName}));
}
