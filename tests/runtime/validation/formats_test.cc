// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Formats. tests/integration/validation asks a real server about the same texts.
#include "validation/formats.h"
#include "tests/runtime/validation/faults.h"
#include "tests/support/format_texts.h"

namespace kgen::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FormatsTest, AcceptWhatServersAccept) {
  for (const FormatTexts& format : kFormatTexts) {
    const FormatCheck check = FindFormat(format.name);
    ASSERT_NE(check, nullptr) << format.name;
    for (const std::string_view text : format.good) EXPECT_TRUE(check(text)) << format.name << " '" << text << "'";
    for (const std::string_view text : format.bad) EXPECT_FALSE(check(text)) << format.name << " '" << text << "'";
  }
}

TEST(FormatsTest, AnUnknownFormatIsIgnored) {
  for (const char* name : {"int-or-string", "json-pointer", "ipv5", "", "int32"}) {
    EXPECT_EQ(FindFormat(name), nullptr) << name;
    EXPECT_THAT(Faults({{"type", "string"}, {"format", name}}, "x"), IsEmpty()) << name;
  }
}

TEST(FormatsTest, TheMessageHasTheNameAsTheSchemaSpellsIt) {
  EXPECT_THAT(Faults({{"type", "string"}, {"format", "date-time"}}, "x"),
              ElementsAre("f: Invalid value: \"x\": f in body must be of type date-time: \"x\""));
}

}  // namespace
}  // namespace kgen::validation
