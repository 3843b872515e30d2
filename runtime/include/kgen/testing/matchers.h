// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HasActions: a googlemock matcher for the writes that a Cluster received. In a test, cluster.h includes it; elsewhere
// cluster.h does not need googlemock.
#ifndef KGEN_TESTING_MATCHERS_H_
#define KGEN_TESTING_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace kgen::testing {

// Matches exactly these writes of Cluster::actions(), in order: HasActions({"create pods default/new"}).
MATCHER_P(HasActionsMatching, expected, "") {
  std::vector<std::string> actual;
  for (const auto& action : arg) actual.push_back(action.str());
  return ::testing::ExplainMatchResult(::testing::ContainerEq(expected), actual, result_listener);
}
inline auto HasActions(std::vector<std::string> expected) { return HasActionsMatching(std::move(expected)); }

}  // namespace kgen::testing

#endif  // KGEN_TESTING_MATCHERS_H_
