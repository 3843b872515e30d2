// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ItemSplitter: splits a list in one encoding into its items. ListSplitter chooses the implementation.
#ifndef KGEN_SRC_CODEC_ITEM_SPLITTER_H_
#define KGEN_SRC_CODEC_ITEM_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"

namespace kgen {

// Splits the bytes of a list into items, in one encoding. ListSplitter says what each function does.
class ItemSplitter {
 public:
  // The view is valid during the call. An error ends the splitting and is returned by Feed(). Of an item that is larger
  // than the limit, only the first max_item_bytes + 1 bytes are passed on: enough for a decoder with the same limit to
  // refuse it by its size, and for PeekIdentity().
  using OnItem = std::function<Result<void>(std::string_view item)>;

  ItemSplitter() = default;
  ItemSplitter(const ItemSplitter&) = delete;
  ItemSplitter& operator=(const ItemSplitter&) = delete;
  virtual ~ItemSplitter() = default;
  virtual Result<void> Feed(std::string_view bytes) = 0;
  virtual Result<meta::v1::ListMeta> Finish() = 0;
  virtual const std::string& envelope() const noexcept = 0;
  virtual std::size_t items() const noexcept = 0;
  virtual bool has_items() const noexcept = 0;
};

}  // namespace kgen

#endif  // KGEN_SRC_CODEC_ITEM_SPLITTER_H_
