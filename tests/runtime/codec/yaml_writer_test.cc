// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Trees, JSON and objects as YAML, and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/codec_fixture.h"
#include "tests/runtime/codec/widget.h"
#include "tests/support/paths.h"

namespace kgen::yaml {
namespace {

using test_support::ReadFile;
using ::testing::StartsWith;

std::string Quoted(std::string_view text) {
  std::string json;
  AppendJsonString(text, json);
  return json;
}

std::string Yaml(std::string_view json) { return EncodeYaml(Json(json)); }

// The JSON of what a reader of `yaml` sees, or the error.
std::string ReadBack(const std::string& yaml) {
  const auto stream = Parse(yaml);
  if (!stream) return stream.error().message;
  if (stream->documents().size() != 1) return std::to_string(stream->documents().size()) + " documents";
  return ToJson(stream->documents()[0]);
}

// One string as the value of a key.
std::string Written(std::string_view text) {
  const std::string yaml = Yaml("{\"a\":" + Quoted(text) + "}");
  return yaml.starts_with("a: ") && yaml.ends_with('\n') ? yaml.substr(3, yaml.size() - 4) : yaml;
}

TEST(YamlWriter, WritesMapsAndListsAsKubectlDoes) {
  EXPECT_EQ(Yaml(R"({"b":{"list":[1,{"x":2,"y":[]},[3,4],{}],"empty":{}},"a":null,"t":true,"f":1.50})"),
            R"(b:
  list:
  - 1
  - x: 2
    "y": []
  - - 3
    - 4
  - {}
  empty: {}
a: null
t: true
f: 1.50
)");
}

TEST(YamlWriter, WritesPlainTextWithoutQuotes) {
  for (const char* text : {"web", "nginx:1.27", "10.0.0.1", "a b", "v1", "app.kubernetes.io/name", "1.36.0", "10Gi",
                           "500m", "-v", "a#b", "http://x/y", "yess", "nULL", "é"}) {
    EXPECT_EQ(Written(text), text);
  }
}

TEST(YamlWriter, QuotesTextThatWouldBeReadAsSomethingElse) {
  for (const char* text : {"",
                           "yes",
                           "No",
                           "on",
                           "OFF",
                           "y",
                           "n",
                           "true",
                           "False",
                           "null",
                           "~",
                           "Null",
                           "1",
                           "-1",
                           "+1",
                           "0",
                           "0755",
                           "1.0",
                           "1e3",
                           ".5",
                           "5.",
                           "0x1F",
                           "0o17",
                           "0b11",
                           "0xFFFFFFFFFFFFFFFFFFFFFF",
                           "1_000",
                           "18446744073709551616",
                           ".inf",
                           "-.INF",
                           ".nan",
                           "2024-01-01",
                           "2024-01-01T10:00:00Z",
                           "1:30",
                           "-12:30:45",
                           "=",
                           "<<"}) {
    EXPECT_EQ(Written(text), "\"" + std::string(text) + "\"");
  }
}

TEST(YamlWriter, QuotesTextThatTheSyntaxDoesNotAllowPlain) {
  EXPECT_EQ(Written("a: b"), "'a: b'");
  EXPECT_EQ(Written("- a"), "'- a'");
  EXPECT_EQ(Written("# a"), "'# a'");
  EXPECT_EQ(Written("{{ .Values.x }}"), "'{{ .Values.x }}'");
  EXPECT_EQ(Written(" a"), "' a'");
  EXPECT_EQ(Written("*a"), "'*a'");
  EXPECT_EQ(Written("a\tb\x7F"), R"("a\tb\x7F")");
}

TEST(YamlWriter, WritesTextOfSeveralLinesAsALiteralBlock) {
  EXPECT_EQ(Written("a\nb\n"), "|\n  a\n  b");
  EXPECT_EQ(Written("a\nb"), "|-\n  a\n  b");
  EXPECT_EQ(Written("a\n\n"), "|+\n  a\n");
  EXPECT_EQ(Written("#!/bin/sh\n  indented: yes\n"), "|\n  #!/bin/sh\n    indented: yes");
  EXPECT_THAT(Written(std::string(300, 'x') + ' ' + std::string(300, 'y')), StartsWith("xxx")) << "nothing is folded";
  EXPECT_EQ(Written(std::string(300, 'x') + ' ' + std::string(300, 'y')).find('\n'), std::string::npos);
}

TEST(YamlWriter, KeepsTheSpellingOfNumbers) {
  const std::string json = R"([1.0,1E5,-0,12345678901234567890123,1e400,0.10])";
  EXPECT_EQ(Yaml(json), "- 1.0\n- 1E5\n- -0\n- 12345678901234567890123\n- 1e400\n- 0.10\n");
  EXPECT_EQ(ReadBack(Yaml(json)), json);
}

TEST(YamlWriter, WritesScalarsOfJsonAlone) {
  EXPECT_EQ(ReadBack(Yaml(R"("\ud83d\ude00 \/")")), "\"\xF0\x9F\x98\x80 /\"");
  EXPECT_EQ(Yaml("null"), "null\n");
  EXPECT_EQ(Yaml("5"), "5\n");
  EXPECT_EQ(Yaml(R"("a\n\n")"), "|+\n  a\n\n") << "no mark of the end";
  EXPECT_EQ(EncodeYaml(Json()), "");
}

TEST(YamlWriter, FallsBackToJsonWhereYamlCannotExpressIt) {
  for (const char* text : {R"({"a":1,"a":2})", "not json", "1, 2", "][", "\"\xFF\"", "[1"}) {
    EXPECT_EQ(Yaml(text), std::string(text) + "\n");
  }
}

TEST(YamlWriter, WritesATreeOfAnyOrigin) {
  const auto stream = Parse("a: &x [0x1F, yes, 'yes', ~, .5]\nb: *x\n");
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(ToYaml(stream->documents()[0]),
            "a:\n- 31\n- true\n- \"yes\"\n- null\n- 0.5\nb:\n- 31\n- true\n- \"yes\"\n- null\n- 0.5\n");
}

TEST(YamlWriter, SurvivesDeepNesting) {
  const std::string json = std::string(256, '[') + std::string(256, ']');
  EXPECT_EQ(ReadBack(Yaml(json)), json);
  const std::string deeper = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(Yaml(deeper), deeper + "\n") << "deeper than the reader goes";
}

// ---- Round trips. ----

const std::vector<std::string> kPieces = {"a",
                                          "-",
                                          "?",
                                          ":",
                                          " ",
                                          "  ",
                                          "\n",
                                          "\n\n",
                                          "\r",
                                          "\r\n",
                                          "\t",
                                          "#",
                                          "&",
                                          "*",
                                          "!",
                                          "|",
                                          ">",
                                          "'",
                                          "\"",
                                          "\\",
                                          "%",
                                          "@",
                                          "`",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          "~",
                                          "yes",
                                          "null",
                                          "0x",
                                          "1",
                                          ".",
                                          "e",
                                          "_",
                                          "+",
                                          "---",
                                          "...",
                                          "<<",
                                          "=",
                                          "0",
                                          "2024-01-01",
                                          "\x01",
                                          "\x7F",
                                          "\xC2\x85",
                                          "\xE2\x80\xA8",
                                          "\xE2\x80\xA9",
                                          "\xEF\xBB\xBF",
                                          "\xC2\xA0",
                                          "\xC3\xA9",
                                          "\xF0\x9F\x98\x80",
                                          "\xEF\xBF\xBF",
                                          ": ",
                                          " #",
                                          "- ",
                                          "\n ",
                                          " \n",
                                          "\n\t"};

// Strings of what is special to YAML: indicators, words, line ends, blanks, controls, wide characters.
std::string Adversarial(std::mt19937& random) {
  std::string text;
  for (auto n = random() % 7; n > 0; --n) text += kPieces[random() % kPieces.size()];
  if (random() % 40 == 0) text += std::string(1, '\0');
  return text;
}

std::string AdversarialJson(std::mt19937& random, int depth) {
  const auto kind = depth == 0 ? 2 + random() % 3 : random() % 5;
  std::string json;
  if (kind == 0) {
    json = "{";
    std::vector<std::string> keys;
    for (auto n = random() % 5; n > 0; --n) {
      std::string key = Adversarial(random);
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      json += (keys.empty() ? "" : ",") + Quoted(key) + ":" + AdversarialJson(random, depth - 1);
      keys.push_back(std::move(key));
    }
    return json + "}";
  }
  if (kind == 1) {
    json = "[";
    for (auto n = random() % 5; n > 0; --n) json += (json.size() == 1 ? "" : ",") + AdversarialJson(random, depth - 1);
    return json + "]";
  }
  static const std::vector<std::string> kOthers = {"null", "true", "false", "0",
                                                   "-1",   "1.0",  "1e5",   "18446744073709551616"};
  return kind == 2 ? kOthers[random() % kOthers.size()] : Quoted(Adversarial(random));
}

class YamlRoundTripTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(YamlRoundTripTest, ReadsBackItsOwnOutput) {
  std::mt19937 random(GetParam());
  for (int i = 0; i < 500; ++i) {
    const std::string json = "[" + AdversarialJson(random, 4) + "]";
    const std::string yaml = Yaml(json);
    ASSERT_EQ(ReadBack(yaml), json) << yaml;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, YamlRoundTripTest, ::testing::Range(0u, 40u));

using YamlObjectTest = CodecTest;

// Through YAML and back: the text of YAML, as JSON, decodes to an equal object.
template <typename T>
void ExpectRoundTrip(const T& object) {
  const std::string yaml = EncodeYaml(object);
  const auto stream = Parse(yaml);
  ASSERT_TRUE(stream.has_value()) << stream.error().message << '\n' << yaml;
  ASSERT_EQ(stream->documents().size(), 1u);
  EXPECT_FALSE(stream->json());
  EXPECT_EQ(Must(Decode<T>(ToJson(stream->documents()[0]))), object) << yaml;
}

TEST_F(YamlObjectTest, RoundTrips) {
  const Unstructured pod =
      Must(Decode<Unstructured>(ReadFile(test_support::SourcePath("tests/fuzz/corpus/decode/reference_pod.json"))));
  ExpectRoundTrip(pod);
  widgets::Widget widget;
  widget.metadata = {.name = "w", .annotations = {{"yes", "no"}, {"", "1.0"}, {"a: b", "two\nlines"}}};
  widget.spec->note = "0x1F";
  widget.spec->replicas = 0;
  widget.spec->ratio = 0.5;
  widget.spec->blob = Bytes::Of("\x01\x02");
  widget.spec->port = "80";
  widget.spec->ports = {IntOrString(80), IntOrString("http")};
  widget.spec->anything = Json(R"({"z":[],"a":{"on":"off"}})");
  widget.spec->parts.emplace();
  ExpectRoundTrip(widget);
}

TEST_F(YamlObjectTest, OfTheManifestsInTheTreeRoundTrip) {
  std::size_t objects = 0;
  for (const char* folder : {"examples/crds", "tests/golden"}) {
    for (const auto& file : std::filesystem::directory_iterator(test_support::SourcePath(folder))) {
      if (file.path().extension() != ".yaml") continue;
      const auto stream = Parse(ReadFile(file.path().string()));
      ASSERT_TRUE(stream.has_value()) << file.path();
      for (const Node& document : stream->documents()) {
        ExpectRoundTrip(Must(Decode<Unstructured>(ToJson(document))));
        ++objects;
      }
    }
  }
  EXPECT_GT(objects, 0u);
}

TEST_F(YamlObjectTest, OfTheSharedCorpusRoundTrip) {
  const auto corpus = test_support::SharedPath("corpus/crds");
  if (!corpus) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  std::size_t objects = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(*corpus)) {
    if (file.path().extension() != ".yaml") continue;
    const auto stream = Parse(ReadFile(file.path().string()));
    if (!stream) continue;  // some are templates
    for (const Node& document : stream->documents()) {
      const auto again = Parse(ToYaml(document));
      ASSERT_TRUE(again.has_value()) << file.path() << ": " << again.error().message;
      ASSERT_EQ(ToJson(again->documents()[0]), ToJson(document)) << file.path();
      ++objects;
    }
  }
  EXPECT_GT(objects, 100u);
}

TEST_F(YamlObjectTest, WritesTheIdentityOfAKindFirst) {
  widgets::Widget widget;
  widget.metadata.name = "w";
  EXPECT_THAT(EncodeYaml(widget), StartsWith("apiVersion: test.kgen.dev/v1\nkind: Widget\nmetadata:\n  name: w\n"));
  EXPECT_EQ(EncodeYaml(AnyRef(MakeRef(widget))), EncodeYaml(widget));
  EXPECT_EQ(EncodeYaml(AnyRef()), "null\n");
}

TEST_F(YamlObjectTest, WritesTheIdentityOfAnUnstructuredObjectFirstAndEndsTheLastLine) {
  constexpr std::string_view kJson =
      R"({"spec":{"size":1},"metadata":{"name":"w"},"kind":"Widget","text":"a\n\n","apiVersion":"x.dev/v1"})";
  const Unstructured object = *Decode<Unstructured>(kJson);
  EXPECT_EQ(EncodeYaml(object),
            "apiVersion: x.dev/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  size: 1\ntext: |+\n  a\n\n");
  EXPECT_THAT(EncodeYaml(AnyRef(MakeRef(object))), StartsWith("apiVersion: x.dev/v1\nkind: Widget\nmetadata:"));
  EXPECT_THAT(EncodeYaml(*Decode<PartialObjectMetadata>(kJson)), StartsWith("apiVersion: x.dev/v1\nkind: Widget\n"));
  const std::string list =
      R"({"items":[)" + std::string(kJson) + R"(],"metadata":{},"kind":"WidgetList","apiVersion":"v"})";
  EXPECT_THAT(EncodeYaml(*Decode<UnstructuredList>(list)),
              StartsWith("apiVersion: v\nkind: WidgetList\nitems:\n- apiVersion: x.dev/v1\n  kind: Widget\n"));
}

}  // namespace
}  // namespace kgen::yaml
