// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

namespace {

// How to write what is expected in place of `node`; empty if there is no short answer.
std::string WayTo(const yaml::Node& node, std::string_view expected) {
  if (expected == "a string" && node.is_scalar() && !node.is_null()) return "put it in quotes: " + Quote(node.text());
  if (expected == "a boolean") return "write true or false, without quotes";
  if (expected == "a number") return "write a number without quotes";
  if (expected == "a list") return "write a list: each element on a line of its own, after a dash";
  if (expected.starts_with("a map") || expected == "a schema (a map)")
    return "write a map: each key on a line of its own, indented";
  return {};
}

}  // namespace

void ReportKind(const Context& context, const yaml::Node& node, std::string_view expected, const DocumentPath& path) {
  std::string message = "expected " + std::string(expected) + ", found " + std::string(yaml::Describe(node.kind()));
  if (node.is_scalar() && !node.is_null()) message += " " + Quote(node.text());
  context.diagnostics.Error("wrong-kind", context.At(node.mark()), std::move(message), path.Text(),
                            WayTo(node, expected));
}

Origin MapReader::KeyOrigin(std::string_view key) const {
  const yaml::Entry* entry = node_.FindEntry(key);
  return entry == nullptr ? origin() : context_.At(entry->mark);
}

const yaml::Node* MapReader::Any(std::string_view key) const {
  const yaml::Node* value = node_.Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const yaml::Node* MapReader::Expect(std::string_view key, yaml::Kind kind) const {
  const yaml::Node* value = Any(key);
  if (value == nullptr || value->kind() == kind) return value;
  ReportKind(context_, *value, yaml::Describe(kind), path_.Key(key));
  return nullptr;
}

std::optional<std::string> MapReader::String(std::string_view key) const {
  const yaml::Node* value = Expect(key, yaml::Kind::kString);
  if (value == nullptr) return std::nullopt;
  return std::string(value->text());
}

std::string MapReader::StringOr(std::string_view key, std::string_view otherwise) const {
  return String(key).value_or(std::string(otherwise));
}

std::optional<bool> MapReader::Bool(std::string_view key) const {
  const yaml::Node* value = Expect(key, yaml::Kind::kBool);
  if (value == nullptr) return std::nullopt;
  return value->as_bool();
}

bool MapReader::BoolOr(std::string_view key, bool otherwise) const { return Bool(key).value_or(otherwise); }

std::vector<std::string> MapReader::Strings(std::string_view key) const {
  std::vector<std::string> out;
  const yaml::Node* list = List(key);
  if (list == nullptr) return out;
  const DocumentPath path = path_.Key(key);
  std::size_t index = 0;
  for (const yaml::Node& item : list->items()) {
    if (item.is_string()) {
      out.emplace_back(item.text());
    } else {
      ReportKind(context_, item, "a string", path.Index(index));
    }
    ++index;
  }
  return out;
}

std::optional<std::string> MapReader::RequiredString(std::string_view key) const {
  const yaml::Node* value = Any(key);
  if (value != nullptr && !value->is_string()) return String(key);  // reports the kind
  if (value == nullptr || value->text().empty()) {
    const bool empty = value != nullptr;
    context_.diagnostics.Error("missing-key", empty ? context_.At(value->mark()) : origin(),
                               Quote(key) + (empty ? " is empty" : " is missing"), path_.Text());
    return std::nullopt;
  }
  return std::string(value->text());
}

std::vector<std::string> DescriptionLines(const yaml::Node* node) {
  std::vector<std::string> lines;
  if (node == nullptr || node->is_null() || !node->is_scalar()) return lines;
  std::string_view rest = node->text();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string line;
    for (char c : rest.substr(0, end)) {
      if (c != '\r') line += c;
    }
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty() || !lines.empty()) lines.push_back(std::move(line));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace kgen::generator::parse
