// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API of exchange rates, version v1. kgen-crd makes the CRD, the clients and the informers from it.
#ifndef KGEN_EXAMPLES_EXTERNAL_API_API_RATES_V1_H_
#define KGEN_EXAMPLES_EXTERNAL_API_API_RATES_V1_H_

#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>
#include <kgen/core/time.h>

namespace market::rates::v1 {

// What to observe.
struct ExchangeRateSpec {
  // The two currencies, as in EUR-USD: the price is the amount of the second that buys one of the first. An object
  // keeps its pair, so that its status never shows the price of another one.
  // +required
  // +kgen:immutable
  // +kgen:pattern=`^[A-Z]{3}-[A-Z]{3}$`
  kgen::String pair{};
  // The time between two requests. All objects of one pair share a request, at the shortest of their intervals, but not
  // more than one request per second.
  // +kgen:default="1m"
  // +kgen:pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
  kgen::Duration interval{};
  KGEN_OBJECT(ExchangeRateSpec)
};

// What was observed.
struct ExchangeRateStatus {
  // The last price, with the digits that the service gave. It stays while the service fails.
  kgen::String price{};
  // The time of that price, which the service gave with it.
  kgen::Time observedTime{};
  // Ready says whether the last request succeeded.
  // +listType=map
  // +listMapKey=type
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(ExchangeRateStatus)
};

// The price of a currency.
// +kgen:resource:group=rates.example.com,version=v1,shortName=fx
// +kgen:subresource:status
// +kgen:printcolumn:name=Pair,type=string,jsonPath=.spec.pair
// +kgen:printcolumn:name=Price,type=string,jsonPath=.status.price
// +kgen:printcolumn:name=Observed,type=date,jsonPath=.status.observedTime
// +kgen:printcolumn:name=Ready,type=string,jsonPath=`.status.conditions[?(@.type=="Ready")].status`
// +kgen:rbac:groups=rates.example.com,resources=exchangerates,verbs=get;list;watch
// +kgen:rbac:groups=rates.example.com,resources=exchangerates/status,verbs=update
struct ExchangeRate {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<ExchangeRateSpec> spec = kgen::kAbsent;
  kgen::Optional<ExchangeRateStatus> status = kgen::kAbsent;
  KGEN_OBJECT(ExchangeRate)
};

}  // namespace market::rates::v1

#endif  // KGEN_EXAMPLES_EXTERNAL_API_API_RATES_V1_H_
