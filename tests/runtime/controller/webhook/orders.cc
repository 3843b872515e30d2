// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/controller/webhook/orders.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "core/tables/table_builder.h"

namespace kgen::orders {
namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;

#define KGEN_TEST_FIELD(type, member, ...) MakeField(#member, offsetof(type, member), __VA_ARGS__)

constexpr KindInfo KindOf(std::string_view version) {
  return {.group = "shop.example",
          .version = version,
          .kind = "Order",
          .list_kind = "OrderList",
          .resource = "orders",
          .singular = "order",
          .scope = Scope::kNamespaced,
          .list = nullptr};
}

constexpr KindInfo kKindV1 = KindOf("v1");
constexpr KindInfo kKindV2 = KindOf("v2");
constexpr KindInfo kKindV3 = KindOf("v3");
constexpr KindInfo kShelfKind = {.group = "store.example",
                                 .version = "v1",
                                 .kind = "Shelf",
                                 .list_kind = "ShelfList",
                                 .resource = "shelves",
                                 .singular = "shelf",
                                 .scope = Scope::kCluster,
                                 .list = nullptr};

constexpr Field kLineV1[] = {
    KGEN_TEST_FIELD(v1::Line, item, ValueKind::kString),
    KGEN_TEST_FIELD(v1::Line, count, ValueKind::kInt32),
};
constexpr Field kSpecV1[] = {
    KGEN_TEST_FIELD(v1::Spec, item, ValueKind::kString),
    KGEN_TEST_FIELD(v1::Spec, quantity, ValueKind::kInt32),
    KGEN_TEST_FIELD(v1::Spec, weight, ValueKind::kQuantity),
    KGEN_TEST_FIELD(v1::Spec, lines, ValueKind::kList, &kTypeOf<v1::Line>),
    KGEN_TEST_FIELD(v1::Spec, named, ValueKind::kMap, &kTypeOf<v1::Line>),
    KGEN_TEST_FIELD(v1::Spec, note, ValueKind::kString, nullptr, kNullable),
    KGEN_TEST_FIELD(v1::Spec, tags, ValueKind::kList, &kTypeOf<String>),
    KGEN_TEST_FIELD(v1::Spec, extra, ValueKind::kJson),
    KGEN_TEST_FIELD(v1::Spec, legacy, ValueKind::kString),
};
constexpr Field kStatusV1[] = {
    KGEN_TEST_FIELD(v1::Status, phase, ValueKind::kString),
    KGEN_TEST_FIELD(v1::Status, shipped, ValueKind::kInt32),
};
constexpr Field kOrderV1[] = {
    KGEN_TEST_FIELD(v1::Order, metadata, ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    KGEN_TEST_FIELD(v1::Order, spec, ValueKind::kBox, &v1::Spec::kTable),
    KGEN_TEST_FIELD(v1::Order, status, ValueKind::kBox, &v1::Status::kTable),
};

constexpr Field kLineV2[] = {
    KGEN_TEST_FIELD(v2::Line, item, ValueKind::kString),
    KGEN_TEST_FIELD(v2::Line, count, ValueKind::kInt32),
    KGEN_TEST_FIELD(v2::Line, engraving, ValueKind::kString),
};
constexpr Field kGiftV2[] = {
    KGEN_TEST_FIELD(v2::Gift, text, ValueKind::kString),
    KGEN_TEST_FIELD(v2::Gift, wrapped, ValueKind::kBool),
};
constexpr Field kSpecV2[] = {
    KGEN_TEST_FIELD(v2::Spec, item, ValueKind::kString),
    KGEN_TEST_FIELD(v2::Spec, amount, ValueKind::kInt64),
    KGEN_TEST_FIELD(v2::Spec, weight, ValueKind::kInt64),
    KGEN_TEST_FIELD(v2::Spec, lines, ValueKind::kList, &kTypeOf<v2::Line>),
    KGEN_TEST_FIELD(v2::Spec, named, ValueKind::kMap, &kTypeOf<v2::Line>),
    KGEN_TEST_FIELD(v2::Spec, note, ValueKind::kString, nullptr, kNullable),
    KGEN_TEST_FIELD(v2::Spec, tags, ValueKind::kList, &kTypeOf<String>),
    KGEN_TEST_FIELD(v2::Spec, extra, ValueKind::kJson),
    KGEN_TEST_FIELD(v2::Spec, gift, ValueKind::kBox, &v2::Gift::kTable),
    KGEN_TEST_FIELD(v2::Spec, codes, ValueKind::kMap, &kTypeOf<String>),
};
constexpr Field kStatusV2[] = {
    KGEN_TEST_FIELD(v2::Status, phase, ValueKind::kString),
    KGEN_TEST_FIELD(v2::Status, shipped, ValueKind::kInt32),
    KGEN_TEST_FIELD(v2::Status, checked, ValueKind::kBool),
};
constexpr Field kOrderV2[] = {
    KGEN_TEST_FIELD(v2::Order, metadata, ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    KGEN_TEST_FIELD(v2::Order, spec, ValueKind::kBox, &v2::Spec::kTable),
    KGEN_TEST_FIELD(v2::Order, status, ValueKind::kBox, &v2::Status::kTable),
};

constexpr Field kSpecV3[] = {
    KGEN_TEST_FIELD(v3::Spec, title, ValueKind::kString),
    KGEN_TEST_FIELD(v3::Spec, amount, ValueKind::kInt64),
    KGEN_TEST_FIELD(v3::Spec, note, ValueKind::kString, nullptr, kNullable),
    KGEN_TEST_FIELD(v3::Spec, tags, ValueKind::kList, &kTypeOf<String>),
};
constexpr Field kOrderV3[] = {
    KGEN_TEST_FIELD(v3::Order, metadata, ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    KGEN_TEST_FIELD(v3::Order, spec, ValueKind::kBox, &v3::Spec::kTable),
};
constexpr Field kShelf[] = {
    KGEN_TEST_FIELD(Shelf, metadata, ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
};

#undef KGEN_TEST_FIELD

constexpr detail::NameSlots kLineV1Slots = FindNameSlots(kLineV1);
constexpr detail::NameSlots kSpecV1Slots = FindNameSlots(kSpecV1);
constexpr detail::NameSlots kStatusV1Slots = FindNameSlots(kStatusV1);
constexpr detail::NameSlots kOrderV1Slots = FindNameSlots(kOrderV1);
constexpr detail::NameSlots kLineV2Slots = FindNameSlots(kLineV2);
constexpr detail::NameSlots kGiftV2Slots = FindNameSlots(kGiftV2);
constexpr detail::NameSlots kSpecV2Slots = FindNameSlots(kSpecV2);
constexpr detail::NameSlots kStatusV2Slots = FindNameSlots(kStatusV2);
constexpr detail::NameSlots kOrderV2Slots = FindNameSlots(kOrderV2);
constexpr detail::NameSlots kSpecV3Slots = FindNameSlots(kSpecV3);
constexpr detail::NameSlots kOrderV3Slots = FindNameSlots(kOrderV3);
constexpr detail::NameSlots kShelfSlots = FindNameSlots(kShelf);

constexpr double kGramsPerKilo = 1000;

}  // namespace

constinit const TypeTable v1::Line::kTable = MakeTable<v1::Line>("shop.v1.Line", kLineV1, kLineV1Slots);
constinit const TypeTable v1::Spec::kTable = MakeTable<v1::Spec>("shop.v1.Spec", kSpecV1, kSpecV1Slots);
constinit const TypeTable v1::Status::kTable = MakeTable<v1::Status>("shop.v1.Status", kStatusV1, kStatusV1Slots);
constinit const TypeTable v1::Order::kTable =
    MakeTable<v1::Order>("shop.v1.Order", kOrderV1, kOrderV1Slots, offsetof(v1::Order, metadata), &kKindV1);
constinit const TypeTable v2::Line::kTable = MakeTable<v2::Line>("shop.v2.Line", kLineV2, kLineV2Slots);
constinit const TypeTable v2::Gift::kTable = MakeTable<v2::Gift>("shop.v2.Gift", kGiftV2, kGiftV2Slots);
constinit const TypeTable v2::Spec::kTable = MakeTable<v2::Spec>("shop.v2.Spec", kSpecV2, kSpecV2Slots);
constinit const TypeTable v2::Status::kTable = MakeTable<v2::Status>("shop.v2.Status", kStatusV2, kStatusV2Slots);
constinit const TypeTable v2::Order::kTable =
    MakeTable<v2::Order>("shop.v2.Order", kOrderV2, kOrderV2Slots, offsetof(v2::Order, metadata), &kKindV2);
constinit const TypeTable v3::Spec::kTable = MakeTable<v3::Spec>("shop.v3.Spec", kSpecV3, kSpecV3Slots);
constinit const TypeTable v3::Order::kTable =
    MakeTable<v3::Order>("shop.v3.Order", kOrderV3, kOrderV3Slots, offsetof(v3::Order, metadata), &kKindV3);
constinit const TypeTable Shelf::kTable =
    MakeTable<Shelf>("store.v1.Shelf", kShelf, kShelfSlots, offsetof(Shelf, metadata), &kShelfKind);

Result<void> FromV1(const v1::Order& from, v2::Order& to) {
  if (from.spec->item == "refused") return Fail(Code::kInvalid, "spec.item: the shop has no such thing");
  if (from.spec->item == "thrown") throw std::runtime_error("the shop is on fire");
  if (!from.spec.has_value()) return {};
  if (from.spec->quantity.has_value()) to.spec->amount = *from.spec->quantity;
  if (from.spec->weight.has_value()) {
    to.spec->weight = std::llround(from.spec->weight.AsDouble() * kGramsPerKilo);
  }
  if (from.spec->legacy.has_value()) to.metadata.labels["legacy"] = from.spec->legacy;
  return {};
}

Result<void> ToV1(const v2::Order& from, v1::Order& to) {
  if (!from.spec.has_value()) return {};
  if (from.spec->item == "one way") to.spec->item = "refused";
  if (from.spec->amount.has_value()) to.spec->quantity = static_cast<std::int32_t>(*from.spec->amount);
  if (from.spec->weight.has_value()) to.spec->weight = Quantity(std::to_string(*from.spec->weight) + "m");
  if (from.metadata.labels.contains("legacy")) {
    to.spec->legacy = from.metadata.labels["legacy"];
    to.metadata.labels.erase("legacy");
  }
  return {};
}

Result<void> FromV3(const v3::Order& from, v2::Order& to) {
  if (from.spec->title.has_value()) to.spec->item = from.spec->title;
  return {};
}

Result<void> ToV3(const v2::Order& from, v3::Order& to) {
  if (from.spec->item.has_value()) to.spec->title = from.spec->item;
  return {};
}

}  // namespace kgen::orders
