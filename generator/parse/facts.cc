// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/facts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "generator/parse/json_layout.h"

namespace kgen::generator::parse {
namespace {

constexpr std::array<std::string_view, 5> kProse = {"description", "example", "examples", "externalDocs", "title"};
constexpr std::array<std::string_view, 7> kMethodsOfFacts = {"get",   "put",     "post", "delete",
                                                             "patch", "options", "head"};

template <std::size_t n>
bool IsOneOf(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

JsonValue ReduceSchema(const yaml::Node& schema);

JsonValue ReduceSchemas(const yaml::Node& value) {
  if (value.is_list()) {
    JsonValue list = JsonValue::List();
    for (const yaml::Node& item : value.items()) list.Add(ReduceSchema(item));
    return list;
  }
  JsonValue map = JsonValue::Map();
  for (const yaml::Entry& entry : value.entries()) map.Set(entry.key, ReduceSchema(entry.value));
  return map;
}

// Keywords are recognized by their position: a property called "description" stays.
JsonValue ReduceSchema(const yaml::Node& schema) {
  static constexpr std::array<std::string_view, 5> kMaps = {"properties", "patternProperties", "allOf", "anyOf",
                                                            "oneOf"};
  static constexpr std::array<std::string_view, 3> kSchemas = {"items", "additionalProperties", "not"};
  if (!schema.is_map()) return JsonValue::Copy(schema);
  JsonValue out = JsonValue::Map();
  for (const yaml::Entry& entry : schema.entries()) {
    if (IsOneOf(entry.key, kProse)) continue;
    // A list of several kinds says nothing about the definition (DeleteOptions, WatchEvent) and differs by document.
    if (entry.key == "x-kubernetes-group-version-kind" && entry.value.items().size() > 1) continue;
    if (IsOneOf(entry.key, kMaps)) {
      out.Set(entry.key, ReduceSchemas(entry.value));
    } else if (IsOneOf(entry.key, kSchemas)) {
      out.Set(entry.key, ReduceSchema(entry.value));
    } else {
      out.Set(entry.key, JsonValue::Copy(entry.value));
    }
  }
  return out;
}

std::string_view Text(const yaml::Node* node) { return node == nullptr ? std::string_view() : node->text(); }

class Reducer {
 public:
  explicit Reducer(const yaml::Node& document) : document_(document), components_(document.Find("components")) {}

  JsonValue Run() {
    JsonValue out = JsonValue::Map();
    out.Set("openapi", JsonValue::String(Text(document_.Find("openapi"))));
    out.Set("info", ReduceInfo());
    JsonValue paths = ReducePaths();
    JsonValue components = JsonValue::Map();
    JsonValue parameters = JsonValue::Map();
    for (const std::string& name : shared_) parameters.Set(name, SharedParameter(name));
    if (!parameters.empty()) components.Set("parameters", std::move(parameters));
    if (const yaml::Node* schemas = components_ == nullptr ? nullptr : components_->Find("schemas")) {
      components.Set("schemas", ReduceSchemas(*schemas));
    }
    out.Set("components", std::move(components));
    out.Set("paths", std::move(paths));
    return out;
  }

 private:
  JsonValue ReduceInfo() const {
    JsonValue out = JsonValue::Map();
    const yaml::Node* info = document_.Find("info");
    for (const std::string_view key : {"title", "version"}) {
      out.Set(key, JsonValue::String(info == nullptr ? std::string_view() : Text(info->Find(key))));
    }
    return out;
  }

  JsonValue ReducePaths() {
    JsonValue out = JsonValue::Map();
    const yaml::Node* paths = document_.Find("paths");
    if (paths == nullptr) return out;
    // These paths show what can be watched; in a document without them, the parameter of the list does.
    std::set<std::string> watched;
    for (const yaml::Entry& entry : paths->entries()) {
      if (const std::size_t at = entry.key.find("/watch/"); at != std::string_view::npos) {
        watched.insert(std::string(entry.key.substr(0, at)) + std::string(entry.key.substr(at + 6)));
      }
    }
    for (const yaml::Entry& entry : paths->entries()) {
      if (entry.key.find("/watch/") != std::string_view::npos) continue;
      JsonValue item = ReduceItem(entry.value, watched.empty() || watched.contains(std::string(entry.key)));
      if (!item.empty()) out.Set(entry.key, std::move(item));
    }
    return out;
  }

  JsonValue ReduceItem(const yaml::Node& item, bool watched) {
    JsonValue out = JsonValue::Map();
    bool lists = false;
    bool connects = false;
    for (const std::string_view method : kMethodsOfFacts) {
      const yaml::Node* operation = item.Find(method);
      if (operation == nullptr) continue;
      const std::string_view action = Text(operation->Find("x-kubernetes-action"));
      if (action.empty() || operation->Find("x-kubernetes-group-version-kind") == nullptr) continue;
      lists = lists || (watched && action == "list");
      connects = connects || action == "connect";
      out.Set(method, ReduceOperation(*operation, action, watched));
    }
    if (out.empty()) return out;
    JsonValue parameters = ReduceParameters(item.Find("parameters"), lists, connects);
    if (!parameters.empty()) out.Set("parameters", std::move(parameters));
    return out;
  }

  JsonValue ReduceOperation(const yaml::Node& operation, std::string_view action, bool watched) {
    JsonValue out = JsonValue::Map();
    out.Set("x-kubernetes-action", JsonValue::String(action));
    out.Set("x-kubernetes-group-version-kind", JsonValue::Copy(*operation.Find("x-kubernetes-group-version-kind")));
    JsonValue parameters =
        ReduceParameters(operation.Find("parameters"), watched && action == "list", action == "connect");
    if (!parameters.empty()) out.Set("parameters", std::move(parameters));
    if (const yaml::Node* body = Resolve(operation.Find("requestBody"), "requestBodies")) {
      JsonValue request = JsonValue::Map();
      request.Set("content", ReduceContent(body->Find("content")));
      out.Set("requestBody", std::move(request));
    }
    out.Set("responses", ReduceResponses(operation.Find("responses")));
    return out;
  }

  // The first successful response; the format requires a description.
  JsonValue ReduceResponses(const yaml::Node* responses) {
    JsonValue out = JsonValue::Map();
    for (const std::string_view code : {"200", "201", "202"}) {
      const yaml::Node* response = responses == nullptr ? nullptr : Resolve(responses->Find(code), "responses");
      if (response == nullptr) continue;
      JsonValue reduced = JsonValue::Map();
      reduced.Set("content", ReduceContent(response->Find("content")));
      reduced.Set("description", JsonValue::String(""));
      out.Set(code, std::move(reduced));
      break;
    }
    return out;
  }

  // Keeps one media type: JSON, else "any", else the first.
  static JsonValue ReduceContent(const yaml::Node* content) {
    JsonValue out = JsonValue::Map();
    if (content == nullptr || content->entries().empty()) return out;
    const yaml::Entry* media = content->FindEntry("application/json");
    if (media == nullptr) media = content->FindEntry("*/*");
    if (media == nullptr) media = &content->entries()[0];
    JsonValue reduced = JsonValue::Map();
    if (const yaml::Node* schema = media->value.Find("schema")) reduced.Set("schema", ReduceSchema(*schema));
    out.Set(media->key, std::move(reduced));
    return out;
  }

  JsonValue ReduceParameters(const yaml::Node* parameters, bool list, bool connect) {
    JsonValue out = JsonValue::List();
    if (parameters == nullptr) return out;
    for (const yaml::Node& node : parameters->items()) {
      const yaml::Node* parameter = Resolve(&node, "parameters");
      if (parameter == nullptr) continue;
      const std::string_view name = Text(parameter->Find("name"));
      const bool in_path = Text(parameter->Find("in")) == "path";
      if (in_path || (list && name == "watch")) {
        shared_.insert(std::string(name));
        JsonValue reference = JsonValue::Map();
        reference.Set("$ref", JsonValue::String("#/components/parameters/" + std::string(name)));
        out.Add(std::move(reference));
      } else if (connect) {
        out.Add(ReduceParameter(*parameter));
      }
    }
    return out;
  }

  static JsonValue ReduceParameter(const yaml::Node& parameter) {
    JsonValue out = JsonValue::Map();
    for (const yaml::Entry& entry : parameter.entries()) {
      if (entry.key == "schema") {
        out.Set(entry.key, ReduceSchema(entry.value));
      } else if (!IsOneOf(entry.key, kProse)) {
        out.Set(entry.key, JsonValue::Copy(entry.value));
      }
    }
    return out;
  }

  static JsonValue SharedParameter(std::string_view name) {
    const bool watch = name == "watch";
    JsonValue schema = JsonValue::Map();
    schema.Set("type", JsonValue::String(watch ? "boolean" : "string"));
    JsonValue out = JsonValue::Map();
    out.Set("in", JsonValue::String(watch ? "query" : "path"));
    out.Set("name", JsonValue::String(name));
    if (!watch) out.Set("required", JsonValue::Scalar("true"));
    out.Set("schema", std::move(schema));
    return out;
  }

  // Follows a reference into components, one step.
  const yaml::Node* Resolve(const yaml::Node* node, std::string_view section) const {
    const yaml::Node* reference = node == nullptr ? nullptr : node->Find("$ref");
    if (reference == nullptr) return node;
    const std::string prefix = "#/components/" + std::string(section) + "/";
    const std::string_view text = reference->text();
    const yaml::Node* map = components_ == nullptr ? nullptr : components_->Find(section);
    return map == nullptr || !text.starts_with(prefix) ? nullptr : map->Find(text.substr(prefix.size()));
  }

  const yaml::Node& document_;
  const yaml::Node* components_;
  std::set<std::string> shared_;  // parameters that stand in components
};

}  // namespace

std::string ReduceToFacts(const MapReader& document) { return Reducer(document.node()).Run().Layout(); }

}  // namespace kgen::generator::parse
