// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Draft: the result of the parsers, before interpretation: schemas with their keywords as written, definitions by their
// long names, operations by their paths. The only input of fixups and resolve; emitters never see it.
//
//   parse/crd, parse/openapi --> Draft --> ApplyFixups() --> Resolve() --> Api
#ifndef KGEN_GENERATOR_MODEL_RAW_SCHEMA_H_
#define KGEN_GENERATOR_MODEL_RAW_SCHEMA_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/api.h"

namespace kgen::generator::model {

// The JSON type of an enum, default or example value.
enum class JsonKind : std::uint8_t { kNull, kBool, kInteger, kNumber, kString, kList, kObject };

// One value of `enum`, as in the document.
struct RawValue {
  JsonKind kind = JsonKind::kNull;
  std::string text;  // a string's value, or JSON
  Origin origin;

  friend bool operator==(const RawValue& a, const RawValue& b) { return a.kind == b.kind && a.text == b.text; }
};

struct RawSchema;
using RawSchemaPtr = std::unique_ptr<RawSchema>;

struct RawProperty {
  std::string name;
  Origin origin;  // of the key
  RawSchemaPtr schema;
  ProtobufField protobuf = {};
};

struct RawRequired {
  std::string name;
  Origin origin;
};

// One schema object. Absent keywords are empty.
struct RawSchema {
  Origin origin;
  std::string
      path;  // inside the document, for diagnostics; only set at the root of a definition or a version (see Path())

  std::string type;  // "", "object", "array", "string", "integer", "number", "boolean"; validated
  std::string format;
  std::string ref;  // the definition's name: the last segment of "#/components/schemas/NAME" or "#/definitions/NAME"
  bool nullable = false;
  bool deprecated = false;

  std::vector<RawProperty> properties;  // in order of the input
  std::vector<RawRequired> required;
  RawSchemaPtr items;
  bool items_is_list = false;              // `items: [..]`
  RawSchemaPtr additional_properties;      // `additionalProperties: {...}`
  std::optional<bool> additional_allowed;  // `additionalProperties: true|false`
  std::vector<RawSchemaPtr> all_of, any_of, one_of;
  bool has_not = false;

  std::vector<RawValue> enum_values;
  std::string default_json;  // compact, keys sorted; "null" is a default of null
  std::vector<std::string> description;
  Notes notes;  // of a member
  Facets facets;
  bool unique_items = false;

  bool int_or_string = false;            // x-kubernetes-int-or-string
  std::optional<bool> preserve_unknown;  // x-kubernetes-preserve-unknown-fields
  bool embedded_resource = false;
  MergeInfo merge;
  std::vector<ValidationRule> validations;
  std::vector<GroupVersionKind> gvks;  // x-kubernetes-group-version-kind of a definition
};

// Equal except for descriptions, positions and lists of kinds. When not equal, `where` (if not null) receives the path
// of the first difference.
bool SameShape(const RawSchema& a, const RawSchema& b, std::string* where = nullptr);

// A schema of an API document, under its long name.
struct RawDefinition {
  std::string name;
  RawSchemaPtr schema;
  Origin origin;
  bool lossy = false;  // from an OpenAPI v2 document
};

// One operation on one path, read but not yet gathered into resources.
struct RawOperation {
  std::string path;        // "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"
  std::string action;      // x-kubernetes-action: "get", "list", "post", ...
  GroupVersionKind gvk;    // of the body
  bool watchable = false;  // a list whose parameters have `watch`
  bool text = false;       // the response is a text, not an object: a log
  Origin origin;
};

// One version of a custom resource's kind.
struct RawCustomVersion {
  std::string name;
  bool served = true, storage = false, deprecated = false;
  std::string deprecation_warning;
  RawSchemaPtr schema;  // null when the CRD has none
  bool has_status = false;
  std::optional<ScalePaths> scale;
  std::vector<PrinterColumn> printer_columns;
  std::vector<std::string> selectable_fields;
  std::string path;  // of schema's root: "spec.versions[0].schema.openAPIV3Schema"
  Origin origin;
};

struct RawCustomResource {
  std::string name;  // metadata.name
  std::string group, kind, list_kind, plural, singular;
  Scope scope = Scope::kNamespaced;
  bool preserve_unknown = false;  // spec.preserveUnknownFields
  bool converts = false;          // a webhook converts between the versions
  std::vector<RawCustomVersion> versions;
  std::string manifest_json;
  bool installable = true;  // false for v1beta1
  Origin origin;            // of the document or list item
};

// The content of all inputs of a run.
struct Draft {
  std::map<std::string, RawDefinition, std::less<>> definitions;  // by name; equal ones of several documents merged
  std::vector<RawOperation> operations;
  std::vector<RawCustomResource> custom_resources;

  std::size_t documents = 0;  // API documents and CRDs read, with or without errors
};

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_RAW_SCHEMA_H_
