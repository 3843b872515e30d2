// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads a schema object of a CRD or an OpenAPI document keyword by keyword into a RawSchema. Only its position makes a
// key a keyword, so properties called "items" or "$ref" are properties. Unknown keywords are ignored.
#ifndef KGEN_GENERATOR_PARSE_SCHEMA_H_
#define KGEN_GENERATOR_PARSE_SCHEMA_H_

#include "generator/model/raw_schema.h"
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// Reads a schema; never returns null. Errors are reported and the keyword is left out; a node that is not a map reads
// as the empty schema. `path` becomes the result's own path.
model::RawSchemaPtr ReadSchema(const Context& context, const yaml::Node& node, const DocumentPath& path);

// The definition's name in "#/components/schemas/NAME" or "#/definitions/NAME", with pointer escapes decoded; nothing
// for any other reference.
std::optional<std::string> DefinitionOfReference(std::string_view reference);

// Reads {group, version, kind}.
model::GroupVersionKind ReadGroupVersionKind(const Context& context, const yaml::Node& node, const DocumentPath& path);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_SCHEMA_H_
