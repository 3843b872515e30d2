// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a list response, as it arrives, into its items.
//
//   transport bytes (any cut) --Feed--> on_item(raw JSON of one item) ... --Finish--> list metadata
//
// Holds at most one item in memory. `items` is recognised at depth 1 only; `metadata` may come before or after it.
// Everything else at depth 1 (apiVersion, kind) is kept for the check of the type. A body that is a Status instead of a list is
// passed on whole.
#ifndef KGEN_CODEC_LIST_SPLITTER_H_
#define KGEN_CODEC_LIST_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"

namespace kgen {

// Thread safety: one thread at a time. Does not block.
class ListSplitter {
 public:
  // The view is valid during the call. An error ends the splitting and comes out of Feed().
  using OnItem = std::function<Result<void>(std::string_view item)>;
  explicit ListSplitter(OnItem on_item, std::size_t max_item_bytes = 16u << 20);

  // Errors: kDecode (not a JSON object, nesting over 256, an item over the limit; with byte offset), or what on_item returned.
  Result<void> Feed(std::string_view bytes);
  // Call at the end of the body. Errors: kDecode if the list is not complete.
  Result<meta::v1::ListMeta> Finish();

  // Depth-1 members other than items, as one JSON object. Valid after Finish().
  const std::string& envelope() const noexcept { return envelope_; }
  std::size_t items() const noexcept { return items_; }

 private:
  enum class State : unsigned char { kStart, kBeforeKey, kKey, kAfterKey, kValue, kBeforeItem, kItem, kAfterItem, kAfterValue, kEnd };
  OnItem on_item_;
  std::size_t max_item_bytes_;
  std::size_t offset_ = 0;
  std::size_t items_ = 0;
  std::string held_;      // the part of a key, value or item that came with earlier bytes
  std::string key_;
  std::string envelope_;
  State state_ = State::kStart;
  unsigned depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool scalar_ = false;
};

}  // namespace kgen

#endif  // KGEN_CODEC_LIST_SPLITTER_H_
