// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which objects of a CRD, and which definitions of a document, become types of another API.
#include "generator/emit/plan/external_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/commands/load_api.h"
#include "generator/emit/plan/make_plan.h"
#include "generator/model/anchors.h"
#include "tests/generator/load.h"
#include "tests/support/paths.h"

namespace kgen::generator::emit {
namespace {

using test::Load;
using test::Loaded;
using test::OrderCrd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The documents of the built-in API, or one of them.
std::vector<UsedApi> Documents(const std::string& name) {
  Diagnostics diagnostics;
  std::vector<UsedApi> uses(1);
  uses[0].name_space = "k8s";
  uses[0].api = commands::LoadApi({test_support::SourcePath("openapi/kubernetes-1.36" + name)}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.Render();
  return uses;
}

// The built-in API, as kgen::kubernetes names it.
const std::vector<UsedApi>& BuiltIn() {
  static const auto* const kUses = new std::vector<UsedApi>(Documents(""));
  return *kUses;
}

Loaded Use(std::vector<std::string> texts, const UseOptions& options = {},
           const std::vector<UsedApi>& uses = BuiltIn()) {
  Loaded loaded = Load(std::move(texts));
  EXPECT_EQ(loaded.Said(), "");
  ReportUnknownPositions(UseTypes(loaded.api, uses, options, loaded.diagnostics), loaded.diagnostics);
  return loaded;
}

// Returns a CRD with an object of these properties as the field `x` of an Order's spec.
Loaded UseInSpec(const std::string& properties, const UseOptions& options = {},
                 const std::vector<UsedApi>& uses = BuiltIn()) {
  return Use({OrderCrd("spec: {type: object, properties: {x: {type: object, properties: {" + properties + "}}}}")},
             options, uses);
}

// The C++ type of that object: "kgen::meta::v1::LabelSelector", "own", or what was said.
std::string TypeOf(const std::string& properties, const UseOptions& options = {},
                   const std::vector<UsedApi>& uses = BuiltIn()) {
  const Loaded loaded = UseInSpec(properties, options, uses);
  if (!loaded.Said().empty()) return loaded.Said();
  const model::ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  const model::Schema& object = *loaded.api.types[kind->type].schema.Find("spec")->schema->Find("x")->schema;
  if (object.kind != model::Kind::kRef) return "own";
  const model::NamedType& type = loaded.api.types[object.ref];
  return type.runtime ? type.name : type.declared;
}

constexpr const char* kToleration =
    "effect: {type: string}, key: {type: string}, operator: {type: string}, tolerationSeconds: {type: integer, format: "
    "int64}, value: {type: string}";
constexpr const char* kSelector =
    "matchLabels: {type: object, additionalProperties: {type: string}}, matchExpressions: {type: array, items: {type: "
    "object, properties: {key: {type: string}, operator: {type: string}, values: {type: array, items: {type: "
    "string}}}}}";
constexpr const char* kCondition =
    "type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}, "
    "observedGeneration: "
    "{type: integer, format: int64}";
constexpr const char* kLastTransition = ", lastTransitionTime: {type: string, format: date-time}";

std::string Quantities(const std::string& name) {
  return name +
         ": {type: object, additionalProperties: {anyOf: [{type: integer}, {type: string}], "
         "x-kubernetes-int-or-string: true}}";
}

// A pod template with just enough fields of a PodSpec, 26 of 42, and of a Container, 15 of 25, and these fields
// besides.
std::string Template(const std::string& metadata, const std::string& spec = {}, const std::string& container = {}) {
  std::string out = "metadata: " + metadata +
                    ", spec: {type: object, properties: {containers: {type: array, items: {type: "
                    "object, properties: {" +
                    container;
  for (const char* name : {"image", "imagePullPolicy", "name", "restartPolicy", "terminationMessagePath",
                           "terminationMessagePolicy", "workingDir"}) {
    out += std::string(name) + ": {type: string}, ";
  }
  for (const char* name : {"stdin", "tty"}) out += std::string(name) + ": {type: boolean}, ";
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe", "resources", "securityContext"}) {
    out += std::string(name) + ": {type: object}, ";
  }
  out += "command: {type: array, items: {type: string}}}}}, " + spec;
  for (const char* name :
       {"dnsPolicy", "hostname", "hostnameOverride", "nodeName", "preemptionPolicy", "priorityClassName",
        "restartPolicy", "runtimeClassName", "schedulerName", "serviceAccount", "serviceAccountName", "subdomain"}) {
    out += std::string(name) + ": {type: string}, ";
  }
  for (const char* name : {"automountServiceAccountToken", "enableServiceLinks", "hostIPC", "hostNetwork", "hostPID",
                           "hostUsers", "setHostnameAsFQDN", "shareProcessNamespace"}) {
    out += std::string(name) + ": {type: boolean}, ";
  }
  for (const char* name : {"affinity", "os", "resources", "securityContext"})
    out += std::string(name) + ": {type: object}, ";
  return out + "volumes: {type: array, items: {type: object}}}}";
}

TEST(UsedTypes, AnObjectOfTheSameFieldsIsTheBuiltInType) {
  EXPECT_EQ(TypeOf(kToleration), "::k8s::core::v1::Toleration");
  EXPECT_EQ(TypeOf(kSelector), "LabelSelector");
  EXPECT_EQ(TypeOf(std::string(kCondition) + kLastTransition), "Condition");
}

// A volume claim template as controller-gen writes it with generateEmbeddedObjectMeta and the whole Go type.
TEST(UsedTypes, AWholeObjectMetaIsTheBuiltInOneAlthoughFieldsV1HasNoMembersThere) {
  const auto claim = [](const std::string& fields) {
    std::string metadata, spec;
    for (const char* text : {"generateName", "name", "namespace", "resourceVersion", "selfLink", "uid"})
      metadata += std::string(text) + ": {type: string}, ";
    for (const char* map : {"annotations", "labels"})
      metadata += std::string(map) + ": {type: object, additionalProperties: {type: string}}, ";
    for (const char* time : {"creationTimestamp", "deletionTimestamp"})
      metadata += std::string(time) + ": {type: string, format: date-time}, ";
    for (const char* number : {"deletionGracePeriodSeconds", "generation"})
      metadata += std::string(number) + ": {type: integer, format: int64}, ";
    metadata +=
        "finalizers: {type: array, items: {type: string}}, managedFields: {type: array, items: {type: object, "
        "properties: {apiVersion: {type: string}, fieldsType: {type: string}, fieldsV1: " +
        fields +
        ", manager: {type: string}, operation: {type: string}, subresource: {type: string}, time: {type: string, "
        "format: date-time}}}}, ownerReferences: {type: array, items: {type: object, properties: {apiVersion: {type: "
        "string}, kind: {type: string}, name: {type: string}, uid: {type: string}, controller: {type: boolean}}}}";
    for (const char* text : {"storageClassName", "volumeAttributesClassName", "volumeMode", "volumeName"})
      spec += std::string(text) + ": {type: string}, ";
    spec += "accessModes: {type: array, items: {type: string}}, resources: {type: object, properties: {" +
            Quantities("limits") + ", " + Quantities("requests") + "}}";
    return "metadata: {type: object, properties: {" + metadata + "}}, spec: {type: object, properties: {" + spec + "}}";
  };
  EXPECT_EQ(TypeOf(claim("{type: object}")), "::k8s::core::v1::PersistentVolumeClaimTemplate");
  EXPECT_EQ(TypeOf(claim("{type: object, x-kubernetes-preserve-unknown-fields: true}")),
            "::k8s::core::v1::PersistentVolumeClaimTemplate");
  EXPECT_EQ(TypeOf(claim("{type: object, properties: {a: {type: string}}}")), "own");
}

TEST(UsedTypes, APartOfTheFieldsIsEnough) {
  EXPECT_EQ(TypeOf("key: {type: string}, operator: {type: string}, tolerationSeconds: {type: integer}"),
            "::k8s::core::v1::Toleration");
  EXPECT_EQ(TypeOf(Quantities("limits") + ", " + Quantities("requests")), "::k8s::core::v1::ResourceRequirements");
  EXPECT_EQ(TypeOf(Template("{type: object}")), "::k8s::core::v1::PodTemplateSpec");
}

TEST(UsedTypes, LessThanSixtyPercentIsNot) {
  std::string less = Template("{type: object}");
  less.erase(less.find("subdomain: {type: string}, "), 27);
  EXPECT_EQ(TypeOf(less), "own") << "25 of 42";
  EXPECT_EQ(TypeOf("operator: {type: string}, tolerationSeconds: {type: integer}"), "own");
  EXPECT_EQ(TypeOf(Quantities("limits")), "own");
  EXPECT_EQ(TypeOf("containers: {type: array, items: {type: object, properties: {name: {type: string}}}}"), "own");
}

TEST(UsedTypes, WhatTellsTheTypeIsThere) {
  EXPECT_EQ(TypeOf("effect: {type: string}, key: {type: string}, value: {type: string}"), "own") << "a taint";
  EXPECT_EQ(TypeOf("name: {type: string}, value: {type: string}"), "own") << "a header";
  EXPECT_EQ(TypeOf(kCondition), "own");
  EXPECT_EQ(TypeOf("metadata: {type: object}, spec: {type: object}"), "own") << "no PodSpec tells a template";
}

TEST(UsedTypes, AnotherFieldIsNot) {
  EXPECT_EQ(TypeOf(std::string(kToleration) + ", more: {type: string}"), "own");
  EXPECT_EQ(TypeOf(Template("{type: object}", "more: {type: string}, ")), "own");
  EXPECT_EQ(TypeOf(Template("{type: object}", {}, "more: {type: string}, ")), "own");
}

TEST(UsedTypes, AnotherKindOfValueIsNot) {
  EXPECT_EQ(TypeOf(std::string(kCondition) + ", lastTransitionTime: {type: string}"), "own") << "text, not Time";
  EXPECT_EQ(TypeOf(Quantities("limits") + ", requests: {type: object, additionalProperties: {type: string}}"), "own");
  EXPECT_EQ(TypeOf(Template("{type: object}", "dnsConfig: {type: string}, ")), "own");
  EXPECT_EQ(TypeOf(Template("{type: object}", "hostAliases: {type: object}, ")), "own");
  EXPECT_EQ(TypeOf(Template("{type: object}", "dnsConfig: {x-kubernetes-preserve-unknown-fields: true}, ")), "own");
}

TEST(UsedTypes, IntegersMayDifferInWidth) {
  EXPECT_EQ(TypeOf("key: {type: string}, operator: {type: string}, tolerationSeconds: {type: integer, format: int32}"),
            "::k8s::core::v1::Toleration");
  EXPECT_EQ(TypeOf(Template("{type: object}", "priority: {type: integer}, ")), "::k8s::core::v1::PodTemplateSpec");
}

TEST(UsedTypes, ANullAndUnknownMembersAreRespected) {
  EXPECT_EQ(TypeOf(std::string(kCondition) + ", lastTransitionTime: {type: string, format: date-time, nullable: true}"),
            "own");
  EXPECT_EQ(TypeOf(Template("{type: object}",
                            "dnsConfig: {type: object, x-kubernetes-preserve-unknown-fields: true, "
                            "properties: {searches: {type: array, items: {type: string}}}}, ")),
            "own");
  EXPECT_EQ(TypeOf(Template("{type: object}", "dnsConfig: {type: object}, ")), "::k8s::core::v1::PodTemplateSpec");
}

TEST(UsedTypes, AnyPartOfMetadataIsObjectMeta) {
  const std::string text = "{type: object, additionalProperties: {type: string}}";
  for (const std::string& metadata :
       {std::string("{type: object}"), std::string("{type: object, x-kubernetes-preserve-unknown-fields: true}"),
        "{type: object, properties: {name: {type: string}, labels: " + text + ", annotations: " + text + "}}"}) {
    EXPECT_EQ(TypeOf(Template(metadata)), "::k8s::core::v1::PodTemplateSpec") << metadata;
  }
  EXPECT_EQ(TypeOf(Template("{type: object, properties: {labels: {type: string}}}")), "own");
  EXPECT_EQ(TypeOf(Template("{type: object, properties: {team: {type: string}}}")), "own");
}

TEST(UsedTypes, ThePositionMayBeNull) {
  Loaded loaded = Use({OrderCrd("spec: {type: object, properties: {x: {type: object, nullable: true, properties: {" +
                                std::string(kToleration) + "}}}}")});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  const PlannedField& field = plan.versions.at(0).structs.at(0).nested.at(0).fields.at(0);
  EXPECT_EQ(field.type, "kgen::Optional<X>");
  EXPECT_EQ(field.detail, "&::k8s::core::v1::Toleration::kTable");
  EXPECT_EQ(field.flags, "kgen::kNullable");
}

TEST(UsedTypes, DirectChildrenOfAKindAreItsOwn) {
  Loaded loaded = Use({OrderCrd("spec: {type: object, properties: {" + std::string(kToleration) + "}}")});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(plan.versions.at(0).structs.at(0).nested.at(0).path, "Order::Spec");
}

TEST(UsedTypes, HaveAliasesThatSayWhatTheCrdLacks) {
  Loaded loaded = UseInSpec("key: {type: string}, operator: {type: string}, tolerationSeconds: {type: integer}");
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  const PlannedStruct& spec = plan.versions.at(0).structs.at(0).nested.at(0);
  ASSERT_EQ(spec.aliases.size(), 1u);
  EXPECT_EQ(spec.aliases[0].name, "X");
  EXPECT_EQ(spec.aliases[0].target, "::k8s::core::v1::Toleration");
  EXPECT_THAT(spec.aliases[0].comment, ElementsAre("// This CRD has a part of it: Toleration without effect, value."));
  EXPECT_THAT(plan.versions[0].types.includes, ElementsAre("k8s/core/v1/common_types.h"));
  EXPECT_FALSE(plan.versions[0].has_shared);
}

TEST(UsedTypes, AreIncludedWithAllTypesOfTheirVersionOnlyIfTheyAreNoPartOfAnAnchor) {
  Loaded loaded = UseInSpec("address: {type: string}, type: {type: string}",
                            {.types = {{"orders.shop.example.com:spec.x", "k8s::core::v1::NodeAddress"}}});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(loaded.Said(), "");
  EXPECT_THAT(plan.versions.at(0).types.includes, ElementsAre("k8s/core/v1/types.h"));
}

TEST(CommonTypes, AreTheAnchorsAndWhatTheseContain) {
  Diagnostics diagnostics;
  const Plan plan = MakePlan(BuiltIn().at(0).api, {.name_space = "k8s"}, diagnostics);
  const auto is_core = [](const PlannedVersion& version) { return version.group.empty(); };
  const auto core = std::find_if(plan.versions.begin(), plan.versions.end(), is_core);
  ASSERT_NE(core, plan.versions.end());
  EXPECT_TRUE(core->has_common);
  std::set<std::string> common, others;
  for (const PlannedStruct& planned : core->structs) (planned.common ? common : others).insert(planned.name);
  for (const char* name : {"PodTemplateSpec", "PodSpec", "Container", "ServiceSpec", "ServicePort", "ObjectReference"})
    EXPECT_TRUE(common.contains(name)) << name;
  for (const char* name : {"Pod", "PodList", "PodStatus", "Node", "Service", "ServiceStatus", "PersistentVolumeSpec"})
    EXPECT_TRUE(others.contains(name)) << name;
  for (const PlannedVersion& version : plan.versions) {
    if (version.group != "apps") continue;
    // A StatefulSet contains whole PersistentVolumeClaims.
    EXPECT_THAT(version.types.includes, ElementsAre("k8s/core/v1/common_types.h", "k8s/core/v1/types.h"));
    EXPECT_FALSE(version.has_common);
  }
}

TEST(UsedTypes, MayBePartOfASharedType) {
  const std::string object =
      "{type: object, properties: {x: {type: object, properties: {" + std::string(kToleration) + "}}}}";
  Loaded loaded = Use({OrderCrd("spec: {type: object, properties: {a: " + object + ", b: " + object + "}}")});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  const PlannedGroup& group = plan.groups.at("shop.example.com");
  ASSERT_EQ(group.structs.size(), 1u);
  EXPECT_EQ(group.structs[0].aliases.at(0).target, "::k8s::core::v1::Toleration");
  EXPECT_THAT(group.includes, ElementsAre("k8s/core/v1/common_types.h"));
}

TEST(UsedTypes, AreChosenByPosition) {
  const UseOptions own{.types = {{"orders.shop.example.com:spec.x", "own"}}};
  EXPECT_EQ(TypeOf(kToleration, own), "own");
  const UseOptions reference{.types = {{"orders.shop.example.com:spec.x", "k8s::core::v1::SecretKeySelector"}}};
  EXPECT_EQ(TypeOf("key: {type: string}", reference), "::k8s::core::v1::SecretKeySelector");
  EXPECT_EQ(TypeOf("key: {x-kubernetes-preserve-unknown-fields: true}", reference),
            "::k8s::core::v1::SecretKeySelector")
      << "what the CRD leaves open is up to the user";
}

TEST(UsedTypes, AChosenTypeFitsAndExists) {
  const UseOptions reference{.types = {{"orders.shop.example.com:spec.x", "k8s::core::v1::SecretKeySelector"}}};
  EXPECT_THAT(
      TypeOf("more: {type: string}", reference),
      HasSubstr("error type-mismatch: orders.shop.example.com:spec.x cannot be k8s::core::v1::SecretKeySelector: "
                "more is no field of SecretKeySelector"));
  EXPECT_THAT(TypeOf(kToleration, {.types = {{"orders.shop.example.com:spec.x", "k8s::core::v1::Tolerance"}}}),
              HasSubstr("no used API has a type \"k8s::core::v1::Tolerance\""));
  EXPECT_THAT(TypeOf(kToleration, {.types = {{"orders.shop.example.com:spec.y", "own"}}}),
              HasSubstr("--type \"orders.shop.example.com:spec.y\" names no object of the input"));
}

TEST(UsedTypes, DoNotHoldADistinctPosition) {
  EXPECT_EQ(TypeOf(kToleration, {.distinct = {"orders.shop.example.com:spec.x"}}), "own");
  EXPECT_EQ(TypeOf(Template("{type: object}"), {.distinct = {"orders.shop.example.com:spec.x.spec.affinity"}}), "own");
  EXPECT_EQ(TypeOf(kToleration, {.distinct = {"orders.shop.example.com:spec.xyz"}}), "::k8s::core::v1::Toleration");
}

TEST(UsedTypes, OfASingleGroupAreItsOwnAndWhatTheyAreMadeOf) {
  const std::vector<UsedApi> batch = Documents("/apis__batch__v1.json");
  EXPECT_EQ(TypeOf(kToleration, {}, batch), "::k8s::core::v1::Toleration");
  EXPECT_EQ(TypeOf(kSelector, {}, batch), "LabelSelector");
  const std::string ingress =
      "ingressClassName: {type: string}, rules: {type: array, items: {type: object, properties: {host: {type: "
      "string}}}}, tls: {type: array, items: {type: object, properties: {secretName: {type: string}}}}";
  EXPECT_EQ(TypeOf(ingress, {}, batch), "own");
  EXPECT_EQ(TypeOf(ingress), "::k8s::networking::v1::IngressSpec");
  const UseOptions secret{.types = {{"orders.shop.example.com:spec.x", "k8s::core::v1::Secret"}}};
  EXPECT_THAT(TypeOf(kToleration, secret, batch), HasSubstr("no used API has a type \"k8s::core::v1::Secret\""));
}

TEST(UsedTypes, OfDocumentsAreAllDefinitionsButTheKindsThatAreGenerated) {
  Loaded loaded;
  loaded.api =
      commands::LoadApi({test_support::SourcePath("openapi/kubernetes-1.36/apis__batch__v1.json")}, loaded.diagnostics);
  UseTypes(loaded.api, BuiltIn(), {}, loaded.diagnostics);
  const Plan plan = MakePlan(loaded.api, {.name_space = "jobs"}, loaded.diagnostics);
  EXPECT_EQ(loaded.Said(), "");
  ASSERT_EQ(plan.versions.size(), 1u);
  std::vector<std::string> names;
  for (const PlannedStruct& planned : plan.versions[0].structs) names.push_back(planned.name);
  EXPECT_THAT(names, ElementsAre("CronJob", "CronJobList", "Job", "JobList"));
  EXPECT_THAT(plan.versions[0].types.includes, ElementsAre("k8s/batch/v1/types.h"));
  EXPECT_EQ(plan.versions[0].structs[2].fields.at(1).detail, "&::k8s::batch::v1::JobSpec::kTable");
}

TEST(UsedTypes, EveryAnchorIsATypeOfTheBuiltInApi) {
  const model::Api& api = BuiltIn().at(0).api;
  for (const model::Anchors::Anchor& anchor : model::Anchors::All()) {
    const model::TypeId type = api.FindType(anchor.group, "v1", anchor.name);
    ASSERT_NE(type, model::kNoType) << anchor.name;
    for (std::string_view field : anchor.telling)
      EXPECT_NE(api.types[type].schema.Find(field), nullptr) << anchor.name << "." << field;
  }
}

// Position names do not depend on whether a nested object is a named type.
TEST(NamedTypes, HaveAliasesInTheStructsThatUseThem) {
  Loaded loaded = Load({test_support::ReadFile(test_support::SourcePath("tests/compile/ring.yaml"))});
  const Plan plan = MakePlan(loaded.api, {.name_space = "ring"}, loaded.diagnostics);
  std::map<std::string, std::string> aliases;
  for (const PlannedStruct& planned : plan.versions.at(0).structs) {
    for (const PlannedAlias& alias : planned.aliases) aliases[planned.name + "::" + alias.name] = alias.target;
  }
  EXPECT_EQ(aliases["Ring::Spec"], "First");
  EXPECT_FALSE(aliases.contains("Ring::Metadata"));
  EXPECT_EQ(aliases["First::Named"], "Third");
  EXPECT_EQ(aliases["First::Second"], "v1::Second");
  EXPECT_EQ(aliases["First::Seconds"], "v1::Second") << "Second is declared in the same class";
}

}  // namespace
}  // namespace kgen::generator::emit
