// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/ref.h"

#include "core/blocks.h"
#include "core/metadata_table.h"
#include "kgen/core/object_meta.h"

namespace kgen {
namespace detail {

ObjectBlock* NewObjectBlock(const TypeTable& table) {
  return ::new (Allocate(sizeof(ObjectBlock) + table.size)) ObjectBlock{{{1}, 0}, &table};
}

void ReleaseObject(ObjectBlock* block) noexcept {
  if (!DropRef(block)) return;
  DestroyStruct(block->object(), *block->table);
  Free(block);
}

}  // namespace detail

const meta::v1::ObjectMeta* AnyRef::metadata() const noexcept {
  if (block_ == nullptr) return nullptr;
  const TypeTable& type = table();
  if (type.metadata_offset == TypeTable::kNoMetadata) return nullptr;
  for (const Field& field : type) {
    if (field.offset != type.metadata_offset) continue;
    // A list's metadata is a ListMeta.
    if (field.kind != ValueKind::kStruct || !detail::IsMetadata(*field.table())) return nullptr;
    return static_cast<const meta::v1::ObjectMeta*>(detail::MemberOf(object(), field));
  }
  return nullptr;
}

}  // namespace kgen
