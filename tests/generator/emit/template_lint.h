// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LintTemplate(): finds the errors of a template that the engine does not report.
#ifndef KGEN_TESTS_GENERATOR_EMIT_TEMPLATE_LINT_H_
#define KGEN_TESTS_GENERATOR_EMIT_TEMPLATE_LINT_H_

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::generator::emit {
namespace detail {

struct Tag {
  char type = 0;  // '#', '^', '/', '>', '!', '&', or 0 for a variable
  std::string name;
};

inline Tag ParseTag(std::string_view text) {
  Tag tag;
  const auto trim = [&] {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  };
  trim();
  if (!text.empty() && std::string_view("#^/>!&{=").find(text.front()) != std::string_view::npos) {
    tag.type = text.front();
    text.remove_prefix(1);
    trim();
  }
  tag.name = text;
  return tag;
}

}  // namespace detail

// The errors of a template, one line each: tags that are not closed or not opened, names that are not in `known`,
// partials that are not in `partials`.
inline std::vector<std::string> LintTemplate(std::string_view text, const std::set<std::string, std::less<>>& known,
                                             const std::set<std::string, std::less<>>& partials) {
  std::vector<std::string> faults;
  std::vector<std::string> open;
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
    const auto line =
        std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const auto fault = [&](const std::string& what) {
      faults.push_back(std::string("line ").append(line).append(": ").append(what));
    };
    const std::size_t end = text.find("}}", at);
    if (end == std::string_view::npos) {
      fault("a tag without end");
      return faults;
    }
    const detail::Tag tag = detail::ParseTag(text.substr(at + 2, end - at - 2));
    at = end + 2;
    if (tag.type == '!') continue;
    if (tag.type == '{' || tag.type == '=') {
      fault("a tag that the templates do without: " + tag.name);
    } else if (tag.type == '>') {
      if (!partials.contains(tag.name)) fault("no such partial: " + tag.name);
    } else if (tag.type == '/') {
      if (open.empty() || open.back() != tag.name) {
        fault("closes " + tag.name + ", open is " + (open.empty() ? std::string("nothing") : open.back()));
      } else {
        open.pop_back();
      }
    } else {
      if (tag.name != "." && !known.contains(tag.name)) fault("unknown name: " + tag.name);
      if (tag.type == '#' || tag.type == '^') open.push_back(tag.name);
    }
  }
  for (const std::string& name : open) faults.push_back("never closed: " + name);
  return faults;
}

}  // namespace kgen::generator::emit

#endif  // KGEN_TESTS_GENERATOR_EMIT_TEMPLATE_LINT_H_
