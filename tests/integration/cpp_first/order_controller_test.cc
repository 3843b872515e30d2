// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The program of examples/cpp_first on a real kube-apiserver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/programs/program.h"

namespace kgen::integration {
namespace {

using ::testing::HasSubstr;

TEST(OrderController, InstallsItsCrdAndKeepsThePackingListOfEachOrder) {
  if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
  test_support::Program program(KGEN_PROGRAMS_DIR "/order_controller", {},
                                {"KUBECONFIG=" + RealApiServer::Kubeconfig()});
  ASSERT_TRUE(Eventually([] {
    return RealApiServer::Kubectl("wait --for=condition=Established crd/orders.shop.example.com").contains("met");
  }));
  const std::string file = ::testing::TempDir() + "order_" + std::to_string(::getpid()) + ".json";
  const auto create = [&](const std::string& name, const std::string& lines) {
    std::ofstream(file) << R"({"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":")" << name
                        << R"("},"spec":{"lines":[)" << lines << "]}}";
    return RealApiServer::Kubectl("create -f " + file);
  };
  EXPECT_THAT(create("first", R"({"item":"teapot"},{"item":"cup","quantity":4})"), HasSubstr("created"));
  EXPECT_THAT(create("second", R"({"item":"teapot","quantity":0})"), HasSubstr("greater than or equal to 1"));
  const auto get = [](const std::string& what) { return RealApiServer::Kubectl("get " + what); };
  EXPECT_TRUE(Eventually([&] { return get("order first -o jsonpath={.status.articles}") == "5"; }));
  EXPECT_EQ(get("configmap first-packing-list -o jsonpath={.data}"),
            R"({"cup":"4","priority":"as usual","teapot":"1"})");
  EXPECT_THAT(get("orders"), HasSubstr("ARTICLES"));

  RealApiServer::Kubectl("delete configmap first-packing-list");
  EXPECT_TRUE(Eventually([&] { return get("configmap first-packing-list -o jsonpath={.data.cup}") == "4"; }));
  std::filesystem::remove(file);
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0) << program.errors();
}

}  // namespace
}  // namespace kgen::integration
