// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// MadePods: any number of pods, each of which is made when it is read, so that they take no memory. A pod of 9.2 KB is
// copied from one of about 60 templates, which are reference pods (bench/reference_pods.h), and gets values of its own
// where pods of a cluster differ.
//
//   20 pods have a ReplicaSet in common, 25 ReplicaSets a namespace ("tenant-00017"), and 60 pods a node
//
// Deterministic: a pod depends only on its number. The numbers are in the order in which API servers list, which is by
// namespace and name.
#ifndef KGEN_BENCH_REPLAY_MADE_PODS_H_
#define KGEN_BENCH_REPLAY_MADE_PODS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kgen/client/shard_ranges.h"

namespace kgen::bench {

// Thread safety: all members from any thread.
class MadePods {
 public:
  // At most 50 million.
  explicit MadePods(std::size_t count);
  static constexpr std::size_t kPodsInSet = 20;
  static constexpr std::size_t kPodsInNamespace = 500;
  std::size_t size() const noexcept { return count_; }

  // What changes in the life of a pod.
  struct State {
    std::int64_t version = 0;  // its resource version, of 15 digits
    std::size_t updates = 0;   // how often a kubelet has reported a status
  };
  // The state in which every pod begins.
  static State FirstState(std::size_t pod) noexcept { return {.version = kFirstVersion + std::int64_t(pod)}; }

  // Appends a pod: the members of its JSON object, with neither braces nor `kind` and `apiVersion`, or its message.
  void AppendJson(std::size_t pod, const State& state, std::string& out) const;
  void AppendProtobuf(std::size_t pod, const State& state, std::string& out) const;
  // The size of its message.
  std::size_t ProtobufSize(std::size_t pod) const noexcept;
  // The hash that decides the shard.
  static std::uint64_t Hash(std::size_t pod, ShardBy by) noexcept;

 private:
  static constexpr std::int64_t kFirstVersion = 100'000'000'000'000;

  // A value that is written into a copy of a template.
  struct Slot {
    std::uint32_t token;  // an index of Values::text
    std::uint32_t at;
    std::uint32_t size;
  };
  struct Encoding {
    std::string text;
    std::vector<Slot> slots;
  };
  struct Template {
    std::string order;  // of its names
    Encoding json, protobuf;
  };
  struct Values;

  static Template MakeTemplate(std::string json);
  const Template& TemplateOf(std::size_t pod) const noexcept;
  static void Append(const Encoding& encoding, const Values& values, std::string& out);

  std::size_t count_;
  std::vector<Template> templates_;  // by order
};

}  // namespace kgen::bench

#endif  // KGEN_BENCH_REPLAY_MADE_PODS_H_
