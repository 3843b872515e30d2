// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// examples/sample_controller beside the program that it was modelled on, k8s.io/sample-controller: the same changes to
// Foos and Deployments lead to the same writes, as the audit log of a real kube-apiserver has them. No other controller
// runs, so the test itself changes the status of Deployments, and what a deleted Foo owned stays.
//
// The small controllers of docs/comparison.md go through the same changes, but only their results count, because each
// writes in the way of its library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kgen/core/executor.h"
#include "kgen/core/waiter.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/sample_controller/audit_log.h"
#include "tests/programs/program.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using test_support::Program;
using ::testing::ContainsRegex;
using ::testing::ElementsAreArray;
using ::testing::Not;

// One change, and what shows that the controller has seen it.
struct Step {
  const char* what;
  std::vector<std::string> kubectl;
  std::string get;  // an argument of kubectl get -o jsonpath; "": nothing to see
  std::string expected;
};

// A change that creates a Foo. Its manifest becomes a file in the folder.
std::string Foo(const std::filesystem::path& folder, const std::string& name, const std::string& spec) {
  const std::string file = folder / (name + ".json");
  std::ofstream(file) << R"({"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo", "metadata": )"
                      << R"({"name": ")" << name << R"("}, "spec": {)" << spec << "}}";
  return "create -f " + file;
}

std::vector<Step> Script(const std::filesystem::path& folder) {
  return {
      {"a Foo",
       {Foo(folder, "first", R"("deploymentName": "web", "replicas": 1)")},
       "deployment/web {.spec.replicas}",
       "1"},
      {"more replicas",
       {R"(patch foo first --type=merge -p '{"spec": {"replicas": 3}}')"},
       "deployment/web {.spec.replicas}",
       "3"},
      {"some are available",
       {"patch deployment web --subresource=status --type=merge -p "
        R"('{"status": {"replicas": 3, "readyReplicas": 2, "availableReplicas": 2}}')"},
       "foo/first {.status.availableReplicas}",
       "2"},
      {"somebody scales the Deployment",
       {"scale deployment web --replicas=5"},
       "deployment/web {.metadata.generation}-{.spec.replicas}",
       "4-3"},
      {"the Deployment is deleted", {"delete deployment web"}, "foo/first {.status.availableReplicas}", "0"},
      {"another name",
       {R"(patch foo first --type=merge -p '{"spec": {"deploymentName": "other"}}')"},
       "deployment/other {.spec.replicas}",
       "3"},
      {"a Deployment is in the way",
       {"create deployment taken --image=nginx", Foo(folder, "second", R"("deploymentName": "taken", "replicas": 2)")},
       "",
       ""},
      {"it goes away", {"delete deployment taken"}, "deployment/taken {.spec.replicas}", "2"},
      {"no number of replicas",
       {Foo(folder, "third", R"("deploymentName": "default")")},
       "deployment/default {.spec.replicas}",
       "1"},
      {"no name", {Foo(folder, "fourth", R"("replicas": 1)")}, "", ""},
      {"a Foo is deleted, then its Deployment changes",
       {"delete foo first", "scale deployment other --replicas=7"},
       "deployment/other {.spec.replicas}",
       "7"},
  };
}

// A controller under test.
struct Subject {
  std::string name;  // of the program
  std::filesystem::path folder;
  std::string arguments{};
};

class SampleControllerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!RealApiServer::Present()) return;
    std::string folder = std::filesystem::temp_directory_path() / "sample_controller_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    StartAudit();
    RealApiServer::Kubectl("apply -f " + test_support::SourcePath("examples/sample_controller/crds/foo.yaml"));
    RealApiServer::Kubectl("wait --for=condition=Established crd/foos.samplecontroller.k8s.io");
  }
  static void TearDownTestSuite() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
  }

  static Subject Go(const std::string& name, const std::string& arguments = "") {
    return {name, std::getenv("KGEN_TEST_COMPARISON"), arguments};
  }
  static Subject Cc(const std::string& name) { return {name, KGEN_PROGRAMS_DIR}; }

  // Runs the script with one controller. The namespace stays.
  static Writes Run(const Subject& subject) {
    SCOPED_TRACE(subject.name);
    static int runs = 0;
    const std::string in_namespace = "run-" + std::to_string(++runs);
    RealApiServer::Kubectl("create namespace " + in_namespace);
    // Into a file: a full pipe would stop the program.
    const std::string log = folder_ / (subject.name + ".log");
    const std::string command = "exec " + (subject.folder / subject.name).string() + " " + subject.arguments;
    Program program("/bin/sh", {"-c", command + " >" + log + " 2>&1"}, {});
    for (const Step& step : Script(folder_)) {
      SCOPED_TRACE(step.what);
      for (const std::string& change : step.kubectl) {
        EXPECT_THAT(RealApiServer::Kubectl("-n " + in_namespace + " " + change), Not(ContainsRegex("[Ee]rror")))
            << change;
      }
      if (!Seen(in_namespace, step)) break;
      WaitUntilQuiet(subject.name, in_namespace);
    }
    RealApiServer::Kubectl("-n " + in_namespace + " delete foos --all");  // not the business of the next controller
    program.Signal(SIGTERM);
    EXPECT_EQ(program.Wait(), 0);
    if (::testing::Test::HasFailure()) ADD_FAILURE() << test_support::ReadFile(log);
    return WritesOf(subject.name, in_namespace);
  }

 private:
  static bool Seen(const std::string& in_namespace, const Step& step) {
    if (step.get.empty()) return true;
    const std::size_t space = step.get.find(' ');
    const std::string get = "-n " + in_namespace + " get " + step.get.substr(0, space) + " -o jsonpath='" +
                            step.get.substr(space + 1) + "'";
    std::string seen;
    const bool found = Eventually([&] { return (seen = RealApiServer::Kubectl(get)) == step.expected; });
    EXPECT_TRUE(found) << step.get << ": " << seen << " instead of " << step.expected;
    return found;
  }

  // The writes that follow on a change, until half a second passes without any. They are in the lists however late
  // they come, so a short wait could only make the test fail.
  static void WaitUntilQuiet(const std::string& name, const std::string& in_namespace) {
    const auto waiter = DefaultExecutor()->MakeWaiter("quiet");
    for (std::size_t before = SIZE_MAX, now = 0; before != now;) {
      before = now;
      (void)waiter->Wait({}, DefaultExecutor()->clock()->Now() + std::chrono::milliseconds(500));
      now = WritesOf(name, in_namespace).requests;
    }
  }

  static inline std::filesystem::path folder_;  // of manifests and logs
};

// Contract: controller 260, 263.
TEST_F(SampleControllerTest, WritesWhatTheGoProgramWrites) {
  const Writes expected = Run(Go("sample-controller", "-kubeconfig \"$KUBECONFIG\""));
  EXPECT_GT(expected.objects.size(), 10u);
  for (const char* name : {"sample_controller", "sample_controller_with_manager"}) {
    SCOPED_TRACE(name);
    const Writes written = Run(Cc(name));
    EXPECT_THAT(written.objects, ElementsAreArray(expected.objects));
    EXPECT_THAT(written.events, ElementsAreArray(expected.events));
  }
}

TEST_F(SampleControllerTest, OfTheComparisonDoesTheSameWithEachLibrary) {
  for (const char* name : {"client_go", "controller_runtime"}) Run(Go(name));
  for (const char* name : {"kgen_informers", "kgen_manager"}) Run(Cc(name));
}

}  // namespace
}  // namespace kgen::integration
