// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen::Schema::Validate() beside a real kube-apiserver: for objects made from the schemas of CRDs, fitting and broken,
// both must accept or refuse the same, with the same errors, and make the same of what they accept. Only the order of
// the errors may differ, because a server visits the members of an object in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/object_meta.h"
#include "kgen/validation/validate.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/validation/object_maker.h"
#include "tests/support/format_texts.h"
#include "tests/support/paths.h"
#include "validation/compiled_schema.h"
#include "validation/complete.h"

namespace kgen::integration {
namespace {

using nlohmann::json;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int kObjectsOfAVersion = 16;
constexpr int kObjectsOfTheFixture = 1500;

// Drops what does not matter here and costs the server time: descriptions. Rules would need CEL.
void Simplify(json& schema) {
  if (schema.is_array()) {
    for (json& each : schema) Simplify(each);
  }
  if (!schema.is_object()) return;
  for (const char* key : {"description", "x-kubernetes-validations"}) {
    const auto found = schema.find(key);
    // A property may be called so.
    if (found != schema.end() && !(found->is_object() && key[0] == 'd')) schema.erase(found);
  }
  for (json& member : schema) Simplify(member);
}

json Load(const std::string& path) {
  const auto stream = yaml::Parse(test_support::ReadFile(path));
  json documents = json::array();
  if (!stream) return documents;  // other tests see that kgen reads it
  for (const yaml::Node& document : stream->documents()) documents.push_back(json::parse(yaml::ToJson(document)));
  return documents;
}

// "reason field: message", sorted.
std::vector<std::string> Sorted(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  return lines;
}

class SchemaValidationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
  }
  void TearDown() override {
    for (const std::string& name : installed_) (void)Send("DELETE", kCrds + ("/" + name), {});
  }

  static constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  Result<ApiResponse> Send(const std::string& method, const std::string& path, const json& body,
                           std::string query = {}) {
    return connection_->Call({.method = method,
                              .path = path,
                              .query = std::move(query),
                              .content_type = "application/json",
                              .body = body.is_null() ? "" : body.dump(),
                              .what = method + " " + path});
  }

  // Returns whether the server takes the CRD.
  Result<void> Install(const json& crd) {
    auto answer = Send("POST", kCrds, crd);
    if (!answer) return Fail(answer.error());
    installed_.push_back(crd["metadata"]["name"]);
    return {};
  }

  // The fixture under a name of its own, because a server deletes a CRD only after a while.
  static json Fixture(const std::string& kind) {
    json crd = Load(test_support::SourcePath("tests/integration/validation/keywords.yaml"))[0];
    std::string plural = kind + "s";
    plural[0] = static_cast<char>(plural[0] | 0x20);
    crd["metadata"]["name"] = plural + ".validation.example.com";
    crd["spec"]["names"] = {{"kind", kind}, {"plural", plural}};
    return crd;
  }

  static std::string PathOf(const json& crd, const std::string& version) {
    const json& spec = crd["spec"];
    const std::string space = spec["scope"] == "Namespaced" ? "/namespaces/default" : "";
    return "/apis/" + spec["group"].get<std::string>() + "/" + version + space + "/" +
           spec["names"]["plural"].get<std::string>();
  }

  bool IsServed(const json& crd, const std::string& version) {
    return Eventually([&] { return Send("GET", PathOf(crd, version), {}, "limit=1").has_value(); },
                      std::chrono::seconds(120), std::chrono::milliseconds(100));
  }

  // What the server says about creating the object; with nothing if it takes it. `stored` becomes what it would store.
  std::vector<std::string> Ask(const std::string& path, const json& object, std::optional<json>& stored) {
    auto answer = Send("POST", path, object, "dryRun=All&fieldValidation=Ignore");
    if (answer) {
      stored = json::parse(answer->body);
      return {};
    }
    const meta::v1::Status* status = answer.error().status();
    if (status == nullptr || *status->code != 422) return {kRefused + (": " + answer.error().ToString())};
    std::vector<std::string> lines;
    for (const auto& cause : status->details->causes) {
      const std::string reason(cause.reason), field(cause.field), message(cause.message);
      if (message.contains("some validation rules were not checked")) continue;
      lines.push_back(reason + " " + field + ": " + message);
    }
    return lines;
  }
  static constexpr const char* kRefused = "refused before validation";

  // Compares the two for one object.
  void Compare(const json& crd, std::size_t index, const Schema& schema, const json& object) {
    const std::string version = crd["spec"]["versions"][index]["name"];
    std::optional<json> stored;
    const std::vector<std::string> server = Ask(PathOf(crd, version), object, stored);
    std::vector<std::string> own;
    for (const FieldError& error : schema.Validate(Json(object.dump())).errors)
      own.push_back(std::string(error.reason()) + " " + error.field + ": " + error.message);
    ++(server.empty() ? accepted_ : refused_);
    if (!server.empty() && server[0].starts_with(kRefused)) {
      EXPECT_THAT(own, ::testing::Not(IsEmpty())) << server[0] << "\n" << object;
      return;
    }
    EXPECT_EQ(Sorted(own), Sorted(server)) << crd["metadata"]["name"] << " " << version << "\n" << object;
    // Another version than the stored one is converted there and back, and loses what that does not have.
    if (!stored || !crd["spec"]["versions"][index].value("storage", false)) return;
    const auto compiled = Must(validation::CompiledSchema::FromVersion(crd, index));
    json completed = object;
    std::vector<std::string> dropped;
    compiled->Prune(completed, dropped);
    compiled->SetDefaults(completed);
    completed.erase("metadata");
    stored->erase("metadata");
    EXPECT_EQ(completed, *stored) << object;
  }

  // Compares them for `count` objects of each served version, every fourth of which fits the schema.
  void CompareAll(const json& crd, int count) {
    for (std::size_t i = 0; i < crd["spec"]["versions"].size(); ++i) {
      const json& version = crd["spec"]["versions"][i];
      if (!version.value("served", false)) continue;
      const std::string name = version["name"];
      ASSERT_TRUE(IsServed(crd, name)) << crd["metadata"]["name"];
      const auto schema = Schema::FromCrd(crd.dump(), name);
      ASSERT_TRUE(schema) << schema.error();
      json parts = version["schema"]["openAPIV3Schema"];
      const std::string api_version = crd["spec"]["group"].get<std::string>() + "/" + name;
      for (int j = 0; j < count && !HasFailure(); ++j) {
        ObjectMaker maker(static_cast<std::uint64_t>(j) + 1);
        json object = maker.Make(parts, api_version, crd["spec"]["names"]["kind"]);
        if (j % 4 != 0) maker.Break(object, parts);
        Compare(crd, i, *schema, object);
      }
    }
  }

  std::optional<Connection> connection_;
  std::vector<std::string> installed_;
  int accepted_ = 0, refused_ = 0;
};

TEST_F(SchemaValidationTest, EveryKeywordIsCheckedAsTheServerDoes) {
  const json crd = Fixture("Gauge");
  const auto installed = Install(crd);
  ASSERT_TRUE(installed) << installed.error();
  CompareAll(crd, kObjectsOfTheFixture);
  EXPECT_GT(accepted_, kObjectsOfTheFixture / 50);
  EXPECT_GT(refused_, kObjectsOfTheFixture / 2);
}

TEST_F(SchemaValidationTest, EveryFormatIsCheckedAsTheServerDoes) {
  json properties = json::object();
  for (const FormatTexts& format : kFormatTexts)
    properties[std::string(format.name)] = {{"type", "string"}, {"format", format.name}};
  const json schema = {{"type", "object"},
                       {"properties", {{"spec", {{"type", "object"}, {"properties", properties}}}}}};
  const json crd = {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "forms.validation.example.com"}}},
      {"spec",
       {{"group", "validation.example.com"},
        {"scope", "Namespaced"},
        {"names", {{"plural", "forms"}, {"kind", "Form"}}},
        {"versions",
         {{{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
  const auto installed = Install(crd);
  ASSERT_TRUE(installed) << installed.error();
  ASSERT_TRUE(IsServed(crd, "v1"));
  const Schema compiled = Must(Schema::FromCrd(crd.dump(), "v1"));
  for (const FormatTexts& format : kFormatTexts) {
    for (const bool good : {true, false}) {
      const int before = good ? accepted_ : refused_;
      for (const std::string_view text : good ? format.good : format.bad) {
        Compare(crd, 0, compiled,
                {{"apiVersion", "validation.example.com/v1"},
                 {"kind", "Form"},
                 {"metadata", {{"name", "a"}}},
                 {"spec", {{std::string(format.name), std::string(text)}}}});
      }
      const std::size_t count = (good ? format.good : format.bad).size();
      EXPECT_EQ((good ? accepted_ : refused_) - before, static_cast<int>(count)) << format.name << " " << good;
    }
  }
}

TEST_F(SchemaValidationTest, MetadataIsCheckedAsTheServerDoes) {
  const json crd = Fixture("Meter");
  ASSERT_TRUE(Install(crd));
  ASSERT_TRUE(IsServed(crd, "v1"));
  const Schema schema = Must(Schema::FromCrd(crd.dump(), "v1"));
  const json owner = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "b"}, {"uid", "c"}, {"controller", true}};
  json other = owner;
  other["uid"] = "d";
  const std::string longest(64, 'a');
  for (const json& more : std::vector<json>{
           json::object(),
           {{"name", "A"}},
           {{"name", "a_b.c"}},
           {{"name", longest}},
           {{"name", std::string(300, 'a')}},
           {{"name", nullptr}, {"generateName", "a-"}},
           {{"name", nullptr}},
           {{"name", 5}},
           {{"labels",
             {{"a", "b"}, {"a/b/c", "x"}, {"/b", ""}, {"a b", "c d"}, {"A.b/c", ""}, {longest, longest}, {"", "-"}}}},
           {{"labels", {{"a", 1}}}},
           {{"labels", json::array()}},
           {{"labels", {{"a", nullptr}}}},
           {{"annotations", {{"A.B/c", "any text"}, {"a b", ""}}}},
           {{"annotations", {{"a", std::string(256 * 1024, 'x')}}}},
           {{"ownerReferences", {owner, other}}},
           {{"ownerReferences", {{{"apiVersion", "a/b/c"}}}}},
           {{"ownerReferences", {{{"apiVersion", "v1"}, {"kind", "Event"}, {"name", "a"}, {"uid", "b"}}}}},
           {{"ownerReferences", {5}}},
           {{"finalizers", {"a/b", "x y", "orphan", "foregroundDeletion"}}},
           {{"finalizers", "a"}},
           {{"creationTimestamp", "yesterday"}},
           {{"unknown", {{"a", 1}}}},
       }) {
    json object = {{"apiVersion", "validation.example.com/v1"},
                   {"kind", "Meter"},
                   {"metadata", {{"name", "a"}}},
                   {"spec", {{"text", "abc"}, {"count", 1}}}};
    object["metadata"].update(more);
    Compare(crd, 0, schema, object);
  }
  EXPECT_GT(accepted_, 3);
  EXPECT_GT(refused_, 12);

  // The server has generated a name before it checks: with another end than ours.
  const json object = {{"apiVersion", "validation.example.com/v1"},
                       {"kind", "Meter"},
                       {"metadata", {{"generateName", "A-"}}},
                       {"spec", {{"text", "abc"}, {"count", 1}}}};
  std::optional<json> stored;
  EXPECT_THAT(Ask(PathOf(crd, "v1"), object, stored),
              Each(StartsWith("FieldValueInvalid metadata.name: Invalid value: \"A-")));
  EXPECT_THAT(Ask(PathOf(crd, "v1"), object, stored), SizeIs(schema.Validate(Json(object.dump())).errors.size()));
}

// The server refuses an object that breaks a rule, which Validate() names and does not evaluate.
TEST_F(SchemaValidationTest, RulesAreLeftToTheServer) {
  json crd = Fixture("Scale");
  json& spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
  spec["x-kubernetes-validations"] = {{{"rule", "self.count > 5"}}};
  ASSERT_TRUE(Install(crd));
  ASSERT_TRUE(IsServed(crd, "v1"));
  const Schema schema = Must(Schema::FromCrd(crd.dump(), "v1"));
  const json object = {{"apiVersion", "validation.example.com/v1"},
                       {"kind", "Scale"},
                       {"metadata", {{"name", "a"}}},
                       {"spec", {{"text", "abc"}, {"count", 1}}}};
  std::optional<json> stored;
  EXPECT_THAT(Ask(PathOf(crd, "v1"), object, stored), SizeIs(1));
  const Validation result = schema.Validate(Json(object.dump()));
  EXPECT_TRUE(result.valid()) << result.errors.ToString();
  EXPECT_THAT(result.unchecked, ElementsAre(UncheckedRule{"spec", "self.count > 5"}));
}

TEST_F(SchemaValidationTest, CrdsOfRealProjectsAreCheckedAsTheServerDoes) {
  const auto corpus = test_support::SharedPath("corpus/crds");
  if (!corpus) GTEST_SKIP() << "needs KGEN_SHARED_DIR with the corpus";
  // A server takes more than a second for each CRD, so all of them take five minutes: KGEN_TEST_EVERY_CRD=1.
  const std::size_t step = std::getenv("KGEN_TEST_EVERY_CRD") != nullptr ? 1 : 4;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*corpus)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  std::set<std::string> names;
  std::vector<json> crds;
  for (const std::string& file : files) {
    for (json crd : Load(file)) {
      if (!crd.is_object() || crd.value("apiVersion", "") != "apiextensions.k8s.io/v1") continue;
      crd.erase("status");
      crd["spec"].erase("conversion");
      crd["metadata"] = {{"name", crd["metadata"]["name"]},
                         {"annotations", {{"api-approved.kubernetes.io", "unapproved, a test"}}}};
      for (json& version : crd["spec"]["versions"]) {
        if (version.contains("schema")) Simplify(version["schema"]["openAPIV3Schema"]);
      }
      if (!names.insert(crd["metadata"]["name"]).second || names.size() % step != 0) continue;
      if (Install(crd)) crds.push_back(std::move(crd));
    }
  }
  for (const json& crd : crds) CompareAll(crd, kObjectsOfAVersion);
  EXPECT_GE(crds.size(), names.size() / step * 9 / 10);
  EXPECT_GT(accepted_, static_cast<int>(crds.size()));
  EXPECT_GT(refused_, static_cast<int>(crds.size()));
  RecordProperty("crds", static_cast<int>(crds.size()));
  RecordProperty("accepted", accepted_);
  RecordProperty("refused", refused_);
}

}  // namespace
}  // namespace kgen::integration
