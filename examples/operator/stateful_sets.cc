// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "stateful_sets.h"

#include <k8s/apps/v1/client.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/client.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/options.h>
#include <kgen/controller/finalizers.h>
#include <kgen/controller/owners.h>
#include <kgen/core/conditions.h>

#include <algorithm>
#include <cstdint>
#include <map>

using k8s::core::v1::PersistentVolumeClaim;

namespace {

bool HasReady(const k8s::core::v1::Pod& pod) { return kgen::IsConditionTrue(pod.status->conditions, "Ready"); }

// The operator may write at the same time; then the next step looks again.
template <typename T>
int Written(const kgen::Result<T>& result) {
  if (result) return 1;
  const kgen::Code code = result.error().code();
  if (code == kgen::Code::kConflict || code == kgen::Code::kNotFound || code == kgen::Code::kAlreadyExists) return 0;
  throw kgen::Exception(result.error());
}

}  // namespace

int StatefulSets::Act() {
  const auto sets = kgen::Must(apps_.StatefulSets(namespace_).List());
  const auto pods = kgen::Must(core_.Pods(namespace_).List());
  std::map<std::string, std::vector<const Pod*>> of;  // by the uid of their StatefulSet
  for (const Pod& pod : pods.items) {
    for (const auto& owner : pod.metadata.ownerReferences) of[owner.uid.str()].push_back(&pod);
  }
  int writes = 0;
  for (const StatefulSet& set : sets.items) {
    if (kgen::IsBeingDeleted(set)) continue;
    writes += ActFor(set, of[set.metadata.uid.str()]);
    of.erase(set.metadata.uid.str());
  }
  for (const auto& [owner, orphans] : of) {
    for (const Pod* pod : orphans) {
      writes += Written(core_.Pods(namespace_).Delete(pod->metadata.name));
    }
  }
  return writes;
}

int StatefulSets::ActFor(const StatefulSet& set, const std::vector<const Pod*>& pods) {
  int writes = WriteStatus(set, pods);
  const auto find = [&](int ordinal) -> const Pod* {
    const std::string name = set.metadata.name.str() + "-" + std::to_string(ordinal);
    const auto found = std::ranges::find_if(pods, [&](const Pod* pod) { return pod->metadata.name == name; });
    return found == pods.end() ? nullptr : *found;
  };
  const int replicas = *set.spec->replicas;
  for (int ordinal = 0; ordinal < replicas; ++ordinal) {
    const Pod* pod = find(ordinal);
    if (pod == nullptr) return writes + Make(set, ordinal);
    if (!HasReady(*pod)) return writes + MakeReady(*pod);
  }
  int last = replicas;
  while (find(last) != nullptr) ++last;
  if (last == replicas) return writes;
  return writes + Written(core_.Pods(namespace_).Delete(find(last - 1)->metadata.name));
}

int StatefulSets::MakeReady(const Pod& pod) {
  if (broken_.contains(pod.spec->containers[0].image.str())) return 0;
  Pod ready = pod;
  ready.status->phase = "Running";
  kgen::SetCondition(ready.status->conditions, {.status = "True", .type = "Ready"});
  return Written(core_.Pods(namespace_).UpdateStatus(ready));
}

int StatefulSets::Make(const StatefulSet& set, int ordinal) {
  const std::string name = set.metadata.name.str() + "-" + std::to_string(ordinal);
  Pod pod{.metadata = *set.spec->template_->metadata, .spec = set.spec->template_->spec};
  pod.metadata.name = name;
  pod.metadata.ownerReferences = {kgen::ControllerRef(set)};
  for (PersistentVolumeClaim claim : set.spec->volumeClaimTemplates) {
    const std::string volume = claim.metadata.name.str();
    claim.metadata.name = volume + "-" + name;
    claim.metadata.labels = set.spec->selector->matchLabels;
    claim.status.reset();
    pod.spec->volumes.push_back(
        {.name = volume,
         .persistentVolumeClaim = k8s::core::v1::PersistentVolumeClaimVolumeSource{.claimName = claim.metadata.name}});
    (void)Written(core_.PersistentVolumeClaims(namespace_).Create(claim));
  }
  return Written(core_.Pods(namespace_).Create(pod));
}

int StatefulSets::WriteStatus(const StatefulSet& set, const std::vector<const Pod*>& pods) {
  StatefulSet seen = set;
  seen.status->observedGeneration = set.metadata.generation;
  seen.status->replicas = static_cast<std::int32_t>(pods.size());
  seen.status->readyReplicas =
      static_cast<std::int32_t>(std::ranges::count_if(pods, [](const Pod* pod) { return HasReady(*pod); }));
  if (seen.status == set.status) return 0;
  return Written(apps_.StatefulSets(namespace_).UpdateStatus(seen));
}
