// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The program of examples/external_api on a real kube-apiserver, beside a price service on the loopback interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

#include "kgen/controller/endpoint.h"
#include "kgen/core/observer.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/programs/program.h"

namespace kgen::integration {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRateController = KGEN_PROGRAMS_DIR "/rate_controller";

std::string CreateRate(const std::string& name, const std::string& spec) {
  const std::string file = ::testing::TempDir() + "rate_" + std::to_string(::getpid()) + ".json";
  std::ofstream(file) << R"({"apiVersion":"rates.example.com/v1","kind":"ExchangeRate","metadata":{"name":")" << name
                      << R"("},"spec":)" << spec << "}";
  std::string answer = RealApiServer::Kubectl("create -f " + file);
  std::filesystem::remove(file);
  return answer;
}

std::string Read(const std::string& path) {
  return RealApiServer::Kubectl("get exchangerate dollar -o 'jsonpath={" + path + "}'");
}

TEST(RateController, InstallsItsCrdAndKeepsThePriceInTheStatus) {
  if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
  if (!std::filesystem::exists(kRateController)) GTEST_SKIP() << "no rate_controller: it is built where libcurl is";
  std::atomic<bool> works = true;
  Endpoint service = Must(Endpoint::Listen({.address = "127.0.0.1:0", .observer = NullObserver()}));
  Must(service.AddPage("/v1/EUR-USD", [&](const std::stop_token&) -> Result<EndpointPage> {
    if (!works) return Error(Code::kUnavailable, "the test wants a failure");
    return EndpointPage{.body = R"({"price":"1.0834","time":"2026-11-24T12:00:00Z"})",
                        .content_type = "application/json"};
  }));
  Must(service.Start());
  test_support::Program program(kRateController, {"http://" + service.address() + "/v1"},
                                {"KUBECONFIG=" + RealApiServer::Kubeconfig()});
  ASSERT_TRUE(Eventually([] {
    return RealApiServer::Kubectl("wait --for=condition=Established crd/exchangerates.rates.example.com")
        .contains("met");
  }));

  EXPECT_THAT(CreateRate("wrong", R"({"pair":"euro"})"), HasSubstr("spec.pair"));
  EXPECT_THAT(CreateRate("wrong", R"({"pair":"EUR-USD","interval":"3 days"})"), HasSubstr("spec.interval"));
  EXPECT_THAT(CreateRate("dollar", R"({"pair":"EUR-USD","interval":"1s"})"), HasSubstr("created"));
  EXPECT_THAT(RealApiServer::Kubectl(R"(patch exchangerate dollar --type=merge -p '{"spec":{"pair":"EUR-JPY"}}')"),
              HasSubstr("immutable"));
  EXPECT_TRUE(Eventually([] { return Read(".status.price") == "1.0834"; })) << program.errors();
  EXPECT_THAT(RealApiServer::Kubectl("get exchangerates"), HasSubstr("True"));

  works = false;
  EXPECT_TRUE(Eventually([] { return Read(".status.conditions[0].reason") == "ServiceFailed"; }));
  EXPECT_THAT(Read(".status.conditions[0].message"), HasSubstr("/v1/EUR-USD: the service answered HTTP 500"));
  EXPECT_EQ(Read(".status.price"), "1.0834");
  works = true;
  EXPECT_TRUE(Eventually([] { return Read(".status.conditions[0].status") == "True"; }));

  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0) << program.errors();
  Must(service.Stop(std::chrono::seconds(5)));
}

}  // namespace
}  // namespace kgen::integration
