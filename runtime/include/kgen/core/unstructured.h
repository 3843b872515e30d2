// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Objects of any kind, without generated code: Unstructured and PartialObjectMetadata.
//
// Both are ordinary types with tables, like generated ones.
#ifndef KGEN_CORE_UNSTRUCTURED_H_
#define KGEN_CORE_UNSTRUCTURED_H_

#include <nlohmann/json_fwd.hpp>

#include "kgen/core/object_meta.h"

namespace kgen {

// apiVersion, kind and metadata are typed; everything else is in `unknown_fields`, in order.
struct Unstructured {
  meta::v1::ObjectMeta metadata{};
  String apiVersion{};
  String kind{};
  UnknownFields unknown_fields{};

  // The whole object as a JSON value, built by each call.
  nlohmann::json json() const;

  static const TypeTable kTable;
  friend bool operator==(const Unstructured& a, const Unstructured& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

struct UnstructuredList {
  meta::v1::ListMeta metadata{};
  List<Unstructured> items{};
  String apiVersion{};
  String kind{};
  UnknownFields unknown_fields{};

  const Unstructured* begin() const noexcept { return items.begin(); }
  const Unstructured* end() const noexcept { return items.end(); }

  static const TypeTable kTable;
};

// What the server sends for `as=PartialObjectMetadata`: the metadata of an object of any kind.
struct PartialObjectMetadata {
  meta::v1::ObjectMeta metadata{};
  String apiVersion{};
  String kind{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const PartialObjectMetadata& a, const PartialObjectMetadata& b) noexcept {
    return detail::EqualStruct(&a, &b, kTable);
  }
};

}  // namespace kgen

#endif  // KGEN_CORE_UNSTRUCTURED_H_
