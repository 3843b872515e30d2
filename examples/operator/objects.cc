// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <kgen/controller/owners.h>
#include <kgen/core/object_meta.h>

#include <array>
#include <charconv>
#include <utility>

using k8s::apps::v1::StatefulSet;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Service;
using k8s::policy::v1::PodDisruptionBudget;
using storage::kv::v1::Store;

namespace {

constexpr std::int32_t kClientPort = 2379;
constexpr std::int32_t kPeerPort = 2380;

std::string ConfigNameOf(const Store& store) { return store.metadata.name.str() + "-config"; }
std::string MembersNameOf(const Store& store) { return store.metadata.name.str() + "-members"; }

kgen::meta::v1::ObjectMeta MetaOf(const Store& store, const std::string& name) {
  return {.name = name,
          .namespace_ = store.metadata.namespace_,
          .labels = LabelsOf(store.metadata.name),
          .ownerReferences = {kgen::ControllerRef(store)}};
}

std::string TextOf(const kgen::Map<kgen::String>& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += name.str() + " = " + value.str() + "\n";
  return text;
}

k8s::core::v1::PodTemplateSpec TemplateOf(const Store& store) {
  return {.metadata = kgen::meta::v1::ObjectMeta{.annotations = {{kHashAnnotation, HashOf(store)}},
                                                 .labels = LabelsOf(store.metadata.name)},
          .spec = k8s::core::v1::PodSpec{
              .containers = {{.name = "store",
                              .image = store.spec->image,
                              .ports = {{.name = "client", .containerPort = kClientPort},
                                        {.name = "peer", .containerPort = kPeerPort}},
                              .readinessProbe =
                                  k8s::core::v1::Probe{.tcpSocket = k8s::core::v1::TCPSocketAction{.port = "client"}},
                              .volumeMounts = {{.name = "data", .mountPath = "/var/lib/store"},
                                               {.name = "config", .mountPath = "/etc/store"}}}},
              .volumes = {
                  {.name = "config", .configMap = k8s::core::v1::ConfigMapVolumeSource{.name = ConfigNameOf(store)}}}}};
}

}  // namespace

kgen::Map<kgen::String> LabelsOf(std::string_view store) {
  return {{"app.kubernetes.io/name", "store"}, {kInstanceLabel, store}, {kManagedByLabel, kOperator}};
}

std::string SelectorOf(std::string_view store) {
  return std::string(kInstanceLabel) + "=" + std::string(store) + "," + std::string(kManagedByLabel) + "=" +
         std::string(kOperator);
}

std::string HashOf(const Store& store) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : store.spec->image.str() + "\n" + TextOf(store.spec->settings)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return {digits.data(), end};
}

ConfigMap ConfigOf(const Store& store) {
  return {.metadata = MetaOf(store, ConfigNameOf(store)), .data = {{"store.conf", TextOf(store.spec->settings)}}};
}

Service MembersServiceOf(const Store& store) {
  return {.metadata = MetaOf(store, MembersNameOf(store)),
          .spec = k8s::core::v1::ServiceSpec{
              .clusterIP = "None",
              .ports = {{.name = "peer", .port = kPeerPort, .protocol = "TCP", .targetPort = "peer"}},
              .publishNotReadyAddresses = true,  // members find each other before they are ready
              .selector = LabelsOf(store.metadata.name)}};
}

Service ClientServiceOf(const Store& store) {
  return {.metadata = MetaOf(store, store.metadata.name.str()),
          .spec = k8s::core::v1::ServiceSpec{
              .ports = {{.name = "client", .port = kClientPort, .protocol = "TCP", .targetPort = "client"}},
              .selector = LabelsOf(store.metadata.name)}};
}

PodDisruptionBudget BudgetOf(const Store& store) {
  return {.metadata = MetaOf(store, store.metadata.name.str()),
          .spec = k8s::policy::v1::PodDisruptionBudgetSpec{
              .maxUnavailable = 1,
              .selector = kgen::meta::v1::LabelSelector{.matchLabels = LabelsOf(store.metadata.name)}}};
}

StatefulSet MembersOf(const Store& store, std::int32_t replicas) {
  // With OnDelete, a changed template changes no pod until the operator deletes it.
  return {.metadata = MetaOf(store, store.metadata.name.str()),
          .spec = k8s::apps::v1::StatefulSetSpec{
              .replicas = replicas,
              .selector = kgen::meta::v1::LabelSelector{.matchLabels = LabelsOf(store.metadata.name)},
              .serviceName = MembersNameOf(store),
              .template_ = TemplateOf(store),
              .updateStrategy = k8s::apps::v1::StatefulSetUpdateStrategy{.type = "OnDelete"},
              .volumeClaimTemplates = {{.metadata = {.name = "data"},
                                        .spec = k8s::core::v1::PersistentVolumeClaimSpec{
                                            .accessModes = {"ReadWriteOnce"},
                                            .resources = k8s::core::v1::VolumeResourceRequirements{
                                                .requests = {{"storage", store.spec->volumeSize}}}}}}}};
}
