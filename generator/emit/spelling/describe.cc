// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/describe.h"

#include <algorithm>
#include <utility>

#include "generator/emit/spelling/text.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;

using Lines = std::vector<std::string>;

void Add(std::string sentence, Lines& out) {
  if (sentence.empty()) return;
  if (sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  out.push_back(sentence + (sentence.ends_with("...") ? "" : "."));
}

// The elements of `lines` that are in `others` too.
void Keep(const Lines& others, Lines& lines) {
  std::erase_if(lines,
                [&](const std::string& line) { return std::find(others.begin(), others.end(), line) == others.end(); });
}

void Join(const std::string& part, std::string& out) {
  if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
}

// "1 to 80 characters", "at least 1 character", "exactly 3 elements".
std::string Count(const std::string& least, const std::string& most, const std::string& unit) {
  if (least.empty() && most.empty()) return {};
  const std::string last = most.empty() ? least : most;
  const std::string units = last == "1" ? unit : unit == "entry" ? "entries" : unit + "s";
  if (most.empty()) return "at least " + least + " " + units;
  if (least.empty() || least == "0") return "at most " + most + " " + units;
  return (least == most ? "exactly " + most : least + " to " + most) + " " + units;
}

std::string Range(const model::Facets& facets) {
  if (!facets.minimum.empty() && !facets.maximum.empty() && !facets.exclusive_minimum && !facets.exclusive_maximum) {
    return facets.minimum + " to " + facets.maximum;
  }
  std::string out;
  if (!facets.minimum.empty()) Join((facets.exclusive_minimum ? "more than " : "at least ") + facets.minimum, out);
  if (!facets.maximum.empty()) Join((facets.exclusive_maximum ? "less than " : "at most ") + facets.maximum, out);
  return out;
}

// Numbers are in JSON's spelling, which is safe in a comment.
std::string Limits(const model::Facets& facets) {
  std::string out = Range(facets);
  if (!facets.multiple_of.empty()) Join("a multiple of " + facets.multiple_of, out);
  Join(Count(facets.min_length, facets.max_length, "character"), out);
  Join(Count(facets.min_items, facets.max_items, "element"), out);
  Join(Count(facets.min_properties, facets.max_properties, "entry"), out);
  if (!facets.pattern.empty()) Join("pattern " + InComment(facets.pattern, 400), out);
  return out;
}

std::string Merge(const model::MergeInfo& merge) {
  std::string out;
  if (!merge.list_map_keys.empty()) {
    for (const std::string& key : merge.list_map_keys) out += (out.empty() ? "" : ", ") + InComment(key, 40);
    return "Elements are identified by " + out;
  }
  if (merge.list_type == "set") return "A set: elements are unique";
  if (!merge.patch_merge_key.empty()) return "Merged by " + InComment(merge.patch_merge_key, 40);
  return out;
}

// What the C++ declaration does not show: default, limits. Sentences.
Lines Facts(const model::Field& field) {
  const model::Schema& schema = *field.schema;
  Lines out;
  if (schema.deprecated) Add("Deprecated", out);
  if (schema.nullable) Add("May be null", out);
  if (!schema.default_json.empty()) Add("Default: " + InComment(schema.default_json), out);
  if (schema.facets != nullptr) Add(Limits(*schema.facets), out);
  Add(Merge(schema.merge), out);
  return out;
}

Lines Prose(const model::Field& field) {
  const bool own = !field.description.empty() || field.schema->kind == Kind::kRef;
  const Lines& lines = own ? field.description : field.schema->description;
  const auto blank = [](const std::string& line) { return line.find_first_not_of(" \t\r\n") == std::string::npos; };
  return std::all_of(lines.begin(), lines.end(), blank) ? Lines() : lines;
}

Lines Checks(const model::Schema& schema) {
  Lines lines;
  if (schema.deprecated) lines.emplace_back("Deprecated.");
  for (const model::ValidationRule& rule : schema.validations) {
    const std::string text = rule.message.empty() ? rule.rule : rule.message;
    if (!text.empty()) lines.push_back("Checked by the server: " + InComment(text, 200));
  }
  return lines;
}

}  // namespace

bool IsRequired(const std::vector<const model::Field*>& positions) {
  return std::all_of(positions.begin(), positions.end(), [](const model::Field* field) { return field->required; });
}

std::vector<std::string> CommonProse(const std::vector<const model::Field*>& positions) {
  Lines common;
  for (const model::Field* field : positions) {
    Lines lines = Prose(*field);
    if (lines.empty() || lines == common) continue;
    if (!common.empty()) return {};
    common = std::move(lines);
  }
  return common;
}

std::vector<std::string> DescribeField(const std::vector<const model::Field*>& positions) {
  Lines lines = CommonProse(positions);
  Lines sentences = Facts(*positions[0]);
  for (std::size_t i = 1; i < positions.size() && !sentences.empty(); ++i) Keep(Facts(*positions[i]), sentences);
  std::string facts;
  for (const std::string& sentence : sentences) facts += (facts.empty() ? "" : " ") + sentence;
  if (!facts.empty()) lines.push_back(std::move(facts));
  return lines;
}

std::string DescribeMember(const std::vector<const model::Field*>& positions, const std::string& identifier,
                           const std::string& values) {
  std::string out;
  if (identifier != positions[0]->name) Join(InComment(positions[0]->name), out);
  if (IsRequired(positions)) Join("required", out);
  const bool several = positions[0]->schema->element != nullptr;
  if (!values.empty()) Join((several ? "each one of " : "one of ") + values, out);
  return out;
}

std::vector<std::string> DescribeStruct(const std::vector<const model::Schema*>& positions,
                                        const std::string& fallback) {
  Lines lines = positions[0]->description;
  Lines checks = Checks(*positions[0]);
  for (const model::Schema* schema : positions) {
    if (schema->description != lines) lines.clear();
    Keep(Checks(*schema), checks);
  }
  if (lines.empty() && !fallback.empty()) lines.push_back(fallback);
  lines.insert(lines.end(), checks.begin(), checks.end());
  return lines;
}

std::string DescribeDeprecation(const model::ApiKind& kind) {
  if (!kind.deprecated) return {};
  if (!kind.deprecation_warning.empty()) return "Deprecated: " + kind.deprecation_warning;
  return "Deprecated: " + model::Describe(kind.gvk) + " will be removed from the API; use a newer version.";
}

}  // namespace kgen::generator::emit
