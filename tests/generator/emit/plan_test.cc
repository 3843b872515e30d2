// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The plan of a resource: its methods, and the data about its kind.
#include "generator/emit/plan/make_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "generator/emit/spelling/describe.h"
#include "tests/generator/load.h"

namespace kgen::generator::emit {
namespace {

using test::Load;
using test::Loaded;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The version of the first document's only group.
PlannedVersion PlanOf(Loaded loaded) {
  EXPECT_EQ(loaded.Said(), "");
  Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(plan.versions.size(), 1u);
  return plan.versions.empty() ? PlannedVersion() : std::move(plan.versions[0]);
}

// An API document with the resource `widgets`, that can be read, and a subresource `scale` with these operations.
std::string WidgetDocument(const std::string& operations) {
  return R"(openapi: 3.0.0
info: {title: t, version: '1'}
components:
  schemas:
    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: string}}}
    io.k8s.api.apps.v1.Widget:
      type: object
      properties:
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
      x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Widget}]
paths:
  /apis/apps/v1/namespaces/{namespace}/widgets/{name}:
    get: {x-kubernetes-action: get, x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}}
  /apis/apps/v1/namespaces/{namespace}/widgets/{name}/scale:
)" + operations;
}

std::string ScaleOperation(const std::string& method, const std::string& group, const std::string& version) {
  return "    " + method + ": {x-kubernetes-action: " + method + ", x-kubernetes-group-version-kind: {group: " + group +
         ", version: " + version + ", kind: Scale}}\n";
}

// Contract: generator OP-13.
TEST(PlanOfScale, HasTheVerbsThatThePathHas) {
  const std::string get = ScaleOperation("get", "autoscaling", "v1"), put = ScaleOperation("put", "autoscaling", "v1");
  const PlannedVersion both = PlanOf(Load({WidgetDocument(get + put)}));
  EXPECT_EQ(both.resources.at(0).verbs, "kgen::Verbs::kGet | kgen::Verbs::kScale");
  const PlannedVersion read = PlanOf(Load({WidgetDocument(get)}));
  EXPECT_EQ(read.resources.at(0).verbs, "kgen::Verbs::kGet | kgen::Verbs::kGetScale");
  const PlannedVersion patched = PlanOf(Load({WidgetDocument(ScaleOperation("patch", "autoscaling", "v1"))}));
  EXPECT_EQ(patched.resources.at(0).verbs, "kgen::Verbs::kGet");
}

// Contract: generator OP-02.
TEST(PlanOfScale, IsForTheScaleOfTheRuntimeOnly) {
  const PlannedVersion version = PlanOf(Load({WidgetDocument(ScaleOperation("get", "extensions", "v1beta1"))}));
  EXPECT_EQ(version.resources.at(0).verbs, "kgen::Verbs::kGet");
}

// A document of widgets, whose subresources have these paths, and of the kinds that these send.
std::string SubresourceDocument(const std::string& paths) {
  std::string text = WidgetDocument("");
  text.erase(text.rfind("  /apis/"));
  const std::string permit = R"(
    io.k8s.api.x.v1.Permit:
      type: object
      properties:
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
        options: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'}
      x-kubernetes-group-version-kind: [{group: x.k8s.io, version: v1, kind: Permit}]
    io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions: {type: object}
    io.k8s.api.x.v1.Bare:
      type: object
      properties: {name: {type: string}}
      x-kubernetes-group-version-kind: [{group: x.k8s.io, version: v1, kind: Bare}])";
  text.insert(text.find("\npaths:"), permit);
  return text + paths;
}

std::string SubresourcePath(const std::string& name) {
  return "  /apis/apps/v1/namespaces/{namespace}/widgets/{name}/" + name + ":\n";
}

std::string SubresourceOperation(const std::string& method, const std::string& action, const std::string& gvk,
                                 const std::string& response = "{$ref: x}") {
  return "    " + method + ": {x-kubernetes-action: " + action + ", x-kubernetes-group-version-kind: " + gvk +
         ", responses: {'200': {description: '', content: {text/plain: {schema: " + response + "}}}}}\n";
}

constexpr char kWidgetGvk[] = "{group: apps, version: v1, kind: Widget}";
constexpr char kPermitGvk[] = "{group: x.k8s.io, version: v1, kind: Permit}";

std::string Described(const PlannedResource& resource) {
  std::string out;
  for (const PlannedSubresource& sub : resource.subresources) out += sub.name + " " + sub.body + " " + sub.verbs + "\n";
  return out;
}

// Contract: generator OP-14.
TEST(PlanOfSubresources, HasTheBodiesAndVerbsOfTheDocument) {
  Loaded loaded = Load({SubresourceDocument(
      SubresourcePath("permit") + SubresourceOperation("post", "post", kPermitGvk) + SubresourcePath("resize") +
      SubresourceOperation("get", "get", kWidgetGvk) + SubresourceOperation("put", "put", kWidgetGvk) +
      SubresourceOperation("patch", "patch", kWidgetGvk) + SubresourcePath("status") +
      SubresourceOperation("put", "put", kWidgetGvk))});
  ASSERT_EQ(loaded.Said(), "");
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  ASSERT_EQ(plan.versions.size(), 2u);
  const PlannedVersion& apps = plan.versions[0];
  EXPECT_EQ(Described(apps.resources.at(0)),
            "\"permit\" ::acme::x::v1::Permit kgen::Verbs::kCreate\n"
            "\"resize\" Widget kgen::Verbs::kGet | kgen::Verbs::kUpdate | kgen::Verbs::kPatch\n");
  EXPECT_EQ(apps.resources[0].verbs, "kgen::Verbs::kGet | kgen::Verbs::kUpdateStatus");
  EXPECT_EQ(apps.foreign, (std::map<std::string, std::set<std::string>, std::less<>>{{"acme::x::v1", {"Permit"}}}));
}

// Contract: generator OP-22, WK-01.
TEST(PlanOfSubresources, MakesATypeOfABodyThatHasNoPathOfItsOwn) {
  Loaded loaded =
      Load({SubresourceDocument(SubresourcePath("permit") + SubresourceOperation("post", "post", kPermitGvk))});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(loaded.Said(), "");
  ASSERT_EQ(plan.versions.size(), 2u);
  const PlannedVersion& x = plan.versions[1];
  EXPECT_TRUE(x.resources.empty());
  ASSERT_EQ(x.structs.size(), 1u);
  EXPECT_EQ(x.structs[0].kind_symbol, "kPermitKind") << "so that it is sent with its apiVersion and kind";
  EXPECT_EQ(x.structs[0].fields.at(1).type, "kgen::Optional<kgen::meta::v1::DeleteOptions>");
  ASSERT_EQ(x.kinds.size(), 1u);
  EXPECT_EQ(x.kinds[0].resource, "\"\"");
  EXPECT_EQ(x.kinds[0].list_kind, "\"\"");
}

// Contract: generator OP-15.
TEST(PlanOfSubresources, HasTextWhereTheResponseIsAString) {
  const PlannedVersion version = PlanOf(Load({SubresourceDocument(
      SubresourcePath("log") + SubresourceOperation("get", "get", kWidgetGvk, "{type: string}"))}));
  EXPECT_EQ(Described(version.resources.at(0)), "\"log\" std::string kgen::Verbs::kGet\n");
}

// Contract: generator OP-09.
TEST(PlanOfSubresources, LeavesOutStreamsOfBytesAndBodiesWithoutDefinitionOrMetadata) {
  const std::string unknown = "{group: x.k8s.io, version: v1, kind: PodExecOptions}";
  const std::string bare = "{group: x.k8s.io, version: v1, kind: Bare}";
  const PlannedVersion version = PlanOf(Load({SubresourceDocument(
      SubresourcePath("proxy") + SubresourceOperation("get", "connect", kWidgetGvk, "{type: string}") +
      SubresourcePath("exec") + SubresourceOperation("post", "post", unknown) + SubresourcePath("bare") +
      SubresourceOperation("post", "post", bare))}));
  EXPECT_EQ(Described(version.resources.at(0)), "");
}

// Contract: generator OP-02.
TEST(PlanOfScale, OfAnotherTypeIsASubresourceLikeOthers) {
  Loaded loaded =
      Load({SubresourceDocument(SubresourcePath("scale") + SubresourceOperation("get", "get", kPermitGvk))});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  ASSERT_EQ(plan.versions.size(), 2u);
  EXPECT_EQ(Described(plan.versions[0].resources.at(0)), "\"scale\" ::acme::x::v1::Permit kgen::Verbs::kGet\n");
  EXPECT_EQ(plan.versions[0].resources[0].verbs, "kgen::Verbs::kGet");
}

// An API document with these definitions, each of which has the kind `Widget` of its version.
std::string DocumentOf(const std::string& definitions, const std::vector<std::string>& versions) {
  std::string text = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\ncomponents:\n  schemas:\n" + definitions +
                     "    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: "
                     "string}}}\n";
  std::string paths = "paths:\n";
  for (const std::string& version : versions) {
    const std::string gvk = "{group: x.example.com, version: " + version + ", kind: Widget}";
    text += "    com.example.x." + version + ".Widget:\n      type: object\n      properties:\n" +
            "        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}\n" +
            "        a: {$ref: '#/components/schemas/com.example.x." + version + ".A'}\n" +
            "      x-kubernetes-group-version-kind: [" + gvk + "]\n";
    paths += "  /apis/x.example.com/" + version + "/namespaces/{namespace}/widgets/{name}:\n" +
             "    get: {x-kubernetes-action: get, x-kubernetes-group-version-kind: " + gvk + "}\n";
  }
  return text + paths;
}

// Contract: generator REF-08.
TEST(PlanOfTypes, DeclareWhatTheyMeetBeforeItsDefinition) {
  const PlannedVersion version = PlanOf(Load({DocumentOf(R"(
    com.example.x.v1.A: {type: object, properties: {b: {$ref: '#/components/schemas/com.example.x.v1.B'}}}
    com.example.x.v1.B:
      type: object
      properties:
        a: {$ref: '#/components/schemas/com.example.x.v1.A'}
        b: {$ref: '#/components/schemas/com.example.x.v1.B'}
)",
                                                         {"v1"})}));
  EXPECT_THAT(version.types.declared, ElementsAre("A"));
  ASSERT_EQ(version.structs.size(), 3u);
  EXPECT_EQ(version.structs[0].name, "B");
  EXPECT_EQ(version.structs[0].fields.at(0).initializer, "{kgen::kAbsent}");
  EXPECT_EQ(version.structs[0].fields.at(1).initializer, " = kgen::kAbsent");
  EXPECT_EQ(version.structs[1].name, "A");
  EXPECT_EQ(version.structs[1].fields.at(0).initializer, " = kgen::kAbsent");
}

// Contract: generator OA-24.
TEST(PlanOfTypes, AreThoseThatAKindNeeds) {
  const PlannedVersion version = PlanOf(Load({DocumentOf(R"(
    com.example.x.v1.A: {type: object, properties: {b: {type: array, items: {$ref: '#/components/schemas/com.example.x.v1.B'}}}}
    com.example.x.v1.B: {type: object, properties: {name: {type: string}}}
    com.example.x.v1.Lonely: {type: object, properties: {name: {type: string}}}
)",
                                                         {"v1"})}));
  std::vector<std::string> names;
  for (const PlannedStruct& planned : version.structs) names.push_back(planned.name);
  EXPECT_THAT(names, ElementsAre("B", "A", "Widget"));
}

TEST(PlanOfTypes, RefusesVersionsThatNeedEachOther) {
  Loaded loaded = Load({DocumentOf(R"(
    com.example.x.v1.A: {type: object, properties: {a: {$ref: '#/components/schemas/com.example.x.v1beta1.A'}}}
    com.example.x.v1.B: {type: object, properties: {name: {type: string}}}
    com.example.x.v1beta1.A: {type: object, properties: {b: {$ref: '#/components/schemas/com.example.x.v1.B'}}}
)",
                                   {"v1", "v1beta1"})});
  ASSERT_EQ(loaded.Said(), "");
  (void)MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(
      loaded.Said(),
      "input.yaml:6:5 error version-cycle: \"A\" of x.example.com/v1 needs a type of x.example.com/v1beta1, which "
      "needs types of x.example.com/v1\n"
      "input.yaml:8:5 error version-cycle: \"A\" of x.example.com/v1beta1 needs a type of x.example.com/v1, which "
      "needs types of x.example.com/v1beta1\n");
}

// Contract: generator GRP-02.
TEST(PlanOfTypes, StopsAtGroupsThatShareANameAndAVersion) {
  const std::string widget = "{group: x.example.com, version: v1, kind: Widget}";
  Loaded loaded = Load({R"(openapi: 3.0.0
info: {title: t, version: '1'}
components:
  schemas:
    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: string}}}
    io.k8s.api.x.v1.Spec: {type: object, properties: {name: {type: string}}}
    io.k8s.api.x.v1.Widget:
      type: object
      properties:
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
        spec: {$ref: '#/components/schemas/io.k8s.api.x.v1.Spec'}
      x-kubernetes-group-version-kind: [)" +
                        widget + R"(]
paths:
  /apis/x.example.com/v1/namespaces/{namespace}/widgets/{name}:
    get: {x-kubernetes-action: get, x-kubernetes-group-version-kind: )" +
                        widget + "}\n"});
  ASSERT_EQ(loaded.Said(), "");
  (void)MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_THAT(loaded.Said(), HasSubstr("\"x\" at input.yaml:6:5 and \"x.example.com\" at input.yaml:7:5 share the C++ "
                                       "name x"));
}

TEST(PlanOfKinds, WarnsThatAServedKindWithoutMetadataIsLeftOut) {
  std::string text = WidgetDocument("");
  const std::string metadata =
      "        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}";
  text.replace(text.find(metadata), metadata.size(), "        name: {type: string}");
  Loaded loaded = Load({text.substr(0, text.rfind("  /apis/"))});
  ASSERT_EQ(loaded.Said(), "");
  EXPECT_TRUE(MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics).versions.empty());
  EXPECT_EQ(loaded.Said(),
            "input.yaml:6:5 warning no-object-meta: \"Widget\" is served but has no object metadata; no code is "
            "generated for "
            "it | components.schemas[\"io.k8s.api.apps.v1.Widget\"]\n");
}

// Orders in v1, which declares a scale, and in v2, which does not.
// Contract: generator CRD-20.
TEST(PlanOfScale, UsesThePathsOfTheVersion) {
  std::string crd = test::OrderCrd("spec: {type: object, properties: {shards: {type: integer}}}");
  crd += "    subresources: {scale: {specReplicasPath: .spec.shards, statusReplicasPath: .status.shards}}\n";
  crd += "  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n";
  crd += "  conversion: {strategy: Webhook}\n";
  Loaded loaded = Load({crd});
  ASSERT_EQ(loaded.Said(), "");
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  ASSERT_EQ(plan.versions.size(), 2u);
  EXPECT_EQ(plan.versions[0].version, "v2");
  EXPECT_EQ(plan.versions[0].resources.at(0).verbs, "kgen::Verbs::kStandard");
  EXPECT_EQ(plan.versions[1].resources.at(0).verbs, "kgen::Verbs::kStandard | kgen::Verbs::kScale");
}

// The part of a v1 CRD's only version that follows the schema, indented by four.
PlannedStruct OrderWith(const std::string& metadata) {
  PlannedVersion version = PlanOf(Load({test::OrderCrd("spec: {type: object}") + metadata}));
  return version.structs.empty() ? PlannedStruct() : std::move(version.structs[0]);
}

TEST(PlanOfMetadata, IsEmptyWhereTheInputDeclaresNone) {
  const PlannedStruct order = OrderWith("");
  EXPECT_TRUE(order.enums.empty());
  EXPECT_TRUE(order.columns.empty());
}

// Contract: generator CRD-20, SEC-01.
TEST(PlanOfMetadata, EscapesPathsInLiterals) {
  const PlannedStruct order = OrderWith(
      "    subresources: {scale: {specReplicasPath: \"\\\"; int x; */\", statusReplicasPath: \"a\\nb\\\\\"}}\n"
      "    selectableFields: [{jsonPath: \"\\\"*/\\n\"}]\n");
  ASSERT_EQ(order.enums.size(), 2u);
  EXPECT_EQ(order.enums[0].name, "ScalePaths");
  EXPECT_EQ(order.enums[0].constants[0].value, R"("\"; int x; */")");
  EXPECT_EQ(order.enums[0].constants[1].value, R"("a\nb\\")");
  EXPECT_EQ(order.enums[0].constants[2].value, R"("")");
  ASSERT_EQ(order.enums[1].constants.size(), 1u);
  EXPECT_EQ(order.enums[1].constants[0].value, R"("\"*/\n")");
  EXPECT_THAT(order.enums[1].constants[0].identifier, ::testing::MatchesRegex("k[A-Za-z]+"));
}

// Contract: generator CRD-23.
TEST(PlanOfMetadata, NamesFieldsAsFieldSelectorsDo) {
  const PlannedStruct order =
      OrderWith("    selectableFields: [{jsonPath: .spec.z}, {jsonPath: .spec.a.b}, {jsonPath: .spec.z}]\n");
  ASSERT_EQ(order.enums.size(), 1u);
  EXPECT_EQ(order.enums[0].name, "SelectableFields");
  ASSERT_EQ(order.enums[0].constants.size(), 2u);
  EXPECT_EQ(order.enums[0].constants[0].identifier, "kSpecAB");
  EXPECT_EQ(order.enums[0].constants[0].value, "\"spec.a.b\"");
  EXPECT_EQ(order.enums[0].constants[1].identifier, "kSpecZ");
}

// Contract: generator ENUM-04.
TEST(PlanOfEnums, NamesValuesThatDifferInCaseBySpellingAlone) {
  Loaded loaded = Load({test::OrderCrd("a: {type: string, enum: [replace, keep, Replace]}")});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(loaded.Said(), "");
  const PlannedEnum& values = plan.versions.at(0).structs.at(0).enums.at(0);
  ASSERT_EQ(values.constants.size(), 3u);
  EXPECT_EQ(values.constants[0].identifier, "kReplace");
  EXPECT_EQ(values.constants[1].identifier, "k_keep");
  EXPECT_EQ(values.constants[2].identifier, "k_replace");
}

TEST(PlanOfEnums, LeavesOutTheConstantsOfAVeryLargeOne) {
  const auto plan_of = [](int count, Loaded& loaded) {
    std::string values;
    for (int i = 0; i < count; ++i) values += (i == 0 ? "v" : ", v") + std::to_string(i);
    loaded = Load({test::OrderCrd("a: {type: string, enum: [" + values + "]}")});
    return MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics).versions.at(0).structs.at(0);
  };
  Loaded loaded;
  EXPECT_EQ(plan_of(5000, loaded).enums.at(0).constants.size(), 5000u);
  EXPECT_EQ(loaded.Said(), "");
  const PlannedStruct order = plan_of(5001, loaded);
  EXPECT_THAT(order.enums, ::testing::IsEmpty());
  EXPECT_THAT(order.fields.at(1).comment, ::testing::IsEmpty());
  EXPECT_EQ(loaded.Said(),
            "input.yaml:16:11 warning enum-size: the enum has 5001 values; it gets no constants, because they would "
            "take too long to compile | acme.shop.v1.Order.a\n");
}

// The member `a`, whose schema is this.
PlannedField MemberOf(const std::string& schema, const std::string& name = "a") {
  const PlannedVersion version = PlanOf(Load({test::OrderCrd(name + ": " + schema)}));
  for (const PlannedField& field : version.structs.at(0).fields) {
    if (field.wire_name == name) return field;
  }
  PlannedField none;
  none.comment = {"no member"};
  return none;
}
Comment CommentOf(const std::string& schema) { return MemberOf(schema).comment; }

// Contract: generator DOC-08, DOC-13.
TEST(PlanOfComments, HoldWhatTheDeclarationDoesNotShowAndNothingElse) {
  EXPECT_THAT(CommentOf("{type: boolean}"), ElementsAre());
  EXPECT_THAT(CommentOf("{type: boolean, description: '  '}"), ElementsAre());
  EXPECT_THAT(CommentOf("{type: object, properties: {b: {type: string}}}"), ElementsAre());
  EXPECT_THAT(CommentOf("{type: string, description: Words., default: ''}"), ElementsAre("// Words. Default: \"\"."));
  EXPECT_THAT(CommentOf("{type: integer, default: 0, deprecated: true}"), ElementsAre("// Deprecated. Default: 0."));
}

// Contract: generator DOC-13.
TEST(PlanOfComments, SayLimitsInWords) {
  EXPECT_THAT(CommentOf("{type: string, minLength: 1, maxLength: 80}"), ElementsAre("// 1 to 80 characters."));
  EXPECT_THAT(CommentOf("{type: string, minLength: 1}"), ElementsAre("// At least 1 character."));
  EXPECT_THAT(CommentOf("{type: array, maxItems: 3, items: {type: string}}"), ElementsAre("// At most 3 elements."));
  EXPECT_THAT(CommentOf("{type: integer, minimum: 0, maximum: 9}"), ElementsAre("// 0 to 9."));
  EXPECT_THAT(CommentOf("{type: number, minimum: 0, exclusiveMinimum: true, maximum: 9, multipleOf: 3}"),
              ElementsAre("// More than 0, at most 9, a multiple of 3."));
  EXPECT_THAT(CommentOf("{type: string, pattern: '^[a-z]{1,80}([a-z0-9-]{0,80}[a-z0-9])?(\\.[a-z0-9-]{1,80}){0,9}$'}"),
              ElementsAre("// Pattern `^[a-z]{1,80}([a-z0-9-]{0,80}[a-z0-9])?(\\.[a-z0-9-]{1,80}){0,9}$`."));
}

// Contract: generator DOC-13.
TEST(PlanOfComments, NameTheStructOfTheKnownValues) {
  EXPECT_THAT(CommentOf("{type: string, enum: [a, '', 'b`c']}"), ElementsAre("// One of AValues."));
  EXPECT_THAT(CommentOf("{type: array, items: {type: string, enum: [a]}}"), ElementsAre("// Each one of AValues."));
}

TEST(PlanOfComments, BeginWithTheWireNameOfAMemberThatIsSpelledDifferently) {
  EXPECT_THAT(MemberOf("{type: string}", "template").comment, ElementsAre("// `template`."));
  EXPECT_THAT(MemberOf("{type: string}", "a-b").comment, ElementsAre("// `a-b`."));
  EXPECT_THAT(MemberOf("{type: string, enum: [x], description: How}", "operator").comment,
              ElementsAre("// `operator`. One of OperatorValues. How"));
  EXPECT_THAT(MemberOf("{type: string}", "plain").comment, ElementsAre());
}

TEST(PlanOfComments, PutTheDescriptionBetweenTheFacts) {
  EXPECT_THAT(CommentOf("{type: array, description: All parts, default: [], minItems: 1, x-kubernetes-list-type: map, "
                        "x-kubernetes-list-map-keys: [x], items: {type: object, properties: {x: {type: string}}}}"),
              ElementsAre("// Elements are identified by `x`. All parts. Default: `[]`. At least 1 element."));
}

TEST(PlanOfComments, CutADescriptionThatDoesNotFitIntoTwoLinesAndKeepTheFacts) {
  const auto cut = [](const std::string& text) {
    const Comment comment = CommentOf("{type: string, default: x, description: '" + text + "'}");
    EXPECT_EQ(comment.size(), 2u);
    for (const std::string& line : comment) EXPECT_LE(line.size(), 118u) << line;
    return comment.size() == 2 ? comment[1] : std::string();
  };
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word" + std::to_string(i) + " ";
  EXPECT_THAT(cut(words), ::testing::EndsWith(" word31... Default: \"x\"."));
  EXPECT_THAT(cut(words.substr(0, 150) + "end. " + words), ::testing::EndsWith("end. ... Default: \"x\"."));
  EXPECT_THAT(cut("End. " + words), ::testing::EndsWith("... Default: \"x\".")) << "a short first sentence says little";
  EXPECT_THAT(CommentOf("{type: string, default: x, description: '" + std::string(500, 'w') + "'}"),
              ElementsAre("// ... Default: \"x\"."));
}

TEST(PlanOfComments, HaveTheFactsOfADescriptionInAFixedOrder) {
  model::Field field;
  field.name = "replicas";
  field.required = true;
  field.description = {"How many there are"};
  field.notes = {.default_json = "1", .unit = "pods", .set_by = "kubelet", .immutable = true};
  field.schema = std::make_unique<model::Schema>();
  EXPECT_THAT(DescribeMember({&field}, "replicas", "", 120),
              ElementsAre("// Required. How many there are. Default: 1. In pods. Immutable. Set by the kubelet."));
  field.description = {"How many pods there are."};
  EXPECT_THAT(DescribeMember({&field}, "replicas", "", 120),
              ElementsAre("// Required. How many pods there are. Default: 1. Immutable. Set by the kubelet."));
}

TEST(PlanOfEnums, MakesOneStructOfEqualConstants) {
  const PlannedVersion version = PlanOf(Load({test::OrderCrd(
      "spec: {type: object, properties: {a: {type: string, enum: [x, w]}, b: {type: object, properties: "
      "{c: {type: string, enum: [w, x]}}}, d: {type: string, enum: [x, z]}}}")}));
  const PlannedStruct& spec = version.structs.at(0).nested.at(0);
  EXPECT_EQ(spec.nested.at(0).enums.at(0).same_as, "");
  EXPECT_EQ(spec.enums.at(0).same_as, "v1::Order::Spec::B::CValues") << "nested structs stand first";
  EXPECT_EQ(spec.enums.at(1).same_as, "");
}

// Returns PlannedEnum::same_as of v1beta1 A, whose member `b` has this type and whose constants v1 B has too.
std::string ConstantsOfTheOldVersion(const std::string& type_of_b) {
  const std::string constants = "c: {type: string, enum: [w, x]}";
  Loaded loaded = Load({DocumentOf(
      "    com.example.x.v1.A: {type: object, properties: {b: {$ref: '#/components/schemas/com.example.x.v1.B'}}}\n"
      "    com.example.x.v1.B: {type: object, properties: {" +
          constants +
          "}}\n"
          "    com.example.x.v1beta1.A: {type: object, properties: {b: " +
          type_of_b + ", " + constants + "}}\n",
      {"v1", "v1beta1"})});
  const Plan plan = MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_EQ(loaded.Said(), "");
  return plan.versions.at(1).structs.at(0).enums.at(0).same_as;
}

TEST(PlanOfEnums, TakesTheConstantsOfAnotherVersionIfItsHeaderIsIncludedAnyway) {
  EXPECT_EQ(ConstantsOfTheOldVersion("{$ref: '#/components/schemas/com.example.x.v1.B'}"), "::acme::x::v1::B::CValues");
  EXPECT_EQ(ConstantsOfTheOldVersion("{type: string}"), "");
}

TEST(PlanOfAliases, OfNamedTypesStandAfterTheMembers) {
  const PlannedVersion version = PlanOf(Load({DocumentOf(R"(
    com.example.x.v1.A: {type: object, properties: {b: {$ref: '#/components/schemas/com.example.x.v1.B'}}}
    com.example.x.v1.B: {type: object, properties: {c: {type: string}}}
)",
                                                         {"v1"})}));
  const PlannedStruct& a = version.structs.at(1);
  ASSERT_EQ(a.name, "A");
  EXPECT_TRUE(a.aliases.at(0).after);
  EXPECT_EQ(a.aliases.at(0).name, "B");
  EXPECT_EQ(a.fields.at(0).type, "kgen::Optional<v1::B>") << "GCC refuses a name that gets another meaning later";
}

TEST(PlanOfComments, SayThatAMemberIsRequired) {
  const PlannedVersion version = PlanOf(Load({DocumentOf(R"(
    com.example.x.v1.A: {type: object, required: [c], properties: {b: {type: string, default: ''}, c: {type: string}}}
)",
                                                         {"v1"})}));
  EXPECT_THAT(version.structs.at(0).comment, ElementsAre()) << "its name in the reference is that of the struct";
  EXPECT_THAT(version.structs.at(0).fields.at(0).comment, ElementsAre());
  EXPECT_THAT(version.structs.at(0).fields.at(1).comment, ElementsAre("// Required."));
  EXPECT_THAT(version.structs.at(1).comment, ElementsAre("// `widgets` of x.example.com/v1, namespaced."));
}

TEST(PlanOfComments, SayHowToGetDescriptionsThatTheInputLacks) {
  const std::string type = "com.example.x.v1.A: {type: object, properties: {b: {type: string";
  const PlannedVersion bare = PlanOf(Load({DocumentOf("\n    " + type + "}}}\n", {"v1"})}));
  ASSERT_EQ(bare.documentation.size(), 3u);
  EXPECT_THAT(bare.documentation[2], ::testing::HasSubstr("/openapi/v3/apis/x.example.com/v1"));
  const PlannedVersion described = PlanOf(Load({DocumentOf("\n    " + type + ", description: Words.}}}\n", {"v1"})}));
  EXPECT_THAT(described.documentation, ElementsAre());
  EXPECT_THAT(PlanOf(Load({test::OrderCrd("a: {type: string}")})).documentation, ElementsAre());
}

// Contract: generator MV-03.
TEST(PlanOfComments, SayThatAVersionIsDeprecated) {
  std::string crd = test::OrderCrd("a: {type: string}");
  crd.replace(crd.find("storage: true"), 13,
              "storage: true\n    deprecated: true\n    deprecationWarning: 'use \"v2\" */'");
  const PlannedVersion version = PlanOf(Load({crd}));
  EXPECT_THAT(version.structs.at(0).comment,
              ElementsAre("// `orders` of shop.example.com/v1, namespaced.", "// Deprecated: use \"v2\" */"));
  EXPECT_THAT(version.resources.at(0).deprecation, ElementsAre("// Deprecated: use \"v2\" */"));
  crd.replace(crd.find("deprecationWarning"), 18, "description_______");
  EXPECT_THAT(
      PlanOf(Load({crd})).resources.at(0).deprecation,
      ElementsAre("// Deprecated: shop.example.com/v1 Order will be removed from the API; use a newer version."));
}

TEST(PlanOfTypes, WarnsWhyAMemberIsAnyJson) {
  Loaded loaded = Load({DocumentOf(R"(
    Loose: {type: object, properties: {b: {type: string}}}
    com.example.x.v1.A: {type: object, properties: {b: {$ref: '#/components/schemas/Loose'}}}
)",
                                   {"v1"})});
  ASSERT_EQ(loaded.Said(), "");
  (void)MakePlan(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
  EXPECT_THAT(loaded.Said(),
              ::testing::HasSubstr("warning no-struct: no C++ type is generated for \"Loose\"; the member is any "
                                   "JSON | acme.x.v1.A.b\n"));
  EXPECT_THAT(loaded.diagnostics.Render(),
              ::testing::HasSubstr("hint: types are generated for definitions whose names contain a"));
}

TEST(PlanOfTypes, MarksTheStructsWhoseSchemaPreservesUnknownMembers) {
  const PlannedVersion version =
      PlanOf(Load({test::OrderCrd("open:\n"
                                  "  type: object\n"
                                  "  x-kubernetes-preserve-unknown-fields: true\n"
                                  "  properties:\n"
                                  "    closed: {type: object, properties: {a: {type: string}}}\n"
                                  "    resource:\n"
                                  "      type: object\n"
                                  "      x-kubernetes-embedded-resource: true\n"
                                  "      x-kubernetes-preserve-unknown-fields: true\n"
                                  "      properties: {a: {type: string}}")}));
  const PlannedStruct& order = version.structs.at(0);
  EXPECT_FALSE(order.preserve_unknown);
  const PlannedStruct& open = order.nested.at(0);
  EXPECT_TRUE(open.preserve_unknown);
  EXPECT_FALSE(open.nested.at(0).preserve_unknown) << open.nested.at(0).path;
  EXPECT_TRUE(open.nested.at(1).preserve_unknown) << open.nested.at(1).path;
}

}  // namespace
}  // namespace kgen::generator::emit
