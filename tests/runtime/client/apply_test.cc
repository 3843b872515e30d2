// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ApplyFile and ApplyText against the in-memory cluster.
#include "kgen/client/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <expected>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kgen/codec/decode.h"
#include "kgen/testing/cluster.h"
#include "tests/support/paths.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kShop[] = R"(---
# An empty document counts.
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
data:
  on: "yes"
  script: |
    #!/bin/sh
    echo hi
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: shop}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: nginx}]}
)";

class ApplyTest : public ::testing::Test {
 protected:
  std::expected<std::vector<AppliedObject>, ApplyError> Apply(std::string text, const ApplyOptions& options = {}) {
    return ApplyText(cluster_.Connection(), "shop.yaml", std::move(text), options);
  }
  std::string Failure(std::string text, const ApplyOptions& options = {}) {
    const auto applied = Apply(std::move(text), options);
    return applied ? "it was applied" : applied.error().ToString();
  }
  std::vector<std::string> Writes() {
    std::vector<std::string> writes;
    for (const Action& action : cluster_.Writes()) writes.push_back(action.str());
    return writes;
  }
  Unstructured Stored(std::string_view resource, std::string_view space, std::string_view name) {
    return Must(Decode<Unstructured>(Must(cluster_.Get(resource, space, name))));
  }

  Cluster cluster_{{.seed = 1}};
};

TEST_F(ApplyTest, AppliesDocumentsAndItemsInTheirOrder) {
  const auto applied = Apply(kShop);
  ASSERT_TRUE(applied.has_value()) << applied.error();
  std::vector<std::string> lines;
  for (const AppliedObject& object : *applied) {
    lines.push_back(std::to_string(object.document) + ":" + std::to_string(object.line) + " " + object.kind.str() +
                    " " + object.key.str());
    EXPECT_FALSE(object.object.metadata.uid.empty()) << "as the server returned it";
  }
  EXPECT_THAT(lines, ElementsAre("2:4 v1, Kind=Namespace shop", "3:9 v1, Kind=ConfigMap shop/settings",
                                 "4:23 v1, Kind=ConfigMap default/a", "4:26 apps/v1, Kind=Deployment shop/web"));
  EXPECT_THAT(Writes(), ElementsAre("patch namespaces shop", "patch configmaps shop/settings",
                                    "patch configmaps default/a", "patch deployments shop/web"));
  const Unstructured settings = Stored("configmaps", "shop", "settings");
  EXPECT_EQ(settings.unknown_fields["data"], Json(R"({"true":"yes","script":"#!/bin/sh\necho hi\n"})"));
  ASSERT_EQ(settings.metadata.managedFields.size(), 1u);
  EXPECT_EQ(settings.metadata.managedFields[0].manager, "kgen");
  EXPECT_EQ(settings.metadata.managedFields[0].operation, "Apply");
}

TEST_F(ApplyTest, UpdatesObjectsThatExist) {
  ASSERT_TRUE(Apply(kShop).has_value());
  ASSERT_TRUE(Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: 'new'}}").has_value());
  EXPECT_EQ(Stored("configmaps", "default", "a").unknown_fields["data"], Json(R"({"x":"new"})"));
}

TEST_F(ApplyTest, UsesTheFieldManagerAndTheNamespaceOfTheOptions) {
  ASSERT_TRUE(Apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").has_value());
  const auto applied = Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
                             {.field_manager = "installer", .default_namespace = "shop"});
  ASSERT_TRUE(applied.has_value()) << applied.error();
  EXPECT_EQ((*applied)[0].key, ObjectKey::Namespaced("shop", "a"));
  EXPECT_EQ((*applied)[0].object.metadata.managedFields[0].manager, "installer");
}

TEST_F(ApplyTest, StoresNothingInADryRun) {
  const auto applied = Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", {.dry_run = true});
  ASSERT_TRUE(applied.has_value()) << applied.error();
  EXPECT_EQ(applied->size(), 1u);
  EXPECT_FALSE(cluster_.Get("configmaps", "default", "a").has_value());
}

TEST_F(ApplyTest, NamesTheObjectTheServersAnswerAndWhatWasAppliedBefore) {
  cluster_.Inject(
      {.verb = "patch", .resource = "deployments", .status = 422, .reason = "Invalid", .message = "no image"});
  const auto applied = Apply(kShop);
  ASSERT_FALSE(applied.has_value());
  EXPECT_EQ(applied.error().code(), Code::kInvalid);
  ASSERT_NE(applied.error().status(), nullptr);
  const std::string text = applied.error().ToString();
  EXPECT_THAT(text, StartsWith("apply shop.yaml (applied before: Namespace shop, ConfigMap shop/settings, ConfigMap "
                               "default/a): document 4, line 26 (Deployment shop/web): "));
  EXPECT_THAT(text, HasSubstr("no image"));
  EXPECT_TRUE(cluster_.Get("configmaps", "default", "a").has_value()) << "what was applied stays";
}

std::vector<std::string> NamesOf(const std::vector<AppliedObject>& objects) {
  std::vector<std::string> names;
  for (const AppliedObject& object : objects) names.push_back(object.str());
  return names;
}

TEST_F(ApplyTest, TellsAProgramWhatFailedWhereAndWhatWasAppliedBefore) {
  cluster_.Inject(
      {.verb = "patch", .resource = "deployments", .status = 422, .reason = "Invalid", .message = "no image"});
  const auto applied = Apply(kShop);
  ASSERT_FALSE(applied.has_value());
  const ApplyError& error = applied.error();
  EXPECT_EQ(error.file, "shop.yaml");
  EXPECT_EQ(error.document, 4u);
  EXPECT_EQ(error.line, 26u);
  EXPECT_EQ(error.kind, (GroupVersionKind{"apps", "v1", "Deployment"}));
  EXPECT_EQ(error.key, ObjectKey::Namespaced("shop", "web"));
  EXPECT_FALSE(error.dry_run);
  EXPECT_THAT(NamesOf(error.applied), ElementsAre("Namespace shop", "ConfigMap shop/settings", "ConfigMap default/a"));
  EXPECT_FALSE(error.applied[2].object.metadata.uid.empty());
  const Result<std::vector<AppliedObject>> plain = applied;
  EXPECT_EQ(plain.error().ToString(), error.ToString());
}

TEST_F(ApplyTest, TellsAProgramWhereAFileIsWrong) {
  const std::string fine = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n";
  const auto syntax = Apply(fine + "a: b: c");
  ASSERT_FALSE(syntax.has_value());
  EXPECT_EQ(syntax.error().line, 3u);
  EXPECT_EQ(syntax.error().document, 0u);
  const auto nameless = Apply(fine + "{apiVersion: v1, kind: Pod}");
  ASSERT_FALSE(nameless.has_value());
  EXPECT_EQ(nameless.error().document, 2u);
  EXPECT_EQ(nameless.error().line, 3u);
  EXPECT_EQ(nameless.error().kind.kind, "Pod");
  EXPECT_THAT(nameless.error().applied, ElementsAre());
  const auto missing = ApplyFile(cluster_.Connection(), "no/such/file.yaml");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().file, "no/such/file.yaml");
  EXPECT_EQ(missing.error().line, 0u);
}

TEST_F(ApplyTest, SaysThatItWasADryRun) {
  const ApplyOptions dry{.dry_run = true};
  const auto whole = Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", dry);
  ASSERT_TRUE(whole.has_value()) << whole.error();
  EXPECT_THAT(NamesOf(*whole), ElementsAre("ConfigMap default/a (dry run)"));
  const auto failed = Apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: None, metadata: {name: b}}",
      dry);
  ASSERT_FALSE(failed.has_value());
  EXPECT_TRUE(failed.error().dry_run);
  EXPECT_THAT(NamesOf(failed.error().applied), ElementsAre("ConfigMap default/a (dry run)"));
  EXPECT_THAT(
      failed.error().ToString(),
      StartsWith("apply shop.yaml (dry run; accepted before: ConfigMap default/a): document 2, line 3 (None b)"));
}

TEST_F(ApplyTest, NamesOnlyTheLastOfManyObjectsThatWereAppliedBefore) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c" + std::to_string(i) + "}}\n";
  }
  text += "---\n{apiVersion: v1, kind: Unheard, metadata: {name: a}}\n";
  const std::string failure = Failure(text);
  EXPECT_THAT(failure, HasSubstr("(applied before: 2 objects and ConfigMap default/c2, "));
  EXPECT_THAT(failure, Not(HasSubstr("default/c1,")));
}

TEST_F(ApplyTest, SendsNothingOfAnIncompleteFile) {
  const std::string fine = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n";
  EXPECT_THAT(Failure(fine + "a: b: c"), StartsWith("apply shop.yaml: line 3, column 5: "));
  EXPECT_THAT(Failure(fine + "- 1"), HasSubstr("document 2, line 3: expected an object, found a list"));
  EXPECT_THAT(Failure(fine + "kind: Pod"), HasSubstr("document 2, line 3: the object has no apiVersion"));
  EXPECT_THAT(Failure(fine + "apiVersion: v1"), HasSubstr("document 2, line 3: the object has no kind"));
  EXPECT_THAT(Failure(fine + "{apiVersion: a/b/c, kind: A, metadata: {name: a}}"), HasSubstr("unexpected apiVersion"));
  EXPECT_THAT(Failure(fine + "{apiVersion: v1, kind: Pod, metadata: {generateName: a}}"),
              HasSubstr("document 2, line 3: Pod has no metadata.name"));
  EXPECT_THAT(Failure(fine + "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: 5}}"),
              HasSubstr("metadata.namespace must be text, not an integer; put it in quotes"));
  EXPECT_THAT(Failure(fine + "{apiVersion: v1, kind: List, items: 5}"), HasSubstr("items of a list must be a list"));
  EXPECT_THAT(Failure(fine + "{apiVersion: v1, kind: List, items: [5]}"), HasSubstr("found an integer"));
  EXPECT_THAT(Failure(fine, {.field_manager = ""}), HasSubstr("field_manager is empty"));
  EXPECT_THAT(Writes(), ElementsAre());
}

TEST_F(ApplyTest, NamesAKindThatTheServerDoesNotServe) {
  const auto kind = Apply("{apiVersion: v1, kind: Unheard, metadata: {name: a}}");
  ASSERT_FALSE(kind.has_value());
  EXPECT_EQ(kind.error().code(), Code::kNotFound);
  EXPECT_THAT(kind.error().ToString(), StartsWith("apply shop.yaml: document 1, line 1 (Unheard a): the server has no "
                                                  "kind \"Unheard\" in v1; install its CRD first"));
  EXPECT_THAT(Failure("{apiVersion: shop.dev/v1, kind: Order, metadata: {name: a}}"),
              HasSubstr("the server has no kind \"Order\" in shop.dev/v1; install its CRD first"));
}

TEST_F(ApplyTest, AppliesAnObjectOfACrdThatIsServed) {
  ASSERT_TRUE(ApplyFile(cluster_.Connection(), test_support::SourcePath("examples/crds/orders.yaml")).has_value());
  cluster_.RunUntilIdle();
  const auto applied =
      Apply("apiVersion: shop.example.com/v1\nkind: Order\nmetadata: {name: first}\nspec: {item: cup, quantity: 1}\n");
  ASSERT_TRUE(applied.has_value()) << applied.error();
  EXPECT_TRUE(cluster_.Get("orders", "default", "first").has_value());
}

std::string CrdAndObject(const std::string& kind) {
  std::string plural = kind + "s";
  plural[0] = static_cast<char>(plural[0] + ('a' - 'A'));
  return "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " + plural +
         ".shop.dev}, spec: {group: shop.dev, scope: Namespaced, names: {kind: " + kind + ", plural: " + plural +
         "}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}\n"
         "---\n{apiVersion: shop.dev/v1, kind: " +
         kind + ", metadata: {name: first}}\n";
}

TEST_F(ApplyTest, FindsTheKindsThatTheFileInstallsHoweverMany) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += CrdAndObject("Kind" + std::string(1, static_cast<char>('a' + i)));
  const auto applied = Apply(text);
  ASSERT_TRUE(applied.has_value()) << applied.error();
  EXPECT_EQ(applied->size(), 24u);
}

TEST_F(ApplyTest, ReadsAFileAndReportsWhyItCannot) {
  const std::string path = ::testing::TempDir() + "kgen_apply_test.yaml";
  std::ofstream(path) << kShop;
  const auto applied = ApplyFile(cluster_.Connection(), path);
  EXPECT_TRUE(applied.has_value()) << applied.error();
  std::remove(path.c_str());
  const auto missing = ApplyFile(cluster_.Connection(), path);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(missing.error().ToString(), HasSubstr("kgen_apply_test.yaml: No such file or directory"));
}

}  // namespace
}  // namespace kgen::testing
