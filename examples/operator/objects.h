// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The objects of a Store, as the operator wants them. Each has the store as its controller, so that the server's
// garbage collector deletes it with the store. The functions only compute; they may be called from any thread.
#ifndef KGEN_EXAMPLES_OPERATOR_OBJECTS_H_
#define KGEN_EXAMPLES_OPERATOR_OBJECTS_H_

#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <kgen/core/map.h>
#include <kgen/core/string.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "api/store_v1.h"

// On all objects of stores: which store it is, and that the operator made it.
inline constexpr std::string_view kInstanceLabel = "app.kubernetes.io/instance";
inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kOperator = "store-operator";
// On pods: the hash of the image and the settings with which they were started.
inline constexpr std::string_view kHashAnnotation = "kv.example.com/config-hash";

kgen::Map<kgen::String> LabelsOf(std::string_view store);
// A label selector for the objects of a store.
std::string SelectorOf(std::string_view store);
// Changes with everything for which a member has to be restarted. The same in every build of the operator.
std::string HashOf(const storage::kv::v1::Store& store);

k8s::core::v1::ConfigMap ConfigOf(const storage::kv::v1::Store& store);
k8s::core::v1::Service MembersServiceOf(const storage::kv::v1::Store& store);
k8s::core::v1::Service ClientServiceOf(const storage::kv::v1::Store& store);
k8s::policy::v1::PodDisruptionBudget BudgetOf(const storage::kv::v1::Store& store);
k8s::apps::v1::StatefulSet MembersOf(const storage::kv::v1::Store& store, std::int32_t replicas);

#endif  // KGEN_EXAMPLES_OPERATOR_OBJECTS_H_
