// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A kind as the generator would write it, for the tests and fuzz targets of the codec: a member of every kind, each
// flag that the decoder knows, recursion, and a kind inside of a kind.
#ifndef KGEN_TESTS_RUNTIME_CODEC_WIDGET_H_
#define KGEN_TESTS_RUNTIME_CODEC_WIDGET_H_

#include <cstdint>

#include "kgen/core/object_meta.h"

namespace kgen::widgets {

using kgen::operator<<;

struct Part {
  String name{};
  Optional<Part> child = kAbsent;
  Optional<std::int32_t> count{};
  Map<String> env{};
  Map<Quantity> limits{};
  List<Part> parts{};
  List<String> tags{};
  String token{};  // kUnique
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Part& a, const Part& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

// Another kind, as a template inside the spec.
struct Claim {
  meta::v1::ObjectMeta metadata{};
  Optional<Part> spec = kAbsent;
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Claim& a, const Claim& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct Spec {
  String name{};
  Quantity amount{};
  Json anything{};
  Bytes blob{};
  Map<Bytes> blobs{};
  Optional<bool> enabled{};
  Map<Json> extras{};
  List<double> factors{};
  List<bool> flags{};
  Map<List<String>> groups{};
  Optional<std::int64_t> large{};
  Map<Part> named{};
  String note{};                      // kNullable
  Optional<Part> optional = kAbsent;  // kNullable
  List<Part> parts{};
  IntOrString port{};
  List<IntOrString> ports{};
  Optional<double> ratio{};
  Optional<std::int32_t> replicas{};
  List<List<std::int64_t>> rows{};
  Map<std::int32_t> scores{};
  MicroTime seen{};
  List<Claim> templates{};
  Duration timeout{};
  List<Time> times{};
  Time when{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Spec& a, const Spec& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct Widget {
  meta::v1::ObjectMeta metadata{};
  Optional<Spec> spec = kAbsent;
  Optional<Part> status = kAbsent;  // kNoMemo
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
  friend bool operator==(const Widget& a, const Widget& b) noexcept { return detail::EqualStruct(&a, &b, kTable); }
};

struct WidgetList {
  meta::v1::ListMeta metadata{};
  List<Widget> items{};
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
};

}  // namespace kgen::widgets

#endif  // KGEN_TESTS_RUNTIME_CODEC_WIDGET_H_
