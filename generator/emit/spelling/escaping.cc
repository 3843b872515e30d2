// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/escaping.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "generator/utf8.h"

namespace kgen::generator::emit {
namespace {

void AppendEscaped(char c, std::string& out) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '?' && !out.empty() && out.back() == '?') {
    out += "\\?";  // two question marks begin a trigraph
  } else if (byte >= 0x20 && byte < 0x7F) {
    out += c;
  } else {
    out += '\\';
    out += static_cast<char>('0' + (byte >> 6));
    out += static_cast<char>('0' + ((byte >> 3) & 7));
    out += static_cast<char>('0' + (byte & 7));
  }
}

// Ends a line in some viewers, or may do so in future compilers.
bool IsLineBreak(std::uint32_t c) {
  return c == '\n' || c == '\r' || c == 0x0B || c == 0x0C || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Never shown: control characters, bidirectional marks, zero-width characters, byte order marks.
bool IsInvisible(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF0 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

// Markers that other tools search comments for, and a spelling that they ignore.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMarkers = {
    {{"NOLINT", "NO LINT"},
     {"LCOV_EXCL", "LCOV EXCL"},
     {"GCOVR_EXCL", "GCOVR EXCL"},
     {"clang-format", "clang format"},
     {"IWYU pragma", "IWYU  pragma"},
     {"cppcheck-suppress", "cppcheck suppress"},
     {"@generated", "@ generated"}}};

void Disarm(std::string& line) {
  for (const auto& [marker, harmless] : kMarkers) {
    for (std::size_t at = line.find(marker); at != std::string::npos; at = line.find(marker, at + 1)) {
      line.replace(at, marker.size(), harmless);
    }
  }
  for (std::size_t at = line.find("?"
                                  "?");
       at != std::string::npos; at = line.find("?"
                                               "?",
                                               at))
    line.replace(at, 2, "? ?");
}

// Splits at line breaks, drops invisible characters, expands tabs.
std::vector<std::string> CleanLines(const std::vector<std::string>& lines) {
  std::vector<std::string> clean;
  for (const std::string& line : lines) {
    std::string current;
    for (std::size_t i = 0; i < line.size();) {
      const CodePoint c = DecodeUtf8(std::string_view(line).substr(i));
      if (c.valid && IsLineBreak(c.value)) {
        clean.push_back(std::exchange(current, {}));
      } else if (c.valid && c.value == '\t') {
        current += "    ";
      } else if (c.valid && !IsInvisible(c.value)) {
        current.append(line, i, c.size);
      }
      i += c.size;
    }
    clean.push_back(std::move(current));
  }
  for (std::string& line : clean) {
    Disarm(line);
    while (!line.empty() && line.back() == ' ') line.pop_back();
  }
  while (!clean.empty() && clean.back().empty()) clean.pop_back();
  clean.erase(clean.begin(), std::find_if(clean.begin(), clean.end(), [](const std::string& l) { return !l.empty(); }));
  return clean;
}

// The number of columns, at least as many as clang-format counts.
std::size_t Columns(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text.substr(i));
    columns += c.value >= 0x1100 ? 2 : 1;
    i += c.size;
  }
  return columns;
}

void EndLine(std::string line, std::vector<std::string>& out) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (!line.empty() && line.back() == '\\') line += " .";  // a backslash at the end would join the next line
  out.push_back(line.empty() ? "//" : "// " + line);
}

// Wraps at spaces and keeps the indentation of the first line.
void Wrap(std::string_view line, std::size_t width, std::vector<std::string>& out) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string margin(std::min<std::size_t>(indent, 40), ' ');
  std::string current;
  std::size_t columns = 0;
  for (std::size_t i = indent; i < line.size();) {
    const std::size_t end = std::min(line.find(' ', i), line.size());
    const std::string_view word = line.substr(i, end - i);
    const std::size_t word_columns = Columns(word);
    if (!current.empty() && columns + 1 + word_columns + 3 > width) EndLine(std::exchange(current, {}), out);
    if (current.empty()) {
      current = margin + std::string(word);
      columns = margin.size() + word_columns;
    } else {
      current += ' ';
      current += word;
      columns += 1 + word_columns;
    }
    i = end == line.size() ? end : end + 1;
  }
  EndLine(std::move(current), out);
}

}  // namespace

std::string StringLiteral(std::string_view text) {
  std::string out = "\"";
  for (char c : text) AppendEscaped(c, out);
  return out + "\"";
}

std::string StringViewLiteral(std::string_view text) {
  std::string literal = StringLiteral(text);
  const bool plain = text.size() < 10'000 && text.find('\0') == std::string_view::npos;
  return plain ? literal : "{" + literal + ", " + std::to_string(text.size()) + "}";
}

std::vector<std::string> StringLiteralLines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line = "\"";
  for (char c : text) {
    if (line.size() + 5 > width) {
      lines.push_back(std::exchange(line, "\"") + "\"");
    }
    AppendEscaped(c, line);
  }
  lines.push_back(line + "\"");
  return lines;
}

std::vector<std::string> CommentLines(const std::vector<std::string>& lines, std::size_t width) {
  std::vector<std::string> out;
  for (const std::string& line : CleanLines(lines)) Wrap(line, width, out);
  return out;
}

std::string InOneLine(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : CleanLines(lines)) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos) out += (out.empty() ? "" : " ") + line.substr(start);
  }
  return out;
}

std::string Hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[hash >> shift & 0xF];
  return out;
}

std::string InComment(std::string_view text, std::size_t limit) {
  std::string out;
  std::string_view more;
  std::size_t quotes = 0, longest = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeUtf8(text.substr(i));
    if (out.size() + c.size > limit) {
      more = "...";
      break;
    }
    const bool shown = c.valid && !IsLineBreak(c.value) && !IsInvisible(c.value);
    out.append(shown ? text.substr(i, c.size) : std::string_view(" "));
    quotes = text[i] == '`' ? quotes + 1 : 0;
    longest = std::max(longest, quotes);
    i += c.size;
  }
  if (longest != 0) out = " " + out + " ";
  const std::string fence(longest + 1, '`');
  return fence + out + fence + std::string(more);
}

}  // namespace kgen::generator::emit
