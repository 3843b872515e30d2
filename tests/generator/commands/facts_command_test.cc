// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The program as users run it: `kgen ...`, with streams instead of a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/commands/command.h"
#include "tests/support/paths.h"

namespace kgen::generator::commands {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Result {
  int code;
  std::string out, err;
};

Result Invoke(const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunKgen(arguments, {in, out, err});
  return {code, out.str(), err.str()};
}

class Kgen : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kgen-command-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "a.json") << kDocument;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static constexpr const char* kDocument =
      R"({"openapi": "3.0.0", "components": {"schemas": {"x.v1.A": {"description": "p", "type": "object"}}}})";
  fs::path folder_;
};

// Contract: generator CFG-08.
TEST_F(Kgen, ShowsItsCommandsAndTheirOptions) {
  const Result help = Invoke({"--help"});
  EXPECT_EQ(help.code, kFine);
  EXPECT_THAT(help.out, HasSubstr("facts"));
  EXPECT_EQ(help.err, "");
  const Result facts = Invoke({"facts", "--help"});
  EXPECT_EQ(facts.code, kFine);
  EXPECT_THAT(facts.out, HasSubstr("Usage: kgen facts FILE... [--out DIR]"));
  EXPECT_THAT(facts.out, HasSubstr("Examples:\n  kgen facts "));
  EXPECT_THAT(Invoke({"--version"}).out, ::testing::StartsWith("kgen "));
}

// Contract: generator ERR-06, ERR-10.
TEST_F(Kgen, RefusesWrongUseWithAHint) {
  EXPECT_EQ(Invoke({}).code, kBadUsage);
  const Result command = Invoke({"fact"});
  EXPECT_EQ(command.code, kBadUsage);
  EXPECT_THAT(command.err, HasSubstr("unknown command \"fact\", did you mean facts?"));
  const Result option = Invoke({"facts", "--uot", "x"});
  EXPECT_EQ(option.code, kBadUsage);
  EXPECT_THAT(option.err, HasSubstr("unknown option \"--uot\", did you mean --out?"));
  EXPECT_EQ(Invoke({"facts"}).code, kBadUsage);
  EXPECT_EQ(Invoke({"facts", "--out"}).code, kBadUsage);
  EXPECT_THAT(Invoke({"facts", folder_ / "a.json", folder_ / "a.json", "-"}, kDocument).err,
              HasSubstr("several inputs need --out DIR"));
}

TEST_F(Kgen, PrintsTheFactsOfOneInput) {
  const Result file = Invoke({"facts", folder_ / "a.json"});
  EXPECT_EQ(file.code, kFine);
  EXPECT_THAT(file.out, HasSubstr("\"x.v1.A\": {\"type\": \"object\"}"));
  EXPECT_EQ(Invoke({"facts", "-"}, kDocument).out, file.out);
}

// Contract: generator OUT-03.
TEST_F(Kgen, WritesFactsIntoAFolderOnlyWhenTheyChange) {
  const fs::path out = folder_ / "new" / "folder";
  ASSERT_EQ(Invoke({"facts", "--out", out, folder_ / "a.json"}).code, kFine);
  const std::string text = test_support::ReadFile(out / "a.json");
  EXPECT_EQ(text, Invoke({"facts", folder_ / "a.json"}).out);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(out / "a.json", long_ago);
  ASSERT_EQ(Invoke({"facts", "-o", out, folder_ / "a.json"}).code, kFine);
  EXPECT_EQ(fs::last_write_time(out / "a.json"), long_ago);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(out)) files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 1u);
}

// Contract: generator ERR-06, OUT-04.
TEST_F(Kgen, WritesNothingWhenOneInputIsBad) {
  std::ofstream(folder_ / "bad.json") << "{\"openapi\": \"3.0.0\", \"components\": []}";
  const fs::path out = folder_ / "out";
  const Result result = Invoke({"facts", "--out", out, folder_ / "a.json", folder_ / "bad.json"});
  EXPECT_EQ(result.code, kBadInput);
  EXPECT_THAT(result.err,
              HasSubstr("bad.json:1:36: error: expected a map, found a list [wrong-kind]\n    at components\n"));
  EXPECT_FALSE(fs::exists(out));
}

// Contract: generator ERR-06, OUT-19.
TEST_F(Kgen, ReportsThatItCannotWrite) {
  std::ofstream(folder_ / "file") << "x";
  const Result result = Invoke({"facts", "--out", folder_ / "file" / "below", folder_ / "a.json"});
  EXPECT_EQ(result.code, kCannotWrite);
  EXPECT_THAT(result.err, HasSubstr("cannot create the folder"));
}

TEST_F(Kgen, RefusesFactsOfACrd) {
  const Result result = Invoke({"facts", "-"}, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n");
  EXPECT_EQ(result.code, kBadInput);
  EXPECT_THAT(result.err, HasSubstr("<stdin>: error: this is not an OpenAPI v3 document [no-openapi]"));
}

TEST_F(Kgen, RefusesFactsOfAnOpenApiV2Document) {
  const Result result = Invoke({"facts", "-"}, "{\"swagger\": \"2.0\", \"definitions\": {}}");
  EXPECT_EQ(result.code, kBadInput);
  EXPECT_THAT(result.err,
              HasSubstr("<stdin>: error: facts are made from OpenAPI v3 documents; this one is OpenAPI v2"));
  EXPECT_THAT(result.err, HasSubstr("hint: pass the documents that the same server publishes below /openapi/v3"));
}

TEST_F(Kgen, RefusesFactsOfADocumentThatDoesNotSayItsVersion) {
  const Result result = Invoke({"facts", "-"}, "openapi: null\npaths: {}\n");
  EXPECT_EQ(result.code, kBadInput);
  EXPECT_THAT(result.err, HasSubstr("[no-openapi]"));
}

}  // namespace
}  // namespace kgen::generator::commands
