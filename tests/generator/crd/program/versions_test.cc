// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Kinds with several versions.
#include <gtest/gtest.h>

#include <string>

#include "tests/generator/crd/program/crd_fixture.h"

namespace kgen::generator::crd {
namespace {

TEST_F(KgenCrd, WarnsOfTheFieldsThatAnotherVersionLacksAlsoWhenItOnlyPrints) {
  const std::string header = Light(
      "struct OrderSpec { kgen::String item{}; kgen::String hue{}; KGEN_OBJECT(OrderSpec) };\n"
      "// +kgen:resource:group=shop.example.com,version=v1\n"
      "struct Order { kgen::meta::v1::ObjectMeta metadata{}; kgen::Optional<OrderSpec> spec = kgen::kAbsent; "
      "KGEN_OBJECT(Order) };\n"
      "}\n"
      "namespace acme::shop::v2 {\n"
      "struct OrderSpec { kgen::String item{}; KGEN_OBJECT(OrderSpec) };\n"
      "// +kgen:resource:group=shop.example.com,version=v2\n"
      "// +kgen:storage\n"
      "struct Order { kgen::meta::v1::ObjectMeta metadata{}; kgen::Optional<OrderSpec> spec = kgen::kAbsent; "
      "KGEN_OBJECT(Order) };\n");
  const Outcome outcome = RunAlone({header});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(Has(outcome.err,
                  "warning: objects of \"Order\" lose fields between v1 and v2, because the CRD has no conversion: v2 "
                  "lacks spec.hue [crd-conversion]\n"));
}

}  // namespace
}  // namespace kgen::generator::crd
