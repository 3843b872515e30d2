// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen::autoscaling::v1::Scale: the object of the scale subresource of a workload or a custom resource.
//
// It belongs to the runtime because a custom resource can be scaled without any generated code of the built-in API. The
// verbs are GetScale and UpdateScale of the clients (kgen/client/resource_client.h).
#ifndef KGEN_CORE_SCALE_H_
#define KGEN_CORE_SCALE_H_

#include <cstdint>

#include "kgen/core/object_meta.h"
#include "kgen/core/optional.h"
#include "kgen/core/string.h"
#include "kgen/core/type_table.h"
#include "kgen/core/unknown_fields.h"

namespace kgen::autoscaling::v1 {

using kgen::operator<<;

// The desired number of replicas.
struct ScaleSpec {
  Optional<std::int32_t> replicas{};  // servers omit 0
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const ScaleSpec& a, const ScaleSpec& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// The observed number of replicas.
struct ScaleStatus {
  Optional<std::int32_t> replicas{};
  String selector{};  // of the labels of the replicas, as text: "app=web,tier in (a,b)"
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const ScaleStatus& a, const ScaleStatus& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

// `metadata` comes from the scaled object, as far as a scaler needs it: name, namespace, uid, resourceVersion and
// creationTimestamp.
struct Scale {
  meta::v1::ObjectMeta metadata{};
  Optional<ScaleSpec> spec = kAbsent;
  Optional<ScaleStatus> status = kAbsent;
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Scale& a, const Scale& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

}  // namespace kgen::autoscaling::v1

#endif  // KGEN_CORE_SCALE_H_
