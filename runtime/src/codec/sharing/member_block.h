// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The blocks of members that objects share.
#ifndef KGEN_SRC_CODEC_SHARING_MEMBER_BLOCK_H_
#define KGEN_SRC_CODEC_SHARING_MEMBER_BLOCK_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "core/access.h"
#include "core/blocks.h"
#include "kgen/core/json.h"
#include "kgen/core/type_table.h"

namespace kgen::codec {

inline constexpr std::size_t kInlineText = 15;  // the longest text that a String holds without a block

// Returns the block that such a member holds.
inline detail::BlockHeader* BlockOf(const void* member, const Field& field) noexcept {
  switch (field.kind) {
    case ValueKind::kBox:
      return *static_cast<detail::BoxBlock* const*>(member);
    case ValueKind::kList:
      return *static_cast<detail::ListBlock* const*>(member);
    case ValueKind::kMap:
      return *static_cast<detail::MapBlock* const*>(member);
    default:
      return *static_cast<detail::TextBlock* const*>(member);
  }
}

// The member, which must be empty, takes over one reference to `block`.
inline void Adopt(void* member, const Field& field, detail::BlockHeader* block) noexcept {
  switch (field.kind) {
    case ValueKind::kBox:
      detail::BoxOf(member) = static_cast<detail::BoxBlock*>(block);
      break;
    case ValueKind::kList:
      detail::ListOf(member) = static_cast<detail::ListBlock*>(block);
      break;
    case ValueKind::kMap:
      detail::MapOf(member) = static_cast<detail::MapBlock*>(block);
      break;
    default: {
      String text;
      detail::StringAccess::AdoptBlock(text, static_cast<detail::TextBlock*>(block));
      *static_cast<Json*>(member) = Json(std::move(text));
    }
  }
}

// True if the text is stored in a block. Short JSON is stored in the member itself.
inline bool HasBlock(const Field& field, std::string_view raw) noexcept {
  return field.kind != ValueKind::kJson || raw.size() > kInlineText;
}

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_SHARING_MEMBER_BLOCK_H_
