// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The old version of a kind.
#ifndef KGEN_TESTS_COMPILE_HEADERS_API_MALL_V1_H_
#define KGEN_TESTS_COMPILE_HEADERS_API_MALL_V1_H_

#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>

namespace mall::mall::v1 {

struct StandSpec {
  // +kgen:maxLength=20
  kgen::String owner{};
  KGEN_OBJECT(StandSpec)
};

// +kgen:resource:group=mall.example.com,version=v1,shortName=std
// +kgen:deprecated:warning="use v2"
struct Stand {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<StandSpec> spec = kgen::kAbsent;
  KGEN_OBJECT(Stand)
};

}  // namespace mall::mall::v1

#endif  // KGEN_TESTS_COMPILE_HEADERS_API_MALL_V1_H_
