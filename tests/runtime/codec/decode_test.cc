// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "kgen/codec/decode.h"

#include <string>

#include <nlohmann/json.hpp>

#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using ::testing::HasSubstr;
using widgets::Widget;
using widgets::WidgetList;

using DecodeTest = CodecTest;

TEST_F(DecodeTest, ReadsAMemberOfEveryKind) {
  const auto widget = Must(Decode<Widget>(Exact(WithSpec(R"({
    "name":"a name that is longer than fifteen bytes","amount":"1.5Gi","anything":{"x":[1, 2.50]},"blob":"aHVudGVyMg==",
    "blobs":{"k":"AA=="},"enabled":false,"extras":{"e":null},"factors":[0.5,1e2],"flags":[true,false],
    "groups":{"g":["a","b"]},"large":9223372036854775807,"named":{"z":{"count":1},"a":{}},"note":"","optional":{},
    "parts":[{"name":"p","tags":[]},{}],"port":"http","ports":[80,"https"],"ratio":0.25,"replicas":-2147483648,
    "rows":[[1],[],[2,3]],"scores":{"s":7},"seen":"2026-11-21T08:33:00.123456Z","timeout":"1h30m",
    "times":["2026-11-21T08:33:00Z"],"when":"2026-11-21T08:33:01Z"})"))));
  const auto& spec = *widget.spec;
  EXPECT_EQ(spec.name, "a name that is longer than fifteen bytes");
  EXPECT_EQ(spec.amount, Quantity("1536Mi"));
  EXPECT_EQ(spec.anything.text(), R"({"x":[1, 2.50]})");
  EXPECT_EQ(spec.blob.Decode(), "hunter2");
  EXPECT_EQ(spec.blobs["k"].Decode(), std::string(1, '\0'));
  EXPECT_TRUE(spec.enabled.has_value());
  EXPECT_FALSE(*spec.enabled);
  EXPECT_TRUE(spec.extras["e"].is_null());
  EXPECT_EQ(spec.factors[1], 100.0);
  EXPECT_TRUE(spec.flags[0]);
  EXPECT_EQ(spec.groups["g"][1], "b");
  EXPECT_EQ(*spec.large, INT64_MAX);
  EXPECT_EQ(spec.named.begin()->first, "a");
  EXPECT_EQ(*spec.named["z"].count, 1);
  EXPECT_TRUE(spec.note.has_value());
  EXPECT_TRUE(spec.optional.has_value());
  EXPECT_EQ(spec.parts.size(), 2u);
  EXPECT_TRUE(spec.parts[0].tags.has_value());
  EXPECT_FALSE(spec.parts[1].tags.has_value());
  EXPECT_EQ(spec.port.string_value(), "http");
  EXPECT_EQ(spec.ports[0].int_value(), 80);
  EXPECT_EQ(*spec.ratio, 0.25);
  EXPECT_EQ(*spec.replicas, INT32_MIN);
  EXPECT_EQ(spec.rows[2][1], 3);
  EXPECT_EQ(spec.scores["s"], 7);
  EXPECT_EQ(spec.seen.str(), "2026-11-21T08:33:00.123456Z");
  EXPECT_EQ(spec.timeout.value(), std::chrono::minutes(90));
  EXPECT_EQ(spec.times[0].str(), "2026-11-21T08:33:00Z");
  EXPECT_EQ(spec.when.str(), "2026-11-21T08:33:01Z");
  EXPECT_TRUE(spec.unknown_fields.empty());
}

// Contract: generator COD-02, COD-04.
TEST_F(DecodeTest, DistinguishesAbsentZeroAndEmpty) {
  const std::string spec =
      R"({"name":"","amount":"","enabled":false,"groups":{},"large":0,"optional":{},"parts":[],"ratio":0,"replicas":0})";
  EXPECT_EQ(Back(spec), spec);
  EXPECT_EQ(Back("{}"), "{}");
  const auto widget = Must(Decode<Widget>(WithSpec("{}")));
  EXPECT_FALSE(widget.spec->parts.has_value());
  EXPECT_FALSE(widget.spec->replicas.has_value());
  EXPECT_FALSE(widget.spec->name.has_value());
  EXPECT_TRUE(widget.spec.has_value());
  EXPECT_FALSE(widget.status.has_value());
}

// Contract: generator COD-05.
TEST_F(DecodeTest, AcceptsMissingRequiredMembers) { EXPECT_EQ(ErrorOf("{}"), ""); }

// Contract: generator COD-09.
TEST_F(DecodeTest, AcceptsIntegersInAnySpelling) {
  const auto replicas = [](std::string_view number) {
    return (*Must(Decode<Widget>(WithSpec("{\"replicas\":" + std::string(number) + "}"))).spec).replicas;
  };
  EXPECT_EQ(replicas("1.0"), 1);
  EXPECT_EQ(replicas("1e3"), 1000);
  EXPECT_EQ(replicas("1.5e1"), 15);
  EXPECT_EQ(replicas("1200E-2"), 12);
  EXPECT_EQ(replicas("-0.0"), 0);
  EXPECT_EQ(replicas("0e999999999999"), 0);
  EXPECT_EQ(replicas("2147483647.000"), INT32_MAX);
  for (const char* bad : {"1.5", "1e-1", "2147483648", "-2147483649", "1e10", "1e999999999999", "9223372036854775808",
                          "0.00000000000000000000000000000000000000000001"}) {
    EXPECT_FALSE(replicas(bad).has_value()) << bad;
    EXPECT_EQ(Back("{\"replicas\":" + std::string(bad) + "}"), "{\"replicas\":" + std::string(bad) + "}");
  }
  const auto large = [](std::string_view number) {
    return (*Must(Decode<Widget>(WithSpec("{\"large\":" + std::string(number) + "}"))).spec).large;
  };
  EXPECT_EQ(large("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(large("9223372036854775807.0"), INT64_MAX);
  EXPECT_FALSE(large("9223372036854775808").has_value());
  EXPECT_FALSE(large("-9223372036854775808.5").has_value());
}

TEST_F(DecodeTest, ReadsATimeOnlyInItsOwnSpelling) {
  const std::string_view time = "2026-11-21T08:33:01Z";
  for (std::size_t at = 0; at < time.size(); ++at) {
    for (char c = ' '; c <= '~'; ++c) {
      if (c == '"' || c == '\\') continue;
      std::string other(time);
      other[at] = c;
      const std::string spec = "{\"when\":\"" + other + "\"}";
      EXPECT_EQ(Back(spec), spec);
      const auto parsed = Time::Parse(other);
      const auto widget = Must(Decode<Widget>(WithSpec(spec)));
      EXPECT_EQ(widget.spec->when, parsed ? *parsed : Time()) << other;
    }
  }
}

// Contract: generator COD-11.
TEST_F(DecodeTest, KeepsTheLastOfDuplicateMembers) {
  EXPECT_EQ(
      Back(
          R"({"name":"first, long enough for a block","replicas":1,"parts":[{}],"named":{"a":{}},"optional":{"name":"x"},
                     "name":"b","replicas":2,"parts":[],"named":{},"optional":{"count":1}})"),
      R"({"name":"b","named":{},"optional":{"count":1},"parts":[],"replicas":2})");
  EXPECT_EQ(Back(R"({"named":{"b":{"name":"1"},"a":{},"b":{"name":"2"},"b":{"name":"3"}}})"),
            R"({"named":{"a":{},"b":{"name":"3"}}})");
  EXPECT_EQ(Back(R"({"name":"a","name":null})"), R"({"name":null})");
  const auto widget = Must(Decode<Widget>(R"({"metadata":{"name":"a","uid":"u"},"metadata":{"name":"b"}})"));
  EXPECT_EQ(widget.metadata.name, "b");
  EXPECT_FALSE(widget.metadata.uid.has_value());
}

// Contract: generator COD-14.
TEST_F(DecodeTest, ReadsNullAsAbsent) {
  const auto nulls = Must(Decode<Widget>(
      WithSpec(R"({"name":null,"enabled":null,"parts":null,"named":null,"replicas":null,"when":null,"port":null})")));
  EXPECT_FALSE(nulls.spec->name.has_value());
  EXPECT_FALSE(nulls.spec->parts.has_value());
  EXPECT_FALSE(nulls.spec->replicas.has_value());
  EXPECT_FALSE(nulls.spec->port.has_value());
  const auto widget = Must(Decode<Widget>(R"({"metadata":{"name":"w","creationTimestamp":null},"spec":null})"));
  EXPECT_FALSE(widget.spec.has_value());
  EXPECT_FALSE(widget.metadata.creationTimestamp.has_value());
}

// Contract: generator COD-12.
TEST_F(DecodeTest, RefusesAnotherKindAndNamesBoth) {
  EXPECT_THAT(ErrorOf(R"({"kind":"Gadget"})"), HasSubstr(R"(expected kind "Widget", found string "Gadget")"));
  EXPECT_THAT(ErrorOf(R"({"apiVersion":"test.kgen.dev/v2"})"),
              HasSubstr(R"(expected apiVersion "test.kgen.dev/v1", found string "test.kgen.dev/v2")"));
  EXPECT_THAT(ErrorOf(R"({"apiVersion":"v1"})"), HasSubstr("expected apiVersion"));
  EXPECT_THAT(ErrorOf(R"({"kind":5})"), HasSubstr(R"(expected kind "Widget", found number 5)"));
  EXPECT_EQ(ErrorOf(R"({"kind":"","apiVersion":null})"), "");
  EXPECT_EQ(ErrorOf(R"({"metadata":{"name":"x"},"kind":"Widget","apiVersion":"test.kgen.dev/v1"})"), "");
}

// Contract: generator COD-15.
TEST_F(DecodeTest, ComparesKeysUnescapedAndCaseSensitively) {
  EXPECT_EQ(Back(R"({"\u006eame":"x","\u0072eplicas":3})"), R"({"name":"x","replicas":3})");
  EXPECT_EQ(Back(R"({"Name":"x"})"), R"({"Name":"x"})");
  EXPECT_FALSE((*Must(Decode<Widget>(WithSpec(R"({"Name":"x"})"))).spec).name.has_value());
}

TEST_F(DecodeTest, RefusesAnythingButAnObject) {
  for (const char* text : {"", " ", "null", "[]", "5", "\"x\"", "{", "}", "{\"a\"", "{}x", "{\"a\":1,}", "{a:1}"}) {
    EXPECT_NE(ErrorOf(text), "") << text;
  }
  EXPECT_EQ(ErrorOf(" \n{ } \t"), "");
}

TEST_F(DecodeTest, NamesObjectPathAndOffsetInAnError) {
  EXPECT_EQ(ErrorOf(R"({"metadata":{"name":"w","namespace":"ns"},"spec":{"parts":[{},{"name":"a)"),
            "Widget ns/w: spec.parts[1].name: unterminated string, at byte 72");
  EXPECT_EQ(ErrorOf(R"({"spec":{"named":{"k":{"count":1 2}}}})"),
            "Widget: spec.named['k']: expected ',' or '}', at byte 33");
}

TEST_F(DecodeTest, RefusesAnObjectThatPassesALimit) {
  std::string deep = "{\"spec\":{\"optional\":";
  for (int i = 0; i < 300; ++i) deep += "{\"child\":";
  EXPECT_THAT(ErrorOf(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(ErrorOf("{\"x\":" + std::string(300, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(ErrorOf("{\"x\":1}", {.max_bytes = 6}), HasSubstr("larger than 6 bytes"));
  EXPECT_THAT(ErrorOf(R"({"x":1,"y":{"z":1}})", {.max_fields = 2}), HasSubstr("too many members"));
  EXPECT_EQ(ErrorOf(R"({"x":1,"y":{"z":1}})", {.max_fields = 3}), "");
}

TEST_F(DecodeTest, DropsManagedFieldsWhenAsked) {
  const std::string json = R"({"metadata":{"name":"w","managedFields":[{"manager":"x","fieldsV1":{"f:a":{}}}]}})";
  EXPECT_EQ(Must(Decode<Widget>(json)).metadata.managedFields.size(), 1u);
  EXPECT_FALSE(Must(Decode<Widget>(json, {.drop_managed_fields = true})).metadata.managedFields.has_value());
}

// Contract: generator COD-22.
TEST_F(DecodeTest, StrictModeRefusesWhatLenientModeKeeps) {
  EXPECT_THAT(ErrorOf(R"({"spec":{"replica":3}})", {.strict = true}), HasSubstr("spec.replica: unknown member"));
  EXPECT_THAT(ErrorOf(R"({"spec":{"replicas":"3"}})", {.strict = true}),
              HasSubstr("spec.replicas: expected an integer, found string \"3\", at byte 20"));
  EXPECT_THAT(ErrorOf(R"({"spec":{"name":"a","name":"b"}})", {.strict = true}),
              HasSubstr("spec.name: duplicate member"));
  EXPECT_THAT(ErrorOf(R"({"spec":{"named":{"a":{},"a":{}}}})", {.strict = true}),
              HasSubstr("spec.named: duplicate key"));
  EXPECT_EQ(ErrorOf(R"({"kind":"Widget","spec":{"parts":[{"name":"a"},{"name":"b"}]}})", {.strict = true}), "");
}

TEST_F(DecodeTest, StrictModeAcceptsUnknownMembersWhereTheSchemaPreservesThem) {
  TypeTable open = widgets::Part::kTable;
  open.flags = kPreservesUnknown;
  widgets::Part part;
  Must(detail::DecodeStruct(R"({"name":"a","new":{"b":1}})", &part, open, {.strict = true}));
  EXPECT_EQ(part.unknown_fields["new"].text(), R"({"b":1})");
  const auto inside = detail::DecodeStruct(R"({"child":{"new":1}})", &part, open, {.strict = true});
  ASSERT_FALSE(inside.has_value()) << "a struct inside has a schema of its own";
  EXPECT_THAT(inside.error().message(), HasSubstr("child.new: unknown member"));
  const auto twice = detail::DecodeStruct(R"({"name":"a","name":"b"})", &part, open, {.strict = true});
  EXPECT_FALSE(twice.has_value());
  EXPECT_TRUE(Decode<Unstructured>(R"({"kind":"Any","spec":{"x":1}})", {.strict = true}).has_value());
  EXPECT_FALSE(Decode<Unstructured>(R"({"kind":"Any","metadata":{"x":1}})", {.strict = true}).has_value());
}

TEST_F(DecodeTest, StrictModeAcceptsTheKindOfAnObjectInsideAnother) {
  EXPECT_EQ(ErrorOf(R"({"spec":{"templates":[{"apiVersion":"v1","kind":"Claim","metadata":{"name":"t"}}]}})",
                    {.strict = true}),
            "");
  EXPECT_THAT(ErrorOf(R"({"spec":{"templates":[{"kinds":"Claim"}]}})", {.strict = true}),
              HasSubstr("spec.templates[0].kinds: unknown member"));
}

TEST_F(DecodeTest, DropsManagedFieldsThatAreNull) {
  const Widget widget =
      Must(Decode<Widget>(R"({"metadata":{"name":"w","managedFields":null}})", {.drop_managed_fields = true}));
  EXPECT_EQ(Encode(widget), R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"w"}})");
}

TEST_F(DecodeTest, ItemsOfAListCarryTheirKindAndOtherNestedKindsKeepTheirMembers) {
  const std::string json =
      R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","metadata":{"resourceVersion":"7"},"items":[)"
      R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"a"}}]})";
  const auto list = Must(Decode<WidgetList>(json));
  EXPECT_TRUE(list.items[0].unknown_fields.empty());
  EXPECT_EQ(Encode(list), json);
  const std::string spec = R"({"templates":[{"metadata":{"name":"t"},"apiVersion":"v1","kind":"Claim"}]})";
  EXPECT_EQ(Back(spec), spec);
  // An item of another kind stays what it is, and reads as empty.
  std::vector<FieldMismatch> mismatches;
  const std::string mixed =
      R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","items":[{"kind":"Gadget","x":1},{"metadata":{"name":"b"}}]})";
  const auto other = Must(Decode<WidgetList>(mixed, {.mismatches = &mismatches}));
  EXPECT_EQ(other.items[1].metadata.name, "b");
  EXPECT_THAT(Encode(other), HasSubstr(R"("items":[{"kind":"Gadget","x":1},{"apiVersion")"));
  ASSERT_EQ(mismatches.size(), 1u);
  EXPECT_EQ(mismatches[0].path, "items[0].kind");
}

TEST_F(DecodeTest, ReadsAnyKindAsUnstructured) {
  const std::string json = R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":"x"},"spec":{"b":[1.50]},"z":null})";
  const auto object = Must(Decode<Unstructured>(json));
  EXPECT_EQ(object.kind, "K");
  EXPECT_EQ(Encode(object), json);
}

TEST_F(DecodeTest, IncludesMetadataOfTheWrongTypeInTheJsonOfAnUnstructured) {
  const std::string json =
      R"({"metadata":{"finalizers":[null],"labels":{"a":null},"ownerReferences":[5,{"name":"rs"}],"generation":"x"}})";
  EXPECT_EQ(Must(Decode<Unstructured>(json)).json(), nlohmann::json::parse(json));
}

TEST_F(DecodeTest, LeaksNoBlockWhereverItFails) {
  const std::string json = WithSpec(R"({"name":"a name longer than fifteen","parts":[{"name":"also longer than fifteen",
    "tags":["one that is longer than fifteen"],"parts":[{"limits":{"cpu":"1"}}]},null,5],"named":{"b":{"env":{"k":"v"}},"a":{}},
    "extras":{"e":{"x":"longer than fifteen bytes"}},"new":{"y":"longer than fifteen bytes"},"replicas":"bad"})");
  for (std::size_t size = 0; size < json.size(); ++size) {
    const std::int64_t before = LiveBlocks();
    EXPECT_NE(ErrorOf(std::string_view(json).substr(0, size)), "");
    std::string broken = json;
    broken[size] = '\x01';
    (void)ErrorOf(broken);
    ASSERT_EQ(LiveBlocks(), before) << size;
  }
}

}  // namespace
}  // namespace kgen
