// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/descriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generator/parse/document.h"

namespace kgen::generator::parse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Files = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kDocument = R"({"openapi": "3.0.0", "paths": {}, "components": {"schemas": {
  "io.k8s.api.apps.v1.Deployment": {"type": "object", "properties": {
    "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
    "spec": {"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}}},
  "io.k8s.api.apps.v1.DeploymentList": {"type": "object", "properties": {
    "kind": {"type": "string"}, "metadata": {"type": "object"}, "items": {"type": "array", "items": {}}}},
  "io.k8s.api.apps.v1.DeploymentSpec": {"type": "object", "properties": {
    "paused": {"type": "boolean", "description": "Of the document."}, "replicas": {"type": "integer"}}}}}})";

struct Joined {
  Diagnostics diagnostics;
  model::Draft draft;

  explicit Joined(Files files, DescribedApi which = DescribedApi::kWhole) {
    std::vector<Source> documents;
    documents.push_back({"api.json", kDocument, diagnostics.AddFile("api.json")});
    draft = ParseSources(std::move(documents), diagnostics);
    std::vector<Source> descriptions;
    for (auto& [name, text] : files) descriptions.push_back({name, std::move(text), diagnostics.AddFile(name)});
    JoinDescriptions(descriptions, which, draft, diagnostics);
  }

  const model::RawSchema& Type(const std::string& name) const {
    return *draft.definitions.find("io.k8s.api.apps.v1." + name)->second.schema;
  }
  const model::RawSchema& Member(const std::string& type, const std::string& member) const {
    const auto& properties = Type(type).properties;
    return *std::ranges::find(properties, member, &model::RawProperty::name)->schema;
  }
  std::string Said() const {
    std::string out;
    for (const Diagnostic& each : diagnostics.Sorted())
      out += diagnostics.Describe(each.origin) + " " + each.path + ": " + each.message + "\n";
    return out;
  }
};

TEST(Descriptions, BecomeThoseOfTheDocument) {
  const Joined joined(
      Files{{"d/apps.v1.yaml",
             "DeploymentSpec:\n"
             "  text: Describes the pods.\n"
             "  members:\n"
             "    replicas: {text: How many., default: 1, unit: pods, set_by: server, immutable: true}\n"}});
  EXPECT_EQ(joined.Said(), "");
  EXPECT_THAT(joined.Type("DeploymentSpec").description, ElementsAre("Describes the pods."));
  const model::RawSchema& replicas = joined.Member("DeploymentSpec", "replicas");
  EXPECT_THAT(replicas.description, ElementsAre("How many."));
  EXPECT_EQ(replicas.notes.default_json, "1");
  EXPECT_EQ(replicas.notes.unit, "pods");
  EXPECT_EQ(replicas.notes.set_by, "server");
  EXPECT_TRUE(replicas.notes.immutable);
  EXPECT_THAT(joined.Type("Deployment").description, IsEmpty()) << "a type without entry has none";
}

TEST(Descriptions, OfTheDocumentStay) {
  const Joined joined(Files{{"apps.v1.yaml", "DeploymentSpec: {members: {paused: {text: Other.}}}"}});
  EXPECT_EQ(joined.Said(), "");
  EXPECT_THAT(joined.Member("DeploymentSpec", "paused").description, ElementsAre("Of the document."));
}

TEST(Descriptions, CanShareATextWhoseFactsTheEntryMayChange) {
  const Joined joined(Files{{"apps.v1.yaml", "DeploymentSpec: {members: {replicas: {shared: a.b, default: 2}}}"},
                            {"shared.yaml", "a.b: {text: Shared., default: 1, set_by: kubelet}"}});
  EXPECT_EQ(joined.Said(), "");
  const model::RawSchema& replicas = joined.Member("DeploymentSpec", "replicas");
  EXPECT_THAT(replicas.description, ElementsAre("Shared."));
  EXPECT_EQ(replicas.notes.default_json, "2");
  EXPECT_EQ(replicas.notes.set_by, "kubelet");
}

TEST(Descriptions, OfTheMembersOfEveryKindAreShared) {
  const Joined joined(Files{{"shared.yaml", "kind.kind: {text: Its name.}\nkind.metadata: {text: Its labels.}"},
                            {"apps.v1.yaml", "Deployment: {text: Runs pods.}"}});
  EXPECT_THAT(joined.Member("Deployment", "kind").description, ElementsAre("Its name."));
  EXPECT_THAT(joined.Member("Deployment", "metadata").description, ElementsAre("Its labels."));
  EXPECT_THAT(joined.Member("Deployment", "apiVersion").description, IsEmpty()) << "shared.yaml has no such text";
  EXPECT_THAT(joined.Member("DeploymentList", "kind").description, IsEmpty()) << "the emitter describes lists";
}

TEST(Descriptions, ThatNameWhatTheApiDoesNotHaveAreErrorsWithFileAndEntry) {
  const Joined joined(Files{{"d/apps.v1.yaml",
                             "Deploymint: {text: A.}\n"
                             "DeploymentList: {text: B.}\n"
                             "Deployment:\n"
                             "  members: {kind: {text: C.}, speck: {text: D.}}\n"
                             "DeploymentSpec:\n"
                             "  texts: E.\n"
                             "  members: {replicas: {shared: none}, paused: {text: F., defaults: 1}}\n"},
                            {"d/batch.v1.yaml", "Job: {text: G.}"}});
  EXPECT_EQ(joined.Said(),
            "d/apps.v1.yaml:1:1 Deploymint: there is no type \"Deploymint\" in apps.v1 of the API\n"
            "d/apps.v1.yaml:2:1 DeploymentList: lists are described by rule\n"
            "d/apps.v1.yaml:4:13 Deployment.members.kind: the member \"kind\" of a kind is described by rule\n"
            "d/apps.v1.yaml:4:31 Deployment.members.speck: the type has no member \"speck\"\n"
            "d/apps.v1.yaml:6:3 DeploymentSpec: unknown key \"texts\", did you mean text?\n"
            "d/apps.v1.yaml:7:24 DeploymentSpec.members.replicas: there is no text \"none\" in shared.yaml\n"
            "d/apps.v1.yaml:7:58 DeploymentSpec.members.paused: unknown key \"defaults\", did you mean default?\n"
            "d/batch.v1.yaml:1:1 Job: there is no type \"Job\" in batch.v1 of the API\n");
}

TEST(Descriptions, OfMoreThanAPartOfAnApiAreLeftOut) {
  const Joined joined(Files{{"apps.v1.yaml", "StatefulSet: {text: A.}\nDeployment: {members: {other: {text: B.}}}"}},
                      DescribedApi::kPart);
  EXPECT_EQ(joined.Said(), "");
}

}  // namespace
}  // namespace kgen::generator::parse
