// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The lexical rules of JSON, in every reader of it: the decoder, the comparison of opaque values, and the tree with
// positions.
#include "core/json/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/json_value.h"
#include "core/json/quote.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/json.h"
#include "kgen/core/object_meta.h"

namespace kgen {
namespace {

// Text of a JSON value, and the string that it means, if it is one.
struct Case {
  std::string_view json;
  bool valid = true;
  std::string_view text{};
};

constexpr Case kStrings[] = {
    {R"("")", true, ""},
    {R"("plain text, longer than a block of sixteen bytes")", true, "plain text, longer than a block of sixteen bytes"},
    {R"("\"\\\/\b\f\n\r\t")", true, "\"\\/\b\f\n\r\t"},
    {R"("\u0041\u00e4\u20AC")", true, "A\xC3\xA4\xE2\x82\xAC"},
    {R"("\ud83d\ude00 \uD83D\uDE00")", true, "\xF0\x9F\x98\x80 \xF0\x9F\x98\x80"},
    {R"("\u0000")", true, std::string_view("\0", 1)},
    {"\"\xF4\x8F\xBF\xBF\"", true, "\xF4\x8F\xBF\xBF"},
    {R"("\x41")", false},
    {R"("\u004")", false},
    {R"("\u004g")", false},
    {R"("\U0041")", false},
    {R"("\")", false},
    {R"("\)", false},
    {R"("\u00)", false},
    {R"("open)", false},
    {R"(")", false},
    {"\"\n\"", false},
    {"\"\x1f\"", false},
    {"'single'", false},
};

constexpr Case kOthers[] = {
    {"0"},
    {"-0"},
    {"10"},
    {"-1.5"},
    {"1.50"},
    {"1e5"},
    {"1E+05"},
    {"1e-5"},
    {"true"},
    {"false"},
    {"null"},
    {" \t\r\n1 \t\r\n"},
    {"01", false},
    {"-01", false},
    {"00", false},
    {"+1", false},
    {".5", false},
    {"1.", false},
    {"1.e5", false},
    {"1e", false},
    {"1e+", false},
    {"-", false},
    {"--1", false},
    {"0x10", false},
    {"1_0", false},
    {"NaN", false},
    {"True", false},
    {"nul", false},
    {"nulls", false},
    {"Infinity", false},
    {",", false},
    {"1,", false},
    {"1 2", false},
    {"\f1", false},
    {"\v1", false},
    {"\xC2\xA0"
     "1",
     false},
};

bool TreeReads(std::string_view json) {
  const auto stream = yaml::Parse(std::string(json));
  return stream.has_value() && stream->json() && stream->documents().size() == 1;
}

// Inside an array, so that the tree takes every text for JSON.
std::string InArray(std::string_view json) { return "[" + std::string(json) + "]"; }

// Prints a case in the output of a failure.
void PrintTo(const Case& each, std::ostream* os) { *os << each.json; }

class LexerTest : public ::testing::TestWithParam<Case> {};

TEST_P(LexerTest, EveryReaderAgreesOnWhatIsJson) {
  const auto& [json, valid, text] = GetParam();
  const std::string array = InArray(json);
  EXPECT_EQ(ParseJson(array).has_value(), valid) << array;
  EXPECT_EQ(TreeReads(array), valid) << array;
  // Equal values hash alike whatever white space they have; what is not JSON is compared as text.
  EXPECT_EQ(detail::SameJson(array, array + " "), valid) << array;
}

INSTANTIATE_TEST_SUITE_P(Strings, LexerTest, ::testing::ValuesIn(kStrings));
INSTANTIATE_TEST_SUITE_P(Others, LexerTest, ::testing::ValuesIn(kOthers));

class LexerStringTest : public ::testing::TestWithParam<Case> {};

TEST_P(LexerStringTest, EveryReaderReadsTheSameText) {
  const auto& [json, valid, text] = GetParam();
  if (!valid) return;
  const auto stream = yaml::Parse(InArray(json));
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(stream->documents()[0].items()[0].text(), text);
  std::string plain;
  yaml::AppendJsonString(text, plain);
  EXPECT_TRUE(detail::SameJson(json, plain)) << json << " and " << plain;
  const auto decoded = Decode<meta::v1::ObjectMeta>(R"({"name":)" + std::string(json) + "}");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->name, text);
}

INSTANTIATE_TEST_SUITE_P(Strings, LexerStringTest, ::testing::ValuesIn(kStrings));

// The decoder and the comparison repair it, as Go does; the tree, which people write, refuses it.
TEST(Lexer, TakesHalfOfASurrogatePairForTheReplacementCharacterExceptInTheTree) {
  for (const std::string_view half :
       {R"("\ud83d")", R"("\ude00")", R"("\ude00\ud83d")", R"("\ud83d\u0041")", R"("\ud83dx")"}) {
    EXPECT_TRUE(ParseJson(half).has_value()) << half;
    EXPECT_TRUE(detail::SameJson(half, std::string(half) + " ")) << half;
    EXPECT_FALSE(TreeReads(InArray(half))) << half;
  }
  EXPECT_TRUE(detail::SameJson(R"("\ud83d\u0041")",
                               "\"\xEF\xBF\xBD"
                               "A\""));
}

TEST(Lexer, SkipsAStringWithoutReadingIt) {
  const auto skipped = [](std::string_view text) {
    const char* const behind = detail::SkipString(text.data(), text.data() + text.size());
    return behind == nullptr ? std::string("unended") : std::string(text.data(), behind);
  };
  EXPECT_EQ(skipped(R"("",1)"), R"("")");
  EXPECT_EQ(skipped(R"("a\\"b")"), R"("a\\")");
  EXPECT_EQ(skipped(R"("a\"b"c)"), R"("a\"b")");
  for (const char* text : {"\"", "\"a", "\"a\\", "\"a\\\""}) EXPECT_EQ(skipped(text), "unended") << text;
}

TEST(Lexer, QuotesTextSoThatTheDecoderReadsItBack) {
  EXPECT_EQ(detail::QuoteJson("a\"\\\n\r\t\b\x1F/\x7F"), R"("a\"\\\n\r\t\u0008\u001f/)"
                                                         "\x7F\"");
  EXPECT_EQ(detail::QuoteJson("\xFF"
                              "a\xC3"),
            "\"\xEF\xBF\xBD"
            "a\xEF\xBF\xBD\"");
  for (const Case& each : kStrings) {
    if (!each.valid) continue;
    EXPECT_EQ(detail::UnquoteJson(each.json), each.text) << each.json;
    EXPECT_EQ(detail::UnquoteJson(detail::QuoteJson(each.text)), each.text) << each.json;
  }
  for (const char* json : {"", "\"", "1", "\"a", "\"a\"b", R"("\x")", R"("\u12")"}) {
    EXPECT_EQ(detail::UnquoteJson(json), std::nullopt) << json;
  }
}

TEST(Lexer, SaysWhereANumberLacksADigit) {
  using Problem = detail::NumberToken::Problem;
  const auto scan = [](std::string_view text) {
    const detail::NumberToken number = detail::ScanNumber(text.data(), text.data() + text.size());
    return std::pair(number.problem, static_cast<std::size_t>(number.end - text.data()));
  };
  EXPECT_EQ(scan("12,"), std::pair(Problem::kNone, std::size_t{2}));
  EXPECT_EQ(scan("01"), std::pair(Problem::kNone, std::size_t{1}));
  EXPECT_EQ(scan("-x"), std::pair(Problem::kNoNumber, std::size_t{1}));
  EXPECT_EQ(scan("1.x"), std::pair(Problem::kNoFraction, std::size_t{2}));
  EXPECT_EQ(scan("1e+x"), std::pair(Problem::kNoExponent, std::size_t{3}));
}

}  // namespace
}  // namespace kgen
