// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The envelope that API servers put around protobuf: "k8s\0" and a runtime.Unknown, which names the kind.
#ifndef KGEN_SRC_CODEC_PROTOBUF_ENVELOPE_H_
#define KGEN_SRC_CODEC_PROTOBUF_ENVELOPE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"

namespace kgen::codec {

inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

// The numbers of the fields of a runtime.Unknown.
enum class EnvelopeField : std::uint8_t { kTypeMeta = 1, kRaw = 2, kContentEncoding = 3, kContentType = 4 };

struct Envelope {
  std::string_view api_version{};
  std::string_view kind{};
  std::string_view raw{};  // the message of the object
};
// Reads an envelope. Errors: kDecode.
Result<Envelope> ReadEnvelope(std::string_view bytes);

// Returns the metadata of the message of an object, whatever its kind. Errors: kDecode.
Result<meta::v1::ObjectMeta> MetadataOfMessage(std::string_view message);

// Returns the JSON of the message of a Status. Errors: kDecode.
Result<std::string> StatusToJson(std::string_view message);

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_PROTOBUF_ENVELOPE_H_
