// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// /debug as text and as JSON.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

#include "controller/debug/forms.h"
#include "controller/debug/plot.h"
#include "core/json/quote.h"

namespace kgen::controller {
namespace {

using detail::QuoteJson;

constexpr std::string_view kFailed = "failed: reason withheld";

std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// One line, whatever the text has.
std::string OneLine(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

void AppendTable(std::string& to, const DebugTable& table) {
  to.append(table.title).append(":\n");
  std::vector<std::vector<std::string>> lines(1);
  for (const std::string& column : table.columns) lines.front().push_back(OneLine(column));
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const DebugCell& cell : row) lines.back().push_back(cell.text.empty() ? "-" : OneLine(cell.text));
  }
  std::vector<std::size_t> widths(table.columns.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  for (const auto& line : lines) {
    to += ' ';
    for (std::size_t i = 0; i < line.size(); ++i) {
      to.append(" ").append(line[i]);
      if (i + 1 < line.size()) to.append(widths[i] - Width(line[i]) + 1, ' ');
    }
    to += '\n';
  }
  if (table.rows.empty()) to += "  none\n";
  if (!table.note.empty()) to.append("  ").append(table.note).append("\n");
}

// The newest value of each line.
void AppendLast(std::string& to, const DebugPlot& plot) {
  to.append(plot.title).append(":");
  std::string_view before = " ";
  for (const DebugPlot::Line& line : plot.lines) {
    const double last = line.samples.empty() ? NAN : static_cast<double>(line.samples.back());
    to.append(std::exchange(before, ", ")).append(OneLine(line.name)).append(" ").append(ValueText(plot.unit, last));
  }
  if (plot.lines.empty()) to += " none";
  if (!plot.note.empty()) to.append("; ").append(plot.note);
  to += '\n';
}

// ---- JSON

// A name as a member: "Last error" is "last_error".
std::string MemberName(std::string_view title) {
  std::string name(title);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ') c = '_';
  }
  return name;
}

std::string NumberText(double number) {
  if (!std::isfinite(number)) return "null";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

// Joins members of an object or elements of a list.
class Joined {
 public:
  Joined(std::string& to, char open, char close) : to_(to), close_(close) { to_ += open; }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  ~Joined() { to_ += close_; }
  std::string& Next() {
    if (!first_) to_ += ',';
    first_ = false;
    return to_;
  }
  std::string& Next(std::string_view name) { return Next().append(QuoteJson(name)).append(":"); }

 private:
  std::string& to_;
  const char close_;
  bool first_ = true;
};

void AppendRows(std::string& to, const DebugTable& table) {
  Joined rows(to, '[', ']');
  for (const auto& row : table.rows) {
    Joined members(rows.Next(), '{', '}');
    for (std::size_t i = 0; i < row.size(); ++i) {
      members.Next(MemberName(table.columns[i])) += row[i].number ? NumberText(*row[i].number) : QuoteJson(row[i].text);
    }
  }
}

void AppendPlot(std::string& to, const DebugPlot& plot) {
  Joined members(to, '{', '}');
  members.Next("step_seconds") += NumberText(std::chrono::duration<double>(plot.step).count());
  if (!plot.note.empty()) members.Next("note") += QuoteJson(plot.note);
  Joined lines(members.Next("lines"), '{', '}');
  for (const DebugPlot::Line& line : plot.lines) {
    Joined samples(lines.Next(line.name), '[', ']');
    for (const float sample : line.samples) samples.Next() += NumberText(static_cast<double>(sample));
  }
}

void AppendSection(std::string& to, const DebugSection& section) {
  Joined members(to, '{', '}');
  if (!section.text.empty()) members.Next("text") += QuoteJson(section.text);
  for (const DebugTable& table : section.tables) {
    AppendRows(members.Next(MemberName(table.title)), table);
    if (!table.note.empty()) members.Next(MemberName(table.title) + "_note") += QuoteJson(table.note);
  }
  if (section.plots.empty()) return;
  Joined plots(members.Next("plots"), '{', '}');
  for (const DebugPlot& plot : section.plots) AppendPlot(plots.Next(MemberName(plot.title)), plot);
}

}  // namespace

DebugForm FormFor(std::string_view accept) noexcept {
  const auto names = [accept](std::string_view type) {
    return !std::ranges::search(accept, type, [](char a, char b) {
              return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
            }).empty();
  };
  if (names("text/html")) return DebugForm::kHtml;
  return names("application/json") ? DebugForm::kJson : DebugForm::kText;
}

std::string DebugText(const std::vector<NamedSection>& sections) {
  std::string text;
  for (const auto& [name, section] : sections) {
    text.append(text.empty() ? "# " : "\n# ").append(name).append("\n");
    if (section == nullptr) {
      text.append(kFailed).append("\n");
      continue;
    }
    text += section->text;
    if (!text.ends_with('\n')) text += '\n';
    for (const DebugPlot& plot : section->plots) AppendLast(text, plot);
    for (const DebugTable& table : section->tables) AppendTable(text, table);
  }
  return text;
}

std::string DebugJson(const std::vector<NamedSection>& sections) {
  std::string text;
  {
    Joined members(text, '{', '}');
    for (const auto& [name, section] : sections) {
      std::string& to = members.Next(name);
      if (section != nullptr) {
        AppendSection(to, *section);
      } else {
        to.append("{\"error\":").append(QuoteJson(kFailed)).append("}");
      }
    }
  }
  return text += '\n';
}

}  // namespace kgen::controller
