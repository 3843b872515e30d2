// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/field_selector.h"

#include <algorithm>
#include <utility>

#include "core/json/quote.h"

namespace kgen::cache {
namespace {

std::unexpected<Error> Bad(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "field selector \"" + std::string(text) + "\": " + std::string(why) +
                                          "; write PATH=VALUE or PATH!=VALUE");
}

// Splits at commas. A backslash keeps the character after it.
std::vector<std::string> Terms(std::string_view text) {
  std::vector<std::string> terms(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      terms.back() += text[++i];
    } else if (text[i] == ',') {
      terms.emplace_back();
    } else {
      terms.back() += text[i];
    }
  }
  std::erase_if(terms, [](const std::string& term) { return term.empty(); });
  return terms;
}

std::vector<detail::JsonStep> Steps(std::string_view path) {
  std::vector<detail::JsonStep> steps(1);
  for (const char c : path) {
    if (c == '.') {
      steps.emplace_back();
    } else {
      steps.back().name += c;
    }
  }
  return steps;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  for (const std::string& term : Terms(text)) {
    const std::size_t equals = term.find('=');
    if (equals == std::string::npos) return Bad(text, "\"" + term + "\" has no '='");
    Requirement requirement;
    requirement.equal = equals == 0 || term[equals - 1] != '!';
    const std::string path = term.substr(0, requirement.equal ? equals : equals - 1);
    if (path.empty()) return Bad(text, "\"" + term + "\" has no path");
    const bool twice = requirement.equal && term.compare(equals, 2, "==") == 0;
    requirement.path = Steps(path);
    requirement.value = term.substr(equals + (twice ? 2 : 1));
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool FieldSelector::Matches(std::string_view object) const {
  if (detail::KindOfJson(object) != "an object") return true;
  return std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    std::string value = requirement.value == "false" ? "false" : "";
    if (const Result<std::string_view> found = detail::FindJson(object, requirement.path)) {
      value = detail::UnquoteJson(*found).value_or(std::string(*found));
    }
    return (value == requirement.value) == requirement.equal;
  });
}

}  // namespace kgen::cache
