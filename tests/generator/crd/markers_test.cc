// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/markers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/paths.h"

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
  EXPECT_TRUE(Parse("+kgen:resource:group=a.b,version=v1,group=a.b", kOnStruct).marker) << "as real projects write it";
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

TEST(Markers, HaveCompositeDefaultsInTheSpellingOfControllerGen) {
  EXPECT_EQ(Parse("+kubebuilder:default={{path:{type: \"X\", value: /}}}").marker->value,
            R"([{"path":{"type":"X","value":"/"}}])");
  EXPECT_EQ(Parse("+kubebuilder:default={a:b}").marker->value, R"({"a":"b"})") << "not the list of a:b";
  EXPECT_EQ(Parse("+kubebuilder:default={a: true, b: {1,-2.5}, c: `x,y`, d: {}}").marker->value,
            R"({"a":true,"b":[1,-2.5],"c":"x,y","d":{}})");
  EXPECT_EQ(Parse("+kubebuilder:default={{group: \"g\", kind: K},{kind: L}}").marker->value,
            R"([{"group":"g","kind":"K"},{"kind":"L"}])");
  EXPECT_EQ(Parse("+kubebuilder:default={a:http://x.example.com}").marker->value, R"({"a":"http://x.example.com"})");
  EXPECT_EQ(Parse("+kgen:default=0x10").marker->value, "\"0x10\"") << "JSON has no such number";
  for (const char* line : {"+default={a:1,a:2}", "+default={a:}", "+default={a:1", "+default={a b: {c}", "+default={,}",
                           "+default={\"a\":1} x", "+default=[1 2}", "+default={a,b:1}]"})
    EXPECT_NE(Parse(line).text.find("neither JSON nor text"), std::string::npos) << line << Parse(line).text;
}

TEST(Markers, AreReadAsRealProjectsWriteThem) {
  EXPECT_EQ(Parse("+kubebuilder:validation:MaxLength:=253").marker->value, "253");
  EXPECT_EQ(Parse("+kubebuilder:default:=\"a\"").marker->value, "\"a\"");
  EXPECT_EQ(Parse("+kubebuilder:validation:Enum:=a;b;").marker->list, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Parse("+k8s:maxItems=3").marker->name, "maxitems");
  EXPECT_EQ(Parse("+k8s:eachVal=+k8s:maxLength=3").marker->steps, (std::vector<Step>{Step::kEach}));
  EXPECT_EQ(Parse("+k8s:immutable").marker->name, "immutable");
  EXPECT_EQ(Parse("+kubebuilder:validation:items:items:MaxLength=3").marker->steps,
            (std::vector<Step>{Step::kItems, Step::kItems}));
  EXPECT_EQ(Parse("+kgen:values:items:maxLength=3").marker->steps, (std::vector<Step>{Step::kValues, Step::kItems}));
  EXPECT_EQ(Parse("+kgen:name=\"\"", kOnEnumValue).marker->value, "");
  EXPECT_EQ(Parse("+groupName=shop.example.com", kOnNamespace).marker->value, "shop.example.com");
  for (const char* line : {"+enum", "+k8s:enum", "+k8s:deepcopy-gen=true", "+k8s:deepcopy-gen:interfaces=a.B",
                           "+genclient:nonNamespaced", "+patchMergeKey=name", "+protobuf.x=1"}) {
    const Outcome outcome = Parse(line, kOnEnum);
    EXPECT_FALSE(outcome.marker) << line;
    EXPECT_EQ(outcome.text.empty(), !std::string_view(line).contains("protobuf.x")) << line << outcome.text;
  }
}

TEST(Markers, OfTheMemberItselfAreErrorsOnItsElements) {
  for (const char* line : {"+kgen:items:required", "+kgen:items:inline", "+kgen:values:name=a", "+kgen:items:optional"})
    EXPECT_NE(Parse(line).text.find("does not belong on elements"), std::string::npos) << line;
}

TEST(Markers, ThatAreUnknownAreErrorsWithAPositionAndASuggestion) {
  const Outcome outcome = Parse("+kgen:minimun=1");
  EXPECT_FALSE(outcome.marker);
  EXPECT_NE(outcome.text.find("shop.h:7:6: error: no marker is called \"+kgen:minimun\""), std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("+kgen:minimum=1"), std::string::npos) << outcome.text;
  EXPECT_FALSE(Parse("+something=1").marker);
  for (const char* line : {"+kubebuilder:validaton:Minimum=1", "+kubebuider:validation:Minimum=1", "+kgn:minimum=1",
                           "+kgen:item:Minimun=1", "+validation:minimun"})
    EXPECT_NE(Parse(line).text.find("did you mean, as an example, +kgen:minimum=1?"), std::string::npos)
        << Parse(line).text;
  EXPECT_NE(Parse("+Requierd").text.find("+required?"), std::string::npos);
  EXPECT_NE(Parse("+kgen:printcolum:name=a", kOnStruct).text.find("+kgen:printcolumn:"), std::string::npos);
}

TEST(Markers, ThatAreMalformedSayWhatIsWrong) {
  const auto fault = [](const std::string& line, MarkerPlace place = kOnMember) { return Parse(line, place).text; };
  EXPECT_NE(fault("+kgen:minimum").find("needs a value"), std::string::npos);
  EXPECT_NE(fault("+kgen:minimum=few").find("not a number"), std::string::npos);
  EXPECT_NE(fault("+kgen:minLength=-1").find("not a number from 0 on"), std::string::npos);
  EXPECT_NE(fault("+kgen:pattern=\"^a").find("does not end"), std::string::npos);
  EXPECT_NE(fault("+kgen:pattern=`^a").find("does not end"), std::string::npos);
  EXPECT_NE(fault("+kgen:pattern=`^(a$`").find("a parenthesis ( is not closed"), std::string::npos);
  EXPECT_NE(fault("+kgen:items:pattern=`a{3,1}`").find("the least is above the most"), std::string::npos);
  EXPECT_NE(fault("+kgen:exclusiveMinimum=1").find("neither true nor false"), std::string::npos);
  EXPECT_NE(fault("+nullable=3").find("takes no value"), std::string::npos);
  EXPECT_NE(fault("+kgen:enum=a;;b").find("empty element"), std::string::npos);
  EXPECT_NE(fault("+kgen:default={\"a\":").find("neither JSON nor text"), std::string::npos);
  EXPECT_NE(fault("+kgen:printcolumn:name=a,type=string", kOnStruct).find("\"jsonPath\" is missing"),
            std::string::npos);
  EXPECT_NE(fault("+kgen:XValidation:rule=\"\"").find("\"rule\" is empty"), std::string::npos);
  EXPECT_NE(fault("+kgen:resource:grp=a", kOnStruct).find("no argument \"grp\""), std::string::npos);
  EXPECT_NE(fault("+kgen:resource:group=a,group=b", kOnStruct).find("given twice, as \"a\" and as \"b\""),
            std::string::npos);
  EXPECT_NE(fault("+kgen:resource:group=a.b,version=v1, ", kOnStruct).find("ends with a comma"), std::string::npos);
  EXPECT_NE(fault("+kgen:resource:group=a").find("does not belong on a member"), std::string::npos);
}

// Each marker once as it should be, and once with what is wrong about it.
struct Case {
  std::string_view name;  // as in docs/cpp-first.md
  MarkerPlace place;
  const char *good, *bad, *fault;
};
constexpr Case kCases[] = {
    {"resource", kOnStruct,
     "+kgen:resource:group=shop.example.com,version=v1,path=orders,singular=order,shortName=a;b,"
     "categories=all,scope=Cluster",
     "+kgen:resource:kind=Order", "no argument \"kind\""},
    {"subresource:status", kOnStruct, "+kgen:subresource:status", "+kgen:subresource:status=x", "takes no value"},
    {"subresource:scale", kOnStruct, "+kgen:subresource:scale:specpath=.a,statuspath=.b,selectorpath=.c",
     "+kgen:subresource:scale:specpath=.a", "\"statuspath\" is missing"},
    {"printcolumn", kOnStruct,
     "+kgen:printcolumn:name=Age,type=date,jsonPath=.a,description=\"How old, in days.\",format=int32,priority=1",
     "+kgen:printcolumn:type=date,jsonPath=.a", "\"name\" is missing"},
    {"selectablefield", kOnStruct, "+kgen:selectablefield:jsonPath=.spec.item", "+kgen:selectablefield",
     "\"jsonPath\" is missing"},
    {"storage", kOnStruct, "+kgen:storage", "+kgen:storage=v1", "takes no value"},
    {"served", kOnStruct, "+kgen:served=false", "+kgen:served=no", "neither true nor false"},
    {"deprecated", kOnStruct, "+kgen:deprecated:warning=\"use v2\"", "+kgen:deprecated:since=v1", "no argument"},
    {"metadata", kOnStruct, "+kgen:metadata:labels=\"team=shop\",annotations=\"a=b\"", "+kgen:metadata:labels",
     "has no value"},
    {"rbac", kOnStruct, "+kgen:rbac:groups=apps,resources=deployments,verbs=get;list,resourceNames=a,urls=/metrics",
     "+kgen:rbac:groups=apps", "\"verbs\" is missing"},
    {"webhook", kOnStruct,
     "+kgen:webhook:path=/a,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,"
     "verbs=create;update,versions=v1,name=a.example.com,admissionReviewVersions=v1",
     "+kgen:webhook:path=/a,mutating=false", "\"name\" is missing"},
    {"webhookconfiguration", kOnStruct, "+kgen:webhookconfiguration:mutating=true,name=shop",
     "+kgen:webhookconfiguration:name=shop", "\"mutating\" is missing"},
    {"hub", kOnStruct, "+kgen:hub", "+kgen:hub=v1", "takes no value"},
    {"required", kOnMember, "+required", "+required=yes", "takes no value"},
    {"optional", kOnMember, "+optional", "+optional:a", "takes no value"},
    {"nullable", kOnMember, "+nullable", "+nullable=3", "takes no value"},
    {"name", kOnMember, "+kgen:name=field", "+kgen:name=", "its value is empty"},
    {"inline", kOnMember, "+kgen:inline", "+kgen:inline=1", "takes no value"},
    {"minimum", kOnMember, "+kgen:minimum=-1.5", "+kgen:minimum=0x10", "not a number"},
    {"maximum", kOnMember, "+kgen:maximum=10", "+kgen:maximum=1e999", "not a number"},
    {"exclusiveMinimum", kOnMember, "+kgen:exclusiveMinimum=true", "+kgen:exclusiveMinimum=1",
     "neither true nor false"},
    {"exclusiveMaximum", kOnMember, "+kgen:exclusiveMaximum", "+kgen:exclusiveMaximum=", "neither true nor false"},
    {"multipleOf", kOnMember, "+kgen:multipleOf=5", "+kgen:multipleOf", "needs a value"},
    {"minLength", kOnMember, "+kgen:minLength=0", "+kgen:minLength=-1", "not a number from 0 on"},
    {"maxLength", kOnMember, "+kgen:maxLength=63", "+kgen:maxLength=99999999999999999999", "not a number from 0 on"},
    {"pattern", kOnMember, "+kgen:pattern=`^[a-z]+$`", "+kgen:pattern=`^[a-z]+$", "does not end"},
    {"format", kOnMember, "+kgen:format=email", "+kgen:format=", "its value is empty"},
    {"enum", kOnMember, "+kgen:enum=Low;High", "+kgen:enum=Low;;High", "empty element"},
    {"minItems", kOnMember, "+kgen:minItems=1", "+kgen:minItems=one", "not a number from 0 on"},
    {"maxItems", kOnMember, "+kgen:maxItems=1", "+kgen:maxItems=1.5", "not a number from 0 on"},
    {"listType", kOnMember, "+listType=map", "+listType", "needs a value"},
    {"listMapKey", kOnMember, "+listMapKey=name", "+listMapKey=\"name", "does not end"},
    {"immutable", kOnMember, "+kgen:immutable", "+kgen:immutable=no", "takes no value"},
    {"exactlyOneOf", kOnStruct, "+kgen:exactlyOneOf=a;b", "+kgen:exactlyOneOf=", "empty element"},
    {"atMostOneOf", kOnStruct, "+kgen:atMostOneOf=a;b", "+kgen:atMostOneOf", "needs a value"},
    {"atLeastOneOf", kOnStruct, "+kgen:atLeastOneOf=a;b", "+kgen:atLeastOneOf=a;;b", "empty element"},
    {"schema", kOnMember, "+kgen:schema={type: object}", "+kgen:schema={type", "neither JSON nor text"},
    {"values:", kOnMember, "+kgen:values:maxLength=3", "+kgen:values:maxLength=", "not a number from 0 on"},
    {"groupName", kOnNamespace, "+groupName=shop.example.com", "+groupName", "needs a value"},
    {"versionName", kOnNamespace, "+versionName=v1", "+versionName=", "its value is empty"},
    {"items:", kOnMember, "+kgen:items:maxLength=3", "+kgen:items:maxLength=", "not a number from 0 on"},
    {"minProperties", kOnMember, "+kgen:minProperties=1", "+kgen:minProperties= -1", "not a number from 0 on"},
    {"maxProperties", kOnMember, "+kgen:maxProperties=1", "+kgen:maxProperties=1x", "not a number from 0 on"},
    {"mapType", kOnMember, "+mapType=atomic", "+mapType=", "its value is empty"},
    {"preserveUnknownFields", kOnMember, "+kgen:preserveUnknownFields", "+kgen:preserveUnknownFields=1",
     "takes no value"},
    {"embeddedResource", kOnMember, "+kgen:embeddedResource", "+kgen:embeddedResource=1", "takes no value"},
    {"default", kOnMember, "+kgen:default={\"a\":[1,null]}", "+kgen:default={\"a\":", "neither JSON nor text"},
    {"default", kOnMember, "+kgen:default=\"null\"", "+kgen:default=null", "null says the same as no value"},
    {"XValidation", kOnMember,
     "+kgen:XValidation:rule=\"self > 1\",message=\"m\",messageExpression=\"'m'\",reason=FieldValueInvalid,"
     "fieldPath=.a,optionalOldSelf=true",
     "+kgen:XValidation:message=\"m\"", "\"rule\" is missing"},
};

TEST(Markers, AreReadOrRefusedWithTheReason) {
  for (const Case& row : kCases) {
    const Outcome good = Parse(row.good, row.place);
    EXPECT_TRUE(good.marker) << row.good;
    EXPECT_EQ(good.text, "");
    const Outcome bad = Parse(row.bad, row.place);
    EXPECT_FALSE(bad.marker) << row.bad;
    EXPECT_NE(bad.text.find(row.fault), std::string::npos) << row.bad << "\n" << bad.text;
    EXPECT_TRUE(bad.text.starts_with("shop.h:7:6: error: ")) << bad.text;
    EXPECT_NE(bad.text.find("    hint: "), std::string::npos) << bad.text;
  }
}

TEST(Markers, AreRefusedWhereTheyDoNotBelong) {
  for (const Case& row : kCases) {
    const MarkerPlace wrong = row.place == kOnStruct ? kOnMember : kOnEnumValue;
    if (row.name == "name" || IsOfTheProgram(row.name)) continue;  // on values of an enum too
    const Outcome outcome = Parse(row.good, wrong);
    EXPECT_FALSE(outcome.marker) << row.good;
    EXPECT_NE(outcome.text.find("does not belong on"), std::string::npos) << row.good << "\n" << outcome.text;
  }
}

// The names in the table of docs/cpp-first.md, with what follows them.
std::vector<std::string> Documented() {
  std::ifstream file(test_support::SourcePath("docs/cpp-first.md"));
  std::vector<std::string> out;
  bool table = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "| marker | on |") table = true;
    if (line.empty()) table = false;
    if (!table) continue;
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const std::size_t end = cell.find('`', at + 1);
      out.push_back(cell.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return out;
}

TEST(Markers, OfTheDocumentationAllHaveACaseHere) {
  const std::vector<std::string> documented = Documented();
  EXPECT_GE(documented.size(), 30u);
  for (const std::string& text : documented) {
    EXPECT_TRUE(std::any_of(std::begin(kCases), std::end(kCases), [&](const Case& row) {
      return text == row.name || text.starts_with(std::string(row.name) + "=") ||
             text.starts_with(std::string(row.name) + ":");
    })) << text;
  }
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

TEST(Markers, ThatAreNotUtf8AreErrors) {
  const Outcome outcome = Parse("+kgen:default=\"\xff\"");
  EXPECT_FALSE(outcome.marker);
  EXPECT_NE(outcome.text.find("shop.h:7"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("not UTF-8"), std::string::npos) << outcome.text;
  EXPECT_TRUE(Parse("+kgen:default=\"\u00e9\"").marker) << outcome.text;
}

}  // namespace
}  // namespace kgen::generator::crd
