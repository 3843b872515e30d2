// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The programs of docs/start, run as the pages say, and the files with which the second one is deployed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <site/clientset.h>
#include <site/web/v1/types.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/crd.h"
#include "kgen/controller/wait.h"
#include "tests/programs/program.h"
#include "tests/support/paths.h"
#include "tests/support/signal.h"

namespace kgen {
namespace {

using site::web::v1::Website;
using site::web::v1::WebsiteSpec;
using test_support::Program;
using ::testing::HasSubstr;

std::string FileAt(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Deployed(const std::string& name) {
  return FileAt(test_support::SourcePath("docs/start/programs/website/deploy/" + name));
}

// A folder with the kubeconfig of a local_cluster.
class StartTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "start_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = std::filesystem::absolute(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Kubeconfig() const { return folder_ / "kubeconfig"; }
  static void End(Program& program) {
    program.Signal(SIGINT);
    EXPECT_EQ(program.Wait(), 0) << program.errors();
  }

  std::filesystem::path folder_;
};

TEST_F(StartTest, TheWatcherPrintsWhatHappensToPods) {
  Program cluster(KGEN_LOCAL_CLUSTER, {Kubeconfig(), "--pods"}, {});
  ASSERT_TRUE(cluster.Prints("export KUBECONFIG=" + Kubeconfig()));
  Program watcher(KGEN_WATCHER, {}, {"KUBECONFIG=" + Kubeconfig()});
  EXPECT_TRUE(watcher.Prints("+ default/web-2 Pending")) << watcher.output() << watcher.errors();
  EXPECT_TRUE(watcher.Prints("~ default/web-2 Running"));
  EXPECT_THAT(watcher.output(), HasSubstr(" pods; watching\n"));
  End(watcher);
  End(cluster);
}

TEST_F(StartTest, TheWatcherSaysWhyThereIsNoCluster) {
  Program watcher(KGEN_WATCHER, {}, {"KUBECONFIG=" + (folder_ / "nowhere").string()});
  EXPECT_EQ(watcher.Wait(), 1);
  EXPECT_THAT(watcher.errors(), HasSubstr("nowhere"));
}

TEST_F(StartTest, TheControllerInstallsItsCrdAndMakesTheObjectsOfASite) {
  Program cluster(KGEN_LOCAL_CLUSTER, {Kubeconfig()}, {});
  ASSERT_TRUE(cluster.Prints("export KUBECONFIG=" + Kubeconfig()));
  Program controller(KGEN_WEBSITE_CONTROLLER, {"--install", "--address=127.0.0.1:0"}, {"KUBECONFIG=" + Kubeconfig()});
  const auto connection = Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = Kubeconfig()}))));
  Must(crd::Install(connection, site::Manifests()));  // whoever comes first
  Must(site::Clientset(connection)
           .WebV1()
           .Websites("default")
           .Create({.metadata = {.name = "home"}, .spec = WebsiteSpec{.html = "<h1>Hello</h1>", .replicas = 2}}));

  const Caches caches(connection, {});
  caches.Start({});
  const auto site = WaitFor<Website>(
      Must(caches.Of<Website>()), {"default", "home"},
      [](const Ref<const Website>& each) { return each && each->status->conditions.size() == 1; }, {},
      test_support::kPatience);
  ASSERT_TRUE(site) << site.error() << controller.errors();
  EXPECT_EQ((*site)->status->conditions[0].message, "0 pods serve the page.");
  End(controller);
  End(cluster);
}

std::string OutputOf(const std::string& program, const std::vector<std::string>& arguments) {
  Program process(program, arguments, {"KUBECONFIG=/nowhere"});  // no cluster is asked
  EXPECT_EQ(process.Wait(), 0) << process.errors();
  return process.output();
}

TEST(StartDeployTest, TheRoleIsWhatTheProgramPrints) {
  EXPECT_EQ(Deployed("role.yaml"), OutputOf(KGEN_WEBSITE_CONTROLLER, {"--print-role"}));
}

TEST(StartDeployTest, TheRoleOfTheWritesIsWhatTheMarkersSay) {
  const std::string folder = test_support::SourcePath("docs/start/programs/website");
  EXPECT_EQ(Deployed("role_writes.yaml"),
            OutputOf(KGEN_CRD_EXECUTABLE, {"--rbac", "website-controller-writes", "--flags", KGEN_WEBSITE_FLAGS,
                                           "--source", folder + "/controller.cc", folder + "/api/website_v1.h"}));
}

TEST(StartDeployTest, TheCrdIsWhatTheHeaderSays) { EXPECT_EQ(Deployed("crd.yaml"), FileAt(KGEN_WEBSITE_CRD)); }

}  // namespace
}  // namespace kgen
