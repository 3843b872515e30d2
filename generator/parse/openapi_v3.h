// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OpenAPI v3 documents as API servers publish them, one per group version; facts are the same format.
//
// Reads definitions and operations as written; model/resolve interprets them.
#ifndef KGEN_GENERATOR_PARSE_OPENAPI_V3_H_
#define KGEN_GENERATOR_PARSE_OPENAPI_V3_H_

#include "generator/model/raw_schema.h"
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// Adds a document to `draft`. A definition that several documents contain must have the same shape in all of them.
void ParseOpenApiV3(const MapReader& document, model::Draft& draft);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_OPENAPI_V3_H_
