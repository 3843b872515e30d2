// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/diagnostic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "generator/document_path.h"
#include "tests/support/paths.h"

namespace kgen::generator {
namespace {

// Contract: generator ERR-01, ERR-02.
TEST(DiagnosticsTest, RendersPositionPathAndHint) {
  Diagnostics diagnostics;
  const std::uint32_t file = diagnostics.AddFile("crds/orders.yaml");
  diagnostics.Error("enum-type", {file, 31, 19, 2}, "an integer enum holds \"many\"", "spec.versions[0]",
                    "write a number");
  EXPECT_EQ(diagnostics.Render(),
            "crds/orders.yaml:31:19: error: an integer enum holds \"many\" [enum-type]\n"
            "    at spec.versions[0], document 2\n"
            "    hint: write a number\n");
}

// Contract: generator ERR-04.
TEST(DiagnosticsTest, SortsByPositionAndDropsDuplicates) {
  Diagnostics diagnostics;
  const std::uint32_t a = diagnostics.AddFile("a");
  const std::uint32_t b = diagnostics.AddFile("b");
  diagnostics.Error("x", {b, 1, 1, 0}, "third");
  diagnostics.Error("x", {a, 2, 9, 0}, "second");
  diagnostics.Error("x", {a, 2, 1, 0}, "first");
  diagnostics.Error("x", {a, 2, 1, 0}, "first");
  EXPECT_EQ(diagnostics.Render(), "a:2:1: error: first [x]\na:2:9: error: second [x]\nb:1:1: error: third [x]\n");
}

// Contract: generator ERR-04.
TEST(DiagnosticsTest, ShowsAtMostTheLimitAndCountsTheRest) {
  Diagnostics diagnostics;
  const std::uint32_t file = diagnostics.AddFile("a");
  for (std::uint32_t line = 1; line <= 5; ++line) diagnostics.Error("x", {file, line, 1, 0}, "e");
  diagnostics.Warning("y", {file, 9, 1, 0}, "w");
  EXPECT_EQ(diagnostics.Render(2),
            "a:1:1: error: e [x]\na:2:1: error: e [x]\na:9:1: warning: w [y]\n... and 3 more errors\n");
}

// Contract: generator ERR-07.
TEST(DiagnosticsTest, TurnsWarningsOffOrIntoErrorsById) {
  Diagnostics diagnostics;
  diagnostics.Disable("quiet");
  diagnostics.Promote("loud");
  diagnostics.Warning("quiet", {}, "1");
  diagnostics.Warning("loud", {}, "2");
  diagnostics.Warning("other", {}, "3");
  EXPECT_EQ(diagnostics.error_count(), 1u);
  EXPECT_EQ(diagnostics.warning_count(), 1u);
  EXPECT_EQ(diagnostics.Render(), "kgen: error: 2 [loud]\nkgen: warning: 3 [other]\n");
}

TEST(DiagnosticsTest, NamesTheProgramWhereThereIsNoFile) {
  Diagnostics diagnostics("kgen-crd");
  diagnostics.Error("x", {}, "no input");
  EXPECT_EQ(diagnostics.Render(), "kgen-crd: error: no input [x]\n");
}

TEST(DiagnosticsTest, ShowsNotesOnlyWhenAsked) {
  Diagnostics diagnostics;
  diagnostics.Note("n", {}, "by the way");
  EXPECT_EQ(diagnostics.Render(), "");
  EXPECT_EQ(diagnostics.Render(10, true), "kgen: note: by the way [n]\n");
  EXPECT_FALSE(diagnostics.has_errors());
}

// Contract: generator ERR-14.
TEST(Quote, MakesEverythingVisible) {
  EXPECT_EQ(Quote("plain é 日"), "\"plain é 日\"");
  EXPECT_EQ(Quote("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(Quote(std::string("\0\n\t\x1B\x7F", 5)), "\"\\x00\\n\\t\\x1b\\x7f\"");
  EXPECT_EQ(Quote("\u202Eabc\u2028"), "\"\\u{202e}abc\\u{2028}\"");
  EXPECT_EQ(Quote("a\xFF\xC3"), "\"a\\xff\\xc3\"");
  EXPECT_EQ(Quote("ééééé", 3), "\"ééé...\"");
}

// Contract: generator ERR-10.
TEST(Nearest, FindsTheClosestNameWithinALimit) {
  EXPECT_EQ(Nearest("strin", {"string", "integer"}), "string");
  EXPECT_EQ(Nearest("OUT", {"out", "verbose"}), "out");
  EXPECT_EQ(Nearest("xyzzy", {"string", "integer"}), "");
}

// Contract: generator ERR-02.
TEST(DocumentPath, IsWrittenInTheNotationOfUsers) {
  const DocumentPath root;
  const DocumentPath spec = root.Key("spec");
  const DocumentPath versions = spec.Key("versions");
  const DocumentPath first = versions.Index(0);
  EXPECT_EQ(root.Text(), "");
  EXPECT_EQ(first.Key("schema").Text(), "spec.versions[0].schema");
  EXPECT_EQ(first.Key("one.dot").Text(), "spec.versions[0][\"one.dot\"]");
  EXPECT_EQ(DocumentPath("items[3]").Key("$ref").Text(), "items[3].$ref");
}

// Every error of the input that the sources can report has a way out, and the table has no others.
TEST(DiagnosticsTest, KnowsAWayOutOfEveryClassOfError) {
  const std::regex call(R"re(\b(?:Error|Fail)\(\s*(?:[a-z_.]+,\s*)?"([a-z0-9]+(?:-[a-z0-9]+)*)")re");
  std::set<std::string> found;
  for (const char* part : {"parse", "model", "emit", "commands"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test_support::SourcePath("generator/" + std::string(part)))) {
      if (entry.path().extension() != ".cc") continue;
      const std::string text = test_support::ReadFile(entry.path().native());
      for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) found.insert((*at)[1]);
    }
  }
  EXPECT_GT(found.size(), 40u);
  for (const std::string& id : found) EXPECT_NE(WayOut(id), "") << id;
  const std::string table = test_support::ReadFile(test_support::SourcePath("generator/ways_out.cc"));
  const std::regex row(R"re(\{"([a-z0-9-]+)", ")re");
  for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at)
    EXPECT_TRUE(found.contains((*at)[1])) << (*at)[1] << " is no error";
  EXPECT_EQ(WayOut("unheard-of"), "");
}

TEST(DiagnosticsTest, ShowsTheWayOutOfItsClassForAnErrorWithoutAHint) {
  Diagnostics diagnostics;
  diagnostics.Error("missing-key", {}, "one");
  diagnostics.Error("missing-key", {}, "two", {}, "its own");
  EXPECT_EQ(diagnostics.Render(), "kgen: error: one [missing-key]\n    hint: " + std::string(WayOut("missing-key")) +
                                      "\nkgen: error: two [missing-key]\n    hint: its own\n");
}

// Every Warning("id", ...) and Warn("id", ...) of the sources, so that the list cannot fall behind.
// Contract: generator ERR-07.
TEST(DiagnosticsTest, ListsTheIdsOfAllWarnings) {
  const std::regex call(R"re(\b(?:Warning|Warn)\(\s*"([a-z0-9-]+)")re");
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test_support::SourcePath("generator"))) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = test_support::ReadFile(entry.path().native());
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) found.insert((*at)[1]);
  }
  EXPECT_EQ(std::set<std::string>(WarningIds().begin(), WarningIds().end()), found);
  EXPECT_TRUE(std::is_sorted(WarningIds().begin(), WarningIds().end()));
}

}  // namespace
}  // namespace kgen::generator
