// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/marker_value.h"

#include <charconv>
#include <map>
#include <utility>

#include "core/json/number.h"
#include "generator/diagnostic.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

using Text = std::expected<std::string, std::string>;

constexpr int kMostLevels = 64;

// Takes "text" or `text` from the front of `text`.
Text TakeQuoted(std::string_view& text) {
  if (text[0] == '`') {
    const std::size_t end = text.find('`', 1);
    if (end == std::string_view::npos)
      return std::unexpected("the value begins with a back quote and does not end on this line");
    std::string out(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return out;
  }
  std::string out;
  std::size_t at = 1;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    if (++at == text.size()) break;
    const char c = text[at];
    if (c != '"' && c != '\\' && c != '/' && c != 'n' && c != 't')
      return std::unexpected("the escape \\" + std::string(1, c) + " is unknown; write the value in back quotes");
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  if (at >= text.size()) return std::unexpected("the value begins with a quote and does not end on this line");
  text.remove_prefix(at + 1);
  return out;
}

bool BeginsQuoted(std::string_view text) { return !text.empty() && (text[0] == '"' || text[0] == '`'); }

// Reads values that may contain others.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  Text Read() {
    Text out = Value({});
    if (!out) return out;
    Skip();
    if (!rest_.empty()) return std::unexpected("there is text behind the value: " + Quote(rest_, 40));
    return out;
  }

 private:
  void Skip() { rest_ = TrimSpaces(rest_); }
  bool Take(char c) {
    Skip();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A word without quotes ends before one of `ends`.
  Text Value(std::string_view ends) {
    Skip();
    if (levels_ == kMostLevels) return std::unexpected("the value has too many levels");
    if (rest_.empty()) return std::unexpected("a value is missing at its end");
    if (rest_[0] == '{' || rest_[0] == '[') {
      ++levels_;
      Text out = rest_[0] == '[' ? List('[', ']') : IsObject() ? Object() : List('{', '}');
      --levels_;
      return out;
    }
    if (BeginsQuoted(rest_)) {
      const Text text = TakeQuoted(rest_);
      if (!text) return text;
      return Json(*text);
    }
    const std::string_view word = Word(ends);
    if (word.empty()) return std::unexpected("a value is missing before " + Quote(rest_, 40));
    if (word == "true" || word == "false" || word == "null" || IsJsonNumber(word)) return std::string(word);
    return Json(word);
  }

  static std::string Json(std::string_view text) {
    std::string out;
    yaml::AppendJsonString(text, out);
    return out;
  }

  std::string_view Word(std::string_view ends) {
    const std::size_t end = ends.empty() ? rest_.size() : std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view word = TrimSpaces(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return word;
  }

  // Whether the braces at the front have keys: {a: 1}, {"a": 1} and {}, but not {a, b}.
  bool IsObject() const {
    std::string_view at = TrimSpaces(rest_.substr(1));
    if (at.starts_with('}')) return true;
    if (!BeginsQuoted(at)) {
      const std::size_t end = at.find_first_of(":,{}[]\"`");
      return end != std::string_view::npos && at[end] == ':' && end != 0;
    }
    if (!TakeQuoted(at)) return false;
    return TrimSpaces(at).starts_with(':');
  }

  Text List(char open, char close) {
    Take(open);
    std::string out = "[";
    const char ends[] = {',', close, '\0'};
    while (!Take(close)) {
      const Text value = Value(ends);
      if (!value) return value;
      if (out.size() > 1) out += ',';
      out += *value;
      if (!Take(',') && !rest_.starts_with(close)) return Unclosed(close);
    }
    return out + "]";
  }

  Text Object() {
    Take('{');
    std::map<std::string, std::string> members;
    while (!Take('}')) {
      Skip();
      Text key = BeginsQuoted(rest_) ? TakeQuoted(rest_) : Text(std::string(Word(":,{}[]")));
      if (!key) return key;
      if (!Take(':')) return std::unexpected("the key " + Quote(*key) + " has no value");
      Text value = Value(",}");
      if (!value) return value;
      if (!members.emplace(*key, std::move(*value)).second)
        return std::unexpected("the key " + Quote(*key) + " is given twice");
      if (!Take(',') && !rest_.starts_with('}')) return Unclosed('}');
    }
    std::string out = "{";
    for (const auto& [key, value] : members) out += (out.size() > 1 ? "," : "") + Json(key) + ":" + value;
    return out + "}";
  }

  std::unexpected<std::string> Unclosed(char close) const {
    if (rest_.empty()) return std::unexpected("it does not end with " + std::string(1, close));
    return std::unexpected("there is no comma before " + Quote(rest_, 40));
  }

  std::string_view rest_;
  int levels_ = 0;
};

}  // namespace

std::string AsciiLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool IsJsonNumber(std::string_view text) {
  double value = 0;
  const bool fits = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  return fits && detail::IsJsonNumber(text);
}

std::expected<ReadValue, std::string> TakeValue(std::string_view& text, std::string_view ends) {
  ReadValue out;
  text = TrimSpaces(text);
  if (BeginsQuoted(text)) {
    auto quoted = TakeQuoted(text);
    if (!quoted) return std::unexpected(quoted.error());
    out = {std::move(*quoted), true};
    text = TrimSpaces(text);
  } else {
    std::size_t at = 0;
    for (int depth = 0; at < text.size(); ++at) {
      if (text[at] == '{' || text[at] == '[') ++depth;
      if (text[at] == '}' || text[at] == ']') --depth;
      if (depth <= 0 && ends.find(text[at]) != std::string_view::npos) break;
    }
    out.text = TrimSpaces(text.substr(0, at));
    text.remove_prefix(at);
  }
  if (!text.empty() && ends.find(text[0]) == std::string_view::npos)
    return std::unexpected("there is text behind the quotes: " + Quote(text, 40));
  return out;
}

std::expected<std::vector<std::string>, std::string> TakeList(std::string_view& text, std::string_view ends) {
  text = TrimSpaces(text);
  std::vector<std::string> out;
  if (text.starts_with('{')) {
    auto braces = TakeValue(text, ends);
    if (!braces) return std::unexpected(braces.error());
    if (!braces->text.ends_with('}')) return std::unexpected("the list does not end with }");
    std::string_view inner = std::string_view(braces->text).substr(1, braces->text.size() - 2);
    do {
      auto value = TakeValue(inner, ",");
      if (!value) return std::unexpected(value.error());
      if (value->text.empty() && !value->quoted) return std::unexpected("the list has an empty element");
      out.push_back(std::move(value->text));
      inner.remove_prefix(inner.empty() ? 0 : 1);
    } while (!TrimSpaces(inner).empty());
    return out;
  }
  const std::string both = std::string(ends) + ";";
  for (;;) {
    auto value = TakeValue(text, both);
    if (!value) return std::unexpected(value.error());
    if (value->text.empty() && !value->quoted) return std::unexpected("the list has an empty element");
    out.push_back(std::move(value->text));
    if (!text.starts_with(';')) return out;
    text = TrimSpaces(text.substr(1));
    if (text.empty() || ends.find(text[0]) != std::string_view::npos) return out;
  }
}

std::expected<std::string, std::string> ToJson(std::string_view text) {
  text = TrimSpaces(text);
  if (text == "null") return std::unexpected("null says the same as no value");
  auto out = JsonReader(text).Read();
  if (!out) return std::unexpected("the value is neither JSON nor text: " + out.error());
  return out;
}

}  // namespace kgen::generator::crd
