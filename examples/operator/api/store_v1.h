// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API of the operator, version v1: a Store is a key-value store with several members, one of which leads by a vote.
// kgen-crd makes the CRD in deploy/ and the clients from this header.
#ifndef KGEN_EXAMPLES_OPERATOR_API_STORE_V1_H_
#define KGEN_EXAMPLES_OPERATOR_API_STORE_V1_H_

#include <kgen/core/enum.h>
#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>
#include <kgen/core/quantity.h>

#include <cstdint>

namespace storage::kv::v1 {

// What happens to the volumes of a store that is deleted.
enum class VolumePolicy { kRetain, kDelete };

// What a user wants.
struct StoreSpec {
  // How many members vote. An even number survives no more failures than the odd number below it.
  // +kgen:minimum=1
  // +kgen:maximum=9
  // +kgen:default=3
  // +kgen:XValidation:rule="self % 2 == 1",message="the number of members must be odd"
  kgen::Optional<std::int32_t> replicas{};
  // The image of the members.
  // +kgen:default="registry.example.com/store:1.0"
  // +kgen:minLength=1
  kgen::String image{};
  // The settings of the members, each a line of store.conf. A change restarts the members, one at a time.
  // +kgen:maxProperties=100
  kgen::Map<kgen::String> settings{};
  // The size of the volume of each member. It cannot change.
  // +kgen:default="1Gi"
  // +kgen:XValidation:rule="self == oldSelf",message="the size of the volumes cannot change"
  kgen::Quantity volumeSize{};
  // +kgen:default=Retain
  kgen::Enum<VolumePolicy> volumePolicy{};
  KGEN_OBJECT(StoreSpec)
};

// What the operator has reached.
struct StoreStatus {
  // The generation of the spec that the rest of the status is about.
  kgen::Optional<std::int64_t> observedGeneration{};
  // The members that exist, that are ready, and that run with the present image and settings.
  kgen::Optional<std::int32_t> replicas{};
  kgen::Optional<std::int32_t> readyReplicas{};
  kgen::Optional<std::int32_t> updatedReplicas{};
  // Selects the pods of the members, for the scale subresource.
  kgen::String selector{};
  // Available: a majority of the members is ready. Progressing: the operator is on the way to the spec.
  // +listType=map
  // +listMapKey=type
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(StoreStatus)
};

// A key-value store with several members.
// +kgen:resource:group=kv.example.com,version=v1
// +kgen:subresource:status
// +kgen:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kgen:printcolumn:name=Members,type=integer,jsonPath=.spec.replicas
// +kgen:printcolumn:name=Ready,type=integer,jsonPath=.status.readyReplicas
// +kgen:printcolumn:name=Updated,type=integer,jsonPath=.status.updatedReplicas
// +kgen:printcolumn:name=Age,type=date,jsonPath=.metadata.creationTimestamp
struct Store {
  kgen::meta::v1::ObjectMeta metadata{};
  // +kgen:default={}
  // +required
  kgen::Optional<StoreSpec> spec = kgen::kAbsent;
  kgen::Optional<StoreStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Store)
};

}  // namespace storage::kv::v1

#endif  // KGEN_EXAMPLES_OPERATOR_API_STORE_V1_H_
