// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Nothing is lost, and one malformed field does not fail the whole object.
#include <string>
#include <vector>

#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using widgets::Part;
using widgets::Widget;

using KeepTest = CodecTest;

std::vector<FieldMismatch> MismatchesOf(std::string_view json) {
  std::vector<FieldMismatch> mismatches;
  (void)Must(Decode<Widget>(Exact(json), {.mismatches = &mismatches}));
  return mismatches;
}

// Contract: generator COD-08.
TEST_F(KeepTest, UnknownMembersAreSentBackInOrderWithDuplicates) {
  const std::string spec =
      R"({"name":"x","zeta":1,"alpha":{"b": [1.50, 12345678901234567890] },"zeta":2,"":3,"\"q":"\ud800"})";
  EXPECT_EQ(Back(spec),
            R"({"name":"x","zeta":1,"alpha":{"b": [1.50, 12345678901234567890] },"zeta":2,"":3,"\"q":"\ud800"})");
  const auto widget = Must(Decode<Widget>(WithSpec(spec)));
  EXPECT_EQ(widget.spec->unknown_fields.size(), 5u);
  EXPECT_EQ(widget.spec->unknown_fields["zeta"].text(), "2");
}

TEST_F(KeepTest, UnknownMembersOfListElementsFollowTheirElement) {
  auto widget =
      Must(Decode<Widget>(WithSpec(R"({"parts":[{"name":"a","new":1},{"name":"b","new":2},{"name":"c","new":3}]})")));
  widget.spec->parts.erase(widget.spec->parts.begin());
  std::swap(widget.spec->parts[0], widget.spec->parts[1]);
  Widget copy = widget;
  EXPECT_THAT(Encode(copy), HasSubstr(R"("parts":[{"name":"c","new":3},{"name":"b","new":2}])"));
}

TEST_F(KeepTest, AFieldOfTheWrongTypeReadsAsAbsentAndIsSentBackUntilAssigned) {
  const std::string json = WithSpec(R"({"name":"x","replicas":"three"})");
  auto widget = Must(Decode<Widget>(json));
  EXPECT_FALSE(widget.spec->replicas.has_value());
  EXPECT_EQ(widget.spec->unknown_fields["replicas"].text(), "\"three\"");
  EXPECT_EQ(Encode(widget), json);
  widget.spec->replicas = 3;
  EXPECT_EQ(Encode(widget), WithSpec(R"({"name":"x","replicas":3})"));
}

TEST_F(KeepTest, EveryKindOfMemberIsSentBackIfItHasTheWrongType) {
  for (const char* spec : {
           R"({"name":5})",
           R"({"amount":true})",
           R"({"blob":"%%%"})",
           R"({"blob":"abc"})",
           R"({"blobs":{"a":1}})",
           R"({"enabled":"true"})",
           R"({"factors":["x"]})",
           R"({"flags":[1]})",
           R"({"flags":[null]})",
           R"({"groups":{"g":5}})",
           R"({"large":1.5})",
           R"({"named":[]})",
           R"({"optional":"x"})",
           R"({"parts":{}})",
           R"({"port":1.5})",
           R"({"port":{}})",
           R"({"ports":[80,true]})",
           R"({"ratio":"x"})",
           R"({"ratio":1e999})",
           R"({"replicas":3000000000})",
           R"({"rows":[[1],[2,"x"]]})",
           R"({"rows":[[1],{}]})",
           R"({"scores":{"a":1,"b":"x"}})",
           R"({"seen":"yesterday"})",
           R"({"timeout":"soon"})",
           R"({"times":["2026-11-21T08:33:00Z","x"]})",
           R"({"when":0})",
           R"({"when":"2026-13-41"})",
       }) {
    EXPECT_EQ(Back(spec), spec);
    EXPECT_EQ(MismatchesOf(WithSpec(spec)).size(), 1u) << spec;
  }
}

// Contract: generator COD-06.
TEST_F(KeepTest, AFieldOfTheWrongTypeIsReportedWithPathMessageAndOffset) {
  const std::string json =
      R"({"metadata":{"name":"w"},"spec":{"parts":[{},{"count":"80"}],"named":{"k":{"env":{"a":1}}}}})";
  const auto mismatches = MismatchesOf(json);
  ASSERT_EQ(mismatches.size(), 2u);
  EXPECT_EQ(mismatches[0].path, "spec.parts[1].count");
  EXPECT_EQ(mismatches[0].message, "expected an integer, found string \"80\"");
  EXPECT_EQ(mismatches[0].offset, json.find("\"80\""));
  EXPECT_EQ(mismatches[1].path, "spec.named['k'].env['a']");
  EXPECT_EQ(mismatches[1].message, "expected a string, found number 1");
  EXPECT_EQ(mismatches[1].offset, json.find("1}}}"));
}

// Contract: generator COD-11.
TEST_F(KeepTest, TheLastMemberOfANameCounts) {
  EXPECT_EQ(Back(R"({"replicas":"x","replicas":3})"), R"({"replicas":3})");
  EXPECT_EQ(Back(R"({"replicas":3,"replicas":"x"})"), R"({"replicas":"x"})");
  EXPECT_EQ(Back(R"({"replicas":"x","replicas":"y"})"), R"({"replicas":"y"})");
  EXPECT_EQ(Back(R"({"replicas":"x","replicas":null})"), R"({"replicas":null})");
  EXPECT_EQ(Back(R"({"replicas":null,"replicas":"x"})"), R"({"replicas":"x"})");
  EXPECT_EQ(Back(R"({"replicas":null,"replicas":4})"), R"({"replicas":4})");
  EXPECT_EQ(Back(R"({"ratio":1.0,"ratio":2.50})"), R"({"ratio":2.50})");
  EXPECT_EQ(Back(R"({"ratio":1.0,"ratio":2.5})"), R"({"ratio":2.5})");
  EXPECT_EQ(Back(R"({"ratio":1.0,"ratio":null})"), R"({"ratio":null})");
  EXPECT_EQ(Back(R"({"parts":[{"name":"a"}],"parts":5})"), R"({"parts":5})");
  EXPECT_EQ(Back(R"({"note":null,"note":"x"})"), R"({"note":"x"})");
}

TEST_F(KeepTest, NullableNullIsSentBackUntilAssigned) {
  const std::string json = WithSpec(R"({"name":"x","note":null,"optional":null})");
  auto widget = Must(Decode<Widget>(json));
  EXPECT_FALSE(widget.spec->note.has_value());
  EXPECT_FALSE(widget.spec->optional.has_value());
  EXPECT_EQ(widget.spec->unknown_fields["note"].text(), "null");
  EXPECT_EQ(Encode(widget), json);
  EXPECT_THAT(MismatchesOf(json), IsEmpty());
  widget.spec->optional->count = 1;
  EXPECT_EQ(Encode(widget), WithSpec(R"({"name":"x","optional":{"count":1},"note":null})"));
}

TEST_F(KeepTest, ANullElementIsSentBackAsNull) {
  EXPECT_EQ(Back(R"({"parts":[null,{"name":"a"},null]})"), R"({"parts":[null,{"name":"a"},null]})");
  EXPECT_EQ(Back(R"({"named":{"a":null,"b":{}}})"), R"({"named":{"a":null,"b":{}}})");
  EXPECT_EQ(Back(R"({"parts":[{"tags":["a",null],"env":{"k":null}}]})"),
            R"({"parts":[{"env":{"k":null},"tags":["a",null]}]})");
  EXPECT_EQ(Back(R"({"ports":[null],"times":[null],"rows":[null,[1]]})"),
            R"({"ports":[null],"rows":[null,[1]],"times":[null]})");
  EXPECT_EQ(Back(R"({"groups":{"g":null},"extras":{"e":null},"anything":null})"),
            R"({"anything":null,"extras":{"e":null},"groups":{"g":null}})");
  EXPECT_THAT(MismatchesOf(WithSpec(R"({"parts":[null]})")), IsEmpty());
  auto widget = Must(Decode<Widget>(WithSpec(R"({"parts":[null,null]})")));
  EXPECT_EQ(widget.spec->parts.size(), 2u);
  widget.spec->parts[1].name = "b";
  EXPECT_EQ(Encode(widget), WithSpec(R"({"parts":[null,{"name":"b"}]})"));
}

TEST_F(KeepTest, ANullEntryOfAMapDiffersFromNoneAndOutlivesCopiesAndChanges) {
  const std::string json = WithSpec(R"({"parts":[{"env":{"a":"1","k":null}}]})");
  const auto widget = Must(Decode<Widget>(json));
  EXPECT_NE(widget, Must(Decode<Widget>(WithSpec(R"({"parts":[{"env":{"a":"1"}}]})"))));
  Widget copy = widget;
  EXPECT_EQ(copy, widget);
  EXPECT_EQ(Encode(copy), json);
  EXPECT_EQ(copy.spec->parts[0].env["looked at"], "");
  EXPECT_EQ(Encode(copy), json);
  copy.spec->parts[0].env["k"] = "2";
  EXPECT_EQ(Encode(copy), WithSpec(R"({"parts":[{"env":{"a":"1","k":"2"}}]})"));
}

TEST_F(KeepTest, ATextEntryOfADecodedMapThatWasResetIsNotWritten) {
  auto widget = Must(Decode<Widget>(WithSpec(R"({"parts":[{"env":{"a":"1","b":"2"}}]})")));
  widget.spec->parts[0].env["a"].reset();
  EXPECT_EQ(Encode(widget), WithSpec(R"({"parts":[{"env":{"b":"2"}}]})"));
}

TEST_F(KeepTest, ATextEntryThatWasResetIsNotWrittenAsTheNullOfItsNeighbour) {
  auto widget = Must(Decode<Widget>(WithSpec(R"({"parts":[{"env":{"a":"1","b":"2","k":null,"l":null}}]})")));
  auto& env = widget.spec->parts[0].env;
  env["a"].reset();
  env.insert_or_assign("l", String());
  EXPECT_EQ(Encode(widget), WithSpec(R"({"parts":[{"env":{"b":"2","k":null}}]})"));
  Widget copy = widget;
  EXPECT_EQ(copy, widget);
  EXPECT_EQ(Encode(copy), Encode(widget));
}

// Contract: design D6.
TEST_F(KeepTest, AQuantityThatWasANumberIsSentBackAsANumberUntilAssigned) {
  const std::string json = R"({"parts":[{"limits":{"a":2,"b":1.50,"c":"2","d":-1e3}}]})";
  EXPECT_EQ(Back(json), json);
  Widget widget = Must(Decode<Widget>(WithSpec(json)));
  auto& limits = widget.spec->parts[0].limits;
  EXPECT_TRUE(limits["a"].is_number());
  EXPECT_EQ(limits["a"].Value(), 2);
  EXPECT_EQ(limits["b"].MilliValue(), 1500);
  EXPECT_EQ(limits["a"], limits["c"]);
  EXPECT_EQ(limits["a"].text(), "2");
  const Widget copy = widget;
  EXPECT_EQ(copy, widget);
  EXPECT_EQ(Hash(copy), Hash(widget));
  limits["a"] = "2";
  EXPECT_NE(copy, widget) << "text and number differ on the wire";
  EXPECT_TRUE(SemanticEqual(copy, widget));
  limits["b"] = limits["d"];
  EXPECT_EQ(Encode(widget), WithSpec(R"({"parts":[{"limits":{"a":"2","b":-1e3,"c":"2","d":-1e3}}]})"));
}

TEST_F(KeepTest, ALongNumberStaysANumberInAQuantity) {
  const std::string json = R"({"amount":0.33333333333333333,"parts":[{"limits":{"a":1234567890123456789}}]})";
  EXPECT_EQ(Back(json), json);
  const Widget widget = Must(Decode<Widget>(WithSpec(json)));
  const Quantity& limit = widget.spec->parts[0].limits["a"];
  EXPECT_TRUE(limit.is_number());
  EXPECT_EQ(limit.text(), "1234567890123456789");
  EXPECT_EQ(limit.Value(), 1234567890123456789);
  EXPECT_EQ(limit, Quantity("1234567890123456789"));
  EXPECT_NE(widget, Must(Decode<Widget>(WithSpec(
                        R"({"amount":"0.33333333333333333","parts":[{"limits":{"a":1234567890123456789}}]})"))));
  Widget copy = widget;
  EXPECT_EQ(Encode(copy), WithSpec(json));
}

TEST_F(KeepTest, ANumberKeepsItsSpellingUntilAnotherIsAssigned) {
  ObjectDecoder decoder(Widget::kTable);
  for (const char* spec : {
           R"({"ratio":1e-7})",
           R"({"ratio":1e-07})",
           R"({"ratio":1.0})",
           R"({"ratio":1E5})",
           R"({"ratio":1e+5})",
           R"({"ratio":100000})",
           R"({"ratio":-0})",
           R"({"ratio":-0.0})",
           R"({"ratio":0.10})",
           R"({"ratio":1e300})",
           R"({"ratio":1e-400})",
           R"({"ratio":123456789012345678901234567890})",
           R"({"ratio":0.1000000000000000055511151231257827})",
           R"({"replicas":3.0})",
           R"({"replicas":-0})",
           R"({"replicas":3e2})",
           R"({"large":1E18})",
           R"({"large":0.5e1})",
           R"({"factors":[1.0, 2,1e2]})",
           R"({"rows":[[1.0],null,[2]]})",
           R"({"scores":{"b":1e1,"a":2}})",
       }) {
    EXPECT_EQ(Back(spec), spec);
    EXPECT_THAT(MismatchesOf(WithSpec(spec)), IsEmpty()) << spec;
    EXPECT_EQ(Encode(Must(decoder.Decode(WithSpec(spec)))), WithSpec(spec));
    EXPECT_EQ(Encode(Must(decoder.Decode(WithSpec(spec)))), WithSpec(spec)) << "the second time, from the memo";
    const Widget decoded = Must(Decode<Widget>(WithSpec(spec)));
    EXPECT_TRUE(decoded.spec->unknown_fields.empty()) << spec;
  }
  Widget widget =
      Must(Decode<Widget>(WithSpec(R"({"factors":[1.0],"large":1e1,"ratio":1.0,"replicas":3.0,"scores":{"a":1.0}})")));
  const Widget copy = widget;
  EXPECT_EQ(widget,
            Must(Decode<Widget>(WithSpec(R"({"factors":[1],"large":10,"ratio":1,"replicas":3,"scores":{"a":1}})"))));
  widget.spec->ratio = 2;
  widget.spec->replicas.reset();
  widget.spec->large = 11;
  widget.spec->factors.push_back(2);
  widget.spec->scores["a"] = 5;
  EXPECT_EQ(Encode(widget), WithSpec(R"({"factors":[1,2],"large":11,"ratio":2,"scores":{"a":5}})"));
  widget.spec->factors.reset();
  widget.spec->scores.reset();
  EXPECT_EQ(Encode(widget), WithSpec(R"({"large":11,"ratio":2})"));
  EXPECT_EQ(Encode(copy), WithSpec(R"({"factors":[1.0],"large":1e1,"ratio":1.0,"replicas":3.0,"scores":{"a":1.0}})"));
}

TEST_F(KeepTest, ADoubleIsWrittenAsInGo) {
  Widget widget;
  const std::pair<double, const char*> cases[] = {{100000, "100000"},
                                                  {1e20, "100000000000000000000"},
                                                  {1e21, "1e+21"},
                                                  {1e-6, "0.000001"},
                                                  {1e-7, "1e-7"},
                                                  {-2.5, "-2.5"},
                                                  {1e-10, "1e-10"},
                                                  {0.1, "0.1"},
                                                  {3, "3"}};
  for (const auto& [value, text] : cases) {
    widget.spec->ratio = value;
    EXPECT_THAT(Encode(widget), HasSubstr(std::string(R"("ratio":)") + text + "}"));
  }
}

TEST_F(KeepTest, ANullIsSentBackAsNullUntilAValueIsAssigned) {
  const std::string json =
      R"({"anything":null,"amount":null,"blob":null,"enabled":null,"extras":null,"factors":null,"large":null,"parts":null,)"
      R"("port":null,"ratio":null,"replicas":null,"seen":null,"timeout":null,"when":null,"newer":null})";
  Widget widget = Must(Decode<Widget>(WithSpec(json)));
  EXPECT_EQ(CanonicalJson(Encode(widget)), CanonicalJson(WithSpec(json)));
  EXPECT_THAT(MismatchesOf(WithSpec(json)), IsEmpty());
  EXPECT_EQ(widget.spec->unknown_fields.size(), 1u) << "only the unknown one is shown";
  EXPECT_FALSE(widget.spec->replicas.has_value());
  const Widget copy = widget;
  EXPECT_EQ(copy, widget);
  widget.spec->replicas = 3;
  widget.spec->parts.emplace();
  widget.spec->unknown_fields.Set("more", Json("1"));
  EXPECT_THAT(Encode(widget), HasSubstr(R"("parts":[],"replicas":3,)"));
  EXPECT_THAT(Encode(widget), HasSubstr(R"("ratio":null)"));
  EXPECT_NE(copy, widget);
  widget.spec->unknown_fields.clear();
  EXPECT_EQ(Encode(widget), WithSpec(R"({"anything":null,"parts":[],"replicas":3})"));
  EXPECT_EQ(CanonicalJson(Encode(copy)), CanonicalJson(WithSpec(json)));
}

TEST_F(KeepTest, NullsAloneCostNoMemory) {
  const Widget with =
      Must(Decode<Widget>(R"({"metadata":{"name":"w","creationTimestamp":null},"spec":{"when":null}})"));
  const std::int64_t blocks = LiveBlocks();
  const Widget without = Must(Decode<Widget>(R"({"metadata":{"name":"w"},"spec":{}})"));
  const std::int64_t more = LiveBlocks();
  const Widget copy = with;
  EXPECT_EQ(LiveBlocks() - more, more - blocks);
  EXPECT_TRUE(with.metadata.unknown_fields.empty());
  EXPECT_EQ(Encode(copy), R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"w",)"
                          R"("creationTimestamp":null},"spec":{"when":null}})");
}

TEST_F(KeepTest, ANullMemberDiffersFromAnAbsentOneInTheEncodingOnly) {
  const Widget null = Must(Decode<Widget>(WithSpec(R"({"name":"x","note":null,"ratio":null})")));
  const Widget none = Must(Decode<Widget>(WithSpec(R"({"name":"x"})")));
  EXPECT_NE(null, none);
  EXPECT_TRUE(SemanticEqual(null, none));
  Widget mixed = null;
  mixed.spec->unknown_fields.Set("ratio", Json("null"));
  EXPECT_EQ(mixed, null) << "however it came to be null";
  EXPECT_EQ(Hash(mixed), Hash(null));
  Widget cleared = null;
  cleared.spec->unknown_fields.clear();
  EXPECT_EQ(cleared, none);
  EXPECT_EQ(Hash(cleared), Hash(none));
}

TEST_F(KeepTest, NullsAndSpellingsOfOneTypeDoNotAffectAnother) {
  const Widget widget = Must(Decode<Widget>(WithSpec(R"({"enabled":null,"ratio":1.0,"when":null,"new":1})")));
  Widget other;
  other.spec->optional->unknown_fields = widget.spec->unknown_fields;
  EXPECT_EQ(Encode(other), R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","spec":{"optional":{"new":1}}})");
}

TEST_F(KeepTest, AnElementThatIsNotAStructKeepsItsPosition) {
  const std::string json = WithSpec(R"({"named":{"a":[1],"b":{}},"parts":[{"name":"a"},"odd",{"name":"c"}]})");
  auto widget = Must(Decode<Widget>(json));
  EXPECT_EQ(widget.spec->parts[1], (*Must(Decode<Widget>(json)).spec).parts[1]);
  EXPECT_FALSE(widget.spec->parts[1] == Part{});
  EXPECT_EQ(Encode(widget), json);
  const auto mismatches = MismatchesOf(json);
  ASSERT_EQ(mismatches.size(), 2u);
  EXPECT_EQ(mismatches[0].path, "spec.named['a']");
  EXPECT_EQ(mismatches[1].path, "spec.parts[1]");
}

TEST_F(KeepTest, AnElementThatIsNotAStructIsReplacedByAnAssignment) {
  const std::string json = WithSpec(R"({"parts":["odd",null]})");
  const auto kept = Must(Decode<Widget>(json));
  Widget widget = kept;
  widget.spec->parts[0].unknown_fields.Set("new", Json("1"));
  widget.spec->parts[1].unknown_fields.Set("", Json("2"));
  EXPECT_EQ(Encode(widget), WithSpec(R"({"parts":[{"new":1},{"":2}]})"));
  EXPECT_EQ(widget, Must(Decode<Widget>(Encode(widget)))) << "equal on the wire";
  EXPECT_EQ(Hash(widget), Hash(Must(Decode<Widget>(Encode(widget)))));
  EXPECT_EQ(widget.spec->parts[0].unknown_fields.Erase("new"), 1u);
  EXPECT_EQ(widget.spec->parts[1].unknown_fields.Erase(""), 1u);
  EXPECT_EQ(widget, kept);
  EXPECT_EQ(Encode(widget), json);
  widget.spec->parts[0].name = "a";
  widget.spec->parts.pop_back();
  EXPECT_EQ(widget, Must(Decode<Widget>(WithSpec(R"({"parts":[{"name":"a"}]})"))));
  EXPECT_NE(kept, Must(Decode<Widget>(WithSpec(R"({"parts":["odd",{"":null}]})"))));
}

// Contract: design D6.
TEST_F(KeepTest, AnIntegerThatADoubleCannotHoldHasTheWrongTypeForOne) {
  for (const char* spec : {R"({"ratio":9007199254740993})", R"({"ratio":-9223372036854775807})",
                           R"({"ratio":4611686018427388000})", R"({"factors":[1,9007199254740993]})"}) {
    EXPECT_EQ(Back(spec), spec);
    EXPECT_EQ(MismatchesOf(WithSpec(spec)).size(), 1u) << spec;
  }
  // Exact ones are none, nor are those that a server holds as doubles itself.
  for (const char* spec :
       {R"({"ratio":9007199254740992})", R"({"ratio":-4611686018427387904})", R"({"ratio":1000000000000000000})",
        R"({"ratio":9007199254740993.0})", R"({"ratio":1e20})", R"({"ratio":123456789012345678901234567890})"}) {
    EXPECT_THAT(MismatchesOf(WithSpec(spec)), IsEmpty()) << spec;
  }
}

// Contract: generator COD-01.
TEST_F(KeepTest, TimesQuantitiesAndNumbersAreSentBackAsReceived) {
  for (const char* spec : {
           R"({"when":"2026-11-21T08:33:00+01:00"})",
           R"({"when":"2026-11-21T08:33:00.5Z"})",
           R"({"seen":"2026-11-21T08:33:00Z"})",
           R"({"when":"2026-11-21T08:33:00Z"})",
           R"({"amount":"0.50"})",
           R"({"amount":"1e3"})",
           R"({"timeout":"60m"})",
           R"({"port":8080})",
           R"({"port":"8080"})",
           R"({"anything":1.50})",
           R"({"large":9007199254740993})",
       }) {
    EXPECT_EQ(Back(spec), spec);
    EXPECT_THAT(MismatchesOf(WithSpec(spec)), IsEmpty()) << spec;
  }
}

TEST_F(KeepTest, AnEmptyMetadataIsSentBackEmpty) {
  EXPECT_EQ(Encode(Must(Decode<Widget>(R"({"metadata":{},"spec":{}})"))),
            R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","spec":{},"metadata":{}})");
  auto widget = Must(Decode<Widget>(R"({"metadata":{}})"));
  widget.metadata.name = "x";
  EXPECT_EQ(Encode(widget), R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"x"}})");
}

TEST_F(KeepTest, AnObjectWithoutATrustworthyNameIsRefused) {
  EXPECT_THAT(ErrorOf(R"({"metadata":{"name":5}})"),
              HasSubstr("metadata.name: expected a string, found number 5, at byte 20"));
  EXPECT_THAT(ErrorOf(R"({"metadata":{"namespace":[]}})"),
              HasSubstr("metadata.namespace: expected a string, found a list"));
  EXPECT_THAT(ErrorOf(R"({"metadata":"x"})"), HasSubstr("metadata: expected an object"));
  EXPECT_EQ(ErrorOf(R"({"metadata":{"uid":5,"labels":7}})"), "");
  EXPECT_EQ(ErrorOf(R"({"spec":{"templates":[{"metadata":{"name":5}}]}})"), "");
}

TEST_F(KeepTest, ManyMembersThatAreUnknownOrOfTheWrongTypeTakeLinearTime) {
  std::string spec = "{";
  for (int i = 0; i < 200000; ++i) spec += R"("u":1,"replicas":"x",)";
  spec += R"("replicas":7})";
  const auto widget = Must(Decode<Widget>(WithSpec(spec)));
  EXPECT_EQ(*widget.spec->replicas, 7);
  EXPECT_EQ(widget.spec->unknown_fields.size(), 200000u);
}

}  // namespace
}  // namespace kgen
