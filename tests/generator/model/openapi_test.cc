// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The interpretation of API documents: references, well-known definitions, operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/generator/load.h"

namespace kgen::generator {
namespace {

using model::ApiKind;
using model::NamedType;
using model::Scope;
using test::Load;
using test::Loaded;
using ::testing::HasSubstr;

constexpr std::string_view kMeta = R"(
io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: {type: object, properties: {name: {type: string}}}
io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta: {type: object, properties: {continue: {type: string}}}
io.k8s.apimachinery.pkg.apis.meta.v1.Time: {type: string, format: date-time}
io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime: {type: string, format: date-time}
io.k8s.apimachinery.pkg.api.resource.Quantity: {oneOf: [{type: string}, {type: number}]}
io.k8s.apimachinery.pkg.util.intstr.IntOrString: {format: int-or-string, oneOf: [{type: integer}, {type: string}]}
io.k8s.apimachinery.pkg.runtime.RawExtension: {type: object}
)";

std::string Indent(std::string_view text, std::string_view by) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end != 0) out += std::string(by) + std::string(text.substr(0, end)) + "\n";
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

// An API document with `schemas` beside the well-known ones, and `paths`; both YAML from column 1.
std::string Document(std::string_view schemas, std::string_view paths = {}) {
  return "openapi: 3.0.0\ninfo: {title: t, version: '1'}\ncomponents:\n  schemas:\n" + Indent(kMeta, "    ") +
         Indent(schemas, "    ") + (paths.empty() ? "paths: {}\n" : "paths:\n" + Indent(paths, "  "));
}

// The shape of a type's schema in apps/v1.
std::string Body(const Loaded& loaded, std::string_view name) {
  if (loaded.diagnostics.has_errors()) return loaded.Said();
  const model::TypeId id = loaded.api.FindType("apps", "v1", name);
  return id == model::kNoType ? "no type" : test::Shape(loaded.api, loaded.api.types[id].schema);
}

// Contract: generator REF-01, REF-04.
TEST(ApiDocument, FollowsPlainAndWrappedReferences) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.A:
  type: object
  properties:
    plain: {$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}
    wrapped: {allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}], default: {}, description: of the field}
    list: {type: array, items: {allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}], default: {}}}
    map: {type: object, additionalProperties: {$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}}
io.k8s.api.apps.v1.B: {type: object, description: of the type, properties: {x: {type: string}}}
)")});
  EXPECT_EQ(Body(loaded, "A"),
            "{list: list(->apps/v1 B), map: map(->apps/v1 B), plain: ->apps/v1 B, wrapped: ->apps/v1 B}");
  const NamedType& a = loaded.api.types[loaded.api.FindType("apps", "v1", "A")];
  EXPECT_THAT(a.schema.Find("wrapped")->description, ::testing::ElementsAre("of the field"));
  EXPECT_THAT(loaded.api.types[loaded.api.FindType("apps", "v1", "B")].schema.description,
              ::testing::ElementsAre("of the type"));
}

// Contract: generator REF-12, WK-02, WK-08.
TEST(ApiDocument, PutsWellKnownDefinitionsInPlace) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.A:
  type: object
  properties:
    a: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time'}
    b: {allOf: [{$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime'}]}
    c: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity'}
    d: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString'}
    e: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension'}
    f: {$ref: '#/components/schemas/io.k8s.api.apps.v1.Phase'}
    g: {$ref: '#/components/schemas/io.k8s.api.apps.v1.Empty'}
    h: {type: object}
io.k8s.api.apps.v1.Phase: {type: string, enum: [Up, Down]}
io.k8s.api.apps.v1.Empty: {type: object}
)")});
  EXPECT_EQ(
      Body(loaded, "A"),
      "{a: time, b: time with microseconds, c: quantity, d: integer or string, e: json object, f: string of Up|Down, "
      "g: ->apps/v1 Empty, h: json object}");
  EXPECT_EQ(Body(loaded, "Empty"), "{}");
  EXPECT_EQ(Body(loaded, "Phase"), "no type");
}

TEST(ApiDocument, TreatsASchemaWithoutTypeAsAnyJsonWhereABranchAllowsAnotherType) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.A:
  type: object
  properties:
    a: {items: {type: string}, oneOf: [{type: string}, {type: array}]}
    b: {properties: {x: {type: string}}, oneOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.Name'}, {type: object}]}
    c: {properties: {x: {type: string}}, oneOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}]}
    d: {additionalProperties: {type: string}, anyOf: [{type: object}, {type: string}]}
    e: {allOf: [{oneOf: [{type: string}, {type: object}]}, {properties: {x: {type: string}}}]}
    f: {$ref: '#/components/schemas/io.k8s.api.apps.v1.StringOrB'}
    g: {properties: {x: {type: string}}, anyOf: [{$ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity'}, {type: object}]}
    h: {allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}, {properties: {y: {type: string}}}]}
io.k8s.api.apps.v1.Name: {type: string}
io.k8s.api.apps.v1.B: {type: object, properties: {x: {type: string}}}
io.k8s.api.apps.v1.StringOrB: {properties: {x: {type: string}}, oneOf: [{type: string}, {type: object}]}
)")});
  EXPECT_EQ(Body(loaded, "A"),
            "{a: json, b: json, c: {x: string}, d: json, e: json, f: json, g: json, h: {x: string, y: string}}");
  EXPECT_EQ(Body(loaded, "StringOrB"), "no type");
}

// Contract: generator REF-07, REF-08.
TEST(ApiDocument, ReadsDirectAndMutualRecursion) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.A: {type: object, properties: {self: {$ref: '#/components/schemas/io.k8s.api.apps.v1.A'}, b: {$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}}}
io.k8s.api.apps.v1.B: {type: object, properties: {all: {type: array, items: {$ref: '#/components/schemas/io.k8s.api.apps.v1.A'}}}}
)")});
  EXPECT_EQ(Body(loaded, "A"), "{b: ->apps/v1 B, self: ->apps/v1 A}");
  EXPECT_EQ(Body(loaded, "B"), "{all: list(->apps/v1 A)}");
}

// Contract: generator REF-10.
TEST(ApiDocument, NamesAMissingDefinition) {
  const Loaded loaded =
      Load({Document("io.k8s.api.apps.v1.A: {type: object, properties: {x: {$ref: '#/components/schemas/no.such'}}}")});
  EXPECT_EQ(loaded.Said(),
            "input.yaml:12:58 error dangling-reference: there is no definition \"no.such\" | "
            "components.schemas[\"io.k8s.api.apps.v1.A\"].properties.x\n");
}

// Contract: generator REF-08.
TEST(ApiDocument, RefusesDefinitionsThatConsistOfThemselves) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.A: {$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}
io.k8s.api.apps.v1.B: {$ref: '#/components/schemas/io.k8s.api.apps.v1.A'}
io.k8s.api.apps.v1.L: {type: array, items: {$ref: '#/components/schemas/io.k8s.api.apps.v1.L'}}
io.k8s.api.apps.v1.U: {type: object, properties: {l: {$ref: '#/components/schemas/io.k8s.api.apps.v1.L'}}}
)")});
  EXPECT_THAT(loaded.Said(), HasSubstr("\"io.k8s.api.apps.v1.A\" refers only to itself"));
  EXPECT_THAT(loaded.Said(), HasSubstr("\"io.k8s.api.apps.v1.L\" refers to itself through a list or map"));
}

// Contract: generator OA-23.
TEST(ApiDocument, FollowsAnAliasToItsTarget) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.Old: {$ref: '#/components/schemas/io.k8s.api.apps.v1.New', description: 'Deprecated: use New'}
io.k8s.api.apps.v1.New: {type: object, properties: {x: {type: string}}}
)")});
  const model::TypeId old = loaded.api.FindType("apps", "v1", "Old");
  EXPECT_EQ(loaded.api.types[old].schema.kind, model::Kind::kRef);
  EXPECT_EQ(loaded.api.Target(old).name, "New");
}

// Contract: generator REF-06, TY-31.
TEST(ApiDocument, MergesMembersOfCompositions) {
  const Loaded loaded = Load({Document(R"(
io.k8s.api.apps.v1.A:
  allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.B'}, {type: object, properties: {y: {type: integer}}}]
io.k8s.api.apps.v1.B: {type: object, properties: {x: {type: string}}}
io.k8s.api.apps.v1.D: {allOf: [{$ref: '#/components/schemas/io.k8s.api.apps.v1.A'}, {$ref: '#/components/schemas/io.k8s.api.apps.v1.D'}, {type: object, properties: {z: {type: number}}}]}
io.k8s.api.apps.v1.C: {type: object, properties: {a: {type: string}}, oneOf: [{type: object, properties: {b: {type: string}}}, {type: object, properties: {c: {type: string}}}]}
)")});
  EXPECT_EQ(Body(loaded, "A"), "{x: string, y: int64}");
  EXPECT_EQ(Body(loaded, "D"), "{x: string, y: int64, z: number}");
  EXPECT_EQ(Body(loaded, "C"), "{a: string, b: string, c: string}");
}

// Contract: generator REF-06.
TEST(ApiDocument, RefusesACompositionWithConflictingSchemas) {
  const Loaded loaded = Load({Document(
      "io.k8s.api.apps.v1.A: {allOf: [{properties: {x: {type: string}}}, {properties: {x: {type: integer}}}]}")});
  EXPECT_THAT(loaded.Said(),
              HasSubstr("error composition: the property \"x\" has conflicting schemas in one composition"));
}

// Contract: generator REF-14.
TEST(ApiDocument, SurvivesDeepNesting) {
  std::string schema = "{type: string}";
  for (int i = 0; i < 200; ++i) schema = "{type: object, properties: {a: " + schema + "}}";
  const Loaded loaded = Load({Document("io.k8s.api.apps.v1.A: " + schema)});
  EXPECT_EQ(loaded.Said(), "");
}

// Contract: generator OA-03.
TEST(ApiDocument, AcceptsAnEqualDefinitionAndRefusesADifferentOne) {
  const std::string first = Document(
      "io.k8s.api.apps.v1.A: {type: object, properties: {x: {type: object, properties: {z: {type: string}}}}}");
  const std::string same = Document(
      "io.k8s.api.apps.v1.A: {properties: {x: {description: z, properties: {z: {type: string}}, type: object}}, type: "
      "object}");
  const std::string other = Document(
      "io.k8s.api.apps.v1.A: {type: object, properties: {x: {type: object, properties: {z: {type: integer}}}}}");
  EXPECT_EQ(Load({first, same}).Said(), "");
  EXPECT_EQ(Load({first, other}).Said(),
            "input2.yaml:12:5 error definition-differs: this definition differs from the one at input.yaml:12:5, in "
            "x.z.type | "
            "components.schemas[\"io.k8s.api.apps.v1.A\"]\n");
}

// apps/v1 Widget, its list, and Scale.
constexpr std::string_view kWidget = R"(
io.k8s.api.apps.v1.Widget:
  type: object
  properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}, spec: {$ref: '#/components/schemas/io.k8s.api.apps.v1.WidgetSpec'}}
  x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Widget}]
io.k8s.api.apps.v1.WidgetSpec: {type: object, properties: {size: {type: integer, format: int32}}}
io.k8s.api.apps.v1.WidgetList:
  type: object
  properties: {metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'}, items: {type: array, items: {$ref: '#/components/schemas/io.k8s.api.apps.v1.Widget'}}}
  x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: WidgetList}]
io.k8s.api.autoscaling.v1.Scale:
  type: object
  properties: {metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}}
  x-kubernetes-group-version-kind: [{group: autoscaling, version: v1, kind: Scale}]
io.k8s.api.apps.v1.Lonely: {type: object, properties: {x: {type: string}}}
)";

std::string Operation(const std::string& method, const std::string& action, const std::string& gvk = "apps/v1/Widget") {
  const std::size_t a = gvk.find('/');
  const std::size_t b = gvk.rfind('/');
  return "  " + method + ": {x-kubernetes-action: " + action + ", x-kubernetes-group-version-kind: {group: '" +
         gvk.substr(0, a) + "', version: " + gvk.substr(a + 1, b - a - 1) + ", kind: " + gvk.substr(b + 1) + "}}\n";
}

const std::string kWatchParameter = "  parameters: [{name: watch, in: query, schema: {type: boolean}}]\n";

std::string WidgetPaths() {
  const std::string base = "/apis/apps/v1/";
  return base + ":\n  get: {responses: {}}\n" + base + "widgets:\n" + Operation("get", "list") + kWatchParameter +
         base + "namespaces/{namespace}/widgets:\n" + Operation("get", "list") + Operation("post", "post") +
         Operation("delete", "deletecollection") + base + "namespaces/{namespace}/widgets/{name}:\n" +
         Operation("get", "get") + Operation("put", "put") + Operation("patch", "patch") +
         Operation("delete", "delete") + base + "namespaces/{namespace}/widgets/{name}/status:\n" +
         Operation("get", "get") + Operation("put", "put") + base + "namespaces/{namespace}/widgets/{name}/scale:\n" +
         Operation("put", "put", "autoscaling/v1/Scale") + base +
         "namespaces/{namespace}/widgets/{name}/proxy/{path}:\n" +
         Operation("get", "connect", "apps/v1/WidgetProxyOptions") + base +
         "namespaces/{namespace}/widgets/{name}/log:\n" + Operation("get", "get");
}

// Contract: generator OP-01, OP-06.
TEST(ApiDocument, GathersResourcesFromPaths) {
  const Loaded loaded = Load({Document(kWidget, WidgetPaths())});
  ASSERT_EQ(loaded.Said(), "");
  const ApiKind* kind = loaded.api.FindKind({"apps", "v1", "Widget"});
  ASSERT_NE(kind, nullptr);
  ASSERT_TRUE(kind->resource.has_value());
  EXPECT_EQ(kind->resource->plural, "widgets");
  EXPECT_EQ(kind->resource->scope, Scope::kNamespaced);
  EXPECT_THAT(kind->resource->verbs.Names(), ::testing::ElementsAre("create", "update", "delete", "deletecollection",
                                                                    "get", "list", "watch", "patch"));
  EXPECT_TRUE(kind->resource->HasInformer());
  EXPECT_TRUE(kind->has_object_meta);
  EXPECT_EQ(kind->list_kind, "WidgetList");
  ASSERT_NE(kind->list_type, model::kNoType);
  EXPECT_EQ(loaded.api.types[kind->list_type].role, model::Role::kList);
  EXPECT_EQ(loaded.api.types[kind->list_type].item, kind->type);
}

// Contract: generator OP-02, OP-09, OP-19.
TEST(ApiDocument, GathersSubresourcesWithTheKindsOfTheirBodies) {
  const Loaded loaded = Load({Document(kWidget, WidgetPaths())});
  ASSERT_EQ(loaded.Said(), "");
  const model::Resource& resource = *loaded.api.FindKind({"apps", "v1", "Widget"})->resource;
  ASSERT_EQ(resource.subresources.size(), 4u);
  EXPECT_THAT(resource.Find("status")->verbs.Names(), ::testing::ElementsAre("update", "get"));
  EXPECT_EQ(resource.Find("status")->body_gvk, (model::GroupVersionKind{"apps", "v1", "Widget"}));
  EXPECT_EQ(resource.Find("scale")->body_gvk, (model::GroupVersionKind{"autoscaling", "v1", "Scale"}));
  EXPECT_THAT(resource.Find("proxy")->verbs.Names(), ::testing::ElementsAre("connect"));
  EXPECT_THAT(resource.Find("log")->verbs.Names(), ::testing::ElementsAre("get"));
}

TEST(ApiDocument, TakesTheKindOfASubresourceFromWhatClientsSend) {
  const std::string path = "/apis/apps/v1/namespaces/{namespace}/widgets/{name}/attach:\n";
  const Loaded loaded =
      Load({Document(kWidget, WidgetPaths() + path + Operation("get", "connect", "apps/v1/WidgetAttachOptions") +
                                  Operation("put", "put", "autoscaling/v1/Scale"))});
  ASSERT_EQ(loaded.Said(), "");
  const model::Resource& resource = *loaded.api.FindKind({"apps", "v1", "Widget"})->resource;
  EXPECT_EQ(resource.Find("attach")->body_gvk, (model::GroupVersionKind{"autoscaling", "v1", "Scale"}));
}

TEST(ApiDocument, RefusesASubresourceWhoseOperationsHaveTwoKinds) {
  const std::string path = "/apis/apps/v1/namespaces/{namespace}/widgets/{name}/both:\n";
  const Loaded loaded = Load({Document(
      kWidget, WidgetPaths() + path + Operation("get", "get") + Operation("post", "post", "autoscaling/v1/Scale"))});
  EXPECT_THAT(loaded.Said(),
              ::testing::HasSubstr("error operation-kind: \"/apis/apps/v1/namespaces/{namespace}/widgets/"
                                   "{name}/both\" serves autoscaling/v1 Scale, other operations of the "
                                   "subresource serve apps/v1 Widget"));
}

TEST(ApiDocument, LeavesOutSubresourcesThatAreNotOfANamedObject) {
  const std::string base = "/apis/apps/v1/namespaces/{namespace}/widgets/";
  const Loaded loaded = Load({Document(kWidget, WidgetPaths() + base + "all:\n" + Operation("post", "post") + base +
                                                    "{name}/part/{id}:\n" + Operation("get", "get"))});
  ASSERT_EQ(loaded.Said(), "");
  const model::Resource& resource = *loaded.api.FindKind({"apps", "v1", "Widget"})->resource;
  EXPECT_EQ(resource.Find("all"), nullptr);
  EXPECT_EQ(resource.Find("part"), nullptr);
}

// Contract: generator OP-07, OP-10.
TEST(ApiDocument, TrustsWatchPathsWhereThereAreAny) {
  const std::string watched = "/apis/apps/v1/watch/gadgets:\n" + Operation("get", "watchlist", "apps/v1/Gadget");
  const std::string gadget = R"(
io.k8s.api.apps.v1.Gadget:
  type: object
  properties: {metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}}
  x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Gadget}]
)";
  const std::string gadgets = "/apis/apps/v1/gadgets:\n" + Operation("get", "list", "apps/v1/Gadget") + kWatchParameter;
  const Loaded loaded = Load({Document(std::string(kWidget) + gadget, WidgetPaths() + gadgets + watched)});
  ASSERT_EQ(loaded.Said(), "");
  EXPECT_TRUE(loaded.api.FindKind({"apps", "v1", "Gadget"})->resource->HasInformer());
  EXPECT_EQ(loaded.api.FindKind({"apps", "v1", "Gadget"})->resource->scope, Scope::kCluster);
  EXPECT_FALSE(loaded.api.FindKind({"apps", "v1", "Widget"})->resource->HasInformer());
}

// Contract: generator OP-05.
TEST(ApiDocument, ReadsTheNamespaceResourceItself) {
  const std::string schemas = R"(
io.k8s.api.core.v1.Namespace:
  type: object
  properties: {metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}}
  x-kubernetes-group-version-kind: [{group: '', version: v1, kind: Namespace}]
)";
  const std::string gvk = "/v1/Namespace";
  const std::string paths = "/api/v1/namespaces:\n" + Operation("get", "list", gvk) + "/api/v1/namespaces/{name}:\n" +
                            Operation("get", "get", gvk) + "/api/v1/namespaces/{name}/finalize:\n" +
                            Operation("put", "put", gvk);
  const Loaded loaded = Load({Document(schemas, paths)});
  ASSERT_EQ(loaded.Said(), "");
  const model::Resource& resource = *loaded.api.FindKind({"", "v1", "Namespace"})->resource;
  EXPECT_EQ(resource.plural, "namespaces");
  EXPECT_EQ(resource.scope, Scope::kCluster);
  EXPECT_NE(resource.Find("finalize"), nullptr);
}

// Contract: generator OP-22.
TEST(ApiDocument, KeepsAKindWithoutPathAsATypeOnly) {
  const Loaded loaded = Load({Document(kWidget)});
  const ApiKind* kind = loaded.api.FindKind({"apps", "v1", "Widget"});
  ASSERT_NE(kind, nullptr);
  EXPECT_FALSE(kind->resource.has_value());
  EXPECT_EQ(loaded.api.FindKind({"apps", "v1", "WidgetList"}), nullptr);
}

// Contract: generator SEC-01.
TEST(ApiDocument, RefusesNamesThatCouldBecomeCode) {
  const std::string paths = "'/apis/apps/v1/../../widgets':\n" + Operation("get", "list") +
                            "'/apis/apps/v1/wid\"gets':\n" + Operation("get", "list");
  EXPECT_THAT(Load({Document(kWidget, paths)}).Said(),
              HasSubstr("error illegal-name: a name in \"/apis/apps/v1/wid\\\"gets\""));
  const std::string kind =
      "io.k8s.api.apps.v1.X: {type: object, properties: {a: {type: string}}, x-kubernetes-group-version-kind: [{group: "
      "apps, version: v1, kind: 'X;'}]}";
  EXPECT_THAT(Load({Document(kind)}).Said(), HasSubstr("error illegal-name: \"X;\" cannot be the name of a kind"));
  EXPECT_THAT(Load({Document("'io.k8s.api.apps.v1.X()': {type: object}")}).Said(), HasSubstr("error illegal-name"));
}

// Contract: generator OUT-02.
TEST(ApiDocument, DoesNotDependOnTheOrderOfInputs) {
  const std::string a = Document(kWidget, WidgetPaths());
  const std::string b = Document("io.k8s.api.batch.v1.Job: {type: object, properties: {x: {type: string}}}");
  const auto list = [](const Loaded& loaded) {
    std::string out;
    for (const NamedType& type : loaded.api.types)
      out += type.group + "/" + type.name + " " + test::Shape(loaded.api, type.schema) + "\n";
    for (const model::Group& group : loaded.api.groups) out += group.name + "\n";
    return out;
  };
  EXPECT_EQ(list(Load({a, b})), list(Load({b, a})));
}

// Contract: generator CRD-32, OA-10.
TEST(ApiDocument, PrefersTheCrdToItsPublishedForm) {
  const std::string published = Document(R"(
com.example.shop.v1.Order:
  type: object
  properties: {apiVersion: {type: string}, p: {}}
  x-kubernetes-group-version-kind: [{group: shop.example.com, version: v1, kind: Order}]
com.example.shop.v1.OrderList:
  type: object
  properties: {metadata: {$ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'}, items: {type: array, items: {$ref: '#/components/schemas/com.example.shop.v1.Order'}}}
  x-kubernetes-group-version-kind: [{group: shop.example.com, version: v1, kind: OrderList}]
)");
  const Loaded loaded = Load({test::OrderCrd("p: {type: integer}"), published});
  ASSERT_EQ(loaded.Said(), "");
  const ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  EXPECT_TRUE(kind->custom);
  EXPECT_EQ(test::Shape(loaded.api, *loaded.api.types[kind->type].schema.Find("p")->schema), "int64");
  EXPECT_EQ(loaded.api.types[kind->list_type].item, kind->type);
}

// Contract: generator ERR-14.
TEST(ApiDocument, EscapesInvisibleCharactersOfConflictingKinds) {
  const Loaded loaded = Load({Document("", R"(
/apis/apps/v1/namespaces/{namespace}/as:
  get: {x-kubernetes-action: list, x-kubernetes-group-version-kind: {group: apps, version: v1, kind: A}}
  post: {x-kubernetes-action: post, x-kubernetes-group-version-kind: {group: apps, version: "v1\e[31m", kind: A}}
)")});
  EXPECT_THAT(loaded.Said(), HasSubstr("serves apps/v1\\x1b[31m A, other operations of the resource serve apps/v1 A"));
}

// `apps/v1 Top` with a property of the type D0, and these definitions.
std::string TopDocument(std::string_view definitions) {
  return Document(R"(
io.k8s.api.apps.v1.Top: {type: object, properties: {x: {$ref: '#/components/schemas/io.k8s.api.apps.v1.D0'}}}
)" + std::string(definitions));
}

std::string PairOf(const std::string& name, const std::string& next) {
  const std::string reference = "{$ref: '#/components/schemas/io.k8s.api.apps.v1." + next + "'}";
  return "io.k8s.api.apps.v1." + name + ": {type: array, items: {type: object, properties: {a: " + reference +
         ", b: " + reference + "}}}\n";
}

// Contract: generator REF-08.
TEST(ApiDocument, RefusesAListThatRefersToItselfWhereItDoes) {
  const Loaded loaded = Load({TopDocument(PairOf("D0", "D0"))});
  EXPECT_EQ(loaded.diagnostics.error_count(), 2u) << loaded.Said();
  EXPECT_THAT(loaded.Said(),
              HasSubstr(" error reference-cycle: the definition \"io.k8s.api.apps.v1.D0\" refers to itself "
                        "through a list or map, which is not supported | "
                        "components.schemas[\"io.k8s.api.apps.v1.D0\"].items.properties.a\n"));
  EXPECT_THAT(loaded.diagnostics.Render(), HasSubstr("hint: give the elements a definition of their own"));
}

// Contract: generator REF-08.
TEST(ApiDocument, RefusesListsThatReferToEachOther) {
  const Loaded loaded = Load({TopDocument(PairOf("D0", "D1") + PairOf("D1", "D0"))});
  EXPECT_THAT(loaded.Said(), HasSubstr("reference-cycle"));
}

// Contract: generator SEC-07.
TEST(ApiDocument, RefusesListsThatExpandWithoutEnd) {
  std::string chain;
  for (int i = 0; i < 30; ++i) chain += PairOf("D" + std::to_string(i), "D" + std::to_string(i + 1));
  const Loaded loaded = Load({TopDocument(chain + "io.k8s.api.apps.v1.D30: {type: string}\n")});
  EXPECT_EQ(loaded.diagnostics.error_count(), 1u) << loaded.Said();
  EXPECT_THAT(loaded.Said(), HasSubstr("reference-size"));
}

// Contract: generator REF-08.
TEST(ApiDocument, NamesThePositionOfAnAliasThatRefersOnlyToItself) {
  const Loaded loaded = Load({Document("io.k8s.api.apps.v1.A: {$ref: '#/components/schemas/io.k8s.api.apps.v1.A'}\n")});
  EXPECT_THAT(loaded.Said(), HasSubstr("refers only to itself | components.schemas[\"io.k8s.api.apps.v1.A\"]\n"));
}

// Contract: generator OP-01.
TEST(ApiDocument, KeepsTheResourceThatCanBeReadOfAKindThatHasTwo) {
  const std::string paths = "/apis/apps/v1/namespaces/{namespace}/processedwidgets:\n" + Operation("post", "post") +
                            "/apis/apps/v1/namespaces/{namespace}/widgets:\n" + Operation("get", "list") +
                            "/apis/apps/v1/namespaces/{namespace}/widgets/{name}:\n" + Operation("get", "get");
  const Loaded loaded = Load({Document(kWidget, paths)});
  EXPECT_THAT(loaded.Said(), HasSubstr(" warning kind-twice: apps/v1 Widget is served as \"widgets\" and as "
                                       "\"processedwidgets\"; only \"widgets\" gets a client | "
                                       "paths[\"/apis/apps/v1/namespaces/{namespace}/processedwidgets\"]\n"));
  EXPECT_EQ(loaded.api.FindKind({"apps", "v1", "Widget"})->resource->plural, "widgets");
}

TEST(ApiDocument, WarnsWhenNoKindIsServed) {
  const Loaded loaded = Load({Document("io.k8s.api.apps.v1.A: {type: object, properties: {x: {type: string}}}\n")});
  EXPECT_EQ(loaded.Said(), "");
  EXPECT_THAT(loaded.diagnostics.Render(),
              HasSubstr("info: no kind is served by the input (8 schemas, 0 paths), so the clientset is empty"));
  EXPECT_THAT(Load({test::OrderCrd("a: {type: string}")}).diagnostics.Render(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kgen::generator
