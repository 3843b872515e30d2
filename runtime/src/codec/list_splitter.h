// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ListSplitter: splits a list response into its items while it arrives.
//
//   transport bytes (in any pieces) --Feed--> on_item(raw JSON of one item) ... --Finish--> list metadata
//
// In a protobuf list the items are messages, and the splitter writes the envelope as JSON. Any fault is an error,
// including an item over the limit: the caller then asks for JSON.
//
// Buffers at most one item, and only if it arrives in several pieces. `items` is recognised at depth 1 only; `metadata`
// may come before or after it. Missing or null `items` are an empty list, as in Go; any other value that is not an
// array is refused. Everything else at depth 1 (apiVersion, kind, and `items` that are null) is kept for
// CheckListKind(). A Status instead of a list is returned as the envelope.
//
// Only the envelope of the list is checked. Items are split by their brackets and quotes. Errors inside an item are
// left to its decoder, so one bad item does not fail the list.
#ifndef KGEN_SRC_CODEC_LIST_SPLITTER_H_
#define KGEN_SRC_CODEC_LIST_SPLITTER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/item_splitter.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Thread safety: one thread at a time. Does not block.
class ListSplitter {
 public:
  using OnItem = ItemSplitter::OnItem;
  static constexpr std::size_t kMaxItemBytes = std::size_t{16} << 20;
  explicit ListSplitter(OnItem on_item, std::size_t max_item_bytes = kMaxItemBytes,
                        Encoding encoding = Encoding::kJson);
  ListSplitter(ListSplitter&& other) noexcept;
  ListSplitter& operator=(ListSplitter&& other) noexcept;
  ~ListSplitter();

  // Errors: kDecode (not a JSON object, a broken envelope, `items` that are not an array, another member over the
  // limit; with the byte offset), or the error of on_item. After an error, every further call returns it again.
  Result<void> Feed(std::string_view bytes);
  // Call it at the end of the response body. Errors: kDecode if the list ends too early or its metadata cannot be
  // decoded.
  Result<meta::v1::ListMeta> Finish();

  // Depth-1 members other than items, as one JSON object. Valid after Finish().
  const std::string& envelope() const noexcept;
  std::size_t items() const noexcept;  // so far
  bool has_items() const noexcept;     // the member items has been seen: an array or null

 private:
  ItemSplitter* impl_;
};

// Checks by apiVersion and kind that a response is the list of that kind. `envelope` is ListSplitter::envelope(). If
// `kind` is null or has no list kind, accepts any list: a kind that ends in "List", or any kind with items. `has_items`
// is ListSplitter::has_items().
//
// Refuses a response with neither apiVersion nor kind, so that a proxy's {"message":"please log in"} with HTTP 200 is
// not mistaken for an empty list; and one without `items`, which Go's clients read as an empty list, so that an
// informer deletes everything. No server that is written in Go sends that: it writes `[]`, or `null` for a list that
// was never filled, and both are empty lists. Errors: kDecode, which names the expected and the received kind.
Result<void> CheckListKind(std::string_view envelope, const KindInfo* kind, bool has_items);

}  // namespace kgen

#endif  // KGEN_SRC_CODEC_LIST_SPLITTER_H_
