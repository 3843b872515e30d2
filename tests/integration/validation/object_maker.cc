// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/validation/object_maker.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tests/support/format_texts.h"
#include "validation/pattern.h"

namespace kgen::integration {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 12;

// Texts that some pattern or other matches.
constexpr std::string_view kTexts[] = {
    "a",         "abc",  "a.b",       "a-b", "Abc",          "10Gi",  "1h",          "5",
    "10.5",      "80%",  "a.example", "/a",  "a/b",          "v1",    "1.2.3",       "sha256:0123456789abcdef",
    "https://a", "True", "a_b",       "",    "\u00e4\u00f6", "1h30m", "*.a.example", "10s",
    "<a&b>"};

const FormatTexts* TextsOf(const json& schema) {
  const auto found = std::ranges::find(kFormatTexts, schema.value("format", ""), &FormatTexts::name);
  return found == kFormatTexts.end() ? nullptr : &*found;
}

bool IsInt(const json& schema) { return schema.value("type", "") == "integer"; }

}  // namespace

json ObjectMaker::Make(const json& schema, const std::string& api_version, const std::string& kind) {
  rarity_ = OneIn(2) ? 2 : 15;
  json object = Object(schema, 0);
  object.erase("status");
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  object["metadata"] = {{"name", "a" + std::to_string(Below(1000))}};
  return object;
}

json ObjectMaker::Value(const json& schema, int depth) {
  if (const auto allowed = schema.find("enum"); allowed != schema.end()) return (*allowed)[Below(allowed->size())];
  const std::string type = schema.value("type", "");
  if (schema.value("x-kubernetes-int-or-string", false)) return OneIn(2) ? Number(schema) : Text(schema);
  if (type == "string") return Text(schema);
  if (type == "integer" || type == "number") return Number(schema);
  if (type == "boolean") return OneIn(2);
  if (type == "array") return List(schema, depth);
  if (type == "object") return Object(schema, depth);
  return json{{"free", OneIn(2)}};
}

json ObjectMaker::Text(const json& schema) {
  if (const FormatTexts* texts = TextsOf(schema); texts != nullptr && !schema.contains("pattern"))
    return std::string(texts->good[Below(texts->good.size())]);
  std::string text(kTexts[Below(std::size(kTexts))]);
  if (const std::string pattern = schema.value("pattern", ""); !pattern.empty()) {
    const auto compiled = validation::Pattern::Compile(pattern);
    for (const std::string_view each : kTexts) {
      if (compiled && compiled->Matches(each) && each.size() >= schema.value("minLength", std::size_t{0})) text = each;
    }
  } else {
    while (text.size() < schema.value("minLength", std::size_t{0})) text += 'x';
    text.resize(std::min(text.size(), schema.value("maxLength", text.size())));
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0x80) text = "a";
  }
  return text;
}

json ObjectMaker::Number(const json& schema) {
  const double least = schema.contains("minimum") ? schema["minimum"].get<double>() : 0;
  const double most = schema.contains("maximum") ? schema["maximum"].get<double>() : least + 100;
  const double number = least + (most - least) * static_cast<double>(Below(101)) / 100;
  if (schema.value("type", "") == "number") return OneIn(2) ? json(number) : json(static_cast<std::int64_t>(number));
  return static_cast<std::int64_t>(number);
}

json ObjectMaker::List(const json& schema, int depth) {
  json list = json::array();
  if (!schema.contains("items")) return list;
  const std::size_t least = schema.value("minItems", std::size_t{0});
  const std::size_t size = depth > kMaxDepth ? least : least + Below(3);
  for (std::size_t i = 0; i < size; ++i) list.push_back(Value(schema["items"], depth + 1));
  return list;
}

json ObjectMaker::Object(const json& schema, int depth) {
  json object = json::object();
  if (schema.value("x-kubernetes-embedded-resource", false))
    object = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "a"}, {"labels", {{"a", "b"}}}}}};
  const json required = schema.value("required", json::array());
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    for (const auto& [name, inner] : properties->items()) {
      const bool needed = std::find(required.begin(), required.end(), json(name)) != required.end();
      // Fewer members further down, so that large schemas give objects of some hundred members.
      if (needed ? depth < 60 : depth < kMaxDepth && OneIn(depth < 2 ? rarity_ : 4))
        object[name] = Value(inner, depth + 1);
    }
  }
  if (const auto inner = schema.find("additionalProperties"); inner != schema.end() && depth < kMaxDepth) {
    for (std::size_t i = 0, size = Below(3) + schema.value("minProperties", std::size_t{0}); i < size; ++i)
      object["k" + std::to_string(i)] = inner->is_object() ? Value(*inner, depth + 1) : json{{"free", 1}};
  }
  return object;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the object
void ObjectMaker::Collect(json& value, const json& schema, std::vector<Place>& places) {
  if (!schema.is_object()) return;
  places.push_back({&value, &schema});
  if (value.is_array() && schema.contains("items")) {
    for (json& item : value) Collect(item, schema["items"], places);
  }
  if (!value.is_object()) return;
  for (auto& [name, member] : value.items()) {
    const auto properties = schema.find("properties");
    if (properties != schema.end() && properties->contains(name)) {
      Collect(member, (*properties)[name], places);
    } else if (schema.contains("additionalProperties")) {
      Collect(member, schema["additionalProperties"], places);
    }
  }
}

void ObjectMaker::Break(json& object, const json& schema) {
  for (std::size_t i = 0, count = 1 + Below(3); i < count; ++i) {
    std::vector<Place> places;
    for (auto& [name, member] : object.items()) {
      const bool own = name != "apiVersion" && name != "kind" && name != "metadata" && name != "status";
      if (own && schema["properties"].contains(name)) Collect(member, schema["properties"][name], places);
    }
    if (places.empty()) return;
    BreakAt(places[Below(places.size())]);
  }
}

void ObjectMaker::BreakAt(const Place& place) {
  json& value = *place.value;
  const json& schema = *place.schema;
  if (OneIn(4)) {  // of another type
    const json others[] = {5, 1.5, 4.0, "x", true, json::array(), json::object(), nullptr, "", -1, 3000000000, 1e20};
    value = others[Below(std::size(others))];
  } else if (value.is_object() && !value.empty() && OneIn(2)) {
    value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(Below(value.size()))));
  } else if (value.is_object()) {
    const std::pair<const char*, json> more[] = {
        {"unknown", {{"a", 1}}}, {"zz", nullptr}, {"a/b", 1}, {"metadata", {{"name", "a/b"}}}, {"kind", "4"}};
    const auto& [name, member] = more[Below(std::size(more))];
    value[name] = member;
  } else if (value.is_array() && !value.empty()) {
    value.push_back(value[Below(value.size())]);
    if (OneIn(3)) value.push_back(value[0]);
  } else {
    value = Odd(schema, value);
  }
}

// A value of the same type that a keyword may refuse.
json ObjectMaker::Odd(const json& schema, const json& value) {
  if (value.is_number()) {
    const double least = schema.contains("minimum") ? schema["minimum"].get<double>() : 0;
    const double most = schema.contains("maximum") ? schema["maximum"].get<double>() : 100;
    const double numbers[] = {least - 1, most + 1, least, most, -1, 0.1, 3e9, 1e19};
    const double number = numbers[Below(std::size(numbers))];
    if (IsInt(schema) && number > -1e18 && number < 1e18) return static_cast<std::int64_t>(number);
    return number;
  }
  if (const FormatTexts* texts = TextsOf(schema); texts != nullptr && !texts->bad.empty() && !OneIn(3))
    return std::string(texts->bad[Below(texts->bad.size())]);
  if (OneIn(3)) return std::string(schema.value("maxLength", std::size_t{10}) % 5000 + 1, 'x');
  return std::string(kTexts[Below(std::size(kTexts))]);
}

}  // namespace kgen::integration
