// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/markers.h"

#include <gtest/gtest.h>

#include <string>

namespace kgen::generator::crd {
namespace {

struct Outcome {
  std::optional<Marker> marker;
  std::string text;  // of the diagnostics
};

Outcome Parse(const std::string& line, MarkerPlace place = kOnMember) {
  Diagnostics diagnostics;
  const std::uint32_t file = diagnostics.AddFile("shop.h");
  Outcome out{ParseMarker({line, {.file = file, .line = 7, .column = 6}}, place, diagnostics), {}};
  out.text = diagnostics.Render();
  return out;
}

TEST(Markers, AreTheSameInKgensSpellingAndInKubebuilders) {
  for (const char* line : {"+kgen:minimum=1", "+kubebuilder:validation:Minimum=1", "+kgen:validation:Minimum=1"}) {
    const Outcome outcome = Parse(line);
    ASSERT_TRUE(outcome.marker) << line << outcome.text;
    EXPECT_EQ(outcome.marker->name, "minimum");
    EXPECT_EQ(outcome.marker->value, "1");
  }
  EXPECT_EQ(Parse("+kubebuilder:pruning:PreserveUnknownFields").marker->name, "preserveunknownfields");
  EXPECT_EQ(Parse("+structType=atomic").marker->name, "maptype");
  EXPECT_EQ(Parse("+kubebuilder:unservedversion", kOnStruct).marker->value, "false");
  EXPECT_EQ(Parse("+listType=map").marker->value, "map");
}

TEST(Markers, HaveArgumentsWithQuotesBackQuotesAndLists) {
  const Outcome rule =
      Parse(R"(+kubebuilder:validation:XValidation:rule="self.a > 1, or \"b\"",message=`a, "b"`)", kOnStruct);
  ASSERT_TRUE(rule.marker) << rule.text;
  EXPECT_EQ(rule.marker->Arg("rule"), "self.a > 1, or \"b\"");
  EXPECT_EQ(rule.marker->Arg("message"), "a, \"b\"");
  const Outcome resource = Parse("+kgen:resource:group=shop.example.com,version=v1,shortName=ord;o", kOnStruct);
  ASSERT_TRUE(resource.marker) << resource.text;
  EXPECT_EQ(resource.marker->list_args.at("shortName"), (std::vector<std::string>{"ord", "o"}));
  EXPECT_EQ(Parse("+kubebuilder:validation:Enum={a,\"b c\"}").marker->list, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(Parse("+kubebuilder:printcolumn:name=A,type=string,JSONPath=`.a[?(@.b==\"c\")].d`", kOnStruct)
                .marker->Arg("jsonPath"),
            ".a[?(@.b==\"c\")].d");
}

TEST(Markers, HaveDefaultsThatAreJsonOrWhatKubebuilderTakes) {
  EXPECT_EQ(Parse("+kgen:default=1").marker->value, "1");
  EXPECT_EQ(Parse("+kgen:default=Normal").marker->value, "\"Normal\"");
  EXPECT_EQ(Parse("+kgen:default=\"a b\"").marker->value, "\"a b\"");
  EXPECT_EQ(Parse("+kubebuilder:default={a,b}").marker->value, R"(["a","b"])");
  EXPECT_EQ(Parse("+kubebuilder:default={\"b\":1,\"a\":[true]}").marker->value, R"({"a":[true],"b":1})");
  EXPECT_EQ(Parse("+default={}").marker->value, "{}");
}

TEST(Markers, ThatAreUnknownAreErrorsWithAPositionAndASuggestion) {
  const Outcome outcome = Parse("+kgen:minimun=1");
  EXPECT_FALSE(outcome.marker);
  EXPECT_NE(outcome.text.find("shop.h:7:6: error: no marker is called \"+kgen:minimun\""), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("+kgen:minimum=1"), std::string::npos) << outcome.text;
  EXPECT_FALSE(Parse("+something=1").marker);
  EXPECT_NE(Parse("+kgen:printcolum:name=a", kOnStruct).text.find("+kgen:printcolumn:"), std::string::npos);
}

TEST(Markers, ThatAreMalformedSayWhatIsWrong) {
  const auto fault = [](const std::string& line, MarkerPlace place = kOnMember) { return Parse(line, place).text; };
  EXPECT_NE(fault("+kgen:minimum").find("needs a value"), std::string::npos);
  EXPECT_NE(fault("+kgen:minimum=few").find("not a number"), std::string::npos);
  EXPECT_NE(fault("+kgen:minLength=-1").find("not a number from 0 on"), std::string::npos);
  EXPECT_NE(fault("+kgen:pattern=\"^a").find("does not end"), std::string::npos);
  EXPECT_NE(fault("+kgen:pattern=`^a").find("does not end"), std::string::npos);
  EXPECT_NE(fault("+kgen:exclusiveMinimum=1").find("neither true nor false"), std::string::npos);
  EXPECT_NE(fault("+nullable=3").find("takes no value"), std::string::npos);
  EXPECT_NE(fault("+kgen:enum=a;;b").find("empty element"), std::string::npos);
  EXPECT_NE(fault("+kgen:default={\"a\":").find("neither JSON nor text"), std::string::npos);
  EXPECT_NE(fault("+kgen:printcolumn:name=a,type=string", kOnStruct).find("\"jsonPath\" is missing"),
            std::string::npos);
  EXPECT_NE(fault("+kgen:resource:grp=a", kOnStruct).find("no argument \"grp\""), std::string::npos);
  EXPECT_NE(fault("+kgen:resource:group=a,group=b", kOnStruct).find("given twice"), std::string::npos);
  EXPECT_NE(fault("+kgen:resource:group=a.b,version=v1, ", kOnStruct).find("ends with a comma"), std::string::npos);
  EXPECT_NE(fault("+kgen:resource:group=a").find("does not belong on a member"), std::string::npos);
}

TEST(Markers, ThatOnlyGoNeedsAreLeftOutWithoutAnError) {
  for (const char* line : {"+kubebuilder:object:root=true", "+genclient"}) {
    const Outcome outcome = Parse(line, kOnStruct);
    EXPECT_FALSE(outcome.marker);
    EXPECT_EQ(outcome.text, "");
  }
}

TEST(Markers, BeginWithAPlusAndALetter) {
  EXPECT_TRUE(IsMarker("  +optional"));
  EXPECT_FALSE(IsMarker("+ 3 days"));
  EXPECT_FALSE(IsMarker("+1"));
  EXPECT_FALSE(IsMarker("a + b"));
}

}  // namespace
}  // namespace kgen::generator::crd
