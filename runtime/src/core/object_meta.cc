// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/object_meta.h"

#include <type_traits>

#include "core/tables/table_builder.h"

namespace kgen::meta::v1 {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;
using detail::NameSlots;

constexpr Field kOwnerReferenceFields[] = {
    MakeField("name", offsetof(OwnerReference, name), ValueKind::kString),
    MakeField("apiVersion", offsetof(OwnerReference, apiVersion), ValueKind::kString),
    MakeField("blockOwnerDeletion", offsetof(OwnerReference, blockOwnerDeletion), ValueKind::kBool),
    MakeField("controller", offsetof(OwnerReference, controller), ValueKind::kBool),
    MakeField("kind", offsetof(OwnerReference, kind), ValueKind::kString),
    MakeField("uid", offsetof(OwnerReference, uid), ValueKind::kString),
};
constexpr NameSlots kOwnerReferenceSlots = FindNameSlots(kOwnerReferenceFields);
static_assert(std::is_standard_layout_v<OwnerReference>);

constexpr Field kManagedFieldsEntryFields[] = {
    MakeField("apiVersion", offsetof(ManagedFieldsEntry, apiVersion), ValueKind::kString),
    MakeField("fieldsType", offsetof(ManagedFieldsEntry, fieldsType), ValueKind::kString),
    MakeField("fieldsV1", offsetof(ManagedFieldsEntry, fieldsV1), ValueKind::kJson),
    MakeField("manager", offsetof(ManagedFieldsEntry, manager), ValueKind::kString),
    MakeField("operation", offsetof(ManagedFieldsEntry, operation), ValueKind::kString),
    MakeField("subresource", offsetof(ManagedFieldsEntry, subresource), ValueKind::kString),
    MakeField("time", offsetof(ManagedFieldsEntry, time), ValueKind::kTime),
};
constexpr NameSlots kManagedFieldsEntrySlots = FindNameSlots(kManagedFieldsEntryFields);
static_assert(std::is_standard_layout_v<ManagedFieldsEntry>);

constexpr Field kObjectMetaFields[] = {
    MakeField("name", offsetof(ObjectMeta, name), ValueKind::kString, nullptr, kUnique),
    MakeField("namespace", offsetof(ObjectMeta, namespace_), ValueKind::kString),
    MakeField("annotations", offsetof(ObjectMeta, annotations), ValueKind::kMap, &kTypeOf<String>),
    MakeField("creationTimestamp", offsetof(ObjectMeta, creationTimestamp), ValueKind::kTime),
    MakeField("deletionGracePeriodSeconds", offsetof(ObjectMeta, deletionGracePeriodSeconds), ValueKind::kInt64),
    MakeField("deletionTimestamp", offsetof(ObjectMeta, deletionTimestamp), ValueKind::kTime),
    MakeField("finalizers", offsetof(ObjectMeta, finalizers), ValueKind::kList, &kTypeOf<String>),
    MakeField("generateName", offsetof(ObjectMeta, generateName), ValueKind::kString),
    MakeField("generation", offsetof(ObjectMeta, generation), ValueKind::kInt64),
    MakeField("labels", offsetof(ObjectMeta, labels), ValueKind::kMap, &kTypeOf<String>),
    MakeField("managedFields", offsetof(ObjectMeta, managedFields), ValueKind::kList, &kTypeOf<ManagedFieldsEntry>,
              kNoMemo | kManagedFields),
    MakeField("ownerReferences", offsetof(ObjectMeta, ownerReferences), ValueKind::kList, &kTypeOf<OwnerReference>),
    MakeField("resourceVersion", offsetof(ObjectMeta, resourceVersion), ValueKind::kString, nullptr, kUnique),
    MakeField("selfLink", offsetof(ObjectMeta, selfLink), ValueKind::kString, nullptr, kUnique),
    MakeField("uid", offsetof(ObjectMeta, uid), ValueKind::kString, nullptr, kUnique),
};
constexpr NameSlots kObjectMetaSlots = FindNameSlots(kObjectMetaFields);
static_assert(std::is_standard_layout_v<ObjectMeta>);

constexpr Field kShardInfoFields[] = {
    MakeField("selector", offsetof(ShardInfo, selector), ValueKind::kString),
};
constexpr NameSlots kShardInfoSlots = FindNameSlots(kShardInfoFields);
static_assert(std::is_standard_layout_v<ShardInfo>);

constexpr Field kListMetaFields[] = {
    MakeField("continue", offsetof(ListMeta, continue_), ValueKind::kString, nullptr, kUnique),
    MakeField("remainingItemCount", offsetof(ListMeta, remainingItemCount), ValueKind::kInt64),
    MakeField("resourceVersion", offsetof(ListMeta, resourceVersion), ValueKind::kString, nullptr, kUnique),
    MakeField("selfLink", offsetof(ListMeta, selfLink), ValueKind::kString),
    MakeField("shardInfo", offsetof(ListMeta, shardInfo), ValueKind::kBox, &ShardInfo::kTable),
};
constexpr NameSlots kListMetaSlots = FindNameSlots(kListMetaFields);
static_assert(std::is_standard_layout_v<ListMeta>);

constexpr Field kLabelSelectorRequirementFields[] = {
    MakeField("key", offsetof(LabelSelectorRequirement, key), ValueKind::kString),
    MakeField("operator", offsetof(LabelSelectorRequirement, operator_), ValueKind::kString),
    MakeField("values", offsetof(LabelSelectorRequirement, values), ValueKind::kList, &kTypeOf<String>),
};
constexpr NameSlots kLabelSelectorRequirementSlots = FindNameSlots(kLabelSelectorRequirementFields);
static_assert(std::is_standard_layout_v<LabelSelectorRequirement>);

constexpr Field kLabelSelectorFields[] = {
    MakeField("matchExpressions", offsetof(LabelSelector, matchExpressions), ValueKind::kList,
              &kTypeOf<LabelSelectorRequirement>),
    MakeField("matchLabels", offsetof(LabelSelector, matchLabels), ValueKind::kMap, &kTypeOf<String>),
};
constexpr NameSlots kLabelSelectorSlots = FindNameSlots(kLabelSelectorFields);
static_assert(std::is_standard_layout_v<LabelSelector>);

constexpr Field kFieldSelectorRequirementFields[] = {
    MakeField("key", offsetof(FieldSelectorRequirement, key), ValueKind::kString),
    MakeField("operator", offsetof(FieldSelectorRequirement, operator_), ValueKind::kString),
    MakeField("values", offsetof(FieldSelectorRequirement, values), ValueKind::kList, &kTypeOf<String>),
};
constexpr NameSlots kFieldSelectorRequirementSlots = FindNameSlots(kFieldSelectorRequirementFields);
static_assert(std::is_standard_layout_v<FieldSelectorRequirement>);

constexpr Field kPreconditionsFields[] = {
    MakeField("resourceVersion", offsetof(Preconditions, resourceVersion), ValueKind::kString),
    MakeField("uid", offsetof(Preconditions, uid), ValueKind::kString),
};
constexpr NameSlots kPreconditionsSlots = FindNameSlots(kPreconditionsFields);
static_assert(std::is_standard_layout_v<Preconditions>);

constexpr Field kDeleteOptionsFields[] = {
    MakeField("dryRun", offsetof(DeleteOptions, dryRun), ValueKind::kList, &kTypeOf<String>),
    MakeField("gracePeriodSeconds", offsetof(DeleteOptions, gracePeriodSeconds), ValueKind::kInt64),
    MakeField("ignoreStoreReadErrorWithClusterBreakingPotential",
              offsetof(DeleteOptions, ignoreStoreReadErrorWithClusterBreakingPotential), ValueKind::kBool),
    MakeField("orphanDependents", offsetof(DeleteOptions, orphanDependents), ValueKind::kBool),
    MakeField("preconditions", offsetof(DeleteOptions, preconditions), ValueKind::kBox, &Preconditions::kTable),
    MakeField("propagationPolicy", offsetof(DeleteOptions, propagationPolicy), ValueKind::kString),
};
constexpr NameSlots kDeleteOptionsSlots = FindNameSlots(kDeleteOptionsFields);
static_assert(std::is_standard_layout_v<DeleteOptions>);

constexpr Field kConditionFields[] = {
    MakeField("lastTransitionTime", offsetof(Condition, lastTransitionTime), ValueKind::kTime),
    MakeField("message", offsetof(Condition, message), ValueKind::kString),
    MakeField("observedGeneration", offsetof(Condition, observedGeneration), ValueKind::kInt64),
    MakeField("reason", offsetof(Condition, reason), ValueKind::kString),
    MakeField("status", offsetof(Condition, status), ValueKind::kString),
    MakeField("type", offsetof(Condition, type), ValueKind::kString),
};
constexpr NameSlots kConditionSlots = FindNameSlots(kConditionFields);
static_assert(std::is_standard_layout_v<Condition>);

constexpr Field kStatusCauseFields[] = {
    MakeField("field", offsetof(StatusCause, field), ValueKind::kString),
    MakeField("message", offsetof(StatusCause, message), ValueKind::kString),
    MakeField("reason", offsetof(StatusCause, reason), ValueKind::kString),
};
constexpr NameSlots kStatusCauseSlots = FindNameSlots(kStatusCauseFields);
static_assert(std::is_standard_layout_v<StatusCause>);

constexpr Field kStatusDetailsFields[] = {
    MakeField("name", offsetof(StatusDetails, name), ValueKind::kString),
    MakeField("causes", offsetof(StatusDetails, causes), ValueKind::kList, &kTypeOf<StatusCause>),
    MakeField("group", offsetof(StatusDetails, group), ValueKind::kString),
    MakeField("kind", offsetof(StatusDetails, kind), ValueKind::kString),
    MakeField("retryAfterSeconds", offsetof(StatusDetails, retryAfterSeconds), ValueKind::kInt32),
    MakeField("uid", offsetof(StatusDetails, uid), ValueKind::kString),
};
constexpr NameSlots kStatusDetailsSlots = FindNameSlots(kStatusDetailsFields);
static_assert(std::is_standard_layout_v<StatusDetails>);

constexpr Field kStatusFields[] = {
    MakeField("metadata", offsetof(Status, metadata), ValueKind::kStruct, &ListMeta::kTable),
    MakeField("status", offsetof(Status, status), ValueKind::kString),
    MakeField("code", offsetof(Status, code), ValueKind::kInt32),
    MakeField("details", offsetof(Status, details), ValueKind::kBox, &StatusDetails::kTable),
    MakeField("message", offsetof(Status, message), ValueKind::kString),
    MakeField("reason", offsetof(Status, reason), ValueKind::kString),
};
constexpr NameSlots kStatusSlots = FindNameSlots(kStatusFields);
static_assert(std::is_standard_layout_v<Status>);

constexpr KindInfo kStatusKind = {.group = "",
                                  .version = "v1",
                                  .kind = "Status",
                                  .list_kind = "",
                                  .resource = "",
                                  .singular = "",
                                  .scope = Scope::kCluster,
                                  .list = nullptr};

}  // namespace

constinit const TypeTable OwnerReference::kTable =
    MakeTable<OwnerReference>("kgen.meta.v1.OwnerReference", kOwnerReferenceFields, kOwnerReferenceSlots);
constinit const TypeTable ManagedFieldsEntry::kTable = MakeTable<ManagedFieldsEntry>(
    "kgen.meta.v1.ManagedFieldsEntry", kManagedFieldsEntryFields, kManagedFieldsEntrySlots);
constinit const TypeTable ObjectMeta::kTable =
    MakeTable<ObjectMeta>("kgen.meta.v1.ObjectMeta", kObjectMetaFields, kObjectMetaSlots);
constinit const TypeTable ShardInfo::kTable =
    MakeTable<ShardInfo>("kgen.meta.v1.ShardInfo", kShardInfoFields, kShardInfoSlots);
constinit const TypeTable ListMeta::kTable =
    MakeTable<ListMeta>("kgen.meta.v1.ListMeta", kListMetaFields, kListMetaSlots);
constinit const TypeTable LabelSelectorRequirement::kTable = MakeTable<LabelSelectorRequirement>(
    "kgen.meta.v1.LabelSelectorRequirement", kLabelSelectorRequirementFields, kLabelSelectorRequirementSlots);
constinit const TypeTable LabelSelector::kTable =
    MakeTable<LabelSelector>("kgen.meta.v1.LabelSelector", kLabelSelectorFields, kLabelSelectorSlots);
constinit const TypeTable FieldSelectorRequirement::kTable = MakeTable<FieldSelectorRequirement>(
    "kgen.meta.v1.FieldSelectorRequirement", kFieldSelectorRequirementFields, kFieldSelectorRequirementSlots);
constinit const TypeTable Preconditions::kTable =
    MakeTable<Preconditions>("kgen.meta.v1.Preconditions", kPreconditionsFields, kPreconditionsSlots);
constinit const TypeTable DeleteOptions::kTable =
    MakeTable<DeleteOptions>("kgen.meta.v1.DeleteOptions", kDeleteOptionsFields, kDeleteOptionsSlots);
constinit const TypeTable Condition::kTable =
    MakeTable<Condition>("kgen.meta.v1.Condition", kConditionFields, kConditionSlots);
constinit const TypeTable StatusCause::kTable =
    MakeTable<StatusCause>("kgen.meta.v1.StatusCause", kStatusCauseFields, kStatusCauseSlots);
constinit const TypeTable StatusDetails::kTable =
    MakeTable<StatusDetails>("kgen.meta.v1.StatusDetails", kStatusDetailsFields, kStatusDetailsSlots);
constinit const TypeTable Status::kTable =
    MakeTable<Status>("kgen.meta.v1.Status", kStatusFields, kStatusSlots, offsetof(Status, metadata), &kStatusKind);

}  // namespace kgen::meta::v1
