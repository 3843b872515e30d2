// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/protobuf_envelope.h"

#include "codec/protobuf_wire.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace kgen::codec {

Result<Envelope> ReadEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kProtobufMagic)) {
    return Fail(Code::kDecode, "this is not protobuf of an API server, which begins with \"k8s\" and a zero byte");
  }
  Envelope envelope;
  WireReader reader(bytes.substr(kProtobufMagic.size()));
  std::uint32_t number = 0;
  WireType type{};
  while (!reader.AtEnd()) {
    std::string_view value;
    if (!reader.Tag(number, type) || type != WireType::kBytes || !reader.Bytes(value)) {
      return Fail(Code::kDecode, "the envelope of the protobuf is malformed");
    }
    if (number == static_cast<std::uint32_t>(EnvelopeField::kTypeMeta) &&
        !ReadTwoTexts(value, envelope.api_version, envelope.kind)) {
      return Fail(Code::kDecode, "the kind in the envelope of the protobuf is malformed");
    }
    if (number == static_cast<std::uint32_t>(EnvelopeField::kRaw)) envelope.raw = value;
    if (number == static_cast<std::uint32_t>(EnvelopeField::kContentEncoding) && !value.empty()) {
      return Fail(Code::kDecode, "the protobuf is encoded as " + std::string(value) + ", which nobody asked for");
    }
  }
  return envelope;
}

Result<meta::v1::ObjectMeta> MetadataOfMessage(std::string_view message) {
  WireReader reader(message);
  std::uint32_t number = 0;
  WireType type{};
  while (!reader.AtEnd() && reader.Tag(number, type)) {
    std::string_view bytes;
    if (number == 1 && type == WireType::kBytes && reader.Bytes(bytes)) {
      return Decode<meta::v1::ObjectMeta>(bytes, {.encoding = Encoding::kProtobuf});
    }
    if (number == 1 || !reader.Skip(type)) break;
  }
  return Fail(Code::kDecode, "the protobuf of an object has no metadata");
}

Result<std::string> StatusToJson(std::string_view message) {
  Result<meta::v1::Status> status = Decode<meta::v1::Status>(message, {.encoding = Encoding::kProtobuf});
  if (!status) return Fail(std::move(status).error());
  return Encode(*status);
}

}  // namespace kgen::codec
