// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Each pattern here is accepted or refused by Go's package regexp too.
#include "generator/crd/pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kgen::generator::crd {
namespace {

constexpr std::string_view kGood[] = {
    // Operators.
    "", "^[a-z]+$", "a*?b+?c??", "a|b|", "|a", "()", "(|a)*", "^*$+", "(a)(b(c))*", "(?:a)+", ".{2}.{2,}.{2,5}?.{0}",
    "a{1000}", "(a*)*", "a*(b)*", "\u00e9+",
    // Braces that are characters.
    "{", "a{", "{2", "a{,2}", "a{x}", "a{02}", "a{2,3,4}", "a{2,03}", "a{}", "}", "]",
    // Groups.
    "(?P<name_1>a)", "(?<name>a)", "(?i)a", "(?i-s:a)", "(?-U)a", "(?)a", "a(?i)*", "a*(?i)*", "(?ims-U:)",
    // Escapes.
    R"(\.\*\-\/\_\"\ )", R"(\a\f\n\r\t\v)", R"(\d\D\s\S\w\W\A\b\B\z)", R"(\0\07\12\377)", R"(\x7F\x{7}\x{10FFFF})",
    R"(\pL\PN\p{Greek}\p{^Greek})", R"(\Qa(b*\E+)", R"(\Qa(b)", R"(a\Q\E*)",
    // Brackets.
    "[]]", "[^]a]", "[]-a]", "[a-]", "[-a]", "[a-z-9]", "[a-a]", "[*+?(){}|^$]", R"([\d-z\pL\]\n-\r])",
    R"([\x00-\x1F])", "[[:alpha:][:^digit:]]", "[[:alpha]", "[[a]", "[[:a]", "[\u00e0-\u00ff]"};

struct Bad {
  std::string_view pattern;
  const char* fault;
};

constexpr Bad kBad[] = {
    {"(a", "a parenthesis ( is not closed"},
    {"(?i:a", "a parenthesis ( is not closed"},
    {"a)", "a parenthesis ) closes nothing"},
    {"(a))b(", "a parenthesis ) closes nothing"},
    {"[a", "a bracket [ is not closed"},
    {"[]", "a bracket [ is not closed"},
    {"[^]", "a bracket [ is not closed"},
    {"[a-", "a bracket [ is not closed"},
    {"[[:alpha:]", "a bracket [ is not closed"},
    {"*a", "there is nothing before \"*\" to repeat; write \\* for the character"},
    {"a|+", "there is nothing before \"+\" to repeat"},
    {"(?i)*", "there is nothing before \"*\" to repeat"},
    {"(?:?)", "there is nothing before \"?\" to repeat"},
    {"({2})", "there is nothing before \"{2}\" to repeat"},
    {R"(\Q\E*)", "there is nothing before \"*\" to repeat"},
    {"a**", "the repetition \"*\" follows another one"},
    {"a++", "the repetition \"+\" follows another one"},
    {"a{2}{3}", "the repetition \"{3}\" follows another one"},
    {"a??*", "the repetition \"*\" follows another one"},
    {"a{3,1}", "in the repetition {3,1} the least is above the most"},
    {"a{1001}", "the repetition {1001} is above 1000"},
    {"a{1001,}", "the repetition {1001,} is above 1000"},
    {"a{2,99999999999999999999}", "the repetition {2,99999999999999999999} is above 1000"},
    {"(?=a)", "RE2 has no look-around such as \"(?=a)\"; write a second condition as +kgen:XValidation"},
    {"a(?!b)", "RE2 has no look-around"},
    {"(?<=a)b", "RE2 has no look-around"},
    {"(?<!a)b", "RE2 has no look-around"},
    {R"((a)\1)", "RE2 has no back-references such as \\1"},
    {R"(\8)", "RE2 has no back-references such as \\8"},
    {"(?P<n>a)(?P=n)", "RE2 has no group \"(?P=n)\""},
    {"(?>a)", "RE2 has no group \"(?>a)\""},
    {"(?x)a", "RE2 has no group"},
    {"(?i", "RE2 has no group"},
    {"(?i-)", "RE2 has no group"},
    {"(?--i)", "RE2 has no group"},
    {"(?", "RE2 has no group"},
    {"(?P<>a)", "the name of the group"},
    {"(?<a-b>c)", "the name of the group"},
    {"(?P<n", "the name of the group"},
    {"a\\", "it ends with a backslash"},
    {"[a-\\", "it ends with a backslash"},
    {R"(\q)", "RE2 has no escape \\q"},
    {R"(a\Z)", "RE2 has no escape \\Z"},
    {"\\\u00e9", "RE2 has no escape \\\u00e9"},
    {R"([\b])", "RE2 has no escape \\b"},
    {R"([a-\d])", "RE2 has no escape \\d"},
    {R"(\x4)", "\\x needs two digits"},
    {R"(\xg0)", "\\x needs two digits"},
    {R"(\x{})", "up to \\x{10FFFF}"},
    {R"(\x{110000})", "up to \\x{10FFFF}"},
    {R"(\x{41)", "up to \\x{10FFFF}"},
    {R"(\p)", "\\p needs a name"},
    {R"(\p{Greek)", "\\p needs a name"},
    {"[z-a]", "the range \"z-a\" in brackets ends before it begins"},
    {"[\u00ff-a]", "in brackets ends before it begins"},
    {R"([\x7F-\n])", "in brackets ends before it begins"},
    {"[[:letter:]]", "there is no class [:letter:] of characters"},
};

TEST(Patterns, ThatGoCompilesAreAccepted) {
  for (const std::string_view pattern : kGood) EXPECT_EQ(FaultOfPattern(pattern), "") << pattern;
}

TEST(Patterns, ThatGoRefusesAreRefusedWithTheReason) {
  for (const Bad& bad : kBad) {
    const std::string fault = FaultOfPattern(bad.pattern);
    EXPECT_NE(fault, "") << bad.pattern;
    EXPECT_NE(fault.find(bad.fault), std::string::npos) << bad.pattern << "\n" << fault;
  }
}

// A wrong refusal would keep a good API from being generated.
TEST(Patterns, WithNamesThatOnlyTheServerKnowsAreAccepted) { EXPECT_EQ(FaultOfPattern(R"(\p{Later_Script}\pQ)"), ""); }

}  // namespace
}  // namespace kgen::generator::crd
