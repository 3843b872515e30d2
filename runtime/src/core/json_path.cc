// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/json_path.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/json/lexer.h"
#include "core/json/quote.h"
#include "core/quoted.h"

namespace kgen::detail {
namespace {

constexpr std::size_t kMostSteps = 100;  // SetJson() and RemoveJson() recurse

std::string_view Trim(std::string_view text) noexcept {
  while (!text.empty() && IsJsonSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsJsonSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::unexpected<Error> Malformed() { return Fail(Code::kDecode, "the value is not JSON"); }

// Returns the end of the value that begins at `at`, or npos. Counts brackets outside of strings; a scalar ends where
// punctuation begins.
std::size_t EndOfValue(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  const std::size_t begin = at;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      const char* const end = SkipString(text.data() + at, text.data() + text.size());
      if (end == nullptr) return std::string_view::npos;
      at = static_cast<std::size_t>(end - text.data());
    } else if (c == '{' || c == '[') {
      ++depth, ++at;
      continue;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return std::string_view::npos;
      --depth, ++at;
    } else if (depth > 0) {
      ++at;
      continue;
    } else {
      while (at < text.size() && !IsJsonSpace(text[at]) && std::string_view(",:]}[{\"").find(text[at]) == text.npos)
        ++at;
      return at == begin ? std::string_view::npos : at;
    }
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

// The position of a member or element. `begin` includes the name, if there is one.
struct Entry {
  std::string_view name;  // in quotes; "" in a list
  std::size_t begin, value_begin, end;
};

// The entries of an object or a list, read one after the other.
class Entries {
 public:
  explicit Entries(std::string_view text) : text_(text) {
    SkipSpace();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    object_ = first == '{';
    good_ = object_ || first == '[';
    if (good_) ++at_;
  }
  bool object() const noexcept { return object_; }
  bool good() const noexcept { return good_; }
  std::size_t position() const noexcept { return at_; }  // after the last entry, the position of the closing bracket

  // Returns false at the end, and if the text cannot be read.
  bool Next(Entry& entry) noexcept {
    SkipSpace();
    if (!good_ || !(good_ = at_ < text_.size())) return false;
    const bool closes = text_[at_] == (object_ ? '}' : ']');
    if (closes) return (good_ = first_ || !comma_) && false;
    if (!first_ && !comma_) return good_ = false;
    first_ = false;
    entry = {{}, at_, at_, 0};
    if (object_) {
      const std::size_t end = text_[at_] == '"' ? EndOfValue(text_, at_) : std::string_view::npos;
      if (end == std::string_view::npos) return good_ = false;
      entry.name = text_.substr(at_, end - at_);
      at_ = end;
      SkipSpace();
      if (at_ >= text_.size() || text_[at_] != ':') return good_ = false;
      ++at_;
      SkipSpace();
      entry.value_begin = at_;
    }
    entry.end = EndOfValue(text_, at_);
    if (entry.end == std::string_view::npos) return good_ = false;
    at_ = entry.end;
    SkipSpace();
    comma_ = at_ < text_.size() && text_[at_] == ',';
    if (comma_) ++at_;
    return true;
  }

 private:
  void SkipSpace() noexcept {
    while (at_ < text_.size() && IsJsonSpace(text_[at_])) ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
  bool object_ = false, good_ = false, first_ = true, comma_ = false;
};

bool Names(std::string_view quoted, std::string_view name) {
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return inside == name;
  return UnquoteJson(quoted) == name;
}

std::string Describe(const JsonStep& step) {
  return step.index ? '[' + std::to_string(*step.index) + ']' : Quoted(step.name);
}

// The result of one step into a container.
struct Found {
  std::vector<Entry> entries;  // all of that name, or the one of that index; the last one counts
  std::size_t count = 0;       // the number of all entries
  std::size_t close = 0;       // where the closing bracket is
};

Result<Found> FindStep(std::string_view json, const JsonStep& step) {
  Entries entries(json);
  if (!entries.good() || entries.object() == step.index.has_value()) {
    return Fail(Code::kDecode, Describe(step) + " cannot be found in " + std::string(KindOfJson(json)));
  }
  Found found;
  for (Entry entry; entries.Next(entry); ++found.count) {
    if (step.index ? found.count == *step.index : Names(entry.name, step.name)) found.entries.push_back(entry);
  }
  if (!entries.good()) return Malformed();
  found.close = entries.position();
  return found;
}

}  // namespace

Result<std::vector<JsonStep>> ParseJsonPath(std::string_view path) {
  const auto bad = [&](std::string_view why, std::size_t at) {
    return Fail(Code::kInvalidArgument,
                "path " + Quoted(path) + ": " + std::string(why) + " at byte " + std::to_string(at));
  };
  std::vector<JsonStep> steps;
  for (std::size_t at = 0; at < path.size();) {
    if (path[at] == '[') {
      const std::size_t begin = ++at;
      const char quote = at < path.size() ? path[at] : '\0';
      if (quote == '\'' || quote == '"') {
        const std::size_t end = path.find(quote, at + 1);
        if (end == std::string_view::npos) return bad("a quote is missing", path.size());
        steps.push_back({.name = std::string(path.substr(at + 1, end - at - 1))});
        at = end + 1;
      } else {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(path.data() + at, path.data() + path.size(), index);
        if (error != std::errc()) return bad("'[' must be followed by an index or a quoted name", begin);
        steps.push_back({.index = index});
        at = static_cast<std::size_t>(end - path.data());
      }
      if (at >= path.size() || path[at] != ']') return bad("']' is missing", at);
      ++at;
    } else {
      if (!steps.empty() && path[at++] != '.') return bad("'.' or '[' is missing", at - 1);
      const std::size_t end = std::min(path.find_first_of(".[", at), path.size());
      if (end == at) return bad("a name is missing", at);
      steps.push_back({.name = std::string(path.substr(at, end - at))});
      at = end;
    }
    if (steps.size() > kMostSteps) return bad("there are too many steps", at);
  }
  if (steps.empty()) return bad("a name is missing", 0);
  if (steps[0].index) return bad("an object has no elements", 0);
  return steps;
}

Result<std::string_view> FindJson(std::string_view json, JsonSteps steps) {
  json = Trim(json);
  for (const JsonStep& step : steps) {
    if (json == "null" || json.empty()) return Fail(Code::kNotFound, Describe(step) + " is absent");
    Result<Found> found = FindStep(json, step);
    if (!found) return Fail(std::move(found).error());
    if (found->entries.empty()) return Fail(Code::kNotFound, Describe(step) + " is absent");
    const Entry& entry = found->entries.back();
    json = json.substr(entry.value_begin, entry.end - entry.value_begin);
  }
  if (json == "null" || json.empty()) return Fail(Code::kNotFound, "the value is absent");
  return json;
}

Result<std::string> SetJson(std::string_view json, JsonSteps steps, std::string_view value) {
  if (steps.empty()) return std::string(value);
  const JsonStep& step = steps[0];
  json = Trim(json);
  if (json.empty() || json == "null") json = step.index ? "[]" : "{}";
  Result<Found> found = FindStep(json, step);
  if (!found) return Fail(std::move(found).error());
  std::string_view old;
  std::size_t begin = found->close, end = found->close;
  if (!found->entries.empty()) {
    begin = found->entries.back().value_begin;
    end = found->entries.back().end;
    old = json.substr(begin, end - begin);
  } else if (step.index && *step.index != found->count) {
    return Fail(Code::kInvalidArgument,
                Describe(step) + " is out of range: the list has " + std::to_string(found->count) + " elements");
  }
  Result<std::string> inner = SetJson(old, steps.subspan(1), value);
  if (!inner) return inner;
  std::string out(json.substr(0, begin));
  if (found->entries.empty()) {
    if (found->count > 0) out += ',';
    if (!step.index) out += QuoteJson(step.name) + ':';
  }
  return out.append(*inner).append(json.substr(end));
}

Result<std::optional<std::string>> RemoveJson(std::string_view json, JsonSteps steps) {
  json = Trim(json);
  if (json.empty() || json == "null") return std::nullopt;
  Result<Found> found = FindStep(json, steps[0]);
  if (!found) return Fail(std::move(found).error());
  if (found->entries.empty()) return std::nullopt;
  if (steps.size() > 1) {
    const Entry& entry = found->entries.back();
    auto inner = RemoveJson(json.substr(entry.value_begin, entry.end - entry.value_begin), steps.subspan(1));
    if (!inner || !*inner) return inner;
    return std::string(json.substr(0, entry.value_begin)).append(**inner).append(json.substr(entry.end));
  }
  // The remaining entries, joined by commas again.
  Entries entries(json);
  std::string out(1, json[0]);
  std::size_t i = 0;
  for (Entry entry; entries.Next(entry);) {
    if (i < found->entries.size() && found->entries[i].begin == entry.begin) {
      ++i;
      continue;
    }
    if (out.size() > 1) out += ',';
    out += json.substr(entry.begin, entry.end - entry.begin);
  }
  return out.append(1, json.back());
}

Result<void> ForEachJson(std::string_view json, const std::function<void(std::string_view, std::string_view)>& visit) {
  Entries entries(json);
  for (Entry entry; entries.Next(entry);) {
    const std::string_view value = json.substr(entry.value_begin, entry.end - entry.value_begin);
    if (!entries.object()) {
      visit({}, value);
      continue;
    }
    const std::optional<std::string> name = UnquoteJson(entry.name);
    if (!name) return Malformed();
    visit(*name, value);
  }
  if (!entries.good()) return Malformed();
  return {};
}

std::string_view KindOfJson(std::string_view json) noexcept {
  json = Trim(json);
  const char first = json.empty() ? '\0' : json[0];
  if (first == '{') return "an object";
  if (first == '[') return "a list";
  if (first == '"') return "a string";
  if (first == '-' || (first >= '0' && first <= '9')) return "a number";
  if (json == "true" || json == "false") return "a boolean";
  return json == "null" ? "null" : "text that is not JSON";
}

Result<std::string> StringOfJson(std::string_view json) {
  std::optional<std::string> text = UnquoteJson(Trim(json));
  if (!text) return Malformed();
  return *std::move(text);
}

}  // namespace kgen::detail
