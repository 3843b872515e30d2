// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Schemas and patterns that are made to cost much, and the places where RE2 and Go differ.
#include <string>

#include "tests/runtime/validation/faults.h"
#include "validation/pattern.h"

namespace kgen::validation {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool Matches(std::string_view pattern, std::string_view text) {
  const auto compiled = Pattern::Compile(pattern);
  EXPECT_TRUE(compiled) << pattern << ": " << compiled.error();
  return compiled && compiled->Matches(text);
}

// An engine that tries one way after the other would need 2^100000 steps.
TEST(HostileTest, APatternThatDefeatsBacktrackingIsMatchedInLinearTime) {
  EXPECT_THAT(Faults({{"pattern", "^(a+)+$"}}, std::string(100'000, 'a') + "b"), SizeIs(1));
  EXPECT_THAT(Faults({{"pattern", "^(a|a?)+$"}}, std::string(100'000, 'a')), IsEmpty());
}

TEST(HostileTest, LargePatternsCompileUpToTheLimitOfServers) {
  EXPECT_TRUE(Matches("^[a-z]{1,1000}$", std::string(1000, 'a')));
  EXPECT_TRUE(Matches("^(\\p{L}{1,20}\\.){1,5}$", "\u00e4.b."));
  for (const char* bad : {"a{1001}", "(a{1000}){1000}", "((((a{100}){100}){100}){100})"})
    EXPECT_FALSE(Pattern::Compile(bad)) << bad;
  std::string long_one = "^(";
  for (int i = 0; i < 2'000; ++i) long_one += "w" + std::to_string(i) + "|";
  EXPECT_TRUE(Matches(long_one + "x)$", "w1999"));
}

TEST(HostileTest, PatternsHaveTheSyntaxOfGo) {
  EXPECT_TRUE(Matches("^(?<year>[0-9]{4})$", "2024")) << "named as in Go 1.22";
  EXPECT_TRUE(Matches("^(?P<year>[0-9]{4})$", "2024"));
  EXPECT_TRUE(Matches("^\\Q(?<\\E$", "(?<"));
  EXPECT_TRUE(Matches("^[(?<]+$", "(?<"));
  EXPECT_TRUE(Matches("^[](?<]+$", "](?<"));
  EXPECT_TRUE(Matches("^[[:alpha:](?<]+$", "a(?<"));
  EXPECT_TRUE(Matches("^\\[(?<n>a)$", "[a"));
  EXPECT_TRUE(Matches("^.$", "\u00e4")) << "a character, not a byte";
  EXPECT_FALSE(Matches("^.$", "\n"));
  EXPECT_FALSE(Matches("a$", "a\n")) << "the end is the end";
  EXPECT_TRUE(Matches("(?s)^.$", "\n"));
  EXPECT_TRUE(Matches("(?i)^K$", "k"));
  EXPECT_TRUE(Matches("^\\p{Greek}+$", "\u03b1\u03b2"));
  for (const char* bad : {"\\C", "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "\\1", "a**", "[b-a]", "\\Z", "a++", "(?>a)"})
    EXPECT_FALSE(Pattern::Compile(bad)) << bad;
}

TEST(HostileTest, DeepSchemasAndObjects) {
  json schema = {{"type", "string"}}, value = "x";
  for (int i = 0; i < 60; ++i) {
    schema = {{"type", "object"}, {"properties", {{"d", schema}}}};
    value = {{"d", value}};
  }
  EXPECT_THAT(Faults(schema, value), IsEmpty());
  json combined = {{"type", "string"}};
  for (int i = 0; i < 10; ++i) combined = {{"anyOf", {combined, combined}}};
  EXPECT_THAT(Faults(combined, 5), SizeIs(2)) << "each text once";
  const Schema shallow = SchemaOf(Crd({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}));
  const std::string deep = R"({"a":)" + std::string(300, '[') + std::string(300, ']') + "}";
  EXPECT_THAT(Lines(shallow.Validate(Json(deep)).errors), ::testing::ElementsAre(HasSubstr("nested deeper than 256")));
}

}  // namespace
}  // namespace kgen::validation
