// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The programs of examples/, run as their users run them: as separate processes, with a kubeconfig, against the network
// endpoint of the in-memory cluster. In builds with GCC, each runs a second time with its own source under ASan,
// because GCC 12 destroys the temporaries of a range-for too early, and nothing in these programs may dangle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kgen/testing/cluster.h"
#include "tests/programs/program.h"

namespace kgen::testing {
namespace {

using test_support::Program;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Pod(const std::string& namespace_, const std::string& name, const std::string& rest) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":")" + namespace_ + R"(","name":")" + name +
         R"(","labels":{"app":"web"}},)" + rest + "}";
}

std::string Running(const std::string& node, const std::string& image) {
  return R"("spec":{"nodeName":")" + node + R"(","containers":[{"name":"main","image":")" + image +
         R"("},{"name":"side","image":"envoy:1"}]},"status":{"phase":"Running"})";
}

// The parameter is the suffix of the programs' names: "" or "_asan".
class ProgramsTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    char folder[] = "programs_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = std::filesystem::absolute(folder);
    const auto kubeconfig = cluster_.Serve();
    ASSERT_TRUE(kubeconfig) << kubeconfig.error();
    std::ofstream(Kubeconfig()) << *kubeconfig;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Kubeconfig() const { return folder_ / "kubeconfig"; }
  static std::string File(const std::string& name) { return std::string(KGEN_PROGRAMS_DIR) + "/" + name + GetParam(); }
  std::vector<std::string> Environment() const {
    std::vector<std::string> environment = {"KUBECONFIG=" + Kubeconfig()};
    // The libraries are built without ASan, so its checks of containers that both sides change would be wrong.
    if (*GetParam() != '\0')
      environment.push_back("ASAN_OPTIONS=detect_stack_use_after_return=1:detect_container_overflow=0");
    return environment;
  }
  // Runs it to its end. What it printed, if it ended with `code` and without a word of complaint.
  std::string Run(const std::string& name, const std::vector<std::string>& arguments = {}) {
    Program program(File(name), arguments, Environment());
    EXPECT_EQ(program.Wait(), 0);
    EXPECT_EQ(program.errors(), "");
    return program.output();
  }

  Cluster cluster_{ClusterOptions{.simulated = false}};
  std::filesystem::path folder_;
};

TEST_P(ProgramsTest, ListsThePodsOfANamespaceAndOfALabel) {
  ASSERT_TRUE(cluster_.Add(Pod("default", "web-0", Running("n1", "nginx:1"))));
  ASSERT_TRUE(cluster_.Add(MinimalPod("default", "bare")));
  ASSERT_TRUE(cluster_.Add(MinimalPod("elsewhere", "far")));

  EXPECT_EQ(Run("list_pods"), "bare\t-\tPending\nweb-0\tn1\tRunning\n");
  EXPECT_EQ(Run("list_pods", {"default", "app=web"}), "web-0\tn1\tRunning\n");
  EXPECT_EQ(Run("list_pods", {"elsewhere"}), "far\t-\tPending\n");
}

TEST_P(ProgramsTest, ListsMorePodsThanOnePageHolds) {
  std::string expected;
  for (int i = 1000; i < 2001; ++i) {  // four digits each: names sort like numbers
    const std::string name = "pod-" + std::to_string(i);
    ASSERT_TRUE(cluster_.Add(MinimalPod("default", name)));
    expected += name + "\t-\tPending\n";
  }
  EXPECT_EQ(Run("list_pods"), expected);
}

TEST_P(ProgramsTest, ReportsWhyAListFailed) {
  cluster_.Inject({.verb = "list", .resource = "pods", .status = 403, .reason = "Forbidden"});
  Program forbidden(File("list_pods"), {}, Environment());
  EXPECT_EQ(forbidden.Wait(), 2);
  EXPECT_THAT(forbidden.errors(), HasSubstr("Forbidden, 403"));

  Program lost(File("list_pods"), {}, {"KUBECONFIG=" + (folder_ / "nowhere").string()});
  EXPECT_EQ(lost.Wait(), 1);
  EXPECT_THAT(lost.errors(), HasSubstr("nowhere"));
  EXPECT_EQ(forbidden.output() + lost.output(), "");
}

TEST_P(ProgramsTest, WatchesPodsUntilItIsStopped) {
  ASSERT_TRUE(cluster_.Add(Pod("default", "web-0", Running("n1", "nginx:1"))));
  ASSERT_TRUE(cluster_.Add(MinimalPod("kube-system", "dns")));
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    Program program(File("watch_pods"), {}, Environment());
    ASSERT_TRUE(program.Prints("1 pods in kube-system"));
    EXPECT_THAT(program.output(), HasSubstr("new   default/web-0 (initial)\n"));
    EXPECT_THAT(program.output(), HasSubstr("new   kube-system/dns (initial)\n"));
    ASSERT_TRUE(program.Prints("web-0 runs on n1"));

    ASSERT_TRUE(cluster_.Add(MinimalPod("default", "late")));
    ASSERT_TRUE(program.Prints("new   default/late (watch)"));
    ASSERT_TRUE(cluster_.Update(Pod("default", "late", Running("n2", "nginx:1"))));
    ASSERT_TRUE(program.Prints("phase default/late: Pending -> Running"));
    cluster_.CutWatches();
    ASSERT_TRUE(cluster_.Delete("pods", "default", "late"));
    ASSERT_TRUE(program.Prints("gone  default/late"));

    program.Signal(signal);
    EXPECT_EQ(program.Wait(), 0);
  }
}

TEST_P(ProgramsTest, CreatesUpdatesFindsAndDeletesACustomObject) {
  // One conflict with another writer: the program repeats read and write.
  cluster_.Inject({.verb = "update", .resource = "orders", .status = 409, .reason = "Conflict"});
  EXPECT_EQ(Run("custom_resource"), "first: 3 x kettle\n");

  std::vector<std::string> writes;
  for (const Action& write : cluster_.Writes()) writes.push_back(write.str());
  EXPECT_THAT(writes,
              ElementsAre("create customresourcedefinitions orders.shop.example.com", "create orders default/first",
                          "update orders default/first", "patch orders default/first", "delete orders default/first"));
}

TEST_P(ProgramsTest, AnswersFromItsIndexes) {
  ASSERT_TRUE(cluster_.Add(Pod("default", "web-0", Running("n1", "nginx:1"))));
  ASSERT_TRUE(cluster_.Add(Pod("default", "web-1", Running("n2", "nginx:2"))));
  EXPECT_EQ(Run("indexes"),
            "node n1: web-0\nnode n2: web-1\n"
            "image envoy:1: web-0 web-1\nimage nginx:1: web-0\nimage nginx:2: web-1\n");
}

INSTANTIATE_TEST_SUITE_P(AsBuilt, ProgramsTest, ::testing::Values(""));
#ifdef KGEN_PROGRAMS_UNDER_ASAN
INSTANTIATE_TEST_SUITE_P(UnderAsan, ProgramsTest, ::testing::Values("_asan"));
#endif

}  // namespace
}  // namespace kgen::testing
