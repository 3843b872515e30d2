// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A kind of three versions, as the generator would write them, and its conversion: v2 is the hub.
//
//   spec       v1                   v2                    v3
//   item       item                 item                  title
//   quantity   quantity (32 bits)   amount (64 bits)      amount (64 bits)
//   weight     weight (Quantity)    weight (grams)        -
//   lines      item, count          item, count, engraving -
//   -          legacy               -                     -
//   -          -                    gift, codes           -
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_ORDERS_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_ORDERS_H_

#include <cstdint>

#include "kgen/controller/conversion.h"
#include "kgen/core/object_meta.h"

namespace kgen::orders {

namespace v1 {

using kgen::operator<<;

struct Line {
  String item{};
  Optional<std::int32_t> count{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Spec {
  String item{};
  Optional<std::int32_t> quantity{};
  Quantity weight{};
  List<Line> lines{};
  Map<Line> named{};
  String note{};  // kNullable
  List<String> tags{};
  Json extra{};
  String legacy{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Status {
  String phase{};
  Optional<std::int32_t> shipped{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Order {
  meta::v1::ObjectMeta metadata{};
  Optional<Spec> spec = kAbsent;
  Optional<Status> status = kAbsent;
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

}  // namespace v1

namespace v2 {

using kgen::operator<<;

struct Line {
  String item{};
  Optional<std::int32_t> count{};
  String engraving{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Gift {
  String text{};
  Optional<bool> wrapped{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Spec {
  String item{};
  Optional<std::int64_t> amount{};
  Optional<std::int64_t> weight{};
  List<Line> lines{};
  Map<Line> named{};
  String note{};  // kNullable
  List<String> tags{};
  Json extra{};
  Optional<Gift> gift = kAbsent;
  Map<String> codes{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Status {
  String phase{};
  Optional<std::int32_t> shipped{};
  Optional<bool> checked{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Order {
  meta::v1::ObjectMeta metadata{};
  Optional<Spec> spec = kAbsent;
  Optional<Status> status = kAbsent;
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

}  // namespace v2

namespace v3 {

using kgen::operator<<;

struct Spec {
  String title{};
  Optional<std::int64_t> amount{};
  String note{};  // kNullable
  List<String> tags{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Order {
  meta::v1::ObjectMeta metadata{};
  Optional<Spec> spec = kAbsent;
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

}  // namespace v3

// Another kind of another group.
struct Shelf {
  meta::v1::ObjectMeta metadata{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

// The functions of the conversion. Those to the hub fail if the item is "refused", and throw if it is "thrown".
Result<void> FromV1(const v1::Order& from, v2::Order& to);
Result<void> ToV1(const v2::Order& from, v1::Order& to);
Result<void> FromV3(const v3::Order& from, v2::Order& to);
Result<void> ToV3(const v2::Order& from, v3::Order& to);

inline ConversionBuilder<v2::Order> DeclareOrders(ConversionBuilder<v2::Order> versions) {
  versions.Spoke<v1::Order>(FromV1, ToV1).Spoke<v3::Order>(FromV3, ToV3);
  return versions;
}

}  // namespace kgen::orders

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_ORDERS_H_
