// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A program's own transport, which wraps the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/testing/cluster.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_executor.h"

namespace kgen::testing {
namespace {

// What a program writes to count its requests.
class CountingTransport final : public Transport {
 public:
  explicit CountingTransport(Shared<Transport> inner) : inner_(std::move(inner)) {}
  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    ++requests_;
    return inner_->Start(std::move(request), std::move(sink));
  }
  void Close() noexcept override { inner_->Close(); }
  int requests() const noexcept { return requests_; }

 private:
  const Shared<Transport> inner_;
  std::atomic<int> requests_ = 0;
};

rest::Config ConfigOf(const std::string& kubeconfig) {
  const std::string path = ::testing::TempDir() + "/own_transport_kubeconfig";
  std::ofstream(path) << kubeconfig;
  return Must(rest::LoadConfig({.kubeconfig = path}));
}

// Contract: controller 162.
TEST(OwnTransport, SeesEveryRequestToARealEndpoint) {
  Cluster cluster({.simulated = false});
  ASSERT_TRUE(cluster.Add(MinimalPod("default", "web-0")));
  const rest::Config config = ConfigOf(Must(cluster.Serve()));
  const auto counting = MakeShared<CountingTransport>(Must(MakeHttpTransport(config)));
  const Connection connection = Must(Connection::Over(config, counting));
  EXPECT_TRUE(connection.Call({.path = "/api/v1/namespaces/default/pods/web-0", .what = "get pods default/web-0"}));
  EXPECT_EQ(connection.Call({.path = "/api/v1/namespaces/default/pods/x", .what = "get"}).error().code(),
            Code::kNotFound);
  EXPECT_EQ(counting->requests(), 2);
}

TEST(OwnTransport, SendsWithTheAuthenticationAndThePrefixOfTheConfig) {
  const auto executor = MakeShared<ManualExecutor>();
  const auto fake = MakeShared<FakeTransport>();
  fake->Reply({.body = "{}"});
  const rest::Config config{
      .host = "https://test/prefix", .bearer_token = "secret", .user_agent = "me", .executor = executor};
  const Connection connection = Must(Connection::Over(config, fake));
  EXPECT_TRUE(connection.Call({.path = "/version"}));
  EXPECT_EQ(fake->request(0).path, "/prefix/version");
  std::string authorization, agent;
  for (const HttpHeader& header : fake->request(0).headers) {
    if (header.name == "authorization") authorization = header.value;
    if (header.name == "user-agent") agent = header.value;
  }
  EXPECT_EQ(authorization, "Bearer secret");
  EXPECT_EQ(agent, "me");
  executor->Shutdown();
}

// Contract: controller 24.
TEST(OwnTransport, IsAskedInTheNameOfTheProgramUnlessTheConfigNamesAnother) {
  const auto executor = MakeShared<ManualExecutor>();
  const auto fake = MakeShared<FakeTransport>();
  fake->Reply({.body = "{}"});
  const Connection connection =
      Must(Connection::Over(rest::Config{.host = "https://test", .executor = executor}, fake));
  EXPECT_TRUE(connection.Call({.path = "/version"}));
  std::string agent;
  for (const HttpHeader& header : fake->request(0).headers) {
    if (header.name == "user-agent") agent = header.value;
  }
  EXPECT_EQ(agent, std::string(program_invocation_short_name) + "/kgen");
  executor->Shutdown();
}

TEST(OwnTransport, IsNotGivenToOthersWithAnEqualConfig) {
  const rest::Config config{.host = "http://127.0.0.1:1"};
  const Connection own = Must(Connection::Over(config, MakeShared<FakeTransport>()));
  EXPECT_NE(own, Must(Connection::Open(config)));
}

TEST(OwnTransport, IsRefusedForABadHost) {
  EXPECT_EQ(MakeHttpTransport({.host = "ftp://a"}).error().code(), Code::kConfig);
  EXPECT_EQ(Connection::Over(rest::Config{.host = "ftp://a"}, MakeShared<FakeTransport>()).error().code(),
            Code::kConfig);
  EXPECT_EQ(Connection::Over(rest::Config{.host = "http://a"}, nullptr).error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace kgen::testing
