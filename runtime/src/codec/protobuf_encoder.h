// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Encodes objects of built-in kinds in protobuf, as API servers do: fields in the order of their numbers, zeros of
// fields that JSON would leave out, maps by key.
//
// Saved caches and the in-memory API server use it: what clients send is JSON.
#ifndef KGEN_SRC_CODEC_PROTOBUF_ENCODER_H_
#define KGEN_SRC_CODEC_PROTOBUF_ENCODER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::codec {

// Returns the message of an object. Errors: kInvalidArgument, if protobuf cannot express it without loss: it has
// unknown members, members of the wrong type, times or durations that are spelled differently, or a type without wire
// fields.
Result<std::string> EncodeProtobuf(const void* object, const TypeTable& table);

// Appends the message of an object. Returns false, and appends nothing, where EncodeProtobuf() fails. The message of an
// object that was decoded from protobuf decodes to an equal one.
bool AppendProtobuf(const void* object, const TypeTable& table, std::string& out);

// Puts the envelope of API servers around a message.
std::string EnvelopeOf(std::string_view api_version, std::string_view kind, std::string_view message);

// Append a field to a message.
void AppendField(std::uint32_t number, std::string_view bytes, std::string& out);
void AppendField(std::uint32_t number, std::uint64_t varint, std::string& out);

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_PROTOBUF_ENCODER_H_
