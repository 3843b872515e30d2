// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How the server treats unknown fields, and dry runs.
#include "testing/api_server.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGauges[] = "/apis/shop.example/v1/namespaces/default/gauges";
constexpr char kFieldsOfMaps[] = "/api/v1/namespaces/default/configmaps";

class FieldsTest : public ClusterTest {
 protected:
  FieldsTest() {
    constexpr std::string_view kCrd = R"({
      "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gauges.shop.example"},
      "spec": {"group": "shop.example", "scope": "Namespaced", "names": {"plural": "gauges", "kind": "Gauge"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
          "properties": {"spec": {"type": "object", "properties": {
            "item": {"type": "string"},
            "deep": {"type": "object", "properties": {"x": {"type": "object", "properties": {"y": {"type": "integer"}}}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
          }}}}}}]}})";
    Must(cluster_.Add(kCrd));
    EXPECT_TRUE(server_->Add(kCrd));
  }
  static json Gauge(const json& spec) {
    return {{"apiVersion", "shop.example/v1"}, {"kind", "Gauge"}, {"metadata", {{"name", "g"}}}, {"spec", spec}};
  }
  static json Misspelt() {
    json gauge = Gauge({{"itm", 1},
                        {"deep", {{"q", 1}, {"x", {{"z", 1}}}}},
                        {"list", json::array({{{"k", "a"}}, {{"v", "b"}}})},
                        {"pod", {{"apiVersion", "v1"}, {"kind", "Pod"}, {"free", 1}, {"metadata", {{"nam", "a"}}}}}});
    gauge["metadata"]["label"] = "a";
    gauge["top"] = 1;
    return gauge;
  }
  ~FieldsTest() override { server_->Close(); }

  // Sends it with that value of fieldValidation to a server of its own, and returns the Warning headers: our client
  // does not show them.
  std::vector<std::string> WarningsOf(const std::string& mode, const std::string& body) {
    const Reply reply =
        server_->Handle({.method = "POST",
                         .path = std::string(kGauges) + (mode.empty() ? "" : "?fieldValidation=" + mode),
                         .headers = {{"content-type", "application/json"}},
                         .body = body});
    answer_ = json::parse(reply.body);
    std::vector<std::string> warnings;
    for (const HttpHeader& header : reply.headers) {
      if (header.name == "warning") warnings.push_back(header.value);
    }
    return warnings;
  }

  Shared<ApiServer> server_ = MakeShared<ApiServer>(ClusterOptions{.seed = 1}, cluster_.simulation().executor());
  json answer_;
};

// A test that expects a rule to refuse an object would wonder why it is accepted.
TEST_F(FieldsTest, ACrdWithRulesIsAnsweredWithAWarning) {
  const auto warnings = [&](const char* name, const json& schema) {
    const json crd = {
        {"apiVersion", "apiextensions.k8s.io/v1"},
        {"kind", "CustomResourceDefinition"},
        {"metadata", {{"name", std::string(name) + "s.shop.example"}}},
        {"spec",
         {{"group", "shop.example"},
          {"scope", "Namespaced"},
          {"names", {{"plural", std::string(name) + "s"}, {"kind", name}}},
          {"versions",
           {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
    const Reply reply = server_->Handle(
        {.method = "POST", .path = kCrds, .headers = {{"content-type", "application/json"}}, .body = crd.dump()});
    EXPECT_EQ(reply.status, 201) << reply.body;
    std::vector<std::string> out;
    for (const HttpHeader& header : reply.headers) {
      if (header.name == "warning") out.push_back(header.value);
    }
    return out;
  };
  const json rule = {{"rule", "self != ''"}};
  EXPECT_THAT(
      warnings("dial", {{"type", "object"},
                        {"properties", {{"a", {{"type", "string"}, {"x-kubernetes-validations", {rule, rule}}}}}},
                        {"x-kubernetes-validations", {rule}}}),
      ElementsAre("299 - \"the in-memory cluster does not evaluate the 3 rules (x-kubernetes-validations) of "
                  "dials.shop.example: it accepts objects that break them\""));
  EXPECT_THAT(warnings("knob", {{"type", "object"}}), IsEmpty());
}

TEST_F(FieldsTest, StrictRefusesUnknownFields) {
  Send("POST", kGauges, "fieldValidation=Strict", Misspelt());
  EXPECT_EQ(last_status_, 400);
  EXPECT_THAT(
      last_error_,
      HasSubstr("Gauge in version \"v1\" cannot be handled as a Gauge: strict decoding error: unknown field "
                "\"metadata.label\", unknown field \"spec.deep.q\", unknown field \"spec.deep.x.z\", unknown "
                "field \"spec.itm\", unknown field \"spec.list[1].v\", unknown field \"spec.pod.metadata.nam\", "
                "unknown field \"top\""));
  EXPECT_THAT(cluster_.List("gauges"), IsEmpty());
  Send("POST", kGauges, "fieldValidation=Strict", Gauge({{"item", "a"}}));
  EXPECT_EQ(last_status_, 201);
  Send("PUT", std::string(kGauges) + "/g", "fieldValidation=Strict", Misspelt());
  EXPECT_EQ(last_status_, 400);
}

TEST_F(FieldsTest, StrictRefusesDuplicateFields) {
  const std::string twice =
      R"({"metadata":{"name":"g","name":"h"},"spec":{"list":[{"k":"a"},{"k":"b","k":"c"}],"deep":{"x":{"y":1,"y":2}}}})";
  WarningsOf("Strict", twice);
  EXPECT_THAT(answer_["message"].get<std::string>(),
              HasSubstr("strict decoding error: duplicate field \"metadata.name\", duplicate field "
                        "\"spec.list[1].k\", duplicate field \"spec.deep.x.y\""));
  EXPECT_THAT(WarningsOf("Warn", twice), ElementsAre(R"(299 - "duplicate field \"metadata.name\"")",
                                                     R"(299 - "duplicate field \"spec.list[1].k\"")",
                                                     R"(299 - "duplicate field \"spec.deep.x.y\"")"));
}

TEST_F(FieldsTest, WarnNamesDroppedFieldsAndIsTheDefault) {
  json gauge = Gauge({{"itm", 1}, {"item", "a"}});
  EXPECT_THAT(WarningsOf("", gauge.dump()), ElementsAre(R"(299 - "unknown field \"spec.itm\"")"));
  EXPECT_EQ(answer_["spec"], json({{"item", "a"}}));
  gauge["metadata"]["name"] = "h";
  EXPECT_THAT(WarningsOf("Warn", gauge.dump()), ElementsAre(R"(299 - "unknown field \"spec.itm\"")"));
  gauge["metadata"]["name"] = "i";
  EXPECT_THAT(WarningsOf("Ignore", gauge.dump()), IsEmpty());
  EXPECT_EQ(answer_["spec"], json({{"item", "a"}}));
  gauge = Gauge({{"item", "a"}});
  gauge["metadata"]["name"] = "j";
  EXPECT_THAT(WarningsOf("Warn", gauge.dump()), IsEmpty()) << "of the request before";
}

TEST_F(FieldsTest, StrictRefusesAPatchThatAddsAnUnknownField) {
  Post(kGauges, Gauge({{"item", "a"}}));
  const std::string path = std::string(kGauges) + "/g";
  Send("PATCH", path, "fieldValidation=Strict", {{"spec", {{"itm", 1}}}}, "application/merge-patch+json");
  EXPECT_EQ(last_status_, 422);
  EXPECT_THAT(last_error_, HasSubstr("strict decoding error: unknown field \"spec.itm\""));
  Send("PATCH", path, "fieldValidation=Strict", json::array({{{"op", "add"}, {"path", "/spec/itm"}, {"value", 1}}}),
       "application/json-patch+json");
  EXPECT_EQ(last_status_, 422);
  EXPECT_THAT(last_causes_, ElementsAre("patch FieldValueInvalid"));
  Send("PATCH", path, "", {{"spec", {{"itm", 1}}}}, "application/merge-patch+json");
  EXPECT_EQ(last_status_, 200);
}

TEST_F(FieldsTest, ApplyRefusesAnUnknownFieldInAnyCase) {
  Send("PATCH", std::string(kGauges) + "/g", "fieldManager=me&fieldValidation=Ignore", Gauge({{"itm", 1}}),
       "application/apply-patch+yaml");
  EXPECT_EQ(last_status_, 500);
  EXPECT_THAT(last_error_,
              HasSubstr("failed to create typed patch object (/g; shop.example/v1, Kind=Gauge): .spec.itm: "
                        "field not declared in schema"));
}

TEST_F(FieldsTest, OnlyTheMetadataOfABuiltInKindIsChecked) {
  json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}, {"label", 1}}}, {"dta", 1}};
  Send("POST", kFieldsOfMaps, "fieldValidation=Strict", map);
  EXPECT_EQ(last_status_, 400);
  EXPECT_THAT(last_error_, HasSubstr("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding "
                                     "error: unknown field \"metadata.label\""));
  map["metadata"].erase("label");
  Send("POST", kFieldsOfMaps, "fieldValidation=Strict", map);
  EXPECT_EQ(last_status_, 201);
}

TEST_F(FieldsTest, RefusesOptionsWithUnknownValues) {
  Send("POST", kFieldsOfMaps, "dryRun=Nope&fieldValidation=strict", Gauge(json::object()));
  EXPECT_EQ(last_status_, 422);
  EXPECT_THAT(last_error_,
              HasSubstr("CreateOptions.meta.k8s.io \"\" is invalid: [dryRun: Unsupported value: [\"Nope\"]: "
                        "supported values: \"All\", fieldValidation: Unsupported value: \"strict\": "
                        "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]"));
  Send("DELETE", std::string(kFieldsOfMaps) + "/a", "dryRun=Nope");
  EXPECT_EQ(last_status_, 422);
}

TEST_F(FieldsTest, ADryRunOfACreateHasNoResourceVersion) {
  json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}, {"resourceVersion", ""}}}};
  const json tried = Send("POST", kFieldsOfMaps, "dryRun=All", map);
  EXPECT_EQ(last_status_, 201);
  EXPECT_FALSE(tried["metadata"].contains("resourceVersion"));
  EXPECT_TRUE(tried["metadata"].contains("uid"));
  EXPECT_THAT(cluster_.List("configmaps"), IsEmpty());

  json made = Post(kFieldsOfMaps, map);
  made["data"]["a"] = "b";
  const json changed = Send("PUT", std::string(kFieldsOfMaps) + "/a", "dryRun=All", made);
  EXPECT_EQ(changed["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
  EXPECT_EQ(Send("DELETE", std::string(kFieldsOfMaps) + "/a", "dryRun=All")["status"], "Success");
  EXPECT_EQ(cluster_.List("configmaps").size(), 1u);
}

}  // namespace
}  // namespace kgen::testing
