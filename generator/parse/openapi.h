// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OpenAPI documents as API servers publish them: v3, one document per group version, and v2, one for all of them. Facts
// are v3 documents.
//
// Reads definitions and operations as written; model/resolve interprets them.
#ifndef KGEN_GENERATOR_PARSE_OPENAPI_H_
#define KGEN_GENERATOR_PARSE_OPENAPI_H_

#include "generator/model/raw_schema.h"
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// Adds a document to `draft`. A definition that several documents contain must have the same shape in all of them. One
// that documents of both formats contain is taken from v3: v2 leaves out defaults, null and alternatives.
void ParseOpenApi(const MapReader& document, model::Draft& draft);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_OPENAPI_H_
