// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Compares what `kgen generate` makes with the files in tests/golden/<name>/. KGEN_UPDATE_GOLDEN=1 writes them instead.
// The goldens of built-in kinds, such as Deployment, are generated/k8s, which `./dev lint generated` compares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "generator/commands/command.h"
#include "tests/support/paths.h"

namespace kgen::generator {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  std::string input;
  std::vector<std::string> options;
};

std::map<std::string, std::string> ReadTree(const fs::path& root) {
  std::map<std::string, std::string> files;
  if (!fs::exists(root)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(root).string()] = test_support::ReadFile(entry.path().string());
  }
  return files;
}

class GoldenTest : public ::testing::TestWithParam<Case> {};

TEST_P(GoldenTest, IsUpToDate) {
  const fs::path golden = test_support::SourcePath("tests/golden/" + GetParam().name);
  const bool update = std::getenv("KGEN_UPDATE_GOLDEN") != nullptr;
  const fs::path out = update ? golden : fs::path(::testing::TempDir()) / ("kgen_golden_" + GetParam().name);
  fs::remove_all(out);
  std::vector<std::string> arguments = {"generate", "--out", out.string(), "--namespace", GetParam().name};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  arguments.push_back(test_support::SourcePath(GetParam().input));
  std::istringstream in;
  std::ostringstream said, errors;
  ASSERT_EQ(commands::RunKgen(arguments, {in, said, errors}), commands::kFine) << errors.str();
  if (update) return;
  const auto expected = ReadTree(golden);
  const auto made = ReadTree(out);
  for (const auto& [path, text] : expected) {
    ASSERT_TRUE(made.contains(path)) << path << " is no longer generated; run ./dev golden to remove it";
    EXPECT_EQ(made.at(path), text) << path << " differs; ./dev golden takes that over";
  }
  for (const auto& [path, text] : made)
    EXPECT_TRUE(expected.contains(path)) << path << " is new; ./dev golden takes it over";
  fs::remove_all(out);
}

INSTANTIATE_TEST_SUITE_P(Inputs, GoldenTest,
                         ::testing::Values(Case{"acme", "examples/crds/orders.yaml", {}},
                                           Case{"certs", "tests/golden/certificates.yaml", {}},
                                           Case{"monitors", "tests/golden/podmonitors.yaml", {}},
                                           Case{"hostile", "tests/golden/hostile.yaml", {"--shards", "2"}},
                                           Case{"pipelines", "tests/golden/pipelines.yaml", {}},
                                           Case{"delivery",
                                                "tests/compile/rollouts.yaml",
                                                {"--use", "k8s=" + test_support::SourcePath("openapi/kubernetes-1.36")}}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kgen::generator
