// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The network endpoint of the in-memory cluster with clients in other languages: Python's kubernetes package over
// HTTP/1.1, and a manager of Go's controller-runtime over HTTP/2. Also the metrics of the endpoint with Prometheus'
// parser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "kgen/controller/endpoint.h"
#include "kgen/controller/queue_metrics.h"
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

// Contract: controller 209.
TEST(MetricsClientsTest, PrometheusReadsTheMetricsOfTheEndpoint) {
  const char* program = std::getenv("KGEN_TEST_CONTROLLER");
  if (program == nullptr) GTEST_SKIP() << "no controller: ./dev integration builds one";
  Metrics metrics;
  auto reconciles = Must(metrics.AddCounter("controller_runtime_reconcile_total", "With \\ and \n in the help",
                                            {{"controller", "a\"b\\c\nd \xC3\xA4"}, {"result", "success"}}));
  reconciles.Add(1'000'000);
  auto time = Must(metrics.AddHistogram("controller_runtime_reconcile_time_seconds", "", ReconcileTimeBounds()));
  time.Observe(1e-9);
  Must(metrics.AddGauge("not_a_number", "")).Set(std::nan(""));
  metrics.AddCollector([] { return FamiliesOf(WorkQueueMetrics{.name = "orders", .depth = {{0, 1}, {-100, 2}}}); });
  auto endpoint = Must(Endpoint::Listen({.address = "127.0.0.1:0", .metrics = metrics}));
  Must(endpoint.Start());
  const Ran ran = RunCommand(std::string(program) + " metrics http://" + endpoint.address() + "/metrics");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output,
            "controller_runtime_reconcile_time_seconds histogram 1\n"
            "controller_runtime_reconcile_total counter 1\n"
            "not_a_number gauge 1\n"
            "workqueue_adds_total counter 1\n"
            "workqueue_depth gauge 2\n"
            "workqueue_longest_running_processor_seconds gauge 1\n"
            "workqueue_queue_duration_seconds histogram 1\n"
            "workqueue_retries_total counter 1\n"
            "workqueue_unfinished_work_seconds gauge 1\n"
            "workqueue_work_duration_seconds histogram 1\n");
}

}  // namespace
}  // namespace kgen::testing
