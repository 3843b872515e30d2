// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/clang/sources.h"

#include <cstdint>
#include <filesystem>

#include "clang/Lex/Lexer.h"
#include "generator/disk.h"

namespace kgen::generator::crd {

std::vector<FileToken> Tokens(std::string_view text, const clang::LangOptions& language) {
  clang::Lexer lexer(clang::SourceLocation(), language, text.data(), text.data(), text.data() + text.size());
  lexer.SetCommentRetentionState(true);
  std::vector<FileToken> tokens;
  clang::Token token;
  for (bool end = false; !end;) {
    end = lexer.LexFromRawLexer(token);
    if (token.is(clang::tok::eof)) break;
    const std::size_t begin = token.getLocation().getRawEncoding();  // counted from no location, that is from 0
    tokens.push_back({begin, begin + token.getLength(), token.is(clang::tok::comment),
                      token.isOneOf(clang::tok::semi, clang::tok::comma, clang::tok::r_brace)});
  }
  return tokens;
}

bool IsKnown(const CommentLine& line) {
  if (line.text.starts_with("+kgen:") || line.text.starts_with("+kubebuilder:")) {
    Diagnostics dropped;
    return ParseMarker(line, kOnStruct, dropped).has_value() || dropped.has_errors();
  }
  for (const MarkerPlace place : {kOnStruct, kOnMember, kOnEnum, kOnEnumValue}) {
    Diagnostics dropped;
    if (ParseMarker(line, place, dropped)) return true;
  }
  return false;
}

// Takes the markers about the program from a source, which is not compiled.
void ReadSource(const std::string& path, Run& run) {
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().native();
  const auto text = ReadFile(path);
  const std::uint32_t number = run.diagnostics.AddFile(path);
  if (!text) {
    run.diagnostics.Error("cannot-read", {.file = number}, "the source cannot be read: " + text.error());
    return;
  }
  run.out.files.push_back(absolute);
  clang::LangOptions language;
  language.CPlusPlus = language.CPlusPlus11 = language.CPlusPlus14 = language.CPlusPlus17 = language.CPlusPlus20 = true;
  language.CPlusPlus23 = language.LineComment = language.RawStringLiterals = true;
  const FileComments comments(*text, Tokens(*text, language), number);
  for (const CommentLine& line : comments.UnreadMarkers()) {
    if (IsAboutProgram(line)) {
      run.out.elsewhere.push_back(line);
    } else if (IsKnown(line) && (line.text.starts_with("+kgen:") || line.text.starts_with("+kubebuilder:"))) {
      run.diagnostics.Error(
          "marker-lost", line.origin,
          "the marker " + Quote(line.text, 80) + " is in a source, of which only +kgen:rbac and +kgen:webhook are read",
          {}, "move it to the declaration in a header");
    }
  }
}

}  // namespace kgen::generator::crd
