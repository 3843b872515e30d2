// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Who does not ask for the embedded CRDs does not link them, also without -Wl,--gc-sections.
#include <gtest/gtest.h>

#include <string>

#include "acme/clientset.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

TEST(Manifests, AreOnlyInProgramsThatCallForThem) {
  ASSERT_EQ(acme::Manifests().size(), 1u);
  const std::string text(acme::Manifests()[0].substr(0, 200));
  // Compared here, since the message of a matcher would print the whole program.
  EXPECT_TRUE(test_support::ReadFile(KGEN_TEST_WITH_MANIFESTS).contains(text));
  EXPECT_FALSE(test_support::ReadFile(KGEN_TEST_WITHOUT_MANIFESTS).contains(text));
}

}  // namespace
}  // namespace kgen
