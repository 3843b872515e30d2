// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/member_hashes.h"

#include <memory>

#include "core/blocks.h"
#include "kgen/core/object_meta.h"

namespace kgen::codec {
namespace {

constexpr std::uint32_t kHasHashes = 1;  // a bit of the word in the object's header
constexpr std::size_t kMostSlots = 64;   // if a type has more members, the last ones have no hash

bool HoldsBlock(const Field& field) noexcept {
  return field.kind == ValueKind::kBox || field.kind == ValueKind::kList || field.kind == ValueKind::kMap ||
         field.kind == ValueKind::kJson;
}

std::size_t OffsetOf(const TypeTable& table) noexcept {
  constexpr std::size_t kAlign = alignof(MemberHash);
  return (sizeof(detail::ObjectBlock) + table.size + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

MemberSlots::MemberSlots(const TypeTable& table) : table_(&table) {
  AddTable(table, object_);
  if (table.metadata_offset == TypeTable::kNoMetadata) return;
  const Field* metadata = table.Find("metadata");
  if (metadata == nullptr || metadata->kind != ValueKind::kStruct ||
      metadata->table() != &meta::v1::ObjectMeta::kTable) {
    return;
  }
  metadata_table_ = metadata->table();
  AddTable(*metadata_table_, metadata_);
  const Field* managed_fields = metadata_table_->Find("managedFields");
  if (managed_fields == nullptr) return;
  managed_fields_ = OfMetadata(*managed_fields);
  entries_ = static_cast<std::uint8_t>(count_);
  count_ += kEntries;
}

void MemberSlots::AddTable(const TypeTable& table, std::vector<std::uint8_t>& slots) {
  for (const Field& field : table) {
    const bool hashed = HoldsBlock(field) && count_ < kMostSlots;
    slots.push_back(hashed ? static_cast<std::uint8_t>(count_++) : kNone);
  }
}

MemberHashes::MemberHashes(detail::ObjectBlock* block) noexcept
    : hashes_(reinterpret_cast<MemberHash*>(reinterpret_cast<char*>(block) + OffsetOf(*block->table))) {}

detail::ObjectBlock* MemberHashes::NewObject(const TypeTable& table, const MemberSlots& slots) {
  const std::size_t offset = OffsetOf(table);
  void* memory = detail::Allocate(offset + slots.count() * sizeof(MemberHash));
  std::uninitialized_value_construct_n(reinterpret_cast<MemberHash*>(static_cast<char*>(memory) + offset),
                                       slots.count());
  return ::new (memory) detail::ObjectBlock{{{1}, 0}, &table};
}

void MemberHashes::Seal(detail::ObjectBlock* block) noexcept { block->word |= kHasHashes; }

MemberHashes MemberHashes::Of(const AnyRef& object, const TypeTable& table) noexcept {
  if (!object || &object.table() != &table) return {};
  // The struct follows the header. The hashes of a sealed object are only read.
  auto* block = static_cast<detail::ObjectBlock*>(const_cast<void*>(object.object())) - 1;
  return (block->word & kHasHashes) != 0 ? MemberHashes(block) : MemberHashes();
}

}  // namespace kgen::codec
