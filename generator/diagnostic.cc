// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/diagnostic.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "generator/utf8.h"

namespace kgen::generator {
namespace {

std::string_view Word(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "info";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

auto Key(const Diagnostic& d) {
  return std::tie(d.origin.file, d.origin.line, d.origin.column, d.severity, d.id, d.message, d.path);
}

// Characters that are invisible, or that change how others are shown.
bool IsInvisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB);
}

void AppendHex(std::uint32_t value, int digits, std::string& out) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
}

void AppendVisible(std::string_view text, std::size_t at, std::size_t& length, std::string& out) {
  const CodePoint decoded = DecodeUtf8(text.substr(at));
  const auto code_point = static_cast<char32_t>(decoded.value);
  length = decoded.size;
  if (!decoded.valid) {
    out += "\\x";
    AppendHex(static_cast<unsigned char>(text[at]), 2, out);
  } else if (code_point == U'"' || code_point == U'\\') {
    out += '\\';
    out += static_cast<char>(code_point);
  } else if (code_point == U'\n') {
    out += "\\n";
  } else if (code_point == U'\t') {
    out += "\\t";
  } else if (code_point < 0x80 && IsInvisible(code_point)) {
    out += "\\x";
    AppendHex(code_point, 2, out);
  } else if (IsInvisible(code_point)) {
    out += "\\u{";
    AppendHex(code_point, 4, out);
    out += '}';
  } else {
    out += text.substr(at, length);
  }
}

}  // namespace

std::uint32_t Diagnostics::AddFile(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<std::uint32_t>(files_.size());
}

std::string_view Diagnostics::FileName(std::uint32_t file) const {
  return file == 0 || file > files_.size() ? std::string_view() : std::string_view(files_[file - 1]);
}

void Diagnostics::Add(Severity severity, std::string_view id, Origin origin, std::string message, std::string path,
                      std::string hint) {
  if (severity == Severity::kWarning) {
    if (disabled_.contains(id)) return;
    if (promoted_.contains(id)) severity = Severity::kError;
  }
  if (severity == Severity::kError) ++error_count_;
  if (severity == Severity::kError && hint.empty()) hint = WayOut(id);
  if (severity == Severity::kWarning) ++warning_count_;
  diagnostics_.push_back(Diagnostic{severity, id, origin, std::move(message), std::move(path), std::move(hint)});
}

void Diagnostics::Error(std::string_view id, Origin origin, std::string message, std::string path, std::string hint) {
  Add(Severity::kError, id, origin, std::move(message), std::move(path), std::move(hint));
}

void Diagnostics::Warning(std::string_view id, Origin origin, std::string message, std::string path, std::string hint) {
  Add(Severity::kWarning, id, origin, std::move(message), std::move(path), std::move(hint));
}

void Diagnostics::Info(std::string_view id, Origin origin, std::string message, std::string path, std::string hint) {
  Add(Severity::kInfo, id, origin, std::move(message), std::move(path), std::move(hint));
}

void Diagnostics::Note(std::string_view id, Origin origin, std::string message, std::string path, std::string hint) {
  Add(Severity::kNote, id, origin, std::move(message), std::move(path), std::move(hint));
}

std::vector<Diagnostic> Diagnostics::Sorted() const {
  std::vector<Diagnostic> sorted = diagnostics_;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return Key(a) < Key(b); });
  sorted.erase(std::unique(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return Key(a) == Key(b); }),
               sorted.end());
  return sorted;
}

std::string Diagnostics::Describe(Origin origin) const {
  std::string out(FileName(origin.file));
  if (out.empty()) return std::string(program_);
  if (origin.line != 0) out += ":" + std::to_string(origin.line) + ":" + std::to_string(origin.column);
  if (origin.document != 0) out += " (document " + std::to_string(origin.document) + ")";
  return out;
}

std::string Diagnostics::Render(std::size_t limit, bool notes) const {
  std::string out;
  std::size_t shown[4] = {};
  std::size_t hidden[4] = {};
  for (const Diagnostic& d : Sorted()) {
    const auto kind = static_cast<std::size_t>(d.severity);
    if (d.severity == Severity::kNote && !notes) continue;
    if (shown[kind] == limit && d.severity != Severity::kNote) {
      ++hidden[kind];
      continue;
    }
    ++shown[kind];
    Origin origin = d.origin;
    origin.document = 0;
    out += Describe(origin);
    out += ": ";
    out += Word(d.severity);
    out += ": " + d.message + " [";
    out += d.id;
    out += "]\n";
    if (d.origin.document != 0 || !d.path.empty()) {
      out += "    at " + d.path;
      if (d.origin.document != 0) {
        out += std::string(d.path.empty() ? "" : ", ") + "document " + std::to_string(d.origin.document);
      }
      out += '\n';
    }
    if (!d.hint.empty()) out += "    hint: " + d.hint + "\n";
  }
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kInfo, Severity::kNote}) {
    const std::size_t count = hidden[static_cast<std::size_t>(severity)];
    if (count != 0)
      out += "... and " + std::to_string(count) + " more " + std::string(Word(severity)) + (count == 1 ? "\n" : "s\n");
  }
  return out;
}

std::span<const std::string_view> WarningIds() {
  static constexpr std::array<std::string_view, 20> kIds = {
      "crd-conversion",   "crd-name",       "crd-scale",      "crd-structural", "crd-v1beta1",
      "crd-versions",     "enum-range",     "enum-size",      "format-unknown", "items-list",
      "kind-twice",       "kind-unlisted",  "no-object-meta", "no-struct",      "required-unknown",
      "webhook-deadlock", "webhook-exempt", "webhook-name",   "yaml-boolean",   "yaml-key"};
  return kIds;
}

std::string Quote(std::string_view text, std::size_t limit) { return '"' + Visible(text, limit) + '"'; }

std::string Visible(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count == limit) {
      out += "...";
      break;
    }
    std::size_t length = 1;
    AppendVisible(text, at, length, out);
    at += length;
  }
  return out;
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t above = row[k];
      const std::size_t replace = diagonal + ((a[i - 1] | 0x20) == (b[k - 1] | 0x20) ? 0 : 1);
      row[k] = std::min({replace, row[k] + 1, row[k - 1] + 1});
      diagonal = above;
    }
  }
  return row.back();
}

std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& names) {
  std::string_view best;
  std::size_t best_distance = name.size() / 3 + 2;
  if (name.size() > 200) return {};
  for (const std::string_view candidate : names) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace kgen::generator
