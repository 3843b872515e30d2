// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The codec's rows: the cost of decoding, encoding and copying a reference pod, in instructions, allocations and bytes.
//
// Instructions are the difference of two runs of different length under callgrind, so that start-up and the preparation
// of the data cancel out; decoding and destroying are both included. The rows use counts instead of times because
// counts are the same on every machine.
#include <string>
#include <vector>

#include "bench/budget.h"
#include "bench/heap.h"
#include "bench/protobuf_pods.h"
#include "bench/reference_pods.h"
#include "k8s/core/v1/types.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace kgen::bench {

namespace {

using k8s::core::v1::Pod;

constexpr std::size_t kShort = 200;
constexpr std::size_t kLong = 1200;

// Returns the same pods in every call.
const std::vector<std::string>& Pods() {
  static const std::vector<std::string> kReferencePods = ReferencePods(kLong);
  return kReferencePods;
}

// Decodes as an informer does: with one decoder, and keeping the objects.
Result<Figures> DecodeIntoCache(std::size_t count, bool counted) {
  const std::vector<std::string>& pods = Pods();
  std::vector<AnyRef> cache;
  cache.reserve(count);
  if (counted) Heap::StartCounting();
  ObjectDecoder decoder(Pod::kTable);
  for (std::size_t i = 0; i < count; ++i) {
    auto pod = decoder.Decode(pods[i]);
    if (!pod) return Fail(std::move(pod).error());
    cache.push_back(*std::move(pod));
  }
  const auto n = static_cast<double>(count);
  return Figures{{"allocations", static_cast<double>(Heap::Allocations()) / n},
                 {"bytes", static_cast<double>(Heap::Live()) / n}};
}

// Decodes as a client's Get does: nothing is shared and nothing is kept. The bytes are the value's while it lives.
Result<Figures> DecodeOnce(std::size_t count, bool counted) {
  const std::vector<std::string>& pods = Pods();
  if (counted) Heap::StartCounting();
  double bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto pod = Decode<Pod>(pods[i]);
    if (!pod) return Fail(std::move(pod).error());
    bytes += static_cast<double>(Heap::Live()) + sizeof(Pod);
  }
  const auto n = static_cast<double>(count);
  return Figures{{"allocations", static_cast<double>(Heap::Allocations()) / n}, {"bytes", bytes / n}};
}

const std::vector<std::string>& ProtobufPods() {
  static const std::vector<std::string> kMessages = [] {
    std::vector<std::string> messages;
    for (const std::string& pod : Pods()) messages.push_back(AsProtobufPod(pod));
    return messages;
  }();
  return kMessages;
}

// Does the same from protobuf, as Get would if answers came in it.
Result<Figures> DecodeProtobufOnce(std::size_t count) {
  const std::vector<std::string>& pods = ProtobufPods();
  double bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto pod = Decode<Pod>(pods[i], {.encoding = Encoding::kProtobuf});
    if (!pod) return Fail(pod.error());
    bytes += static_cast<double>(pods[i].size());
  }
  return Figures{{"size", bytes / static_cast<double>(count)}};
}

// Deep copies of pods from a cache, one after the other.
Result<Figures> Copy(std::size_t count, bool counted) {
  constexpr std::size_t kPods = 200;
  ObjectDecoder decoder(Pod::kTable);
  std::vector<Ref<const Pod>> cache;
  for (std::size_t i = 0; i < kPods; ++i) {
    auto pod = decoder.Decode(Pods()[i]);
    if (!pod) return Fail(std::move(pod).error());
    cache.push_back(pod->As<Pod>());
  }
  if (counted) Heap::StartCounting();
  for (std::size_t i = 0; i < count; ++i) const Pod copy = *cache[i % kPods];
  return Figures{{"allocations", static_cast<double>(Heap::Allocations()) / static_cast<double>(count)}};
}

// Encodes pods of a cache one after the other, as a saved cache does.
Result<Figures> EncodeFromCache(std::size_t count) {
  constexpr std::size_t kPods = 200;
  ObjectDecoder decoder(Pod::kTable);
  std::vector<AnyRef> cache;
  for (std::size_t i = 0; i < kPods; ++i) {
    auto pod = decoder.Decode(Pods()[i]);
    if (!pod) return Fail(std::move(pod).error());
    cache.push_back(*std::move(pod));
  }
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text.clear();
    detail::EncodeStruct(cache[i % kPods].object(), Pod::kTable, text);
  }
  return Figures{};
}

// Arguments: what to do, how often, and `counted` to count heap use, which costs instructions.
Result<Figures> RunCodec(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return Fail(Code::kInvalidArgument, "codec: what to do, and how often");
  const std::size_t count = std::stoul(arguments[1]);
  const bool counted = arguments.size() == 3 && arguments[2] == "counted";
  if (arguments[0] == "cache") return DecodeIntoCache(count, counted);
  if (arguments[0] == "once") return DecodeOnce(count, counted);
  if (arguments[0] == "protobuf") return DecodeProtobufOnce(count);
  if (arguments[0] == "copy") return Copy(count, counted);
  if (arguments[0] == "encode") return EncodeFromCache(count);
  return Fail(Code::kInvalidArgument, "codec: cache, once, protobuf, copy or encode");
}

Result<double> Figure(const std::string& what, std::size_t count, const std::string& name) {
  const Result<Figures> figures = RunChild("codec", {what, std::to_string(count), "counted"});
  if (!figures) return Fail(figures.error());
  const auto found = figures->find(name);
  if (found == figures->end()) return Fail(Code::kInternal, "no such figure: " + name);
  return found->second;
}

Result<double> Instructions(const std::string& what) {
  const auto few = InstructionsOfChild("codec", {what, std::to_string(kShort)});
  if (!few) return Fail(few.error());
  const auto many = InstructionsOfChild("codec", {what, std::to_string(kLong)});
  if (!many) return Fail(many.error());
  return (*many - *few) / static_cast<double>(kLong - kShort);
}

}  // namespace

void AddCodecRows(Budget& budget) {
  budget.Add(Child{"codec", RunCodec});
  budget.Add(Row{"decode_cache_instructions", 119'000, "instructions/pod", [] { return Instructions("cache"); }});
  budget.Add(
      Row{"decode_cache_allocations", 34, "allocations/pod", [] { return Figure("cache", kLong, "allocations"); }});
  budget.Add(Row{"decode_cache_bytes", 6'700, "bytes/pod", [] { return Figure("cache", kLong, "bytes"); }});
  budget.Add(Row{"decode_once_instructions", 150'000, "instructions/pod", [] { return Instructions("once"); }});
  budget.Add(
      Row{"decode_once_allocations", 131, "allocations/pod", [] { return Figure("once", kLong, "allocations"); }});
  budget.Add(Row{"decode_once_bytes", 14'800, "bytes/pod", [] { return Figure("once", kLong, "bytes"); }});
  budget.Add(Row{"encode_instructions", 101'000, "instructions/pod", [] { return Instructions("encode"); }});
  budget.Add(
      Row{"decode_protobuf_once_instructions", 145'000, "instructions/pod", [] { return Instructions("protobuf"); }});
  budget.Add(Row{"deep_copy_instructions", 50'000, "instructions/pod", [] { return Instructions("copy"); }});
  budget.Add(Row{"deep_copy_allocations", 131, "allocations/pod", [] { return Figure("copy", kLong, "allocations"); }});
}

}  // namespace kgen::bench
