// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <kgen/client/options.h>
#include <kgen/client/selector.h>
#include <kgen/controller/create_or_update.h>
#include <kgen/controller/finalizers.h>
#include <kgen/controller/owners.h>
#include <kgen/core/conditions.h>
#include <kgen/core/ref.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/store_v1.h"
#include "objects.h"

using k8s::apps::v1::StatefulSet;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::PersistentVolumeClaim;
using k8s::core::v1::Pod;
using k8s::core::v1::Service;
using k8s::policy::v1::PodDisruptionBudget;
using storage::kv::v1::Store;
using storage::kv::v1::VolumePolicy;

// What the manager cannot know: the writes of the function below, and its reads past the caches.
// +kgen:rbac:groups=kv.example.com,resources=stores,verbs=patch
// +kgen:rbac:groups=kv.example.com,resources=stores/status,verbs=update
// +kgen:rbac:groups=apps,resources=statefulsets,verbs=create;patch;delete
// +kgen:rbac:groups=core,resources=configmaps;services,verbs=create;patch
// +kgen:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;patch
// +kgen:rbac:groups=core,resources=pods,verbs=delete
// +kgen:rbac:groups=core,resources=persistentvolumeclaims,verbs=list;delete

namespace {

constexpr std::string_view kFinalizer = "kv.example.com/volumes";

using Pods = std::vector<kgen::Ref<const Pod>>;

kgen::Result<kgen::ListFilter> FilterOf(const kgen::ObjectKey& store) {
  KGEN_TRY(auto labels, kgen::Selector::Parse(SelectorOf(store.name)));
  return kgen::ListFilter{.namespace_ = store.namespace_.str(), .labels = std::move(labels)};
}

// The number at the end of the name of a pod: "first-2".
int OrdinalOf(const Pod& pod) {
  const std::string_view name = pod.metadata.name;
  const std::string_view digits = name.substr(name.rfind('-') + 1);
  int ordinal = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  return ordinal;
}

bool IsReady(const Pod& pod) {
  return !kgen::IsBeingDeleted(pod) && kgen::IsConditionTrue(pod.status->conditions, "Ready");
}

// The pods of a store.
class Members {
 public:
  // `hash`: of the pods that are up to date.
  Members(Pods pods, std::string hash) : pods_(std::move(pods)), hash_(std::move(hash)) {
    std::ranges::sort(pods_, [](const auto& a, const auto& b) { return OrdinalOf(*a) > OrdinalOf(*b); });
  }

  int count() const { return static_cast<int>(pods_.size()); }
  int ready() const {
    return static_cast<int>(std::ranges::count_if(pods_, [](const auto& pod) { return IsReady(*pod); }));
  }
  int updated() const {
    return static_cast<int>(std::ranges::count_if(pods_, [this](const auto& pod) { return IsUpdated(*pod); }));
  }
  // Returns whether the member with this number may leave: it is the last one, and all others are ready.
  bool MayLeave(int ordinal) const {
    int ready = 0;
    for (const auto& pod : pods_) {
      if (OrdinalOf(*pod) > ordinal) return false;  // still leaving
      if (OrdinalOf(*pod) < ordinal && IsReady(*pod)) ++ready;
    }
    return ready == ordinal;
  }
  // Returns the member to restart, or null: one that is not up to date, the one with the highest number first. It waits
  // until every other member is ready, so that no more than one is missing at any time. A member that is not ready
  // itself comes first, because nothing but a restart may help it.
  kgen::Ref<const Pod> NextToRestart() const {
    kgen::Ref<const Pod> next;
    int missing = 0;
    for (const auto& pod : pods_) {
      if (kgen::IsBeingDeleted(*pod)) return {};
      if (!IsReady(*pod)) ++missing;
      if (IsUpdated(*pod)) continue;
      if (!next || (IsReady(*next) && !IsReady(*pod))) next = pod;
    }
    if (next && missing > (IsReady(*next) ? 0 : 1)) return {};
    return next;
  }

 private:
  bool IsUpdated(const Pod& pod) const { return pod.metadata.annotations[kHashAnnotation] == hash_; }

  Pods pods_;  // the highest number first
  const std::string hash_;
};

// Writes the finalizers alone. While a CRD is upgraded, a watch from before sends objects without the members that the
// new CRD adds, and an update with such an object would remove them. The patch has the resourceVersion of `after`, so
// that it fails if somebody else has written meanwhile.
kgen::Result<Store> WriteFinalizers(const kgen::Request& request, Store before, const Store& after) {
  before.metadata.resourceVersion.reset();
  KGEN_TRY(const kgen::Patch patch, kgen::MergePatch(before, after));
  return request.client().Patch(after, patch);
}

// Members leave one at a time, because each has to be voted out by a majority of the others.
std::int32_t NextReplicas(const Store& store, const StatefulSet* set, const Members& members) {
  const std::int32_t wanted = *store.spec->replicas;
  if (set == nullptr || wanted >= *set->spec->replicas) return wanted;
  const std::int32_t last = *set->spec->replicas - 1;
  return members.MayLeave(last) ? last : last + 1;
}

template <typename T>
kgen::Result<void> Apply(const kgen::Request& request, const T& wanted) {
  return kgen::Discard(kgen::ApplyIfChanged(request.client(), wanted, {.force = true}));
}

// Brings the objects of the store to the wanted state, and returns the StatefulSet.
kgen::Result<StatefulSet> ApplyObjects(const kgen::Request& request, const Store& store, const Members& members) {
  KGEN_TRY(const auto set, request.client().Get<StatefulSet>(request.key()));
  if (set && !kgen::IsControlledBy(*set, store)) {
    const std::string note = "The StatefulSet " + request.key().name.str() + " belongs to somebody else.";
    request.events().Event(
        store, {.type = kgen::EventType::kWarning, .reason = "NameTaken", .action = "Reconcile", .note = note});
    return kgen::Fail(kgen::Code::kAlreadyExists, note + " Rename the store, or delete the StatefulSet.");
  }
  if (auto done = Apply(request, ConfigOf(store)); !done) return done.error();
  if (auto done = Apply(request, MembersServiceOf(store)); !done) return done.error();
  if (auto done = Apply(request, ClientServiceOf(store)); !done) return done.error();
  if (auto done = Apply(request, BudgetOf(store)); !done) return done.error();
  const std::int32_t replicas = NextReplicas(store, set.get(), members);
  KGEN_TRY(auto written, kgen::ApplyIfChanged(request.client(), MembersOf(store, replicas), {.force = true}));
  if (!set) {
    request.events().Event(store, {.reason = "Created", .action = "Create", .note = "Created the StatefulSet."});
  } else if (replicas < *set->spec->replicas) {
    const std::string note = "Removing member " + std::to_string(replicas) + ".";
    request.events().Event(store, {.reason = "RemovingMember", .action = "ScaleDown", .note = note});
  }
  return std::move(written.object);
}

// Deletes one pod that is not up to date. The StatefulSet then makes it again from the new template.
kgen::Result<void> RestartNext(const kgen::Request& request, const Store& store, const StatefulSet& set,
                               const Members& members) {
  // Until the controller of StatefulSets has seen the new template, it would use the old one.
  if (set.status->observedGeneration.value_or(0) < set.metadata.generation.value_or(0)) return {};
  if (members.count() != *set.spec->replicas) return {};
  const kgen::Ref<const Pod> pod = members.NextToRestart();
  if (!pod) return {};
  if (auto done = request.client().Delete(*pod, {.uid = pod->metadata.uid.str()}); !done) return done;
  const std::string note = "Restarting " + pod->metadata.name.str() + " with a new image or new settings.";
  request.events().Event(store, *pod, {.reason = "RestartingMember", .action = "Restart", .note = note});
  return {};
}

kgen::Result<void> WriteStatus(const kgen::Request& request, const Store& store, const Members& members) {
  Store observed = store;
  const std::int32_t wanted = *store.spec->replicas;
  const int ready = members.ready();
  const bool available = ready > wanted / 2;
  const bool progressing = members.count() != wanted || ready != wanted || members.updated() != wanted;
  observed.status->observedGeneration = store.metadata.generation;
  observed.status->replicas = members.count();
  observed.status->readyReplicas = ready;
  observed.status->updatedReplicas = members.updated();
  observed.status->selector = SelectorOf(store.metadata.name);
  kgen::SetCondition(observed.status->conditions,
                     {.message = std::to_string(ready) + " of " + std::to_string(wanted) + " members are ready.",
                      .observedGeneration = store.metadata.generation,
                      .reason = available ? "MajorityReady" : "NoMajority",
                      .status = available ? "True" : "False",
                      .type = "Available"});
  kgen::SetCondition(observed.status->conditions,
                     {.message = std::to_string(members.updated()) + " of " + std::to_string(wanted) +
                                 " members have the present image and settings.",
                      .observedGeneration = store.metadata.generation,
                      .reason = progressing ? "Changing" : "AsSpecified",
                      .status = progressing ? "True" : "False",
                      .type = "Progressing"});
  if (observed.status == store.status) return {};
  return kgen::Discard(request.client().UpdateStatus(observed));
}

// Volumes belong to no owner, so the garbage collector leaves them: the finalizer keeps the store until all pods are
// gone, and then deletes the volumes if the store says so.
kgen::Result<void> CleanUp(const kgen::Request& request, const Store& store, const kgen::ListFilter& filter,
                           bool has_pods) {
  if (!kgen::HasFinalizer(store, kFinalizer)) return {};
  const kgen::CachedClient& client = request.client();
  KGEN_TRY(const auto set, client.Get<StatefulSet>(request.key()));
  const bool has_set = set && kgen::IsControlledBy(*set, store);
  if (has_set && !kgen::IsBeingDeleted(*set)) {
    request.events().Event(store, {.reason = "Deleting", .action = "Delete", .note = "Stopping all members."});
    return client.Delete(*set, {.propagation_policy = kgen::Propagation::kBackground, .uid = set->metadata.uid.str()});
  }
  if (has_set || has_pods) return {};  // their end calls this again
  if (store.spec->volumePolicy == VolumePolicy::kDelete) {
    KGEN_TRY(const auto claims, client.Live().List<PersistentVolumeClaim>(filter));
    for (const auto& claim : claims) {
      const auto done = client.Delete(*claim, {.uid = claim->metadata.uid.str()});
      if (!done && done.error().code() != kgen::Code::kNotFound) return done;
    }
    const std::string note = "Deleted " + std::to_string(claims.size()) + " volumes.";
    request.events().Event(store, {.reason = "VolumesDeleted", .action = "Delete", .note = note});
  }
  Store released = store;
  kgen::RemoveFinalizer(released, kFinalizer);
  return kgen::Discard(WriteFinalizers(request, store, released));
}

kgen::Result<void> Reconcile(kgen::Request& request) {
  KGEN_TRY(const auto cached, request.Get<Store>());
  if (!cached) return {};
  KGEN_TRY(const kgen::ListFilter filter, FilterOf(request.key()));
  KGEN_TRY(Pods pods, request.client().List<Pod>(filter));
  if (kgen::IsBeingDeleted(*cached)) return CleanUp(request, *cached, filter, !pods.empty());
  Store store = *cached;
  if (kgen::AddFinalizer(store, kFinalizer)) {
    KGEN_TRY(store, WriteFinalizers(request, *cached, store));
  }
  const Members members(std::move(pods), HashOf(store));
  KGEN_TRY(const StatefulSet set, ApplyObjects(request, store, members));
  if (auto done = RestartNext(request, store, set, members); !done) return done;
  return WriteStatus(request, store, members);
}

}  // namespace

kgen::ManagerOptions StoreManagerOptions() {
  const std::string ours = std::string(kManagedByLabel) + "=" + std::string(kOperator);
  return {.name = std::string(kOperator),
          .caches = {.scopes_of = {{&Pod::kTable, {{.label_selector = ours}}}}},
          .controllers = {.max_concurrent_reconciles = 4}};
}

kgen::Result<void> AddStoreController(const kgen::Manager& manager) {
  return kgen::Discard(manager.Control<Store>("stores")
                           .Owns<StatefulSet>()
                           .Owns<Service>()
                           .Owns<ConfigMap>()
                           .Owns<PodDisruptionBudget>()
                           .Watches<Pod>([](const Pod& pod, kgen::Requests& requests) {
                             requests.Add(pod.metadata.namespace_, pod.metadata.labels[kInstanceLabel]);
                           })
                           .Reconcile(Reconcile));
}
