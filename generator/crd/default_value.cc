// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/default_value.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "generator/crd/text_format.h"
#include "generator/diagnostic.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

double Number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<double> NumberOf(const Tree& schema, std::string_view keyword) {
  const Tree* number = schema.Find(keyword);
  return number == nullptr ? std::nullopt : std::optional(Number(number->ToJson()));
}

bool IsOfType(const yaml::Node& value, const Tree& schema) {
  if (value.is_null()) return schema.IsTrue("nullable");
  if (schema.IsTrue("x-kubernetes-int-or-string")) return value.is_int() || value.is_string();
  const Tree* named = schema.Find("type");
  if (named == nullptr) return true;
  const std::string type = named->ToText();
  if (type == "integer") return value.is_int();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "array") return value.is_list();
  if (type == "object") return value.is_map();
  return value.is_string();
}

bool IsInEnum(const yaml::Node& value, const Tree& schema) {
  const Tree* values = schema.Find("enum");
  if (values == nullptr || values->elements().empty()) return true;
  const std::string json = yaml::ToJson(value);
  return std::any_of(values->elements().begin(), values->elements().end(),
                     [&](const Tree& allowed) { return allowed.ToJson() == json; });
}

// Compares a length or count with two keywords.
std::string FaultOfSize(std::size_t size, const Tree& schema, std::string_view least, std::string_view most) {
  const auto count = static_cast<double>(size);
  if (const auto limit = NumberOf(schema, least); limit && count < *limit) return "is below " + std::string(least);
  if (const auto limit = NumberOf(schema, most); limit && count > *limit) return "is above " + std::string(most);
  return {};
}

std::string FaultOfNumber(const yaml::Node& value, const Tree& schema) {
  const double number = Number(value.NumberText());
  const Tree* format = schema.Find("format");
  const std::string name = format == nullptr ? std::string() : format->ToText();
  const auto integer = value.AsInt64();
  if (name == "int64" && !integer) return "does not fit 64 bits";
  if (name == "int32" && (!integer || *integer < std::numeric_limits<std::int32_t>::min() ||
                          *integer > std::numeric_limits<std::int32_t>::max()))
    return "does not fit 32 bits";
  if (const auto limit = NumberOf(schema, "minimum");
      limit && (number < *limit || (number == *limit && schema.IsTrue("exclusiveMinimum"))))
    return "is below the minimum";
  if (const auto limit = NumberOf(schema, "maximum");
      limit && (number > *limit || (number == *limit && schema.IsTrue("exclusiveMaximum"))))
    return "is above the maximum";
  return {};
}

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// A pattern does not bind numbers, as of an int-or-string.
std::string FaultOfText(const yaml::Node& value, const Tree& schema) {
  const std::string text(value.text());
  if (std::string fault = FaultOfSize(Characters(text), schema, "minLength", "maxLength"); !fault.empty()) return fault;
  if (const Tree* pattern = schema.Find("pattern"); pattern != nullptr && !MatchesPattern(text, pattern->ToText()))
    return Quote(text) + " does not match the pattern " + Quote(pattern->ToText(), 80);
  const Tree* format = schema.Find("format");
  if (format == nullptr || HasFormat(text, format->ToText())) return {};
  const std::string name = format->ToText();
  return Quote(text) + " is no " + name +
         (name == "duration"    ? " such as 1h30m"
          : name == "date-time" ? " such as 2024-12-31T23:59:59Z"
                                : "");
}

std::string Fault(const yaml::Node& value, const Tree& schema, const std::string& path);

std::string FaultOfMembers(const yaml::Node& value, const Tree& schema, const std::string& path) {
  const Tree* required = schema.Find("required");
  if (required != nullptr) {
    for (const Tree& name : required->elements()) {
      if (value.Find(name.ToText()) == nullptr) return path + " lacks the required member " + Quote(name.ToText());
    }
  }
  const Tree* properties = schema.Find("properties");
  const Tree* any = schema.Find("additionalProperties");
  const bool open = schema.IsTrue("x-kubernetes-preserve-unknown-fields") || schema.Find("type") == nullptr;
  const bool resource = schema.IsTrue("x-kubernetes-embedded-resource");
  for (const yaml::Entry& entry : value.entries()) {
    const Tree* inner = properties == nullptr ? nullptr : properties->Find(entry.key);
    if (inner == nullptr) inner = any;
    const bool implied = resource && (entry.key == "apiVersion" || entry.key == "kind" || entry.key == "metadata");
    if (inner == nullptr && !open && !implied) return path + " has no member " + Quote(entry.key);
    if (inner == nullptr) continue;
    std::string fault = Fault(entry.value, *inner, path + "." + std::string(entry.key));
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string Fault(const yaml::Node& value, const Tree& schema, const std::string& path) {
  if (!IsOfType(value, schema)) {
    const Tree* type = schema.Find("type");
    return path + " is not of the type " + (type == nullptr ? "integer or string" : type->ToText());
  }
  if (!IsInEnum(value, schema)) return path + " is not one of the values of the enum";
  std::string fault;
  // Has the enum of a nullable member, which does not bind null, and limits beside the limits of a named type.
  const Tree* all = schema.Find("allOf");
  for (std::size_t i = 0; all != nullptr && !value.is_null() && i < all->elements().size(); ++i) {
    fault = Fault(value, all->elements()[i], path);
    if (!fault.empty()) return fault;
  }
  if (value.is_string()) fault = FaultOfText(value, schema);
  if (value.is_number()) fault = FaultOfNumber(value, schema);
  if (value.is_list()) fault = FaultOfSize(value.items().size(), schema, "minItems", "maxItems");
  if (value.is_map()) fault = FaultOfSize(value.entries().size(), schema, "minProperties", "maxProperties");
  if (!fault.empty()) return path + " " + fault;
  if (value.is_map()) return FaultOfMembers(value, schema, path);
  const Tree* items = schema.Find("items");
  for (std::size_t i = 0; items != nullptr && i < value.items().size(); ++i) {
    fault = Fault(value.items()[i], *items, path + "[" + std::to_string(i) + "]");
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace

std::string FaultOfDefault(const std::string& json, const Tree& schema) {
  const auto parsed = yaml::Parse(json);
  if (!parsed || parsed->documents().size() != 1) return {};  // the marker was refused already
  return Fault(parsed->documents()[0], schema, "the default");
}

std::string FaultOfLimit(std::string_view lower, const Tree& schema) {
  const std::string upper = "max" + std::string(lower.substr(3));
  const auto least = NumberOf(schema, lower), most = NumberOf(schema, upper);
  if (!least || !most || *least < *most) return {};
  const bool open = lower == "minimum" && (schema.IsTrue("exclusiveMinimum") || schema.IsTrue("exclusiveMaximum"));
  if (*least == *most && !open) return {};
  return "no value is allowed by " + std::string(lower) + " " + schema.Find(lower)->ToJson() + " and " + upper + " " +
         schema.Find(upper)->ToJson();
}

}  // namespace kgen::generator::crd
