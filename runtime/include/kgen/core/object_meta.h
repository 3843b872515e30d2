// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen::meta::v1: the types of meta/v1 that the runtime itself works with. k8s::meta::v1 is an alias of them.
//
// Every kind contains an ObjectMeta, every list a ListMeta; a server responds with a Status when it refuses a request.
#ifndef KGEN_CORE_OBJECT_META_H_
#define KGEN_CORE_OBJECT_META_H_

#include <cstdint>

#include "kgen/core/json.h"
#include "kgen/core/list.h"
#include "kgen/core/map.h"
#include "kgen/core/optional.h"
#include "kgen/core/quantity.h"
#include "kgen/core/string.h"
#include "kgen/core/time.h"
#include "kgen/core/type_table.h"
#include "kgen/core/unknown_fields.h"

namespace kgen::meta::v1 {

using kgen::operator<<;

// An object that owns this one; when it is deleted, this one is garbage.
struct OwnerReference {
  String name{};
  String apiVersion{};
  Optional<bool> blockOwnerDeletion{};
  Optional<bool> controller{};
  String kind{};
  String uid{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const OwnerReference& a, const OwnerReference& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// Which fields a field manager owns, as the server keeps it for server-side apply.
struct ManagedFieldsEntry {
  String apiVersion{};
  String fieldsType{};
  Json fieldsV1{};
  String manager{};
  String operation{};
  String subresource{};
  Time time{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const ManagedFieldsEntry& a, const ManagedFieldsEntry& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// Name, namespace, version, labels and the rest that every object has.
struct ObjectMeta {
  String name{};
  String namespace_{};
  Map<String> annotations{};
  Time creationTimestamp{};
  Optional<std::int64_t> deletionGracePeriodSeconds{};
  Time deletionTimestamp{};
  List<String> finalizers{};
  String generateName{};
  Optional<std::int64_t> generation{};
  Map<String> labels{};
  List<ManagedFieldsEntry> managedFields{};
  List<OwnerReference> ownerReferences{};
  String resourceVersion{};
  String selfLink{};
  String uid{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const ObjectMeta& a, const ObjectMeta& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// The shard to which the server restricted a list.
struct ShardInfo {
  String selector{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const ShardInfo& a, const ShardInfo& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// The metadata of a list: its resourceVersion, and the token of its next page.
struct ListMeta {
  String continue_{};
  Optional<std::int64_t> remainingItemCount{};
  String resourceVersion{};
  String selfLink{};
  Optional<ShardInfo> shardInfo = kAbsent;
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const ListMeta& a, const ListMeta& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct LabelSelectorRequirement {
  String key{};
  String operator_{};  // In, NotIn, Exists, DoesNotExist
  List<String> values{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const LabelSelectorRequirement& a, const LabelSelectorRequirement& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// A present, empty selector matches everything; an absent one nothing.
struct LabelSelector {
  using MatchExpression = LabelSelectorRequirement;  // the name that generated code gives to such a type

  List<LabelSelectorRequirement> matchExpressions{};
  Map<String> matchLabels{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const LabelSelector& a, const LabelSelector& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// A requirement of a field selector in the attributes of an access review.
struct FieldSelectorRequirement {
  String key{};
  String operator_{};  // In, NotIn, Exists, DoesNotExist
  List<String> values{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const FieldSelectorRequirement& a, const FieldSelectorRequirement& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// What must be true of an object for it to be deleted.
struct Preconditions {
  String resourceVersion{};
  String uid{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Preconditions& a, const Preconditions& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// How to delete, inside of other objects (an Eviction). Clients take kgen::DeleteOptions.
struct DeleteOptions {
  List<String> dryRun{};  // All, or nothing
  Optional<std::int64_t> gracePeriodSeconds{};
  Optional<bool> ignoreStoreReadErrorWithClusterBreakingPotential{};
  Optional<bool> orphanDependents{};  // deprecated: propagationPolicy
  Optional<Preconditions> preconditions = kAbsent;
  String propagationPolicy{};  // Orphan, Background, Foreground
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const DeleteOptions& a, const DeleteOptions& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// One aspect of the current state of an object.
struct Condition {
  Time lastTransitionTime{};
  String message{};
  Optional<std::int64_t> observedGeneration{};
  String reason{};
  String status{};  // True, False, Unknown
  String type{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Condition& a, const Condition& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

struct StatusCause {
  String field{};
  String message{};
  String reason{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const StatusCause& a, const StatusCause& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

struct StatusDetails {
  String name{};
  List<StatusCause> causes{};
  String group{};
  String kind{};
  Optional<std::int32_t> retryAfterSeconds{};
  String uid{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const StatusDetails& a, const StatusDetails& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// The response to a call that returns no object: every error, and deletions.
struct Status {
  ListMeta metadata{};
  String status{};  // Success, Failure
  Optional<std::int32_t> code{};
  Optional<StatusDetails> details = kAbsent;
  String message{};
  String reason{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Status& a, const Status& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

}  // namespace kgen::meta::v1

#endif  // KGEN_CORE_OBJECT_META_H_
