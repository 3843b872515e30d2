// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ProtobufDecoder: decodes the protobuf message of an object of a built-in kind, over the tables that have wire fields.
//
//   message --WireReader--> fields        SharedState (informers only) --> blocks that exist already
//           --Arena-------> elements of lists and maps until their number is known
//
// The result equals what the server's JSON for the same object decodes to. Where that cannot be had, decoding fails and
// the caller asks for JSON: for a field that the table does not know (a newer server), for text that is not UTF-8, for
// times out of range, and for whatever no server writes. So nothing is lost, and no object has both unknown JSON
// members and unknown fields.
//
// Servers write a field's occurrences one after the other. What is hashed for sharing is the content of a message, or
// all occurrences of a list or a map.
#ifndef KGEN_SRC_CODEC_PROTOBUF_DECODER_H_
#define KGEN_SRC_CODEC_PROTOBUF_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/interpreter.h"
#include "codec/protobuf_wire.h"
#include "codec/sharing/member_hashes.h"
#include "codec/sharing/sharing.h"
#include "kgen/codec/decode.h"
#include "kgen/core/unstructured.h"

namespace kgen::codec {

class ProtobufDecoder {
 public:
  // `shared` may be null, and so may `trace`, which needs shared subtrees. Everything must outlive the decoder.
  ProtobufDecoder(std::string_view message, const DecodeOptions& options, SharedState* shared, Scratch& scratch,
                  MemberTrace* trace = nullptr)
      : message_(message),
        options_(options),
        shared_(shared),
        trace_(trace),
        arena_(scratch.arena),
        text_(scratch.text) {}
  ProtobufDecoder(const ProtobufDecoder&) = delete;
  ProtobufDecoder& operator=(const ProtobufDecoder&) = delete;

  // `object` must be a default struct of that table. After an error, it is in that state again.
  Result<void> Run(void* object, const TypeTable& table);

 private:
  // Whose members may have hashes.
  enum class Level : std::uint8_t { kObject, kMetadata, kInside };

  // A value as it is on the wire: the bytes of text or of a message, or a number.
  struct Wire {
    WireType type;
    std::string_view bytes{};
    std::uint64_t number = 0;
  };

  // These return false after an error, of which error_ says what is wrong.
  bool Message(std::string_view bytes, void* object, const TypeTable& table, Level level);
  // Sets a bit of `nulls` for each member that JSON would write as null.
  bool Fields(std::string_view bytes, void* object, const TypeTable& table, const WireField* fields, std::size_t count,
              Level level, std::uint64_t& nulls);
  bool Unknown(WireReader& reader, std::uint32_t number, WireType type, const TypeTable& table);
  bool Member(WireReader& reader, std::uint32_t number, WireType type, void* member, const Field& field,
              bool zero_is_absent, Level level);
  bool Metadata(std::string_view bytes, void* member, const Field& field, Level level);
  bool Scalar(const Wire& wire, void* member, const Field& field, bool zero_is_absent);

  // Members with a block. `raw` is what is hashed.
  bool Block(std::string_view raw, std::uint32_t number, void* member, const Field& field, Level level);
  bool Traced(std::string_view raw, std::uint32_t number, void* member, const Field& field, std::size_t slot,
              Level level);
  bool Memoised(std::string_view raw, std::uint32_t number, void* member, const Field& field);
  bool Fresh(std::string_view raw, std::uint32_t number, void* member, const Field& field);
  std::uint8_t SlotOf(const Field& field, Level level) const noexcept;
  const void* EarlierMember(const Field& field, Level level) const noexcept;
  bool IsEarlier(std::string_view raw, std::size_t slot) const noexcept;
  bool AdoptEarlier(void* member, const Field& field, Level level) noexcept;
  MemberHash Hashed(std::string_view raw) const noexcept;

  bool List(std::string_view run, std::uint32_t number, detail::ListBlock*& list, const ValueType& type);
  bool Map(std::string_view run, std::uint32_t number, detail::MapBlock*& map, const ValueType& type);
  bool MapEntry(std::string_view bytes, void* entry, const ValueType& type);
  bool Element(const Wire& wire, void* element, const ValueType& type);
  bool ManagedFieldsEntry(const Wire& wire, void* element, const ValueType& type, std::size_t index);

  // protobuf_values.cc
  bool Text(std::string_view value, String& text, bool unique);
  bool TimeOf(std::string_view bytes, detail::TimeWord& word, detail::TimePrecision precision);
  bool DurationOf(std::string_view bytes, Duration& duration);
  bool QuantityOf(std::string_view bytes, Quantity& quantity);
  bool IntOrStringOf(std::string_view bytes, IntOrString& value);
  bool Base64(std::string_view bytes, Bytes& value);
  bool RawJson(std::string_view bytes, Json& value);
  bool JsonText(std::string_view bytes, std::string_view& json);
  void SetText(String& text, std::string_view value, bool unique);
  // Sets what the JSON of metadata alone has in each object, and protobuf only around them.
  void NameMetadata(PartialObjectMetadata& object);

  bool ReadWire(WireReader& reader, Wire& wire);
  bool Count() { return ++fields_ <= options_.max_fields || Broken("has too many fields"); }
  bool Broken(const char* what) {
    if (error_.empty()) error_ = what;
    return false;
  }
  bool Malformed() { return Broken("is malformed"); }
  bool Unexpected() { return Broken("has a field of an unexpected type"); }

  const std::string_view message_;
  const DecodeOptions& options_;
  SharedState* const shared_;
  MemberTrace* const trace_;
  Arena& arena_;
  std::string& text_;   // scratch
  std::string json_{};  // as a server writes it
  const TypeTable* top_ = nullptr;
  bool at_entries_ = false;  // about to decode the managedFields of the object
  bool zero_time_ = false;   // there was one since this was reset
  std::size_t fields_ = 0;   // and elements
  std::size_t depth_ = 0;
  std::string error_;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_PROTOBUF_DECODER_H_
