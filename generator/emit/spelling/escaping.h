// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Text from the input reaches C++ source only as a literal, a comment, or an identifier from names.h.
//
//   emit/plan/plan --text of the input--> StringLiteral() / CommentLines() --> view --> templates, which paste it as it
//   is
#ifndef KGEN_GENERATOR_EMIT_SPELLING_ESCAPING_H_
#define KGEN_GENERATOR_EMIT_SPELLING_ESCAPING_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::generator::emit {

// The width of a line of generated code.
inline constexpr std::size_t kColumns = 120;

// `text` as a C++ string literal with its quotes, in printable ASCII: other bytes are written as three octal digits,
// which cannot absorb a digit that follows. Contains no trigraphs.
std::string StringLiteral(std::string_view text);

// Returns `text` as the initializer of a string_view. It states the length if the text contains a NUL, at which the
// literal alone would end, or is so long that a compiler may refuse to count it in a constant expression.
std::string StringViewLiteral(std::string_view text);

// StringLiteral split into adjacent literals of at most `width` columns each, which the compiler joins.
std::vector<std::string> StringLiteralLines(std::string_view text, std::size_t width);

// Lines of text as `//` comment lines, wrapped at `width` columns (the slashes included). Cannot end in a backslash,
// hold control or bidirectional characters, or act as a marker of another tool. White space alone gives no line.
std::vector<std::string> CommentLines(const std::vector<std::string>& lines, std::size_t width);

// Returns the text of such lines, without the slashes, in one line.
std::string InOneLine(const std::vector<std::string>& lines);

// FNV-1a, 16 hexadecimal digits: detects changes, not attacks.
std::string Hash(std::string_view text);

// A short piece of input for use inside a comment: one line of at most `limit` bytes, in more back quotes than it
// contains itself, with "..." after the quotes if it was cut.
std::string InComment(std::string_view text, std::size_t limit = 80);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_SPELLING_ESCAPING_H_
