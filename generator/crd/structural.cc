// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/structural.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "generator/crd/default_value.h"
#include "generator/crd/marker_value.h"
#include "generator/crd/pattern.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {
namespace {

// What the value of a keyword is.
enum class Value : std::uint8_t { kAny, kText, kFlag, kNumber, kCount, kTexts, kList, kSchema, kSchemas, kProperties };

struct SchemaKeyword {
  std::string_view name;
  Value value;
  bool in_logic;  // also inside of allOf, anyOf, oneOf and not
};

constexpr SchemaKeyword kSchemaKeywords[] = {
    {"additionalProperties", Value::kSchema, false},
    {"allOf", Value::kSchemas, true},
    {"anyOf", Value::kSchemas, true},
    {"default", Value::kAny, false},
    {"description", Value::kText, false},
    {"enum", Value::kList, true},
    {"example", Value::kAny, true},
    {"exclusiveMaximum", Value::kFlag, true},
    {"exclusiveMinimum", Value::kFlag, true},
    {"format", Value::kText, true},
    {"items", Value::kSchema, true},
    {"maxItems", Value::kCount, true},
    {"maxLength", Value::kCount, true},
    {"maxProperties", Value::kCount, true},
    {"maximum", Value::kNumber, true},
    {"minItems", Value::kCount, true},
    {"minLength", Value::kCount, true},
    {"minProperties", Value::kCount, true},
    {"minimum", Value::kNumber, true},
    {"multipleOf", Value::kNumber, true},
    {"not", Value::kSchema, true},
    {"nullable", Value::kFlag, false},
    {"oneOf", Value::kSchemas, true},
    {"pattern", Value::kText, true},
    {"properties", Value::kProperties, true},
    {"required", Value::kTexts, true},
    {"title", Value::kText, false},
    {"type", Value::kText, false},
    {"x-kubernetes-embedded-resource", Value::kFlag, false},
    {"x-kubernetes-int-or-string", Value::kFlag, false},
    {"x-kubernetes-list-map-keys", Value::kTexts, false},
    {"x-kubernetes-list-type", Value::kText, false},
    {"x-kubernetes-map-type", Value::kText, false},
    {"x-kubernetes-preserve-unknown-fields", Value::kFlag, false},
    {"x-kubernetes-validations", Value::kList, false},
};

bool IsText(const Tree& value) { return value.ToJson().starts_with('"'); }
bool IsList(const Tree& value) { return value.ToJson().starts_with('['); }
bool IsObject(const Tree& value) { return value.ToJson().starts_with('{'); }
std::string TextOf(const Tree& schema, std::string_view keyword) {
  const Tree* text = schema.Find(keyword);
  return text == nullptr ? std::string() : text->ToText();
}

// What is wrong with the form of a value, or nothing.
std::string FaultOfForm(const SchemaKeyword& keyword, const Tree& value) {
  const auto all = [&](bool (*is)(const Tree&)) {
    return IsList(value) && std::all_of(value.elements().begin(), value.elements().end(), is);
  };
  const std::string json = value.ToJson();
  switch (keyword.value) {
    case Value::kAny:
      return {};
    case Value::kText:
      return IsText(value) ? "" : "is not a text";
    case Value::kFlag:
      return json == "true" || json == "false" ? "" : "is neither true nor false";
    case Value::kNumber:
      return IsJsonNumber(json) ? "" : "is not a number";
    case Value::kCount:
      return !json.empty() && json.find_first_not_of("0123456789") == std::string::npos ? ""
                                                                                        : "is not a number from 0 on";
    case Value::kTexts:
      return all(IsText) ? "" : "is not a list of texts";
    case Value::kList:
      return IsList(value) ? "" : "is not a list";
    case Value::kSchemas:
      return all(IsObject) ? "" : "is not a list of schemas";
    case Value::kSchema:
    case Value::kProperties:
      return IsObject(value) ? "" : "is not an object";
  }
  return {};
}

// Where a schema stands.
enum class Place : std::uint8_t { kUsual, kLogic, kIntOrText };

std::string Fault(const Tree& schema, const std::string& path, Place place);

// The schemas inside of one.
std::string FaultInside(const Tree& schema, const std::string& path, Place place) {
  for (const auto& [name, value] : schema.members()) {
    const std::string inner = path + "." + name;
    std::string fault;
    if (name == "items" || name == "additionalProperties") fault = Fault(value, inner, place);
    if (name == "not") fault = Fault(value, inner, Place::kLogic);
    if (name == "properties") {
      for (const auto& [member, type] : value.members()) {
        if (fault.empty()) fault = Fault(type, inner + "." + member, place);
      }
    }
    if (name == "allOf" || name == "anyOf" || name == "oneOf") {
      // The two types of an int-or-string are the only ones that may stand there.
      const bool types = schema.IsTrue("x-kubernetes-int-or-string") && name != "oneOf";
      for (std::size_t i = 0; i < value.elements().size() && fault.empty(); ++i)
        fault = Fault(value.elements()[i], inner + "[" + std::to_string(i) + "]",
                      types ? Place::kIntOrText : Place::kLogic);
    }
    if (!fault.empty()) return fault;
  }
  return {};
}

// Rules about several keywords of a schema that is not inside of allOf and the like.
std::string FaultOfStructure(const Tree& schema, const std::string& path) {
  static constexpr std::string_view kTypes[] = {"array", "boolean", "integer", "number", "object", "string"};
  const std::string type = TextOf(schema, "type");
  const bool int_or_text = schema.IsTrue("x-kubernetes-int-or-string");
  const bool open = schema.IsTrue("x-kubernetes-preserve-unknown-fields");
  if (type.empty() && !int_or_text && !open) return path + " has no type";
  if (!type.empty() && int_or_text) return path + " has a type beside x-kubernetes-int-or-string";
  if (!type.empty() && std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes))
    return path + ".type is " + Quote(type) + ", not array, boolean, integer, number, object or string";
  const auto only_of = [&](std::string_view keyword, std::string_view of) {
    return schema.Find(keyword) != nullptr && type != of;
  };
  for (const std::string_view keyword : {"properties", "additionalProperties", "x-kubernetes-embedded-resource"}) {
    if (only_of(keyword, "object")) return path + " has " + std::string(keyword) + ", and its type is not object";
  }
  if (only_of("items", "array")) return path + " has items, and its type is not array";
  if (type == "array" && schema.Find("items") == nullptr) return path + " is an array without items";
  if (schema.Find("properties") != nullptr && schema.Find("additionalProperties") != nullptr)
    return path + " has both properties and additionalProperties";
  for (const std::string_view flag : {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"}) {
    if (schema.Find(flag) != nullptr && !schema.IsTrue(flag))
      return path + "." + std::string(flag) + " may only be true";
  }
  const bool keyed = TextOf(schema, "x-kubernetes-list-type") == "map";
  if (keyed != (schema.Find("x-kubernetes-list-map-keys") != nullptr))
    return path + " needs both x-kubernetes-list-type map and x-kubernetes-list-map-keys";
  const Tree* value = schema.Find("default");
  if (value == nullptr) return {};
  const std::string fault = FaultOfDefault(value->ToJson(), schema);
  return fault.empty() ? fault : path + ": " + fault;
}

std::string Fault(const Tree& schema, const std::string& path, Place place) {
  std::vector<std::string_view> names;
  for (const SchemaKeyword& keyword : kSchemaKeywords) names.push_back(keyword.name);
  for (const auto& [name, value] : schema.members()) {
    const auto keyword = std::find_if(std::begin(kSchemaKeywords), std::end(kSchemaKeywords),
                                      [&](const SchemaKeyword& each) { return each.name == name; });
    if (keyword == std::end(kSchemaKeywords)) {
      const std::string_view nearest = Nearest(name, names);
      return path + " has " + Quote(name) + ", which a CRD may not have" +
             (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?");
    }
    const bool type = place == Place::kIntOrText && name == "type";
    if (place != Place::kUsual && !keyword->in_logic && !type)
      return path + " has " + name + ", which may not be inside of allOf, anyOf, oneOf and not";
    if (std::string fault = FaultOfForm(*keyword, value); !fault.empty()) return path + "." + name + " " + fault;
  }
  if (const std::string pattern = TextOf(schema, "pattern"); !pattern.empty()) {
    if (const std::string fault = FaultOfPattern(pattern); !fault.empty()) return path + ".pattern: " + fault;
  }
  std::string fault = place == Place::kUsual ? FaultOfStructure(schema, path) : "";
  return fault.empty() ? FaultInside(schema, path, place) : fault;
}

}  // namespace

std::string FaultOfSchema(const Tree& schema) {
  if (!IsObject(schema)) return "it is no object";
  return Fault(schema, "the schema", Place::kUsual);
}

}  // namespace kgen::generator::crd
