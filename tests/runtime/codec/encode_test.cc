// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "kgen/codec/encode.h"

#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using widgets::Part;
using widgets::Widget;
using EncodeTest = CodecTest;

// Contract: generator COD-13.
TEST_F(EncodeTest, WritesIdentityThenMembersInTableOrderThenUnknownOnes) {
  EXPECT_EQ(Encode(Widget{}), R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget"})");
  EXPECT_EQ(Encode(widgets::Claim{}), R"({"apiVersion":"v1","kind":"Claim"})");
  EXPECT_EQ(Encode(Part{.name = "a", .count = 0}), R"({"name":"a","count":0})");
  EXPECT_EQ(Encode(Must(Decode<Part>(R"({"x":1,"tags":[],"name":"n"})"))), R"({"name":"n","tags":[],"x":1})");
  EXPECT_EQ(Encode(AnyRef()), "null");
  EXPECT_EQ(Encode(MakeRef(Part{.name = "r"}).any()), R"({"name":"r"})");
}

// Contract: generator COD-10.
TEST_F(EncodeTest, EscapesWhatJsonRequiresAndNothingElse) {
  std::string text;
  for (int c = 0; c < 0x80; ++c) text += static_cast<char>(c);
  text += "\u00e9\u2028<>&/";
  const std::string json = Encode(Part{.name = text});
  EXPECT_EQ(nlohmann::json::parse(json)["name"].get<std::string>(), text);
  EXPECT_THAT(json, ::testing::HasSubstr(" !\\\"#$%&'()*+,-./0123456789:;<=>?@"));
  EXPECT_THAT(json, ::testing::HasSubstr("\\u0000\\u0001"));
  EXPECT_THAT(json, ::testing::HasSubstr("\\t\\n\\u000b\\u000c\\r"));
  EXPECT_THAT(json, ::testing::HasSubstr("\x7f\u00e9\u2028<>&/"));
  EXPECT_EQ(Must(Decode<Part>(json)).name, text);
}

// Contract: generator COD-10.
TEST_F(EncodeTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(Encode(Part{.name = "a\xFFz\xC3"}), "{\"name\":\"a\uFFFDz\uFFFD\"}");
  EXPECT_EQ(Encode(Part{.name = std::string(20, 'x') + "\xE2\x82\""}),
            "{\"name\":\"" + std::string(20, 'x') + "\uFFFD\uFFFD\\\"\"}");
}

TEST_F(EncodeTest, WritesWhatWasAssigned) {
  Widget widget{.metadata = {.name = "w", .labels = {{"b", "2"}, {"a", "1"}}}};
  widget.spec->factors = {0.5, 100.0, 1e21, std::numeric_limits<double>::infinity()};
  widget.spec->flags = {true, false};
  widget.spec->ports = {80, "http"};
  widget.spec->rows = {{1, -2}, {}};
  widget.spec->scores["x"] = 3;
  widget.spec->timeout = std::chrono::nanoseconds(std::chrono::seconds(90));
  widget.spec->when = std::chrono::sys_seconds(std::chrono::seconds(0));
  widget.spec->seen = std::chrono::sys_seconds(std::chrono::seconds(1));
  widget.spec->blob = Bytes::Of("hunter2");
  widget.spec->parts.push_back({});
  EXPECT_EQ(
      Encode(widget),
      R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"w","labels":{"a":"1","b":"2"}},)"
      R"("spec":{"blob":"aHVudGVyMg==","factors":[0.5,100,1e+21,null],"flags":[true,false],"parts":[{}],"ports":[80,"http"],)"
      R"("rows":[[1,-2],null],"scores":{"x":3},"seen":"1970-01-01T00:00:01.000000Z","timeout":"1m30s",)"
      R"("when":"1970-01-01T00:00:00Z"}})");
}

TEST_F(EncodeTest, ReadingNeverChangesTheEncoding) {
  Widget widget{.metadata = {.name = "w"}};
  const std::string before = Encode(widget);
  if (widget.spec->optional->child->env["x"] == "y") FAIL();
  if (widget.spec->named["k"].child->name == "z") FAIL();
  EXPECT_EQ(Encode(widget), before);
  widget.spec->optional->child->env["x"] = "y";
  EXPECT_EQ(
      Encode(widget),
      R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"optional":{"child":{"env":{"x":"y"}}}}})");
}

TEST_F(EncodeTest, AnAssignedMemberReplacesAnUnknownFieldOfTheSameName) {
  Part part;
  part.unknown_fields.Set("name", Json("5"));
  part.unknown_fields.Set("other", Json("6"));
  EXPECT_EQ(Encode(part), R"({"name":5,"other":6})");
  part.name = "x";
  EXPECT_EQ(Encode(part), R"({"name":"x","other":6})");
  Widget widget;
  widget.unknown_fields.Set("kind", Json("\"Other\""));
  EXPECT_EQ(Encode(widget), R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget"})");
}

TEST_F(EncodeTest, WritesObjectsOfAnySize) {
  Widget widget;
  for (int i = 0; i < 20000; ++i) widget.spec->parts.push_back({.name = "part number " + std::to_string(i)});
  const std::string json = Encode(widget);
  EXPECT_GT(json.size(), 500000u);
  EXPECT_EQ(Must(Decode<Widget>(json)), widget);
}

TEST_F(EncodeTest, CanonicalJsonIsOneTextPerMeaning) {
  EXPECT_EQ(
      CanonicalJson(
          R"( { "b" : [ 1.0 , 1e2, -0, 0.50, 12345678901234567890123 ] , "a" : "\u0041\/" , "b2":{}, "a":"x" } )"),
      R"({"a":"x","b":[1,100,0,0.5,12345678901234567890123],"b2":{}})");
  EXPECT_EQ(CanonicalJson(R"("\ud83d\ude00\u001f")"), "\"\U0001F600\\u001f\"");
  EXPECT_EQ(CanonicalJson("1.5e-400"), "0");
  EXPECT_EQ(CanonicalJson("-1.5e-400"), "0");
  EXPECT_EQ(CanonicalJson("not json"), "not json");
  EXPECT_EQ(CanonicalJson("[1,]"), "[1,]");
}

TEST_F(EncodeTest, CanonicalJsonOfANumberStaysAsItIs) {
  EXPECT_EQ(CanonicalJson("-99999999999999999990.26"), CanonicalJson("-1e20"));
  EXPECT_EQ(CanonicalJson("7777777777777777777777777777777777771.5"), "7777777777777778e21");
  std::string digits;
  for (int i = 1; i <= 45; ++i) {
    digits += static_cast<char>('0' + i * 7 % 10);
    for (int point = 1; point < i; ++point) {
      for (const char* exponent : {"", "e-400", "e-300", "e-20", "e-5", "e3", "e20", "e300"}) {
        const std::string number = "-" + digits.substr(0, static_cast<std::size_t>(point)) + "." +
                                   digits.substr(static_cast<std::size_t>(point)) + exponent;
        const std::string once = CanonicalJson(number);
        EXPECT_EQ(CanonicalJson(once), once) << number;
      }
    }
  }
}

TEST(CanonicalJson, OfANumberWithAHugeExponentIsItsOwn) {
  for (const char* number : {"51510e999999999999", "1e100000000000", "5151e100000001", "-0.5e99999999999",
                             "10e99999999", "1e-99999999999", "100000000000000000000000e99999999"}) {
    const std::string once = CanonicalJson(number);
    EXPECT_EQ(CanonicalJson(once), once) << number;
  }
}

TEST_F(EncodeTest, ParseJsonTakesExactlyOneValue) {
  EXPECT_EQ(Must(ParseJson(" {\"a\": 1.50} ")).text(), "{\"a\": 1.50}");
  EXPECT_EQ(Must(ParseJson("null")).text(), "null");
  const auto bad = ParseJson("{\"a\":}");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code(), Code::kDecode);
  EXPECT_EQ(bad.error().message(), "not JSON: expected a value, at byte 5");
  EXPECT_FALSE(ParseJson("1 2").has_value());
  EXPECT_FALSE(ParseJson("").has_value());
}

TEST_F(EncodeTest, PeekIdentityFindsTheMembersThatExist) {
  const Identity identity = PeekIdentity(
      R"({"spec":{"metadata":{"name":"no"}},"kind":"K","apiVersion":"v1","metadata":{"labels":{"name":"no"},"name":"n","namespace":"ns","resourceVersion":"7"}})");
  EXPECT_EQ(identity.kind, "K");
  EXPECT_EQ(identity.api_version, "v1");
  EXPECT_EQ(identity.name, "n");
  EXPECT_EQ(identity.namespace_, "ns");
  EXPECT_EQ(identity.resource_version, "7");
  EXPECT_EQ(PeekIdentity(R"({"metadata":{"name":"n","bad)").name, "n");
  EXPECT_EQ(PeekIdentity(R"({"metadata":{"name":5,"namespace":"x"}})").namespace_, "x");
  EXPECT_EQ(PeekIdentity(R"({"metadata":[],"kind":"K"})").kind, "K");
  EXPECT_EQ(PeekIdentity("").name, "");
  EXPECT_EQ(PeekIdentity(Exact("{\"metadata\":{\"name\":\"n")).name, "");
}

}  // namespace
}  // namespace kgen
