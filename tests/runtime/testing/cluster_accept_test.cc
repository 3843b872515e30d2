// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The forms of responses: metadata alone, and discovery in both forms.
#include "codec/protobuf_envelope.h"
#include "kgen/codec/decode.h"
#include "kgen/core/unstructured.h"
#include "testing/api_server.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kMetadata[] = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
constexpr char kMetadataList[] = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr char kAggregated[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

class AcceptTest : public ::testing::Test {
 protected:
  AcceptTest() {
    EXPECT_TRUE(server_->Add(R"({
      "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gauges.shop.example"},
      "spec": {"group": "shop.example", "scope": "Namespaced",
        "names": {"plural": "gauges", "kind": "Gauge", "shortNames": ["ga"], "categories": ["all", "shop"]},
        "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                      "schema": {"openAPIV3Schema": {"type": "object"}}}]}})"));
    EXPECT_TRUE(server_->Add(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}})"));
  }
  ~AcceptTest() override { server_->Close(); }

  json Get(std::string path, std::string accept, std::string method = "GET", std::string body = {}) {
    reply_ = server_->Handle({.method = std::move(method),
                              .path = std::move(path),
                              .headers = {{"accept", std::move(accept)}},
                              .body = std::move(body)});
    return json::parse(reply_.body, nullptr, /*allow_exceptions=*/false);
  }
  json Resource(const json& group, std::string_view name) {
    for (const json& each : group["versions"][0]["resources"]) {
      if (each["resource"] == name) return each;
    }
    return {};
  }

  Simulation simulation_{1};
  Shared<ApiServer> server_ = MakeShared<ApiServer>(ClusterOptions{.seed = 1}, simulation_.executor());
  Reply reply_;
};

constexpr char kMap[] = "/api/v1/namespaces/default/configmaps/a";
constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

TEST_F(AcceptTest, GivesTheMetadataOfAnObjectAlone) {
  const json got = Get(kMap, kMetadata);
  EXPECT_EQ(got["kind"], "PartialObjectMetadata");
  EXPECT_EQ(got["apiVersion"], "meta.k8s.io/v1");
  EXPECT_EQ(got["metadata"]["labels"]["x"], "y");
  EXPECT_FALSE(got.contains("data"));
  EXPECT_EQ(Get(kMap, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1")["apiVersion"],
            "meta.k8s.io/v1beta1");
  const json created = Get(kMaps, kMetadata, "POST", R"({"metadata":{"name":"b"},"data":{"k":"v"}})");
  EXPECT_EQ(created["kind"], "PartialObjectMetadata");
  EXPECT_EQ(created["metadata"]["name"], "b");
}

TEST_F(AcceptTest, GivesTheMetadataOfAListAlone) {
  const json got = Get(kMaps, kMetadataList);
  EXPECT_EQ(got["kind"], "PartialObjectMetadataList");
  EXPECT_EQ(got["apiVersion"], "meta.k8s.io/v1");
  ASSERT_EQ(got["items"].size(), 1u);
  EXPECT_EQ(got["items"][0]["kind"], "PartialObjectMetadata");
  EXPECT_EQ(got["items"][0]["metadata"]["name"], "a");
  EXPECT_FALSE(got["items"][0].contains("data"));
}

TEST_F(AcceptTest, AWatchCarriesMetadataAlone) {
  Get(std::string(kMaps) + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
      kMetadata);
  ASSERT_TRUE(server_->Delete("configmaps", "default", "a"));
  const std::string text = reply_.body + server_->Take(*reply_.watch).bytes;
  std::vector<std::string> types;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const json event = json::parse(text.substr(at, end - at));
    types.push_back(event["type"]);
    EXPECT_EQ(event["object"]["kind"], "PartialObjectMetadata");
    EXPECT_EQ(event["object"]["apiVersion"], "meta.k8s.io/v1");
    EXPECT_FALSE(event["object"].contains("data"));
  }
  EXPECT_THAT(types, ElementsAre("ADDED", "BOOKMARK", "DELETED"));
  server_->CloseWatch(*reply_.watch);
}

TEST_F(AcceptTest, ObjectAndListHaveSeparateForms) {
  EXPECT_EQ(Get(kMaps, kMetadata)["message"],
            "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)");
  EXPECT_EQ(reply_.status, 406);
  EXPECT_EQ(Get(kMap, kMetadataList)["message"],
            "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)");
}

TEST_F(AcceptTest, UsesTheFirstFormThatItSupports) {
  for (const char* accept : {"", "*/*", "application/*", "text/plain, */*;q=0.1", "application/json;stream=watch",
                             "application/vnd.kubernetes.protobuf,application/json",
                             "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"}) {
    EXPECT_EQ(Get(kMap, accept)["kind"], "ConfigMap") << accept;
  }
  for (const char* accept :
       {"text/plain", "application/vnd.kubernetes.protobuf", "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v9"}) {
    EXPECT_EQ(Get(kMap, accept)["reason"], "NotAcceptable") << accept;
    EXPECT_EQ(reply_.status, 406);
  }
}

TEST_F(AcceptTest, GivesMetadataInProtobufForKindsWithoutATableToo) {
  ASSERT_TRUE(server_->Add(
      R"({"apiVersion":"shop.example/v1","kind":"Gauge","metadata":{"name":"g","labels":{"x":"y"}},"spec":{"a":1}})"));
  constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,";
  for (const char* path : {kMap, "/apis/shop.example/v1/namespaces/default/gauges/g"}) {
    Get(path, std::string(kProtobuf) + kMetadata);
    EXPECT_EQ(reply_.headers.front().value, "application/vnd.kubernetes.protobuf");
    const codec::Envelope envelope = Must(codec::ReadEnvelope(reply_.body));
    EXPECT_EQ(envelope.kind, "PartialObjectMetadata");
    EXPECT_EQ(envelope.api_version, "meta.k8s.io/v1");
    const auto part = Must(Decode<PartialObjectMetadata>(envelope.raw, {.encoding = Encoding::kProtobuf}));
    EXPECT_EQ(part.metadata.labels["x"], "y");
    EXPECT_EQ(part.kind, "PartialObjectMetadata");
    EXPECT_EQ(part.apiVersion, "meta.k8s.io/v1");
  }
  EXPECT_EQ(Get(kMap, "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json")["kind"],
            "ConfigMap");
}

TEST_F(AcceptTest, AggregatesDiscoveryIfRequested) {
  const json core = Get("/api", kAggregated);
  EXPECT_EQ(reply_.headers.front().value, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(core["kind"], "APIGroupDiscoveryList");
  ASSERT_EQ(core["items"].size(), 1u);
  EXPECT_EQ(Resource(core["items"][0], "pods")["categories"], json({"all"}));
  const json namespaces = Resource(core["items"][0], "namespaces");
  EXPECT_EQ(namespaces["scope"], "Cluster");
  EXPECT_EQ(namespaces["verbs"], json({"create", "delete", "get", "list", "patch", "update", "watch"}));

  std::map<std::string, json> groups;
  const json all = Get("/apis", kAggregated);
  for (const json& item : all["items"]) groups[item["metadata"]["name"]] = item;
  const json gauges = Resource(groups["shop.example"], "gauges");
  EXPECT_EQ(gauges["responseKind"], json({{"group", "shop.example"}, {"version", "v1"}, {"kind", "Gauge"}}));
  EXPECT_EQ(gauges["categories"], json({"all", "shop"}));
  EXPECT_EQ(gauges["shortNames"], json({"ga"}));
  EXPECT_EQ(gauges["subresources"][0]["subresource"], "status");
  const json scale = Resource(groups["apps"], "deployments")["subresources"][0];
  EXPECT_EQ(scale["responseKind"], json({{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}}));

  EXPECT_EQ(Get("/apis", "application/json")["kind"], "APIGroupList");
  EXPECT_EQ(
      Get("/apis", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json")["kind"],
      "APIGroupList");
}

TEST_F(AcceptTest, PlainDiscoveryHasCategoriesToo) {
  const json list = Get("/apis/shop.example/v1", "application/json");
  EXPECT_EQ(list["resources"][0]["categories"], json({"all", "shop"}));
  EXPECT_FALSE(list["resources"][1].contains("categories"));
}

TEST_F(AcceptTest, TheVersionIsComplete) {
  const json version = Get("/version", "application/json");
  for (const char* key :
       {"major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor",
        "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"}) {
    EXPECT_TRUE(version.contains(key) && !version[key].get<std::string>().empty()) << key;
  }
}

}  // namespace
}  // namespace kgen::testing
