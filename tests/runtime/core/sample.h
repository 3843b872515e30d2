// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A kind as the generator would write it, with a field of every kind, and the fixture that counts blocks.
#ifndef KGEN_TESTS_RUNTIME_CORE_SAMPLE_H_
#define KGEN_TESTS_RUNTIME_CORE_SAMPLE_H_

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "kgen/core/object_meta.h"

namespace kgen::sample {

using kgen::operator<<;

struct Port {
  String name{};
  Optional<std::int32_t> containerPort{};
  String protocol{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Port& a, const Port& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

// Recursive in every way that a schema can be.
struct Node {
  String name{};
  Optional<Node> child = kAbsent;
  List<Node> children{};
  Map<Node> named{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Node& a, const Node& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct Spec {
  Quantity amount{};
  List<String> args{};
  Optional<std::int64_t> big{};
  Bytes blob{};
  Map<Bytes> data{};
  MicroTime exact{};
  Json extra{};
  Map<Quantity> limits{};
  Map<List<String>> lists{};
  List<List<std::int64_t>> matrix{};
  String nodeName{};
  Map<Node> nodes{};
  List<Port> ports{};
  Optional<double> ratio{};
  Optional<std::int32_t> replicas{};
  Map<String> selector{};
  Optional<bool> suspend{};
  IntOrString target{};
  Duration timeout{};
  Optional<Node> tree = kAbsent;
  Map<std::int32_t> weights{};
  Time when{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Spec& a, const Spec& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct Sample {
  meta::v1::ObjectMeta metadata{};
  Optional<Spec> spec = kAbsent;
  Optional<Node> status = kAbsent;
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Sample& a, const Sample& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct SampleList {
  meta::v1::ListMeta metadata{};
  List<Sample> items{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
};

// The kinds for ClusterOptions::kinds.
inline constexpr const TypeTable* kKinds[] = {&Sample::kTable};

// Something in every field, short and long.
Sample Full();

inline const std::string kLong = "longer than the fifteen bytes that stand inline";

// Every block that a test allocates must be freed when it ends.
class CoreTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(LiveBlocks(), before_) << "blocks leaked or freed twice"; }

 private:
  std::int64_t before_ = LiveBlocks();
};

}  // namespace kgen::sample

#endif  // KGEN_TESTS_RUNTIME_CORE_SAMPLE_H_
