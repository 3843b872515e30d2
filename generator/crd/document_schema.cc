// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/document_schema.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/spelling/describe.h"

namespace kgen::generator::crd {
namespace {

using model::RawSchema;

bool IsZero(std::string_view json) {
  return json.empty() || json == "null" || json == "{}" || json == "[]" || json == "\"\"" || json == "0" ||
         json == "0.0" || json == "false";
}

// Whether a server must fill in the default: not if it is the zero value of a member that is always there.
bool KeepsDefault(const RawSchema& raw, bool required) {
  const std::string& json = raw.default_json;
  if (json.empty() || json == "null" || json == "{}" || json == "[]") return false;
  return !required || !IsZero(json);
}

std::string_view Reference(const RawSchema& raw) {
  if (!raw.ref.empty()) return raw.ref;
  return raw.all_of.size() == 1 && raw.properties.empty() ? std::string_view(raw.all_of[0]->ref) : std::string_view();
}

Tree Convert(const RawSchema& raw, bool required);

void Facets(const model::Facets& facets, Tree& schema) {
  const std::pair<std::string_view, const std::string&> kNumbers[] = {{"minimum", facets.minimum},
                                                                      {"maximum", facets.maximum},
                                                                      {"multipleOf", facets.multiple_of},
                                                                      {"minLength", facets.min_length},
                                                                      {"maxLength", facets.max_length},
                                                                      {"minItems", facets.min_items},
                                                                      {"maxItems", facets.max_items},
                                                                      {"minProperties", facets.min_properties},
                                                                      {"maxProperties", facets.max_properties}};
  for (const auto& [key, value] : kNumbers) {
    if (!value.empty()) schema[key] = Tree::Json(value);
  }
  if (facets.exclusive_minimum) schema["exclusiveMinimum"] = Tree::Bool(true);
  if (facets.exclusive_maximum) schema["exclusiveMaximum"] = Tree::Bool(true);
  if (!facets.pattern.empty()) schema["pattern"] = Tree::Text(facets.pattern);
}

void Members(const RawSchema& raw, Tree& schema) {
  std::vector<std::string> required;
  for (const model::RawRequired& each : raw.required) required.push_back(each.name);
  std::sort(required.begin(), required.end());
  for (const model::RawProperty& property : raw.properties) {
    schema["properties"][property.name] =
        Convert(*property.schema, std::binary_search(required.begin(), required.end(), property.name));
  }
  if (!required.empty()) schema["required"] = Tree::Texts(required);
  if (raw.items != nullptr) schema["items"] = Convert(*raw.items, true);
  if (raw.additional_properties != nullptr) {
    schema["additionalProperties"] = Convert(*raw.additional_properties, true);
  } else if (raw.additional_allowed.value_or(false)) {
    schema["x-kubernetes-preserve-unknown-fields"] = Tree::Bool(true);
  }
}

void Extensions(const RawSchema& raw, Tree& schema) {
  const model::MergeInfo& merge = raw.merge;
  if (!merge.list_type.empty()) schema["x-kubernetes-list-type"] = Tree::Text(merge.list_type);
  if (!merge.list_map_keys.empty()) schema["x-kubernetes-list-map-keys"] = Tree::Texts(merge.list_map_keys);
  if (!merge.map_type.empty()) schema["x-kubernetes-map-type"] = Tree::Text(merge.map_type);
  if (raw.preserve_unknown.value_or(false)) schema["x-kubernetes-preserve-unknown-fields"] = Tree::Bool(true);
  if (raw.embedded_resource) schema["x-kubernetes-embedded-resource"] = Tree::Bool(true);
}

Tree Convert(const RawSchema& raw, bool required) {
  Tree schema;
  if (const std::string_view reference = Reference(raw); !reference.empty()) {
    schema["$ref"] = Tree::Text(reference);
  } else if (raw.int_or_string || raw.format == "int-or-string") {
    schema = LeafSchema(TypeKind::kIntOrString);
  } else if (raw.type.empty()) {
    schema = LeafSchema(TypeKind::kJson);
  } else {
    schema["type"] = Tree::Text(raw.type);
    if (!raw.format.empty()) schema["format"] = Tree::Text(raw.format);
    Members(raw, schema);
    Facets(raw.facets, schema);
  }
  Extensions(raw, schema);
  if (raw.nullable) schema["nullable"] = Tree::Bool(true);
  if (KeepsDefault(raw, required)) schema["default"] = Tree::Json(raw.default_json);
  std::string text;
  for (const std::string& line : raw.description) text += (text.empty() ? "" : "\n") + line;
  if (const std::string unit = emit::UnitSentence(raw.notes, raw.description); !unit.empty()) text += " " + unit + ".";
  if (!text.empty()) schema["description"] = Tree::Text(text);
  return schema;
}

}  // namespace

Tree CopySchema(const RawSchema& raw) { return Convert(raw, false); }

Tree CopyNode(const yaml::Node& node) {
  if (node.is_list()) {
    Tree list = Tree::List();
    for (const yaml::Node& item : node.items()) list.Add(CopyNode(item));
    return list;
  }
  if (!node.is_map()) return Tree::Json(yaml::ToJson(node));
  Tree map;
  for (const yaml::Entry& entry : node.entries()) map[entry.key] = CopyNode(entry.value);
  return map;
}

std::optional<Tree> KnownDefinition(std::string_view name, const SchemaOptions& options) {
  if (name == "io.k8s.apimachinery.pkg.api.resource.Quantity") return LeafSchema(TypeKind::kQuantity);
  if (name == "io.k8s.apimachinery.pkg.util.intstr.IntOrString") return LeafSchema(TypeKind::kIntOrString);
  if (name == "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") return EmbeddedMetadata(options);
  if (name == "io.k8s.apimachinery.pkg.runtime.RawExtension" ||
      name == "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1") {
    Tree schema = LeafSchema(TypeKind::kJson);
    schema["type"] = Tree::Text("object");
    return schema;
  }
  return std::nullopt;
}

void AddValidation(std::string_view name, Tree& schema) {
  // They have the members of LocalObjectReference, which is atomic, but their documents do not say so.
  static constexpr std::string_view kAtomic[] = {"ConfigMapEnvSource", "ConfigMapProjection", "ConfigMapVolumeSource",
                                                 "SecretEnvSource", "SecretProjection"};
  constexpr std::string_view kCore = "io.k8s.api.core.v1.";
  if (name.starts_with(kCore)) {
    const std::string_view type = name.substr(kCore.size());
    if (std::find(std::begin(kAtomic), std::end(kAtomic), type) != std::end(kAtomic))
      schema["x-kubernetes-map-type"] = Tree::Text("atomic");
    // The API server itself fills these in; they are no markers with a value in Go.
    if (type == "AzureDiskVolumeSource") {
      for (const std::string_view member : {"cachingMode", "kind"}) schema["properties"][member].Erase("default");
    }
  }
  if (name != "io.k8s.apimachinery.pkg.apis.meta.v1.Condition") return;
  Tree& properties = schema["properties"];
  properties["message"]["maxLength"] = Tree::Json("32768");
  properties["observedGeneration"]["minimum"] = Tree::Json("0");
  properties["reason"]["maxLength"] = Tree::Json("1024");
  properties["reason"]["minLength"] = Tree::Json("1");
  properties["reason"]["pattern"] = Tree::Text("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$");
  properties["status"]["enum"] = Tree::Texts({"True", "False", "Unknown"});
  properties["type"]["maxLength"] = Tree::Json("316");
  properties["type"]["pattern"] = Tree::Text(
      R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$)");
}

}  // namespace kgen::generator::crd
