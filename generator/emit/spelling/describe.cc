// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/describe.h"

#include <algorithm>
#include <utility>

#include "generator/emit/spelling/escaping.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;

using Lines = std::vector<std::string>;

constexpr std::size_t kLongestPiece = 120;  // bytes of a default or a pattern that a comment has

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
  if (!facets.pattern.empty()) Join("pattern " + InComment(facets.pattern, kLongestPiece), out);
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

// Whether JSON can stand in a comment as it is.
bool IsPlainJson(std::string_view json) {
  return std::all_of(json.begin(), json.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("\"-_./%").find(c) != std::string_view::npos;
  });
}

std::string Default(const model::Field& field) {
  const std::string& json = field.notes.default_json.empty() ? field.schema->default_json : field.notes.default_json;
  if (json.empty()) return {};
  return "Default: " + (IsPlainJson(json) && json.size() <= kLongestPiece ? json : InComment(json, kLongestPiece));
}

// What opens the comment of a member: how its elements are told apart.
Lines FactsBefore(const model::Field& field) {
  Lines out;
  if (field.schema->deprecated) Add("Deprecated", out);
  Add(Merge(field.schema->merge), out);
  return out;
}

// What follows the description: what the C++ declaration does not show.
Lines FactsAfter(const model::Field& field) {
  const model::Schema& schema = *field.schema;
  Lines out;
  if (schema.nullable) Add("May be null", out);
  Add(Default(field), out);
  if (schema.facets != nullptr) Add(Limits(*schema.facets), out);
  Add(UnitSentence(field.notes, field.description), out);
  if (field.notes.immutable) Add("Immutable", out);
  if (!field.notes.set_by.empty()) Add("Set by the " + field.notes.set_by, out);
  return out;
}

// The sentences that are true of all positions.
Lines Common(const std::vector<const model::Field*>& positions, Lines (*facts)(const model::Field&)) {
  Lines common = facts(*positions[0]);
  for (std::size_t i = 1; i < positions.size() && !common.empty(); ++i) Keep(facts(*positions[i]), common);
  return common;
}

std::string Sentences(const Lines& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) out += (out.empty() ? "" : " ") + sentence;
  return out;
}

// The first `size` bytes of a text, with dots for the rest: behind a sentence if that leaves at least half of them.
std::string CutText(const std::string& text, std::size_t size) {
  const std::size_t sentence = text.rfind(". ", size);
  if (sentence != std::string::npos && sentence + 1 >= size / 2) return text.substr(0, sentence + 1) + " ...";
  return text.substr(0, size) + "...";
}

// A text between facts, in two lines of a comment. A longer text is cut; the facts are not, as far as there is room.
Lines InTwoLines(const std::string& before, const std::string& text, const std::string& after, std::size_t width) {
  const auto lines = [&](const std::string& middle) {
    Lines parts;
    for (const std::string& part : {before, middle, after}) {
      if (!part.empty()) parts.push_back(part);
    }
    return CommentLines({Sentences(parts)}, width);
  };
  const bool open = !text.empty() && !after.empty() && std::string_view(".!?:").find(text.back()) == std::string::npos;
  Lines out = lines(open ? text + "." : text);
  // Bytes, of which a character has up to four. A line may be one long word.
  std::size_t end = text.size();
  const auto too_long = [&](const std::string& line) { return line.size() > 4 * width; };
  while (end != 0 && (out.size() > 2 || std::any_of(out.begin(), out.end(), too_long))) {
    end = text.rfind(' ', std::min(end, 8 * width) - 1);
    if (end == std::string::npos) end = 0;
    out = lines(CutText(text, end));
  }
  if (out.size() > 2) out.resize(2);
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

std::vector<std::string> DescribeMember(const std::vector<const model::Field*>& positions,
                                        const std::string& identifier, const std::string& values, std::size_t width) {
  Lines before;
  if (identifier != positions[0]->name) before.push_back(InComment(positions[0]->name) + ".");
  if (IsRequired(positions)) before.emplace_back("Required.");
  const bool several = positions[0]->schema->element != nullptr;
  if (!values.empty()) before.push_back((several ? "Each one of " : "One of ") + values + ".");
  const Lines facts = Common(positions, FactsBefore);
  before.insert(before.end(), facts.begin(), facts.end());
  return InTwoLines(Sentences(before), InOneLine(CommonProse(positions)), Sentences(Common(positions, FactsAfter)),
                    width);
}

std::string UnitSentence(const model::Notes& notes, const std::vector<std::string>& text) {
  const auto says = [&](const std::string& line) { return line.find(notes.unit) != std::string::npos; };
  return notes.unit.empty() || std::any_of(text.begin(), text.end(), says) ? std::string() : "In " + notes.unit;
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
