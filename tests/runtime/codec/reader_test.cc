// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/reader.h"

#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/runtime/codec/codec_fixture.h"

namespace kgen::codec {
namespace {

// The unescaped text of a JSON string, or the error.
std::string TextOf(std::string_view json) {
  const Exact exact(json);
  std::string scratch;
  Reader reader(exact, 8, 100, scratch);
  std::string_view text;
  if (reader.Peek() != '"' || !reader.String(text)) return std::string("error: ") + reader.error();
  return std::string(text);
}

// "" if the text is one JSON value, else the error and its offset.
std::string Check(std::string_view json, std::size_t max_depth = 8) {
  const Exact exact(json);
  std::string scratch;
  Reader reader(exact, max_depth, 100, scratch);
  std::string_view raw;
  if (reader.SkipValue(raw) && reader.AtEnd()) return "";
  return std::string(reader.error()) + " at " + std::to_string(reader.error_offset());
}

// Contract: generator COD-10.
TEST(Reader, UnescapesEveryEscape) {
  EXPECT_EQ(TextOf(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(TextOf(R"("\u0041\u00e9\u20AC")"), "A\u00e9\u20ac");
  EXPECT_EQ(TextOf(R"("\ud83d\ude00")"), "\U0001F600");
  EXPECT_EQ(TextOf(R"("a\u0000b")"), std::string("a\0b", 3));
}

// Contract: generator COD-10.
TEST(Reader, TurnsALoneSurrogateIntoTheReplacementCharacter) {
  EXPECT_EQ(TextOf(R"("\ud800")"), "\uFFFD");
  EXPECT_EQ(TextOf(R"("\udc00x")"), "\uFFFDx");
  EXPECT_EQ(TextOf(R"("\ud800\u0041")"), "\uFFFDA");
  EXPECT_EQ(TextOf(R"("\ud800\ud83d\ude00")"), "\uFFFD\U0001F600");
}

// Contract: generator COD-10.
TEST(Reader, RefusesAControlCharacterInsideAString) {
  for (int c = 0; c < 0x20; ++c) {
    std::string text = "\"0123456789abcdef-";
    text += static_cast<char>(c);
    text += "-0123456789abcdef\"";
    EXPECT_EQ(Check(text), "control character in a string at 18") << c;
  }
  EXPECT_EQ(Check("\"\x7f\""), "");
}

// Contract: generator COD-10.
TEST(Reader, RefusesInvalidUtf8AtAnyPosition) {
  for (const char* bad : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82"}) {
    for (std::size_t before = 0; before < 40; ++before) {
      const std::string text = "\"" + std::string(before, 'x') + bad + "\"";
      EXPECT_EQ(Check(text), "invalid UTF-8 in a string at " + std::to_string(before + 1));
      EXPECT_EQ(TextOf(text), "error: invalid UTF-8 in a string");
    }
  }
  for (const char* good : {"\u00e9", "\u20ac", "\U0001F600", "\uFFFD", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(TextOf("\"" + std::string(15, 'x') + good + "\""), std::string(15, 'x') + good);
  }
}

TEST(Reader, ReportsWhatIsWrongAndWhere) {
  EXPECT_EQ(Check(""), "the text ends where a value should be at 0");
  EXPECT_EQ(Check("{\"a\":1,}"), "expected a member name in quotes at 7");
  EXPECT_EQ(Check("{\"a\" 1}"), "expected ':' after the member name at 5");
  EXPECT_EQ(Check("[1 2]"), "expected ',' or ']' at 3");
  EXPECT_EQ(Check("{\"a\":1]"), "expected ',' or '}' at 6");
  EXPECT_EQ(Check("[1,]"), "expected a value at 3");
  EXPECT_EQ(Check("\"ab"), "unterminated string at 3");
  EXPECT_EQ(Check("\"\\"), "unterminated string at 2");
  EXPECT_EQ(Check("\"\\x\""), "invalid escape in a string at 1");
  EXPECT_EQ(Check("\"\\u12g4\""), "invalid \\u escape in a string at 1");
  EXPECT_EQ(Check("\"\\u12"), "invalid \\u escape in a string at 1");
  EXPECT_EQ(Check("nul"), "expected a value at 0");
  EXPECT_EQ(Check("nulls"), "unexpected text after the value at 4");
  EXPECT_EQ(Check("1 \f"), "unexpected text after the value at 2");
  EXPECT_EQ(Check(std::string("1\0", 2)), "unexpected text after the value at 1");
  EXPECT_EQ(Check(std::string("[\0]", 3)), "expected a value at 1");
}

TEST(Reader, KnowsTheGrammarOfNumbers) {
  for (const char* good :
       {"0", "-0", "1", "-12", "0.5", "1.50", "1e3", "1E+3", "1e-3", "-0.0e-0", "123456789012345678901234567890"}) {
    EXPECT_EQ(Check(good), "") << good;
  }
  for (const char* bad : {"-", "+1", "01", "1.", ".5", "1e", "1e+", "--1", "0x1", "NaN", "Infinity", "1_0"}) {
    EXPECT_NE(Check(bad), "") << bad;
  }
}

TEST(Reader, StopsAtTheDepthLimit) {
  EXPECT_EQ(Check("[[[]]]", 3), "");
  EXPECT_EQ(Check("[[[[]]]]", 3), "nested too deeply at 3");
  EXPECT_EQ(Check("{\"a\":{\"a\":{\"a\":{}}}}", 3), "nested too deeply at 15");
  EXPECT_EQ(Check(std::string(100000, '['), 256), "nested too deeply at 256");
}

TEST(Reader, SkipsMixedNestingOfAnyShape) {
  EXPECT_EQ(Check(R"( { "a" : [ 1 , { "b" : [ ] , "c" : { } } , "x" ] , "d" : null } )"), "");
  EXPECT_EQ(Check(R"([[],{},[{}],{"a":[]}])"), "");
  EXPECT_NE(Check(R"([{]})"), "");
}

// Each prefix of a valid text, and each single byte changed, in a buffer of its exact size.
TEST(Reader, ReadsNothingOutsideItsTextAndAgreesWithNlohmann) {
  const std::string text =
      R"({"a":"x\u00e9\n","b":[1,-2.5e3,true,false,null],"c":{"d":{},"e":"0123456789abcdef0123456789é"},"f":""})";
  std::mt19937 random(7);
  const auto agree = [](const std::string& json) {
    EXPECT_EQ(Check(json, 64).empty(), nlohmann::json::accept(json)) << json;
  };
  for (std::size_t size = 0; size <= text.size(); ++size) agree(text.substr(0, size));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int n = 0; n < 20; ++n) {
      std::string changed = text;
      changed[i] = static_cast<char>(random());
      agree(changed);
    }
  }
}

// The scanner that finds where a bracketed value ends, against the reader, with every cut of the text in two.
TEST(NestingScanner, FindsTheEndOfAValueHoweverItIsSplit) {
  const std::string value =
      R"({"a\\":"}]\"","b":[[],{"c":"\\\\"},"[{"],"d":{"0123456789012345678901234567890123456789\"":"\\"},"e":[1,2]})";
  ASSERT_EQ(Check(value), "");
  const std::string text = value + "}]}\"tail";
  // The scan runs with the instructions of this processor, and without.
  for (const auto scan : {&NestingScanner::Scan, &NestingScanner::ScanPortably}) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      const Exact first(text.substr(0, cut));
      const Exact second(text.substr(cut));
      NestingScanner scanner(0, 64);
      std::string_view part = first;
      const char* p = part.data();
      std::size_t consumed = 0;
      if ((scanner.*scan)(p, part.data() + part.size()) != NestingScanner::State::kDone) {
        EXPECT_EQ(p, part.data() + part.size());
        consumed = cut;
        part = second;
        p = part.data();
        EXPECT_EQ((scanner.*scan)(p, part.data() + part.size()), NestingScanner::State::kDone) << cut;
      }
      EXPECT_EQ(consumed + static_cast<std::size_t>(p - part.data()), value.size()) << cut;
    }
  }
}

TEST(NestingScanner, StopsAtTheDepthLimit) {
  const std::string deep(300, '[');
  const char* p = deep.data();
  NestingScanner scanner(6, 256);
  EXPECT_EQ(scanner.Scan(p, deep.data() + deep.size()), NestingScanner::State::kTooDeep);
  EXPECT_EQ(p - deep.data(), 250);
}

}  // namespace
}  // namespace kgen::codec
