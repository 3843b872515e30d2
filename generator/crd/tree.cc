// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/tree.h"

#include <optional>
#include <utility>

#include "codec/yaml/tree.h"
#include "core/json/quote.h"
#include "core/json/utf8.h"

namespace kgen::generator::crd {
namespace {

bool AddNode(const yaml::Node& node, yaml::TreeBuilder& builder) {
  if (node.is_scalar()) {
    const std::string_view text = builder.Keep(node.text());
    return builder.Scalar(yaml::TreeBuilder::MakeScalar(node.kind(), text, {}, node.plain(), node.as_bool()));
  }
  if (!builder.Open(node.is_map(), {})) return false;
  for (const yaml::Node& item : node.items()) {
    if (!AddNode(item, builder)) return false;
  }
  for (const yaml::Entry& entry : node.entries()) {
    if (!builder.Key(builder.Keep(entry.key), {}, false, false) || !AddNode(entry.value, builder)) return false;
  }
  return builder.Close();
}

}  // namespace

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

std::string Tree::ToText() const { return detail::UnquoteJson(json_).value_or(std::string()); }

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

std::expected<yaml::Stream, yaml::SyntaxError> Tree::ToStream() const {
  yaml::TreeBuilder builder({}, {});
  if (!AddTo(builder)) return std::unexpected(builder.error());
  builder.FinishDocument();
  return builder.Finish(/*json=*/true);
}

bool Tree::AddTo(yaml::TreeBuilder& builder) const {
  if (const std::optional<std::string> text = detail::UnquoteJson(json_)) {
    const char* const end = text->data() + text->size();
    if (detail::FindInvalidUtf8(text->data(), end) != end) return builder.Fail({}, json_ + " is not UTF-8");
    return builder.Scalar(yaml::TreeBuilder::MakeScalar(yaml::Kind::kString, builder.Keep(*text), {}, false));
  }
  if (!json_.empty()) {
    const auto parsed = yaml::Parse(json_);
    if (!parsed) return builder.Fail({}, json_ + ": " + parsed.error().message);
    // A null is no document.
    return AddNode(parsed->documents().empty() ? yaml::Node() : parsed->documents()[0], builder);
  }
  if (!builder.Open(!list_, {})) return false;
  for (const Tree& element : elements_) {
    if (!element.AddTo(builder)) return false;
  }
  for (const auto& [key, value] : members_) {
    if (!builder.Key(builder.Keep(key), {}, false, false) || !value.AddTo(builder)) return false;
  }
  return builder.Close();
}

}  // namespace kgen::generator::crd
