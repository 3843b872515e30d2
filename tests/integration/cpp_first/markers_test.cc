// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What each marker of api/gadget_v1.h makes a real kube-apiserver do: for each of them an object that it accepts, and
// one that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/integration/cpp_first/cluster.h"

namespace kgen::integration {
namespace {

using ::testing::HasSubstr;

class MarkersTest : public GadgetTest {};

// The members belong to a spec. `fault` is part of the refusal.
struct Case {
  const char *name, *accepted, *refused, *fault;
};

constexpr Case kCases[] = {
    {"minimum", R"("numbers":{"minimum":3})", R"("numbers":{"minimum":2})", "greater than or equal to 3"},
    {"maximum", R"("numbers":{"maximum":5})", R"("numbers":{"maximum":6})", "less than or equal to 5"},
    {"exclusive-minimum", R"("numbers":{"exclusiveMinimum":0.5})", R"("numbers":{"exclusiveMinimum":0})",
     "greater than 0"},
    {"exclusive-maximum", R"("numbers":{"exclusiveMaximum":0.5})", R"("numbers":{"exclusiveMaximum":1})",
     "less than 1"},
    {"multiple-of", R"("numbers":{"multipleOf":10})", R"("numbers":{"multipleOf":11})", "multiple of 5"},
    {"enum-of-numbers", R"("numbers":{"enumerated":2})", R"("numbers":{"enumerated":4})",
     R"(supported values: "1", "2", "3")"},
    {"min-length", R"("texts":{"minLength":"ab"})", R"("texts":{"minLength":"a"})", "at least 2 chars long"},
    {"max-length", R"("texts":{"maxLength":"abcd"})", R"("texts":{"maxLength":"abcde"})", "may not be more than 4"},
    {"pattern", R"("texts":{"pattern":"abc"})", R"("texts":{"pattern":"ABC"})", "should match '^[a-z]+$'"},
    {"format", R"("texts":{"format":"a@example.com"})", R"("texts":{"format":"nobody"})", "must be of type email"},
    {"enum-of-texts", R"("texts":{"enumerated":"low"})", R"("texts":{"enumerated":"middle"})",
     R"(supported values: "low", "high")"},
    {"enum-class", R"("texts":{"size":"XL"})", R"("texts":{"size":"Huge"})",
     R"(supported values: "Small", "Big", "XL")"},
    {"nullable-enum", R"("texts":{"nullableSize":null})", R"("texts":{"nullableSize":"Huge"})",
     R"(supported values: "Small", "Big", "XL")"},
    {"min-items", R"("lists":{"minItems":["a"]})", R"("lists":{"minItems":[]})", "at least 1 items"},
    {"max-items", R"("lists":{"maxItems":[1,2]})", R"("lists":{"maxItems":[1,2,3]})", "must have at most 2 items"},
    {"items-pattern", R"("lists":{"items":["abc"]})", R"("lists":{"items":["ABC"]})", "should match '^[a-z]+$'"},
    {"items-length", R"("lists":{"items":["abcdefgh"]})", R"("lists":{"items":["abcdefghi"]})",
     "may not be more than 8"},
    {"list-set", R"("lists":{"set":["a","b"]})", R"("lists":{"set":["a","a"]})", "Duplicate value: \"a\""},
    {"list-map", R"("lists":{"parts":[{"name":"a"},{"name":"b"}]})", R"("lists":{"parts":[{"name":"a"},{"name":"a"}]})",
     R"(Duplicate value: {"name":"a"})"},
    {"required", R"("lists":{"parts":[{"name":"a"}]})", R"("lists":{"parts":[{"count":1}]})",
     "spec.lists.parts[0].name: Required value"},
    {"min-properties", R"("objects":{"minProperties":{"a":"b"}})", R"("objects":{"minProperties":{}})",
     "should have at least 1 properties"},
    {"max-properties", R"("objects":{"maxProperties":{"a":{"name":"x"}}})",
     R"("objects":{"maxProperties":{"a":{"name":"x"},"b":{"name":"y"}}})", "must have at most 1 item"},
    {"struct-in-a-map", R"("objects":{"maxProperties":{"a":{"name":"x"}}})", R"("objects":{"maxProperties":{"a":{}}})",
     "spec.objects.maxProperties.a.name: Required value"},
    {"embedded-resource", R"("objects":{"embedded":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}})",
     R"("objects":{"embedded":{"metadata":{"name":"p"}}})", "spec.objects.embedded.apiVersion: Required value"},
    {"rule", R"("rules":{"low":1,"high":2})", R"("rules":{"low":3,"high":2})",
     "spec.rules.low: Forbidden: low is above high"},
    {"message-expression", R"("rules":{"even":4})", R"("rules":{"even":-5})", "it is odd and negative"},
    {"date-time", R"("types":{"microTime":"2026-11-22T10:00:00.123456Z"})", R"("types":{"any":1,"bytes":"?"})",
     "must be of type byte"},
    {"quantity", R"("types":{"quantity":"100m"})", R"("types":{"quantity":"1 kg"})", "should match"},
    {"duration", R"("types":{"duration":"1h30m0.5s"})", R"("types":{"duration":"soon"})", "must be of type duration"},
};

TEST_F(MarkersTest, EachMarkerAcceptsAndRefusesWhatItSays) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    const auto accepted = gadgets_->Create(Make(one.name, one.accepted));
    EXPECT_TRUE(accepted.has_value()) << accepted.error();
    const auto refused = gadgets_->Create(Make(std::string(one.name) + "-refused", one.refused));
    ASSERT_FALSE(refused.has_value()) << Encode(*refused);
    EXPECT_EQ(refused.error().code(), Code::kInvalid);
    EXPECT_THAT(refused.error().ToString(), HasSubstr(one.fault));
  }
}

TEST_F(MarkersTest, AKindNeedsItsRequiredMembers) {
  EXPECT_THAT(gadgets_->Create({.metadata = {.name = "bare"}}).error().ToString(), HasSubstr("spec: Required value"));
  const auto colorless = gadgets_->Create(Must(Decode<Gadget>(R"({"metadata":{"name":"bare"},"spec":{}})")));
  EXPECT_THAT(colorless.error().ToString(), HasSubstr("spec.color: Required value"));
}

TEST_F(MarkersTest, TransitionRulesCompareWithTheOldObject) {
  Gadget gadget = Must(gadgets_->Create(Make("moving", R"("rules":{"immutable":"a","growing":2})")));
  gadget.spec->rules->immutable = "b";
  EXPECT_THAT(gadgets_->Update(gadget).error().ToString(), HasSubstr("it cannot change"));
  gadget.spec->rules->immutable = "a";
  gadget.spec->rules->growing = 1;
  EXPECT_THAT(gadgets_->Update(gadget).error().ToString(), HasSubstr("it cannot shrink"));
  gadget.spec->rules->growing = 3;
  EXPECT_TRUE(gadgets_->Update(gadget).has_value());
}

TEST_F(MarkersTest, ANullableMemberKeepsNullAndAnotherLosesIt) {
  Must(gadgets_->Create(Make("null", R"("texts":{"nullable":null,"nullableSize":null,"pattern":null})")));
  EXPECT_THAT(Raw("null"), HasSubstr(R"("texts":{"nullable":null,"nullableSize":null})"));
}

TEST_F(MarkersTest, UnknownMembersStayWhereTheMarkerSaysSoAndArePrunedElsewhere) {
  const Gadget stored = Must(gadgets_->Create(Make("unknown", R"("strange":1,"objects":{
      "open":{"known":"a","strange":{"deep":[1]}},"point":{"x":1,"strange":2},
      "any":{"a":[1,{"b":null}]},
      "embedded":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","strange":1},"spec":{"strange":1}}})")));
  const std::string raw = Raw("unknown");
  EXPECT_THAT(raw, HasSubstr(R"("open":{"known":"a","strange":{"deep":[1]}})"));
  EXPECT_THAT(raw, HasSubstr(R"("point":{"x":1})"));
  EXPECT_THAT(raw, HasSubstr(R"("any":{"a":[1,{"b":null}]})"));
  EXPECT_THAT(raw, HasSubstr(R"("spec":{"strange":1})"));
  EXPECT_THAT(raw, HasSubstr(R"("metadata":{"name":"p"})")) << "that of an embedded object is checked";
  EXPECT_EQ(CanonicalJson(Encode(stored)), CanonicalJson(raw));
  const std::vector<std::string> warned = warnings_->Take();
  EXPECT_THAT(warned, ::testing::Contains(HasSubstr("unknown field \"spec.strange\"")));
}

TEST_F(MarkersTest, TheServerSetsTheDefaults) {
  const Gadget gadget = Must(gadgets_->Create(Make("plain", R"("lists":{"parts":[{"name":"a"}]})")));
  EXPECT_EQ(gadget.spec->replicas, 1);
  EXPECT_EQ(gadget.spec->lists->parts[0].count, 1);
  EXPECT_EQ(gadget.spec->defaults->text, "plain");
  EXPECT_EQ(gadget.spec->defaults->number, 7);
  EXPECT_EQ(gadget.spec->defaults->flag, true);
  EXPECT_EQ(gadget.spec->defaults->list, (List<String>{"a", "b"}));
  EXPECT_EQ(gadget.spec->defaults->point->x, 1);
  EXPECT_EQ(gadget.spec->defaults->size, parts::gadgets::v1::Size::kBig);
}

}  // namespace
}  // namespace kgen::integration
