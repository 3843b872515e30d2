// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a list response, as it arrives, into its items.
//
//   transport bytes (any cut) --Feed--> on_item(raw JSON of one item) ... --Finish--> list metadata
//
// Holds at most one item in memory, and none at all of those that came in one piece. `items` is recognised at depth 1
// only; `metadata` may come before or after it. `items` may be null or missing, which is an empty list as in Go; with
// any other value that is no array the answer is refused, since it is no list. Everything else at depth 1 (apiVersion,
// kind, and `items` that are null) is kept for CheckListKind(). A body that is a Status instead of a list is passed on
// whole, as the envelope.
//
// Only the frame of the list is checked here: the items are cut by their brackets and quotes, and whoever decodes them
// finds what is wrong inside. So one bad item does not cost the list.
#ifndef KGEN_RUNTIME_CODEC_LIST_SPLITTER_H_
#define KGEN_RUNTIME_CODEC_LIST_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Thread safety: one thread at a time. Does not block.
class ListSplitter {
 public:
  // The view is valid during the call. An error ends the splitting and comes out of Feed(). Of an item that is larger
  // than the limit only the first max_item_bytes + 1 bytes are passed on: enough for a decoder with the same limit to
  // refuse it by its size, and for PeekIdentity().
  using OnItem = std::function<Result<void>(std::string_view item)>;
  explicit ListSplitter(OnItem on_item, std::size_t max_item_bytes = 16u << 20);
  ListSplitter(ListSplitter&& other) noexcept;
  ListSplitter& operator=(ListSplitter&& other) noexcept;
  ~ListSplitter();

  // Errors: kDecode (not a JSON object, a broken frame, `items` that are no list, a member other than items over the
  // limit; with byte offset), or what on_item returned. After an error every further call returns it again.
  Result<void> Feed(std::string_view bytes);
  // Call at the end of the body. Errors: kDecode if the list is not complete, or its metadata are none.
  Result<meta::v1::ListMeta> Finish();

  // Depth-1 members other than items, as one JSON object. Valid after Finish().
  const std::string& envelope() const noexcept;
  std::size_t items() const noexcept;  // so far

 private:
  class Impl;
  Impl* impl_;
};

// Whether an answer is the list of that kind, judged by its apiVersion and kind. `envelope` is
// ListSplitter::envelope(). Without a kind, or one that names no list kind, anything that calls itself a list will do.
//
// A body with neither apiVersion nor kind is refused: a proxy that answers {"message":"please log in"} with HTTP 200
// must not pass for a list without items. Errors: kDecode, which names both.
Result<void> CheckListKind(std::string_view envelope, const KindInfo* kind);

}  // namespace kgen

#endif  // KGEN_RUNTIME_CODEC_LIST_SPLITTER_H_
