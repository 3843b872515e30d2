// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kgen/core/object_meta.h"

namespace kgen {
namespace {

using ::testing::HasSubstr;

std::string Canonical(std::string_view text) {
  Result<Selector> selector = Selector::Parse(text);
  return selector ? selector->str() : "error: " + selector.error().message();
}

bool Matches(std::string_view text, const Map<String>& labels) { return Must(Selector::Parse(text)).Matches(labels); }

// Contract: client SEL-5.
TEST(Selector, PrintsTheCanonicalText) {
  EXPECT_EQ(Canonical(""), "");
  EXPECT_EQ(Canonical(" \t\r\n"), "");
  EXPECT_EQ(Canonical("x=a,y=b,z=c"), "x=a,y=b,z=c");
  EXPECT_EQ(Canonical("z in (c, a ,b), a , !b"), "a,!b,z in (a,b,c)");
  EXPECT_EQ(Canonical("x==a"), "x==a");
  EXPECT_EQ(Canonical("x != a"), "x!=a");
  EXPECT_EQ(Canonical("x>1,y<-2"), "x>1,y<-2");
  EXPECT_EQ(Canonical("a.b/c notin (q,q,p)"), "a.b/c notin (p,q)");
  EXPECT_EQ(Canonical("! x"), "!x");
}

// Contract: client SEL-5.
TEST(Selector, ReadsItsOwnTextAgain) {
  for (const std::string_view text : {"",           "a",        "!a",           "a=b",
                                      "a==b",       "a!=b",     "a=",           "a!=",
                                      "a in (b,c)", "a in ()",  "a in (,b)",    "a notin (b)",
                                      "a>1",        "a<1",      "in in (in)",   "notin notin (notin)",
                                      "in",         "in=notin", "a=b,a=c,a,!a", "k8s.io/app_x.y-z=V_1.2-3",
                                      "z,y,x"}) {
    const std::string once = Canonical(text);
    EXPECT_EQ(Canonical(once), once) << text;
    EXPECT_THAT(once, ::testing::Not(HasSubstr("error"))) << text;
  }
}

// Contract: client SEL-2.
TEST(Selector, AllowsEmptyValues) {
  EXPECT_TRUE(Matches("a=", {{"a", ""}}));
  EXPECT_FALSE(Matches("a=", {{"a", "b"}}));
  EXPECT_TRUE(Matches("a in ()", {{"a", ""}}));
  EXPECT_TRUE(Matches("a in (b,,c)", {{"a", ""}}));
  EXPECT_TRUE(Matches("a=,b", {{"a", ""}, {"b", "x"}}));
}

// Contract: client SEL-2.
TEST(Selector, ReadsInAndNotinAsKeysOrValuesByTheirPosition) {
  EXPECT_TRUE(Matches("in in (in, notin)", {{"in", "notin"}}));
  EXPECT_TRUE(Matches("notin=in", {{"notin", "in"}}));
  EXPECT_TRUE(Matches("in,notin", {{"in", "1"}, {"notin", "2"}}));
}

// Contract: client SEL-1.
TEST(Selector, RefusesWithThePositionAndTheExpectedToken) {
  for (const std::string_view bad :
       {"a,", ",a",  "a,,b",  "a=b=c", "a in",  "a in b", "a in (b", "a in (b c)", "a in b)", "!a=b", "!",
        "=a", "a b", "a ! b", "(a)",   "a=(b)", "a!b",    "a===b",   "a>",         "a>x",     "a<1.5"}) {
    const Result<Selector> selector = Selector::Parse(bad);
    ASSERT_FALSE(selector.has_value()) << bad << " gave " << selector->str();
    EXPECT_EQ(selector.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(selector.error().message(), HasSubstr("character ")) << bad;
  }
  EXPECT_THAT(Selector::Parse("app=web,").error().message(), HasSubstr("character 9: expected another term"));
}

// Contract: client SEL-3.
TEST(Selector, RefusesInvalidLabelKeysAndValues) {
  const std::string name63(63, 'a');
  EXPECT_TRUE(Selector::Parse(name63).has_value());
  EXPECT_FALSE(Selector::Parse(name63 + "a").has_value());
  EXPECT_TRUE(Selector::Parse("x=" + name63).has_value());
  EXPECT_FALSE(Selector::Parse("x=" + name63 + "a").has_value());
  EXPECT_TRUE(Selector::Parse("a.example.com/x").has_value());
  for (const std::string_view bad :
       {"-a", "a-", "a/b/c", "A.b/c", "/a", "a/", "a..b/c", "caf\u00e9", "a=-b", "a=b-", "a=b/c", "a in (b/c)"}) {
    EXPECT_FALSE(Selector::Parse(bad).has_value()) << bad;
  }
}

// Contract: client SEL-4.
TEST(Selector, MatchesAsServersDo) {
  const Map<String> labels = {{"app", "web"}, {"tier", "gold"}, {"n", "5"}};
  for (const std::string_view yes : {"", "app=web", "app==web", "app", "!none", "app!=db", "none!=x", "none notin (a)",
                                     "app in (db,web)", "app notin (db)", "n>4", "n<6", "app=web,tier=gold,n>4"}) {
    EXPECT_TRUE(Matches(yes, labels)) << yes;
  }
  for (const std::string_view no : {"app=db", "!app", "none", "none=", "none in (a,)", "app!=web", "app notin (web,db)",
                                    "n>5", "n<5", "app>1", "none<1", "app=web,tier=silver"}) {
    EXPECT_FALSE(Matches(no, labels)) << no;
  }
}

// Contract: client SEL-8.
TEST(Selector, DistinguishesEverythingAndNothingThoughBothPrintAsEmpty) {
  EXPECT_TRUE(Selector::Everything().Matches({}));
  EXPECT_FALSE(Selector::Nothing().Matches({{"a", "b"}}));
  EXPECT_TRUE(Selector::Everything().is_everything());
  EXPECT_FALSE(Selector::Nothing().is_everything());
  EXPECT_TRUE(Selector::Nothing().is_nothing());
  EXPECT_EQ(Selector::Everything().str(), "");
  EXPECT_EQ(Selector::Nothing().str(), "");
}

// Contract: client SEL-7.
TEST(Selector, SelectsNothingForAnAbsentLabelSelectorAndEverythingForAnEmptyOne) {
  struct Spec {
    Optional<meta::v1::LabelSelector> selector = kAbsent;
  } spec;
  EXPECT_TRUE(Must(Selector::From(spec.selector)).is_nothing());
  EXPECT_TRUE(spec.selector->matchLabels.empty()) << "looked at";
  EXPECT_TRUE(Must(Selector::From(spec.selector)).is_nothing());
  spec.selector = {};
  EXPECT_TRUE(Must(Selector::From(spec.selector)).is_everything());
}

// Contract: client SEL-7.
TEST(Selector, TakesMatchLabelsAndMatchExpressions) {
  meta::v1::LabelSelector from;
  from.matchLabels = {{"app", "web"}};
  from.matchExpressions = {{.key = "tier", .operator_ = "In", .values = {"b", "a"}},
                           {.key = "x", .operator_ = "NotIn", .values = {"y"}},
                           {.key = "has", .operator_ = "Exists"},
                           {.key = "not", .operator_ = "DoesNotExist"}};
  EXPECT_EQ(Must(Selector::From(from)).str(), "app=web,has,!not,tier in (a,b),x notin (y)");
}

// Contract: client SEL-6.
TEST(Selector, RefusesAnInvalidLabelSelector) {
  const auto from = [](meta::v1::LabelSelectorRequirement requirement) {
    meta::v1::LabelSelector selector;
    selector.matchExpressions = {std::move(requirement)};
    return Selector::From(selector);
  };
  EXPECT_THAT(from({.key = "a", .operator_ = "Gt", .values = {"1"}}).error().message(),
              HasSubstr("\"Gt\" is not an operator"));
  EXPECT_FALSE(from({.key = "a", .operator_ = "In"}).has_value());
  EXPECT_FALSE(from({.key = "a", .operator_ = "NotIn"}).has_value());
  EXPECT_FALSE(from({.key = "a", .operator_ = "Exists", .values = {"x"}}).has_value());
  EXPECT_FALSE(from({.key = "", .operator_ = "Exists"}).has_value());
}

}  // namespace
}  // namespace kgen
