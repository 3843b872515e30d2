// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/verbs/protobuf_watch.h"

#include <algorithm>
#include <cstdint>

#include "codec/protobuf_envelope.h"
#include "codec/protobuf_wire.h"

namespace kgen {
namespace {

constexpr std::size_t kLength = 4;
constexpr std::size_t kKeep = 1u << 20;

std::size_t LengthOf(std::string_view frame) noexcept {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLength; ++i) length = length << 8 | static_cast<unsigned char>(frame[i]);
  return length;
}

Result<void> Malformed(const char* what) {
  return Fail(Code::kDecode, std::string("watch stream in protobuf: ") + what);
}

}  // namespace

Result<void> ProtobufWatchDecoder::Feed(std::string_view bytes) {
  if (failed_) return Fail(*failed_);
  Result<void> done = Split(bytes);
  if (!done) failed_ = done.error();
  return done;
}

Result<void> ProtobufWatchDecoder::Split(std::string_view bytes) {
  while (!bytes.empty()) {
    // Most frames arrive in one piece, and are read in place.
    const bool in_place = held_.empty();
    const auto hold = [&](std::size_t upto) {
      const std::size_t count = std::min(upto - held_.size(), bytes.size());
      held_.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      return held_.size() == upto;
    };
    if (in_place && bytes.size() < kLength) {
      held_ = bytes;
      return {};
    }
    if (!in_place && held_.size() < kLength && !hold(kLength)) return {};
    const std::size_t length = LengthOf(in_place ? bytes : held_);
    if (length > max_event_bytes_) return Malformed("an event is larger than the limit");
    if (in_place && bytes.size() - kLength >= length) {
      const std::string_view frame = bytes.substr(kLength, length);
      bytes.remove_prefix(kLength + length);
      if (Result<void> delivered = Deliver(frame); !delivered) return delivered;
      continue;
    }
    if (!hold(kLength + length)) return {};
    Result<void> delivered = Deliver(std::string_view(held_).substr(kLength));
    held_.clear();
    if (held_.capacity() > kKeep) held_.shrink_to_fit();
    if (!delivered) return delivered;
  }
  return {};
}

Result<void> ProtobufWatchDecoder::Deliver(std::string_view frame) {
  std::string_view word, object, bytes;
  if (!codec::ReadTwoTexts(frame, word, object)) return Malformed("an event is malformed");
  std::string_view none;
  if (word.empty() || !codec::ReadTwoTexts(object, bytes, none)) return Malformed("an event has no type or no object");
  const Result<codec::Envelope> envelope = codec::ReadEnvelope(bytes);
  if (!envelope) return Fail(envelope.error().With("watch stream"));
  const WatchEventType type = TypeOfEvent(word);
  if (type != WatchEventType::kError) {
    return on_event_({type, word, envelope->raw, envelope->api_version, envelope->kind});
  }
  if (envelope->kind != "Status") return Malformed("an ERROR event has no Status");
  const Result<std::string> status = codec::StatusToJson(envelope->raw);
  if (!status) return Fail(status.error().With("watch stream: the Status of an ERROR event"));
  return on_event_({type, word, *status});
}

}  // namespace kgen
