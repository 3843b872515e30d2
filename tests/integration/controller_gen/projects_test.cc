// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// All kinds of three real projects, whose Go types were translated to the headers in projects/, beside the CRDs that
// the projects publish. What differs is in kDifferences, and in the table of docs/cpp-first.md; nothing else does.
// Prose is left out on both sides: descriptions, and the messages of rules.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/integration/controller_gen/crd_leaves.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

struct Project {
  std::string_view name;
  std::string_view published;             // a folder of the corpus
  std::string_view files;                 // what the files in it begin with
  std::vector<std::string_view> headers;  // in projects/
  std::size_t kinds;
};

const Project kProjects[] = {
    {"fluxcd/source-controller", "corpus/crds/flux", "source.", {"flux_source.h"}, 6},
    {"vmware-tanzu/velero", "corpus/crds/velero", "velero.io_", {"velero_v1.h", "velero_v2alpha1.h"}, 13},
    {"cert-manager/cert-manager", "corpus/crds/cert-manager", "", {"cert_manager_acme.h", "cert_manager.h"}, 6},
};

struct Difference {
  std::string_view what;  // the row of the table
  std::string_view part;  // of the path
  std::string_view end;   // of the path
  std::string_view ours, theirs;
};

constexpr Difference kDifferences[] = {
    {"the annotation with its version", "/metadata/annotations/controller-gen.kubebuilder.io/version", "", "", "*"},
    {"format of Duration", "/properties/", "/format", "\"duration\"", ""},
    {"subresources without any", "/spec/versions/", "/subresources", "", "{}"},
};

// A column whose path names no member of the kind is empty forever, and an error of kgen-crd.
constexpr std::string_view kColumnOfNothing = "\".status.node\"";

bool IsProse(std::string_view path) {
  return (path.ends_with("/description") && !path.ends_with("/properties/description")) ||
         (path.ends_with("/message") && path.contains("/x-kubernetes-validations/"));
}

std::string CrdsOf(const Project& project) {
  std::string command = KGEN_CRD_EXECUTABLE;
  for (const char* flag : {"", "/runtime/include", "/generated"})
    command += " --flag=-I" + test_support::SourcePath("") + flag;
  command += " --use k8s";
  for (const std::string_view header : project.headers)
    command += " " + test_support::SourcePath("tests/integration/controller_gen/projects/" + std::string(header));
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), count);
  EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << output.substr(0, 4000);
  return output;
}

std::map<std::string, Leaves> Published(const Project& project, const std::string& folder) {
  std::map<std::string, Leaves> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().native().starts_with(project.files))
      out.merge(ReadCrds(test_support::ReadFile(entry.path().native())));
  }
  return out;
}

// Takes a column out, so that those behind it have the numbers that they have without it.
void DropColumn(Leaves& crd, std::string_view path) {
  Leaves out;
  int removed = -1;
  for (const auto& [key, value] : crd) {
    if (key.contains("/additionalPrinterColumns/") && key.ends_with("/jsonPath") && value == path)
      removed = std::stoi(key.substr(key.find("Columns/") + 8));
  }
  for (auto& [key, value] : crd) {
    const std::size_t at = key.find("Columns/");
    const int number = at == std::string::npos ? -1 : std::stoi(key.substr(at + 8));
    if (removed >= 0 && number == removed) continue;
    const std::string name = std::to_string(number);
    out[removed >= 0 && number > removed
            ? key.substr(0, at + 8) + std::to_string(number - 1) + key.substr(at + 8 + name.size())
            : key] = value;
  }
  crd = std::move(out);
}

std::string At(const Leaves& crd, const std::string& path) {
  const auto found = crd.find(path);
  return found == crd.end() ? std::string() : found->second;
}

const Difference* Documented(const std::string& path, const std::string& ours, const std::string& theirs) {
  for (const Difference& row : kDifferences) {
    const bool values = row.ours == ours && (row.theirs == theirs || (row.theirs == "*" && !theirs.empty()));
    if (values && path.contains(row.part) && path.ends_with(row.end)) return &row;
  }
  return nullptr;
}

TEST(RealProjects, HaveTheSameCrdsFromTheirHeadersButForTheDocumentedDifferences) {
  std::map<std::string_view, int> seen;
  std::size_t leaves = 0;
  for (const Project& project : kProjects) {
    const auto folder = test_support::SharedPath(project.published);
    if (!folder || !std::filesystem::exists(*folder)) GTEST_SKIP() << "no published CRDs: set KGEN_SHARED_DIR";
    const auto ours = ReadCrds(CrdsOf(project));
    auto theirs = Published(project, *folder);
    EXPECT_EQ(theirs.size(), project.kinds) << project.name;
    EXPECT_EQ(ours.size(), project.kinds) << project.name;
    for (auto& [name, published] : theirs) {
      ASSERT_TRUE(ours.contains(name)) << project.name << " " << name;
      const Leaves& made = ours.at(name);
      if (name == "podvolumebackups.velero.io") DropColumn(published, kColumnOfNothing);
      Leaves both = published;
      both.insert(made.begin(), made.end());
      for (const auto& [path, ignored] : both) {
        if (IsProse(path)) continue;
        ++leaves;
        const std::string mine = At(made, path), other = At(published, path);
        if (mine == other) continue;
        const Difference* row = Documented(path, mine, other);
        if (row != nullptr) ++seen[row->what];
        EXPECT_NE(row, nullptr) << name << path << ": kgen-crd has " << mine << ", published is " << other;
      }
    }
  }
  EXPECT_GT(leaves, 4000u);
  for (const Difference& row : kDifferences) EXPECT_GT(seen[row.what], 0) << "no longer a difference: " << row.what;
}

}  // namespace
}  // namespace kgen::integration
