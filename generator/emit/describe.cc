// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/describe.h"

#include "generator/emit/text.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;

constexpr std::size_t kMostValues = 12;  // of an enum in a comment

std::string Values(const model::Schema& schema) {
  std::string out;
  std::size_t count = 0;
  for (const model::EnumValue& value : schema.enum_values) {
    if (++count > kMostValues) return out + ", ...";
    out += (out.empty() ? "" : ", ") + InComment(value.text, 40);
  }
  return out;
}

const model::Schema& Innermost(const model::Schema& schema) {
  const model::Schema* inner = &schema;
  while (inner->element != nullptr) inner = inner->element.get();
  return *inner;
}

void Add(const std::string& sentence, std::string& out) {
  if (sentence.empty()) return;
  out += (out.empty() ? "" : " ") + sentence + ".";
}

std::string Range(const model::Facets& facets) {
  std::string out;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) out += (out.empty() ? "" : ", ") + std::string(what) + " " + InComment(value, 40);
  };
  add(facets.exclusive_minimum ? "more than" : "at least", facets.minimum);
  add(facets.exclusive_maximum ? "less than" : "at most", facets.maximum);
  add("at least this many characters:", facets.min_length);
  add("at most this many characters:", facets.max_length);
  add("at least this many elements:", facets.min_items);
  add("at most this many elements:", facets.max_items);
  add("pattern", facets.pattern);
  if (!out.empty() && out[0] >= 'a') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string Merge(const model::MergeInfo& merge) {
  std::string out;
  if (!merge.list_map_keys.empty()) {
    for (const std::string& key : merge.list_map_keys) out += (out.empty() ? "" : ", ") + InComment(key, 40);
    return "Elements are told apart by " + out;
  }
  if (merge.list_type == "set") return "A set: no element twice";
  if (!merge.patch_merge_key.empty()) return "Merged by " + InComment(merge.patch_merge_key, 40);
  return out;
}

// What the declaration does not say.
std::string Facts(const model::Field& field) {
  const model::Schema& schema = *field.schema;
  std::string out;
  if (field.required) Add("Required", out);
  if (schema.nullable) Add("May be null", out);
  const std::string values = Values(Innermost(schema));
  if (!values.empty()) Add("Known values: " + values, out);
  // A default that says nothing but the zero value is left out; documents from Go are full of them.
  const std::string& fallback = schema.default_json;
  if (!fallback.empty() && fallback != "{}" && fallback != "\"\"" && fallback != "0" && fallback != "null") {
    Add("Default: " + InComment(fallback), out);
  }
  if (schema.facets != nullptr) Add(Range(*schema.facets), out);
  Add(Merge(schema.merge), out);
  return out;
}

}  // namespace

std::string DescribeType(const model::Api& api, const model::Schema& schema) {
  switch (schema.kind) {
    case Kind::kList:
      return "list of " + DescribeType(api, *schema.element);
    case Kind::kMap:
      return "map of " + DescribeType(api, *schema.element);
    case Kind::kRef:
      return api.types[schema.ref].name;
    case Kind::kObject:
      return "object";
    default:
      break;
  }
  std::string out(model::Describe(schema.kind));
  return schema.format.empty() ? out : out + " (" + InComment(schema.format, 40) + ")";
}

std::vector<std::string> DescribeField(const model::Api& api, const model::Field& field) {
  std::vector<std::string> lines = field.description;
  if (lines.empty() && field.schema->kind != Kind::kRef) lines = field.schema->description;
  const std::string facts = Facts(field);
  if (lines.empty()) {
    std::string type = DescribeType(api, *field.schema);
    return {InComment(field.name) + ": " + type + "." + (facts.empty() ? "" : " " + facts)};
  }
  if (!facts.empty()) lines.push_back(facts);
  return lines;
}

std::vector<std::string> DescribeStruct(const model::Schema& schema, const std::string& fallback) {
  std::vector<std::string> lines = schema.description;
  if (lines.empty()) lines.push_back(fallback);
  for (const model::ValidationRule& rule : schema.validations) {
    const std::string text = rule.message.empty() ? rule.rule : rule.message;
    if (!text.empty()) lines.push_back("Checked by the server: " + InComment(text, 200));
  }
  return lines;
}

}  // namespace kgen::generator::emit
