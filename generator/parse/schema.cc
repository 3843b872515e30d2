// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/schema.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kgen::generator::parse {
namespace {

using model::JsonKind;
using model::RawSchema;
using model::RawSchemaPtr;

constexpr std::array<std::string_view, 6> kTypes = {"object", "array", "string", "integer", "number", "boolean"};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

JsonKind KindOf(const yaml::Node& node) {
  switch (node.kind()) {
    case yaml::Kind::kNull:
      return JsonKind::kNull;
    case yaml::Kind::kBool:
      return JsonKind::kBool;
    case yaml::Kind::kInt:
      return JsonKind::kInteger;
    case yaml::Kind::kFloat:
      return JsonKind::kNumber;
    case yaml::Kind::kString:
      return JsonKind::kString;
    case yaml::Kind::kList:
      return JsonKind::kList;
    case yaml::Kind::kMap:
      return JsonKind::kObject;
  }
  return JsonKind::kNull;
}

std::string SortedJson(const yaml::Node& node) { return yaml::ToJson(node, {.sort_keys = true}); }

class SchemaReader {
 public:
  SchemaReader(const Context& context, const yaml::Node& node, const DocumentPath& path)
      : context_(context), path_(path), map_(context, node, path_), schema_(std::make_unique<RawSchema>()) {
    schema_->origin = context.At(node.mark());
  }

  RawSchemaPtr Read() {
    ReadType();
    schema_->format = map_.StringOr("format");
    ReadReference();
    if (map_.BoolOr("nullable", false)) schema_->nullable = true;
    schema_->deprecated = map_.BoolOr("deprecated", false);
    ReadProperties();
    ReadRequired();
    ReadItems();
    ReadAdditional();
    schema_->all_of = ReadBranches("allOf");
    schema_->any_of = ReadBranches("anyOf");
    schema_->one_of = ReadBranches("oneOf");
    schema_->has_not = map_.Has("not");
    ReadEnum();
    // `default: null` is a default, unlike other nulls.
    if (const yaml::Node* value = map_.node().Find("default"); value != nullptr) {
      schema_->default_json = SortedJson(*value);
      WarnOfKeys(*value, path_.Key("default"));
    }
    schema_->description = DescriptionLines(map_.Any("description"));
    ReadFacets();
    ReadExtensions();
    return std::move(schema_);
  }

 private:
  void Error(std::string_view id, const yaml::Node& at, std::string message, std::string_view key,
             std::string hint = {}) {
    context_.diagnostics.Error(id, context_.At(at.mark()), std::move(message), path_.Key(key).Text(), std::move(hint));
  }

  // The keys of a default are names of properties, so they keep their source text as well.
  void WarnOfKeys(const yaml::Node& value, const DocumentPath& path) {
    for (const yaml::Entry& entry : value.entries()) {
      const DocumentPath below = path.Key(entry.key);
      WarnOfKey(entry, "the key", below);
      WarnOfKeys(entry.value, below);
    }
    std::size_t index = 0;
    for (const yaml::Node& item : value.items()) WarnOfKeys(item, path.Index(index++));
  }

  void WarnOfKey(const yaml::Entry& entry, const std::string& what, const DocumentPath& path) {
    if (!entry.ambiguous) return;
    const std::optional<std::string> read = yaml::KubectlKey(entry);
    std::string others = "not for every YAML parser";
    if (!read) others = "kubectl refuses it";
    if (read && *read != entry.key) others = "kubectl reads it as " + Quote(*read);
    context_.diagnostics.Warning("yaml-key", context_.At(entry.mark),
                                 what + " " + std::string(entry.key) + " is a string here, but " + others, path.Text(),
                                 "quote it: " + Quote(entry.key));
  }

  void ReadType() {
    const yaml::Node* type = map_.Any("type");
    if (type == nullptr) return;
    if (type->is_list()) {
      ReadTypeList(*type);
    } else if (!type->is_string()) {
      ReportKind(context_, *type, "a string", path_.Key("type"));
    } else {
      SetType(*type);
    }
  }

  // OpenAPI 3.1 has lists of types: [string, "null"].
  void ReadTypeList(const yaml::Node& types) {
    for (const yaml::Node& type : types.items()) {
      if (type.is_null() || (type.is_string() && type.text() == "null")) {
        schema_->nullable = true;
      } else if (!type.is_string() || !schema_->type.empty()) {
        Error("schema-type", type, "a list of types may name one type beside \"null\"", "type");
        return;
      } else {
        SetType(type);
      }
    }
  }

  void SetType(const yaml::Node& type) {
    if (type.text().empty()) return;  // old generators wrote this for "any"
    if (std::find(kTypes.begin(), kTypes.end(), type.text()) == kTypes.end()) {
      const std::string_view nearest = Nearest(type.text(), {kTypes.begin(), kTypes.end()});
      Error("schema-type", type, "unknown type " + Quote(type.text()), "type",
            nearest.empty() ? std::string() : "did you mean " + Quote(nearest) + "?");
      return;
    }
    schema_->type = type.text();
  }

  void ReadReference() {
    const yaml::Node* reference = map_.Any("$ref");
    if (reference == nullptr) return;
    if (!reference->is_string()) {
      ReportKind(context_, *reference, "a string", path_.Key("$ref"));
      return;
    }
    if (std::optional<std::string> name = DefinitionOfReference(reference->text())) {
      schema_->ref = std::move(*name);
    } else {
      Error("reference-form", *reference,
            "the reference " + Quote(reference->text()) + " points outside of this document", "$ref",
            "kgen follows only #/components/schemas/NAME and #/definitions/NAME");
    }
  }

  void ReadProperties() {
    const yaml::Node* properties = map_.Map("properties");
    if (properties == nullptr) return;
    const DocumentPath path = path_.Key("properties");
    schema_->properties.reserve(properties->entries().size());
    for (const yaml::Entry& entry : properties->entries()) {
      const DocumentPath property_path = path.Key(entry.key);
      WarnOfKey(entry, "the property name", property_path);
      schema_->properties.push_back(
          {std::string(entry.key), context_.At(entry.mark), ReadSchema(context_, entry.value, property_path)});
    }
  }

  void ReadRequired() {
    const yaml::Node* required = map_.List("required");
    if (required == nullptr) return;
    const DocumentPath path = path_.Key("required");
    std::size_t index = 0;
    for (const yaml::Node& item : required->items()) {
      // `required: [on]`: the name of the property is its source text, so this is too.
      if (item.is_string() || (item.is_scalar() && item.plain())) {
        schema_->required.push_back({std::string(item.text()), context_.At(item.mark())});
      } else {
        ReportKind(context_, item, "a string", path.Index(index));
      }
      ++index;
    }
  }

  void ReadItems() {
    const yaml::Node* items = map_.Any("items");
    if (items == nullptr) return;
    if (items->is_list()) {
      schema_->items_is_list = true;
    } else {
      schema_->items = ReadSchema(context_, *items, path_.Key("items"));
    }
  }

  void ReadAdditional() {
    const yaml::Node* additional = map_.Any("additionalProperties");
    if (additional == nullptr) return;
    if (additional->is_bool()) {
      schema_->additional_allowed = additional->as_bool();
    } else {
      schema_->additional_properties = ReadSchema(context_, *additional, path_.Key("additionalProperties"));
    }
  }

  std::vector<RawSchemaPtr> ReadBranches(std::string_view key) {
    std::vector<RawSchemaPtr> out;
    const yaml::Node* branches = map_.List(key);
    if (branches == nullptr) return out;
    const DocumentPath path = path_.Key(key);
    for (const yaml::Node& branch : branches->items()) {
      out.push_back(ReadSchema(context_, branch, path.Index(out.size())));
    }
    return out;
  }

  void ReadEnum() {
    const yaml::Node* values = map_.List("enum");
    if (values != nullptr) {
      for (const yaml::Node& value : values->items()) AddEnumValue(value);
    } else if (const yaml::Node* value = map_.Any("const"); value != nullptr) {
      AddEnumValue(*value);  // OpenAPI 3.1
    }
  }

  void AddEnumValue(const yaml::Node& value) {
    const JsonKind kind = KindOf(value);
    // A boolean keeps its source text, for the warning about unquoted `on`.
    const bool text = kind == JsonKind::kString || kind == JsonKind::kBool;
    schema_->enum_values.push_back(
        {kind, text ? std::string(value.text()) : SortedJson(value), context_.At(value.mark())});
  }

  std::string Number(std::string_view key) {
    const yaml::Node* value = map_.Any(key);
    if (value == nullptr) return {};
    if (value->is_number()) return value->NumberText();
    ReportKind(context_, *value, "a number", path_.Key(key));
    return {};
  }

  // A boolean beside the limit (OpenAPI 3.0), or the limit itself (JSON schema).
  bool Exclusive(std::string_view key, std::string& limit) {
    const yaml::Node* value = map_.Any(key);
    if (value == nullptr || !value->is_number()) return map_.BoolOr(key, false);
    limit = value->NumberText();
    return true;
  }

  void ReadFacets() {
    model::Facets& facets = schema_->facets;
    facets.minimum = Number("minimum");
    facets.maximum = Number("maximum");
    facets.exclusive_minimum = Exclusive("exclusiveMinimum", facets.minimum);
    facets.exclusive_maximum = Exclusive("exclusiveMaximum", facets.maximum);
    facets.multiple_of = Number("multipleOf");
    facets.min_length = Number("minLength");
    facets.max_length = Number("maxLength");
    facets.min_items = Number("minItems");
    facets.max_items = Number("maxItems");
    facets.min_properties = Number("minProperties");
    facets.max_properties = Number("maxProperties");
    facets.pattern = map_.StringOr("pattern");
    schema_->unique_items = map_.BoolOr("uniqueItems", false);
  }

  void ReadExtensions() {
    schema_->int_or_string = map_.BoolOr("x-kubernetes-int-or-string", false);
    schema_->preserve_unknown = map_.Bool("x-kubernetes-preserve-unknown-fields");
    schema_->embedded_resource = map_.BoolOr("x-kubernetes-embedded-resource", false);
    schema_->merge.list_type = map_.StringOr("x-kubernetes-list-type");
    schema_->merge.map_type = map_.StringOr("x-kubernetes-map-type");
    schema_->merge.list_map_keys = map_.Strings("x-kubernetes-list-map-keys");
    schema_->merge.patch_merge_key = map_.StringOr("x-kubernetes-patch-merge-key");
    ReadValidations();
    const yaml::Node* gvks = map_.Any("x-kubernetes-group-version-kind");
    if (gvks == nullptr) return;
    const DocumentPath path = path_.Key("x-kubernetes-group-version-kind");
    if (gvks->is_map()) {
      schema_->gvks.push_back(ReadGroupVersionKind(context_, *gvks, path));
      return;
    }
    for (const yaml::Node& gvk : gvks->items()) schema_->gvks.push_back(ReadGroupVersionKind(context_, gvk, path));
  }

  void ReadValidations() {
    const yaml::Node* rules = map_.List("x-kubernetes-validations");
    if (rules == nullptr) return;
    const DocumentPath path = path_.Key("x-kubernetes-validations");
    for (const yaml::Node& node : rules->items()) {
      const DocumentPath rule_path = path.Index(schema_->validations.size());
      const MapReader rule(context_, node, rule_path);
      if (!node.is_map()) {
        ReportKind(context_, node, "a map", rule_path);
        continue;
      }
      schema_->validations.push_back({.rule = rule.StringOr("rule"), .message = rule.StringOr("message")});
    }
  }

  const Context& context_;
  const DocumentPath& path_;
  MapReader map_;
  RawSchemaPtr schema_;
};

}  // namespace

RawSchemaPtr ReadSchema(const Context& context, const yaml::Node& node, const DocumentPath& path) {
  if (node.is_map()) return SchemaReader(context, node, path).Read();
  auto empty = std::make_unique<RawSchema>();
  empty->origin = context.At(node.mark());
  if (!node.is_null()) ReportKind(context, node, "a schema (a map)", path);
  return empty;
}

std::optional<std::string> DefinitionOfReference(std::string_view reference) {
  constexpr std::array<std::string_view, 2> kPrefixes = {"#/components/schemas/", "#/definitions/"};
  for (const std::string_view prefix : kPrefixes) {
    if (!reference.starts_with(prefix)) continue;
    reference.remove_prefix(prefix.size());
    std::string percent;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const bool escape = reference[i] == '%' && i + 2 < reference.size() && HexDigit(reference[i + 1]) >= 0 &&
                          HexDigit(reference[i + 2]) >= 0;
      percent +=
          escape ? static_cast<char>(HexDigit(reference[i + 1]) * 16 + HexDigit(reference[i + 2])) : reference[i];
      if (escape) i += 2;
    }
    std::string name;
    for (std::size_t i = 0; i < percent.size(); ++i) {
      const char next = percent[i] == '~' && i + 1 < percent.size() ? percent[i + 1] : '\0';
      if (percent[i] == '/') return std::nullopt;  // deeper than a definition
      name += next == '0' ? '~' : next == '1' ? '/' : percent[i];
      if (next == '0' || next == '1') ++i;
    }
    if (name.empty()) return std::nullopt;
    return name;
  }
  return std::nullopt;
}

model::GroupVersionKind ReadGroupVersionKind(const Context& context, const yaml::Node& node, const DocumentPath& path) {
  if (!node.is_map()) {
    ReportKind(context, node, "a map of group, version and kind", path);
    return {};
  }
  const MapReader map(context, node, path);
  return {map.StringOr("group"), map.StringOr("version"), map.StringOr("kind")};
}

}  // namespace kgen::generator::parse
