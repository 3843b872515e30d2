// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// gadget_v1.h in the oldest version, which a server no longer serves.
#ifndef KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1ALPHA1_H_
#define KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1ALPHA1_H_

#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"

namespace parts::gadgets::v1alpha1 {

// What a gadget should be.
struct GadgetSpec {
  kgen::String color{};
  KGEN_OBJECT(GadgetSpec)
};

// A gadget.
// +kgen:resource:group=gadgets.example.com,version=v1alpha1
// +kgen:served=false
struct Gadget {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<GadgetSpec> spec = kgen::kAbsent;
  KGEN_OBJECT(Gadget)
};

}  // namespace parts::gadgets::v1alpha1

#endif  // KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1ALPHA1_H_
