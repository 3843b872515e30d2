// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The network endpoint of the in-memory cluster with clients in other languages: Python's kubernetes package over
// HTTP/1.1, and a manager of Go's controller-runtime over HTTP/2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "kgen/testing/cluster.h"
#include "tests/support/paths.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;

// What it prints, both streams, and the code it exits with; it is stopped after a minute.
struct Ran {
  std::string output;
  int code = -1;
};

Ran RunCommand(const std::string& command) {
  FILE* pipe = popen(("timeout 60 " + command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell for " + command);
  Ran ran;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.output.append(buffer, n);
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

class ClientsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "clients_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = std::filesystem::absolute(folder);
    std::ofstream(Kubeconfig()) << Must(cluster_.Serve());
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string Kubeconfig() const { return (folder_ / "kubeconfig").string(); }

  Cluster cluster_{ClusterOptions{.simulated = false}};
  std::filesystem::path folder_;
};

TEST_F(ClientsTest, PythonListsCreatesWatchesAndGetsErrors) {
  // Debian's own interpreter: its package is not seen by another one in the PATH.
  if (RunCommand("/usr/bin/python3 -c 'import kubernetes'").code != 0) {
    GTEST_SKIP() << "no Python with the package kubernetes: apt-get install python3-kubernetes";
  }
  const Ran ran = RunCommand(
      "/usr/bin/python3 " + test_support::SourcePath("tests/integration/memory/python_client.py") + " " + Kubeconfig());
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output,
            "namespaces: default kube-node-lease kube-public kube-system\n"
            "version: v1.36.1+kgen\n"
            "created: from-python {'key': 'value'}\n"
            "event: ADDED from-python {'key': 'value'}\n"
            "event: MODIFIED from-python 70000\n"
            "event: MODIFIED from-python 7\n"
            "listed: from-python\n"
            "refused: 404 Not Found\n");
  EXPECT_THAT(Must(cluster_.Get("configmaps", "default", "from-python")), HasSubstr("changed"));
}

TEST_F(ClientsTest, AManagerOfControllerRuntimeReconcilesAConfigMap) {
  const char* program = std::getenv("KGEN_TEST_CONTROLLER");
  if (program == nullptr) GTEST_SKIP() << "no controller: ./dev integration builds one";
  Must(cluster_.Add(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"wanted","labels":{"app":"controller"}}})"));
  const Ran ran = RunCommand(std::string(program) + " " + Kubeconfig());
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output, "synced\nreconciled shop/wanted\n");
  const auto stored = nlohmann::json::parse(Must(cluster_.Get("configmaps", "shop", "wanted")));
  EXPECT_EQ(stored["data"]["reconciled"], "yes");
}

}  // namespace
}  // namespace kgen::testing
