// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/tree.h"

#include <utility>

#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {

Tree Tree::Json(std::string json) {
  Tree tree;
  tree.json_ = std::move(json);
  return tree;
}

Tree Tree::Text(std::string_view text) {
  Tree tree;
  yaml::AppendJsonString(text, tree.json_);
  return tree;
}

Tree Tree::List(std::vector<Tree> elements) {
  Tree tree;
  tree.list_ = true;
  tree.elements_ = std::move(elements);
  return tree;
}

Tree Tree::Texts(const std::vector<std::string>& texts) {
  Tree tree = List();
  for (const std::string& text : texts) tree.Add(Text(text));
  return tree;
}

std::string Tree::ToText() const {
  const auto parsed = yaml::Parse(json_);
  return parsed && parsed->documents().size() == 1 ? std::string(parsed->documents()[0].text()) : std::string();
}

bool Tree::IsTrue(std::string_view key) const {
  const Tree* value = Find(key);
  return value != nullptr && value->ToJson() == "true";
}

std::string Tree::ToJson() const {
  std::string out;
  Append(out);
  return out;
}

void Tree::Append(std::string& out) const {
  if (!json_.empty()) {
    out += json_;
    return;
  }
  char separator = list_ ? '[' : '{';
  for (const Tree& element : elements_) {
    out += std::exchange(separator, ',');
    element.Append(out);
  }
  for (const auto& [key, value] : members_) {
    out += std::exchange(separator, ',');
    yaml::AppendJsonString(key, out);
    out += ':';
    value.Append(out);
  }
  if (separator != ',') out += separator;
  out += list_ ? ']' : '}';
}

}  // namespace kgen::generator::crd
