// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OpenAPI v2 documents: what comes out of them, beside what comes out of the v3 documents of the same server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "generator/diff/differences.h"
#include "generator/diff/wire_diff.h"
#include "generator/emit/render/emitter.h"
#include "tests/generator/load.h"
#include "tests/support/paths.h"

namespace kgen::generator {
namespace {

using test::Load;
using test::Loaded;
using ::testing::HasSubstr;

// What a server of one kind publishes, in both formats.
constexpr std::string_view kV2 = R"(swagger: '2.0'
info: {title: t, version: '1'}
parameters:
  watch-XNNPZGbK: {name: watch, in: query, type: boolean, uniqueItems: true}
  namespace-vgWSWtn3: {name: namespace, in: path, required: true, type: string, uniqueItems: true}
definitions:
  io.k8s.api.apps.v1.Widget:
    description: A widget.
    type: object
    required: [spec]
    properties:
      apiVersion: {type: string}
      kind: {type: string}
      metadata: {description: Standard., $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}
      spec: {description: What is wanted., $ref: '#/definitions/io.k8s.api.apps.v1.WidgetSpec'}
    x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Widget}]
  io.k8s.api.apps.v1.WidgetList:
    type: object
    required: [items]
    properties:
      items: {type: array, items: {$ref: '#/definitions/io.k8s.api.apps.v1.Widget'}}
      metadata: {$ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'}
    x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: WidgetList}]
  io.k8s.api.apps.v1.WidgetSpec:
    type: object
    required: [size]
    properties:
      limits: {type: object, additionalProperties: {$ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity'}}
      mode: {type: string, enum: [Fast, Safe]}
      port: {$ref: '#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString'}
      size: {description: How big., type: integer, format: int32}
  io.k8s.apimachinery.pkg.api.resource.Quantity: {type: string}
  io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta: {type: object}
  io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object}
  io.k8s.apimachinery.pkg.util.intstr.IntOrString: {type: string, format: int-or-string}
paths:
  /apis/apps/v1/namespaces/{namespace}/widgets:
    get:
      parameters: [{$ref: '#/parameters/watch-XNNPZGbK'}]
      responses: {'200': {description: OK, schema: {$ref: '#/definitions/io.k8s.api.apps.v1.WidgetList'}}}
      x-kubernetes-action: list
      x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}
    parameters: [{$ref: '#/parameters/namespace-vgWSWtn3'}]
  /apis/apps/v1/namespaces/{namespace}/widgets/{name}:
    get:
      x-kubernetes-action: get
      x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}
    put:
      consumes: ['*/*']
      parameters: [{name: body, in: body, required: true, schema: {$ref: '#/definitions/io.k8s.api.apps.v1.Widget'}}]
      responses: {'200': {description: OK, schema: {$ref: '#/definitions/io.k8s.api.apps.v1.Widget'}}}
      x-kubernetes-action: put
      x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}
)";

constexpr std::string_view kV3 = R"(openapi: 3.0.0
info: {title: t, version: '1'}
components:
  schemas:
    io.k8s.api.apps.v1.Widget:
      description: A widget.
      type: object
      required: [spec]
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        metadata:
          description: Standard.
          allOf: [{$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}]
          default: {}
        spec:
          description: What is wanted.
          allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.WidgetSpec'}]
          default: {}
      x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Widget}]
    io.k8s.api.apps.v1.WidgetList:
      type: object
      required: [items]
      properties:
        items: {type: array, items: {allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.Widget'}], default: {}}}
        metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'}
      x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: WidgetList}]
    io.k8s.api.apps.v1.WidgetSpec:
      type: object
      required: [size]
      properties:
        limits:
          type: object
          additionalProperties: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity'}
        mode: {type: string, enum: [Fast, Safe], default: ''}
        port: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString'}
        size: {description: How big., type: integer, format: int32, default: 0}
    io.k8s.apimachinery.pkg.api.resource.Quantity: {oneOf: [{type: string}, {type: number}]}
    io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta: {type: object}
    io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object}
    io.k8s.apimachinery.pkg.util.intstr.IntOrString: {format: int-or-string, oneOf: [{type: integer}, {type: string}]}
paths:
  /apis/apps/v1/namespaces/{namespace}/widgets:
    get:
      parameters: [{name: watch, in: query, schema: {type: boolean, uniqueItems: true}}]
      x-kubernetes-action: list
      x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}
  /apis/apps/v1/namespaces/{namespace}/widgets/{name}:
    get:
      x-kubernetes-action: get
      x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}
    put:
      requestBody: {content: {'*/*': {schema: {$ref: '#/components/schemas/io.k8s.api.apps.v1.Widget'}}}}
      x-kubernetes-action: put
      x-kubernetes-group-version-kind: {group: apps, version: v1, kind: Widget}
)";

std::string Replace(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? out : out.replace(at, from.size(), to);
}

// Every generated file, by its path.
emit::Files EmitFrom(Loaded& loaded) {
  EXPECT_FALSE(loaded.diagnostics.has_errors()) << loaded.Said();
  return emit::Emit(loaded.api, {.name_space = "acme"}, loaded.diagnostics);
}

emit::Files EmitFiles(const std::vector<std::string>& files) {
  Loaded loaded;
  loaded.api = commands::LoadApi(files, loaded.diagnostics);
  return EmitFrom(loaded);
}

emit::Files EmitTexts(std::vector<std::string> texts) {
  Loaded loaded = Load(std::move(texts));
  EXPECT_EQ(loaded.Said(), "");
  return EmitFrom(loaded);
}

// Contract: generator OA-01, OA-04, OA-05, OA-06, OA-13.
TEST(OpenApiV2, GivesTheSameFilesAsV3) {
  const emit::Files v2 = EmitTexts({std::string(kV2)});
  EXPECT_THAT(v2.at("acme/apps/v1/types.h"), HasSubstr("kgen::Map<kgen::Quantity> limits{};"));
  EXPECT_THAT(v2.at("acme/apps/v1/types.h"), HasSubstr("kgen::IntOrString port{};"));
  EXPECT_TRUE(v2.contains("acme/apps/v1/informers.h"));
  EXPECT_EQ(v2, EmitTexts({std::string(kV3)}));
}

// Contract: generator OA-06.
TEST(OpenApiV2, ShowsNoDifferenceToV3) {
  const Loaded v2 = Load({std::string(kV2)});
  const Loaded v3 = Load({std::string(kV3)});
  model::Differences differences;
  model::CompareWire(v3.api, v2.api, differences);
  model::CompareWire(v2.api, v3.api, differences);
  for (const auto* list : {&differences.wire, &differences.source, &differences.added}) {
    for (const model::Finding& finding : *list) ADD_FAILURE() << finding.path << ": " << finding.text;
  }
}

TEST(OpenApiV2, FindsTheWatchParameterByItsReference) {
  const Loaded loaded = Load({Replace(kV2, "watch-XNNPZGbK'}]", "namespace-vgWSWtn3'}]")});
  const model::ApiKind* kind = loaded.api.FindKind({"apps", "v1", "Widget"});
  ASSERT_NE(kind, nullptr);
  EXPECT_TRUE(kind->resource->verbs.Has(model::Verb::kList));
  EXPECT_FALSE(kind->resource->verbs.Has(model::Verb::kWatch));
}

// Contract: generator IN-01, OA-03.
TEST(OpenApiV2, GivesWayToTheDefinitionOfAV3Document) {
  const std::string v3 = Replace(kV3, "mode: {type: string, enum: [Fast, Safe], default: ''}",
                                 "mode: {type: string, enum: [Fast, Safe], default: Safe}");
  const emit::Files alone = EmitTexts({v3});
  EXPECT_THAT(alone.at("acme/apps/v1/types.h"), HasSubstr("Default: \"Safe\"."));
  EXPECT_EQ(EmitTexts({std::string(kV2), v3}), alone);
  EXPECT_EQ(EmitTexts({v3, std::string(kV2)}), alone);
}

TEST(OpenApiV2, MustAgreeWithOtherV2Documents) {
  EXPECT_THAT(
      Load({std::string(kV2), Replace(kV2, "format: int32", "format: int64")}).Said(),
      HasSubstr("error definition-differs: this definition differs from the one at input.yaml:24:3, in size.format"));
}

// Contract: generator OA-11.
TEST(OpenApiV2, TakesAKindWithoutPropertiesAsAFreeFormObject) {
  const Loaded loaded = Load({R"(swagger: '2.0'
definitions:
  com.example.shop.v1.Order:
    type: object
    x-kubernetes-group-version-kind: [{group: shop.example.com, version: v1, kind: Order}]
paths: {}
)"});
  EXPECT_EQ(loaded.Said(), "");
  const model::TypeId id = loaded.api.FindType("shop.example.com", "v1", "Order");
  ASSERT_NE(id, model::kNoType);
  EXPECT_NE(loaded.api.types[id].schema.Find("metadata"), nullptr);
}

// Contract: generator ERR-01, REF-10, REF-11.
TEST(OpenApiV2, RefusesFaultsWithTheirPositionAndARemedy) {
  EXPECT_THAT(Load({"swagger: '1.2'\n"}).Said(),
              HasSubstr("input.yaml:1:10 error openapi-version: OpenAPI \"1.2\" is not supported | swagger"));
  EXPECT_THAT(Load({"swagger: '3.0.0'\n"}).Said(), HasSubstr("error openapi-version: OpenAPI \"3.0.0\""));
  EXPECT_THAT(Load({"openapi: '2.0'\n"}).Said(), HasSubstr("error openapi-version: OpenAPI \"2.0\""));
  EXPECT_THAT(Load({"swagger: 2.0\n"}).Said(),
              HasSubstr("input.yaml:1:10 error wrong-kind: expected a string, found a number \"2.0\" | swagger"));
  EXPECT_THAT(Load({"swagger: '2.0'\ndefinitions: []\n"}).Said(), HasSubstr("expected a map, found a list"));
  EXPECT_THAT(Load({"swagger: '2.0'\ndefinitions: {a.v1.A: 5}\n"}).Said(),
              HasSubstr("input.yaml:2:23 error wrong-kind: expected a schema (a map), found an integer \"5\" | "
                        "definitions[\"a.v1.A\"]"));
  EXPECT_THAT(Load({"swagger: '2.0'\npaths: {/apis/x/v1/ys: 5}\n"}).Said(), HasSubstr("error wrong-kind"));
  EXPECT_THAT(Load({Replace(kV2, "#/definitions/io.k8s.api.apps.v1.WidgetSpec", "#/definitions/gone")}).Said(),
              HasSubstr("error dangling-reference: there is no definition \"gone\""));
  EXPECT_THAT(Load({Replace(kV2, "#/definitions/io.k8s.api.apps.v1.WidgetSpec", "other.json#/definitions/x")}).Said(),
              HasSubstr("error reference-form: the reference \"other.json#/definitions/x\" points outside"));
}

// A parameter that is not there, or refers to itself, or is no map: it is not `watch`.
TEST(OpenApiV2, IgnoresFaultyParameters) {
  for (const char* parameter : {"{$ref: '#/parameters/gone'}", "{$ref: '#/parameters/'}", "{$ref: 5}", "5",
                                "{$ref: '#/components/parameters/watch-XNNPZGbK'}", "{$ref: '#/parameters/a/b'}"}) {
    const Loaded loaded = Load({Replace(kV2, "{$ref: '#/parameters/watch-XNNPZGbK'}", parameter)});
    EXPECT_EQ(loaded.Said(), "") << parameter;
    EXPECT_FALSE(loaded.api.FindKind({"apps", "v1", "Widget"})->resource->verbs.Has(model::Verb::kWatch)) << parameter;
  }
  EXPECT_THAT(Load({Replace(kV2, "parameters:\n  watch", "parameters: []\nx:\n  watch")}).Said(), "");
}

// ---- real documents

void ClearDefaults(model::Schema& schema) {
  schema.default_json.clear();
  if (schema.element != nullptr) ClearDefaults(*schema.element);
  for (model::Field& field : schema.fields) ClearDefaults(*field.schema);
}

// Emits the code without the defaults, which only a v3 document has.
emit::Files EmitWithoutDefaults(const std::vector<std::string>& files) {
  Loaded loaded;
  loaded.api = commands::LoadApi(files, loaded.diagnostics);
  for (model::NamedType& type : loaded.api.types) ClearDefaults(type.schema);
  return EmitFrom(loaded);
}

void ExpectSameFiles(const emit::Files& a, const emit::Files& b) {
  ASSERT_FALSE(a.empty());
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [path, text] : a) {
    ASSERT_TRUE(b.contains(path)) << path;
    EXPECT_TRUE(b.at(path) == text) << path << " differs";
  }
}

// Contract: generator OA-22, ACC-03.
TEST(OpenApiV2, GivesTheBytesOfTheV3DocumentsOfTheSameServer) {
  const auto pairs = test_support::SharedPath("corpus/openapi/pairs-1.24");
  if (!pairs) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  for (const char* pair : {"batch.v1", "apiextensions.k8s.io.v1"}) {
    SCOPED_TRACE(pair);
    ExpectSameFiles(EmitFiles({*pairs + "/v2_" + pair + ".json.gz"}), EmitFiles({*pairs + "/v3_" + pair + ".json.gz"}));
  }
}

// The only difference is that v2 has no defaults.
TEST(OpenApiV2, RefusesADocumentThatIsOfBothVersions) {
  const Loaded loaded = Load({"openapi: 3.0.0\nswagger: '2.0'\ninfo: {title: t, version: '1'}\n"});
  EXPECT_THAT(loaded.Said(), HasSubstr("error openapi-version: the document has both `openapi` and `swagger`"));
}

TEST(OpenApiV2, HoldsAllGroupsOfALiveServer) {
  const auto live = test_support::SharedPath("corpus/openapi/live-1.36.1");
  if (!live) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  std::vector<std::string> v3;
  for (const auto& entry : std::filesystem::directory_iterator(*live)) {
    if (entry.path().filename().native().starts_with("api")) v3.push_back(entry.path());
  }
  ASSERT_EQ(v3.size(), 22u);
  const emit::Files from_v3 = EmitFiles(v3);
  ExpectSameFiles(EmitWithoutDefaults({*live + "/openapi_v2.json.gz"}), EmitWithoutDefaults(v3));
  std::vector<std::string> both = v3;
  both.push_back(*live + "/openapi_v2.json.gz");
  ExpectSameFiles(EmitFiles(both), from_v3);
}

// Contract: generator OA-17.
TEST(OpenApiV2, GivesTheWholeApiOfARelease) {
  const auto file = test_support::SharedPath("corpus/openapi/kubernetes-1.36.swagger.json.gz");
  if (!file) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  const emit::Files files = EmitFiles({*file});
  EXPECT_TRUE(files.contains("acme/core/v1/informers.h"));
  for (const auto& [path, text] : files) EXPECT_EQ(text.find("unversioned"), std::string::npos) << path;
}

}  // namespace
}  // namespace kgen::generator
