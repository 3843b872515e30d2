// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/sharing/member_hashes.h"

#include <memory>

#include "core/blocks.h"
#include "core/metadata_table.h"
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
  AddMetadata(table);
  if (count_ > 0 || (table.flags & kProjection) != 0) ++count_;  // the object as a whole
}

void MemberSlots::AddMetadata(const TypeTable& table) {
  if (table.metadata_offset == TypeTable::kNoMetadata) return;
  const Field* metadata = table.Find("metadata");
  if (metadata == nullptr || metadata->kind != ValueKind::kStruct || !detail::IsMetadata(*metadata->table())) {
    return;
  }
  metadata_table_ = metadata->table();
  AddTable(*metadata_table_, metadata_);
  const Field* managed_fields = metadata_table_->Find("managedFields");
  if (managed_fields == nullptr) return;
  managed_fields_ = OfMetadata(*managed_fields);
  if (managed_fields_ == kNone) return;
  entries_ = static_cast<std::uint8_t>(count_);
  count_ += kEntries;
}

void MemberSlots::AddTable(const TypeTable& table, std::vector<std::uint8_t>& slots) {
  // To decode a projection takes little more than to find its members, and hashes would be much of its memory.
  const bool projection = (table.flags & kProjection) != 0;
  for (const Field& field : table) {
    const bool hashed = HoldsBlock(field) && !projection && count_ < kMostSlots;
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

ObjectBody BodyOf(std::string_view json, const TypeTable& table) noexcept {
  ObjectBody body{.text = json};
  if (table.kind == nullptr || table.Find("kind") != nullptr || !json.starts_with('{')) return body;
  std::string_view rest = json.substr(1);
  // Takes a member with plain text that is not the last one.
  const auto take = [&rest](std::string_view name, std::string_view& value) {
    if (!value.empty() || !rest.starts_with(name)) return;
    const std::size_t end = rest.find_first_of("\"\\", name.size());
    if (end == std::string_view::npos || !rest.substr(end).starts_with("\",")) return;
    value = rest.substr(name.size(), end - name.size());
    rest.remove_prefix(end + 2);
  };
  take("\"apiVersion\":\"", body.api_version);
  take("\"kind\":\"", body.kind);
  take("\"apiVersion\":\"", body.api_version);
  body.text = rest;
  return body;
}

}  // namespace kgen::codec
