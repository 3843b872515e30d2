// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The in-memory cluster in real time calls webhooks over TLS, as a server calls a Service or a URL.
#include <atomic>

#include "core/memory/mutex.h"
#include "testing/http2_server.h"
#include "tests/runtime/testing/webhook_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// /mutate adds a label, /validate denies bad objects, /convert changes the version.
class ShopWebhooks final : public HttpHandler {
 public:
  void OnRequest(ServerRequest request, Shared<ResponseWriter> writer) override {
    const json review = json::parse(request.body);
    const json& asked = review["request"];
    json response;
    if (request.path.starts_with("/mutate")) {
      response = PatchWith(
          json::array({{{"op", "add"}, {"path", "/metadata/labels"}, {"value", {{"mutated", asked["name"]}}}}}));
    } else if (request.path.starts_with("/validate")) {
      const bool bad = asked["object"]["metadata"]["name"] == "bad";
      response = bad ? Deny({{"message", "no bad orders"}}) : Allow();
    } else {
      response = {{"result", {{"status", "Success"}}}, {"convertedObjects", json::array()}};
      for (json object : asked["objects"]) {
        object["apiVersion"] = asked["desiredAPIVersion"];
        response["convertedObjects"].push_back(object);
      }
    }
    response["uid"] = asked["uid"];
    {
      const MutexLock lock(mutex_);
      paths_.push_back(request.path);
    }
    writer->Head(200, {{"content-type", "application/json"}});
    writer->Write(json{{"apiVersion", review["apiVersion"]}, {"kind", review["kind"]}, {"response", response}}.dump());
    writer->End();
  }
  std::vector<std::string> paths() {
    const MutexLock lock(mutex_);
    return paths_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> paths_ KGEN_GUARDED_BY(mutex_);
};

class WebhooksOverTlsTest : public WebhookTest {
 protected:
  WebhooksOverTlsTest() : WebhookTest({.seed = 1, .simulated = false}, "") {
    cluster_.RouteWebhooks("shop/hooks", "127.0.0.1:" + std::to_string(server_->port()));
  }
  ~WebhooksOverTlsTest() override { server_->Stop(); }

  json WithCa(json config) const {
    config["caBundle"] = std::string(Bytes::Of(server_->ca_pem()).base64());
    return config;
  }
  json Hook(const std::string& path) const {
    json hook = HookOf("order.shop.example", path);
    hook["clientConfig"] = WithCa(hook["clientConfig"]);
    return hook;
  }

  const Shared<ShopWebhooks> webhooks_ = MakeShared<ShopWebhooks>();
  const Shared<Http2Server> server_ = Must(Http2Server::Start(
      {.certificate = CertificateOptions{.names = {"hooks.shop.svc", "127.0.0.1"}}, .http1 = true}, webhooks_));
};

TEST_F(WebhooksOverTlsTest, AMutatingWebhookOfAService) {
  Must(cluster_.Add(std::string_view(Crd().dump())));
  Configure(kMutating, "m", json::array({Hook("/mutate")}));
  EXPECT_EQ(Post(kOrders, Order("one"))["metadata"]["labels"], json({{"mutated", "one"}})) << last_error_;
  EXPECT_THAT(webhooks_->paths(), ElementsAre("/mutate?timeout=10s"));
}

TEST_F(WebhooksOverTlsTest, AValidatingWebhookOfAUrl) {
  Must(cluster_.Add(std::string_view(Crd().dump())));
  json hook = Hook("/unused");
  hook["clientConfig"] = WithCa({{"url", server_->url() + "/validate"}});
  Configure(kValidating, "v", json::array({hook}));
  Post(kOrders, Order("bad"));
  EXPECT_THAT(last_error_, HasSubstr("admission webhook \"order.shop.example\" denied the request: no bad orders"));
  Post(kOrders, Order("good"));
  EXPECT_EQ(last_status_, 201) << last_error_;
}

TEST_F(WebhooksOverTlsTest, AConversionWebhook) {
  const json config = WithCa(Hook("/convert")["clientConfig"]);
  const json webhook = {{"conversionReviewVersions", {"v1"}}, {"clientConfig", config}};
  Must(cluster_.Add(std::string_view(Crd("v2", {{"strategy", "Webhook"}, {"webhook", webhook}}).dump())));
  EXPECT_EQ(Post(kOrders, Order("one"))["apiVersion"], "shop.example/v1") << last_error_;
  EXPECT_EQ(Stored("one")["apiVersion"], "shop.example/v2");
}

TEST_F(WebhooksOverTlsTest, ACertificateThatTheCaBundleDoesNotTrustIsAFailedCall) {
  Must(cluster_.Add(std::string_view(Crd().dump())));
  json hook = Hook("/mutate");
  const auto other = Must(CertificateAuthority::Make("another authority"));
  hook["clientConfig"]["caBundle"] = std::string(Bytes::Of(other->certificate_pem()).base64());
  Configure(kMutating, "m", json::array({hook}));
  Post(kOrders, Order("one"));
  EXPECT_THAT(last_error_, HasSubstr("failed calling webhook \"order.shop.example\": failed to call webhook: Post"));
  EXPECT_THAT(webhooks_->paths(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kgen::testing
