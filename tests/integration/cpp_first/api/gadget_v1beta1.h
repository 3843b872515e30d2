// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// gadget_v1.h in an older version, which a server still serves.
#ifndef KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1BETA1_H_
#define KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1BETA1_H_

#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"

namespace parts::gadgets::v1beta1 {

// What a gadget should be.
struct GadgetSpec {
  kgen::String color{};
  KGEN_OBJECT(GadgetSpec)
};

// A gadget.
// +kgen:resource:group=gadgets.example.com,version=v1beta1
// +kgen:deprecated:warning="gadgets.example.com/v1beta1 Gadget is deprecated; use v1"
struct Gadget {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<GadgetSpec> spec = kgen::kAbsent;
  KGEN_OBJECT(Gadget)
};

}  // namespace parts::gadgets::v1beta1

#endif  // KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1BETA1_H_
