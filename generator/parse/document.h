// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From texts to the Draft: each document of each source is taken for what its content says it is, never for what its
// file is called. [GEN IN-01..IN-04, IN-20, IN-26, IN-27, OA-20]
//
//   Source --ParseSources()--> Draft        (crd.h and openapi_v3.h do the reading)
#ifndef KGEN_GENERATOR_PARSE_DOCUMENT_H_
#define KGEN_GENERATOR_PARSE_DOCUMENT_H_

#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/raw_schema.h"
#include "generator/parse/source.h"

namespace kgen::generator::parse {

// Reads everything that can be read; all faults of all documents go to `diagnostics`. Objects of other kinds are
// skipped with a note; it is an error if nothing at all is left. Consumes the texts.
model::Draft ParseSources(std::vector<Source> sources, Diagnostics& diagnostics);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_DOCUMENT_H_
