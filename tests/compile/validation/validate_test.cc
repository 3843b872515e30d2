// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen::Validate() of generated types and of structs of one's own finds the CRD in the generated header, and who does
// not call it does not link RE2.
#include "kgen/validation/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "acme/shop/orders_manifest.h"
#include "acme/shop/v1/types.h"
#include "base/parts/parts_manifest.h"
#include "headers/api/parts_v1.h"
#include "pipelines/ci/pipelines_manifest.h"
#include "pipelines/ci/v1/types.h"
#include "pipelines/ci/v1beta1/types.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <typename T>
std::vector<std::string> Faults(const T& object) {
  std::vector<std::string> lines;
  for (const FieldError& error : Validate(object).errors) lines.push_back(error.ToString());
  return lines;
}

TEST(ValidateTest, AGeneratedKindIsValidatedAgainstItsCrd) {
  acme::shop::v1::Order order;
  order.metadata.name = "a";
  EXPECT_THAT(Faults(order), ElementsAre("spec: Required value"));
  order.spec.emplace().item = "kettle";
  order.spec->quantity = 0;
  EXPECT_THAT(Faults(order),
              ElementsAre("spec.quantity: Invalid value: 0: spec.quantity in body should be greater than "
                          "or equal to 1"));
  order.spec->quantity = 1;
  EXPECT_THAT(Faults(order), IsEmpty());
  EXPECT_TRUE(Validate(order).valid());
}

TEST(ValidateTest, EachVersionHasItsOwnSchema) {
  pipelines::ci::v1::Pipeline now;
  now.metadata.name = "a";
  now.spec.emplace();
  EXPECT_THAT(Faults(now), ElementsAre("spec.build: Required value"));
  pipelines::ci::v1beta1::Pipeline before;
  before.metadata.name = "a";
  before.spec.emplace();
  EXPECT_THAT(Faults(before), IsEmpty());
}

TEST(ValidateTest, AStructOfOnesOwnIsValidatedAgainstTheCrdThatWasMadeFromIt) {
  base::parts::v1::Part part;
  part.metadata.name = "a";
  part.spec.emplace().width = 0;
  EXPECT_THAT(Faults(part), ElementsAre("spec.width: Invalid value: 0: spec.width in body should be greater than or "
                                        "equal to 1"));
}

TEST(ValidateTest, OnlyAProgramThatValidatesLinksRe2) {
  const std::string with = test_support::ReadFile(KGEN_TEST_LINKS_VALIDATION);
  const std::string without = test_support::ReadFile(KGEN_TEST_LINKS_NO_VALIDATION);
  ASSERT_FALSE(without.empty());
  EXPECT_TRUE(with.contains("libre2.so"));
  EXPECT_FALSE(without.contains("libre2.so"));
  EXPECT_FALSE(without.contains("CompiledSchema"));
}

}  // namespace
}  // namespace kgen
