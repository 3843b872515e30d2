// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Text from the input reaches C++ source only as a literal, a comment, or an identifier from names.h.
//
//   emit/plan --text of the input--> StringLiteral() / CommentLines() --> view --> templates, which paste it as it is
#ifndef KGEN_GENERATOR_EMIT_TEXT_H_
#define KGEN_GENERATOR_EMIT_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::generator::emit {

// `text` as a C++ string literal with its quotes, pure printable ASCII: what is not is written as three octal digits
// per byte, which cannot run into a digit that follows. No trigraph can arise.
std::string StringLiteral(std::string_view text);

// The same as the initializer of a string_view: with its length where it holds a NUL, at which a literal alone would
// end, or is so long that a compiler may refuse to count it in a constant expression.
std::string StringViewLiteral(std::string_view text);

// StringLiteral cut into literals of at most `width` columns each, to stand below each other: the compiler joins them.
std::vector<std::string> StringLiteralLines(std::string_view text, std::size_t width);

// Lines of text as `//` comment lines, wrapped at `width` columns (the slashes included). Cannot end in a backslash,
// hold control or bidirectional characters, or act as a marker of another tool. White space alone gives no line.
std::vector<std::string> CommentLines(const std::vector<std::string>& lines, std::size_t width);

// FNV-1a, 16 hexadecimal digits: tells changes, not attacks.
std::string Hash(std::string_view text);

// A short piece of input to stand inside a comment, in back quotes, more of them than it holds itself: one line, at
// most `limit` bytes, "..." behind the quotes where it was cut.
std::string InComment(std::string_view text, std::size_t limit = 80);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_TEXT_H_
