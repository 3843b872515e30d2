// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reference pods in protobuf, as API servers send them.
#ifndef KGEN_BENCH_PROTOBUF_PODS_H_
#define KGEN_BENCH_PROTOBUF_PODS_H_

#include <string>
#include <string_view>
#include <vector>

namespace kgen::bench {

// All pods are JSON, as ReferencePods() returns them.

// Returns the message of a pod.
std::string AsProtobufPod(std::string_view pod);
// Returns the body of a list at that resource version.
std::string AsProtobufList(const std::vector<std::string>& pods, std::string_view version);
// Returns the frame of a watch event.
std::string AsProtobufEvent(std::string_view type, std::string_view pod);
// Returns the same for the message of a pod.
std::string FrameOfMessage(std::string_view type, std::string_view message);
// Returns the frames of a streaming list at that resource version, with the bookmark that ends it.
std::string AsProtobufEvents(const std::vector<std::string>& pods, const std::string& version);
// Returns the frame of an ERROR event with that Status, which is JSON.
std::string AsProtobufError(std::string_view status);

}  // namespace kgen::bench

#endif  // KGEN_BENCH_PROTOBUF_PODS_H_
