// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "generator/emit/render/mustache.h"
#include "tests/generator/emit/template_lint.h"
#include "tests/support/paths.h"

namespace kgen::generator::emit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::set<std::string, std::less<>>;

// Every name in back quotes in templates/README.md.
Names DocumentedNames() {
  const std::string readme = test_support::ReadFile(test_support::SourcePath("templates/README.md"));
  const std::regex quoted("`([A-Za-z_][A-Za-z0-9_.]*)`");
  Names names;
  for (std::sregex_iterator it(readme.begin(), readme.end(), quoted), end; it != end; ++it) names.insert((*it)[1]);
  return names;
}

TEST(Templates, AreBalancedAndUseDocumentedNamesOnly) {
  const Names known = DocumentedNames();
  Names partials;
  for (const EmbeddedTemplate& embedded : EmbeddedTemplates()) partials.insert(std::string(embedded.name));
  EXPECT_GE(partials.size(), 8u);
  for (const EmbeddedTemplate& embedded : EmbeddedTemplates()) {
    EXPECT_THAT(LintTemplate(embedded.text, known, partials), IsEmpty()) << embedded.name;
  }
}

TEST(Templates, InTheProgramAreThoseInTheTree) {
  for (const EmbeddedTemplate& embedded : EmbeddedTemplates()) {
    EXPECT_EQ(embedded.text, test_support::ReadFile(
                                 test_support::SourcePath("templates/" + std::string(embedded.name) + ".mustache")));
  }
}

TEST(TemplateLint, FindsErrorsThatTheEngineIgnores) {
  EXPECT_THAT(LintTemplate("{{#a}}x", {"a"}, {}), ElementsAre("never closed: a"));
  EXPECT_THAT(LintTemplate("x{{/a}}", {"a"}, {}), ElementsAre(HasSubstr("closes a")));
  EXPECT_THAT(LintTemplate("\n{{b}}", {"a"}, {}), ElementsAre("line 2: unknown name: b"));
  EXPECT_THAT(LintTemplate("{{>p}}", {}, {}), ElementsAre(HasSubstr("no such partial: p")));
  EXPECT_THAT(LintTemplate("int m{{1, 2", {}, {}), ElementsAre(HasSubstr("without end")));
  EXPECT_THAT(LintTemplate("{{#a}}{{#b}}{{/a}}{{/b}}", {"a", "b"}, {}), Not(IsEmpty()));
  EXPECT_THAT(LintTemplate("{{! remark }}{{#a}}{{.}}{{/a}}", {"a"}, {}), IsEmpty());
}

TEST(TemplateEngine, EscapesNothingAndLeavesNoSpaceAtLineEnds) {
  TemplateEngine engine;
  const std::string text = engine.Render(
      "enum",
      ViewMap{
          {"own", true}, {"comment", ViewList{"// <a> & \"b\" {{name}}  "}}, {"name", "X"}, {"constants", ViewList{}}});
  EXPECT_EQ(text, "// <a> & \"b\" {{name}}\nstruct X {\n};\n");
}

}  // namespace
}  // namespace kgen::generator::emit
