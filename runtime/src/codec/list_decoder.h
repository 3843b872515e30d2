// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ListDecoder: decodes a whole list while it arrives, for the typed List().
//
//   transport bytes (any cut) --Feed--> ListSplitter --> items of the list ... --Finish--> the list
//
// Holds the list and the text of at most one item. Informers do not use it: they store the items one by one.
#ifndef KGEN_SRC_CODEC_LIST_DECODER_H_
#define KGEN_SRC_CODEC_LIST_DECODER_H_

#include <string>
#include <string_view>

#include "codec/interpreter.h"
#include "codec/list_splitter.h"
#include "kgen/codec/decode.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::codec {

// Thread safety: one thread at a time. Does not block.
class ListDecoder {
 public:
  // `table` describes a list type, with a member `items`. The limits of `options` apply to each item.
  explicit ListDecoder(const TypeTable& table, const DecodeOptions& options = {});
  ListDecoder(const ListDecoder&) = delete;
  ListDecoder& operator=(const ListDecoder&) = delete;
  ~ListDecoder();

  // Errors: kDecode, for the envelope with a byte offset, or for an item with its index and name.
  Result<void> Feed(std::string_view bytes) { return splitter_.Feed(bytes); }
  // Call it once, at the end of the response body. The result is the only reference to the list.
  Result<AnyRef> Finish();
  // The response body without the items. Valid after Finish(). If that failed, the body may be a Status.
  const std::string& envelope() const noexcept { return splitter_.envelope(); }
  bool has_items() const noexcept { return splitter_.has_items(); }

 private:
  Result<void> OnItem(std::string_view item);

  const TypeTable& table_;
  const Field& field_;  // `items`
  const DecodeOptions options_;
  Scratch scratch_;
  detail::ListBlock* items_ = nullptr;  // so far
  ListSplitter splitter_;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_LIST_DECODER_H_
