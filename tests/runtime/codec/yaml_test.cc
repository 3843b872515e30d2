// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/codec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kgen::yaml {
namespace {

using ::testing::HasSubstr;

// The JSON of all documents, one per line; or the error as "line:column message".
std::string Read(std::string text, const Options& options = {}) {
  const auto stream = Parse(std::move(text), options);
  if (!stream) {
    const Mark mark = stream.error().mark;
    return std::to_string(mark.line) + ":" + std::to_string(mark.column) + " " + stream.error().message;
  }
  std::string out;
  for (const Node& document : stream->documents()) out += (out.empty() ? "" : "\n") + ToJson(document);
  return out;
}

// What the plain scalar `text` is as a value.
std::string Value(const std::string& text) {
  const std::string json = Read("a: " + text);
  return json.starts_with("{\"a\":") ? json.substr(5, json.size() - 6) : json;
}

SyntaxError Error(std::string text, const Options& options = {}) {
  auto stream = Parse(std::move(text), options);
  EXPECT_FALSE(stream.has_value());
  return stream ? SyntaxError{} : stream.error();
}

std::string MarkOf(const Node* node) {
  return node == nullptr ? "none" : std::to_string(node->mark().line) + ":" + std::to_string(node->mark().column);
}

// Contract: generator IN-10.
TEST(Yaml, ReadsTheOldBooleansInThreeCasesAndNoOthers) {
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
    EXPECT_EQ(Value(word), "true") << word;
  for (const char* word : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
    EXPECT_EQ(Value(word), "false") << word;
  for (const char* word : {"yEs", "oN", "tRUE", "yess", "of"}) EXPECT_EQ(Value(word), "\"" + std::string(word) + "\"");
}

// Contract: generator IN-10.
TEST(Yaml, ReadsQuotedAndBlockScalarsAsText) {
  EXPECT_EQ(Value("\"yes\""), "\"yes\"");
  EXPECT_EQ(Value("'0755'"), "\"0755\"");
  EXPECT_EQ(Value("|-\n  12"), "\"12\"");
  EXPECT_EQ(Value("! 5"), "\"5\"");
  EXPECT_EQ(Value("!!str 5"), "\"5\"");
}

TEST(Yaml, ReadsNullInItsFiveSpellings) {
  for (const char* word : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(Value(word), "null") << word;
  EXPECT_EQ(Value("nULL"), "\"nULL\"");
}

// Contract: generator IN-14.
TEST(Yaml, ReadsNumbersAsTheCommandLineDoes) {
  const std::pair<const char*, const char*> cases[] = {{"12", "12"},
                                                       {"-7", "-7"},
                                                       {"+1", "1"},
                                                       {"0", "0"},
                                                       {"00", "0"},
                                                       {"0755", "493"},
                                                       {"0o17", "15"},
                                                       {"0x1F", "31"},
                                                       {"-0x1F", "-31"},
                                                       {"0b11", "3"},
                                                       {"1_000", "1000"},
                                                       {"08", "8"},
                                                       {".5", "0.5"},
                                                       {"+.5", "0.5"},
                                                       {"5.", "5"},
                                                       {"09.5", "9.5"},
                                                       {"1e3", "1e3"},
                                                       {"1.0", "1.0"},
                                                       {"1.e5", "1e5"},
                                                       {"1:30", "\"1:30\""},
                                                       {"=", "\"=\""},
                                                       {"0x", "\"0x\""},
                                                       {"0b12", "\"0b12\""},
                                                       {"1.5.2", "\"1.5.2\""},
                                                       {"_1", "\"_1\""},
                                                       {"9223372036854775808", "9223372036854775808"},
                                                       {"18446744073709551616", "18446744073709551616"}};
  for (const auto& [text, json] : cases) EXPECT_EQ(Value(text), json) << text;
}

// Contract: generator IN-15.
TEST(Yaml, ReadsDatesAsText) {
  EXPECT_EQ(Value("2024-01-01"), "\"2024-01-01\"");
  EXPECT_EQ(Value("2024-01-01T10:00:00Z"), "\"2024-01-01T10:00:00Z\"");
}

// Contract: generator IN-14.
TEST(Yaml, RefusesNumbersThatJsonLacks) {
  for (const char* word : {".inf", "-.Inf", "+.INF", ".nan", ".NaN"}) {
    EXPECT_EQ(Read(std::string("a: ") + word), "1:4 " + std::string(word) + " has no equivalent in JSON");
  }
  EXPECT_EQ(Value("\".inf\""), "\".inf\"");
}

TEST(Yaml, ChecksTheCoreTags) {
  EXPECT_EQ(Value("!!int \"5\""), "5");
  EXPECT_EQ(Value("!!float 5"), "5");
  EXPECT_EQ(Value("!!bool 'yes'"), "true");
  EXPECT_EQ(Value("!foo 5"), "\"5\"");
  EXPECT_THAT(Value("!!int five"), HasSubstr("does not match its tag !!int"));
}

// Contract: generator IN-11, IN-12.
TEST(Yaml, KeepsTheSourceTextOfKeys) {
  EXPECT_EQ(Read("on: 1\nno: 2\n1.50: 3\nnull: 4\n0x10: 5\n2020-01-01: 6\n"),
            R"({"on":1,"no":2,"1.50":3,"null":4,"0x10":5,"2020-01-01":6})");
}

// Contract: generator IN-11.
TEST(Yaml, MarksKeysThatOtherParsersReadDifferently) {
  const auto stream = Parse("on: 1\n'on ': 2\nname: 3\n\"y\": 4\n2020-01-01: 5\n7: 6\n");
  ASSERT_TRUE(stream.has_value());
  std::string ambiguous;
  for (const Entry& entry : stream->documents()[0].entries()) {
    if (entry.ambiguous) ambiguous += std::string(entry.key) + " ";
  }
  EXPECT_EQ(ambiguous, "on 2020-01-01 7 ");
}

// Keys, and what sigs.k8s.io/yaml v1.6.0 makes of them.
constexpr std::pair<const char*, const char*> kKubectlKeys[] = {
    {"yes", "true"},
    {"Y", "true"},
    {"on", "true"},
    {"no", "false"},
    {"OFF", "false"},
    {"1", "1"},
    {"+1", "1"},
    {"0x10", "16"},
    {"0X1F", "31"},
    {"010", "8"},
    {"08", "8"},
    {"-010", "-8"},
    {"0o10", "8"},
    {"0b101", "5"},
    {"-0x10", "-16"},
    {"-0", "0"},
    {"1_000", "1000"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"-9223372036854775809", "-9.223372e+18"},
    {"18446744073709551616", "1.8446744e+19"},
    {"0x10000000000000000", "0x10000000000000000"},
    {"1.50", "1.5"},
    {"1.0", "1"},
    {"+1.5", "1.5"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {"5.", "5"},
    {"1.5_0", "1.5"},
    {"-0.0", "-0"},
    {"1e3", "1000"},
    {"1E5", "100000"},
    {"1e20", "1e+20"},
    {"0.00001", "1e-05"},
    {"1e-7", "1e-07"},
    {"123456789.5", "1.2345679e+08"},
    {"1234567.0", "1.234567e+06"},
    {"1.5e300", ".inf"},
    {"1e400", "1e400"},
    {"1e-400", "0"},
    {"3.4028236e38", ".inf"},
    {".inf", ".inf"},
    {"-.Inf", "-.inf"},
    {".NaN", ".nan"},
    {"2024-01-01", "2024-01-01"},
    {"12:30", "12:30"},
    {"=", "="},
    {"\"yes\"", "yes"},
    {"'1.50'", "1.50"},
    {"!!str 1.50", "1.50"},
    {"! 0x10", "0x10"},
    {"!!bool \"yes\"", "true"},
    {"!!float 1", "1"},
};

TEST(Yaml, ReadsKeysAsKubectlIfAsked) {
  for (const auto& [key, read] : kKubectlKeys) {
    const auto stream = Parse(std::string(key) + ": v\n", {.kubectl_keys = true});
    ASSERT_TRUE(stream.has_value()) << key << ": " << stream.error().message;
    EXPECT_EQ(stream->documents()[0].entries()[0].key, read) << key;
  }
}

TEST(Yaml, RefusesKeysThatKubectlRefuses) {
  const Options options{.kubectl_keys = true};
  for (const char* key : {"null", "~", "Null", "9223372036854775808", "0xffffffffffffffff", "!!null \"\""}) {
    const SyntaxError error = Error(std::string("a: 1\n") + key + ": v\n", options);
    EXPECT_THAT(error.message, HasSubstr("is not text")) << key;
    EXPECT_EQ(error.hint, "quote it") << key;
    EXPECT_EQ(error.mark.line, 2u) << key;
  }
  // kubectl takes one of the two, and not always the same.
  EXPECT_EQ(Error("yes: 1\non: 2\n", options).message, "duplicate key \"true\", first at 1:1");
  EXPECT_EQ(Error("16: 1\n\"0x10\": 2\n0x10: 3\n", options).message, "duplicate key \"16\", first at 1:1");
  EXPECT_EQ(Error("a: &on yes\n\"true\": 2\n*on : 3\n", options).message, "duplicate key \"true\", first at 2:1");
}

TEST(Yaml, RefusesKeysThatAreNotText) {
  EXPECT_EQ(Read("? [a]\n: b\n"), "1:3 a key must be text, not a list");
  EXPECT_EQ(Read("a:\n  ? {b: c}\n  : d\n"), "2:5 a key must be text, not a map");
}

// Contract: generator IN-18.
TEST(Yaml, NamesBothPositionsOfADuplicateKey) {
  EXPECT_EQ(Read("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"), "5:3 duplicate key \"c\", first at 3:3");
  EXPECT_EQ(Read(R"({"a": 1, "b": {"x": 1, "x": 2}})"), "1:24 duplicate key \"x\", first at 1:16");
}

// Contract: generator IN-18.
TEST(Yaml, FindsDuplicatesAndKeysInLargeMaps) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "key" + std::to_string(i) + ": " + std::to_string(i) + "\n";
  EXPECT_EQ(Read(text + "key500: 1\n"), "1001:1 duplicate key \"key500\", first at 501:1");
  const auto stream = Parse(text);
  ASSERT_TRUE(stream.has_value());
  const Node& map = stream->documents()[0];
  for (int i = 0; i < 1000; ++i) {
    const Node* value = map.Find("key" + std::to_string(i));
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(value->AsInt64(), i);
  }
  EXPECT_EQ(map.Find("key1000"), nullptr);
}

// Contract: generator IN-16.
TEST(Yaml, ExpandsAliasesAndMergeKeys) {
  EXPECT_EQ(Read("a: &x [1, 2]\nb: *x\n"), R"({"a":[1,2],"b":[1,2]})");
  EXPECT_EQ(Read("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n"), R"({"a":{"p":1,"q":2},"b":{"q":3,"p":1}})");
  EXPECT_EQ(Read("a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc:\n  <<: [*x, *y]\n"),
            R"({"a":{"p":1},"b":{"p":2,"q":2},"c":{"p":1,"q":2}})");
  EXPECT_EQ(Read("a: &k name\n*k : 1\n"), R"({"a":"name","name":1})");
  EXPECT_EQ(Read("'<<': 1\n"), R"({"<<":1})");
}

// Contract: generator IN-16.
TEST(Yaml, GivesAnAliasAndItsChildrenTheirOwnPositions) {
  const auto stream = Parse("a: &x\n  p: 1\nb: *x\n");
  ASSERT_TRUE(stream.has_value());
  const Node* b = stream->documents()[0].Find("b");
  EXPECT_EQ(MarkOf(b), "3:4");
  EXPECT_EQ(MarkOf(b->Find("p")), "2:6");
}

// Contract: generator IN-16.
TEST(Yaml, RefusesWrongAliasesAndMergeKeys) {
  EXPECT_EQ(Read("a: *x\n"), "1:4 alias *x has no anchor in this document");
  EXPECT_EQ(Read("a: &x\n  - *x\n"), "2:5 alias *x refers to a value that contains it");
  EXPECT_EQ(Read("a: &x 1\n---\nb: *x\n"), "3:4 alias *x has no anchor in this document");
  EXPECT_EQ(Read("<<: 5\n"), "1:5 a merge key (<<) takes a map or a list of maps");
  EXPECT_EQ(Read("<<: [{a: 1}, 5]\n"), "1:14 a merge key (<<) takes maps only");
}

// Contract: generator IN-16, SEC-07.
TEST(Yaml, RefusesAnExpansionBomb) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k == 0 ? "" : ", ") + before;
    text += "]\n";
  }
  EXPECT_THAT(Read(text), HasSubstr("5:45 aliases expand to more than 100000 values"));
  EXPECT_THAT(Read(text, {.max_aliased = 1'000'000'000}), HasSubstr("more than 8000000 values, aliases expanded"));
  EXPECT_EQ(Read("a: &x [1, 2]\nb: *x\n", {.max_aliased = 3}), R"({"a":[1,2],"b":[1,2]})");
  EXPECT_EQ(Read("a: &x [1, 2]\nb: *x\n", {.max_aliased = 2}), "2:4 aliases expand to more than 2 values");
}

// Contract: generator SEC-07.
TEST(Yaml, KeepsItsLimits) {
  EXPECT_EQ(Read("[1, 2, 3]", {.max_nodes = 3}), "1:1 more than 3 values, aliases expanded");
  EXPECT_EQ(Read("[1, 2]", {.max_nodes = 3}), "[1,2]");
  EXPECT_EQ(Read("[[[1]]]", {.max_depth = 2}), "1:3 nested deeper than 2 levels");
  EXPECT_EQ(Read("a:\n  b:\n    c: 1\n", {.max_depth = 2}), "3:5 nested deeper than 2 levels");
  EXPECT_EQ(Read("a:\n  b: 1\n", {.max_depth = 2}), R"({"a":{"b":1}})");
  EXPECT_THAT(Read("abcdef", {.max_bytes = 5}), HasSubstr("the text has 6 bytes, more than the limit of 5"));
  EXPECT_THAT(Read("a: &x [[[1]]]\nb: [[*x]]\n", {.max_depth = 5}), HasSubstr("nested deeper than 5 levels"));
  EXPECT_THAT(Read(std::string(100000, '[')), HasSubstr("nested deeper than 256 levels"));
  EXPECT_THAT(Read("- " + std::string(100000, '[')), HasSubstr("nested deeper than 256 levels"));
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Contract: generator SEC-07.
TEST(Yaml, RefusesDeepNestingInEveryForm) {
  constexpr int kDeep = 100'000;
  for (const char* level : {"[", "{\"a\":", "[{\"a\":", "{a: ", "- "}) {
    EXPECT_THAT(Read(Repeated(level, kDeep)), HasSubstr("nested deeper than 256 levels")) << level;
    EXPECT_THAT(Read("x: 1\n---\n" + Repeated(level, kDeep)), HasSubstr("nested deeper than 256 levels")) << level;
  }
  const std::string fits = std::string(256, '[') + std::string(256, ']');
  EXPECT_EQ(Read(fits), fits);
  EXPECT_EQ(Read("- " + std::string(255, '[') + std::string(255, ']')), fits);
}

// Keys that crowd a small part of a hash table whose hash anybody can compute.
std::string CrowdedKeys(std::size_t count, bool crowded) {
  std::string text = "{";
  for (std::size_t i = 0, taken = 0; taken < count; ++i) {
    const std::string key = "key-" + std::to_string(i);
    if (crowded && (std::hash<std::string_view>{}(key) & 0xFFFF) >= 0x400) continue;
    text += (taken++ == 0 ? "\"" : ",\"") + key + "\":1";
  }
  return text + "}";
}

double CpuSecondsOfReading(const std::string& text) {
  const std::clock_t begun = std::clock();
  const auto stream = Parse(text);
  EXPECT_TRUE(stream.has_value());
  const auto entries = stream->documents()[0].entries();
  for (const Entry& entry : entries) EXPECT_EQ(stream->documents()[0].FindEntry(entry.key), &entry);
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

TEST(Yaml, ReadsKeysThatWereChosenToCollideAsFastAsOthers) {
  constexpr std::size_t kKeys = 30'000;
  const double usual = CpuSecondsOfReading(CrowdedKeys(kKeys, false));
  const double hostile = CpuSecondsOfReading(CrowdedKeys(kKeys, true));
  EXPECT_LT(hostile, 10 * usual + 0.1);
}

TEST(Yaml, NamesTheFirstKeyThatStandsTwiceInALargeMap) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(Read(text + "k7: 2\nk3: 2\nk7: 3\n"), "41:1 duplicate key \"k7\", first at 8:1");
}

// Contract: generator ERR-01.
TEST(Yaml, CountsLinesAndColumnsInCodePoints) {
  const auto stream = Parse("größe: {\"日本\": 1}\nb:\n  - x\n  -   y\n");
  ASSERT_TRUE(stream.has_value());
  const Node& root = stream->documents()[0];
  EXPECT_EQ(root.entries()[0].mark, (Mark{1, 1}));
  EXPECT_EQ(MarkOf(root.Find("größe")), "1:8");
  EXPECT_EQ(MarkOf(root.Find("größe")->Find("日本")), "1:15");
  EXPECT_EQ(MarkOf(&root.Find("b")->items()[1]), "4:7");
}

// Contract: generator ERR-01.
TEST(Yaml, CountsTheSameWayInJson) {
  const auto stream = Parse("{\n  \"größe\": {\"日本\": 1, \"x\": [true,\n null]}}");
  ASSERT_TRUE(stream.has_value());
  EXPECT_TRUE(stream->json());
  const Node* map = stream->documents()[0].Find("größe");
  EXPECT_EQ(MarkOf(map), "2:12");
  EXPECT_EQ(MarkOf(map->Find("日本")), "2:19");
  EXPECT_EQ(map->entries()[1].mark, (Mark{2, 22}));
  EXPECT_EQ(MarkOf(&map->Find("x")->items()[1]), "3:2");
}

// Contract: generator IN-08.
TEST(Yaml, IgnoresAByteOrderMarkAndAcceptsEitherLineEnd) {
  const auto stream = Parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: 3");
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(ToJson(stream->documents()[0]), R"({"a":1,"b":"x\ny\n","c":3})");
  EXPECT_EQ(MarkOf(stream->documents()[0].Find("a")), "1:4");
  EXPECT_EQ(MarkOf(stream->documents()[0].Find("c")), "5:4");
  EXPECT_EQ(Read("\xEF\xBB\xBF{\"a\": 1}"), R"({"a":1})");
}

// Contract: generator IN-09.
TEST(Yaml, NamesTheByteOfInvalidUtf8) {
  const SyntaxError error = Error("a: b\nc: \xFFx\n");
  EXPECT_EQ(error.message, "invalid UTF-8 at byte 8");
  EXPECT_EQ(error.byte_offset, 8u);
  EXPECT_EQ(error.mark, (Mark{2, 4}));
  for (const char* bad : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    EXPECT_THAT(Read(std::string("a: ") + bad), HasSubstr("invalid UTF-8 at byte 3"));
  }
  EXPECT_THAT(Read(std::string("\xFF\xFE"
                               "a\0:\0",
                               6)),
              HasSubstr("UTF-16"));
  EXPECT_THAT(Read(std::string("a\0:\0 \0", 6)), HasSubstr("UTF-16"));
}

// Contract: generator IN-02.
TEST(Yaml, CountsDocumentsAsUsersDo) {
  const auto stream = Parse("---\n# nothing\n---\na: 1\n...\n---\n---\nb: 2\n---\n");
  ASSERT_TRUE(stream.has_value());
  ASSERT_EQ(stream->documents().size(), 2u);
  EXPECT_EQ(stream->number(0), 2u);
  EXPECT_EQ(stream->number(1), 4u);
  for (const char* text : {"", "\n", "# only a comment\n", "---\n---\n", "   "}) EXPECT_EQ(Read(text), "") << text;
}

// Contract: generator IN-17.
TEST(Yaml, ReadsTextAsYamlDefinesIt) {
  EXPECT_EQ(Read("a: >-\n  one\n  two\n\n  three\n"), R"({"a":"one two\nthree"})");
  EXPECT_EQ(Read("a: |+\n  x\n\n"), R"({"a":"x\n\n"})");
  EXPECT_EQ(Read("a: |2\n    x\n"), R"({"a":"  x\n"})");
  EXPECT_EQ(Read("a: \"\\u0041\\t\\x42 \\\n   c\"\n"), R"({"a":"A\tB c"})");
  EXPECT_EQ(Read("a: 'it''s'\n"), R"({"a":"it's"})");
}

// Contract: generator IN-19.
TEST(Yaml, ReportsErrorsOfIndentation) {
  const SyntaxError tab = Error("a:\n\tb: 1\n");
  EXPECT_EQ(tab.mark, (Mark{2, 1}));
  EXPECT_THAT(tab.hint, HasSubstr("spaces"));
  EXPECT_EQ(Error("a: 1\nb:\n  c: 1\n d: 2\n").mark, (Mark{4, 2}));
  const SyntaxError quote = Error("x: 1\na: \"open\nb: 1\n");
  EXPECT_THAT(quote.message, HasSubstr("begins at 2:4"));
}

// Contract: generator IN-19.
TEST(Yaml, RecognisesATemplate) {
  for (const char* text : {"{{- if .Values.crds }}\na: 1\n", "a: {{ .Values.x }}\n", "a:\n  - {{ .x }}\n",
                           "a:\n  {{- include \"x\" . }}\n"}) {
    EXPECT_THAT(Error(text).hint, HasSubstr("template")) << text;
  }
  EXPECT_EQ(Error("a: [\n").hint, "");
}

TEST(Yaml, ReadsJsonStrictly) {
  EXPECT_EQ(Read(R"({"a": [1, -0.5, 1.0, 1e2, true, false, null, "x"], "b": {}, "c": []})"),
            R"({"a":[1,-0.5,1.0,1e2,true,false,null,"x"],"b":{},"c":[]})");
  EXPECT_EQ(Read(R"({"a": "\"\\\/\b\f\n\r\té😀"})"), "{\"a\":\"\\\"\\\\/\\u0008\\u000c\\n\\r\\té😀\"}");
  EXPECT_EQ(Read("{\"a\": 1,, \"b\": 2}"), "1:9 expected a key in double quotes, found ','");
  EXPECT_EQ(Read("{\"a\": \"\\x\"}"), "1:8 unknown escape in a string");
  EXPECT_EQ(Read("{\"a\": \"b\nc\"} x"), "1:9 control character 0x0a inside a string");
  EXPECT_EQ(Read("{\"a\": \"\\ud800\"}"), "1:8 half of a surrogate pair in a string");
  EXPECT_EQ(Read("{\"a\": [1 2}"), "1:10 expected ',' or ']', found '2'");
  EXPECT_EQ(Read("{\"a\": tru"), "1:7 expected a value, found 't'");
  EXPECT_EQ(Read("{\"a\": \"b"), "1:9 the text ends inside a string");
  EXPECT_EQ(Read("{\"a\""), "1:5 expected ':', found the end of the text");
}

// Contract: generator IN-22.
TEST(Yaml, KeepsJsonNumbersAsTheyAre) {
  const auto stream = Parse(R"([9007199254740993, 1.0, 1e2, -0, 123456789012345678901234567890])");
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(ToJson(stream->documents()[0]), "[9007199254740993,1.0,1e2,-0,123456789012345678901234567890]");
  const auto items = stream->documents()[0].items();
  EXPECT_EQ(items[0].AsInt64(), 9007199254740993);
  EXPECT_EQ(items[1].AsInt64(), std::nullopt);
  EXPECT_EQ(items[4].AsInt64(), std::nullopt);
}

TEST(Yaml, ReadsFlowCollectionsAndStreamsThatBeginLikeJson) {
  EXPECT_EQ(Read("{a: b}"), R"({"a":"b"})");
  EXPECT_EQ(Read("[a, b]"), R"(["a","b"])");
  EXPECT_EQ(Read("{\"a\": 1}\n{\"b\": 2}\n"), "{\"a\":1}\n{\"b\":2}");
  EXPECT_EQ(Read("{\"a\": 1}\n---\nb: 2\n"), "{\"a\":1}\n{\"b\":2}");
  EXPECT_THAT(Read("{\"a\": 1}\n---\nb: [\n"), HasSubstr("4:1"));
}

TEST(Yaml, SortsKeysOnRequest) {
  const auto stream = Parse("b: {d: 1, c: 2}\na: x\n");
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(ToJson(stream->documents()[0], {.sort_keys = true}), R"({"a":"x","b":{"c":2,"d":1}})");
}

TEST(Yaml, KeepsNodesValidWhenTheStreamMoves) {
  auto stream = Parse("{\"a\": \"text of the source\"}");
  ASSERT_TRUE(stream.has_value());
  const Node& root = stream->documents()[0];
  const Stream moved = std::move(*stream);
  EXPECT_EQ(root.Find("a")->text(), "text of the source");
  EXPECT_EQ(moved.documents().size(), 1u);
}

// Contract: generator ERR-13.
TEST(Yaml, SurvivesTruncationAtEveryByte) {
  const std::string yaml = "a: &x [1, {b: \"c\\u0041\"}]\nd: |\n  text\ne: *x\n---\nf: 'g'\n";
  const std::string json = R"({"a": [1, -2.5e+3, "b\u00e9", {"c": null, "d": [true, false]}]})";
  for (const std::string& text : {yaml, json}) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      const auto stream = Parse(text.substr(0, cut));
      if (stream) {
        for (const Node& document : stream->documents()) EXPECT_FALSE(ToJson(document).empty());
      } else {
        EXPECT_LE(stream.error().byte_offset, cut);
        EXPECT_FALSE(stream.error().message.empty());
      }
    }
  }
}

}  // namespace
}  // namespace kgen::yaml
