// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ProtobufSplitter: splits a list in protobuf; see codec/list_splitter.h.
//
//   "k8s\0" | type meta | raw: | metadata | item | item | ... | content encoding, content type
#ifndef KGEN_SRC_CODEC_PROTOBUF_SPLITTER_H_
#define KGEN_SRC_CODEC_PROTOBUF_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/item_splitter.h"

namespace kgen::codec {

class ProtobufSplitter final : public ItemSplitter {
 public:
  ProtobufSplitter(OnItem on_item, std::size_t max_item_bytes)
      : on_item_(std::move(on_item)), max_bytes_(max_item_bytes) {}

  Result<void> Feed(std::string_view bytes) override;
  Result<meta::v1::ListMeta> Finish() override;
  const std::string& envelope() const noexcept override { return envelope_; }
  std::size_t items() const noexcept override { return items_; }
  bool has_items() const noexcept override { return is_list_; }

 private:
  // A piece is the magic, or a field: its tag, its length and its content. Of the raw message of a list, the content is
  // a sequence of pieces itself.
  struct Piece {
    std::size_t header = 0;  // bytes
    std::uint32_t number = 0;
    std::size_t size = 0;  // of the content
  };
  enum class Found : std::uint8_t { kWhole, kPart, kMalformed };

  Found ReadHeader(std::string_view bytes, Piece& piece) const noexcept;
  // Takes one piece from the front of `bytes`. Returns false if it is not there as a whole.
  bool TakePiece(std::string_view& bytes);
  void Hold(std::string_view& bytes);
  void OnOuter(std::uint32_t number, std::string_view content);
  void OnInner(std::uint32_t number, std::string_view content);
  void MakeEnvelope();
  void Broken(std::string message);

  const OnItem on_item_;
  const std::size_t max_bytes_;
  std::string held_{};  // the part of a piece that has arrived
  std::string envelope_{};
  std::string kind_{}, api_version_{};
  std::string message_{};  // of anything but a list
  meta::v1::ListMeta metadata_{};
  std::optional<Error> failure_{};
  std::size_t items_ = 0;
  std::size_t raw_left_ = 0;
  bool began_ = false;  // after the magic
  bool in_raw_ = false;
  bool has_raw_ = false;
  bool is_list_ = false;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_PROTOBUF_SPLITTER_H_
