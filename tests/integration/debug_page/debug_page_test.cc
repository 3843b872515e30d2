// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// /debug of a busy manager, in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <cstdio>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kgen/controller/manager.h"
#include "kgen/controller/terminal_error.h"
#include "kgen/testing/cluster.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using k8s::apps::v1::Deployment;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Secret;

// What it prints, and the code it exits with.
std::pair<std::string, int> RunCommand(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"popen failed", -1};
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  return {output, pclose(pipe)};
}

void AddControllers(const Manager& manager) {
  Must(manager.Control<ConfigMap>("settings").Owns<Secret>().Reconcile([](Request& request) -> Result<Requeue> {
    if (request.key().name.view().ends_with('3')) return Fail(Code::kConflict, "the object changed");
    if (request.key().name.view().ends_with('5')) return Requeue::After(200ms);
    return Requeue::Done();
  }));
  Must(manager.Control<Deployment>("a-controller-with-a-name-that-is-rather-long")
           .Reconcile([](Request&) -> Result<Requeue> {
             return Fail(TerminalError(Error(Code::kInvalid, "<script>window.injected = true</script>")));
           }));
  Must(manager.Control<ConfigMap>("<svg/onload=window.injected=true>").Reconcile([](Request&) -> Result<void> {
    return {};
  }));
}

// Its screenshots are in a folder below the working directory.
TEST(DebugPageTest, FitsPhonesAndScreensInLightAndDarkAndUpdatesItself) {
  const auto [chromium, missing] = RunCommand("command -v chromium");
  if (missing != 0) GTEST_SKIP() << "no Chromium: apt-get install chromium, or ./dev setup";
  testing::Cluster cluster({.simulated = false, .observer = NullObserver()});
  for (int i = 0; i < 30; ++i) {
    const std::string name = "settings-of-a-shop-" + std::to_string(i);
    Must(cluster.Add(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}, .data = {{"key", "a value"}}}));
  }
  Must(cluster.Add(testing::MinimalObject("apps/v1", "Deployment", "default", "web")));
  cluster.Inject({.resource = "secrets", .times = 1, .status = 503});
  const Manager manager =
      Must(Manager::New(cluster.Connection(), {.leader_election = {.name = "shop", .namespace_ = "default"},
                                               .endpoint = {.address = "127.0.0.1:0"}}));
  AddControllers(manager);
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  const std::filesystem::path folder = std::filesystem::absolute("debug_page_screenshots");
  std::filesystem::create_directories(folder);
  const auto [output, failed] = RunCommand(
      "python3 " + test_support::SourcePath("tests/integration/debug_page/browser.py") + " " +
      chromium.substr(0, chromium.find('\n')) + " http://" + manager.endpoint_address() + "/debug " + folder.string());
  EXPECT_EQ(failed, 0) << output;
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

}  // namespace
}  // namespace kgen
