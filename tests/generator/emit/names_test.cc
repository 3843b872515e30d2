// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kgen::generator::emit {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::string> Members(const std::vector<std::string>& names) {
  return DistinctIdentifiers(names, MemberIdentifier, {});
}

// Contract: generator NAM-11.
TEST(MemberIdentifier, KeepsWhateverIsLegal) {
  for (const char* name : {"clusterIP", "podIPs", "CIDR", "a1", "snake_case", "_id"})
    EXPECT_EQ(MemberIdentifier(name), name);
}

// Contract: generator NAM-06, NAM-07.
TEST(MemberIdentifier, GivesKeywordsAndMacrosATrailingUnderscore) {
  EXPECT_EQ(MemberIdentifier("namespace"), "namespace_");
  EXPECT_EQ(MemberIdentifier("continue"), "continue_");
  EXPECT_EQ(MemberIdentifier("and_eq"), "and_eq_");
  EXPECT_EQ(MemberIdentifier("co_await"), "co_await_");
  EXPECT_EQ(MemberIdentifier("linux"), "linux_");
  EXPECT_EQ(MemberIdentifier("stdin"), "stdin_");
  EXPECT_EQ(MemberIdentifier("major"), "major_");
}

// Contract: generator NAM-07.
TEST(MemberIdentifier, KnowsTheMacrosOfTheStandardHeaders) {
  for (const char* name : {"ADJ_ESTERROR", "BIG_ENDIAN", "EIO", "ETIMEDOUT", "INT_MAX", "LC_ALL", "M_PI", "PRIu64",
                           "SIGTERM", "SYS_read", "unix", "sa_handler"}) {
    EXPECT_EQ(MemberIdentifier(name), std::string(name) + "_");
  }
  for (const char* name : {"URL", "TTL", "JAVA_OPTS", "LC_ANY", "PRIORITY", "PRIVATE", "SCN", "EKS", "FD_SET"}) {
    EXPECT_EQ(MemberIdentifier(name), name);
  }
  EXPECT_EQ(TypeIdentifier("SIGINT"), "SIGINT_");
}

// Generated code uses kgen:: and std:: without leading colons, even inside of structs and namespaces of the input.
TEST(Identifiers, NeverHideTheNamespacesThatGeneratedCodeUses) {
  for (const char* name : {"kgen", "std"}) {
    EXPECT_EQ(MemberIdentifier(name), std::string(name) + "_");
    EXPECT_EQ(NamespaceIdentifier(name), std::string(name) + "_");
  }
}

// Contract: generator NAM-03, NAM-04.
TEST(MemberIdentifier, SplitsTextThatIsNotAnIdentifierIntoWords) {
  EXPECT_EQ(MemberIdentifier("foo-bar"), "foo_bar");
  EXPECT_EQ(MemberIdentifier("one.dot/two"), "one_dot_two");
  EXPECT_EQ(MemberIdentifier("-Xms"), "Xms");
  EXPECT_EQ(MemberIdentifier("$ref"), "ref");
  EXPECT_EQ(MemberIdentifier("2xx"), "n2xx");
  EXPECT_EQ(MemberIdentifier(""), "empty");
  EXPECT_EQ(MemberIdentifier("-"), "dash");
  EXPECT_EQ(MemberIdentifier("_"), "underscore");
}

// Contract: generator NAM-05.
TEST(MemberIdentifier, NeverIsReserved) {
  EXPECT_EQ(MemberIdentifier("a__b"), "a_b");
  EXPECT_EQ(MemberIdentifier("__init__"), "init");
  EXPECT_EQ(MemberIdentifier("_Upper"), "Upper");
  EXPECT_EQ(MemberIdentifier("default_"), "default_");
}

// Contract: generator NAM-24.
TEST(MemberIdentifier, SpellsForeignLettersByTheirCodePoint) {
  EXPECT_EQ(MemberIdentifier("caf\xC3\xA9"), "caf_u00e9");
  EXPECT_EQ(MemberIdentifier("\xF0\x9F\x98\x80"), "u01f600");
  EXPECT_EQ(MemberIdentifier("\xFF"), "u00ff");
}

// Contract: generator NAM-09.
TEST(DistinctIdentifiers, PreferTheNameThatIsSpelledExactlyLikeTheIdentifier) {
  EXPECT_THAT(Members({"foo-bar", "foo.bar", "foo_bar", "fooBar"}),
              ElementsAre("foo_bar_2", "foo_bar_3", "foo_bar", "fooBar"));
}

// Contract: generator NAM-01.
TEST(DistinctIdentifiers, DoNotDependOnOrder) {
  EXPECT_THAT(Members({"foo.bar", "foo-bar"}), ElementsAre("foo_bar_2", "foo_bar"));
  EXPECT_THAT(Members({"foo-bar", "foo.bar"}), ElementsAre("foo_bar", "foo_bar_2"));
}

// Contract: generator NAM-09.
TEST(DistinctIdentifiers, StayClearOfNamesThatLookLikeTheirSuffixes) {
  EXPECT_THAT(Members({"a-b", "a.b", "a_b_2"}), ElementsAre("a_b", "a_b_3", "a_b_2"));
}

// Contract: generator NAM-09.
TEST(DistinctIdentifiers, AvoidEachOtherWhereTheNextOnesAreTakenToo) {
  EXPECT_THAT(DistinctIdentifiers({"A_", "A"}, TypeIdentifier, {"A", "A_"}), ElementsAre("A_2_2_", "A_2_"));
  EXPECT_THAT(DistinctIdentifiers({"A", "A_"}, TypeIdentifier, {"A", "A_"}), ElementsAre("A_2_", "A_2_2_"));
}

// Contract: generator NAM-08.
TEST(DistinctIdentifiers, AvoidWhatIsTaken) {
  EXPECT_THAT(DistinctIdentifiers({"Port", "port"}, MemberIdentifier, {"Port"}), ElementsAre("Port_", "port"));
  EXPECT_THAT(DistinctIdentifiers({"kTable", "kTable_"}, MemberIdentifier, {"kTable"}),
              UnorderedElementsAre("kTable_2_", "kTable_"));
}

// Contract: generator NAM-19.
TEST(TypeIdentifier, BeginsWordsWithACapitalAndLeavesAcronyms) {
  EXPECT_EQ(TypeIdentifier("spec"), "Spec");
  EXPECT_EQ(TypeIdentifier("natOutgoing"), "NatOutgoing");
  EXPECT_EQ(TypeIdentifier("nat-outgoing"), "NatOutgoing");
  EXPECT_EQ(TypeIdentifier("HTTPRoute"), "HTTPRoute");
  EXPECT_EQ(TypeIdentifier("2xx"), "N2xx");
  EXPECT_EQ(TypeIdentifier("i"), "I_");
  EXPECT_EQ(TypeIdentifier("widget"), "Widget");
}

// Contract: generator ENUM-03.
TEST(ConstantIdentifier, NamesValuesThatAreNotIdentifiers) {
  EXPECT_EQ(ConstantIdentifier(""), "kEmpty");
  EXPECT_EQ(ConstantIdentifier("-"), "kDash");
  EXPECT_EQ(ConstantIdentifier("!="), "kNotEqual");
  EXPECT_EQ(ConstantIdentifier("=~"), "kEqualTilde");
  EXPECT_EQ(ConstantIdentifier("301"), "kValue301");
  EXPECT_EQ(ConstantIdentifier("-5"), "kValueMinus5");
  EXPECT_EQ(ConstantIdentifier("scram-sha-512"), "kScramSha512");
  EXPECT_EQ(ConstantIdentifier("OpenMetricsText1.0.0"), "kOpenMetricsText1_0_0");
  EXPECT_EQ(ConstantIdentifier("HKEY\\Software"), "kHKEYSoftware");
  EXPECT_EQ(ConstantIdentifier("default"), "kDefault");
}

// Contract: generator ENUM-04.
TEST(ConstantIdentifiers, OfValuesThatDifferInCaseOrSeparatorsSayHowTheyAreSpelled) {
  EXPECT_THAT(ConstantIdentifiers({"Replace", "replace"}), ElementsAre("kReplace_Replace", "kReplace_replace"));
  EXPECT_THAT(ConstantIdentifiers({"a_b", "a-b", "aB", "c"}),
              ElementsAre("kAB_a_underscore_b", "kAB_a_dash_b", "kAB_aB", "kC"));
  EXPECT_THAT(ConstantIdentifiers({"1", "+1"}), ElementsAre("kValue1_n1", "kValue1_plus_1"));
  EXPECT_THAT(ConstantIdentifiers({"", "empty"}), ElementsAre("kEmpty_nothing", "kEmpty_empty"));
  EXPECT_THAT(ConstantIdentifiers({"table"}), ElementsAre("kTable_"));
}

std::map<std::string, std::string> Meaning(const std::vector<std::string>& values) {
  std::map<std::string, std::string> out;
  const std::vector<std::string> names = ConstantIdentifiers(values);
  for (std::size_t i = 0; i < names.size(); ++i) out.emplace(names[i], values[i]);
  return out;
}

// Contract: generator ENUM-04; design D19.
TEST(ConstantIdentifiers, OfAGrowingEnumKeepTheirMeaningOrDisappear) {
  const auto before = Meaning({"keep", "replace"});
  const auto after = Meaning({"keep", "replace", "Replace"});
  EXPECT_EQ(before.at("kReplace"), "replace");
  EXPECT_EQ(before.at("kKeep"), after.at("kKeep"));
  EXPECT_FALSE(after.contains("kReplace")) << "code that names it must not compile to something else";
}

// Contract: generator ENUM-04; design D19.
TEST(ConstantIdentifiers, NeverMoveFromOneValueToAnother) {
  const std::vector<std::string> values = {"a", "A",  "a-b", "a.b", "aB",      "1-1",
                                           "1", "+1", "",    "-",   "a-dash-", "a--dash"};
  for (std::uint32_t set = 1; set < (1u << values.size()); ++set) {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((set >> i & 1u) != 0) chosen.push_back(values[i]);
    }
    const auto all = Meaning(chosen);
    ASSERT_EQ(all.size(), chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::vector<std::string> fewer = chosen;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      for (const auto& [name, value] : Meaning(fewer)) {
        const auto found = all.find(name);
        ASSERT_TRUE(found == all.end() || found->second == value) << name << " was " << value;
      }
    }
  }
}

// Contract: generator GRP-05, NAM-22, OUT-08.
TEST(NamespaceIdentifier, EscapesKeywordsMacrosAndDevices) {
  EXPECT_EQ(NamespaceIdentifier("cert-manager"), "cert_manager");
  EXPECT_EQ(NamespaceIdentifier("default"), "default_");
  EXPECT_EQ(NamespaceIdentifier("linux"), "linux_");
  EXPECT_EQ(NamespaceIdentifier("con"), "con_");
  EXPECT_EQ(NamespaceIdentifier("com1"), "com1_");
  EXPECT_EQ(NamespaceIdentifier("3scale"), "n3scale");
  EXPECT_EQ(NamespaceIdentifier("v1-2-3"), "v1_2_3");
}

// Contract: generator MV-05.
TEST(VersionAccessor, IsTheVersionWithACapital) {
  EXPECT_EQ(VersionAccessor("v1"), "V1");
  EXPECT_EQ(VersionAccessor("v1alpha1"), "V1alpha1");
  EXPECT_EQ(VersionAccessor("v1-2-3"), "V1_2_3");
}

TEST(ResourceAccessor, IsThePluralCasedAfterTheKind) {
  EXPECT_EQ(ResourceAccessor("networkpolicies", "NetworkPolicy"), "NetworkPolicies");
  EXPECT_EQ(ResourceAccessor("endpoints", "Endpoints"), "Endpoints");
  EXPECT_EQ(ResourceAccessor("customresourcedefinitions", "CustomResourceDefinition"), "CustomResourceDefinitions");
  EXPECT_EQ(ResourceAccessor("userinfoes", "UserInfo"), "UserInfoes");
  EXPECT_EQ(ResourceAccessor("people", "Person"), "People");
  EXPECT_EQ(ResourceAccessor("widgets", "widget"), "Widgets");
}

// Contract: generator NAM-14.
TEST(Singular, GoesByTheEnding) {
  const std::vector<std::pair<std::string, std::string>> words = {{"policies", "policy"},
                                                                  {"addresses", "address"},
                                                                  {"boxes", "box"},
                                                                  {"matches", "match"},
                                                                  {"caches", "cache"},
                                                                  {"imageCaches", "imageCache"},
                                                                  {"hashes", "hash"},
                                                                  {"statuses", "status"},
                                                                  {"aliases", "alias"},
                                                                  {"containers", "container"},
                                                                  {"rules", "rule"},
                                                                  {"uses", "use"},
                                                                  {"PVCs", "PVC"},
                                                                  {"podIPs", "podIP"},
                                                                  {"address", "address"},
                                                                  {"status", "status"},
                                                                  {"analysis", "analysis"},
                                                                  {"data", "data"},
                                                                  {"tls", "tls"},
                                                                  {"ingressTls", "ingressTls"},
                                                                  {"httpTLS", "httpTLS"},
                                                                  {"dns", "dns"},
                                                                  {"series", "series"},
                                                                  {"foo-bars", "foo-bar"},
                                                                  {"x", "x"},
                                                                  {"s", "s"},
                                                                  {"os", "os"},
                                                                  {"", ""},
                                                                  {"ids", "id"},
                                                                  {"-", "-"}};
  for (const auto& [plural, singular] : words) EXPECT_EQ(Singular(plural), singular) << plural;
}

// Contract: generator NAM-01, NAM-08.
TEST(ElementTypeIdentifier, IsTheSingularUnlessThatIsTaken) {
  EXPECT_EQ(ElementTypeIdentifier("containers", {"containers", "volumes"}, {}), "Container");
  EXPECT_EQ(ElementTypeIdentifier("foo-bars", {}, {}), "FooBar");
  EXPECT_EQ(ElementTypeIdentifier("rules", {"rule", "rules"}, {}), "Rules");
  EXPECT_EQ(ElementTypeIdentifier("rules", {"Rule", "rules"}, {}), "Rules");
  EXPECT_EQ(ElementTypeIdentifier("boxes", {"boxes", "boxs"}, {}), "Boxes");
  EXPECT_EQ(ElementTypeIdentifier("boxs", {"boxes", "boxs"}, {}), "Boxs");
  EXPECT_EQ(ElementTypeIdentifier("items", {"items"}, {"Item"}), "Items");
}

}  // namespace
}  // namespace kgen::generator::emit
