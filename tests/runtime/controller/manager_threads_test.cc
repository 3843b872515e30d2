// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A manager with an endpoint, over the network, on threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

#include "kgen/client/config.h"
#include "kgen/controller/manager.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using k8s::core::v1::ConfigMap;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Fetch(const std::string& address, const std::string& target) {
  const std::size_t colon = address.rfind(':');
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(std::chrono::seconds(60));
  stream.connect(address.substr(0, colon), address.substr(colon + 1));
  stream << "GET " << target << " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  stream.flush();
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Contract: controller 9.
TEST(ManagerThreadsTest, ServesItsEndpointWhileItsCachesSync) {
  testing::Cluster cluster({.simulated = false});
  const std::string kubeconfig = ::testing::TempDir() + "/manager_threads_kubeconfig";
  std::ofstream(kubeconfig) << Must(cluster.Serve());
  rest::Config config = Must(rest::LoadConfig({.kubeconfig = kubeconfig}));
  std::remove(kubeconfig.c_str());
  config.observer = NullObserver();
  cluster.Inject({.resource = "configmaps", .times = 0, .stall = true});
  const Manager manager = Must(Manager::New(config, {.endpoint = {.address = "127.0.0.1:0"}}));
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  EXPECT_THAT(Fetch(manager.endpoint_address(), "/healthz"), StartsWith("HTTP/1.1 200 "));
  const std::string ready = Fetch(manager.endpoint_address(), "/readyz");
  EXPECT_THAT(ready, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(ready, HasSubstr("[-]caches failed"));
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

}  // namespace
}  // namespace kgen
