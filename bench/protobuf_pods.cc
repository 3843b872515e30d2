// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/protobuf_pods.h"

#include "codec/protobuf_encoder.h"
#include "k8s/core/v1/types.h"
#include "kgen/codec/decode.h"

namespace kgen::bench {
namespace {

using k8s::core::v1::Pod;

template <typename T>
std::string MessageOf(std::string_view json) {
  const T object = Must(Decode<T>(json));
  return Must(codec::EncodeProtobuf(&object, T::kTable));
}

// Puts the length in front of an event.
std::string FrameOf(std::string_view type, std::string_view envelope) {
  std::string raw, event, frame;
  codec::AppendField(1, envelope, raw);
  codec::AppendField(1, type, event);
  codec::AppendField(2, raw, event);
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(event.size() >> shift);
  return frame + event;
}

}  // namespace

std::string AsProtobufPod(std::string_view pod) { return MessageOf<Pod>(pod); }

std::string AsProtobufList(const std::vector<std::string>& pods, std::string_view version) {
  std::string metadata, list;
  codec::AppendField(2, version, metadata);
  codec::AppendField(1, metadata, list);
  for (const std::string& pod : pods) codec::AppendField(2, AsProtobufPod(pod), list);
  return codec::EnvelopeOf("v1", "PodList", list);
}

std::string FrameOfMessage(std::string_view type, std::string_view message) {
  return FrameOf(type, codec::EnvelopeOf("v1", "Pod", message));
}

std::string AsProtobufEvent(std::string_view type, std::string_view pod) {
  return FrameOfMessage(type, AsProtobufPod(pod));
}

std::string AsProtobufEvents(const std::vector<std::string>& pods, const std::string& version) {
  std::string text;
  for (const std::string& pod : pods) text += AsProtobufEvent("ADDED", pod);
  return text + AsProtobufEvent("BOOKMARK", R"({"metadata":{"resourceVersion":")" + version +
                                                R"(","annotations":{"k8s.io/initial-events-end":"true"}}})");
}

std::string AsProtobufError(std::string_view status) {
  return FrameOf("ERROR", codec::EnvelopeOf("v1", "Status", MessageOf<meta::v1::Status>(status)));
}

}  // namespace kgen::bench
