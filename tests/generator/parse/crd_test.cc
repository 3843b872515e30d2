// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions: names, versions, lists, v1beta1, mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/generator/load.h"

namespace kgen::generator {
namespace {

using model::ApiKind;
using test::Load;
using test::Loaded;
using test::OrderCrd;
using ::testing::HasSubstr;

std::string Replace(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

const std::string kCrd = OrderCrd("spec: {type: object, properties: {size: {type: integer}}}");

const ApiKind* Order(const Loaded& loaded, const char* version = "v1") {
  return loaded.api.FindKind({"shop.example.com", version, "Order"});
}

// Contract: generator CRD-01.
TEST(Crd, GivesAKindAndItsResource) {
  const Loaded loaded =
      Load({Replace(kCrd, "{kind: Order, plural: orders}", "{kind: Order, plural: orders, singular: order}")});
  ASSERT_EQ(loaded.Said(), "");
  const ApiKind* kind = Order(loaded);
  ASSERT_NE(kind, nullptr);
  EXPECT_TRUE(kind->custom);
  EXPECT_EQ(kind->list_kind, "OrderList");
  EXPECT_EQ(kind->list_type, model::kNoType);
  EXPECT_EQ(kind->resource->plural, "orders");
  EXPECT_EQ(kind->resource->singular, "order");
  EXPECT_EQ(kind->resource->scope, model::Scope::kNamespaced);
  EXPECT_TRUE(kind->resource->HasLister());
  EXPECT_TRUE(kind->resource->subresources.empty());
}

// Contract: generator CRD-02, CRD-03.
TEST(Crd, UsesPluralAndListKindLiterally) {
  const Loaded loaded = Load(
      {Replace(Replace(kCrd, "{kind: Order, plural: orders}", "{kind: order, plural: userinfoes, listKind: OrderSet}"),
               "name: orders.", "name: userinfoes.")});
  ASSERT_EQ(loaded.Said(), "");
  const ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "order"});
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->resource->plural, "userinfoes");
  EXPECT_EQ(kind->list_kind, "OrderSet");
  EXPECT_EQ(kind->resource->singular, "order");
}

TEST(Crd, TreatsAnEmptySingularOrListKindAsAbsent) {
  std::string crd = kCrd;
  const std::size_t at = crd.find("{kind: Order, ");
  ASSERT_NE(at, std::string::npos);
  crd.insert(at + 14, "singular: '', listKind: \"\", ");
  const Loaded loaded = Load({crd});
  ASSERT_EQ(loaded.Said(), "");
  EXPECT_EQ(Order(loaded)->resource->singular, "order");
  EXPECT_EQ(Order(loaded)->list_kind, "OrderList");
}

// Contract: generator CRD-19, CRD-21, CRD-23.
TEST(Crd, ReadsSubresourcesColumnsAndSelectableFieldsPerVersion) {
  const std::string version =
      "  - name: v1beta1\n    served: true\n    storage: false\n    deprecated: true\n    deprecationWarning: \"use "
      "\\\"v1\\\"\"\n"
      "    subresources:\n      status: {}\n      scale: {specReplicasPath: .spec.shards, statusReplicasPath: "
      ".status.n}\n"
      "    additionalPrinterColumns:\n    - {name: Ready, type: string, priority: 1, jsonPath: "
      "'.status.conditions[?(@.type == \"Ready\")].status'}\n"
      "    selectableFields:\n    - jsonPath: .spec.color\n    schema:\n      openAPIV3Schema: {type: object}\n";
  const Loaded loaded = Load({kCrd + version + "  conversion: {strategy: Webhook}\n"});
  ASSERT_EQ(loaded.Said(), "");
  const ApiKind* beta = Order(loaded, "v1beta1");
  ASSERT_NE(beta, nullptr);
  EXPECT_TRUE(beta->deprecated);
  EXPECT_EQ(beta->deprecation_warning, "use \"v1\"");
  ASSERT_EQ(beta->resource->subresources.size(), 2u);
  EXPECT_EQ(beta->resource->subresources[0].name, "scale");
  EXPECT_EQ(model::Describe(beta->resource->subresources[0].body_gvk), "autoscaling/v1 Scale");
  EXPECT_EQ(beta->resource->subresources[1].name, "status");
  EXPECT_EQ(beta->resource->scale->spec_replicas, ".spec.shards");
  EXPECT_EQ(beta->resource->scale->label_selector, "");
  ASSERT_EQ(beta->resource->printer_columns.size(), 1u);
  EXPECT_EQ(beta->resource->printer_columns[0].json_path, ".status.conditions[?(@.type == \"Ready\")].status");
  EXPECT_EQ(beta->resource->printer_columns[0].priority, 1);
  EXPECT_THAT(beta->resource->selectable_fields, ::testing::ElementsAre(".spec.color"));
  EXPECT_TRUE(Order(loaded)->resource->subresources.empty());
  // Newest first.
  for (const model::Group& group : loaded.api.groups) {
    if (group.name != "shop.example.com") continue;
    ASSERT_EQ(group.versions.size(), 2u);
    EXPECT_EQ(group.versions[0].name, "v1");
  }
}

// Contract: generator CRD-13.
TEST(Crd, MakesAFreeFormKindWithoutASchema) {
  const std::string crd = kCrd.substr(0, kCrd.find("    schema:"));
  const Loaded loaded = Load({crd});
  ASSERT_EQ(loaded.Said(), "");
  EXPECT_EQ(test::Shape(loaded.api, loaded.api.types[Order(loaded)->type].schema),
            "{apiVersion: string, kind: string, metadata: ->meta.k8s.io/v1 ObjectMeta}!");
}

// Contract: generator IN-04.
TEST(Crd, ReadsListsOfCrds) {
  const auto indent = [](const std::string& text) {
    std::string out;
    bool first = true;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      out += (first ? "- " : "  ") + text.substr(at, end - at) + "\n";
      first = false;
      at = end + 1;
    }
    return out;
  };
  const Loaded list = Load({"apiVersion: v1\nkind: List\nitems:\n" + indent(kCrd)});
  EXPECT_EQ(list.Said(), "");
  EXPECT_NE(Order(list), nullptr);
  // Items of a typed list need not say what they are; positions point into the item.
  const std::string bare =
      indent(Replace(kCrd.substr(kCrd.find("metadata:")), "scope: Namespaced", "scope: Everywhere"));
  const Loaded typed =
      Load({"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n" + bare});
  EXPECT_EQ(typed.Said(), "input.yaml:7:12 error crd-scope: unknown scope \"Everywhere\" | items[0].spec.scope\n");
}

// Contract: generator IN-02, IN-03.
TEST(Crd, SkipsOtherKindsAndCountsThemAtTheEnd) {
  const Loaded mixed = Load({"---\n# nothing\n---\napiVersion: v1\nkind: Namespace\n---\n" + kCrd + "---\n"});
  EXPECT_EQ(mixed.Said(), "");
  EXPECT_NE(Order(mixed), nullptr);
  const Loaded none = Load({"apiVersion: v1\nkind: Namespace\n"});
  EXPECT_EQ(none.Said(),
            "kgen error no-input: the input contains neither a CustomResourceDefinition nor an API document; skipped 1 "
            "Namespace\n");
  EXPECT_THAT(mixed.diagnostics.Render(), HasSubstr("info: skipped 1 Namespace: not a CustomResourceDefinition"));
}

// Contract: generator ERR-01.
TEST(Crd, AddsTheDocumentsNumberWhereThereAreSeveral) {
  const Loaded loaded =
      Load({"apiVersion: v1\nkind: Namespace\n---\n" + Replace(kCrd, "kind: Order,", "kind: 'Or der',")});
  EXPECT_THAT(
      loaded.Said(),
      HasSubstr(
          "input.yaml:10:17 (document 2) error illegal-name: \"Or der\" is not a valid name here | spec.names.kind"));
}

// Contract: generator SEC-03, SEC-05.
TEST(Crd, RefusesNamesTheServerWouldRefuse) {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"group: shop.example.com", "group: Shop"},
       "input.yaml:5:10 error illegal-name: \"Shop\" is not a valid name here | spec.group"},
      {{"group: shop.example.com", "group: a..b"}, "input.yaml:5:10 error illegal-name: \"a..b\""},
      {{"- name: v1", "- name: ../../x"},
       "input.yaml:9:11 error illegal-name: \"../../x\" is not a valid name here | spec.versions[0].name"},
      {{"plural: orders", "plural: Orders"},
       "input.yaml:7:32 error illegal-name: \"Orders\" is not a valid name here | spec.names.plural"},
      {{"kind: Order,", "kind: 'O\\u0022',"}, "input.yaml:7:17 error illegal-name: \"O\\\\u0022\""},
      {{"plural: orders", "plural: orders, shortNames: [ok, 'a b']"},
       "error illegal-name: \"a b\" is not a valid name here | spec.names.shortNames"},
      {{"plural: orders", "plural: orders, listKind: Order"},
       "error crd-list-kind: kind and listKind are both \"Order\""},
  };
  for (const auto& [change, said] : cases) {
    const Loaded loaded = Load({Replace(kCrd, change.first, change.second)});
    EXPECT_THAT(loaded.Said(), HasSubstr(said));
    EXPECT_EQ(Order(loaded), nullptr) << change.second;
  }
}

// Contract: generator ERR-15.
TEST(Crd, NamesTheMapThatLacksAKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"  group: shop.example.com\n", "input.yaml:5:3 error missing-key: \"group\" is missing | spec\n"},
      {"  scope: Namespaced\n", "input.yaml:5:3 error missing-key: \"scope\" is missing | spec\n"},
      {"  names: {kind: Order, plural: orders}\n", "input.yaml:5:3 error missing-key: \"names\" is missing | spec\n"},
      {"kind: Order, ", "input.yaml:7:10 error missing-key: \"kind\" is missing | spec.names\n"},
      {", plural: orders", "input.yaml:7:10 error missing-key: \"plural\" is missing | spec.names\n"},
      {"kind: CustomResourceDefinition\n", "input.yaml:1:1 error missing-key: \"kind\" is missing\n"},
      {"apiVersion: apiextensions.k8s.io/v1\n", "input.yaml:1:1 error missing-key: \"apiVersion\" is missing\n"},
  };
  for (const auto& [key, said] : cases) EXPECT_EQ(Load({Replace(kCrd, key, "")}).Said(), said);
}

// Contract: generator ERR-04, ERR-05.
TEST(Crd, CollectsAllErrorsOfARunInOrder) {
  const std::string first =
      Replace(Replace(kCrd, "plural: orders", "plural: Orders"), "scope: Namespaced", "scope: Nowhere");
  const std::string second = OrderCrd("p: {type: strin}\nq: {enum: {}}");
  const Loaded loaded = Load({first, "a: [\n", second});
  EXPECT_EQ(loaded.diagnostics.error_count(), 5u);
  std::string places;
  for (const Diagnostic& d : loaded.diagnostics.Sorted()) {
    if (d.severity == Severity::kError) places += loaded.diagnostics.Describe(d.origin) + " ";
  }
  EXPECT_EQ(places, "input.yaml:6:10 input.yaml:7:32 input2.yaml:2:1 input3.yaml:16:21 input3.yaml:17:21 ");
}

// Contract: generator IN-20.
TEST(Crd, DistinguishesAPatchFromACrd) {
  const Loaded loaded =
      Load({"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec: "
            "{conversion: {}}\n"});
  EXPECT_EQ(
      loaded.Said(),
      "input.yaml:1:1 error crd-patch: this CustomResourceDefinition has no group, no names and no versions | spec\n");
}

// Contract: generator CRD-04.
TEST(Crd, WarnsOfANameThatIsNotPluralAndGroup) {
  const Loaded loaded = Load({Replace(kCrd, "orders.shop.example.com", "wrong.example.com")});
  EXPECT_EQ(loaded.Said(),
            "input.yaml:3:18 warning crd-name: the name is \"wrong.example.com\"; it must be plural.group, "
            "\"orders.shop.example.com\" | "
            "metadata.name\n");
}

// Contract: generator IN-24.
TEST(Crd, RefusesACrdWithoutVersionsOrWithOneTwice) {
  const std::string none = kCrd.substr(0, kCrd.find("  versions:")) + "  versions: []\n";
  EXPECT_EQ(Load({none}).Said(), "input.yaml:8:3 error crd-versions: the CRD has no versions | spec.versions\n");
  const std::string twice = kCrd + "  - {name: v1, served: true, storage: false}\n";
  EXPECT_EQ(Load({twice}).Said(),
            "input.yaml:17:12 error crd-versions: version \"v1\" appears twice, first at input.yaml:9:5 | "
            "spec.versions[1].name\n");
}

// Contract: generator ERR-11, IN-26.
TEST(Crd, AcceptsTheSameCrdTwiceAndRefusesADifferentOne) {
  EXPECT_EQ(Load({kCrd, kCrd}).Said(), "");
  const std::string other = OrderCrd("spec: {type: object}");
  EXPECT_EQ(
      Load({kCrd, other}).Said(),
      "input2.yaml:1:1 error crd-twice: \"orders.shop.example.com\" appears again with different content, first at "
      "input.yaml:1:1\n");
  const std::string plural =
      Replace(Replace(kCrd, "plural: orders", "plural: orderings"), "name: orders.", "name: orderings.");
  EXPECT_EQ(Load({kCrd, plural}).Said(),
            "input2.yaml:1:1 error crd-twice: the kind \"Order\" of \"shop.example.com\" is declared by "
            "\"orderings.shop.example.com\" and by \"orders.shop.example.com\" at input.yaml:1:1\n");
}

// Contract: generator V1B-01, V1B-03.
TEST(Crd, ReadsV1beta1WithItsDefaults) {
  const Loaded loaded =
      Load({"apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: "
            "orders.shop.example.com}\n"
            "spec:\n  group: shop.example.com\n  version: v1\n  scope: \"\"\n  names: {kind: Order, plural: orders}\n"
            "  subresources: {status: {}}\n  additionalPrinterColumns: [{name: A, type: string, JSONPath: .spec.a}]\n"
            "  validation: {openAPIV3Schema: {properties: {spec: {type: object}}}}\n"});
  EXPECT_FALSE(loaded.diagnostics.has_errors());
  const ApiKind* kind = Order(loaded);
  ASSERT_NE(kind, nullptr);
  EXPECT_TRUE(kind->served);
  EXPECT_EQ(kind->resource->scope, model::Scope::kNamespaced);
  EXPECT_NE(kind->resource->Find("status"), nullptr);
  EXPECT_TRUE(loaded.api.manifests.empty());
  EXPECT_EQ(kind->resource->printer_columns[0].json_path, ".spec.a");
  EXPECT_EQ(test::Shape(loaded.api, *loaded.api.types[kind->type].schema.Find("spec")->schema), "json object");
}

// Contract: generator V1B-02.
TEST(Crd, GivesTheSettingsOfV1beta1ToAllVersions) {
  const Loaded loaded =
      Load({"apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: "
            "orders.shop.example.com}\n"
            "spec:\n  group: shop.example.com\n  names: {kind: Order, plural: orders}\n"
            "  subresources: {scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}\n"
            "  additionalPrinterColumns: [{name: A, type: string, JSONPath: .spec.a}]\n"
            "  selectableFields: [{jsonPath: .spec.a}]\n"
            "  versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]\n"});
  EXPECT_FALSE(loaded.diagnostics.has_errors());
  for (const char* version : {"v1", "v2"}) {
    const model::Resource& resource = *Order(loaded, version)->resource;
    EXPECT_NE(resource.Find("scale"), nullptr) << version;
    ASSERT_TRUE(resource.scale.has_value()) << version;
    EXPECT_EQ(resource.scale->spec_replicas, ".spec.n") << version;
    ASSERT_EQ(resource.printer_columns.size(), 1u) << version;
    EXPECT_EQ(resource.printer_columns[0].json_path, ".spec.a") << version;
    EXPECT_THAT(resource.selectable_fields, ::testing::ElementsAre(".spec.a")) << version;
  }
}

// Contract: generator ERR-02.
TEST(Crd, CountsColumnsAndFieldsByTheirPosition) {
  const Loaded loaded = Load({kCrd + "  - name: v2\n    served: true\n    storage: false\n"
                                     "    additionalPrinterColumns: [a, {name: 1}]\n    selectableFields: [b, {}]\n"});
  EXPECT_EQ(loaded.Said(),
            "input.yaml:20:32 error wrong-kind: expected a map, found a string \"a\" | "
            "spec.versions[1].additionalPrinterColumns[0]\n"
            "input.yaml:20:42 error wrong-kind: expected a string, found an integer \"1\" | "
            "spec.versions[1].additionalPrinterColumns[1].name\n"
            "input.yaml:21:24 error wrong-kind: expected a map, found a string \"b\" | "
            "spec.versions[1].selectableFields[0]\n"
            "input.yaml:21:27 error missing-key: \"jsonPath\" is missing | spec.versions[1].selectableFields[1]\n");
}

// Contract: generator MV-08.
TEST(Crd, PrefersTheVersionsOwnSettingsInV1beta1) {
  const Loaded loaded =
      Load({"apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: "
            "orders.shop.example.com}\n"
            "spec:\n  group: shop.example.com\n  preserveUnknownFields: false\n  names: {kind: Order, plural: orders}\n"
            "  validation: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}\n"
            "  versions:\n  - {name: v1, schema: {openAPIV3Schema: {type: object, properties: {b: {type: string}}}}}\n "
            " - {name: v2}\n"});
  EXPECT_FALSE(loaded.diagnostics.has_errors());
  EXPECT_NE(loaded.api.types[Order(loaded)->type].schema.Find("b"), nullptr);
  EXPECT_NE(loaded.api.types[Order(loaded, "v2")->type].schema.Find("a"), nullptr);
}

// Contract: generator NAM-18.
TEST(Crd, RefusesAKindThatIsNamedLikeAList) {
  const std::string other =
      Replace(Replace(kCrd, "{kind: Order, plural: orders}", "{kind: OrderList, plural: orderlists}"), "name: orders.",
              "name: orderlists.");
  EXPECT_EQ(Load({kCrd, other}).Said(),
            "input2.yaml:9:5 error kind-is-list: the kind shop.example.com/v1 OrderList has the name of the list of "
            "\"Order\" at "
            "input.yaml:9:5 | spec.versions[0].schema.openAPIV3Schema\n");
}

// Contract: generator IN-21.
TEST(Crd, KeepsTheManifestWithoutWhatTheServerAdded) {
  const std::string dumped = Replace(kCrd, "metadata: {name: orders.shop.example.com}",
                                     "metadata:\n  name: orders.shop.example.com\n  uid: x\n  creationTimestamp: "
                                     "null\n  managedFields: []\n  annotations:\n    keep: \"yes\"\n"
                                     "    kubectl.kubernetes.io/last-applied-configuration: '{}'") +
                             "status: {acceptedNames: {}}\n";
  const Loaded loaded = Load({dumped});
  ASSERT_EQ(loaded.api.manifests.size(), 1u);
  EXPECT_EQ(loaded.api.manifests[0].name, "orders.shop.example.com");
  EXPECT_THAT(
      loaded.api.manifests[0].json,
      ::testing::StartsWith(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
                            R"("metadata":{"name":"orders.shop.example.com","annotations":{"keep":"yes"}},"spec":{)"));
  EXPECT_THAT(loaded.api.manifests[0].json, ::testing::Not(HasSubstr("status")));
}

TEST(Crd, ReadsKeysOfLabelsAndAnnotationsAsKubectl) {
  const auto crd = [](const std::string& labels) {
    return Replace(
        kCrd, "metadata: {name: orders.shop.example.com}",
        "metadata:\n  name: orders.shop.example.com\n  labels: {" + labels + "}\n  annotations: {" + labels + "}\n");
  };
  const Loaded loaded = Load({crd("yes: a, 0x10: b, 1.50: c, 'on': d, 2024-01-01: e")});
  ASSERT_EQ(loaded.api.manifests.size(), 1u);
  const std::string read = R"({"true":"a","16":"b","1.5":"c","on":"d","2024-01-01":"e"})";
  EXPECT_THAT(loaded.api.manifests[0].json, HasSubstr(R"("labels":)" + read + R"(,"annotations":)" + read));
  for (const auto& [labels, message] :
       {std::pair{"null: a", "error wrong-kind: the key null is not text"},
        {"~: a", "error wrong-kind: the key ~ is not text"},
        {"yes: a, on: b", "error wrong-kind: the key on appears again: kubectl reads it as \"true\""}}) {
    EXPECT_THAT(Load({crd(labels)}).Said(), HasSubstr(message));
  }
}

// Contract: generator IN-27, OA-20.
TEST(Crd, NamesTheKindOfOtherDocuments) {
  EXPECT_THAT(Load({"type: object\nproperties: {}\n"}).Said(),
              HasSubstr("error json-schema: this is a JSON schema, not a CRD"));
  EXPECT_THAT(Load({"{\"paths\": {\"api/v1\": {\"serverRelativeURL\": \"/openapi/v3/api/v1\"}}}"}).Said(),
              HasSubstr("error openapi-root"));
  EXPECT_THAT(Load({"a: 1\n"}).Said(), HasSubstr("error unknown-document"));
  EXPECT_THAT(Load({"- a\n"}).Said(), HasSubstr("expected an object with apiVersion and kind, found a list"));
  EXPECT_THAT(Load({"openapi: 2.5\n"}).Said(), HasSubstr("error wrong-kind"));
  EXPECT_THAT(Load({"openapi: 4.0.0\n"}).Said(),
              HasSubstr("error openapi-version: OpenAPI \"4.0.0\" is not supported"));
  EXPECT_THAT(Load({Replace(kCrd, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v2")}).Said(),
              HasSubstr("error crd-api-version"));
}

}  // namespace
}  // namespace kgen::generator
