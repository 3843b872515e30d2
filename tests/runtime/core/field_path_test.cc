// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/field_path.h"

#include <string>
#include <vector>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::Full;
using sample::kLong;
using sample::Sample;
using FieldPathTest = sample::CoreTest;
using Texts = std::vector<std::string>;

Texts Visit(std::string_view path, const Sample& object) {
  Texts texts;
  const auto resolved = ResolvedPath::Resolve(FieldPath(path), Sample::kTable);
  EXPECT_TRUE(resolved.has_value()) << path << ": " << (resolved ? "" : resolved.error().ToString());
  if (resolved) resolved->Visit(&object, [&](std::string_view text) { texts.emplace_back(text); });
  return texts;
}

std::string Refusal(std::string_view path) {
  const auto resolved = ResolvedPath::Resolve(FieldPath(path), Sample::kTable);
  EXPECT_FALSE(resolved.has_value()) << path;
  if (resolved) return {};
  EXPECT_EQ(resolved.error().code(), Code::kInvalidArgument);
  return resolved.error().message();
}

TEST_F(FieldPathTest, GivesOneValueOrNone) {
  const Sample full = Full();
  EXPECT_EQ(Visit("metadata.name", full), Texts{"full"});
  EXPECT_EQ(Visit("spec.nodeName", full), Texts{kLong});
  EXPECT_EQ(Visit("spec.nodeName", Sample()), Texts{});
  EXPECT_EQ(Visit("spec.tree.child.name", full), Texts{});
}

TEST_F(FieldPathTest, GivesTheValueOfEveryElementOfAList) {
  const Sample full = Full();
  EXPECT_EQ(Visit("spec.ports.name", full), (Texts{"http", kLong}));
  EXPECT_EQ(Visit("spec.ports.containerPort", full), (Texts{"80", "443"}));
  EXPECT_EQ(Visit("spec.ports.protocol", full), Texts{"TCP"}) << "absent ones give nothing";
  EXPECT_EQ(Visit("spec.args", full), (Texts{"--verbose", kLong}));
  EXPECT_EQ(Visit("spec.matrix", full), (Texts{"1", "2", "3"}));
  EXPECT_EQ(Visit("spec.tree.child.children.name", full), Texts{"leaf"});
}

TEST_F(FieldPathTest, GivesOneMapEntryOrAll) {
  const Sample full = Full();
  EXPECT_EQ(Visit("metadata.labels['app']", full), Texts{"web"});
  EXPECT_EQ(Visit("metadata.labels[\"app\"]", full), Texts{"web"});
  EXPECT_EQ(Visit("metadata.labels['app.kubernetes.io/name']", full), Texts{});
  EXPECT_EQ(Visit("metadata.labels", full), (Texts{"web", kLong}));
  EXPECT_EQ(Visit("metadata.annotations", full), Texts{});
  EXPECT_EQ(Visit("metadata.annotations['a']", full), Texts{});
  EXPECT_EQ(Visit("spec.nodes['a'].name", full), Texts{"a"});
  EXPECT_EQ(Visit("spec.nodes.name", full), Texts{"a"});
  EXPECT_EQ(Visit("spec.lists['x']", full), (Texts{"a", kLong}));
  EXPECT_EQ(Visit("spec.lists", full), (Texts{"a", kLong}));
}

TEST_F(FieldPathTest, AcceptsAKeyWithDotsAndBrackets) {
  Sample s;
  s.metadata.annotations["a.b/c[0]"] = "v";
  EXPECT_EQ(Visit("metadata.annotations['a.b/c[0]']", s), Texts{"v"});
}

TEST_F(FieldPathTest, WritesEachKindOfScalarAsText) {
  const Sample full = Full();
  EXPECT_EQ(Visit("spec.suspend", full), Texts{"false"});
  EXPECT_EQ(Visit("spec.replicas", full), Texts{"3"});
  EXPECT_EQ(Visit("spec.big", full), Texts{"1099511627776"});
  EXPECT_EQ(Visit("spec.ratio", full), Texts{"0.25"});
  EXPECT_EQ(Visit("spec.when", full), Texts{"2026-11-21T08:33:00Z"});
  EXPECT_EQ(Visit("spec.exact", full), Texts{"2026-11-21T08:33:00.123456+01:00"});
  EXPECT_EQ(Visit("spec.timeout", full), Texts{"1h30m"});
  EXPECT_EQ(Visit("spec.amount", full), Texts{"1.5Gi"});
  EXPECT_EQ(Visit("spec.target", full), Texts{"8080"});
  EXPECT_EQ(Visit("spec.limits['cpu']", full), Texts{"500m"});
  EXPECT_EQ(Visit("spec.weights", full), Texts{"7"});
  EXPECT_EQ(Visit("spec.replicas", Sample()), Texts{});
}

TEST_F(FieldPathTest, GivesNothingForStructsAndJsonAtTheEnd) {
  const Sample full = Full();
  for (const char* path : {"metadata", "spec", "spec.ports", "spec.nodes", "spec.extra", "spec.tree"}) {
    EXPECT_EQ(Visit(path, full), Texts{}) << path;
  }
}

TEST_F(FieldPathTest, GivesNothingForAnEntryThatWasOnlyRead) {
  Sample s;
  EXPECT_EQ(s.metadata.labels["app"], "");
  EXPECT_EQ(Visit("metadata.labels['app']", s), Texts{});
  EXPECT_EQ(Visit("metadata.labels", s), Texts{});
}

TEST_F(FieldPathTest, NamesTheStepAndTheNearestField) {
  const std::string message = Refusal("spec.nodeNam");
  EXPECT_NE(message.find("\"nodeNam\" is not a field of test.Spec"), std::string::npos) << message;
  EXPECT_NE(message.find("\"nodeName\""), std::string::npos) << message;
  EXPECT_NE(Refusal("spec.prots.name").find("\"ports\""), std::string::npos);
}

TEST_F(FieldPathTest, RefusesBadSyntaxWithAReason) {
  for (const char* path :
       {"", ".", ".spec", "spec.", "spec..nodeName", "spec[", "spec.nodes[a]", "spec.nodes['a", "spec.nodes['a'",
        "spec.nodes['a'x", "spec.nodes['a']name", "['a']", "spec.nodes['a'].", "spec.ports[0].name"}) {
    EXPECT_NE(Refusal(path).find("field path \"" + std::string(path) + "\": "), std::string::npos) << path;
  }
}

TEST_F(FieldPathTest, RefusesAStepBelowAScalarAndAKeyOfSomethingOtherThanAMap) {
  EXPECT_NE(Refusal("spec.nodeName.x").find("no fields"), std::string::npos);
  EXPECT_NE(Refusal("metadata.labels.app").find("no fields"), std::string::npos);
  EXPECT_NE(Refusal("spec.nodeName['x']").find("not a map"), std::string::npos);
  EXPECT_NE(Refusal("spec.limits['a']['b']").find("not a map"), std::string::npos);
}

}  // namespace
}  // namespace kgen
