// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Parses the OpenAPI documents that API servers publish: v3, with one document per group version, and v2, with one for
// all of them. Facts are v3 documents.
//
// The parser reads definitions and operations as written; model/resolve interprets them.
#ifndef KGEN_GENERATOR_PARSE_OPENAPI_H_
#define KGEN_GENERATOR_PARSE_OPENAPI_H_

#include "generator/model/raw_schema.h"
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// Adds a document to `draft`. If several documents contain a definition, it must have the same shape in all of them. If
// documents of both formats contain it, the one of v3 is used, because v2 omits defaults, null and alternatives.
void ParseOpenApi(const MapReader& document, model::Draft& draft);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_OPENAPI_H_
