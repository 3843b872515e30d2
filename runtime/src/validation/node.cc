// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "validation/node.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kgen::validation {
namespace {

using nlohmann::json;

std::unexpected<Error> WrongType(const std::string& path, std::string_view expected, const json& found) {
  return Fail(Code::kInvalidArgument,
              path + ": expected " + std::string(expected) + ", found " + std::string(found.type_name()));
}

// Compiles one schema. Each Read function sets a member of the node from a keyword, if the keyword is there and not
// null, and notes the first error.
class Compiler {
 public:
  Compiler(const json& schema, std::string path) : schema_(schema), path_(std::move(path)) {}

  Result<std::unique_ptr<const Node>> Run() {
    if (!schema_.is_object()) return WrongType(path_, "an object", schema_);
    ReadTypes();
    ReadFlags();
    ReadLimits();
    ReadLists();
    ReadRules();
    ReadPattern();
    ReadInner();
    if (failed_) return Fail(*std::move(failed_));
    return std::unique_ptr<const Node>(std::move(node_));
  }

 private:
  const json* Find(const char* key) const {
    const auto found = schema_.find(key);
    return found == schema_.end() || found->is_null() ? nullptr : &*found;
  }
  std::string At(std::string_view key) const { return path_ + "." + std::string(key); }
  void Note(const char* key, std::string_view expected, const json& found) {
    if (!failed_) failed_ = WrongType(At(key), expected, found).error();
  }

  void Read(const char* key, bool& to) {
    const json* value = Find(key);
    if (value != nullptr && !value->is_boolean()) return Note(key, "a boolean", *value);
    if (value != nullptr) to = value->get<bool>();
  }
  void Read(const char* key, std::optional<double>& to) {
    const json* value = Find(key);
    if (value != nullptr && !value->is_number()) return Note(key, "a number", *value);
    if (value != nullptr) to = value->get<double>();
  }
  void Read(const char* key, std::optional<std::int64_t>& to) {
    const json* value = Find(key);
    if (value == nullptr) return;
    const bool whole = value->is_number() && std::abs(value->get<double>()) < 9e18 &&
                       std::trunc(value->get<double>()) == value->get<double>();
    if (!whole) return Note(key, "an integer", *value);
    to = value->is_number_float() ? static_cast<std::int64_t>(value->get<double>()) : value->get<std::int64_t>();
  }
  void Read(const char* key, std::string& to) {
    const json* value = Find(key);
    if (value != nullptr && !value->is_string()) return Note(key, "a string", *value);
    if (value != nullptr) to = value->get<std::string>();
  }
  void Read(const char* key, std::vector<std::string>& to) {
    const json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_array() || !std::ranges::all_of(*value, [](const json& each) { return each.is_string(); }))
      return Note(key, "a list of strings", *value);
    to = value->get<std::vector<std::string>>();
  }

  void ReadTypes() {
    std::string type, format;
    bool int_or_string = false;
    Read("type", type);
    Read("format", format);
    Read("x-kubernetes-int-or-string", int_or_string);
    if (!type.empty()) node_->types = {type};
    if (int_or_string) node_->types = {"integer", "string"};
    // A server ignores a format that it does not know for the type.
    const bool of_text = node_->types.size() != 1 || type == "string";
    if (of_text) {
      node_->check_format = FindFormat(format);
      if (node_->check_format != nullptr) node_->format = format;
    } else if ((type == "integer" && (format == "int32" || format == "int64")) ||
               (type == "number" && (format == "float" || format == "double"))) {
      node_->format = format;
    }
  }

  void ReadFlags() {
    Read("nullable", node_->nullable);
    Read("x-kubernetes-preserve-unknown-fields", node_->keeps_unknown);
    Read("x-kubernetes-embedded-resource", node_->embedded);
    Read("exclusiveMinimum", node_->exclusive_minimum);
    Read("exclusiveMaximum", node_->exclusive_maximum);
  }

  void ReadLimits() {
    Read("minimum", node_->minimum);
    Read("maximum", node_->maximum);
    Read("multipleOf", node_->multiple_of);
    Read("minLength", node_->min_length);
    Read("maxLength", node_->max_length);
    Read("minItems", node_->min_items);
    Read("maxItems", node_->max_items);
    Read("minProperties", node_->min_properties);
    Read("maxProperties", node_->max_properties);
  }

  void ReadLists() {
    Read("required", node_->required);
    Read("x-kubernetes-list-map-keys", node_->map_keys);
    std::string list_type;
    Read("x-kubernetes-list-type", list_type);
    if (list_type == "set") node_->list_type = ListType::kSet;
    if (list_type == "map") node_->list_type = ListType::kMap;
    if (const json* allowed = Find("enum"); allowed != nullptr) {
      if (!allowed->is_array()) return Note("enum", "a list", *allowed);
      node_->allowed.assign(allowed->begin(), allowed->end());
    }
    if (const json* initial = Find("default"); initial != nullptr) node_->initial = *initial;
  }

  void ReadRules() {
    const json* rules = Find("x-kubernetes-validations");
    if (rules == nullptr) return;
    if (!rules->is_array()) return Note("x-kubernetes-validations", "a list", *rules);
    for (const json& each : *rules) {
      const auto rule = each.is_object() ? each.find("rule") : each.end();
      if (rule == each.end() || !rule->is_string()) return Note("x-kubernetes-validations", "a list of rules", *rules);
      node_->rules.push_back(rule->get<std::string>());
    }
  }

  void ReadPattern() {
    std::string text;
    Read("pattern", text);
    if (text.empty()) return;
    auto pattern = Pattern::Compile(text);
    if (pattern) {
      node_->pattern = *std::move(pattern);
    } else if (!failed_) {
      failed_ =
          Error(Code::kInvalidArgument,
                At("pattern") + ": '" + text + "' is not a pattern in the syntax of Go: " + pattern.error().message());
    }
  }

  void ReadInner() {
    ReadSchema("items", node_->items);
    ReadSchema("not", node_->banned);
    ReadSchemas("allOf", node_->all_of);
    ReadSchemas("anyOf", node_->any_of);
    ReadSchemas("oneOf", node_->one_of);
    if (const json* additional = Find("additionalProperties"); additional != nullptr) {
      node_->has_additional = *additional != false;
      if (!additional->is_boolean()) ReadSchema("additionalProperties", node_->additional);
    }
    const json* properties = Find("properties");
    if (properties == nullptr) return;
    if (!properties->is_object()) return Note("properties", "an object", *properties);
    for (const auto& [name, schema] : properties->items())
      node_->properties.emplace(name, CompileAt(schema, At("properties") + "[" + name + "]"));
  }

  void ReadSchema(const char* key, std::unique_ptr<const Node>& to) {
    const json* schema = Find(key);
    if (schema != nullptr) to = CompileAt(*schema, At(key));
  }

  void ReadSchemas(const char* key, std::vector<std::unique_ptr<const Node>>& to) {
    const json* schemas = Find(key);
    if (schemas == nullptr) return;
    if (!schemas->is_array()) return Note(key, "a list", *schemas);
    for (std::size_t i = 0; i < schemas->size(); ++i)
      to.push_back(CompileAt((*schemas)[i], At(key) + "[" + std::to_string(i) + "]"));
  }

  // Null if it fails, or something has failed before.
  std::unique_ptr<const Node> CompileAt(const json& schema, std::string path) {
    if (failed_) return nullptr;
    auto inner = Compile(schema, std::move(path));
    if (inner) return *std::move(inner);
    failed_ = std::move(inner).error();
    return nullptr;
  }

  const json& schema_;
  const std::string path_;
  std::unique_ptr<Node> node_ = std::make_unique<Node>();
  std::optional<Error> failed_{};
};

}  // namespace

bool Node::HasType(std::string_view type) const noexcept { return std::ranges::find(types, type) != types.end(); }

const Node* Node::FindMember(std::string_view name) const noexcept {
  const auto declared = properties.find(name);
  return declared != properties.end() ? declared->second.get() : additional.get();
}

Result<std::unique_ptr<const Node>> Compile(const json& schema, std::string path) {
  return Compiler(schema, std::move(path)).Run();
}

bool IsTypeMeta(std::string_view name) noexcept { return name == "metadata" || name == "apiVersion" || name == "kind"; }

}  // namespace kgen::validation
