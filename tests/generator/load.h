// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Helpers of the generator's tests: load texts into a model and its diagnostics, and format both for expectations.
#ifndef KGEN_TESTS_GENERATOR_LOAD_H_
#define KGEN_TESTS_GENERATOR_LOAD_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/commands/load_api.h"
#include "generator/diagnostic.h"
#include "generator/model/api.h"

namespace kgen::generator::test {

struct Loaded {
  Diagnostics diagnostics;
  model::Api api;

  // Errors and warnings, one per line: "input.yaml:3:5 error illegal-name: message | path | hint".
  std::string Said() const {
    std::string out;
    for (const Diagnostic& d : diagnostics.Sorted()) {
      if (d.severity == Severity::kNote || d.severity == Severity::kInfo) continue;
      out += diagnostics.Describe(d.origin) + (d.severity == Severity::kError ? " error " : " warning ") +
             std::string(d.id) + ": " + d.message + (d.path.empty() ? "" : " | " + d.path) + "\n";
    }
    return out;
  }
};

inline Loaded Load(std::vector<std::string> texts, const model::ResolveOptions& options = {}) {
  Loaded out;
  std::vector<parse::Source> sources;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string name = i == 0 ? "input.yaml" : "input" + std::to_string(i + 1) + ".yaml";
    sources.push_back({name, std::move(texts[i]), out.diagnostics.AddFile(name)});
  }
  out.api = commands::LoadApi(std::move(sources), out.diagnostics, options);
  return out;
}

// A schema in one line: "{a: int32, b*: list(->v1 Foo)}"; * is required, ? nullable, ! preserves unknown members.
inline std::string Shape(const model::Api& api, const model::Schema& schema) {
  using model::Kind;
  std::string out;
  switch (schema.kind) {
    case Kind::kObject:
      for (const model::Field& field : schema.fields) {
        out += (out.empty() ? "" : ", ") + field.name + (field.required ? "*: " : ": ") + Shape(api, *field.schema);
      }
      out = "{" + out + "}";
      break;
    case Kind::kList:
      out = "list(" + Shape(api, *schema.element) + ")";
      break;
    case Kind::kMap:
      out = "map(" + Shape(api, *schema.element) + ")";
      break;
    case Kind::kRef: {
      const model::NamedType& type = api.types[schema.ref];
      out = "->" + (type.group.empty() ? "" : type.group + "/") + type.version + " " + type.name;
      break;
    }
    case Kind::kJson:
      out = schema.json_shape == model::JsonShape::kObject ? "json object" : "json";
      break;
    case Kind::kInt32:
      out = "int32";
      break;
    case Kind::kInt64:
      out = "int64";
      break;
    default:
      out = std::string(model::Describe(schema.kind));
  }
  if (schema.preserve_unknown) out += "!";
  if (schema.nullable) out += "?";
  for (std::size_t i = 0; i < schema.enum_values.size(); ++i)
    out += (i == 0 ? " of " : "|") + schema.enum_values[i].text;
  return out;
}

// A CRD of shop.example.com/v1 Order whose schema's properties are `properties`, in YAML from column 1 on.
inline std::string OrderCrd(std::string_view properties) {
  std::string out =
      "apiVersion: apiextensions.k8s.io/v1\n"
      "kind: CustomResourceDefinition\n"
      "metadata: {name: orders.shop.example.com}\n"
      "spec:\n"
      "  group: shop.example.com\n"
      "  scope: Namespaced\n"
      "  names: {kind: Order, plural: orders}\n"
      "  versions:\n"
      "  - name: v1\n"
      "    served: true\n"
      "    storage: true\n"
      "    schema:\n"
      "      openAPIV3Schema:\n"
      "        type: object\n"
      "        properties:\n";
  while (!properties.empty()) {
    const std::size_t end = properties.find('\n');
    out += "          " + std::string(properties.substr(0, end)) + "\n";
    properties = end == std::string_view::npos ? std::string_view() : properties.substr(end + 1);
  }
  return out;
}
inline constexpr int kOrderCrdLine = 16;    // of the first line of `properties`
inline constexpr int kOrderCrdIndent = 10;  // columns that OrderCrd() puts before it
inline constexpr const char* kOrderPath = "spec.versions[0].schema.openAPIV3Schema.properties";

// The shape of property `name` of the CRD's kind, or what was said.
inline std::string PropertyShape(std::string_view properties, std::string_view name) {
  const Loaded loaded = Load({OrderCrd(properties)});
  if (loaded.diagnostics.has_errors()) return loaded.Said();
  const model::ApiKind* kind = loaded.api.FindKind({"shop.example.com", "v1", "Order"});
  if (kind == nullptr) return "no kind";
  const model::Field* field = loaded.api.types[kind->type].schema.Find(name);
  return field == nullptr ? "no field" : Shape(loaded.api, *field->schema);
}

}  // namespace kgen::generator::test

#endif  // KGEN_TESTS_GENERATOR_LOAD_H_
