// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Convert(), conditions and MergePatch() with the built-in types and the types of a CRD, as a user writes them.
#include "kgen/codec/convert.h"

#include <fleets/fleet/v1/types.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/options.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/conditions.h"
#include "kgen/core/unstructured.h"
#include "kgen/testing/cluster.h"

namespace {

using fleets::fleet::v1::Fleet;
using k8s::apps::v1::Deployment;
using k8s::core::v1::Pod;
using k8s::core::v1::PodTemplateSpec;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* kTemplate = R"({"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{
    "affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]}},
    "containers":[{"name":"web","image":"nginx","env":[{"name":"A","value":""}],"ports":[{"containerPort":80}],
      "livenessProbe":{"httpGet":{"path":"/","port":"http"},"periodSeconds":5},
      "resources":{"limits":{"cpu":"500m"}},"stdin":true}],
    "nodeSelector":{"disk":"ssd"},"serviceAccountName":"web","terminationGracePeriodSeconds":30}})";

std::vector<std::string> PathsOf(const std::vector<kgen::Unplaced>& unplaced) {
  std::vector<std::string> paths;
  for (const kgen::Unplaced& each : unplaced) paths.push_back(each.path);
  return paths;
}

TEST(ConvertOfBuiltInTypes, ACustomTemplateBecomesThatOfADeployment) {
  const Fleet fleet = kgen::Must(
      kgen::Decode<Fleet>(R"({"metadata":{"name":"f"},"spec":{"template":)" + std::string(kTemplate) + "}}"));
  auto pods = kgen::Must(kgen::Convert<PodTemplateSpec>(*fleet.spec->template_));
  EXPECT_THAT(pods.unplaced, IsEmpty());
  Deployment deployment;
  deployment.spec->template_ = std::move(pods.value);
  const PodTemplateSpec& spec = *deployment.spec->template_;
  EXPECT_EQ(spec, kgen::Must(kgen::Decode<PodTemplateSpec>(kTemplate)));
  EXPECT_EQ(spec.spec->containers[0].ports[0].containerPort, 80);
  EXPECT_EQ(spec.spec->containers[0].resources->limits["cpu"], kgen::Quantity("0.5"));
  EXPECT_EQ(spec.spec->terminationGracePeriodSeconds, 30);
}

TEST(ConvertOfBuiltInTypes, AndBackNothingIsLost) {
  const PodTemplateSpec pods = kgen::Must(kgen::Decode<PodTemplateSpec>(kTemplate));
  auto custom = kgen::Must(kgen::Convert<Fleet::Spec::Template>(pods));
  EXPECT_THAT(PathsOf(custom.unplaced), ElementsAre("spec.terminationGracePeriodSeconds", "spec.containers[0].stdin"));
  EXPECT_EQ(kgen::CanonicalJson(kgen::Encode(custom.value)), kgen::CanonicalJson(kTemplate));
  EXPECT_EQ(kgen::Must(kgen::Convert<PodTemplateSpec>(std::move(custom.value))).value, pods);
}

TEST(ConvertOfBuiltInTypes, AnUnstructuredIsRead) {
  Pod pod{.metadata = {.name = "web-0", .namespace_ = "default"}};
  pod.spec->nodeName = "n1";
  const auto any = kgen::Must(kgen::Convert<kgen::Unstructured>(pod)).value;
  EXPECT_EQ(any.kind, "Pod");
  EXPECT_EQ(kgen::Must(kgen::Convert<Pod>(any)).value, pod);
}

TEST(Conditions, AreFoundByType) {
  Pod pod;
  EXPECT_FALSE(kgen::IsConditionTrue(pod.status->conditions, "Ready"));
  EXPECT_EQ(kgen::FindCondition(std::as_const(pod).status->conditions, "Ready"), nullptr);
  pod.status->conditions = {{.status = "True", .type = "Initialized"}, {.status = "Unknown", .type = "Ready"}};
  EXPECT_TRUE(kgen::IsConditionTrue(pod.status->conditions, "Initialized"));
  EXPECT_FALSE(kgen::IsConditionTrue(pod.status->conditions, "Ready"));
  kgen::FindCondition(pod.status->conditions, "Ready")->status = "True";
  EXPECT_TRUE(kgen::IsConditionTrue(pod.status->conditions, "Ready"));
}

TEST(Conditions, TheTimeOfTransitionChangesWithTheStatusOnly) {
  const kgen::SysMicros first{1000s};
  const kgen::SysMicros second{2000s};
  kgen::List<kgen::meta::v1::Condition> conditions;
  EXPECT_TRUE(kgen::SetCondition(
      conditions, {.lastTransitionTime = first, .reason = "Starting", .status = "False", .type = "Ready"}));
  EXPECT_FALSE(kgen::SetCondition(
      conditions, {.lastTransitionTime = second, .reason = "Starting", .status = "False", .type = "Ready"}));
  EXPECT_TRUE(kgen::SetCondition(
      conditions, {.lastTransitionTime = second, .reason = "Waiting", .status = "False", .type = "Ready"}));
  EXPECT_EQ(conditions[0].lastTransitionTime, kgen::Time(first));
  EXPECT_EQ(conditions[0].reason, "Waiting");
  EXPECT_TRUE(kgen::SetCondition(conditions,
                                 {.lastTransitionTime = second, .reason = "Up", .status = "True", .type = "Ready"}));
  EXPECT_EQ(conditions[0].lastTransitionTime, kgen::Time(second));
  EXPECT_EQ(conditions.size(), 1u);
}

TEST(Conditions, WithoutATimeOfTransitionThePresentTimeIsTaken) {
  kgen::List<kgen::meta::v1::Condition> conditions;
  EXPECT_TRUE(kgen::SetCondition(conditions, {.status = "False", .type = "Ready"}));
  EXPECT_TRUE(conditions[0].lastTransitionTime.has_value());
  conditions[0].lastTransitionTime = kgen::SysMicros{1000s};
  EXPECT_TRUE(kgen::SetCondition(conditions, {.status = "True", .type = "Ready"}));
  EXPECT_GT(conditions[0].lastTransitionTime, kgen::Time(kgen::SysMicros{1000s}));
}

// A server requires it of a Condition.
TEST(Conditions, AnAbsentMessageIsSentAsEmptyText) {
  kgen::List<kgen::meta::v1::Condition> conditions;
  kgen::SetCondition(conditions, {.reason = "Up", .status = "True", .type = "Ready"});
  EXPECT_TRUE(conditions[0].message.has_value());
}

TEST(Conditions, EveryOtherMemberCountsAsAChange) {
  kgen::List<kgen::meta::v1::Condition> conditions = {{.message = "", .status = "True", .type = "Ready"}};
  EXPECT_FALSE(kgen::SetCondition(conditions, {.status = "True", .type = "Ready"}));
  EXPECT_TRUE(kgen::SetCondition(conditions, {.message = "m", .status = "True", .type = "Ready"}));
  EXPECT_TRUE(
      kgen::SetCondition(conditions, {.message = "m", .observedGeneration = 2, .status = "True", .type = "Ready"}));
  EXPECT_EQ(conditions[0].observedGeneration, 2);
}

TEST(Conditions, MayHaveMoreAndLessThanTheCommonMembers) {
  Fleet fleet;
  EXPECT_TRUE(kgen::SetCondition(fleet.status->conditions, {.severity = "Info", .status = "True", .type = "Ready"}));
  EXPECT_TRUE(kgen::Time::Parse(fleet.status->conditions[0].lastTransitionTime)) << "text, as the CRD wants it";
  EXPECT_TRUE(kgen::SetCondition(fleet.status->conditions, {.severity = "Error", .status = "True", .type = "Ready"}));
  EXPECT_TRUE(kgen::SetCondition(fleet.status->phases, {.status = "True", .type = "Built"}));
  EXPECT_FALSE(kgen::SetCondition(fleet.status->phases, {.status = "True", .type = "Built"}));
  EXPECT_TRUE(kgen::IsConditionTrue(fleet.status->phases, "Built"));
}

TEST(Conditions, KeepWhatTheServerAdded) {
  auto pod = kgen::Must(kgen::Decode<Pod>(
      R"({"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"True","later":1}]}})"));
  EXPECT_FALSE(kgen::SetCondition(pod.status->conditions, {.status = "True", .type = "Ready"}));
  EXPECT_TRUE(kgen::SetCondition(pod.status->conditions, {.status = "False", .type = "Ready"}));
  EXPECT_EQ(pod.status->conditions[0].unknown_fields["later"].text(), "1");
}

TEST(MergePatchOfObjects, SendsWhatDiffersAndLeavesTheRest) {
  kgen::testing::Cluster cluster;
  const k8s::Clientset clientset(cluster.Connection());
  const auto maps = clientset.CoreV1().ConfigMaps("default");
  const auto before = kgen::Must(
      maps.Create({.metadata = {.name = "m", .labels = {{"a", "1"}, {"b", "2"}}}, .data = {{"x", "1"}, {"y", "2"}}}));
  auto after = before;
  after.metadata.labels.erase("a");
  after.data["x"] = "3";
  kgen::Must(maps.Patch("m", kgen::MergePatch(R"({"data":{"other":"4"}})")));
  const auto patch = kgen::Must(kgen::MergePatch(before, after));
  EXPECT_EQ(patch.body, R"({"data":{"x":"3"},"metadata":{"labels":{"a":null}}})");
  const auto patched = kgen::Must(maps.Patch("m", patch));
  EXPECT_EQ(patched.metadata.labels, after.metadata.labels);
  EXPECT_EQ(kgen::Encode(patched).find("\"a\":"), std::string::npos);
  EXPECT_EQ(patched.data, (kgen::Map<kgen::String>{{"other", "4"}, {"x", "3"}, {"y", "2"}}));
}

TEST(MergePatchOfObjects, NamesTheMemberThatBecameNull) {
  auto before = kgen::Must(kgen::Decode<Pod>(R"({"metadata":{"name":"a"}})"));
  auto after = before;
  after.unknown_fields.Set("later", kgen::Json(R"({"x":null})"));
  const auto patch = kgen::MergePatch(before, after);
  ASSERT_FALSE(patch);
  EXPECT_THAT(patch.error().ToString(), ::testing::HasSubstr("merge patch: cannot set later.x to null"));
}

}  // namespace
