// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The CRD of ../cpp_first/api beside the one that controller-gen makes of the same API in Go (v1, v1beta1, v1alpha1).
// What differs is in kDifferences, and in the table of docs/cpp-first.md; nothing else does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "tests/integration/controller_gen/crd_leaves.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using ::testing::StartsWith;

Leaves Read(const std::string& file) {
  const auto crds = ReadCrds(test_support::ReadFile(file));
  EXPECT_EQ(crds.size(), 1u) << file;
  return crds.size() == 1 ? crds.begin()->second : Leaves();
}

struct Difference {
  std::string_view what;  // the row of the table
  std::string_view part;  // of the path
  std::string_view end;   // of the path
  enum Side { kOnlyTheirs, kOnlyOurs, kOtherValue } side;
};

constexpr Difference kDifferences[] = {
    {"the annotation with its version", "/metadata/annotations/controller-gen.kubebuilder.io/version", "",
     Difference::kOnlyTheirs},
    {"descriptions of apiVersion and kind", "/openAPIV3Schema/properties/apiVersion/description", "",
     Difference::kOnlyTheirs},
    {"descriptions of apiVersion and kind", "/openAPIV3Schema/properties/kind/description", "",
     Difference::kOnlyTheirs},
    {"descriptions of built-in types", "/spec/properties/selector/", "/description", Difference::kOtherValue},
    {"descriptions of built-in types", "/status/properties/conditions/items/", "/description", Difference::kOtherValue},
    {"enum of a nullable member", "/texts/properties/nullableSize/allOf/0/enum/", "", Difference::kOnlyOurs},
    {"enum of a nullable member", "/texts/properties/nullableSize/enum/", "", Difference::kOnlyTheirs},
    {"format of Duration", "/types/properties/duration/format", "", Difference::kOnlyOurs},
};

class ControllerGenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("KGEN_TEST_CONTROLLER_GEN");
    if (folder == nullptr) GTEST_SKIP() << "no controller-gen: run ./dev integration";
    theirs_ = std::string(folder) + "/gadgets.example.com_gadgets.yaml";
  }
  const std::string ours_ = KGEN_GADGET_CRD;
  std::string theirs_;
};

TEST_F(ControllerGenTest, WritesTheSameCrdButForTheDocumentedDifferences) {
  const Leaves ours = Read(ours_), theirs = Read(theirs_);
  EXPECT_GT(theirs.size(), 300u);
  std::map<std::string_view, int> seen;
  const auto documented = [&](const std::string& path, Difference::Side side) {
    for (const Difference& difference : kDifferences) {
      if (difference.side != side || !path.contains(difference.part) || !path.ends_with(difference.end)) continue;
      ++seen[difference.part];
      return true;
    }
    return false;
  };
  for (const auto& [path, value] : theirs) {
    const auto found = ours.find(path);
    if (found == ours.end()) {
      EXPECT_TRUE(documented(path, Difference::kOnlyTheirs)) << "only controller-gen has " << path << ": " << value;
    } else if (found->second != value) {
      EXPECT_TRUE(documented(path, Difference::kOtherValue)) << path << ": " << found->second << ", not " << value;
    }
  }
  for (const auto& [path, value] : ours) {
    EXPECT_TRUE(theirs.contains(path) || documented(path, Difference::kOnlyOurs))
        << "only kgen-crd has " << path << ": " << value;
  }
  for (const Difference& difference : kDifferences)
    EXPECT_GT(seen[difference.part], 0) << "no longer a difference: " << difference.what << ", " << difference.part;
}

// The output of a command, then its exit code.
std::string Output(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string output;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, count);
  return output + "exit code " + std::to_string(::pclose(pipe));
}

// kgen generate makes the same C++ of both CRDs, apart from durations.
TEST_F(ControllerGenTest, TheTwoCrdsGiveTheSameCxxButForTheDocumentedDifferences) {
  const std::string duration = "  gadgets.example.com/v1 Gadget.spec.types.duration: its C++ type was kgen::";
  EXPECT_THAT(Output(KGEN_EXECUTABLE " diff " + ours_ + " " + theirs_),
              StartsWith("breaks C++ source (1):\n" + duration + "Duration, is kgen::String\nexit code"));
  EXPECT_THAT(Output(KGEN_EXECUTABLE " diff " + theirs_ + " " + ours_),
              StartsWith("breaks C++ source (1):\n" + duration + "String, is kgen::Duration\nexit code"));
}

}  // namespace
}  // namespace kgen::integration
