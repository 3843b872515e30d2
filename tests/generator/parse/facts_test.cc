// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "generator/parse/json_layout.h"
#include "generator/parse/source.h"
#include "tests/generator/load.h"
#include "tests/support/paths.h"

namespace kgen::generator::parse {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Reduce(std::string text) {
  const auto stream = yaml::Parse(std::move(text));
  if (!stream || stream->documents().empty()) return "no document";
  Diagnostics diagnostics;
  const Context context{diagnostics, 0, 0};
  const DocumentPath path;
  return ReduceToFacts(MapReader(context, stream->documents()[0], path));
}

// Contract: generator IN-23.
TEST(Facts, DropsDescriptionsByPositionAndKeepsPropertiesOfThatName) {
  const std::string facts =
      Reduce(R"({"openapi": "3.0.0", "info": {"title": "T", "version": "1", "description": "d"}, "paths": {},
      "components": {"securitySchemes": {}, "schemas": {"a.v1.A": {"description": "prose", "type": "object", "title": "t", "example": 1,
        "properties": {"description": {"type": "string", "description": "prose"}, "title": {"type": "array", "items": {"description": "prose", "type": "string"}},
          "o": {"anyOf": [{"description": "prose", "type": "integer"}], "additionalProperties": {"description": "prose"}, "default": {"description": "value"}}}}}}})");
  EXPECT_EQ(facts, R"({
 "components": {
  "schemas": {
   "a.v1.A": {
    "properties": {
     "description": {"type": "string"},
     "o": {"additionalProperties": {}, "anyOf": [{"type": "integer"}], "default": {"description": "value"}},
     "title": {"items": {"type": "string"}, "type": "array"}
    },
    "type": "object"
   }
  }
 },
 "info": {"title": "T", "version": "1"},
 "openapi": "3.0.0",
 "paths": {}
}
)");
}

// Contract: generator OP-07, OP-08.
TEST(Facts, KeepsOperationsOnResourcesOnly) {
  const std::string gvk = R"("x-kubernetes-group-version-kind": {"group": "apps", "version": "v1", "kind": "W"})";
  const std::string list =
      R"("get": {"x-kubernetes-action": "list", )" + gvk +
      R"(, "tags": ["t"], "operationId": "o", "responses": {"200": {"description": "OK", "content": {"application/json": )"
      R"({"schema": {"$ref": "#/components/schemas/x"}}, "application/yaml": {}}}, "401": {"description": "no"}}})";
  const std::string parameters =
      R"("parameters": [{"name": "watch", "in": "query", "schema": {"type": "boolean"}}, {"name": "limit", "in": "query"}])";
  const std::string facts = Reduce(
      R"({"openapi": "3.0.0", "paths": {"/apis/apps/v1/": {"get": {"description": "discovery"}}, "/apis/apps/v1/ws": {)" +
      list + ", " + parameters + R"(}, "/apis/apps/v1/xs": {)" + list + ", " + parameters +
      R"(}, "/apis/apps/v1/watch/ws": {"get": {"x-kubernetes-action": "watchlist", )" + gvk + "}}}}");
  EXPECT_THAT(facts, HasSubstr("\"/apis/apps/v1/ws\": {"));
  EXPECT_THAT(facts, HasSubstr("\"parameters\": [{\"$ref\": \"#/components/parameters/watch\"}]"));
  EXPECT_THAT(facts, HasSubstr("\"application/json\": {\"schema\": {\"$ref\": \"#/components/schemas/x\"}}"));
  for (const char* gone : {"discovery", "/watch/", "limit", "tags", "operationId", "401", "yaml", "OK"})
    EXPECT_THAT(facts, Not(HasSubstr(gone)));
  // Only ws can be watched: it has a /watch/ path.
  const std::size_t xs = facts.find("/apis/apps/v1/xs");
  ASSERT_NE(xs, std::string::npos);
  EXPECT_EQ(facts.find("parameters/watch", xs), std::string::npos);
}

// Contract: generator OUT-01.
TEST(Facts, DoNotDependOnTheOrderOfKeys) {
  EXPECT_EQ(
      Reduce(R"({"openapi": "3.0.0", "components": {"schemas": {"a": {"type": "string", "format": "x"}, "b": {}}}})"),
      Reduce(R"({"components": {"schemas": {"b": {}, "a": {"format": "x", "type": "string"}}}, "openapi": "3.0.0"})"));
}

TEST(Facts, OfTheBuiltInApiEqualThoseOfTheFullDocuments) {
  const auto folder = test_support::SharedPath("corpus/openapi/live-1.36.1");
  if (!folder) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test_support::SourcePath("openapi/kubernetes-1.36"))) {
    if (entry.path().extension() != ".json") continue;  // descriptions/
    Diagnostics diagnostics;
    std::vector<Source> sources = LoadSources({*folder + "/" + entry.path().filename().native() + ".gz"}, diagnostics);
    ASSERT_EQ(sources.size(), 1u) << diagnostics.Render();
    const std::string stored = test_support::ReadFile(entry.path());
    EXPECT_TRUE(Reduce(sources[0].text) == stored) << entry.path() << " is out of date";
    EXPECT_TRUE(Reduce(stored) == stored) << entry.path() << ": facts of facts differ";
    ++count;
  }
  EXPECT_EQ(count, 22u);
}

TEST(JsonLayout, BreaksOnlyValuesThatDoNotFitOnALine) {
  JsonValue list = JsonValue::List();
  for (int i = 0; i < 4; ++i) list.Add(JsonValue::String("item"));
  JsonValue map = JsonValue::Map();
  map.Set("short", JsonValue::List());
  map.Set("list", list);
  EXPECT_EQ(map.Layout(60), "{\"list\": [\"item\", \"item\", \"item\", \"item\"], \"short\": []}\n");
  EXPECT_EQ(map.Layout(45), "{\n \"list\": [\"item\", \"item\", \"item\", \"item\"],\n \"short\": []\n}\n");
  EXPECT_EQ(map.Layout(10),
            "{\n \"list\": [\n  \"item\",\n  \"item\",\n  \"item\",\n  \"item\"\n ],\n \"short\": []\n}\n");
}

}  // namespace
}  // namespace kgen::generator::parse
