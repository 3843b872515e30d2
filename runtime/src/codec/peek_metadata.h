// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CODEC_PEEK_METADATA_H_
#define KGEN_SRC_CODEC_PEEK_METADATA_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/codec/decode.h"

namespace kgen::codec {

enum class MetadataText : std::uint8_t { kNamespace, kUid, kResourceVersion };

// Finds a text in the metadata of an object without decoding it. Returns false if it was not found, and then leaves
// `text` as it is. Cheap if it is near the beginning.
bool PeekMetadata(std::string_view bytes, MetadataText which, std::string& text, Encoding encoding) noexcept;

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_PEEK_METADATA_H_
