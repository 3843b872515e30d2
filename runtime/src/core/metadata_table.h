// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which tables describe the metadata of an object: the table of ObjectMeta, and the tables of its parts in projections.
#ifndef KGEN_SRC_CORE_METADATA_TABLE_H_
#define KGEN_SRC_CORE_METADATA_TABLE_H_

#include <string_view>

#include "kgen/core/object_meta.h"
#include "kgen/core/type_table.h"
#include "kgen/core/unstructured.h"

namespace kgen::detail {

// Returns whether structs of the table have the layout of ObjectMeta.
inline bool IsMetadata(const TypeTable& table) noexcept {
  return &table == &meta::v1::ObjectMeta::kTable || (table.flags & kMetadataPart) != 0;
}

// Returns whether objects of the table have a member of the metadata. A projection may lack it, although
// AnyRef::metadata() returns an ObjectMeta, in which the member is absent.
inline bool KeepsMetadata(const TypeTable& table, std::string_view member) noexcept {
  if ((table.flags & kProjection) == 0) return true;
  const Field* const metadata = table.Find("metadata");
  return metadata != nullptr && metadata->table()->Find(member) != nullptr;
}

// Returns whether objects of the table have only metadata, which servers send as PartialObjectMetadata: this type
// itself, and projections without other members.
inline bool IsMetadataOnly(const TypeTable& table) noexcept {
  if (&table == &PartialObjectMetadata::kTable) return true;
  return (table.flags & kProjection) != 0 && table.field_count == 1 && table.metadata_offset != TypeTable::kNoMetadata;
}

// Returns the kind whose list holds objects of the table; null if lists of any kind may, as for metadata alone.
inline const KindInfo* ListedKind(const TypeTable& table) noexcept {
  return IsMetadataOnly(table) ? nullptr : table.kind;
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_METADATA_TABLE_H_
