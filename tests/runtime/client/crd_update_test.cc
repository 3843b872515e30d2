// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What crd::Install changes in a definition that the server has, and what it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kgen/client/crd.h"
#include "kgen/testing/cluster.h"

namespace kgen::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kName = "orders.shop.dev";

json Version(const char* name, bool storage) {
  return {
      {"name", name}, {"served", true}, {"storage", storage}, {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}};
}

json Manifest(std::vector<json> versions = {Version("v1", true)}) {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", kName}}},
          {"spec",
           {{"group", "shop.dev"},
            {"names", {{"plural", "orders"}, {"kind", "Order"}}},
            {"scope", "Namespaced"},
            {"versions", std::move(versions)}}}};
}

json Webhook(const char* target) {
  json client = {{"caBundle", "QUJD"}};
  if (std::string_view(target) == "url") {
    client["url"] = "https://hooks.example.com/convert";
  } else {
    client["service"] = {{"name", target}, {"namespace", "shop"}, {"port", 443}};
  }
  return {{"strategy", "Webhook"},
          {"webhook", {{"clientConfig", std::move(client)}, {"conversionReviewVersions", {"v1"}}}}};
}

class CrdUpdateTest : public ::testing::Test {
 protected:
  Result<crd::Installed> Install(const json& manifest) {
    const std::string text = manifest.dump();
    const std::string_view manifests[] = {text};
    cluster_.ClearWrites();
    auto installed = crd::Install(cluster_.Connection(), manifests);
    if (!installed) return Fail(installed.error());
    return installed->at(0);
  }
  json Stored() const { return json::parse(*cluster_.Get("customresourcedefinitions", "", kName)); }
  // A write of somebody else.
  template <typename F>
  void Edit(F change) {
    json object = Stored();
    change(object);
    Must(cluster_.Update(object.dump()));
  }
  void InstallAndEditConversion(const json& conversion) {
    Must(Install(Manifest()));
    Edit([&](json& object) { object["spec"]["conversion"] = conversion; });
  }

  Cluster cluster_;
};

TEST_F(CrdUpdateTest, KeepsTheConversionThatTheManifestDoesNotHave) {
  InstallAndEditConversion(Webhook("hooks"));
  json manifest = Manifest();
  manifest["spec"]["names"]["shortNames"] = {"ord"};
  const auto installed = Install(manifest);
  ASSERT_TRUE(installed.has_value()) << installed.error();
  EXPECT_EQ(installed->outcome, crd::Installed::Outcome::kUpdated);
  EXPECT_THAT(installed->changes, ElementsAre("spec.names.shortNames added"));
  EXPECT_EQ(Stored()["spec"]["conversion"], Webhook("hooks"));
  EXPECT_EQ(Stored()["spec"]["names"]["shortNames"], json({"ord"}));
}

TEST_F(CrdUpdateTest, KeepsTheCaBundleThatTheManifestsWebhookDoesNotHave) {
  InstallAndEditConversion(Webhook("hooks"));
  for (const char* empty : {"absent", ""}) {
    json manifest = Manifest();
    json& conversion = manifest["spec"]["conversion"] = Webhook("other");
    json& client = conversion["webhook"]["clientConfig"];
    client["service"].erase("port");
    client.erase("caBundle");
    if (*empty == '\0') client["caBundle"] = "";
    ASSERT_TRUE(Install(manifest).has_value());
    EXPECT_EQ(Stored()["spec"]["conversion"], Webhook("other")) << empty;
  }
}

TEST_F(CrdUpdateTest, TakesAWebhookOfTheManifestInsteadOfTheOldTarget) {
  InstallAndEditConversion(Webhook("url"));
  json manifest = Manifest();
  manifest["spec"]["conversion"] = Webhook("hooks");
  manifest["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "WFla";
  const auto installed = Install(manifest);
  ASSERT_TRUE(installed.has_value()) << installed.error();
  EXPECT_THAT(installed->changes, UnorderedElementsAre("spec.conversion.webhook.clientConfig.caBundle changed",
                                                       "spec.conversion.webhook.clientConfig.service added",
                                                       "spec.conversion.webhook.clientConfig.url removed"));
  EXPECT_EQ(Stored()["spec"]["conversion"], manifest["spec"]["conversion"]);
}

TEST_F(CrdUpdateTest, RemovesTheWebhookIfTheManifestSaysNoConversion) {
  InstallAndEditConversion(Webhook("hooks"));
  json manifest = Manifest();
  manifest["spec"]["conversion"] = {{"strategy", "None"}};
  ASSERT_TRUE(Install(manifest).has_value());
  EXPECT_EQ(Stored()["spec"]["conversion"], json({{"strategy", "None"}}));
}

TEST_F(CrdUpdateTest, KeepsTheMetadataOfOthersAndTheirMembersOfTheSpec) {
  json manifest = Manifest();
  manifest["metadata"]["labels"] = {{"team", "shop"}};
  Must(Install(manifest));
  Edit([](json& object) {
    object["metadata"]["labels"] = {{"team", "theirs"}, {"more", "theirs"}};
    object["metadata"]["annotations"] = {{"cert-manager.io/inject-ca-from", "shop/hooks"}};
    object["metadata"]["finalizers"] = {"example.com/hold"};
    object["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "a"}, {"uid", "u"}}};
    object["spec"]["names"]["listKind"] = "OrderList";
    object["spec"]["preserveUnknownFields"] = false;
  });
  json expected = Stored();
  expected["metadata"]["labels"]["team"] = "shop";
  const auto installed = Install(manifest);
  ASSERT_TRUE(installed.has_value()) << installed.error();
  EXPECT_EQ(installed->str(), "customresourcedefinition orders.shop.dev updated: metadata.labels.team changed");
  json stored = Stored();
  for (json* object : {&expected, &stored}) (*object)["metadata"].erase("resourceVersion");
  EXPECT_EQ(stored, expected);
}

TEST_F(CrdUpdateTest, WritesNothingIfNothingChanges) {
  Must(Install(Manifest()));
  Edit([](json& object) {
    object["spec"]["conversion"] = {{"strategy", "None"}};
    object["spec"]["names"]["singular"] = "order";
  });
  const auto installed = Install(Manifest());
  ASSERT_TRUE(installed.has_value()) << installed.error();
  EXPECT_EQ(installed->str(), "customresourcedefinition orders.shop.dev unchanged");
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
}

TEST_F(CrdUpdateTest, DefinesEachVersionWhole) {
  json old = Version("v1", true);
  old["schema"]["openAPIV3Schema"]["properties"]["spec"] = {{"type", "object"}, {"minProperties", 1}};
  old["subresources"] = {{"status", json::object()}};
  Must(Install(Manifest({Version("v1beta1", false), old})));
  json next = Version("v1", true);
  next["schema"]["openAPIV3Schema"]["properties"]["spec"] = {{"type", "object"}};
  const auto installed = Install(Manifest({next, Version("v2", false)}));
  ASSERT_TRUE(installed.has_value()) << installed.error();
  EXPECT_THAT(installed->changes,
              ElementsAre("spec.versions[v1beta1] removed",
                          "spec.versions[v1].schema.openAPIV3Schema.properties.spec.minProperties removed",
                          "spec.versions[v1].subresources removed", "spec.versions[v2] added"));
  EXPECT_EQ(Stored()["spec"]["versions"], json({next, Version("v2", false)}));
}

TEST_F(CrdUpdateTest, SaysThatVersionsAreInAnotherOrder) {
  Must(Install(Manifest({Version("v1", true), Version("v2", false)})));
  EXPECT_THAT(Install(Manifest({Version("v2", false), Version("v1", true)}))->changes,
              ElementsAre("spec.versions reordered"));
}

TEST_F(CrdUpdateTest, RefusesToRemoveAVersionThatObjectsMayBeStoredIn) {
  Must(Install(Manifest()));
  const std::string before = *cluster_.Get("customresourcedefinitions", "", kName);
  const auto installed = Install(Manifest({Version("v2", true)}));
  ASSERT_FALSE(installed.has_value());
  EXPECT_EQ(installed.error().code(), Code::kInvalid);
  EXPECT_THAT(installed.error().ToString(),
              AllOf(HasSubstr("customresourcedefinition orders.shop.dev"), HasSubstr("the version v1, which is in"),
                    HasSubstr("status.storedVersions"), HasSubstr("kubectl get orders.shop.dev -A -o json"),
                    HasSubstr(R"(-p '{"status":{"storedVersions":["v2"]}}')")));
  EXPECT_EQ(*cluster_.Get("customresourcedefinitions", "", kName), before);
  EXPECT_THAT(cluster_.Writes(), IsEmpty());

  // The way out of the message.
  Must(Install(Manifest({Version("v1", false), Version("v2", true)})));
  Edit([](json& object) { object["status"]["storedVersions"] = {"v2"}; });
  EXPECT_EQ(Install(Manifest({Version("v2", true)}))->str(),
            "customresourcedefinition orders.shop.dev updated: spec.versions[v1] removed");
}

}  // namespace
}  // namespace kgen::testing
