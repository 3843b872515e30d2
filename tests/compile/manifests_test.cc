// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Who does not ask for an embedded CRD does not link it, also without -Wl,--gc-sections.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "pipelines/ci/pipelines_manifest.h"
#include "pipelines/ci/tasks_manifest.h"
#include "pipelines/clientset.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

TEST(Manifests, AreThoseOfTheKinds) {
  ASSERT_EQ(pipelines::Manifests().size(), 2u);
  EXPECT_EQ(pipelines::Manifests()[0], pipelines::ci::PipelineManifest());
  EXPECT_EQ(pipelines::Manifests()[1], pipelines::ci::TaskManifest());
}

TEST(Manifests, AreOnlyInProgramsThatCallForThem) {
  // The ends, because the beginnings are alike.
  const auto end = [](std::string_view text) { return std::string(text.substr(text.size() - 200)); };
  const std::string pipeline = end(pipelines::ci::PipelineManifest()), task = end(pipelines::ci::TaskManifest());
  ASSERT_NE(pipeline, task);
  struct Case {
    const char* program;
    bool pipeline, task;
  };
  for (const Case& c : {Case{KGEN_TEST_ALL_MANIFESTS, true, true}, Case{KGEN_TEST_ONE_MANIFESTS, true, false},
                        Case{KGEN_TEST_NO_MANIFESTS, false, false}}) {
    const std::string program = test_support::ReadFile(c.program);
    ASSERT_FALSE(program.empty()) << c.program;
    // Compared here, since the message of a matcher would print the whole program.
    EXPECT_EQ(program.contains(pipeline), c.pipeline) << c.program;
    EXPECT_EQ(program.contains(task), c.task) << c.program;
  }
}

}  // namespace
}  // namespace kgen
