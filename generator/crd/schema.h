// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The structural schema of a kind, from the description of its struct.
#ifndef KGEN_GENERATOR_CRD_SCHEMA_H_
#define KGEN_GENERATOR_CRD_SCHEMA_H_

#include <string_view>
#include <vector>

#include "generator/crd/description.h"
#include "generator/crd/leaf_schema.h"
#include "generator/crd/tree.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

// openAPIV3Schema of a kind. A schema of a CRD cannot be recursive: where a struct contains itself, the schema ends
// with an object of any members. Reports markers that do not fit their types.
Tree MakeSchema(const Struct& kind, const Description& description, const SchemaOptions& options,
                Diagnostics& diagnostics);

// The type at a JSON path of names and dots, such as ".spec.item"; null, with an error at `origin`, if there is none.
// Paths into metadata, and paths with filters or indexes, are not checked: `checked` becomes false.
const Type* TypeAtPath(const Struct& kind, const Description& description, std::string_view path, Origin origin,
                       bool& checked, Diagnostics& diagnostics);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_SCHEMA_H_
