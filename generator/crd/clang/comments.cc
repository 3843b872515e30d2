// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/clang/comments.h"

#include <algorithm>
#include <utility>

namespace kgen::generator::crd {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Sorts lines into the description and the markers. A description has no blank lines at its ends.
void Sort(std::vector<CommentLine> lines, bool describes, Comment& out) {
  for (CommentLine& line : lines) {
    if (IsMarker(line.text)) {
      out.markers.push_back(std::move(line));
    } else if (describes) {
      out.text.push_back(std::move(line));
    }
  }
  while (!out.text.empty() && out.text.back().text.empty()) out.text.pop_back();
  while (!out.text.empty() && out.text.front().text.empty()) out.text.erase(out.text.begin());
}

}  // namespace

FileComments::FileComments(std::string_view text, std::vector<FileToken> tokens, std::uint32_t file)
    : text_(text), tokens_(std::move(tokens)), read_(tokens_.size()), lines_{0}, file_(file) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') lines_.push_back(i + 1);
  }
}

std::size_t FileComments::Line(std::size_t byte) const {
  return static_cast<std::size_t>(std::upper_bound(lines_.begin(), lines_.end(), byte) - lines_.begin());
}

Origin FileComments::At(std::size_t byte) const {
  const std::size_t line = Line(byte);
  const std::size_t begin = lines_[line - 1];
  // Declarations come in order, so that a long line is counted once.
  if (counted_ < begin || counted_ > byte) {
    counted_ = begin;
    column_ = 1;
  }
  for (; counted_ < byte && counted_ < text_.size(); ++counted_) {
    if ((static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80) ++column_;
  }
  return {.file = file_, .line = static_cast<std::uint32_t>(line), .column = column_};
}

// Adds the lines of one comment, without its slashes and stars.
void FileComments::AddLines(const FileToken& token, std::vector<CommentLine>& out) const {
  std::size_t at = token.begin + 2;
  std::size_t end = token.end;
  const bool block = text_[token.begin + 1] == '*';
  if (block && end >= at + 2 && text_.substr(end - 2, 2) == "*/") end -= 2;
  while (at < end && (text_[at] == (block ? '*' : '/') || text_[at] == '!' || text_[at] == '<')) ++at;
  for (bool first = true; at <= end; first = false) {
    const std::size_t stop = std::min(text_.find('\n', at), end);
    std::size_t from = at;
    if (block && !first) {
      while (from < stop && IsSpace(text_[from])) ++from;
      if (from < stop && text_[from] == '*') ++from;
    }
    if (from < stop && text_[from] == ' ') ++from;
    std::size_t to = stop;
    while (to > from && IsSpace(text_[to - 1])) --to;
    std::size_t visible = from;
    while (visible < to && IsSpace(text_[visible])) ++visible;
    out.push_back({std::string(text_.substr(from, to - from)), At(visible)});
    at = stop + 1;
  }
}

void FileComments::Skip(std::size_t begin, std::size_t end) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].begin >= begin && tokens_[i].begin < end) read_[i] = true;
  }
}

std::vector<CommentLine> FileComments::UnreadMarkers() const {
  std::vector<CommentLine> out;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (read_[i] || !tokens_[i].comment) continue;
    std::vector<CommentLine> lines;
    AddLines(tokens_[i], lines);
    std::erase_if(lines, [](const CommentLine& line) { return !IsMarker(line.text); });
    out.insert(out.end(), lines.begin(), lines.end());
  }
  return out;
}

Comment FileComments::Of(std::size_t begin, std::size_t end) {
  const auto take = [&](std::vector<FileToken>::const_iterator token, std::vector<CommentLine>& lines) {
    read_[static_cast<std::size_t>(token - tokens_.begin())] = true;
    AddLines(*token, lines);
  };
  Comment out;
  const auto first = std::lower_bound(tokens_.begin(), tokens_.end(), begin,
                                      [](const FileToken& token, std::size_t byte) { return token.begin < byte; });
  auto above = first;
  while (above != tokens_.begin() && (above - 1)->comment) --above;
  const std::size_t code_line = above == tokens_.begin() ? 0 : Line((above - 1)->end - 1);
  while (above != first && Line(above->begin) == code_line) ++above;  // behind the code before this
  while (above != first) {
    std::vector<CommentLine> block;
    std::size_t last = 0;
    for (; above != first && (last == 0 || Line(above->begin) <= last + 1); ++above) {
      take(above, block);
      last = Line(above->end - 1);
    }
    const bool adjacent = above == first && last + 1 >= Line(begin);
    Sort(std::move(block), adjacent, out);
  }
  auto behind = std::lower_bound(tokens_.begin(), tokens_.end(), end,
                                 [](const FileToken& token, std::size_t byte) { return token.begin < byte; });
  if (behind != tokens_.end() && behind->ends_declaration) ++behind;
  std::vector<CommentLine> trailing;
  const std::size_t line = behind == tokens_.begin() ? 0 : Line((behind - 1)->end - 1);
  for (; behind != tokens_.end() && behind->comment && Line(behind->begin) == line; ++behind) {
    take(behind, trailing);
  }
  Sort(std::move(trailing), out.text.empty(), out);
  return out;
}

}  // namespace kgen::generator::crd
