// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Real CRDs and API documents of other projects, from the shared folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/generator/load.h"
#include "tests/support/paths.h"

namespace kgen::generator {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

test::Loaded LoadFiles(const std::vector<std::string>& files) {
  test::Loaded out;
  out.api = commands::LoadApi(files, out.diagnostics);
  return out;
}

std::pair<int, int> CountKindsAndVersions(const model::Api& api) {
  std::map<std::pair<std::string, std::string>, int> kinds;
  int versions = 0;
  for (const model::Group& group : api.groups) {
    for (const model::Version& version : group.versions) {
      for (const model::ApiKind& kind : version.kinds) {
        if (!kind.custom) continue;
        ++kinds[{kind.gvk.group, kind.gvk.kind}];
        ++versions;
      }
    }
  }
  return {static_cast<int>(kinds.size()), versions};
}

// The number of CRDs and versions of each project, from the description of the corpus.
const std::map<std::string, std::pair<int, int>> kProjects = {
    {"argo-cd", {13, 13}},
    {"cert-manager", {6, 6}},
    {"cilium", {1, 1}},
    {"cluster-api", {28, 52}},
    {"fixtures-apiextensions", {1, 1}},
    {"fixtures-controller-runtime", {6, 9}},
    {"fixtures-java-generator", {19, 19}},
    {"fixtures-sample-controller", {2, 2}},
    {"flux", {6, 6}},
    {"gateway-api", {17, 30}},
    {"knative", {12, 12}},
    {"kyverno", {23, 44}},
    {"prometheus-operator", {10, 11}},
    {"strimzi", {18, 22}},
    {"velero", {21, 24}},
};

// Contract: generator ACC-01, ACC-02.
TEST(Corpus, GivesEveryCrdFileAModelWithoutError) {
  const auto crds = test_support::SharedPath("corpus/crds");
  if (!crds) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  std::map<std::string, std::pair<int, int>> seen;
  for (const std::string& file : FilesBelow(*crds)) {
    const test::Loaded loaded = LoadFiles({file});
    EXPECT_FALSE(loaded.diagnostics.has_errors()) << loaded.Said();
    const auto [kinds, versions] = CountKindsAndVersions(loaded.api);
    EXPECT_GT(kinds, 0) << file;
    auto& project = seen[fs::path(file).parent_path().filename()];
    project.first += kinds;
    project.second += versions;
  }
  EXPECT_EQ(seen, kProjects);
}

TEST(Corpus, CountsTheSameSchemaNodesAsTheCorpus) {
  const auto files =
      test_support::SharedPath("corpus/crds/prometheus-operator/monitoring.coreos.com_prometheuses.yaml");
  if (!files) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  const test::Loaded loaded = LoadFiles({*files});
  const model::TypeId id = loaded.api.FindType("monitoring.coreos.com", "v1", "Prometheus");
  ASSERT_NE(id, model::kNoType);
  const auto count = [](const auto& self, const model::Schema& schema) -> int {
    int nodes = 1;
    for (const model::Field& field : schema.fields) nodes += self(self, *field.schema);
    return nodes + (schema.element ? self(self, *schema.element) : 0);
  };
  // The corpus says 2057 nodes below the root, with the root and without what is taken as a whole (apiVersion, kind and
  // metadata are there as plain nodes).
  EXPECT_NEAR(count(count, loaded.api.types[id].schema), 2057, 1);
}

// Contract: generator IN-26.
TEST(Corpus, RefusesTheSameCrdWithDifferentContentWhenAllAreReadTogether) {
  const auto crds = test_support::SharedPath("corpus/crds");
  if (!crds) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  const test::Loaded loaded = LoadFiles({*crds});
  for (const Diagnostic& d : loaded.diagnostics.Sorted()) {
    if (d.severity == Severity::kError) {
      EXPECT_EQ(d.id, "crd-twice") << d.message;
    }
  }
  EXPECT_GT(loaded.diagnostics.error_count(), 0u);
}

// Contract: generator ACC-05.
TEST(Corpus, RefusesEveryInvalidFileWithAPosition) {
  const auto invalid = test_support::SharedPath("corpus/invalid");
  if (!invalid) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  const std::map<std::string, std::string> expected = {
      {"helm-template-crd-acme.cert-manager.io_orders.yaml", ":1:2 error syntax: this is the source of a template"},
      {"webhook_in_clusters.yaml", ":3:1 error crd-patch: "},
      {"notcrd.yaml", "kgen error no-input: "},
      {"malicious-expression-enum-crd.yaml", ":38:23 error enum-type: "},
      {"malicious-numeric-enum-crd.yaml", ":37:23 error enum-type: "},
      {"malicious-path-traversal-crd.yaml", ":30:13 error illegal-name: \"../../../../pwned\""},
      {"malicious-unicode-escape-crd.yaml", ":45:13 error illegal-name: "},
      {"malicious-version-crd.yaml", ":27:13 error illegal-name: "},
  };
  std::size_t count = 0;
  for (const std::string& file : FilesBelow(*invalid)) {
    const test::Loaded loaded = LoadFiles({file});
    const auto said = expected.find(fs::path(file).filename());
    ASSERT_NE(said, expected.end()) << file;
    EXPECT_THAT(loaded.Said(), HasSubstr(said->second));
    EXPECT_TRUE(loaded.diagnostics.has_errors());
    ++count;
  }
  EXPECT_EQ(count, expected.size());
}

// Contract: generator OA-02, OA-03.
TEST(Corpus, ReadsAllDocumentsOfTheLiveServerTogether) {
  const auto live = test_support::SharedPath("corpus/openapi/live-1.36.1");
  if (!live) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  std::vector<std::string> files = FilesBelow(*live);
  std::erase_if(files, [](const std::string& file) { return file.ends_with("openapi_v2.json.gz"); });
  ASSERT_EQ(files.size(), 22u);
  const test::Loaded loaded = LoadFiles(files);
  EXPECT_EQ(loaded.Said(), "");
  int served = 0;
  int namespaced = 0;
  for (const model::Group& group : loaded.api.groups) {
    for (const model::Version& version : group.versions) {
      for (const model::ApiKind& kind : version.kinds) {
        if (!kind.resource) continue;
        ++served;
        namespaced += kind.resource->scope == model::Scope::kNamespaced ? 1 : 0;
      }
    }
  }
  EXPECT_GT(served, 60);
  EXPECT_GT(namespaced, 30);
}

// Contract: generator OA-12.
TEST(Corpus, ReadsOlderAndPublishedV3Documents) {
  const auto openapi = test_support::SharedPath("corpus/openapi");
  if (!openapi) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  std::size_t count = 0;
  for (const std::string& file : FilesBelow(*openapi)) {
    const std::string name = fs::path(file).filename();
    const std::string folder = fs::path(file).parent_path().filename();
    if (!(folder == "v3" || name.starts_with("v3_"))) continue;
    const test::Loaded loaded = LoadFiles({file});
    EXPECT_EQ(loaded.Said(), "") << file;
    ++count;
  }
  EXPECT_EQ(count, 9u);
}

}  // namespace
}  // namespace kgen::generator
