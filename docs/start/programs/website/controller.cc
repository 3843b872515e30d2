// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <kgen/controller/create_or_update.h>
#include <kgen/controller/owners.h>
#include <kgen/core/conditions.h>
#include <site/web/v1/types.h>

#include <cstdint>
#include <string>

using k8s::apps::v1::Deployment;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::ConfigMapVolumeSource;
using k8s::core::v1::Container;
using k8s::core::v1::ContainerPort;
using k8s::core::v1::Volume;
using k8s::core::v1::VolumeMount;
using site::web::v1::Website;

// begin markers
// What the function below writes. What it reads follows from AddWebsiteController().
// +kgen:rbac:groups=web.example.com,resources=websites/status,verbs=update
// +kgen:rbac:groups=core,resources=configmaps,verbs=create;patch
// +kgen:rbac:groups=apps,resources=deployments,verbs=create;patch
// end markers

namespace {

// begin objects
// The metadata of an object that belongs to the site: its name, and the site as its owner.
kgen::meta::v1::ObjectMeta MetadataOf(const Website& site) {
  return {.name = site.metadata.name,
          .namespace_ = site.metadata.namespace_,
          .ownerReferences = {kgen::ControllerRef(site)}};
}

ConfigMap PageOf(const Website& site) {
  return {.metadata = MetadataOf(site), .data = {{"index.html", site.spec->html}}};
}

Deployment ServersOf(const Website& site) {
  const kgen::Map<kgen::String> labels = {{"website", site.metadata.name}};
  Deployment servers{.metadata = MetadataOf(site)};
  servers.spec->replicas = site.spec->replicas;  // writing to an absent struct creates it
  servers.spec->selector->matchLabels = labels;
  servers.spec->template_->metadata->labels = labels;
  servers.spec->template_->spec->containers = {
      Container{.name = "nginx",
                .image = "docker.io/library/nginx:1.28",
                .ports = {ContainerPort{.containerPort = 80}},
                .volumeMounts = {VolumeMount{.name = "page", .mountPath = "/usr/share/nginx/html"}}}};
  servers.spec->template_->spec->volumes = {
      Volume{.name = "page", .configMap = ConfigMapVolumeSource{.name = site.metadata.name}}};
  return servers;
}
// end objects

// begin reconcile
kgen::Result<void> Reconcile(kgen::Request& request) {
  KGEN_TRY(const auto site, request.Get<Website>());  // from the cache
  if (!site) return {};                               // deleted; the garbage collector deletes what it owned

  // Each object is built from scratch, and sent only if the cluster has something else.
  KGEN_TRY(const auto page, kgen::ApplyIfChanged(request.client(), PageOf(*site), {.force = true}));
  KGEN_TRY(const auto servers, kgen::ApplyIfChanged(request.client(), ServersOf(*site), {.force = true}));

  Website observed = *site;  // a copy, because the cached object is const
  const std::int32_t ready = servers.object.status->readyReplicas.value_or(0);
  const bool done = ready >= *site->spec->replicas;
  observed.status->readyReplicas = ready;
  kgen::SetCondition(observed.status->conditions, {.message = std::to_string(ready) + " pods serve the page.",
                                                   .observedGeneration = site->metadata.generation,
                                                   .reason = done ? "AsWanted" : "Starting",
                                                   .status = done ? "True" : "False",
                                                   .type = "Ready"});
  if (observed.status == site->status) return {};
  request.Log("the site has changed", {{"ready", ready}});
  return kgen::Discard(request.client().UpdateStatus(observed));
}
// end reconcile

}  // namespace

// begin add
kgen::Result<void> AddWebsiteController(const kgen::Manager& manager) {
  return kgen::Discard(manager.Control<Website>("websites").Owns<ConfigMap>().Owns<Deployment>().Reconcile(Reconcile));
}
// end add
