// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Prints objects and values as YAML: parses the JSON of the encoder and writes it with the YAML writer.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "codec/text_writer.h"
#include "core/blocks.h"
#include "kgen/codec/encode.h"
#include "kgen/codec/yaml.h"

namespace kgen {
namespace {

// Returns JSON as YAML, or unchanged if it has no YAML form. Puts it into a list, because the reader omits documents
// that are null and parses other scalars as YAML.
std::string YamlOf(std::string_view json) {
  std::string list;
  list.reserve(json.size() + 2);
  list.append("[").append(json).append("]");
  const auto stream = yaml::Parse(std::move(list), {.max_bytes = INT_MAX, .max_nodes = SIZE_MAX, .max_depth = 257});
  if (!stream || !stream->json() || stream->documents().size() != 1 || stream->documents()[0].items().size() != 1) {
    return std::string(json) += '\n';
  }
  return yaml::ToYaml(stream->documents()[0].items()[0]);
}

std::ostream& PrintYaml(std::ostream& os, std::string_view json) {
  const std::string yaml = YamlOf(json);
  return os << std::string_view(yaml).substr(0, yaml.size() - 1);  // without the last line end
}

}  // namespace

namespace detail {

std::string EncodeStructYaml(const void* object, const TypeTable& table) {
  std::string json;
  EncodeStruct(object, table, json);
  return YamlOf(json);
}

std::ostream& PrintStruct(std::ostream& os, const void* object, const TypeTable& table) {
  if (object == nullptr) return os << "absent";
  std::string json;
  EncodeStruct(object, table, json);
  return PrintYaml(os, json);
}

std::ostream& PrintValue(std::ostream& os, const void* value, const ValueType& type) {
  const bool absent = type.kind == ValueKind::kList  ? ListOf(value) == nullptr
                      : type.kind == ValueKind::kMap ? !MapHasValue(MapOf(value), *type.element)
                                                     : false;
  if (absent) return os << "absent";
  std::string json;
  EncodeValue(value, type, json);
  return PrintYaml(os, json);
}

std::ostream& PrintEntry(std::ostream& os, const void* entry, const ValueType& type) {
  std::string value;
  EncodeValue(ValueOf(entry), type, value);
  codec::TextWriter writer;
  writer.Char('{');
  writer.Quoted(KeyOf(entry));
  writer.Char(':');
  writer.Raw(value);
  writer.Char('}');
  std::string json;
  writer.AppendTo(json);
  return PrintYaml(os, json);
}

}  // namespace detail

std::string EncodeYaml(const AnyRef& object) {
  return object ? detail::EncodeStructYaml(object.object(), object.table()) : "null\n";
}

std::string EncodeYaml(const Json& value) { return value.has_value() ? YamlOf(value.text()) : std::string(); }

std::ostream& operator<<(std::ostream& os, const AnyRef& object) {
  return object ? detail::PrintStruct(os, object.object(), object.table()) : os << "null";
}

}  // namespace kgen
