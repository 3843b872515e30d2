// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API of a shop, version v1. This header is all that is written by hand: kgen-crd makes the CRD, the clients and
// the informers from it.
#ifndef KGEN_EXAMPLES_CPP_FIRST_API_SHOP_V1_H_
#define KGEN_EXAMPLES_CPP_FIRST_API_SHOP_V1_H_

#include <kgen/core/enum.h>
#include <kgen/core/json.h>
#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>
#include <kgen/core/quantity.h>
#include <kgen/core/time.h>

#include <cstdint>

namespace store::shop::v1 {

// How soon an order leaves the house.
enum class Priority { kLow, kNormal, kHigh };

// One article of a parcel.
struct Line {
  // The article, as the catalogue calls it.
  // +required
  // +kgen:pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
  // +kgen:maxLength=63
  kgen::String item{};
  // +kgen:minimum=1
  // +kgen:default=1
  kgen::Optional<std::int32_t> quantity{};
  // The weight of one article in kilograms, as in 1500m for one and a half.
  kgen::Quantity weight{};
  KGEN_OBJECT(Line)
};

// What makes a parcel a present.
struct Gift {
  // +kgen:maxLength=200
  kgen::String message{};
  // A picture for the card, as PNG.
  kgen::Bytes picture{};
  KGEN_OBJECT(Gift)
};

// What a customer wants.
// +kgen:XValidation:rule="!has(self.deliverAfter) || self.priority != 'High'",message="an urgent order cannot wait"
struct OrderSpec {
  // +required
  // +listType=map
  // +listMapKey=item
  // +kgen:minItems=1
  kgen::List<Line> lines{};
  // +kgen:default=Normal
  kgen::Enum<Priority> priority{};
  // Who pays. An order keeps its customer.
  // +kgen:XValidation:rule="self == oldSelf",message="the customer cannot change"
  kgen::String customer{};
  kgen::Time deliverAfter{};
  // How long the parcel stays at the counter.
  // +kgen:default="336h"
  kgen::Duration keepFor{};
  // The deposit, as an amount or as a percentage.
  kgen::IntOrString deposit{};
  kgen::Optional<Gift> gift = kgen::kAbsent;
  // What the article's own page asks for.
  // +kgen:maxProperties=20
  kgen::Map<kgen::String> options{};
  // What the web page wants to find again; the shop does not read it.
  kgen::Json page{};
  KGEN_OBJECT(OrderSpec)
};

// How far the shop has got.
struct OrderStatus {
  // Articles in the parcel.
  kgen::Optional<std::int32_t> articles{};
  // +listType=map
  // +listMapKey=type
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(OrderStatus)
};

// A customer's order.
// +kgen:resource:group=shop.example.com,version=v1,shortName=ord
// +kgen:subresource:status
// +kgen:printcolumn:name=Priority,type=string,jsonPath=.spec.priority
// +kgen:printcolumn:name=Articles,type=integer,jsonPath=.status.articles
// +kgen:printcolumn:name=Age,type=date,jsonPath=.metadata.creationTimestamp
// +kgen:selectablefield:jsonPath=.spec.priority
// +kgen:rbac:groups=shop.example.com,resources=orders,verbs=get;list;watch
// +kgen:rbac:groups=shop.example.com,resources=orders/status,verbs=update
// +kgen:rbac:groups=core,resources=configmaps,verbs=get;list;watch;patch
struct Order {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<OrderSpec> spec = kgen::kAbsent;
  kgen::Optional<OrderStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Order)
};

}  // namespace store::shop::v1

#endif  // KGEN_EXAMPLES_CPP_FIRST_API_SHOP_V1_H_
