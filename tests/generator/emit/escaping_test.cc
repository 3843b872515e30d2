// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/escaping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kgen::generator::emit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Contract: generator SEC-02.
TEST(StringLiteral, EscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(StringLiteral("a\"b\\c\n\x01"), R"("a\"b\\c\n\001")");
}

// Contract: generator SEC-02.
TEST(StringLiteral, LetsNoEscapeSwallowADigit) {
  EXPECT_EQ(StringLiteral("\x01"
                          "7"),
            R"("\0017")");
}

// Contract: generator SEC-02.
TEST(StringLiteral, BreaksTrigraphs) {
  EXPECT_EQ(StringLiteral("?"
                          "?/"),
            "\"?\\?/\"");
}

// Contract: generator SEC-02.
TEST(StringLiteral, WritesForeignBytesInOctal) {
  EXPECT_EQ(StringLiteral("\xC3\xA9\xE2\x80\xAE"), R"("\303\251\342\200\256")");
}

// Contract: generator SEC-02.
TEST(StringLiteral, KeepsAWholeNul) { EXPECT_EQ(StringLiteral(std::string_view("a\0b", 3)), R"("a\000b")"); }

// Contract: generator SEC-02.
TEST(StringViewLiteral, HasAnExplicitLengthWhereALiteralAloneIsNotEnough) {
  EXPECT_EQ(StringViewLiteral("a\"b"), R"("a\"b")");
  EXPECT_EQ(StringViewLiteral(std::string_view("a\0b", 3)), R"({"a\000b", 3})");
  const std::string text(20'000, 'x');
  EXPECT_EQ(StringViewLiteral(text), "{\"" + text + "\", 20000}");
}

TEST(StringLiteralLines, JoinToTheSameText) {
  EXPECT_THAT(StringLiteralLines("abcdefghijkl", 11), ElementsAre("\"abcdef\"", "\"ghijkl\""));
}

// Contract: generator DOC-02.
TEST(CommentLines, DoNotEndInABackslash) {
  EXPECT_THAT(CommentLines({"path C:\\", "dir \\  "}, 80), ElementsAre("// path C:\\ .", "// dir \\ ."));
}

// Contract: generator DOC-03.
TEST(CommentLines, HoldNoTrigraph) {
  EXPECT_THAT(CommentLines({"what?"
                            "?/"},
                           80),
              ElementsAre("// what? ?/"));
}

// Contract: generator DOC-04.
TEST(CommentLines, BreakAtEveryKindOfLineEnd) {
  EXPECT_THAT(CommentLines({"a\rb\vc\fd\xE2\x80\xA8"
                            "e\xC2\x85"
                            "f"},
                           80),
              ElementsAre("// a", "// b", "// c", "// d", "// e", "// f"));
}

// Contract: generator DOC-04.
TEST(CommentLines, DropControlAndBidirectionalCharacters) {
  EXPECT_THAT(CommentLines({std::string("a\0b\x7F", 4) + "\xE2\x80\xAE\xE2\x81\xA6!"}, 80), ElementsAre("// ab!"));
}

// Contract: generator DOC-05.
TEST(CommentLines, KeepForeignLetters) {
  EXPECT_THAT(CommentLines({"5 \xC2\xB5s"}, 80), ElementsAre("// 5 \xC2\xB5s"));
}

// Contract: generator DOC-01.
TEST(CommentLines, AreUnaffectedByTheEndOfABlockComment) {
  EXPECT_THAT(CommentLines({"*/ int x; /*"}, 80), ElementsAre("// */ int x; /*"));
}

// Contract: generator DOC-09.
TEST(CommentLines, DisarmMarkersOfOtherTools) {
  EXPECT_THAT(CommentLines({"NOLINT clang-format off"}, 80), ElementsAre("// NO LINT clang format off"));
}

// Contract: generator DOC-07.
TEST(CommentLines, WrapOnSpacesAndKeepIndentation) {
  EXPECT_THAT(CommentLines({"aaa bbb ccc", "  - ddd eee"}, 12),
              ElementsAre("// aaa bbb", "// ccc", "//   - ddd", "//   eee"));
}

// Contract: generator DOC-08.
TEST(CommentLines, OfEmptyTextAreEmpty) { EXPECT_THAT(CommentLines({"", "  ", "\t"}, 80), IsEmpty()); }

TEST(InComment, UsesMoreBackQuotesThanTheTextContains) {
  EXPECT_EQ(InComment("a`b"), "`` a`b ``");
  EXPECT_EQ(InComment("``"), "``` `` ```");
}

TEST(InComment, MarksCutTextAfterTheQuotes) { EXPECT_EQ(InComment("abcdef", 3), "`abc`..."); }

TEST(InComment, IsOneLine) { EXPECT_EQ(InComment("a\nb"), "`a b`"); }

}  // namespace
}  // namespace kgen::generator::emit
