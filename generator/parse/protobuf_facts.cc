// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/protobuf_facts.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace kgen::generator::parse {
namespace {

constexpr std::string_view kVersion = "1";
constexpr unsigned kMostNumber = 0xFFFF;

// Reads "2.13"; returns false if it is malformed.
bool ReadNumbers(std::string_view text, std::vector<std::uint16_t>& numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    unsigned number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc() || number == 0 || number > kMostNumber) return false;
    numbers.push_back(static_cast<std::uint16_t>(number));
    at = read.ptr;
    if (at == end) return true;
    if (*at++ != '.') return false;
  }
}

// Reads "2.13 omitempty"; returns false if it is malformed.
bool ReadField(std::string_view text, model::ProtobufField& field) {
  const std::size_t space = text.find(' ');
  if (!ReadNumbers(text.substr(0, space), field.numbers)) return false;
  if (space == std::string_view::npos) return true;
  const std::string_view zero = text.substr(space + 1);
  field.zero_is_absent = zero == "omitempty" || zero == "omitzero";
  return field.zero_is_absent || zero == "value";
}

}  // namespace

bool IsProtobufFacts(const MapReader& map) { return map.Has("protobuf") && !map.Has("apiVersion") && !map.Has("kind"); }

void ReadProtobufFacts(const MapReader& map, ProtobufFacts& facts) {
  const auto report = [&](yaml::Mark mark, std::string message, const DocumentPath& path) {
    map.context().diagnostics.Error("protobuf", map.context().At(mark), std::move(message), path.Text());
  };
  if (const yaml::Node* version = map.Any("protobuf"); version->is_map() || version->text() != kVersion) {
    return report(version->mark(), "this version of kgen reads facts about protobuf of version 1",
                  map.path().Key("protobuf"));
  }
  const yaml::Node* types = map.Map("types");
  if (types == nullptr) return;
  const DocumentPath types_path = map.path().Key("types");
  for (const yaml::Entry& type : types->entries()) {
    const DocumentPath path = types_path.Key(type.key);
    if (!type.value.is_map()) {
      ReportKind(map.context(), type.value, "a map of members", path);
      continue;
    }
    auto& members = facts[std::string(type.key)];
    for (const yaml::Entry& member : type.value.entries()) {
      model::ProtobufField field;
      if (!member.value.is_map() && !member.value.is_list() && ReadField(member.value.text(), field)) {
        members[std::string(member.key)] = std::move(field);
      } else {
        report(member.value.mark(),
               "expected the number of a field, or several joined by dots, and perhaps value, omitempty or omitzero: "
               "\"2.13 omitempty\"",
               path.Key(member.key));
      }
    }
  }
}

void JoinProtobufFacts(const ProtobufFacts& facts, model::Draft& draft) {
  for (auto& [name, definition] : draft.definitions) {
    const auto type = facts.find(name);
    if (type == facts.end()) continue;
    for (model::RawProperty& property : definition.schema->properties) {
      if (const auto member = type->second.find(property.name); member != type->second.end()) {
        property.protobuf = member->second;
      }
    }
  }
}

}  // namespace kgen::generator::parse
