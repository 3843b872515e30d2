// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Finds the comments that belong to a declaration. Clang attaches only the nearest block of comments, but a marker may
// stand in a block above it.
#ifndef KGEN_GENERATOR_CRD_CLANG_COMMENTS_H_
#define KGEN_GENERATOR_CRD_CLANG_COMMENTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/description.h"

namespace kgen::generator::crd {

// A token of a file, with comments; [begin, end) are bytes of the file's text.
struct FileToken {
  std::size_t begin = 0, end = 0;
  bool comment = false;
  bool ends_declaration = false;  // a semicolon, comma or closing brace
};

// The comments of one file. Thread safety: none.
class FileComments {
 public:
  // `text` must stay valid. `file` is the number in Diagnostics.
  FileComments(std::string_view text, std::vector<FileToken> tokens, std::uint32_t file);

  // The comments above byte `begin`, up to the next code, and those on the line on which the declaration ends that
  // contains byte `end - 1`. Only text directly above is the description, or else text behind the declaration.
  Comment Of(std::size_t begin, std::size_t end);

  // Takes the comments in [begin, end) as read: code that the preprocessor left out.
  void Skip(std::size_t begin, std::size_t end);

  // The markers in comments that neither Of() nor Skip() has met.
  std::vector<CommentLine> UnreadMarkers() const;

  Origin At(std::size_t byte) const;

 private:
  std::size_t Line(std::size_t byte) const;  // from 1
  void AddLines(const FileToken& token, std::vector<CommentLine>& out) const;

  std::string_view text_;
  std::vector<FileToken> tokens_;
  std::vector<bool> read_;          // by token
  std::vector<std::size_t> lines_;  // where they begin
  std::uint32_t file_;
  mutable std::size_t counted_ = 0;  // of the last At()
  mutable std::uint32_t column_ = 1;
};

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_CLANG_COMMENTS_H_
