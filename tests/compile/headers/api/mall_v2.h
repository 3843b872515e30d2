// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The new version: types of the built-in API, of one that is generated from CRDs, and of another one of headers.
#ifndef KGEN_TESTS_COMPILE_HEADERS_API_MALL_V2_H_
#define KGEN_TESTS_COMPILE_HEADERS_API_MALL_V2_H_

#include <delivery/delivery/v1/types.h>
#include <k8s/core/v1/types.h>
#include <kgen/core/enum.h>
#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>

#include <string_view>

#include "headers/api/parts_v1.h"

namespace mall::mall::v2 {

// The values of StandSpec::kind that this program knows; others may come.
inline constexpr std::string_view kBakery = "Bakery";
inline constexpr std::string_view kFlorist = "Florist";

// Where goods come from. A supplier may have suppliers of its own.
struct Supplier {
  // +required
  kgen::String name{};
  kgen::List<Supplier> suppliers{};
  KGEN_OBJECT(Supplier)
};

struct StandSpec {
  // The values of `closed` that this program knows.
  struct ClosedValues {
    static constexpr std::string_view kSunday = "Sunday";
  };
  // +kgen:inline
  base::parts::v1::Ownership ownership{};
  // What it sells. This sentence is too long for the limit of its API.
  kgen::String kind{};
  kgen::String closed{};
  kgen::Optional<base::parts::v1::Size> size = kgen::kAbsent;
  kgen::Enum<base::parts::v1::Grade> grade{};
  kgen::Optional<delivery::delivery::v1::Rollout::Spec> rollout = kgen::kAbsent;
  kgen::Optional<k8s::core::v1::PodTemplateSpec> template_ = kgen::kAbsent;
  kgen::Optional<kgen::meta::v1::LabelSelector> selector = kgen::kAbsent;
  kgen::Optional<Supplier> supplier = kgen::kAbsent;
  KGEN_OBJECT(StandSpec)
};

struct StandStatus {
  // +listType=map
  // +listMapKey=type
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(StandStatus)
};

// +kgen:resource:group=mall.example.com,version=v2
// +kgen:storage
// +kgen:subresource:status
struct Stand {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<StandSpec> spec = kgen::kAbsent;
  kgen::Optional<StandStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Stand)
};

}  // namespace mall::mall::v2

#endif  // KGEN_TESTS_COMPILE_HEADERS_API_MALL_V2_H_
