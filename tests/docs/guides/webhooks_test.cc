// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <site/clientset.h>
#include <site/web/v1/types.h>

#include <string>
#include <string_view>

#include "kgen/client/crd.h"
#include "kgen/controller/webhook.h"
#include "tests/docs/guides/guide.h"

using site::web::v1::Website;
using site::web::v1::WebsiteSpec;

namespace guides {
namespace {

// begin webhooks
void AddWebsiteWebhooks(const kgen::Manager& manager) {
  manager.Webhook<Website>()
      .Default([](Website& site, const kgen::Admission& request) -> kgen::Result<void> {
        // A server may call it twice for one request, so look before you write.
        if (!site.metadata.annotations.contains("web.example.com/made-by")) {
          site.metadata.annotations["web.example.com/made-by"] = request.user().username;
        }
        return {};
      })
      .ValidateUpdate([](const Website& before, const Website& now,
                         const kgen::Admission& request) -> kgen::Result<kgen::FieldErrors> {
        kgen::FieldErrors errors;
        if (now.spec->html.size() == 0) errors.Required("spec.html", "a site cannot become empty");
        if (*now.spec->replicas == 0 && *before.spec->replicas > 0) request.Warn("nobody serves the site now");
        return errors;
      });
}
// end webhooks

// begin test
class WebhooksGuide : public Guide {
 protected:
  // What `kgen-crd --webhooks` writes, but shorter.
  static std::string Configuration(std::string_view kind, std::string_view path) {
    return R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": ")" + std::string(kind) +
           R"(", "metadata": {"name": "website"}, "webhooks": [{"name": "websites.web.example.com",
           "admissionReviewVersions": ["v1"], "sideEffects": "None",
           "clientConfig": {"service": {"namespace": "websites", "name": "webhooks", "path": ")" +
           std::string(path) + R"("}},
           "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["web.example.com"],
                      "apiVersions": ["v1"], "resources": ["websites"]}]}]})";
  }
  void SetUp() override {
    AddWebsiteWebhooks(manager_);
    kgen::Must(kgen::crd::Install(cluster_.Connection(), site::Manifests()));
    kgen::Must(cluster_.Add(Configuration("MutatingWebhookConfiguration", "/mutate-web-example-com-v1-website")));
    kgen::Must(cluster_.Add(Configuration("ValidatingWebhookConfiguration", "/validate-web-example-com-v1-website")));
    cluster_.ServeWebhooks(manager_);  // the manager need not run
  }
};

TEST_F(WebhooksGuide, ASiteHasItsMakerAndCannotBecomeEmpty) {
  const site::Clientset clients(cluster_.Connection());
  const auto sites = clients.WebV1().Websites("default");
  Website home = kgen::Must(sites.Create({.metadata = {.name = "home"}, .spec = WebsiteSpec{.html = "Hello"}}));
  EXPECT_EQ(home.metadata.annotations["web.example.com/made-by"], "tester");

  home.spec->html = "";
  const auto refused = sites.Update(home);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), ::testing::HasSubstr("a site cannot become empty"));
}
// end test

}  // namespace
}  // namespace guides
