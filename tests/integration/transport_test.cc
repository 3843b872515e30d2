// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The transport alone against a real API server: both kinds of credentials, a large response, a server that is killed.
#include <gtest/gtest.h>

#include <string>

#include "kgen/client/config.h"
#include "tests/integration/real_api_server.h"
#include "tests/support/http2_harness.h"

namespace kgen::integration {
namespace {

using test_support::RecordingSink;

class RealTransport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server; run ./dev integration";
    Use("token");
  }

  void Use(const std::string& context) {
    auto config = rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig(), .context = context});
    ASSERT_TRUE(config.has_value()) << config.error();
    token_ = config->bearer_token;
    auto transport = MakeHttp2Transport({.host = config->host, .tls = config->tls, .proxy_url = config->proxy_url},
                                        DefaultExecutor(), nullptr);
    ASSERT_TRUE(transport.has_value()) << transport.error();
    transport_ = *transport;
  }

  Shared<RecordingSink> Send(const std::string& path, bool watch = false) {
    auto sink = MakeShared<RecordingSink>();
    sink->SetConsumes();
    HttpRequest request{
        .method = "GET", .path = path, .headers = {{"accept", "application/json"}}, .long_lived = watch};
    if (!token_.empty()) request.headers.push_back({"authorization", "Bearer " + token_});
    sink->Consume(transport_->Start(std::move(request), sink));
    return sink;
  }

  std::string token_;
  Shared<Transport> transport_;
};

TEST_F(RealTransport, ReadsWithATokenAndWithACertificate) {
  for (const char* context : {"token", "certificate"}) {
    Use(context);
    auto ready = Send("/readyz");
    const auto end = ready->WaitEnd();
    ASSERT_TRUE(end.has_value()) << end.error();
    EXPECT_EQ(ready->status(), 200);
    EXPECT_EQ(ready->body(), "ok");
    auto namespaces = Send("/api/v1/namespaces");
    EXPECT_TRUE(namespaces->WaitEnd().has_value());
    EXPECT_EQ(namespaces->status(), 200);
    EXPECT_NE(namespaces->body().find("\"kube-system\""), std::string::npos);
  }
}

TEST_F(RealTransport, ReadsAResponseOfManyWindows) {
  auto document = Send("/openapi/v2");
  EXPECT_TRUE(document->WaitEnd().has_value());
  EXPECT_GT(document->body().size(), 1024u * 1024u);
  EXPECT_TRUE(document->body().ends_with("}"));
}

TEST_F(RealTransport, EndsAWatchWhenTheServerIsKilledAndConnectsToItsSuccessor) {
  auto watch = Send("/api/v1/namespaces?watch=1", true);
  ASSERT_TRUE(watch->WaitBytes(1));
  RealApiServer::Kill();
  const auto end = watch->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code(), Code::kUnavailable);
  const auto refused = Send("/readyz")->WaitEnd();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().not_connected()) << refused.error();
  RealApiServer::Start();
  auto ready = Send("/readyz");
  EXPECT_TRUE(ready->WaitEnd().has_value());
  EXPECT_EQ(ready->body(), "ok");
}

}  // namespace
}  // namespace kgen::integration
