// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardFilter: which objects an informer of a shard takes. Servers without the gate ShardedListAndWatch send all
// objects.
#ifndef KGEN_SRC_CACHE_REFLECTOR_SHARD_FILTER_H_
#define KGEN_SRC_CACHE_REFLECTOR_SHARD_FILTER_H_

#include <string>
#include <string_view>

#include "codec/peek_metadata.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {

// Thread safety: on the informer's strand.
class ShardFilter {
 public:
  ShardFilter(ShardBy by, ShardRanges ranges) : by_(by), ranges_(std::move(ranges)) {}

  // Whether the object of these bytes is outside of the ranges. Decodes nothing; false if its key could not be read.
  bool LeavesOut(std::string_view bytes, Encoding encoding) { return Peek(bytes, encoding) && !Holds(peeked_); }
  bool Holds(const meta::v1::ObjectMeta& object) {
    return Holds(by_ == ShardBy::kNamespace ? std::string_view(object.namespace_) : std::string_view(object.uid));
  }
  // Whether a key is in the ranges: a namespace or a UID.
  bool Holds(std::string_view key) {
    if (by_ == ShardBy::kUid) return ranges_.Contains(ShardHash(key));
    // Objects come in the order of their namespaces, so the last one is often asked for again.
    if (!known_ || key != last_) {
      last_ = key;
      last_held_ = ranges_.Contains(ShardHash(key));
      known_ = true;
    }
    return last_held_;
  }

 private:
  bool Peek(std::string_view bytes, Encoding encoding) {
    using codec::MetadataText;
    return codec::PeekMetadata(bytes, by_ == ShardBy::kNamespace ? MetadataText::kNamespace : MetadataText::kUid,
                               peeked_, encoding);
  }

  const ShardBy by_;
  const ShardRanges ranges_;
  std::string peeked_{};  // of the last object; keeps its memory
  std::string last_{};    // the last namespace
  bool last_held_ = false;
  bool known_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_SHARD_FILTER_H_
