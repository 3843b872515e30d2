// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// `kgen project`: its options, and what it says about files that are wrong. tests/compile/projection_test.cc uses what
// it generates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "generator/commands/command.h"
#include "generator/disk.h"
#include "tests/support/paths.h"

namespace kgen::generator::commands {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

struct Result {
  int code;
  std::string out, err;
};

class ProjectCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kgen-project-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result Run(const std::vector<std::string>& arguments, const std::string& input) {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunKgen(arguments, {in, out, err});
    return {code, out.str(), err.str()};
  }
  Result Project(const std::string& input) {
    return Run({"project", "--out", folder_ / "out", "--namespace", "agent", "--use",
                "k8s=" + test_support::SourcePath("openapi/kubernetes-1.36/api__v1.json"), "-"},
               input);
  }
  // A file with one projection of Pod.
  static std::string OfPod(std::string_view members) {
    return "projections:\n- name: Part\n  apiVersion: v1\n  kind: Pod\n  members: [" + std::string(members) + "]\n";
  }
  std::string Header() const { return generator::ReadFile(folder_ / "out/agent/projections.h").value_or(""); }

  fs::path folder_;
};

TEST_F(ProjectCommandTest, WritesAHeaderAndASourceAndLeavesThemIfNothingChanged) {
  const Result first = Project(OfPod("metadata.labels, spec.nodeName, 'status.podIPs[].ip'"));
  EXPECT_EQ(first.code, kFine) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(Header(), HasSubstr("struct Part {"));
  EXPECT_THAT(Header(), HasSubstr("using kgen::meta::v1::ObjectMeta::labels;"));
  EXPECT_THAT(Header(), Not(HasSubstr("ObjectMeta::annotations")));
  const auto written = fs::last_write_time(folder_ / "out/agent/projections.h");
  EXPECT_EQ(Project(OfPod("metadata.labels, spec.nodeName, 'status.podIPs[].ip'")).code, kFine);
  EXPECT_EQ(fs::last_write_time(folder_ / "out/agent/projections.h"), written);
}

TEST_F(ProjectCommandTest, KeepsTheWholeOfAMemberThatIsNamedBothWholeAndInParts) {
  EXPECT_EQ(Project(OfPod("'spec.containers[].name', spec.containers")).code, kFine);
  EXPECT_THAT(Header(), HasSubstr("kgen::List<Container> containers"));
  EXPECT_THAT(Header(), HasSubstr("using Container = ::k8s::core::v1::Container;"));
  EXPECT_EQ(Project(OfPod("spec.nodeName, spec")).code, kFine);
  EXPECT_THAT(Header(), HasSubstr("using Spec = ::k8s::core::v1::PodSpec;"));
}

TEST_F(ProjectCommandTest, NamesTheLineAndTheMemberThatIsWrong) {
  const auto said = [&](std::string_view members) {
    const Result result = Project(OfPod(members));
    EXPECT_EQ(result.code, kBadInput) << members;
    return result.err;
  };
  EXPECT_THAT(said("spec.nodeNam"), HasSubstr("<stdin>:5:13: error: spec has no member \"nodeNam\""));
  EXPECT_THAT(said("spec.nodeNam"), HasSubstr("did you mean nodeName?"));
  EXPECT_THAT(said("spek.nodeName"), HasSubstr("Pod has no member \"spek\""));
  EXPECT_THAT(said("status.podIPs.ip"), HasSubstr("status.podIPs is a list or a map"));
  EXPECT_THAT(said("status.podIPs.ip"), HasSubstr("write [] behind it"));
  EXPECT_THAT(said("'spec.nodeName[].x'"), HasSubstr("spec.nodeName is neither a list nor a map"));
  EXPECT_THAT(said("spec.nodeName.x"), HasSubstr("spec.nodeName has no members that are known"));
  EXPECT_THAT(said("metadata.label"), HasSubstr("metadata has no member \"label\""));
  EXPECT_THAT(said("'metadata.ownerReferences[].uid'"), HasSubstr("write metadata.ownerReferences"));
  EXPECT_THAT(said("spec..x"), HasSubstr("\"spec..x\" is no path"));
  EXPECT_THAT(said("'spec[0]'"), HasSubstr("is no path"));
  EXPECT_THAT(said(""), HasSubstr("the projection has no members"));
  EXPECT_FALSE(fs::exists(folder_ / "out")) << "nothing is written after an error";
}

TEST_F(ProjectCommandTest, NamesTheKeyTheKindAndTheNameThatAreWrong) {
  EXPECT_THAT(Project("projection: []").err, HasSubstr("unknown key \"projection\""));
  EXPECT_THAT(Project("projections:\n- nam: X\n").err, HasSubstr("did you mean name?"));
  EXPECT_THAT(Project("- a").err, HasSubstr("projections"));
  EXPECT_THAT(Project("a: [").err, HasSubstr("<stdin>:2:1: error"));
  EXPECT_THAT(Project("projections: []").err, HasSubstr("the input has no projections"));
  EXPECT_THAT(Project("projections:\n- {name: A, apiVersion: v2, kind: Pod, members: [spec]}").err,
              HasSubstr("no API of --use has the kind v2 Pod"));
  EXPECT_THAT(Project("projections:\n- {name: a-b, apiVersion: v1, kind: Pod, members: [spec]}").err,
              HasSubstr("\"a-b\" is no name of a C++ type"));
  EXPECT_THAT(Project("projections:\n- {name: A, apiVersion: v1, kind: Pod, members: [spec]}\n"
                      "- {name: A, apiVersion: v1, kind: Node, members: [spec]}")
                  .err,
              HasSubstr("there are two projections with the name \"A\""));
}

TEST_F(ProjectCommandTest, SaysWhichOptionIsMissing) {
  EXPECT_THAT(Run({"project", "x.yaml"}, "").err, HasSubstr("--out DIR is missing"));
  EXPECT_THAT(Run({"project", "--out", "x"}, "").err, HasSubstr("no input"));
  EXPECT_THAT(Run({"project", "--out", "x", "-"}, "").err, HasSubstr("--use NS=PATH is missing"));
  EXPECT_THAT(Run({"project", "--out", "x", "--use", "k8s=y", "-"}, "").err, HasSubstr("--namespace needs"));
  EXPECT_EQ(Run({"project", "--help"}, "").code, kFine);
}

}  // namespace
}  // namespace kgen::generator::commands
