// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/resolve_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace kgen::generator::model {
namespace {

constexpr std::size_t kMaxValueDepth = 32;

// The number of values in a run that exist only because a reference was followed. Without a limit, a few definitions
// with several references each, one to the next, would take gigabytes.
constexpr std::size_t kMaxFollowed = 200'000;

Schema Make(Kind kind, JsonShape shape = JsonShape::kAny) {
  Schema schema;
  schema.kind = kind;
  schema.json_shape = shape;
  return schema;
}

std::unique_ptr<Schema> Box(Schema schema) { return std::make_unique<Schema>(std::move(schema)); }

// The patterns of quantities: controller-gen's, and the one of older documents.
constexpr std::array<std::string_view, 2> kQuantityPatterns = {
    R"re(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)re",
    R"re(^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$)re"};

bool IsObjectLike(const RawSchema& raw) {
  return raw.type == "object" || (raw.type.empty() && !raw.properties.empty());
}

// {integer, string} in either order, nothing else.
bool AreIntegerAndString(const std::vector<RawSchemaPtr>& branches) {
  if (branches.size() != 2) return false;
  const std::string& a = branches[0]->type;
  const std::string& b = branches[1]->type;
  return (a == "integer" && b == "string") || (a == "string" && b == "integer");
}

JsonKind KindOfJson(std::string_view json) {
  switch (json.front()) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kList;
    case '"':
      return JsonKind::kString;
    case 'n':
      return JsonKind::kNull;
    case 't':
    case 'f':
      return JsonKind::kBool;
    default:
      return JsonKind::kNumber;
  }
}

// For a schema without type whose other keywords suggest `type`: whether a branch, an enum or a default also allows
// values of another type. `seen` holds the definitions that were visited.
bool AllowsOthers(const RawSchema& raw, std::string_view type, const Definitions& definitions,
                  std::set<std::string_view>& seen) {
  if (!raw.ref.empty()) {
    if (const std::optional<Schema> value = WellKnownValue(raw.ref)) {
      return type != "object" || value->kind != Kind::kJson || value->json_shape != JsonShape::kObject;
    }
    const auto found = definitions.find(raw.ref);
    if (found == definitions.end() || !seen.insert(found->first).second) return false;
    return AllowsOthers(*found->second.schema, type, definitions, seen);
  }
  if (!raw.type.empty()) return raw.type != type;
  if (raw.int_or_string || raw.format == "int-or-string") return true;
  const JsonKind kind = type == "object" ? JsonKind::kObject : JsonKind::kList;
  const auto other = [kind](JsonKind found) { return found != kind && found != JsonKind::kNull; };
  for (const RawValue& value : raw.enum_values) {
    if (other(value.kind)) return true;
  }
  if (!raw.default_json.empty() && other(KindOfJson(raw.default_json))) return true;
  for (const auto* branches : {&raw.all_of, &raw.any_of, &raw.one_of}) {
    for (const RawSchemaPtr& branch : *branches) {
      if (AllowsOthers(*branch, type, definitions, seen)) return true;
    }
  }
  return false;
}

bool AllowsOthers(const RawSchema& raw, std::string_view type, const Definitions& definitions) {
  std::set<std::string_view> seen;
  return AllowsOthers(raw, type, definitions, seen);
}

// What a value of this schema is, for messages: "list of string".
std::string Reading(const Schema& schema) {
  const std::string what(model::Describe(schema.kind));
  return schema.element == nullptr ? what : what + " of " + Reading(*schema.element);
}

// What a v3 document that was made from Go types has as the default of every field without one.
bool IsZero(std::string_view json) {
  return json == "{}" || json == "\"\"" || json == "0" || json == "false" || json == "null";
}

// An integer of 64 bits.
bool IsInt64(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view Describe(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "the boolean";
    case JsonKind::kInteger:
      return "the integer";
    case JsonKind::kNumber:
      return "the number";
    case JsonKind::kString:
      return "the string";
    case JsonKind::kList:
      return "the list";
    case JsonKind::kObject:
      return "the object";
  }
  return "the value";
}

}  // namespace

std::optional<Schema> WellKnownValue(std::string_view definition) {
  struct Entry {
    std::string_view name;
    Kind kind;
    JsonShape shape = JsonShape::kAny;
  };
  static constexpr std::array<Entry, 13> kEntries = {{
      {"io.k8s.apimachinery.pkg.api.resource.Quantity", Kind::kQuantity},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.Time", Kind::kTime},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", Kind::kMicroTime},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.Duration", Kind::kDuration},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", Kind::kJson, JsonShape::kObject},
      {"io.k8s.apimachinery.pkg.apis.meta.v1.Patch", Kind::kJson},
      {"io.k8s.apimachinery.pkg.runtime.RawExtension", Kind::kJson, JsonShape::kObject},
      {"io.k8s.apimachinery.pkg.runtime.Unknown", Kind::kJson, JsonShape::kObject},
      {"io.k8s.apimachinery.pkg.util.intstr.IntOrString", Kind::kIntOrString},
      {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", Kind::kJson},
      // A schema, or a boolean or list in its place; the parser has checked the types of their members.
      {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool", Kind::kJson},
      {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray", Kind::kJson},
      {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray", Kind::kJson},
  }};
  for (const Entry& entry : kEntries) {
    if (entry.name == definition) return Make(entry.kind, entry.shape);
  }
  return std::nullopt;
}

bool IsNamedDefinition(const RawDefinition& definition, const Definitions& definitions) {
  const RawSchema& raw = *definition.schema;
  if (WellKnownValue(definition.name)) return false;
  if (!raw.gvks.empty()) return true;
  if (raw.type.empty() && raw.ref.empty() && AllowsOthers(raw, "object", definitions)) return false;
  if (!raw.properties.empty()) return true;
  if (!raw.ref.empty() || !raw.all_of.empty()) return true;  // an alias, or a composition
  return raw.type == "object" && !raw.additional_properties && !raw.additional_allowed &&
         !raw.preserve_unknown.value_or(false);
}

void SchemaResolver::Warn(std::string_view id, Origin origin, std::string message, const DocumentPath& path,
                          std::string hint) {
  diagnostics_.Warning(id, origin, std::move(message), path.Text(), std::move(hint));
}

Schema SchemaResolver::Resolve(const RawSchema& raw, const Rules& rules, const DocumentPath& path) {
  if (rules.custom) CheckStructure(raw, path);
  if (!following_.empty()) ++followed_;
  Schema schema = Decide(raw, rules, path);
  if (rules.custom) WarnOfNoType(raw, schema, path);
  schema.origin = raw.origin;
  schema.nullable = schema.nullable || raw.nullable;
  schema.deprecated = raw.deprecated;
  if (rules.custom || !IsZero(raw.default_json)) schema.default_json = raw.default_json;
  schema.merge = raw.merge;
  schema.validations = raw.validations;
  if (!(raw.facets == Facets{})) schema.facets = std::make_unique<Facets>(raw.facets);
  AddEnum(raw, path, schema);
  return schema;
}

Schema SchemaResolver::Decide(const RawSchema& raw, const Rules& rules, const DocumentPath& path) {
  if (std::optional<Schema> reference = DecideReference(raw, rules, path)) return std::move(*reference);
  if (IsIntOrString(raw)) return DecideIntOrString(raw);
  if (raw.type == "string") return DecideString(raw);
  if (raw.type == "boolean") return Make(Kind::kBool);
  if (raw.type == "integer") return Make(raw.format == "int32" ? Kind::kInt32 : Kind::kInt64);
  if (raw.type == "number") return Make(Kind::kDouble);
  if (raw.type == "array") return DecideArray(raw, rules, path);
  if (raw.type == "object") return DecideObject(raw, rules, path);
  return DecideUntyped(raw, rules, path);
}

// A reference, alone or wrapped into an allOf with one member.
std::optional<Schema> SchemaResolver::DecideReference(const RawSchema& raw, const Rules& rules,
                                                      const DocumentPath& path) {
  const RawSchema* holder = &raw;
  if (raw.ref.empty()) {
    const bool wrapped =
        !rules.custom && raw.all_of.size() == 1 && !raw.all_of[0]->ref.empty() && raw.properties.empty();
    if (!wrapped) return std::nullopt;
    holder = raw.all_of[0].get();
  }
  if (rules.custom) {
    diagnostics_.Error("crd-structural", raw.origin, "a CRD's schema must not use $ref", path.Key("$ref").Text(),
                       "replace the reference with the schema of " + Quote(raw.ref));
    return Make(Kind::kJson);
  }
  return FollowReference(holder->ref, holder->origin, path);
}

Schema SchemaResolver::FollowReference(const std::string& name, Origin origin, const DocumentPath& path) {
  if (const auto named = named_.find(name); named != named_.end()) {
    Schema schema = Make(Kind::kRef);
    schema.ref = named->second;
    return schema;
  }
  if (std::optional<Schema> value = WellKnownValue(name)) return std::move(*value);
  const auto found = draft_.definitions.find(name);
  if (found == draft_.definitions.end()) {
    diagnostics_.Error("dangling-reference", origin, "there is no definition " + Quote(name, 200), path.Text());
    return Make(Kind::kJson);
  }
  if (!MayFollow(found->first, origin, path)) return Make(Kind::kJson);
  following_.push_back(found->first);
  Schema schema = Resolve(*found->second.schema, Rules{}, DocumentPath(found->second.schema->path));
  following_.pop_back();
  return schema;
}

// A definition that is not a struct replaces each reference to it. That must terminate, within a limit.
bool SchemaResolver::MayFollow(std::string_view name, Origin origin, const DocumentPath& path) {
  if (std::find(following_.begin(), following_.end(), name) != following_.end()) {
    diagnostics_.Error(
        "reference-cycle", origin,
        "the definition " + Quote(name, 200) + " refers to itself through a list or map, which is not supported",
        path.Text(), "give the elements a definition of their own, an object with properties; it may refer to itself");
    return false;
  }
  if (following_.size() == kMaxValueDepth) {
    diagnostics_.Error("reference-depth", origin,
                       "lists and maps that are definitions refer to each other, more than " +
                           std::to_string(kMaxValueDepth) + " deep",
                       path.Text(), "give an object with properties inside them a definition of its own");
    return false;
  }
  if (followed_ <= kMaxFollowed) return true;
  if (!told_of_size_) {
    diagnostics_.Error(
        "reference-size", origin,
        "the definitions that are lists, maps and plain values expand to more than " + std::to_string(kMaxFollowed) +
            " values where they are referenced",
        path.Text(), "give the objects inside of them, such as in " + Quote(name, 200) + ", definitions of their own");
  }
  told_of_size_ = true;
  return false;
}

// The extension, the format, or anyOf/oneOf of integer and string, which may be inside the first allOf.
bool SchemaResolver::IsIntOrString(const RawSchema& raw) const {
  if (raw.int_or_string || raw.format == "int-or-string") return true;
  if (!raw.type.empty()) return false;
  if (AreIntegerAndString(raw.any_of) || AreIntegerAndString(raw.one_of)) return true;
  return !raw.all_of.empty() && AreIntegerAndString(raw.all_of[0]->any_of);
}

Schema SchemaResolver::DecideIntOrString(const RawSchema& raw) const {
  const auto known = std::find(kQuantityPatterns.begin(), kQuantityPatterns.end(), raw.facets.pattern);
  const bool quantity = quantity_by_pattern_ && known != kQuantityPatterns.end();
  return Make(quantity ? Kind::kQuantity : Kind::kIntOrString);
}

Schema SchemaResolver::DecideString(const RawSchema& raw) {
  if (raw.format == "byte") return Make(Kind::kBytes);
  if (raw.format == "date-time" || raw.format == "datetime") return Make(Kind::kTime);
  if (raw.format == "duration") return Make(Kind::kDuration);
  return Make(Kind::kString);
}

Schema SchemaResolver::DecideArray(const RawSchema& raw, const Rules& rules, const DocumentPath& path) {
  Schema schema = Make(Kind::kList);
  if (raw.items != nullptr) {
    schema.element = Box(Resolve(*raw.items, rules, path.Key("items")));
    schema.element->description = raw.items->description;
    return schema;
  }
  if (raw.items_is_list)
    Warn("items-list", raw.origin, "items with different schemas are read as any JSON", path.Key("items"));
  schema.element = Box(Make(Kind::kJson));
  return schema;
}

Schema SchemaResolver::DecideObject(const RawSchema& raw, const Rules& rules, const DocumentPath& path) {
  const bool preserve = raw.preserve_unknown.value_or(false) || rules.preserve_unknown;
  const bool branches = !rules.custom && !(raw.all_of.empty() && raw.any_of.empty() && raw.one_of.empty());
  if (!raw.properties.empty() || branches) {
    Schema schema = Make(Kind::kObject);
    AddFields(raw, rules, path, schema);
    if (branches) {
      std::set<std::string_view> merged;
      AddBranchFields(raw, path, merged, schema);
    }
    schema.preserve_unknown =
        preserve || raw.additional_properties != nullptr || raw.additional_allowed.value_or(false);
    if (raw.embedded_resource) AddStandardFields(schema);
    MarkRequired(raw, rules, path, raw.embedded_resource, schema);
    if (!schema.fields.empty()) return schema;
  }
  if (raw.additional_properties != nullptr) {
    Schema schema = Make(Kind::kMap);
    schema.element = Box(Resolve(*raw.additional_properties, rules, path.Key("additionalProperties")));
    schema.element->description = raw.additional_properties->description;
    return schema;
  }
  if (raw.embedded_resource && !preserve) {
    Schema schema = Make(Kind::kObject);
    AddStandardFields(schema);
    return schema;
  }
  // A server prunes the content of an empty object in a CRD, so only its presence matters; elsewhere it is free-form.
  if (rules.custom && !preserve && !raw.additional_allowed.value_or(false)) return Make(Kind::kObject);
  return Make(Kind::kJson, JsonShape::kObject);
}

// Infers a missing type from the other keywords. They only restrict values of their type, so the type that they suggest
// is used unless something allows values of another type; then the value is any JSON.
Schema SchemaResolver::DecideUntyped(const RawSchema& raw, const Rules& rules, const DocumentPath& path) {
  const bool branches = !rules.custom && !raw.all_of.empty();
  const bool object = !raw.properties.empty() || raw.additional_properties != nullptr || branches;
  const bool list = raw.items != nullptr;
  if (object == list || AllowsOthers(raw, object ? "object" : "array", draft_.definitions)) return Make(Kind::kJson);
  return object ? DecideObject(raw, rules, path) : DecideArray(raw, rules, path);
}

void SchemaResolver::AddFields(const RawSchema& raw, const Rules& rules, const DocumentPath& path, Schema& schema) {
  const DocumentPath properties_path = path.Key("properties");
  for (const RawProperty& property : raw.properties) {
    Field field;
    field.name = property.name;
    field.origin = property.origin;
    field.description = property.schema->description;
    field.notes = property.schema->notes;
    field.protobuf = property.protobuf;
    field.schema = Box(Resolve(*property.schema, rules, properties_path.Key(property.name)));
    schema.fields.push_back(std::move(field));
  }
  std::sort(schema.fields.begin(), schema.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
}

// Adds the members of allOf, and of object alternatives, in an API document. In a CRD branches never add members.
// `merged` holds the definitions that were already added, so that nested compositions terminate.
void SchemaResolver::AddBranchFields(const RawSchema& raw, const DocumentPath& path, std::set<std::string_view>& merged,
                                     Schema& schema) {
  for (const auto* branches : {&raw.all_of, &raw.any_of, &raw.one_of}) {
    for (const RawSchemaPtr& branch : *branches) {
      const RawSchema* source = branch.get();
      if (!source->ref.empty()) {
        const auto found = draft_.definitions.find(source->ref);
        if (found == draft_.definitions.end()) {
          diagnostics_.Error("dangling-reference", source->origin, "there is no definition " + Quote(source->ref, 200),
                             path.Text());
          continue;
        }
        if (!merged.insert(found->first).second) continue;
        source = found->second.schema.get();
      }
      if (IsObjectLike(*source)) {
        Schema part = Make(Kind::kObject);
        AddFields(*source, Rules{}, path, part);
        for (Field& field : part.fields) AddMember(std::move(field), path, schema);
      }
      AddBranchFields(*source, path, merged, schema);
    }
  }
}

void SchemaResolver::AddMember(Field field, const DocumentPath& path, Schema& schema) {
  const Field* known = schema.Find(field.name);
  if (known == nullptr) {
    const auto place = std::upper_bound(schema.fields.begin(), schema.fields.end(), field.name,
                                        [](const std::string& name, const Field& other) { return name < other.name; });
    schema.fields.insert(place, std::move(field));
  } else if (known->schema->kind != field.schema->kind) {
    diagnostics_.Error("composition", field.origin,
                       "the property " + Quote(field.name) + " has conflicting schemas in one composition",
                       path.Text());
  }
}

void SchemaResolver::AddStandardFields(Schema& schema) {
  const auto add = [&](std::string_view name, Schema value) {
    const auto place =
        std::lower_bound(schema.fields.begin(), schema.fields.end(), name,
                         [](const Field& field, std::string_view wanted) { return field.name < wanted; });
    value.origin = schema.origin;
    if (place != schema.fields.end() && place->name == name) {
      place->schema = Box(std::move(value));  // whatever the schema says about it
      return;
    }
    Field field;
    field.name = name;
    field.schema = Box(std::move(value));
    schema.fields.insert(place, std::move(field));
  };
  Schema metadata = Make(Kind::kRef);
  metadata.ref = object_meta_;
  add("apiVersion", Make(Kind::kString));
  add("kind", Make(Kind::kString));
  add("metadata", std::move(metadata));
}

void SchemaResolver::MarkRequired(const RawSchema& raw, const Rules& rules, const DocumentPath& path,
                                  bool standard_fields, Schema& schema) {
  const DocumentPath required_path = path.Key("required");
  for (std::size_t i = 0; i < raw.required.size(); ++i) {
    const RawRequired& required = raw.required[i];
    const auto found = std::find_if(schema.fields.begin(), schema.fields.end(),
                                    [&](const Field& f) { return f.name == required.name; });
    if (found != schema.fields.end()) {
      found->required = true;
      continue;
    }
    const bool standard = required.name == "apiVersion" || required.name == "kind" || required.name == "metadata";
    if (!rules.custom || (standard_fields && standard)) continue;
    Warn("required-unknown", required.origin, "the required property " + Quote(required.name) + " is not declared",
         required_path.Index(i));
  }
}

Schema SchemaResolver::ResolveKind(const RawSchema* raw, const Rules& rules, const DocumentPath& path) {
  Schema schema = Make(Kind::kObject);
  if (raw != nullptr) {
    if (rules.custom && !raw->type.empty() && raw->type != "object") {
      diagnostics_.Error("crd-structural", raw->origin,
                         "the schema of a kind must be an object, not " + Quote(raw->type), path.Key("type").Text());
    }
    if (rules.custom && raw->type.empty() && !raw->properties.empty()) {
      Warn("crd-structural", raw->origin, "the schema has no type", path, "add `type: object`");
    }
    schema.origin = raw->origin;
    AddFields(*raw, rules, path, schema);
    schema.description = raw->description;
    schema.validations = raw->validations;
    schema.preserve_unknown = raw->preserve_unknown.value_or(false);
  }
  const bool described = raw != nullptr && !raw->properties.empty();
  schema.preserve_unknown = schema.preserve_unknown || rules.preserve_unknown || (!described && raw == nullptr);
  AddStandardFields(schema);
  if (raw != nullptr) MarkRequired(*raw, rules, path, true, schema);
  return schema;
}

// Adds the known values to a schema whose kind can have an enum.
void SchemaResolver::AddEnum(const RawSchema& raw, const DocumentPath& path, Schema& schema) {
  const bool text = schema.kind == Kind::kString;
  const bool integer = schema.kind == Kind::kInt32 || schema.kind == Kind::kInt64;
  if (!text && !integer) return;
  // The enum of a nullable value is often in allOf, because a server refuses null beside it.
  for (std::size_t i = 0; raw.enum_values.empty() && i < raw.all_of.size(); ++i) {
    if (!raw.all_of[i]->enum_values.empty()) return AddEnum(*raw.all_of[i], path.Key("allOf").Index(i), schema);
  }
  const DocumentPath enum_path = path.Key("enum");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < raw.enum_values.size(); ++i) {
    const RawValue& value = raw.enum_values[i];
    if (value.kind == JsonKind::kNull) {
      schema.nullable = true;  // not a constant
      continue;
    }
    if (text && value.kind == JsonKind::kBool) {
      Warn("yaml-boolean", value.origin,
           "the value " + value.text + " of a string's enum is a boolean here, as it is for the server",
           enum_path.Index(i), "quote it: " + Quote(value.text));
      continue;
    }
    const bool fits = value.kind == (text ? JsonKind::kString : JsonKind::kInteger);
    if (!fits) {
      diagnostics_.Error(
          "enum-type", value.origin,
          "the enum of " + std::string(text ? "a string" : "an integer") + " holds " +
              std::string(Describe(value.kind)) +
              (value.kind == JsonKind::kList || value.kind == JsonKind::kObject ? "" : " " + Quote(value.text)),
          enum_path.Index(i).Text(), "the server refuses this; make type and values agree");
      continue;
    }
    if (integer && !IsInt64(value.text)) {
      Warn("enum-range", value.origin,
           "the value " + Quote(value.text) + " does not fit into 64 bits; it gets no constant", enum_path.Index(i),
           "objects that hold it cannot be read as integers; make the field a string");
      continue;
    }
    if (seen.insert(value.text).second) schema.enum_values.push_back({value.text, value.origin});
  }
}

void SchemaResolver::WarnOfNoType(const RawSchema& raw, const Schema& schema, const DocumentPath& path) {
  if (!raw.type.empty() || !raw.ref.empty() || raw.preserve_unknown.value_or(false) || IsIntOrString(raw)) return;
  Warn("crd-structural", raw.origin, "the schema has no type; it is read as " + Reading(schema), path,
       schema.kind == Kind::kJson ? "add `type`, or `x-kubernetes-preserve-unknown-fields: true` if any JSON is meant"
                                  : "add `type`");
}

// Warns about a CRD that a server would reject although its meaning is clear.
void SchemaResolver::CheckStructure(const RawSchema& raw, const DocumentPath& path) {
  const auto warn = [&](std::string message, std::string hint = {}) {
    Warn("crd-structural", raw.origin, std::move(message), path, std::move(hint));
  };
  const bool preserve = raw.preserve_unknown.value_or(false);
  if (raw.type == "array" && raw.items == nullptr && !raw.items_is_list) warn("an array without items", "add `items`");
  if (!raw.properties.empty() && (raw.additional_properties != nullptr || raw.additional_allowed)) {
    warn("properties and additionalProperties cannot both be set in a CRD");
  }
  if (raw.unique_items) warn("uniqueItems is not allowed in a CRD", "use `x-kubernetes-list-type: set`");
  if (raw.preserve_unknown && !preserve) warn("x-kubernetes-preserve-unknown-fields must be true or absent");
  if (raw.embedded_resource && (raw.type != "object" || (raw.properties.empty() && !preserve))) {
    warn("x-kubernetes-embedded-resource needs `type: object`, and properties or x-kubernetes-preserve-unknown-fields");
  }
  if (raw.int_or_string && (preserve || raw.embedded_resource)) {
    warn("x-kubernetes-int-or-string excludes other x-kubernetes extensions of the same schema");
  }
}

}  // namespace kgen::generator::model
