// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
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
TEST(ConstantIdentifier, IsTheValueWhereThatIsPartOfAnIdentifier) {
  EXPECT_EQ(ConstantIdentifier("Always"), "kAlways");
  EXPECT_EQ(ConstantIdentifier("IPv4"), "kIPv4");
  EXPECT_EQ(ConstantIdentifier("TLS10"), "kTLS10");
  EXPECT_EQ(ConstantIdentifier("default"), "k_default");
  EXPECT_EQ(ConstantIdentifier("natOutgoing"), "k_natOutgoing");
  EXPECT_EQ(ConstantIdentifier("ALREADY_PRESENT"), "k_ALREADY_PRESENT");
  EXPECT_EQ(ConstantIdentifier("301"), "k_301");
  EXPECT_EQ(ConstantIdentifier("Table"), "kTable_");
}

// Contract: generator ENUM-03.
TEST(ConstantIdentifier, SpellsSymbols) {
  EXPECT_EQ(ConstantIdentifier(""), "ksEmpty");
  EXPECT_EQ(ConstantIdentifier("-"), "ksDash");
  EXPECT_EQ(ConstantIdentifier("!="), "ksNotEqual");
  EXPECT_EQ(ConstantIdentifier("=~"), "ksEqualTilde");
  EXPECT_EQ(ConstantIdentifier("-5"), "ksDash_5");
  EXPECT_EQ(ConstantIdentifier("scram-sha-512"), "ks_scram_Dash_sha_Dash_512");
  EXPECT_EQ(ConstantIdentifier("OpenMetricsText1.0.0"), "ks_OpenMetricsText1_Dot_0_Dot_0");
  EXPECT_EQ(ConstantIdentifier("HKEY\\Software"), "ks_HKEY_Backslash_Software");
  EXPECT_EQ(ConstantIdentifier("a__b"), "ks_a_UnderscoreUnderscore_b");
  EXPECT_EQ(ConstantIdentifier("_a_"), "ksUnderscore_a_Underscore");
  EXPECT_EQ(ConstantIdentifier("\t\xC3\xA9\x7F"), "ksU0009U00e9U007f");
  EXPECT_EQ(ConstantIdentifier("\xF0\x9F\x98\x80"), "ksU01f600");
}

// Contract: generator ENUM-04; design D19.
TEST(ConstantIdentifier, DiffersForDifferentValues) {
  // Everything of up to four parts, and what the names of others might be taken for.
  const std::vector<std::string> parts = {"a",   "A",     "1", "-", "_",     ".",  "`", "Dash",
                                          "Dot", "Empty", "k", "s", "U0009", "\t", " "};
  std::vector<std::string> values = {"Table", "kTable", "Table_", "ks_a", "k_a", "UnderscoreUnderscore"};
  std::vector<std::string> longer = {""};
  std::set<std::string> all(values.begin(), values.end());
  for (int length = 0; length < 4; ++length) {
    std::vector<std::string> next;
    for (const std::string& start : longer) {
      all.insert(start);
      for (const std::string& part : parts) next.push_back(start + part);
    }
    longer = std::move(next);
  }
  all.insert(longer.begin(), longer.end());
  std::map<std::string, std::string> meaning;
  for (const std::string& value : all) {
    const std::string name = ConstantIdentifier(value);
    const auto [known, added] = meaning.emplace(name, value);
    ASSERT_TRUE(added) << name << " is " << known->second << " and " << value;
    ASSERT_EQ(name.find("__"), std::string::npos) << name;
    ASSERT_TRUE(std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }))
        << name;
  }
  EXPECT_GT(meaning.size(), 40'000u);
}

TEST(ConstantIdentifier, DiffersForAllSingleCharacters) {
  std::set<std::string> names;
  for (char c = 1; c < 0x7F; ++c) names.insert(ConstantIdentifier(std::string(1, c)));
  EXPECT_EQ(names.size(), 0x7Eu);
}

TEST(FieldConstants, SayThePathInOneWord) {
  EXPECT_THAT(FieldConstants({"spec.nodeName", "status.phase"}), ElementsAre("kSpecNodeName", "kStatusPhase"));
  EXPECT_THAT(FieldConstants({"spec.a.b", "spec.aB", "301", "table"}),
              ElementsAre("ks_spec_Dot_a_Dot_b", "ks_spec_Dot_aB", "k_301", "k_table"));
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
