// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/log_line.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>

#include "core/json/quote.h"

namespace kgen::detail {
namespace {

constexpr std::string_view kCut = "...";

std::string Timestamp(WallTime time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<long>(clock.hours().count()), static_cast<long>(clock.minutes().count()),
                static_cast<long>(clock.seconds().count()), static_cast<long>(clock.subseconds().count()));
  return text;
}

// Returns text of a server or of user code so that it stays on one line.
std::string Escaped(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7F) {
      line += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      line.append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      line.append("\\x").append({kDigits[code >> 4], kDigits[code & 15]});
    }
  }
  return line;
}

// Returns at most the first `size` bytes, without half of a UTF-8 sequence at the end.
std::string_view Beginning(std::string_view text, std::size_t size) {
  if (size >= text.size()) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

// Returns render(text), or if that does not fit into `room` bytes, what render() makes of a beginning of the text that
// does, and sets `cut`; nothing if not even "..." fits. Each byte of the text must become at least one byte.
template <typename Render>
std::string Fit(std::string_view text, std::size_t room, bool& cut, Render render) {
  if (text.size() <= room) {
    std::string all = render(text);
    if (all.size() <= room) return all;
  }
  cut = true;
  for (std::size_t size = std::min(text.size(), room);;) {
    const std::string_view begin = Beginning(text, size);
    std::string shown = render(std::string(begin).append(kCut));
    if (shown.size() <= room) return shown;
    if (begin.empty()) return {};
    size = std::min(begin.size() - 1, begin.size() * room / shown.size());  // escapes are spread evenly, as a rule
  }
}

bool IsPlain(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code > ' ' && code < 0x7F && c != '"' && c != '=' && c != '\\';
}

std::string LogfmtKey(std::string_view key) {
  std::string plain(key.empty() ? "_" : key);
  std::ranges::replace_if(plain, [](char c) { return !IsPlain(c); }, '_');
  return plain;
}

std::string LogfmtText(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsPlain) ? std::string(text) : QuoteJson(text);
}

// Adds fields to a line as long as they fit.
class StructuredBuilder {
 public:
  explicit StructuredBuilder(bool json) : json_(json), line_(json ? "{" : "") {}

  // A value takes up at most `most` bytes.
  void Add(std::string_view key, const LogValue& value, std::size_t most = kLogLineBytes) {
    if (full_) return;
    std::string begin(first_ ? "" : json_ ? "," : " ");
    begin.append(json_ ? QuoteJson(key) + ":" : LogfmtKey(key) + "=");
    const std::size_t used = line_.size() + begin.size() + kEnd.size();
    const std::size_t room = used < kLogLineBytes ? kLogLineBytes - used : 0;
    bool cut = false;
    const std::string shown = Shown(value, std::min(room, most), cut);
    full_ = cut && room <= most;
    if (shown.empty()) return;
    line_.append(begin).append(shown);
    first_ = false;
  }
  std::string Take() && { return std::move(line_ += json_ ? kEnd : kEnd.substr(1)); }

 private:
  std::string Shown(const LogValue& value, std::size_t room, bool& cut) const {
    const std::string other = value.is_text() ? std::string() : value.ToString();
    if (value.is_json()) {
      cut = other.size() > room;
      return cut ? std::string() : other;
    }
    return Fit(value.is_text() ? value.text() : other, room, cut,
               [this](std::string_view text) { return json_ ? QuoteJson(text) : LogfmtText(text); });
  }

  static constexpr std::string_view kEnd = "}\n";
  const bool json_;
  bool first_ = true;
  bool full_ = false;
  std::string line_;
};

constexpr std::string_view kHeadKeys[] = {"time", "level", "component", "message"};

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

}  // namespace

std::string TextLine(const LogHead& head, std::string_view sentence) {
  std::string line = Timestamp(head.time);
  line.append(" ").append(Upper(ToString(head.level))).append(" kgen: ");
  if (!head.cluster.empty()) line.append("cluster ").append(head.cluster).append(": ");
  bool cut = false;
  return line.append(Fit(sentence, kLogLineBytes - line.size() - 1, cut, Escaped)).append("\n");
}

std::string StructuredLine(LogFormat format, const LogHead& head, std::string_view message,
                           std::span<const LogField> own, std::span<const LogField> more) {
  StructuredBuilder line(format == LogFormat::kJson);
  line.Add("time", Timestamp(head.time));
  line.Add("level", ToString(head.level));
  line.Add("component", ToString(head.component));
  line.Add("message", message, kLogLineBytes / 2);  // so that there is room for what it is about
  if (!head.cluster.empty()) line.Add("cluster", head.cluster);
  for (const LogField& field : own) {
    if (!field.value.is_text() || !field.value.text().empty()) line.Add(field.key, field.value);
  }
  for (const LogField& field : more) {
    const bool taken = std::ranges::find(kHeadKeys, field.key) != std::end(kHeadKeys) ||
                       (!head.cluster.empty() && field.key == "cluster") ||
                       std::ranges::find(own, field.key, &LogField::key) != own.end();
    line.Add(taken ? std::string(field.key) + "_" : std::string(field.key), field.value);
  }
  return std::move(line).Take();
}

std::string LogfmtField(const LogField& field) {
  const std::string value = field.value.ToString();
  return LogfmtKey(field.key) + "=" + (field.value.is_json() ? value : LogfmtText(value));
}

}  // namespace kgen::detail
