// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reference is nlohmann_json's patch(), another implementation of RFC 6902.
#include "codec/json_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "tests/runtime/codec/widget.h"

namespace kgen {
namespace {

using codec::DiffJson;
using nlohmann::json;
using ::testing::HasSubstr;
using widgets::Widget;

std::string Diff(std::string_view before, std::string_view after) { return Must(DiffJson(before, after)); }

TEST(JsonPatch, IsEmptyWhereTheValuesAreEqual) {
  EXPECT_EQ(Diff("{}", " {\n}"), "");
  EXPECT_EQ(Diff(R"({"a":1,"b":[1.0,"x/y"],"c":null})", R"({"c":null, "b":[1e0, "x\/y"], "a":1})"), "");
  EXPECT_EQ(Diff(R"({"\u0061":"\u00e9"})", "{\"a\":\"\xC3\xA9\"}"), "");
  EXPECT_EQ(Diff(R"({"a":1,"a":2})", R"({"a":2})"), "");
  EXPECT_EQ(Diff(R"({"a":12345678901234567890})", R"({"a":12345678901234567890.0})"), "");
}

TEST(JsonPatch, AddsRemovesAndReplacesMembers) {
  EXPECT_EQ(
      Diff(R"({"a":1,"b":2})", R"({"b":3,"c":4})"),
      R"([{"op":"remove","path":"/a"},{"op":"replace","path":"/b","value":3},{"op":"add","path":"/c","value":4}])");
  EXPECT_EQ(Diff(R"({"a":{"b":{"c":1}}})", R"({"a":{"b":{"c":"1"}}})"),
            R"([{"op":"replace","path":"/a/b/c","value":"1"}])");
  EXPECT_EQ(Diff(R"({"a":null})", "{}"), R"([{"op":"remove","path":"/a"}])");
  EXPECT_EQ(Diff("{}", R"({"a":null})"), R"([{"op":"add","path":"/a","value":null}])");
  EXPECT_EQ(Diff(R"({"a":[]})", R"({"a":{}})"), R"([{"op":"replace","path":"/a","value":{}}])");
}

TEST(JsonPatch, AddsMissingParentsAsAWhole) {
  EXPECT_EQ(Diff("{}", R"({"spec":{"a":{"b":1}}})"), R"([{"op":"add","path":"/spec","value":{"a":{"b":1}}}])");
}

TEST(JsonPatch, EscapesPaths) {
  EXPECT_EQ(Diff(R"({"a/b":{"~":1}})", R"({"a/b":{"~":2,"":3,"\"":4}})"),
            R"([{"op":"add","path":"/a~1b/","value":3},{"op":"add","path":"/a~1b/\"","value":4},)"
            R"({"op":"replace","path":"/a~1b/~0","value":2}])");
}

TEST(JsonPatch, KeepsTheSpellingOfWhatItWrites) {
  EXPECT_EQ(Diff("{}", R"({"a":[1.50,1e3]})"), R"([{"op":"add","path":"/a","value":[1.50,1e3]}])");
}

TEST(JsonPatch, KeepsTheFrontAndTheEndOfLists) {
  EXPECT_EQ(Diff("[1,2,3,4]", "[1,2,9,3,4]"), R"([{"op":"add","path":"/2","value":9}])");
  EXPECT_EQ(Diff("[1,2,3,4]", "[1,4]"), R"([{"op":"remove","path":"/2"},{"op":"remove","path":"/1"}])");
  EXPECT_EQ(Diff("[1,2,3]", "[1,9,3]"), R"([{"op":"replace","path":"/1","value":9}])");
  EXPECT_EQ(Diff("[1]", "[1,2,3]"), R"([{"op":"add","path":"/1","value":2},{"op":"add","path":"/2","value":3}])");
  EXPECT_EQ(Diff("[1,1]", "[1,1,1]"), R"([{"op":"add","path":"/2","value":1}])");
}

TEST(JsonPatch, ChangesElementsInTheirPlace) {
  EXPECT_EQ(Diff(R"([{"name":"a","image":"a:1","args":["x","y"]},{"name":"b"}])",
                 R"([{"name":"a","image":"a:2","args":["x","y"]},{"name":"b"}])"),
            R"([{"op":"replace","path":"/0/image","value":"a:2"}])");
  // A sidecar in front of the only container is one operation, and another container in its place is one too.
  EXPECT_EQ(Diff(R"([{"name":"a","image":"a:1"}])", R"([{"name":"s"},{"name":"a","image":"a:1"}])"),
            R"([{"op":"add","path":"/0","value":{"name":"s"}}])");
  EXPECT_EQ(Diff(R"([{"name":"a","image":"a:1"}])", R"([{"name":"b","image":"b:1"}])"),
            R"([{"op":"replace","path":"/0","value":{"name":"b","image":"b:1"}}])");
}

TEST(JsonPatch, NeverWritesWhatDidNotChangeOfAnElement) {
  // The whole element would be shorter.
  EXPECT_EQ(Diff(R"([{"name":"a","image":"a:1"}])", R"([{"name":"a","image":"a:1","x":1,"y":2}])"),
            R"([{"op":"add","path":"/0/x","value":1},{"op":"add","path":"/0/y","value":2}])");
  EXPECT_EQ(Diff(R"([{"a":1}])", R"([{"b":1}])"),
            R"([{"op":"remove","path":"/0/a"},{"op":"add","path":"/0/b","value":1}])");
}

TEST(JsonPatch, RefusesWhatIsNotJson) {
  const auto before = DiffJson(R"({"a":})", "{}");
  EXPECT_EQ(before.error().code(), Code::kDecode);
  EXPECT_THAT(before.error().message(), HasSubstr("the text before is not JSON: expected a value, at byte 5"));
  EXPECT_THAT(DiffJson("{}", R"({"a":1)").error().message(), HasSubstr("the text after is not JSON"));
  EXPECT_FALSE(DiffJson("", "{}"));
  EXPECT_FALSE(DiffJson("{} {}", "{}"));
  const std::string deep(2000, '[');
  EXPECT_THAT(DiffJson(deep, "[]").error().message(), HasSubstr("nested too deeply"));
}

// ---- Random documents. ----

class Documents {
 public:
  explicit Documents(std::uint32_t seed) : random_(seed) {}

  json Value(int depth) {
    switch (Below(depth > 0 ? 9 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return Below(2) == 0;
      case 2:
        return static_cast<int>(Below(4));
      case 3:
        return static_cast<double>(Below(4)) + 0.5;
      case 4:
      case 5:
        return Text();
      case 6: {
        json list = json::array();
        for (std::size_t i = Below(5); i > 0; --i) list.push_back(Value(depth - 1));
        return list;
      }
      default: {
        json object = json::object();
        for (std::size_t i = Below(5); i > 0; --i) object[Text()] = Value(depth - 1);
        return object;
      }
    }
  }

  // Changes a few places of a value.
  void Change(json& value, int depth) {
    if (value.is_object() && !value.empty() && Below(4) != 0) {
      auto member = value.begin();
      std::advance(member, static_cast<std::ptrdiff_t>(Below(value.size())));
      if (Below(4) == 0) {
        value.erase(member);
      } else {
        Change(*member, depth - 1);
      }
      if (Below(4) == 0) value[Text()] = Value(depth - 1);
    } else if (value.is_array() && !value.empty() && Below(4) != 0) {
      const auto at = value.begin() + static_cast<std::ptrdiff_t>(Below(value.size()));
      const std::size_t how = Below(3);
      if (how == 0) {
        value.erase(at);
      } else if (how == 1) {
        value.insert(at, Value(depth - 1));
      } else {
        Change(*at, depth - 1);
      }
    } else {
      value = Value(depth);
    }
  }

  std::size_t Below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

 private:
  std::string Text() {
    static constexpr const char* kTexts[] = {"a", "b", "name", "~", "/", "~1", "", "\"", "\xC3\xA9", "0", "a/b~c"};
    return kTexts[Below(std::size(kTexts))];
  }
  std::mt19937 random_;
};

TEST(JsonPatch, TurnsOneDocumentIntoTheOther) {
  for (std::uint32_t seed = 0; seed < 3'000; ++seed) {
    Documents documents(seed);
    json before = json::object();
    for (const char* name : {"a", "b", "c"}) before[name] = documents.Value(4);
    json after = before;
    for (std::size_t i = documents.Below(4); i > 0; --i) documents.Change(after, 4);
    if (!after.is_object()) continue;
    const std::string patch = Diff(before.dump(), after.dump(2));
    if (patch.empty()) {
      ASSERT_EQ(before, after) << seed;
      continue;
    }
    const json operations = json::parse(patch);
    ASSERT_EQ(before.patch(operations), after) << seed << ": " << before << "\n" << patch;
    ASSERT_NE(before, after) << seed << ": " << patch;
    // Without any of the operations it is another document, so none is idle.
    for (std::size_t i = 0; operations.size() > 1 && i < operations.size(); ++i) {
      json fewer = operations;
      fewer.erase(i);
      json half;
      try {
        half = before.patch(fewer);
      } catch (const json::exception&) {
        continue;  // a later one needs it
      }
      ASSERT_NE(half, after) << seed << ": " << patch;
    }
  }
}

// The spelling of both texts is arbitrary.
TEST(JsonPatch, IgnoresHowAnObjectIsSpelled) {
  const std::string_view received = R"( {"spec" : {"replicas": 1e0, "ratio":1.50, "note":null, "name":"a\/b",
      "unknown":{"x":1.0,"x":2.0}, "large": 9007199254740993,
      "parts":[{"name":"p","count":1.0,"what":[null]}, 7, null]}, "metadata": {"creationTimestamp":null, "name":"w"},
      "kind":"Widget","apiVersion":"test.kgen.dev/v1"} )";
  Widget widget = Must(Decode<Widget>(received));
  EXPECT_EQ(Diff(received, Encode(widget)), "");
  widget.spec->enabled = true;
  EXPECT_EQ(Diff(received, Encode(widget)), R"([{"op":"add","path":"/spec/enabled","value":true}])");
  widget.spec->parts[0].env["a/b"] = "c";
  widget.metadata.labels["tier"] = "gold";
  EXPECT_EQ(Diff(received, Encode(widget)), R"([{"op":"add","path":"/metadata/labels","value":{"tier":"gold"}},)"
                                            R"({"op":"add","path":"/spec/enabled","value":true},)"
                                            R"({"op":"add","path":"/spec/parts/0/env","value":{"a/b":"c"}}])");
}

}  // namespace
}  // namespace kgen
