// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/sharing/member_hashes.h"

#include <bit>
#include <memory>

#include "core/blocks.h"
#include "core/metadata_table.h"
#include "kgen/core/object_meta.h"

namespace kgen::codec {
namespace {

// The word in the object's header has a bit for each slot with a hash.
constexpr std::size_t kBits = 32;
// If a type has more members, the last ones have no hash. The entries and the whole need bits as well.
constexpr std::size_t kMostSlots = kBits - MemberSlots::kEntries - 1;

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

detail::ObjectBlock* MemberHashes::NewObject(const TypeTable& table, std::span<const MemberHash> hashes) {
  std::uint32_t present = 0;
  for (std::size_t slot = 0; slot < hashes.size(); ++slot) {
    if (hashes[slot].hash != 0) present |= std::uint32_t{1} << slot;
  }
  const std::size_t offset = OffsetOf(table);
  const auto count = static_cast<std::size_t>(std::popcount(present));
  void* memory = detail::Allocate(offset + count * sizeof(MemberHash));
  auto* to = reinterpret_cast<MemberHash*>(static_cast<char*>(memory) + offset);
  for (const MemberHash& hash : hashes) {
    if (hash.hash != 0) std::construct_at(to++, hash);
  }
  return ::new (memory) detail::ObjectBlock{{{1}, present}, &table};
}

MemberHashes MemberHashes::Of(const AnyRef& object, const TypeTable& table) noexcept {
  if (!object || &object.table() != &table) return {};
  // The struct follows the header.
  const auto* block = static_cast<const detail::ObjectBlock*>(object.object()) - 1;
  if (block->word == 0) return {};
  const char* hashes = reinterpret_cast<const char*>(block) + OffsetOf(table);
  return {reinterpret_cast<const MemberHash*>(hashes), block->word};
}

MemberHash MemberHashes::operator[](std::size_t slot) const noexcept {
  const std::uint32_t bit = std::uint32_t{1} << slot;
  if ((present_ & bit) == 0) return {};
  return hashes_[std::popcount(present_ & (bit - 1))];
}

MemberHash MemberHashes::Whole() const noexcept { return hashes_[std::popcount(present_) - 1]; }

bool IsFromProtobuf(const AnyRef& object) noexcept {
  if (!object) return false;
  const MemberHashes hashes = MemberHashes::Of(object, object.table());
  return !hashes.empty() && hashes.Whole().members == kFromProtobuf;
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
