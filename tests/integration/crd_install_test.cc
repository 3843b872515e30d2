// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// crd::Install on a real kube-apiserver: what it keeps of others, and that it writes nothing if nothing changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/client/crd.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kName = "parcels.install.example.com";

json Version(const char* name, bool storage) {
  return {
      {"name", name},
      {"served", true},
      {"storage", storage},
      {"schema",
       {{"openAPIV3Schema",
         {{"type", "object"}, {"properties", {{"spec", {{"type", "object"}, {"minProperties", 0}}}}}}}}},
      {"additionalPrinterColumns", {{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}}},
      {"subresources", {{"status", json::object()}}}};
}

json Manifest(std::vector<json> versions) {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", kName}}},
          {"spec",
           {{"group", "install.example.com"},
            {"names", {{"plural", "parcels"}, {"kind", "Parcel"}}},
            {"scope", "Namespaced"},
            {"versions", std::move(versions)}}}};
}

class CrdInstallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
  }
  void TearDown() override {
    if (connection_) RealApiServer::Kubectl(std::string("delete customresourcedefinition ") + kName);
  }
  Result<crd::Installed> Install(const json& manifest) {
    const std::string text = manifest.dump();
    const std::string_view manifests[] = {text};
    auto installed = crd::Install(*connection_, manifests);
    if (!installed) return Fail(installed.error());
    return installed->at(0);
  }
  static json Stored() {
    return json::parse(RealApiServer::Kubectl(std::string("get customresourcedefinition -o json ") + kName));
  }
  static std::string Patch(std::string_view arguments, const json& patch) {
    return RealApiServer::Kubectl("patch customresourcedefinition " + std::string(kName) + " --type=merge " +
                                  std::string(arguments) + " -p '" + patch.dump() + "'");
  }

  std::optional<Connection> connection_;
};

TEST_F(CrdInstallTest, KeepsAConversionWebhookAndWritesNothingIfNothingChanges) {
  const json manifest = Manifest({Version("v1", true), Version("v1alpha1", false)});
  EXPECT_EQ(Must(Install(manifest)).outcome, crd::Installed::Outcome::kCreated);
  const json webhook = {
      {"strategy", "Webhook"},
      {"webhook",
       {{"clientConfig",
         {{"service", {{"name", "hooks"}, {"namespace", "shop"}, {"path", "/convert"}, {"port", 443}}}}},
        {"conversionReviewVersions", {"v1"}}}}};
  Patch("", {{"spec", {{"conversion", webhook}}}, {"metadata", {{"annotations", {{"example.com/by", "another"}}}}}});
  const json before = Stored();
  ASSERT_EQ(before["spec"]["conversion"], webhook);

  EXPECT_EQ(Must(Install(manifest)).str(), std::string("customresourcedefinition ") + kName + " unchanged");
  EXPECT_EQ(Stored()["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);

  json more = manifest;
  more["spec"]["names"]["shortNames"] = {"prc"};
  EXPECT_EQ(Must(Install(more)).changes, std::vector<std::string>{"spec.names.shortNames added"});
  const json after = Stored();
  EXPECT_EQ(after["spec"]["conversion"], webhook);
  EXPECT_EQ(after["metadata"]["annotations"]["example.com/by"], "another");
}

TEST_F(CrdInstallTest, NamesTheWayOutOfAVersionThatIsStillStored) {
  Must(Install(Manifest({Version("v1alpha1", true)})));
  const auto refused = Install(Manifest({Version("v1", true)}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().ToString(), AllOf(HasSubstr("the version v1alpha1"), HasSubstr("storedVersions")));

  Must(Install(Manifest({Version("v1alpha1", false), Version("v1", true)})));
  EXPECT_EQ(Install(Manifest({Version("v1", true)})).error().code(), Code::kInvalid) << "objects are not migrated yet";
  Patch("--subresource=status", {{"status", {{"storedVersions", {"v1"}}}}});
  EXPECT_EQ(Must(Install(Manifest({Version("v1", true)}))).changes,
            std::vector<std::string>{"spec.versions[v1alpha1] removed"});
}

}  // namespace
}  // namespace kgen::integration
