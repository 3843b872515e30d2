// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/protobuf_splitter.h"

#include <algorithm>
#include <utility>

#include "codec/protobuf_envelope.h"
#include "codec/protobuf_wire.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/unstructured.h"

namespace kgen::codec {
namespace {

constexpr std::size_t kLongestHeader = 15;  // a tag of 5 bytes and a length of 10
constexpr std::uint32_t kMetadata = 1, kItems = 2;

}  // namespace

Result<void> ProtobufSplitter::Feed(std::string_view bytes) {
  while (!failure_) {
    if (held_.empty()) {
      if (bytes.empty()) return {};
      if (!TakePiece(bytes) && !failure_) {
        held_ = bytes;
        return {};
      }
      continue;
    }
    Hold(bytes);
    std::string_view piece = held_;
    if (!TakePiece(piece)) {
      if (!failure_ && bytes.empty()) return {};
      continue;
    }
    held_.clear();
  }
  return Fail(*failure_);
}

// Moves bytes to the held ones until these are one piece, or as far as there are bytes.
void ProtobufSplitter::Hold(std::string_view& bytes) {
  const auto move = [&](std::size_t count) {
    count = std::min(count, bytes.size());
    held_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
  };
  if (!began_) return move(kProtobufMagic.size() - held_.size());
  Piece piece;
  while (ReadHeader(held_, piece) == Found::kPart) {
    if (bytes.empty()) return;
    move(1);
  }
  const bool stands_alone = !in_raw_ && is_list_ && piece.number == static_cast<std::uint32_t>(EnvelopeField::kRaw);
  if (!stands_alone && piece.size <= max_bytes_) move(piece.header + piece.size - held_.size());
}

ProtobufSplitter::Found ProtobufSplitter::ReadHeader(std::string_view bytes, Piece& piece) const noexcept {
  WireReader reader(bytes.substr(0, kLongestHeader));
  WireType type{};
  std::uint64_t size = 0;
  if (!reader.Tag(piece.number, type) || !reader.Varint(size)) {
    return bytes.size() < kLongestHeader ? Found::kPart : Found::kMalformed;
  }
  if (type != WireType::kBytes) return Found::kMalformed;
  piece.header = static_cast<std::size_t>(reader.position() - bytes.data());
  piece.size = size;
  return Found::kWhole;
}

bool ProtobufSplitter::TakePiece(std::string_view& bytes) {
  if (!began_) {
    if (bytes.size() < kProtobufMagic.size() && kProtobufMagic.starts_with(bytes)) return false;
    if (!bytes.starts_with(kProtobufMagic)) Broken("does not begin with \"k8s\" and a zero byte");
    began_ = true;
    if (!failure_) bytes.remove_prefix(kProtobufMagic.size());
    return !failure_;
  }
  Piece piece;
  const Found found = ReadHeader(bytes, piece);
  if (found == Found::kMalformed) Broken("is malformed");
  if (found != Found::kWhole) return false;
  if (in_raw_ && (piece.size > raw_left_ || piece.header > raw_left_ - piece.size)) {
    Broken("has an item that is longer than the list");
    return false;
  }
  if (!in_raw_ && is_list_ && piece.number == static_cast<std::uint32_t>(EnvelopeField::kRaw)) {
    bytes.remove_prefix(piece.header);
    raw_left_ = piece.size;
    in_raw_ = raw_left_ != 0;
    has_raw_ = true;
    return true;
  }
  if (piece.size > max_bytes_) {
    Broken("has an item of " + std::to_string(piece.size) + " bytes, which is more than the limit");
    return false;
  }
  if (bytes.size() - piece.header < piece.size) return false;
  const std::string_view content = bytes.substr(piece.header, piece.size);
  bytes.remove_prefix(piece.header + piece.size);
  if (!in_raw_) {
    OnOuter(piece.number, content);
    return !failure_;
  }
  raw_left_ -= piece.header + piece.size;
  in_raw_ = raw_left_ != 0;
  OnInner(piece.number, content);
  return !failure_;
}

void ProtobufSplitter::OnOuter(std::uint32_t number, std::string_view content) {
  switch (static_cast<EnvelopeField>(number)) {
    case EnvelopeField::kTypeMeta: {
      std::string_view api_version, kind;
      if (!ReadTwoTexts(content, api_version, kind)) return Broken("has a malformed kind");
      api_version_ = api_version;
      kind_ = kind;
      is_list_ = kind.ends_with("List");
      return;
    }
    case EnvelopeField::kRaw:
      message_ = content;
      has_raw_ = true;
      return;
    case EnvelopeField::kContentEncoding:
      if (!content.empty()) Broken("is encoded as " + std::string(content.substr(0, 40)) + ", which nobody asked for");
      return;
    case EnvelopeField::kContentType:
      return;
  }
  Broken("has an envelope with the unknown field " + std::to_string(number));
}

void ProtobufSplitter::OnInner(std::uint32_t number, std::string_view content) {
  if (number == kItems) {
    ++items_;
    if (Result<void> taken = on_item_(content); !taken) failure_ = taken.error();
  } else if (number == kMetadata) {
    metadata_ = {};
    Result<void> decoded =
        detail::DecodeStruct(content, &metadata_, meta::v1::ListMeta::kTable, {.encoding = Encoding::kProtobuf});
    if (!decoded) failure_ = decoded.error().With("read the list's metadata");
  } else {
    Broken("has the unknown field " + std::to_string(number));
  }
}

Result<meta::v1::ListMeta> ProtobufSplitter::Finish() {
  if (!failure_ && (!held_.empty() || in_raw_ || !has_raw_)) Broken("ends too early");
  if (failure_) return Fail(*failure_);
  MakeEnvelope();
  if (failure_) return Fail(*failure_);
  return metadata_;
}

// A Status in place of the list becomes the envelope; of anything else, apiVersion and kind.
void ProtobufSplitter::MakeEnvelope() {
  if (kind_ == "Status") {
    Result<std::string> json = StatusToJson(message_);
    if (!json) return Broken("is a Status that cannot be read: " + json.error().message());
    envelope_ = *std::move(json);
    return;
  }
  Unstructured named;
  named.apiVersion = api_version_;
  named.kind = kind_;
  envelope_ = Encode(named);
}

void ProtobufSplitter::Broken(std::string message) {
  if (!failure_) failure_ = Error(Code::kDecode, "the list in protobuf " + std::move(message));
}

}  // namespace kgen::codec
